//! Events of a stretch of time, found by the headers of blocks alone: nothing before it is read.

use silverpoint_wire::block::BlockHeader;
use silverpoint_wire::layout::block::{COMPACT, RAW};

use super::progress::{Positions, Progress};
use super::scan::BlockRef;
use super::{Event, Events, Stream, Trace};

/// Bytes that are read and unpacked for one call.
const BYTES_MAX: u64 = 128 << 20;

impl Trace {
    /// Gives the events from a time on and before another one, in order of time. Whether it did: not where
    /// their blocks have more than `most` records, or more bytes than can be read quickly.
    ///
    /// The headers of the blocks tell that beforehand. Where they state too little, it stops while it reads.
    /// Then some events have been given.
    ///
    /// Names that threads got earlier and fields of scopes that were set earlier are unknown.
    pub fn between(&self, (from, to): (i64, i64), most: u64, mut take: impl FnMut(&Event<'_>)) -> bool {
        let (mut positions, mut limits) = (Positions::new(), Positions::new());
        let (mut records, mut bytes) = (0u64, 0u64);
        for (number, session) in self.sessions.iter().enumerate() {
            for (_, stream) in session.holding() {
                let blocks = stream.blocks_between(|ticks| session.clock.wall_ns(ticks), from, to);
                let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { continue };
                records += blocks.iter().map(|block| u64::from(block.header.records)).sum::<u64>();
                bytes += blocks.iter().map(bytes_stated).sum::<u64>();
                if records > most || bytes > BYTES_MAX {
                    return false;
                }
                let name = (number as u32, stream.number);
                positions.insert(name, (first.header.ring_begin, false));
                limits.insert(name, (last.header.ring_end, true));
            }
        }
        let progress = Progress { positions, ..Progress::default() };
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
