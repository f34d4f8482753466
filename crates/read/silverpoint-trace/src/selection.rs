//! What is read of a trace: its sites, sessions and threads decided, its times absolute.
//!
//! ```text
//! Select (a filter, picked columns) ── for one trace ──▶ Wanted: plain lists ──▶ Selection: blocks and records are skipped by it
//! ```

use std::fmt::Debug;

use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{CONTEXT, SPAN_END, THREAD_NAME};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::record::Record;

use super::{Session, Trace};
use crate::Context;
use crate::Site;

/// Ids below this have a place in a table.
const TABLE: u32 = 1 << 16;

/// Control records by their ids.
pub type Controls = [bool; FIRST_ID as usize];
/// Whether a thread with this id and name is wanted.
pub type ThreadTest = Box<dyn Fn(u32, &str) -> bool + Send + Sync>;
/// Whether a record is wanted, by its site, the site's number in the trace, its context and its arguments.
pub type ValueTest = Box<dyn FnMut(&Site, usize, Option<&Context>, &[u8]) -> bool + Send + Sync>;

/// What someone wants of any trace.
pub trait Select: Debug + Send + Sync {
    /// Whether everything is wanted.
    fn is_everything(&self) -> bool;
    /// Decides what can be decided for a trace as it is now.
    fn wanted(&self, trace: &Trace) -> Wanted;
    /// The same for a trace that grows: times relative to its end count from the present end.
    fn absolute(&self, trace: &Trace) -> Box<dyn Select>;

    /// The selection of a trace; `None` where everything is wanted.
    fn selection(&self, trace: &Trace) -> Option<Selection> {
        (!self.is_everything()).then(|| Selection::new(self.wanted(trace), trace))
    }
}

/// All that there is.
#[derive(Clone, Copy, Debug)]
pub struct Everything;

impl Select for Everything {
    fn is_everything(&self) -> bool {
        true
    }

    fn wanted(&self, trace: &Trace) -> Wanted {
        Wanted::all(trace)
    }

    fn absolute(&self, _trace: &Trace) -> Box<dyn Select> {
        Box::new(*self)
    }
}

/// What is wanted of one trace. The lists go by the numbers of the trace.
pub struct Wanted {
    /// By the numbers of [`Trace::sites`].
    pub sites: Vec<bool>,
    /// By the numbers of [`Trace::sessions`].
    pub sessions: Vec<bool>,
    /// Ids of the threads that are wanted; `None`: all.
    pub tids: Option<Vec<u32>>,
    /// Threads that are wanted, by the name at the time of the record; `None`: all.
    pub threads: Option<ThreadTest>,
    /// Control records.
    pub controls: Controls,
    /// Records of sites without a description.
    pub unknown: bool,
    /// Bits of a block's `levels` that may lead to something wanted.
    pub levels: u32,
    /// From this time on, in nanoseconds since 1970-01-01T00:00Z.
    pub from_ns: i64,
    /// Up to and with this time.
    pub until_ns: i64,
    /// What context and arguments of a wanted site's record must pass; `None`: nothing.
    pub values: Option<ValueTest>,
}

impl Wanted {
    /// Everything.
    pub fn all(trace: &Trace) -> Self {
        Self {
            sites: vec![true; trace.sites.len()],
            sessions: vec![true; trace.sessions.len()],
            tids: None,
            threads: None,
            controls: [true; FIRST_ID as usize],
            unknown: true,
            levels: u32::MAX,
            from_ns: i64::MIN,
            until_ns: i64::MAX,
            values: None,
        }
    }
}

/// See the module.
pub struct Selection {
    wanted: Wanted,
    /// By session and thread, by the thread's name as it is now.
    threads: Vec<Vec<bool>>,
    /// Of each session the bits of a block's `sites` that may lead to something wanted.
    site_bits: Vec<u64>,
    /// Contexts are followed through every block that may have one, as names of threads are.
    with_contexts: bool,
    /// Of each session, by site id: such a record cannot be wanted, and changes nothing. Ids beyond the end
    /// are examined.
    passed_over: Vec<Vec<bool>>,
}

impl Selection {
    /// Makes the tables. What is beyond the end of a list is not wanted.
    pub(crate) fn new(mut wanted: Wanted, trace: &Trace) -> Self {
        wanted.sites.resize(trace.sites.len(), false);
        wanted.sessions.resize(trace.sessions.len(), false);
        let Wanted { sites, controls, .. } = &wanted;
        // Names of threads are followed through every block that may have one.
        let names = site_bit(THREAD_NAME);
        let control_bits =
            (1..FIRST_ID).filter(|id| controls[*id as usize]).fold(names, |bits, id| bits | site_bit(id));
        let site_bits = trace.sessions.iter().map(|session| match wanted.unknown {
            true => u64::MAX,
            false => session
                .site_numbers()
                .filter(|(_, number)| sites[*number])
                .fold(control_bits, |bits, (id, _)| bits | site_bit(id)),
        });
        let passed_over = trace.sessions.iter().map(|session| {
            let mut table = vec![false; FIRST_ID as usize];
            for id in (1..FIRST_ID).filter(|id| !matches!(*id, THREAD_NAME | CONTEXT)) {
                table[id as usize] = !controls[id as usize];
            }
            for (id, number) in session.site_numbers().filter(|(id, _)| *id < TABLE) {
                if table.len() <= id as usize {
                    table.resize(id as usize + 1, false);
                }
                table[id as usize] = !sites[number];
            }
            table
        });
        Self {
            threads: trace.sessions.iter().map(|s| vec![true; s.threads.len()]).collect(),
            site_bits: site_bits.collect(),
            passed_over: passed_over.collect(),
            with_contexts: wanted.values.is_some(),
            wanted,
        }
    }

    /// A selection that skips no block which may have a context.
    pub(crate) fn with_contexts(mut self) -> Self {
        self.with_contexts = true;
        self
    }

    /// Whether anything of a session is wanted.
    pub fn session(&self, number: usize) -> bool {
        self.wanted.sessions[number]
    }

    /// Whether anything of a thread is wanted, as far as its id tells.
    pub(crate) fn tid(&self, tid: u32) -> bool {
        self.wanted.tids.as_ref().is_none_or(|tids| tids.contains(&tid))
    }

    /// Whether a block may hold something wanted, or a thread's name (or a context, where that decides).
    pub fn block(&self, session: &Session, number: usize, header: &BlockHeader) -> bool {
        let statements = site_bit(THREAD_NAME) | if self.with_contexts { site_bit(CONTEXT) } else { 0 };
        if header.levels & self.wanted.levels == 0
            || header.sites & (self.site_bits[number] | statements) == 0
        {
            return false;
        }
        if self.wanted.until_ns < i64::MAX && session.clock.wall_ns(header.first_ticks) > self.wanted.until_ns
        {
            return false;
        }
        if self.wanted.from_ns > i64::MIN && session.clock.wall_ns(header.last_ticks) < self.wanted.from_ns {
            return header.levels & LEVELS_CONTROL != 0 && header.sites & statements != 0;
        }
        true
    }

    /// Whether records with this id can be skipped.
    #[inline]
    pub(crate) fn passes_over(&self, session: usize, id: u32) -> bool {
        self.passed_over[session].get(id as usize).is_some_and(|passed_over| *passed_over)
    }

    /// A thread has appeared or has another name.
    pub(crate) fn thread_changed(&mut self, session: usize, thread: usize, tid: u32, name: &str) {
        self.threads[session][thread] = self.thread(tid, name);
    }

    /// Whether records of a site may be wanted.
    pub fn site(&self, number: usize) -> bool {
        self.wanted.sites[number]
    }

    /// Whether records of sites without a description are wanted.
    pub fn unknown(&self) -> bool {
        self.wanted.unknown
    }

    /// Whether a control record is wanted, as far as its id tells.
    pub fn control(&self, id: u32) -> bool {
        self.wanted.controls.get(id as usize).copied().unwrap_or(false)
    }

    /// Whether a thread is wanted under the name that it had last.
    pub fn thread(&self, tid: u32, name: &str) -> bool {
        self.wanted.threads.as_ref().is_none_or(|test| test(tid, name))
    }

    /// The first and the last nanosecond that are wanted, when not all are.
    pub fn times(&self) -> Option<(i64, i64)> {
        (self.wanted.from_ns > i64::MIN || self.wanted.until_ns < i64::MAX)
            .then_some((self.wanted.from_ns, self.wanted.until_ns))
    }

    /// Whether the names of threads decide.
    pub(crate) fn has_thread_test(&self) -> bool {
        self.wanted.threads.is_some()
    }

    /// Whether arguments must be looked at.
    pub fn has_value_test(&self) -> bool {
        self.wanted.values.is_some()
    }

    /// Whether the arguments of a record, and its context, pass the test, if there is one.
    pub fn values(&mut self, site: &Site, number: usize, context: Option<&Context>, args: &[u8]) -> bool {
        self.wanted.values.as_mut().is_none_or(|test| test(site, number, context, args))
    }

    /// Whether the end of a span is wanted, when such records are.
    pub(crate) fn span_end(&self, trace: &Trace, session: usize, args: &[u8]) -> bool {
        let id = args.first_chunk().map(|id| u32::from_le_bytes(*id));
        let site = id.and_then(|id| trace.sessions[session].site_number(id));
        site.map_or(self.wanted.unknown, |number| self.wanted.sites[number])
    }

    /// Whether a record is wanted.
    #[inline]
    pub(crate) fn record(
        &mut self,
        trace: &Trace,
        session: usize,
        thread: usize,
        wall_ns: i64,
        context: Option<&Context>,
        record: &Record<'_>,
    ) -> bool {
        if wall_ns < self.wanted.from_ns || wall_ns > self.wanted.until_ns || !self.threads[session][thread] {
            return false;
        }
        let id = record.header.site;
        let site_of = |id| trace.sessions[session].site_number(id);
        if id >= FIRST_ID {
            let Some(number) = site_of(id) else { return self.wanted.unknown };
            return self.wanted.sites[number]
                && self.values(&trace.sites[number], number, context, record.args);
        }
        if id == SPAN_END && self.wanted.controls[SPAN_END as usize] {
            return self.span_end(trace, session, record.args);
        }
        self.wanted.controls[id as usize]
    }
}
