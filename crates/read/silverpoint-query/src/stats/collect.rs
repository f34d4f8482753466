//! Counting: stream by stream, block by block, without merging. What a site's id alone decides costs a few
//! nanoseconds a record.

use std::convert::Infallible;

use silverpoint_trace::{
    BlockCursor, BlockReader, Context, Head, Select, Selection, Session, Site, Stream, Trace,
};
use silverpoint_wire::clock::Segment;
use silverpoint_wire::layout::block::LATE;
use silverpoint_wire::layout::record::{CONTEXT, SPAN_END};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::level::Kind;
use silverpoint_wire::value::walk;

use super::{Count, Counter, Rates, Statistics, Troubles};
use crate::filter::Filter;
use crate::spans::{Halves, async_id};

/// Counts what `filter` selects. A filter by thread uses the last name of the thread.
pub fn collect(trace: &Trace, filter: &Filter) -> Statistics {
    collect_with(trace, filter, 0)
}

/// As [`collect`], and counts when records were made, in at most so many equal parts of the time; 0: does not. Each record then costs
/// some nanoseconds more.
pub fn collect_with(trace: &Trace, filter: &Filter, parts: usize) -> Statistics {
    let mut statistics = Statistics {
        sites: vec![Count::default(); trace.sites.len()],
        unknown: vec![0; trace.sessions.len()],
        notes: trace.notes().to_vec(),
        ..Statistics::default()
    };
    let selection = filter.selection(trace);
    if parts > 0 {
        let (begin, end) = trace.time_range().unwrap_or((0, 0));
        let asked = selection.as_ref().and_then(Selection::times).unwrap_or((begin, end));
        let from = asked.0.max(begin);
        statistics.rates = Some(Rates::new((from, asked.1.min(end).max(from)), parts));
    }
    let mut collector = Collector {
        trace,
        selection,
        statistics: &mut statistics,
        reader: BlockReader::default(),
        halves: Halves::default(),
        context: None,
    };
    for number in 0..trace.sessions.len() {
        collector.session(number);
    }
    for (count, site) in statistics.sites.iter().zip(&trace.sites) {
        statistics.levels[site.level() as usize] += count.records;
        statistics.records += count.records;
        statistics.record_bytes += count.bytes;
    }
    statistics.records += statistics.unknown.iter().sum::<u64>();
    statistics
}

struct Collector<'t, 's> {
    trace: &'t Trace,
    selection: Option<Selection>,
    statistics: &'s mut Statistics,
    reader: BlockReader,
    halves: Halves,
    /// Of the stream that is being read.
    context: Option<Context>,
}

/// What is done with records of one id.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    /// Counted.
    Count,
    /// Counted, and its arguments examined: counters, async spans, or an expression.
    Look,
    /// Not wanted.
    Ignore,
    /// A site without a description, or a control record.
    Unknown,
}

impl Treatment {
    fn looks_at_arguments(self) -> bool {
        matches!(self, Self::Look | Self::Unknown)
    }
}

/// Counts of one site id while a stream is read.
#[derive(Clone, Copy)]
struct Slot {
    count: Count,
    treatment: Treatment,
}

impl Collector<'_, '_> {
    fn session(&mut self, number: usize) {
        let session = &self.trace.sessions[number];
        self.statistics.threads.push(vec![Count::default(); session.threads.len()]);
        self.statistics.troubles.push(vec![Troubles::default(); session.threads.len()]);
        self.statistics.session_losses.push(Default::default());
        if self.selection.as_ref().is_some_and(|selection| !selection.session(number)) {
            return;
        }
        for (total, loss) in self.statistics.losses.iter_mut().zip(session.losses()) {
            *total = total.saturating_add(loss);
        }
        self.statistics.session_losses[number] = session.loss.losses;
        let mut slots = self.slots(session);
        for stream in &session.streams {
            self.statistics.troubles[number][stream.thread].add_stream(stream);
            let loss = &stream.loss;
            self.statistics.stalls = self.statistics.stalls.saturating_add(loss.stalls);
            self.statistics.stall_ns = self.statistics.stall_ns.saturating_add(loss.stall_ns);
            for gap in &stream.gaps {
                self.statistics.forgotten_more |= gap.forgotten.is_some_and(|forgotten| forgotten.has_more);
                let (total, more) = match gap.forgotten {
                    None => (&mut self.statistics.gap_bytes, gap.bytes()),
                    Some(forgotten) => (&mut self.statistics.forgotten, forgotten.records),
                };
                *total = total.saturating_add(more);
            }
            let thread = &session.threads[stream.thread];
            if self.selection.as_ref().is_none_or(|selection| selection.thread(thread.tid, &thread.name)) {
                self.stream(number, session, stream, &mut slots);
            }
        }
        self.with_halves(session, |halves, found| halves.finish(found));
        for (id, site_number) in session.site_numbers() {
            if let Some(slot) = slots.get(id as usize) {
                self.statistics.sites[site_number].add(slot.count);
            }
        }
    }

    /// One slot for each id up to the largest of the small ones.
    fn slots(&self, session: &Session) -> Vec<Slot> {
        let ids = session.site_numbers().map(|(id, _)| id).filter(|id| *id < 1 << 16).max().unwrap_or(0)
            as usize
            + 1;
        let mut slots = vec![Slot { count: Count::default(), treatment: Treatment::Unknown }; ids];
        for (id, number) in session.site_numbers() {
            if let Some(slot) = slots.get_mut(id as usize) {
                slot.treatment = self.treatment(number);
            }
        }
        slots
    }

    fn treatment(&self, site_number: usize) -> Treatment {
        let wanted = self.selection.as_ref().is_none_or(|selection| selection.site(site_number));
        let expression = self.selection.as_ref().is_some_and(Selection::has_value_test);
        match self.trace.sites[site_number].kind() {
            _ if !wanted => Treatment::Ignore,
            Kind::Counter | Kind::AsyncBegin | Kind::AsyncEnd => Treatment::Look,
            _ if expression => Treatment::Look,
            _ => Treatment::Count,
        }
    }

    fn stream(&mut self, number: usize, session: &Session, stream: &Stream, slots: &mut [Slot]) {
        let mut cursor = BlockCursor::new(stream);
        let mut reader = std::mem::take(&mut self.reader);
        let looked_at: Vec<bool> = slots.iter().map(|slot| slot.treatment.looks_at_arguments()).collect();
        let wants_args = |id: u32| looked_at.get(id as usize).is_none_or(|looked_at| *looked_at);
        let times = self.selection.as_ref().and_then(Selection::times);
        let has_value_test = self.selection.as_ref().is_some_and(Selection::has_value_test);
        self.context = None;
        while let Some(next) = cursor.next() {
            let header = &next.block.header;
            if next.is_broken {
                self.context = None;
            }
            if self.selection.as_ref().is_some_and(|selection| !selection.block(session, number, header)) {
                self.statistics.skipped_blocks += 1;
                continue;
            }
            let mut block = Block {
                number,
                session,
                times: (u64::MAX, 0),
                count: Count::default(),
                clock: session.clock.segment(0),
            };
            let walked = reader.walk(self.trace, session, &next, wants_args, |head| {
                if has_value_test && head.site == CONTEXT {
                    self.context = Context::read(head.args);
                }
                if times.is_none_or(|(from, until)| (from..=until).contains(&block.wall_ns(head.ticks))) {
                    self.record(&mut block, head, slots);
                }
            });
            let is_lost = walked.is_lost();
            self.statistics.notes.extend(walked.notes);
            if is_lost {
                cursor.not_read(&next);
                continue;
            }
            self.statistics.blocks += 1;
            self.statistics.stored_bytes += u64::from(header.stored_size);
            self.statistics.raw_bytes += walked.bytes;
            if header.flags & LATE != 0 {
                self.statistics.late_blocks += 1;
                self.statistics.troubles[number][stream.thread].late += block.count.records;
            }
            self.statistics.threads[number][stream.thread].add(block.count);
            if block.times.0 <= block.times.1 {
                let (first, last) =
                    (session.clock.wall_ns(block.times.0), session.clock.wall_ns(block.times.1));
                let range = self.statistics.time_range.get_or_insert((first, last));
                *range = (range.0.min(first), range.1.max(last));
            }
        }
        self.reader = reader;
    }

    /// Counts a record.
    #[inline]
    fn record(&mut self, block: &mut Block<'_>, head: Head<'_>, slots: &mut [Slot]) {
        let counted = match slots.get_mut(head.site as usize) {
            Some(slot) if slot.treatment == Treatment::Count => {
                slot.count.records += 1;
                slot.count.bytes += u64::from(head.size);
                true
            }
            Some(Slot { treatment: Treatment::Ignore, .. }) => false,
            slot => self.look(block, head, slot),
        };
        if counted {
            block.count.records += 1;
            block.count.bytes += u64::from(head.size);
            block.times = (block.times.0.min(head.ticks), block.times.1.max(head.ticks));
            if self.statistics.rates.is_some() {
                let wall_ns = block.wall_ns(head.ticks);
                let site = block.session.site_number(head.site);
                if let Some(rates) = &mut self.statistics.rates {
                    rates.add(site, wall_ns);
                }
            }
        }
    }

    /// What the id alone does not decide. True when the record was counted.
    fn look(&mut self, block: &Block<'_>, head: Head<'_>, slot: Option<&mut Slot>) -> bool {
        let Head { site: id, ticks, size, args } = head;
        if id < FIRST_ID {
            if id == SPAN_END {
                self.span_end(block, ticks, args);
            }
            return false;
        }
        let Some(number) = block.session.site_number(id) else {
            if self.selection.as_ref().is_some_and(|selection| !selection.unknown()) {
                return false;
            }
            self.statistics.unknown[block.number] += 1;
            return true;
        };
        let site = &self.trace.sites[number];
        // Ids beyond the slots come here too.
        if slot.is_none() && self.treatment(number) == Treatment::Ignore {
            return false;
        }
        if self
            .selection
            .as_mut()
            .is_some_and(|selection| !selection.values(site, number, self.context.as_ref(), args))
        {
            return false;
        }
        let one = Count { records: 1, bytes: u64::from(size) };
        match slot {
            Some(slot) => slot.count.add(one),
            None => self.statistics.sites[number].add(one),
        }
        if site.kind() == Kind::Counter {
            if let Some(value) = number_of(site, args) {
                let counters = &mut self.statistics.counters;
                counters
                    .entry(number)
                    .and_modify(|c| c.add(value, ticks))
                    .or_insert_with(|| Counter::first(value, ticks));
            }
        }
        if let kind @ (Kind::AsyncBegin | Kind::AsyncEnd) = site.kind() {
            if let Some(id) = async_id(site, args) {
                let half = (number, id, ticks, kind == Kind::AsyncEnd);
                let name = (site.description.category.as_str(), site.description.template.as_str());
                self.with_halves(block.session, |halves, found| {
                    halves.add(block.number, name, half, found);
                    0
                });
            }
        }
        true
    }

    /// Does something with the begins and ends of async spans of a session, which gives how many found no partner.
    fn with_halves(
        &mut self,
        session: &Session,
        work: impl FnOnce(&mut Halves, &mut dyn FnMut(usize, u64, u64)) -> u64,
    ) {
        let spans = &mut self.statistics.spans;
        let mut found = |site, begin, end| {
            if let Ok(ns) = u64::try_from(session.clock.duration_ns(begin, end)) {
                spans.entry(site).or_default().add(ns);
            }
        };
        self.statistics.unpaired += work(&mut self.halves, &mut found);
    }

    fn span_end(&mut self, block: &Block<'_>, ticks: u64, args: &[u8]) {
        if self.selection.as_ref().is_some_and(|selection| !selection.control(SPAN_END)) {
            return;
        }
        let (Some(id), Some(begin)) = (args.first_chunk(), args.get(4..).and_then(|rest| rest.first_chunk()))
        else {
            return;
        };
        let Some(number) = block.session.site_number(u32::from_le_bytes(*id)) else { return };
        if self.selection.as_ref().is_some_and(|selection| !selection.site(number)) {
            return;
        }
        if let Ok(ns) = u64::try_from(block.session.clock.duration_ns(u64::from_le_bytes(*begin), ticks)) {
            self.statistics.spans.entry(number).or_default().add(ns);
        }
    }
}

/// What is known of the block that is counted.
struct Block<'t> {
    number: usize,
    session: &'t Session,
    /// Least and greatest ticks of what was counted.
    times: (u64, u64),
    count: Count,
    /// The stretch of time of the last record.
    clock: Segment,
}

impl Block<'_> {
    fn wall_ns(&mut self, ticks: u64) -> i64 {
        if !self.clock.contains(ticks) {
            self.clock = self.session.clock.segment(ticks);
        }
        self.clock.wall_ns(ticks)
    }
}

/// The value of a counter's record: its first argument, when that is a number.
pub fn number_of(site: &Site, args: &[u8]) -> Option<f64> {
    let mut number = Number(None);
    walk(site.types.first()?, args, 0, &mut number).ok()?;
    number.0
}

/// Keeps the last number it sees.
struct Number(Option<f64>);

impl Pieces for Number {
    type Error = Infallible;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Infallible> {
        self.0 = match leaf {
            Leaf::Bool(value) => Some(f64::from(u8::from(value))),
            Leaf::I64(value) | Leaf::Duration(value) => Some(value as f64),
            Leaf::U64(value) => Some(value as f64),
            Leaf::I128(value) => Some(value as f64),
            Leaf::U128(value) => Some(value as f64),
            Leaf::F32(value) => Some(f64::from(value)),
            Leaf::F64(value) => Some(value),
            _ => return Ok(()),
        };
        Ok(())
    }

    fn begin(&mut self, _: Container<'_>) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
