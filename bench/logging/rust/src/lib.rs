//! The statement of S4 in Rust, behind functions that the driver calls (bench/logging/driver.cpp).

use std::sync::Mutex;
use std::time::Duration;

use silverpoint::info;
use silverpoint_logger::{Config, Flushed, Logger, Sink};

const PATIENCE: Duration = Duration::from_secs(300);

static LOGGER: Mutex<Option<Logger>> = Mutex::new(None);

fn with_logger(end: impl FnOnce(&Logger) -> Flushed) -> bool {
    LOGGER.lock().is_ok_and(|logger| logger.as_ref().is_some_and(|logger| end(logger) == Flushed::Complete))
}

/// # Safety
/// `text` is ASCII, and lives through the call.
unsafe fn text<'a>(text: *const u8, size: usize) -> &'a str {
    // SAFETY: the driver's texts are ASCII, and lie where its calls need them.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(text, size)) }
}

/// # Safety
/// `file` is `file_size` bytes of ASCII.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bench_rust_start(file: *const u8, file_size: usize) -> bool {
    // SAFETY: as is asked of the caller.
    let file = unsafe { text(file, file_size) };
    match Logger::start(Config::new("info").sink(Sink::file(file))) {
        Ok(logger) => LOGGER.lock().map(|mut own| *own = Some(logger)).is_ok(),
        Err(error) => {
            eprintln!("silverpoint: {error}");
            false
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn bench_rust_flush() -> bool {
    with_logger(|logger| logger.flush(PATIENCE))
}

#[unsafe(no_mangle)]
pub extern "C" fn bench_rust_stop() -> bool {
    with_logger(|logger| logger.end(PATIENCE))
}

/// # Safety
/// The texts are ASCII.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bench_rust_log(
    title: *const u8,
    title_size: usize,
    count: u32,
    pointer: *const u8,
    pointer_size: usize,
    string: *const u8,
    string_size: usize,
    real: f32,
) {
    // SAFETY: as is asked of the caller.
    let (title, pointer, string) =
        unsafe { (text(title, title_size), text(pointer, pointer_size), text(string, string_size)) };
    info!("{} iteration #{} {}{} and a float: {:.5}", title, count, pointer, string, real);
}
