//! One record as those see it that know no trace file: JSON lines, filters of single records, other formats.

use super::{Context, Event, What};

/// One record, borrowed from its reader.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Nanoseconds since 1970-01-01T00:00Z.
    pub wall_ns: i64,
    /// In the clock of its session, where the source says it.
    pub ticks: Option<u64>,
    /// The executable's name without directories; `?` when unknown.
    pub process: &'a str,
    /// Process id; 0 when unknown.
    pub pid: u32,
    /// Number of the process; for one reader the same number is always the same process.
    pub process_number: usize,
    /// Kernel thread id; 0 when unknown.
    pub tid: u32,
    /// The thread's name at this time; may be empty.
    pub thread: &'a str,
    /// Fields of the scopes that the thread was in.
    pub context: Option<&'a Context>,
    /// It was kept back until something happened that it helps to explain.
    pub is_backtrace: bool,
    /// What happened: site and packed arguments, the end of a span, a loss, a wait. For one reader the same number is always the same site. `begin_ticks` of
    /// a span's end is 0 where the source does not say it: its time less its duration is about when it began.
    pub what: What<'a>,
}

impl<'a> Event<'a> {
    /// The record, without the file that it stands in.
    pub fn record(&self) -> Record<'a> {
        Record {
            wall_ns: self.wall_ns,
            ticks: Some(self.ticks),
            process: &self.session.name,
            pid: self.session.pid,
            process_number: self.session_number,
            tid: self.tid,
            thread: self.thread_name,
            context: self.context.map(|context| &**context),
            is_backtrace: self.is_backtrace,
            what: self.what,
        }
    }
}
