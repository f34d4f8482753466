//! Sessions and streams as all files together describe them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use silverpoint_wire::block::{GapInfo, LossInfo, SessionInfo, StreamInfo};
use silverpoint_wire::clock::{Anchor, TickClock};
use silverpoint_wire::compact::Signatures;
use silverpoint_wire::layout::{CAUSE_NAMES, CAUSES};
use silverpoint_wire::process;

use super::left_out::LeftOut;
use super::scan::{BlockRef, FoundSession, raise};
use crate::Site;

/// One traced process.
#[derive(Debug)]
pub struct Session {
    /// Its description; absent when that part of the file was lost.
    pub info: Option<SessionInfo>,
    /// Lines of the process text: `exe`, `cmdline`, `build_id` …
    pub process: Vec<(String, String)>,
    /// The executable's name without directories; `?` when unknown.
    pub name: String,
    /// Process id in its own namespace; 0 when unknown.
    pub pid: u32,
    /// Ticks to wall time.
    pub clock: TickClock,
    /// In ascending order of their numbers.
    pub streams: Vec<Stream>,
    /// Threads, each with at least one stream.
    pub threads: Vec<Thread>,
    /// Of records that had no ring.
    pub loss: LossInfo,
    /// The collector's notes about it.
    pub notes: Vec<String>,
    /// Ticks to a time that never runs back and is common to all sessions of one boot: the order of records.
    pub(super) order: TickClock,
    /// Ticks to CLOCK_MONOTONIC of its machine.
    monotonic: Monotonic,
    pub(super) signatures: Signatures,
    sites: SiteNumbers,
    pub(super) anchors: Vec<Anchor>,
    /// Numbers of threads by their ids. If the id is 0, unknown, the stream is part of the key: it may be of
    /// any thread, and gets one of its own.
    by_tid: HashMap<(u32, Option<u32>), usize>,
    /// No record earlier than this follows, but for late ones.
    pub(super) watermark: u64,
    /// How often something was added.
    pub(super) changes: u64,
    /// Numbers of the streams that have blocks: a session that is followed may have had many more.
    holding: BTreeSet<u32>,
    /// Numbers of the streams that have gaps.
    gapped: BTreeSet<u32>,
    /// Numbers of the streams of which something was added since [`Session::finish`].
    changed: BTreeSet<u32>,
    /// Losses of all streams together.
    stream_losses: [u128; CAUSES],
    /// By thread: the stream that gave it its name.
    named_by: Vec<u32>,
    /// The last file that describes a stream of it.
    described_in: Option<u32>,
}

/// One incarnation of a ring.
#[derive(Debug)]
pub struct Stream {
    /// Its number in the session.
    pub number: u32,
    /// Its description; absent when that part of the file was lost.
    pub info: Option<StreamInfo>,
    /// Which of the session's threads owned it.
    pub thread: usize,
    /// Totals of losses and stalls.
    pub loss: LossInfo,
    /// Ring bytes that could not be stored, or were forgotten deliberately.
    pub gaps: Vec<GapInfo>,
    /// In ring order.
    pub(super) blocks: Vec<BlockRef>,
    /// No block and no gap overlaps another one of its kind, and none is empty: places are found by bisection.
    pub(super) is_in_line: bool,
    /// What a file that holds blocks of it leaves out deliberately.
    pub(super) left_out: LeftOut,
    /// The last file that describes it or has a block of it.
    last_in: u32,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Kernel thread id; 0 when unknown.
    pub tid: u32,
    /// The last name that the dictionaries give; may be empty.
    pub name: String,
}

impl Stream {
    /// Records in its blocks that were not forgotten yet, as their headers state.
    pub fn records_stated(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.header.records)).sum()
    }

    /// Positions in the ring of the first byte that a block holds and of the one behind the last; both 0 without blocks.
    pub fn extent(&self) -> (u64, u64) {
        let begin = self.blocks.first().map_or(0, |block| block.header.ring_begin);
        (begin, self.blocks.iter().map(|block| block.header.ring_end).max().unwrap_or(begin))
    }

    /// Whether all blocks lie before a position. False, too, where that would need a look at each.
    pub(super) fn ends_before(&self, position: u64) -> bool {
        self.is_in_line && self.blocks.last().is_none_or(|block| block.header.ring_end <= position)
    }

    /// Forgets the blocks that lie wholly before a position.
    fn forget_before(&mut self, position: u64) {
        self.blocks.retain(|block| block.header.ring_end > position);
        self.gaps.retain(|gap| gap.end > position);
    }
}

impl Session {
    /// The number in the trace's sites of the site with this id.
    #[inline]
    pub fn site_number(&self, id: u32) -> Option<usize> {
        self.sites.get(id)
    }

    /// Ids and numbers of all its sites, in no order.
    pub fn site_numbers(&self) -> impl Iterator<Item = (u32, usize)> {
        self.sites.all()
    }

    /// Pairs of its ticks and the system's clocks.
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// The stream of this number.
    pub(super) fn stream(&self, number: u32) -> Option<&Stream> {
        self.streams.get(self.place(number)?)
    }

    pub(super) fn place(&self, number: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&number, |stream| stream.number).ok()
    }

    /// Whether its wall time never steps back: what was recorded later has no earlier time.
    pub fn runs_forward(&self) -> bool {
        let mut anchors: Vec<_> = self.anchors.iter().map(|anchor| (anchor.ticks, anchor.wall_ns)).collect();
        anchors.sort_unstable();
        anchors.is_sorted_by_key(|(_, wall_ns)| *wall_ns)
    }

    /// `name[pid]`.
    pub fn label(&self) -> String {
        format!("{}[{}]", self.name, self.pid)
    }

    /// `name[pid]`, and the thread of a stream.
    pub fn stream_label(&self, stream: &Stream) -> String {
        match self.threads.get(stream.thread) {
            Some(thread) if !thread.name.is_empty() => {
                format!("{} {} (thread {}, stream {})", self.label(), thread.name, thread.tid, stream.number)
            }
            Some(thread) => format!("{} thread {} (stream {})", self.label(), thread.tid, stream.number),
            None => format!("{} stream {}", self.label(), stream.number),
        }
    }

    /// Losses of the session and all its streams, by cause.
    pub fn losses(&self) -> [u64; CAUSES] {
        let mut sum = self.loss.losses;
        for (total, loss) in sum.iter_mut().zip(self.stream_losses) {
            *total = total.saturating_add(u64::try_from(loss).unwrap_or(u64::MAX));
        }
        sum
    }

    /// The streams that have blocks, in ascending order of their numbers, with their places in `streams`. Costs nothing for the others.
    pub(super) fn holding(&self) -> impl Iterator<Item = (usize, &Stream)> {
        self.listed(&self.holding)
    }

    /// The streams that have gaps.
    pub(super) fn gapped(&self) -> impl Iterator<Item = &Stream> {
        self.listed(&self.gapped).map(|(_, stream)| stream)
    }

    fn listed(&self, numbers: &BTreeSet<u32>) -> impl Iterator<Item = (usize, &Stream)> {
        numbers.iter().filter_map(|number| {
            let at = self.place(*number)?;
            Some((at, &self.streams[at]))
        })
    }

    /// Forgets the blocks that lie wholly before the positions that `position` gives for streams, by their numbers.
    pub(super) fn forget_before(&mut self, position: impl Fn(u32) -> Option<u64>) {
        let mut holding = std::mem::take(&mut self.holding);
        holding.retain(|number| {
            let Some(at) = self.place(*number) else { return false };
            let stream = &mut self.streams[at];
            if let Some(position) = position(*number) {
                stream.forget_before(position);
                if stream.gaps.is_empty() {
                    self.gapped.remove(number);
                }
            }
            !stream.blocks.is_empty()
        });
        self.holding = holding;
    }

    /// Whether a stream cannot grow any more. Either the session has ended, or a later file describes it
    /// again without this stream (it names all streams that are still in a ring).
    pub(super) fn has_retired(&self, number: u32) -> bool {
        let last_in = self.stream(number).map(|stream| stream.last_in);
        self.watermark == u64::MAX || self.described_in > last_in
    }

    /// One of a single stream without blocks: what events belong to that come from no file.
    pub fn of_no_file(pid: u32, name: &str) -> Self {
        let mut session = Self::new();
        (session.pid, session.name) = (pid, name.to_owned());
        session.streams.push(Stream {
            number: 0,
            info: None,
            thread: 0,
            loss: LossInfo::default(),
            gaps: Vec::new(),
            blocks: Vec::new(),
            is_in_line: false,
            left_out: LeftOut::default(),
            last_in: 0,
        });
        session
    }

    /// One that nothing is known of yet.
    pub(super) fn new() -> Self {
        Self {
            info: None,
            process: Vec::new(),
            name: "?".to_owned(),
            pid: 0,
            clock: TickClock::new(&[], 0),
            streams: Vec::new(),
            threads: Vec::new(),
            loss: LossInfo::default(),
            notes: Vec::new(),
            order: TickClock::new(&[], 0),
            monotonic: Monotonic::Order { step: 0 },
            signatures: Signatures::new(),
            sites: SiteNumbers::default(),
            anchors: Vec::new(),
            by_tid: HashMap::new(),
            watermark: 0,
            changes: 0,
            holding: BTreeSet::new(),
            gapped: BTreeSet::new(),
            changed: BTreeSet::new(),
            stream_losses: [0; CAUSES],
            named_by: Vec::new(),
            described_in: None,
        }
    }

    fn describe(&mut self, info: SessionInfo) {
        self.process = process::lines(&info.process);
        let exe =
            process::value(&self.process, "exe").or(process::value(&self.process, "cmdline")).unwrap_or("?");
        let name = process::name_of_program(exe);
        self.name = if name.is_empty() { "?" } else { name }.to_owned();
        self.pid = info.pid;
        self.info = Some(info);
    }

    /// Adds what a further file says, or a further part of the same.
    pub(super) fn add(&mut self, file: u32, found: FoundSession, all_sites: &mut Vec<Site>) {
        if self.info.is_none() {
            if let Some(info) = found.info {
                self.describe(info);
            }
        }
        self.changes += 1;
        self.watermark = self.watermark.max(found.watermark);
        self.anchors.extend(found.anchors);
        for (id, description) in found.sites {
            match self.sites.get(id) {
                Some(number) if !all_sites[number].description.is_pending() => {}
                known => {
                    let _ = self.signatures.insert(id, &description.signature);
                    let site = Site::new(description);
                    match known {
                        Some(number) => all_sites[number] = site,
                        None => {
                            self.sites.insert(id, all_sites.len());
                            all_sites.push(site);
                        }
                    }
                }
            }
        }
        for (number, stream) in found.streams {
            let at = match self.streams.binary_search_by_key(&number, |known| known.number) {
                Ok(at) => at,
                Err(at) => {
                    let new = Stream {
                        number,
                        info: None,
                        thread: 0,
                        loss: LossInfo::default(),
                        gaps: Vec::new(),
                        blocks: Vec::new(),
                        is_in_line: false,
                        left_out: LeftOut::default(),
                        last_in: file,
                    };
                    self.streams.insert(at, new);
                    at
                }
            };
            let known = &mut self.streams[at];
            self.changed.insert(number);
            if stream.info.is_some() {
                self.described_in = self.described_in.max(Some(file));
            }
            if stream.info.is_some() || !stream.blocks.is_empty() {
                known.last_in = known.last_in.max(file);
            }
            known.info = stream.info.or(known.info);
            if !stream.blocks.is_empty() {
                self.holding.insert(number);
            }
            // Of a huge file the list is long: it is not copied.
            match known.blocks.is_empty() {
                true => known.blocks = stream.blocks,
                false => known.blocks.extend(stream.blocks),
            }
            if !stream.gaps.is_empty() {
                self.gapped.insert(number);
                known.gaps.extend(stream.gaps);
            }
            let before = known.loss.losses;
            raise(&mut known.loss, &stream.loss);
            for (cause, sum) in self.stream_losses.iter_mut().enumerate() {
                *sum += u128::from(known.loss.losses[cause] - before[cause]);
            }
        }
        raise(&mut self.loss, &found.loss);
        for note in found.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Wall minus monotonic time when it began; `None` without an anchor.
    pub(super) fn wall_minus_monotonic(&self) -> Option<i128> {
        let first = self.anchors.iter().min_by_key(|anchor| anchor.ticks)?;
        Some(i128::from(first.wall_ns) - i128::from(first.monotonic_ns))
    }

    /// Ticks as CLOCK_MONOTONIC of its machine, in nanoseconds; `None` before it, which only damage makes.
    pub fn monotonic_ns(&self, ticks: u64) -> Option<i64> {
        let ns = match &self.monotonic {
            Monotonic::Order { step } => i128::from(self.order.wall_ns(ticks)) - step,
            Monotonic::Own(clock) => i128::from(clock.wall_ns(ticks)),
        };
        i64::try_from(ns).ok().filter(|ns| *ns >= 0)
    }

    /// Puts everything into order, after the last file. `wall_minus_monotonic` is that of its boot; `None`: its boot is unknown.
    pub(super) fn finish(&mut self, wall_minus_monotonic: Option<i128>) {
        let rate = self.info.as_ref().map_or(0, |info| info.ticks_per_second);
        let clock = |anchors: Vec<Anchor>| TickClock::new(&anchors, rate);
        self.clock = TickClock::new(&self.anchors, rate);
        (self.order, self.monotonic) = match wall_minus_monotonic {
            Some(step) => (clock(steady(&self.anchors, step)), Monotonic::Order { step }),
            None => (clock(without_steps(&self.anchors)), Monotonic::Own(clock(steady(&self.anchors, 0)))),
        };
        for number in std::mem::take(&mut self.changed) {
            let Some(at) = self.place(number) else { continue };
            let stream = &mut self.streams[at];
            // In one file they are, as a rule; sorting takes room even then.
            if !stream.blocks.is_sorted_by_key(|block| block.header.ring_begin) {
                stream.blocks.sort_by_key(|block| block.header.ring_begin);
            }
            stream.gaps.sort_unstable();
            stream.gaps.dedup();
            stream.is_in_line = is_in_line(
                stream.blocks.iter().map(|block| (block.header.ring_begin, block.header.ring_end)),
            ) && is_in_line(stream.gaps.iter().map(|gap| (gap.begin, gap.end)));
            let tid = stream.info.map_or(0, |info| info.tid);
            let unknown = (tid == 0).then_some(number);
            let (threads, named_by) = (&mut self.threads, &mut self.named_by);
            stream.thread = *self.by_tid.entry((tid, unknown)).or_insert_with(|| {
                threads.push(Thread { tid, name: String::new() });
                named_by.push(0);
                threads.len() - 1
            });
            let name = stream.info.map_or_else(String::new, |info| info.thread_name());
            // The last stream of the thread knows its name best.
            if !name.is_empty() && number >= named_by[stream.thread] {
                named_by[stream.thread] = number;
                threads[stream.thread].name = name;
            }
        }
    }

    /// Notes what files leave out on purpose; after [`Session::finish`].
    pub(super) fn mark(&mut self, left_out: impl Fn(u32) -> LeftOut) {
        for number in &self.holding {
            let Ok(at) = self.streams.binary_search_by_key(number, |stream| stream.number) else { continue };
            let stream = &mut self.streams[at];
            stream.left_out =
                stream.blocks.iter().map(|block| left_out(block.file)).max().unwrap_or_default();
            if stream.left_out != LeftOut::Nothing {
                // What was made of a block begins within it: where both are there, the whole one comes first.
                let place = |block: &BlockRef| {
                    let header = &block.header;
                    (header.ring_begin, left_out(block.file) == LeftOut::Anything, Reverse(header.ring_end))
                };
                if !stream.blocks.is_sorted_by_key(place) {
                    stream.blocks.sort_by_key(place);
                }
            }
        }
    }
}

/// See [`Session::monotonic_ns`].
#[derive(Debug)]
enum Monotonic {
    /// The time of its order, less this.
    Order { step: i128 },
    /// A clock of its own.
    Own(TickClock),
}

/// Monotonic time and a constant in the place of wall time.
fn steady(anchors: &[Anchor], wall_minus_monotonic: i128) -> Vec<Anchor> {
    let steady = |anchor: &Anchor| {
        let ns = i128::from(anchor.monotonic_ns) + wall_minus_monotonic;
        Anchor { wall_ns: ns.clamp(0, i64::MAX.into()) as u64, ..*anchor }
    };
    anchors.iter().map(steady).collect()
}

/// Wall time as it was set last, carried back beyond where it was set.
///
/// This is for sessions whose boot is unknown, as on Windows. Nothing else is common to two of them: the monotonic clock drifts away
/// from wall time by seconds in a day.
fn without_steps(anchors: &[Anchor]) -> Vec<Anchor> {
    /// What a clock may drift: 1000 parts in a million, and the reading itself may be so wrong.
    const DRIFT: i128 = 1000;
    const READING_NS: i128 = 100_000;
    let mut anchors = anchors.to_vec();
    anchors.sort_by_key(|anchor| anchor.ticks);
    // Of the one that follows: monotonic time, wall time, and where it is put.
    let mut next: Option<(i128, i128, i128)> = None;
    for anchor in anchors.iter_mut().rev() {
        let (monotonic, wall) = (i128::from(anchor.monotonic_ns), i128::from(anchor.wall_ns));
        let put = next.map_or(wall, |(next_monotonic, next_wall, next_put)| {
            let (passed, shown) = ((next_monotonic - monotonic).max(0), next_wall - wall);
            let was_set = shown < 0 || (shown - passed).abs() > passed / DRIFT + READING_NS;
            next_put - if was_set { passed } else { shown }
        });
        next = Some((monotonic, wall, put));
        anchor.wall_ns = put.clamp(0, i64::MAX.into()) as u64;
    }
    anchors
}

/// Whether each of some ranges is behind the one before, and none is empty.
fn is_in_line(mut ranges: impl Iterator<Item = (u64, u64)>) -> bool {
    let mut before = 0;
    ranges.all(|(begin, end)| {
        let fits = begin >= before && end > begin;
        before = end;
        fits
    })
}

/// Total losses in words, by cause, those that are not zero.
pub fn loss_causes(losses: &[u64; CAUSES]) -> impl Iterator<Item = (&'static str, u64)> {
    CAUSE_NAMES.into_iter().zip(*losses).filter(|(_, n)| *n > 0)
}

/// Numbers of sites by id: ids are small numbers but for hostile files.
#[derive(Debug, Default)]
struct SiteNumbers {
    /// Number + 1; 0: none.
    small: Vec<u32>,
    large: HashMap<u32, u32>,
}

/// Ids below this are found by index.
const SMALL: u32 = 1 << 16;

impl SiteNumbers {
    #[inline]
    fn get(&self, id: u32) -> Option<usize> {
        let number = match self.small.get(id as usize) {
            Some(number) => *number,
            None if id < SMALL => 0,
            None => *self.large.get(&id)?,
        };
        (number as usize).checked_sub(1)
    }

    fn insert(&mut self, id: u32, number: usize) {
        let number = number as u32 + 1;
        if id >= SMALL {
            self.large.insert(id, number);
            return;
        }
        if self.small.len() <= id as usize {
            self.small.resize(id as usize + 1, 0);
        }
        self.small[id as usize] = number;
    }

    fn all(&self) -> impl Iterator<Item = (u32, usize)> {
        let small = self.small.iter().enumerate().map(|(id, number)| (id as u32, *number));
        let large = self.large.iter().map(|(id, number)| (*id, *number));
        small.chain(large).filter(|(_, number)| *number > 0).map(|(id, number)| (id, number as usize - 1))
    }
}
