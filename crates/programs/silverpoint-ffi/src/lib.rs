//! libsilverpoint: one logger a process, for C and C++. The interface is `cpp/include/silverpoint/logger.h`, which says what each function does; and readers of what was recorded (`reader`).
//!
//! **The invariant.** No panic leaves a function, and no function of the logger keeps a pointer that it was
//! given.
//!
//! ```c
//! #include <silverpoint/logger.h>
//! #include <stdio.h>
//!
//! int main(void) {
//!     char error[256] = "";
//!     /* standard error, or what SILVERPOINT says */
//!     if (silverpoint_start(NULL, error, sizeof error) != SILVERPOINT_DONE) {
//!         fprintf(stderr, "%s\n", error);
//!         return 1;
//!     }
//!     /* one logger a process */
//!     if (silverpoint_start(NULL, NULL, 0) != SILVERPOINT_RUNNING) return 2;
//!     /* everything was delivered */
//!     return silverpoint_stop(60000) == SILVERPOINT_DONE ? 0 : 3;
//! }
//! ```
//!
//! ```text
//!  logger.h ─▶ home: the logger of this process ─▶ silverpoint-logger      handler      functions that get records later
//!                                                                          synchronous  functions that get them at once
//!  reader.h ─▶ reader ─▶ silverpoint-read                                  cancel       threads that are ended in a call
//!                                                                          stdio, text  stdout of C, strings of C
//! ```
//!
//! All functions of the logger may be called from any thread. From signal handlers only `silverpoint_reopen`
//! and `silverpoint_drain_after_crash` may be called.
//!
//! A forked child has a copy of the logger's memory, but none of its threads, and one of those may hold a
//! lock. So everything lies behind one pointer, with the id of its process (`home`). Another process neither
//! waits for it nor ends it, and starts its own.

mod cancel;
mod handler;
mod home;
mod reader;
mod stdio;
mod synchronous;
mod text;

use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::Utf8Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use silverpoint_logger::{Config, Flushed, Logger, LoggerError, SettingsError};

use crate::home::Home;

/// Results; those that are not negative are numbers of sinks.
const DONE: c_int = 0;
const FAILED: c_int = -1;
const RUNNING: c_int = -2;
const NOT_RUNNING: c_int = -3;
const INVALID: c_int = -4;

/// Of the last logger's configuration; -1: it wants no handler.
static CRASH_WAIT_MS: AtomicI64 = AtomicI64::new(-1);

/// How long the end of the process waits for the sinks.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let read = || match &config {
        None => Ok(Config::default().with_environment()),
        Some(text) => from_text(text),
    };
    // SAFETY: as the caller promises.
    unsafe { answer(|| start(read), error, error_size) }
}

/// See logger.h.
///
/// # Safety
/// As of [`silverpoint_start`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_start_with_environment(
    config: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let config = unsafe { text::given(config) };
    let read = || {
        let made = match &config {
            None => Ok(Config::default()),
            Some(text) => from_text(text)?,
        };
        Ok(made.and_then(Config::with_environment))
    };
    // SAFETY: as the caller promises.
    unsafe { answer(|| start(read), error, error_size) }
}

/// A configuration, or what is wrong with its text itself.
fn from_text(given: &Result<String, Utf8Error>) -> Result<Result<Config, SettingsError>, (c_int, String)> {
    match given {
        Ok(text) => Ok(Config::from_text(text, "configuration")),
        Err(error) => Err((INVALID, format!("configuration: {error}"))),
    }
}

/// See logger.h.
///
/// # Safety
/// `path` is null or ends with a zero byte; `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_start_file(
    path: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let path = unsafe { text::given(path) };
    let read = || match &path {
        None => Err((INVALID, "the path of the configuration is a null pointer".to_owned())),
        Some(Ok(path)) => Ok(Config::from_file(path).and_then(Config::with_environment)),
        Some(Err(error)) => Err((INVALID, format!("the path of the configuration: {error}"))),
    };
    // SAFETY: as the caller promises.
    unsafe { answer(|| start(read), error, error_size) }
}

/// See logger.h.
///
/// # Safety
/// `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reload(error: *mut c_char, error_size: usize) -> c_int {
    let reload = || {
        // Others need not wait behind it.
        let Some(logger) = Home::own().and_then(|home| home.lock().clone()) else { return Ok(NOT_RUNNING) };
        match logger.reload() {
            Ok(true) => Ok(DONE),
            Ok(false) => Err((INVALID, "the logger was not configured by a file".to_owned())),
            Err(error) => Err((kind_of(&error), error.to_string())),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { answer(reload, error, error_size) }
}

/// See logger.h. An atomic addition: a handler of signals may call it.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_reopen() {
    silverpoint_logger::reopen();
}

/// Calls something, and writes the text of its error where the caller wants it.
///
/// # Safety
/// `error` is null or has room for `error_size` bytes.
unsafe fn answer(
    call: impl FnOnce() -> Result<c_int, (c_int, String)>,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    let _uncancelled = cancel::Held::new();
    let (result, text) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(done)) => return done,
        Ok(Err(error)) => error,
        Err(_) => (FAILED, "a defect in libsilverpoint; standard error says where".to_owned()),
    };
    // SAFETY: as the caller promises.
    unsafe { text::give(&text, error, error_size) };
    result
}

type Read = Result<Result<Config, silverpoint_logger::SettingsError>, (c_int, String)>;

/// Starts the process's logger, unless it runs.
fn start(read: impl FnOnce() -> Read) -> Result<c_int, (c_int, String)> {
    let mut logger = Home::own_or_new().lock();
    if logger.is_some() {
        return Ok(RUNNING);
    }
    let config = read()?;
    // The handler of crashes is the program's, in its own language: it writes into the program's session.
    let mut crash = None;
    let started = config.map_err(LoggerError::from).and_then(|mut config| {
        crash = config.crash.take();
        Home::own_or_new().remember(config.clone());
        stdio::share();
        Logger::start_without_exit_hook(handler::add_to(config))
    });
    *logger = Some(Arc::new(started.map_err(|error| (kind_of(&error), error.to_string()))?));
    let wait = crash.map_or(-1, |crash| i64::try_from(crash.wait.as_millis()).unwrap_or(i64::MAX));
    CRASH_WAIT_MS.store(wait, Ordering::Release);
    Ok(DONE)
}

/// Whether a configuration makes no sense, or makes sense, but not here.
fn kind_of(error: &LoggerError) -> c_int {
    match error {
        LoggerError::Directives(_)
        | LoggerError::Policy(_)
        | LoggerError::Settings(_)
        | LoggerError::SameFile(_) => INVALID,
        _ => FAILED,
    }
}

/// See logger.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_flush(timeout_ms: u64) -> c_int {
    guarded(|| {
        let logger = Home::own().and_then(|home| home.lock().clone());
        logger.map_or(NOT_RUNNING, |logger| sinks(logger.flush(Duration::from_millis(timeout_ms))))
    })
}

/// See logger.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_dump_backtrace(timeout_ms: u64) -> c_int {
    guarded(|| {
        let logger = Home::own().and_then(|home| home.lock().clone());
        let timeout = Duration::from_millis(timeout_ms);
        logger.map_or(NOT_RUNNING, |logger| sinks(logger.dump_backtrace(timeout)))
    })
}

/// See logger.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_stop(timeout_ms: u64) -> c_int {
    guarded(|| stop(Duration::from_millis(timeout_ms)))
}

fn stop(timeout: Duration) -> c_int {
    // Others may be within a flush, with shares of their own.
    let logger = Home::own().and_then(|home| home.lock().take());
    logger.map_or(NOT_RUNNING, |logger| sinks(logger.end(timeout)))
}

fn sinks(flushed: Flushed) -> c_int {
    match flushed {
        Flushed::Complete => DONE,
        Flushed::Late { sinks } => c_int::try_from(sinks).unwrap_or(c_int::MAX).max(1),
        Flushed::OfParent => NOT_RUNNING,
    }
}

fn guarded(call: impl FnOnce() -> c_int) -> c_int {
    let _uncancelled = cancel::Held::new();
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(FAILED)
}

/// See logger.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_crash_wait() -> i64 {
    CRASH_WAIT_MS.load(Ordering::Acquire)
}

/// See logger.h. Nothing in it can panic, or is not async-signal-safe.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_drain_after_crash(timeout_ms: u64) -> c_int {
    if silverpoint_logger::drain_after_crash(timeout_ms) { DONE } else { 1 }
}

/// A process that returns from `main` or calls `exit` delivers what there is. Once for each [`Home`].
fn at_exit() {
    extern "C" fn end() {
        guarded(|| stop(PATIENCE));
    }
    // SAFETY: `end` is a function of this library, which is never unloaded.
    unsafe { libc::atexit(end) };
    // A static library keeps only what somebody asks for.
    std::hint::black_box(&LAST);
}

/// The very end, after all exit handlers, destructors of statics and the tracepoints' own. Their records are
/// delivered too, but not to functions of the program, because the data that these use may be gone.
extern "C" fn at_last() {
    guarded(|| {
        let Some(home) = Home::own() else { return NOT_RUNNING };
        if silverpoint_logger::has_kept()
            && home.lock().is_none()
            && let Some(config) = home.remembered()
            && let Ok(logger) = Logger::start_without_exit_hook(config)
        {
            let _ = logger.end(PATIENCE);
        }
        silverpoint_logger::leave_nothing_behind();
        DONE
    });
}

// Sorted by the linker, and run from the last to the first: the tracepoints' own have 101.
#[used]
#[unsafe(link_section = ".fini_array.00100")]
static LAST: extern "C" fn() = at_last;
