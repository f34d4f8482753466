//! Loggers with macros of their own, that hand records to a thread: slog-async and ticklog.

use std::cell::RefCell;
use std::sync::OnceLock;

use slog::{Drain, Logger, OwnedKVList, Record};
use slog_async::{Async, OverflowStrategy};

/// Entries that slog-async's channel takes.
const CHANNEL: usize = 1 << 16;

/// Counts what slog's thread gives it.
struct Counting;

impl Drain for Counting {
    type Ok = ();
    type Err = slog::Never;
    fn log(&self, _: &Record<'_>, _: &OwnedKVList) -> Result<(), slog::Never> {
        crate::rivals::count();
        Ok(())
    }
}

static SLOG: OnceLock<Logger> = OnceLock::new();

/// Begins slog-async; what it gives ends it, when everything has arrived.
pub fn begin_slog() -> impl FnOnce() {
    let (drain, guard) = Async::new(Counting)
        .chan_size(CHANNEL)
        .overflow_strategy(OverflowStrategy::Block)
        .build_with_guard();
    SLOG.set(Logger::root(drain.fuse(), slog::o!())).expect("only once");
    move || drop(guard)
}

thread_local! {
    /// As a program has one in its own hands.
    static LOGGER: RefCell<Option<Logger>> = const { RefCell::new(None) };
}

fn with_slog(log: impl FnOnce(&Logger)) {
    LOGGER.with_borrow_mut(|own| log(own.get_or_insert_with(|| SLOG.get().expect("it has begun").clone())));
}

#[inline]
pub fn slog_event() {
    with_slog(|log| slog::info!(log, "bench event"));
}

#[inline]
pub fn slog_event3(index: i64, fraction: f64, id: u64) {
    with_slog(|log| slog::info!(log, "bench"; "index" => index, "fraction" => fraction, "id" => id));
}

/// Begins ticklog into a file; what it gives ends it.
pub fn begin_ticklog(path: &str) -> impl FnOnce() + use<> {
    let guard = ticklog::configure! {
        sink: ticklog::FileSink::truncate(path).expect("a file"),
        backpressure: ticklog::Backpressure::Block,
    }
    .expect("only once");
    move || drop(guard)
}
