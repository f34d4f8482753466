//! Counting without merging, and without arguments where the filter does not ask for them.
//!
//! Every site's verdict is looked up in a dense table. Blocks that lie completely within the wanted times
//! need no check of each record's time. Only a filter by threads needs the merge: a thread's name is the one
//! at the time of the record.

use silverpoint_wire::clock::Segment;
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{CONTEXT, LOSS, SPAN_END, STALL};
use silverpoint_wire::layout::site_entry::FIRST_ID;

use super::blocks::{BlockCursor, BlockReader};
use super::selection::{Select, Selection};
use super::session::Session;
use super::verdict::{Note, Verdict};
use super::{Events, Head, Trace, event, worst};
use crate::Context;

/// How many events there are. See [`Trace::count`].
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Those that are shown ([`Event::is_shown`](super::Event::is_shown)).
    pub events: u64,
    /// Blocks of records that were read.
    pub blocks: u64,
    /// Blocks that were not read, since their summaries exclude what is wanted.
    pub skipped_blocks: u64,
    /// What was missing, beyond the notes in [`Trace::notes`].
    pub notes: Vec<Note>,
}

impl Counted {
    /// The verdict about the trace.
    pub fn verdict(&self, trace: &Trace) -> Verdict {
        worst(&self.notes).max(trace.verdict())
    }
}

/// What is done with records of one id.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    Ignore,
    Count,
    /// The arguments decide.
    Look,
}

/// Ids below this have a place in the table.
const TABLE: u32 = 1 << 16;

impl Trace {
    /// How many events `select` would give that are shown. A fraction of the time, for most filters.
    pub fn count(&self, wanted: &dyn Select) -> Counted {
        let selection = Selection::new(wanted.wanted(self), self);
        if selection.has_thread_test() {
            return self.count_merged(selection);
        }
        let mut counter = Counter {
            trace: self,
            selection,
            counted: Counted::default(),
            reader: BlockReader::default(),
            context: None,
        };
        for (number, session) in self.sessions.iter().enumerate() {
            if counter.selection.session(number) {
                counter.session(number, session);
            }
        }
        counter.counted
    }

    /// How many records of sites there are, however they are shown: what the traced programs have recorded,
    /// without what frontends and collectors record about themselves. Blocks that hold no such record are
    /// counted by their headers.
    pub fn count_records(&self) -> u64 {
        let mut reader = BlockReader::default();
        let mut records = 0;
        for session in &self.sessions {
            for stream in &session.streams {
                let mut cursor = BlockCursor::new(stream);
                while let Some(next) = cursor.next() {
                    let header = &next.block.header;
                    let mut of_sites = 0;
                    let is_plain = header.levels & LEVELS_CONTROL == 0 && next.skip == 0;
                    if is_plain
                        || reader
                            .walk(
                                self,
                                session,
                                &next,
                                |_| false,
                                |head| {
                                    of_sites += u64::from(head.site >= FIRST_ID);
                                },
                            )
                            .is_lost()
                    {
                        of_sites = u64::from(header.records);
                    }
                    records += of_sites;
                }
            }
        }
        records
    }

    fn count_merged(&self, selection: Selection) -> Counted {
        let mut events = Events::new(self, Some(selection));
        let mut counted = Counted::default();
        while let Some(event) = events.next() {
            counted.events += u64::from(event.is_shown());
        }
        counted.notes = events.notes().to_vec();
        counted
    }
}

struct Counter<'t> {
    trace: &'t Trace,
    selection: Selection,
    counted: Counted,
    reader: BlockReader,
    /// Of the stream that is being read, if an expression may use it.
    context: Option<Context>,
}

impl Counter<'_> {
    fn session(&mut self, number: usize, session: &Session) {
        let ids = session.site_numbers().map(|(id, _)| id).filter(|id| *id < TABLE).max().unwrap_or(0);
        let table: Vec<Treatment> = (0..=ids.max(FIRST_ID)).map(|id| self.treatment(session, id)).collect();
        for stream in &session.streams {
            let mut cursor = BlockCursor::new(stream);
            self.context = None;
            while let Some(next) = cursor.next() {
                if next.is_broken {
                    self.context = None;
                }
                if next.missing > 0 {
                    let note = super::blocks::missing_bytes(self.trace, session, stream, &next);
                    self.note(note);
                }
                let header = &next.block.header;
                if !self.selection.block(session, number, header) {
                    self.counted.skipped_blocks += 1;
                    continue;
                }
                let mut times = Times::new(&self.selection, session, (header.first_ticks, header.last_ticks));
                let mut reader = std::mem::take(&mut self.reader);
                let mut events = 0;
                let wants_args = |id: u32| table.get(id as usize) == Some(&Treatment::Look) || id > ids;
                let walked = reader.walk(self.trace, session, &next, wants_args, |head| {
                    let treatment = table.get(head.site as usize).copied();
                    let treatment = treatment.unwrap_or_else(|| self.treatment(session, head.site));
                    let counts = match treatment {
                        Treatment::Ignore => false,
                        Treatment::Count => times.contain(session, head.ticks),
                        Treatment::Look if head.site == CONTEXT => {
                            self.context = Context::read(head.args);
                            false
                        }
                        Treatment::Look => {
                            times.contain(session, head.ticks) && self.look(number, session, head)
                        }
                    };
                    events += u64::from(counts);
                });
                self.reader = reader;
                self.counted.events += events;
                if walked.is_lost() {
                    cursor.not_read(&next);
                } else {
                    self.counted.blocks += 1;
                }
                walked.notes.into_iter().for_each(|note| self.note(note));
            }
        }
    }

    fn note(&mut self, note: Note) {
        if self.counted.notes.len() < super::merge::NOTES_MAX {
            self.counted.notes.push(note);
        }
    }

    fn treatment(&self, session: &Session, id: u32) -> Treatment {
        if id < FIRST_ID {
            if id == CONTEXT && self.selection.has_value_test() {
                return Treatment::Look;
            }
            // Malformed ones are not shown: their arguments decide.
            let is_shown = matches!(id, LOSS | STALL | SPAN_END);
            return if is_shown && self.selection.control(id) { Treatment::Look } else { Treatment::Ignore };
        }
        match session.site_number(id) {
            Some(site) if !self.selection.site(site) => Treatment::Ignore,
            Some(_) if self.selection.has_value_test() => Treatment::Look,
            None if !self.selection.unknown() => Treatment::Ignore,
            _ => Treatment::Count,
        }
    }

    fn look(&mut self, number: usize, session: &Session, head: Head<'_>) -> bool {
        if head.site < FIRST_ID {
            return event::is_shown_control(self.trace, session, head)
                && (head.site != SPAN_END || self.selection.span_end(self.trace, number, head.args));
        }
        let Some(site) = session.site_number(head.site) else { return false };
        self.selection.values(&self.trace.sites[site], site, self.context.as_ref(), head.args)
    }
}

/// The times that are wanted, for the records of one block.
struct Times {
    /// `None`: all records of the block are within them.
    wanted: Option<(i64, i64)>,
    clock: Segment,
}

impl Times {
    /// `range` are the ticks that the block's header states.
    fn new(selection: &Selection, session: &Session, range: (u64, u64)) -> Self {
        let clock = session.clock.segment(range.0);
        let is_within = |(from, until): (i64, i64)| {
            // Within one stretch time is monotonic.
            clock.contains(range.1) && clock.wall_ns(range.0) >= from && clock.wall_ns(range.1) <= until
        };
        Self { wanted: selection.times().filter(|wanted| !is_within(*wanted)), clock }
    }

    #[inline]
    fn contain(&mut self, session: &Session, ticks: u64) -> bool {
        let Some((from, until)) = self.wanted else { return true };
        if !self.clock.contains(ticks) {
            self.clock = session.clock.segment(ticks);
        }
        (from..=until).contains(&self.clock.wall_ns(ticks))
    }
}
