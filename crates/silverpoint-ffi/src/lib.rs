//! libsilverpoint: one logger a process, for C and C++. The interface is `cpp/include/silverpoint/logger.h`, which says what each function does.
//!
//! No panic leaves a function, no function keeps a pointer that it was given, and all may be called from any thread, but not from signal handlers.

mod text;

use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use silverpoint_logger::{Config, Flushed, Logger, LoggerError};

/// Results; those that are not negative are numbers of sinks.
const DONE: c_int = 0;
const FAILED: c_int = -1;
const RUNNING: c_int = -2;
const NOT_RUNNING: c_int = -3;

/// How long the end of the process waits for the sinks.
const PATIENCE: Duration = Duration::from_secs(5);

static LOGGER: Mutex<Option<Logger>> = Mutex::new(None);

/// See logger.h.
///
/// # Safety
/// `config` is null or ends with a zero byte; `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_start(
    config: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let config = unsafe { text::given(config) };
    let start = || -> Result<c_int, String> {
        let mut logger = lock();
        if logger.is_some() {
            return Ok(RUNNING);
        }
        let config = match &config {
            None => Config::default().with_environment(),
            Some(Ok(text)) => Config::from_text(text, "configuration"),
            Some(Err(error)) => return Err(format!("configuration: {error}")),
        };
        let started = config.map_err(LoggerError::from).and_then(Logger::start);
        *logger = Some(started.map_err(|error| error.to_string())?);
        at_exit();
        Ok(DONE)
    };
    match catch_unwind(AssertUnwindSafe(start)) {
        Ok(Ok(done)) => done,
        Ok(Err(text)) => {
            // SAFETY: as the caller promises.
            unsafe { text::give(&text, error, error_size) };
            FAILED
        }
        Err(_) => {
            // SAFETY: as the caller promises.
            unsafe { text::give("a defect in libsilverpoint; standard error says where", error, error_size) };
            FAILED
        }
    }
}

/// See logger.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_flush(timeout_ms: u64) -> c_int {
    guarded(|| match &*lock() {
        Some(logger) => sinks(logger.flush(Duration::from_millis(timeout_ms))),
        None => NOT_RUNNING,
    })
}

/// See logger.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_stop(timeout_ms: u64) -> c_int {
    guarded(|| stop(Duration::from_millis(timeout_ms)))
}

fn stop(timeout: Duration) -> c_int {
    // Not held while it waits: a sink that stands still must not hold up others.
    let logger = lock().take();
    match logger {
        Some(logger) => sinks(logger.stop(timeout)),
        None => NOT_RUNNING,
    }
}

fn sinks(flushed: Flushed) -> c_int {
    match flushed {
        Flushed::Complete => DONE,
        Flushed::Late { sinks } => c_int::try_from(sinks).unwrap_or(c_int::MAX).max(1),
    }
}

fn lock() -> MutexGuard<'static, Option<Logger>> {
    LOGGER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn guarded(call: impl FnOnce() -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(FAILED)
}

/// A process that returns from `main` or calls `exit` delivers what there is.
fn at_exit() {
    extern "C" fn end() {
        guarded(|| stop(PATIENCE));
    }
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: `end` is a function of this library, which is never unloaded.
    ONCE.call_once(|| unsafe {
        libc::atexit(end);
    });
}
