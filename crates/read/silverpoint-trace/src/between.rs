//! Events of a stretch of time, found by the headers of blocks alone: nothing before it is read.

use silverpoint_wire::block::BlockHeader;
use silverpoint_wire::layout::block::{COMPACT, RAW};

use super::progress::{Positions, Progress};
use super::scan::BlockRef;
use super::{Event, Events, Stream, Trace};

/// Bytes that are read and unpacked for one call.
const BYTES_MAX: u64 = 32 << 20;
/// Blocks that are read at a time, besides one of each stream.
const BLOCKS: u64 = 4;
/// Events between two looks whether it is enough, or as many as there are streams.
const LOOK: u64 = 256;

/// The events of a stretch of time, read a slice after the other.
#[derive(Debug)]
pub struct Between {
    range: (i64, i64),
    progress: Progress,
    limits: Positions,
    bytes: u64,
    /// Time of the last event.
    read_to: i64,
    is_finished: bool,
}

impl Between {
    /// Nothing is read yet. `None`: the headers of its blocks state more records than `most`.
    pub fn new(trace: &Trace, range: (i64, i64), most: u64) -> Option<Self> {
        let mut between = Self {
            range,
            progress: Progress::default(),
            limits: Positions::new(),
            bytes: 0,
            read_to: range.0,
            is_finished: false,
        };
        let (mut positions, mut records) = (Positions::new(), 0u64);
        for (number, at) in trace.extents().between(range.0, range.1) {
            let session = &trace.sessions[number];
            let stream = &session.streams[at];
            let blocks = stream.blocks_between(|ticks| session.clock.wall_ns(ticks), range.0, range.1);
            let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { continue };
            for block in blocks {
                records = records.saturating_add(u64::from(block.header.records));
                between.bytes = between.bytes.saturating_add(bytes_stated(block));
                if records > most {
                    return None;
                }
            }
            let name = (number as u32, stream.number);
            positions.insert(name, (first.header.ring_begin, false));
            between.limits.insert(name, (last.header.ring_end, true));
        }
        between.progress = Progress { positions, ..Progress::default() };
        Some(between)
    }

    /// Everything up to this time has been given.
    pub fn read_to(&self) -> i64 {
        self.read_to
    }

    /// Gives the next events, in order of time, until it is enough: at least some. Whether there are more.
    pub fn step(
        &mut self,
        trace: &Trace,
        is_enough: impl Fn() -> bool,
        mut take: impl FnMut(&Event<'_>),
    ) -> bool {
        while !self.is_finished {
            let progress = std::mem::take(&mut self.progress);
            let mut events =
                Events::within(trace, None, progress, i64::MAX, Some(&self.limits)).pause_after(BLOCKS);
            let look = LOOK.max(events.streams());
            let (from, to) = self.range;
            let (mut given, mut is_late) = (0, false);
            while !is_late {
                let Some(event) = events.next() else { break };
                self.read_to = self.read_to.max(event.wall_ns);
                if (from..to).contains(&event.wall_ns) && event.is_shown() {
                    take(&event);
                }
                // Of very many streams it pauses late.
                given += 1;
                is_late = given % look == 0 && is_enough();
            }
            self.is_finished = !is_late && !events.is_paused();
            self.progress = events.stop().0;
            if is_enough() {
                break;
            }
        }
        !self.is_finished
    }
}

impl Trace {
    /// Gives the events from a time on and before another one, in order of time. Whether it did: not where
    /// their blocks have more than `most` records, or more bytes than can be read quickly.
    ///
    /// The headers of the blocks tell that beforehand. Where they state too little, it stops while it reads.
    /// Then some events have been given.
    ///
    /// Names that threads got earlier and fields of scopes that were set earlier are unknown.
    pub fn between(&self, (from, to): (i64, i64), most: u64, mut take: impl FnMut(&Event<'_>)) -> bool {
        let between = Between::new(self, (from, to), most).filter(|between| between.bytes <= BYTES_MAX);
        let Some(Between { progress, limits, .. }) = between else { return false };
        let mut events =
            Events::within(self, None, progress, i64::MAX, Some(&limits)).pause_after_bytes(BYTES_MAX);
        let mut given = 0;
        while let Some(event) = events.next() {
            given += 1;
            if given > most {
                return false;
            }
            if (from..to).contains(&event.wall_ns) && event.is_shown() {
                take(&event);
            }
        }
        !events.is_paused()
    }
}

/// Bytes that are read and unpacked of a block, by its header. What is compact is taken to be as large as what is raw.
fn bytes_stated(block: &BlockRef) -> u64 {
    let BlockHeader { encoding, stored_size, raw_size, .. } = block.header;
    let steps = u64::from(encoding & COMPACT != 0) + u64::from(encoding & !COMPACT != RAW);
    u64::from(stored_size) + steps * u64::from(raw_size)
}

impl Stream {
    /// The blocks that may have records of a stretch of time. Blocks of a stream stand in order of time.
    fn blocks_between(&self, wall_ns: impl Fn(u64) -> i64, from: i64, to: i64) -> &[BlockRef] {
        let first = self.blocks.partition_point(|block| wall_ns(block.header.last_ticks) < from);
        let rest = &self.blocks[first..];
        &rest[..rest.partition_point(|block| wall_ns(block.header.first_ticks) < to)]
    }

    /// Headers of its blocks, in the order of its ring.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = &silverpoint_wire::block::BlockHeader> {
        self.blocks.iter().map(|block| &block.header)
    }
}
