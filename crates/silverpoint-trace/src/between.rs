//! Events of a stretch of time, found by the headers of blocks alone: nothing before it is read.

use super::progress::{Positions, Progress};
use super::{Event, Events, Stream, Trace};

impl Trace {
    /// Gives the events from a time on and before another one, in order of time. Whether it did: not where the
    /// headers of their blocks state more than `most` records.
    ///
    /// Names that threads got earlier and fields of scopes that were set earlier are unknown.
    pub fn between(&self, (from, to): (i64, i64), most: u64, mut take: impl FnMut(&Event<'_>)) -> bool {
        let (mut positions, mut limits) = (Positions::new(), Positions::new());
        let mut records = 0u64;
        for (number, session) in self.sessions.iter().enumerate() {
            for (_, stream) in session.holding() {
                let blocks = stream.blocks_between(|ticks| session.clock.wall_ns(ticks), from, to);
                let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { continue };
                records += blocks.iter().map(|block| u64::from(block.header.records)).sum::<u64>();
                if records > most {
                    return false;
                }
                let name = (number as u32, stream.number);
                positions.insert(name, (first.header.ring_begin, false));
                limits.insert(name, (last.header.ring_end, true));
            }
        }
        let progress = Progress { positions, ..Progress::default() };
        let mut events = Events::within(self, None, progress, i64::MAX, Some(&limits));
        while let Some(event) = events.next() {
            if (from..to).contains(&event.wall_ns) && event.is_shown() {
                take(&event);
            }
        }
        true
    }
}

impl Stream {
    /// The blocks that may have records of a stretch of time. Blocks of a stream stand in order of time.
    fn blocks_between(&self, wall_ns: impl Fn(u64) -> i64, from: i64, to: i64) -> &[super::BlockRef] {
        let first = self.blocks.partition_point(|block| wall_ns(block.header.last_ticks) < from);
        let rest = &self.blocks[first..];
        &rest[..rest.partition_point(|block| wall_ns(block.header.first_ticks) < to)]
    }

    /// Headers of its blocks, in the order of its ring.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = &silverpoint_wire::block::BlockHeader> {
        self.blocks.iter().map(|block| &block.header)
    }
}
