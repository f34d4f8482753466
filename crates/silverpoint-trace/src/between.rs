//! Events of a stretch of time, found by the headers of blocks alone: nothing before it is read.

use std::time::{Duration, Instant};

use silverpoint_wire::block::BlockHeader;
use silverpoint_wire::layout::block::{COMPACT, RAW};

use super::progress::{Positions, Progress};
use super::scan::BlockRef;
use super::{Event, Events, Stream, Trace};

/// Bytes that are read and unpacked for one call.
const BYTES_MAX: u64 = 32 << 20;
/// Blocks that are read at a time, besides one of each stream.
const BLOCKS: u64 = 4;
/// Events between two looks at the clock, or as many as there are streams.
const LOOK: u64 = 1024;

/// The events of a stretch of time, read a slice after the other.
#[derive(Debug)]
pub struct Between {
    range: (i64, i64),
    progress: Progress,
    limits: Positions,
    records: u64,
    bytes: u64,
    /// Time of the last event.
    read_to: i64,
    is_finished: bool,
}

impl Between {
    /// Nothing is read yet. By the headers of blocks.
    pub fn new(trace: &Trace, range: (i64, i64)) -> Self {
        let mut between = Self {
            range,
            progress: Progress::default(),
            limits: Positions::new(),
            records: 0,
            bytes: 0,
            read_to: range.0,
            is_finished: false,
        };
        let mut positions = Positions::new();
        for (number, session) in trace.sessions.iter().enumerate() {
            for (_, stream) in session.holding() {
                let blocks = stream.blocks_between(|ticks| session.clock.wall_ns(ticks), range.0, range.1);
                let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { continue };
                between.records += blocks.iter().map(|block| u64::from(block.header.records)).sum::<u64>();
                between.bytes += blocks.iter().map(bytes_stated).sum::<u64>();
                let name = (number as u32, stream.number);
                positions.insert(name, (first.header.ring_begin, false));
                between.limits.insert(name, (last.header.ring_end, true));
            }
        }
        between.progress = Progress { positions, ..Progress::default() };
        between
    }

    /// How many records the headers state.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Everything up to this time has been given.
    pub fn read_to(&self) -> i64 {
        self.read_to
    }

    /// Gives the next events, in order of time, for about so long, and at least those of some blocks. Whether there are more.
    pub fn step(&mut self, trace: &Trace, most: Duration, mut take: impl FnMut(&Event<'_>)) -> bool {
        let begin = Instant::now();
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
                is_late = given % look == 0 && begin.elapsed() >= most;
            }
            self.is_finished = !is_late && !events.is_paused();
            self.progress = events.stop().0;
            if begin.elapsed() >= most {
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
        let between = Between::new(self, (from, to));
        if between.records > most || between.bytes > BYTES_MAX {
            return false;
        }
        let Between { progress, limits, .. } = between;
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
        let (Some(first), Some(last)) = (self.blocks.first(), self.blocks.last()) else { return &[] };
        // Most of very many streams are far away.
        if wall_ns(first.header.first_ticks) >= to || wall_ns(last.header.last_ticks) < from {
            return &[];
        }
        let first = self.blocks.partition_point(|block| wall_ns(block.header.last_ticks) < from);
        let rest = &self.blocks[first..];
        &rest[..rest.partition_point(|block| wall_ns(block.header.first_ticks) < to)]
    }

    /// Headers of its blocks, in the order of its ring.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = &silverpoint_wire::block::BlockHeader> {
        self.blocks.iter().map(|block| &block.header)
    }
}
