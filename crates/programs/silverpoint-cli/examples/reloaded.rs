//! A shared object that is the only part of its process with tracepoints (tests/it/lttng/reloaded.cpp).

use silverpoint::event;

/// Gives 1 if somebody wanted the event.
#[unsafe(no_mangle)]
pub extern "C" fn one_more(time: i32) -> i32 {
    let mut wanted = 0;
    event!(
        target: "shop",
        "reloaded",
        time,
        wanted = {
            wanted += 1;
            wanted
        }
    );
    wanted
}
