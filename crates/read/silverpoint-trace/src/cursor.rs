//! Where one stream stands in the merge, and its place in the order.

use std::sync::Arc;

use silverpoint_wire::clock::Segment;
use silverpoint_wire::layout::record::HEADER_SIZE;
use silverpoint_wire::record::{Record, RecordHeader};

use super::Session;
use super::blocks::{BlockCursor, NextBlock};
use super::progress::Start;
use super::scan::BlockRef;
use crate::Context;

/// Place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// By the session's order clock.
    pub(super) ns: i64,
    session: u32,
    ticks: u64,
    stream: u32,
}

/// One stream.
pub(super) struct Cursor<'t> {
    pub(super) session: u32,
    pub(super) stream: u32,
    /// Where its ring's bytes end, for a caller that needs only those before.
    pub(super) limit: u64,
    /// A record has been reached.
    pub(super) begun: bool,
    pub(super) blocks: BlockCursor<'t>,
    pub(super) state: State<'t>,
    /// Fields of the records from here on.
    pub(super) context: Option<Arc<Context>>,
    /// The last block with a context among those that were passed over since the last that was not.
    pub(super) stated: Option<&'t BlockRef>,
    /// Where it stood when something of it was given first since the last look.
    pub(super) start: Option<Start>,
    pub(super) order: Segment,
    pub(super) wall: Segment,
}

/// Where a cursor stands.
pub(super) enum State<'t> {
    /// Before a block that has not been read, or was given back at this offset.
    Block(NextBlock<'t>),
    /// Before a record of an open block, of which bytes up to `end` are wanted. The others are kept: a caller
    /// that continues here may need more.
    Record {
        block: NextBlock<'t>,
        raw: Vec<u8>,
        at: usize,
        end: usize,
        /// What the bytes at `at` say: read once, and found to be a whole record before `end`.
        header: RecordHeader,
    },
    /// At the end.
    End,
}

impl Cursor<'_> {
    /// The place in the ring of what it stands before.
    pub(super) fn position(&self) -> u64 {
        match &self.state {
            State::Block(next) => next.block.header.ring_begin + next.skip as u64,
            State::Record { block, at, .. } => block.block.header.ring_begin + *at as u64,
            // The next block was looked at already, which may lie behind the limit or across it.
            State::End => self.blocks.position().min(self.limit),
        }
    }

    /// The place of what it stands before; of a block, that of its first record. It must not be at its end.
    #[inline]
    pub(super) fn key(&mut self, session: &Session) -> Key {
        let ticks = match &self.state {
            State::Record { header, .. } => header.ticks,
            State::Block(next) => next.block.header.first_ticks,
            State::End => u64::MAX,
        };
        if !self.order.contains(ticks) {
            self.order = session.order.segment(ticks);
        }
        Key { ns: self.order.wall_ns(ticks), session: self.session, ticks, stream: self.stream }
    }

    #[inline]
    pub(super) fn wall_ns(&mut self, session: &Session, ticks: u64) -> i64 {
        if !self.wall.contains(ticks) {
            self.wall = session.clock.segment(ticks);
        }
        self.wall.wall_ns(ticks)
    }
}

impl State<'_> {
    /// The record before which the cursor stands.
    pub(super) fn record(&self) -> Option<Record<'_>> {
        let State::Record { raw, at, header, .. } = self else { return None };
        let args = raw.get(*at + HEADER_SIZE..*at + header.size as usize)?;
        Some(Record { offset: 0, header: *header, args })
    }
}
