//! Loggers with macros of their own, that hand records to a thread: slog-async and ticklog.

use std::cell::RefCell;
use std::sync::OnceLock;

use slog::{Drain, KV as _, Logger, OwnedKVList, Record};
use slog_async::{Async, OverflowStrategy};

/// Entries that slog-async's channel takes.
const CHANNEL: usize = 1 << 16;

/// Counts what slog's thread gives it.
struct Counting;

/// The id among the values of a record.
struct Id(Option<u64>);

impl slog::Serializer for Id {
    fn emit_arguments(&mut self, _: slog::Key, _: &std::fmt::Arguments<'_>) -> slog::Result {
        Ok(())
    }
    fn emit_u64(&mut self, key: slog::Key, value: u64) -> slog::Result {
        if key == "id" {
            self.0 = Some(value);
        }
        Ok(())
    }
    fn emit_i64(&mut self, _: slog::Key, _: i64) -> slog::Result {
        Ok(())
    }
    fn emit_f64(&mut self, _: slog::Key, _: f64) -> slog::Result {
        Ok(())
    }
}

impl Drain for Counting {
    type Ok = ();
    type Err = slog::Never;
    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), slog::Never> {
        let mut id = Id(None);
        let _ = record.kv().serialize(record, &mut id);
        match id.0 {
            Some(id) => crate::rivals::count_with(id),
            None => crate::rivals::count(),
        }
        Ok(())
    }
}

static SLOG: OnceLock<Logger> = OnceLock::new();

/// Begins slog-async; what it gives ends it, when everything has arrived.
pub fn begin_slog() -> impl FnOnce() {
    let (drain, guard) =
        Async::new(Counting).chan_size(CHANNEL).overflow_strategy(OverflowStrategy::Block).build_with_guard();
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
