//! A library with tracepoints, to be loaded at run time. It contains its own copy of Silverpoint, which joins
//! the session of the program that loads it.

use silverpoint::info;

/// Does something worth recording.
#[unsafe(no_mangle)]
pub extern "C" fn plugin_work(on: u32) {
    info!("plugin works on {}", on);
}
