//! What is kept back of a session and of each ring, and which forgotten records the file does not mention yet.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use silverpoint_wire::block::{Forgotten, StreamInfo};
use silverpoint_wire::level::Level;
use silverpoint_wire::slice::RingHeader;

use crate::statement::Statement;

/// What comes within this time of the last piece belongs to it, as far as it has room.
const MERGE: Duration = Duration::from_millis(250);

/// Keeping records back: they stay in the programs' rings. They are stored when one of them is bad, on
/// request ([`crate::Collector::write_kept_back`]), and when their program dies without a clean end. Then the
/// next ones are kept back again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backtrace {
    /// So many bytes of each process, the latest. Rings bound it too: three eighths of the largest.
    pub bytes: u64,
    /// All processes' records are stored when one of this level or above comes; `None`: not for the sake of a record.
    pub trigger: Option<Level>,
}

/// What a session keeps back, and whether it is being written.
#[derive(Debug)]
pub(crate) struct Keep {
    pub(super) limits: Backtrace,
    pub(super) trigger_bits: u32,
    /// What may be forgotten next, over all rings: each names a piece, if it is still there.
    pub(super) order: VecDeque<(u64, u64)>,
    pub(super) next_piece: u64,
    pub(super) bytes: u64,
    pub(super) pieces: usize,
    /// Bytes of all slices with pieces whose threads are gone: nobody else gets them meanwhile. Those of living threads are taken anyway.
    pub(super) occupied: u64,
    pub(super) buffer: Vec<u8>,
    /// Streams that are gone, of which the file does not say yet what was forgotten; up to where.
    pub(super) gone: Vec<(StreamInfo, Untold, u64)>,
    /// What the batch tells: of rings, and of streams that are gone.
    pub(super) told: Vec<(usize, Untold)>,
    pub(super) told_gone: Vec<(StreamInfo, Untold, u64)>,
    /// For a whole sweep everything is stored.
    pub(crate) is_writing: bool,
    /// A bad record was seen.
    pub(crate) is_triggered: bool,
    /// Up to where the session's last collector, which kept back, had stored each stream.
    pub(crate) stored_before: Option<HashMap<u32, u64>>,
}

/// Of one ring.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Up to where it was looked through.
    pub(super) scanned: u64,
    pub(super) pieces: VecDeque<Piece>,
    pub(super) bytes: u64,
    /// What was forgotten and is not in the file.
    pub(super) untold: Option<Untold>,
    /// Its thread is gone, as far as was seen: its slice counts as occupied while something is kept back in it.
    pub(super) is_retired: bool,
}

/// A stretch of a ring that is forgotten as a whole.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) number: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) records: u64,
    pub(super) first_ticks: u64,
    pub(super) born: Instant,
    /// The last statement of fields in it.
    pub(super) statement: Option<Option<Statement>>,
}

/// A stretch that was forgotten: from here to where the ring is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Untold {
    pub(super) begin: u64,
    pub(super) records: u64,
    pub(super) has_more: bool,
    /// Fields were stated in it.
    pub(super) has_statement: bool,
}

impl Keep {
    pub(crate) fn new(limits: Backtrace) -> Self {
        let least = limits.trigger.map_or(6, |level| level as u32);
        Self {
            limits,
            trigger_bits: (least..6).fold(0, |bits, level| bits | 1 << level),
            order: VecDeque::new(),
            next_piece: 1,
            bytes: 0,
            pieces: 0,
            occupied: 0,
            buffer: Vec::new(),
            gone: Vec::new(),
            told: Vec::new(),
            told_gone: Vec::new(),
            is_writing: false,
            is_triggered: false,
            stored_before: None,
        }
    }

    /// A stream is met for the first time: what the last collector had not stored of it, and released, was
    /// forgotten.
    pub(crate) fn recall(&self, kept: &mut Kept, header: &RingHeader, stored: u64) {
        let Some(before) = &self.stored_before else { return };
        let known = before.get(&header.stream).copied().unwrap_or(0).max(header.base);
        if known < stored {
            kept.has_forgotten_since(known);
        }
    }

    pub(super) fn add(&mut self, kept: &mut Kept, at: u64, slice: u64, new: Piece, most: u64) {
        let bytes = new.end - new.begin;
        self.bytes += bytes;
        kept.bytes += bytes;
        let is_retired = kept.is_retired;
        match kept.pieces.back_mut() {
            Some(last)
                if last.end == new.begin && new.end - last.begin <= most && last.born.elapsed() < MERGE =>
            {
                last.end = new.end;
                last.records += new.records;
                last.first_ticks = last.first_ticks.min(new.first_ticks);
                if new.statement.is_some() {
                    last.statement = new.statement;
                }
            }
            last => {
                if last.is_none() && is_retired {
                    self.occupied += slice;
                }
                self.order.push_back((at, new.number));
                kept.pieces.push_back(new);
                self.next_piece += 1;
                self.pieces += 1;
            }
        }
    }

    /// Takes the oldest piece of a ring.
    pub(super) fn take(&mut self, kept: &mut Kept, slice: u64) -> Option<Piece> {
        let piece = kept.pieces.pop_front()?;
        kept.bytes -= piece.end - piece.begin;
        self.bytes -= piece.end - piece.begin;
        self.pieces -= 1;
        if kept.pieces.is_empty() && kept.is_retired {
            self.occupied -= slice;
        }
        Some(piece)
    }

    /// Another stream is about to be known in the place of one that is released up to `stored`.
    pub(crate) fn is_gone(&mut self, kept: &mut Kept, slice: u64, stream: StreamInfo, stored: u64) {
        // Only of what was overwritten by somebody who thought that nobody collects.
        while self.take(kept, slice).is_some() {}
        if let Some(untold) = kept.untold.take() {
            self.gone.push((stream, untold, stored));
        }
    }

    /// The batch is in the file.
    pub(crate) fn is_told(&mut self) {
        self.told.clear();
        self.told_gone.clear();
    }

    /// After a write that failed: what the batch reported is not reported, and the records of all rings are
    /// examined again.
    pub(crate) fn look_through_again<'k>(&mut self, rings: impl Iterator<Item = &'k mut Kept>) {
        let mut told: HashMap<usize, Untold> = self.told.drain(..).collect();
        for (ring, kept) in rings.enumerate() {
            (kept.scanned, kept.bytes) = (0, 0);
            kept.pieces.clear();
            if let Some(untold) = told.remove(&ring) {
                kept.untold = Some(untold);
            }
        }
        self.order.clear();
        (self.bytes, self.pieces, self.occupied) = (0, 0, 0);
        self.gone.append(&mut self.told_gone);
    }
}

impl Kept {
    /// Up to where nothing is new; 0: nothing was looked through.
    pub(crate) fn scanned(&self) -> u64 {
        self.scanned
    }

    /// Up to where the file has it or says that it was forgotten; `stored`: up to where the ring is released.
    pub(crate) fn told_to(&self, stored: u64) -> u64 {
        self.untold.map_or(stored, |untold| untold.begin)
    }

    /// The earliest time of what is kept back.
    pub(crate) fn first_ticks(&self) -> Option<u64> {
        // (A piece may be of padding alone.)
        self.pieces.iter().map(|piece| piece.first_ticks).find(|ticks| *ticks != u64::MAX)
    }

    /// A dead collector had forgotten what follows this position.
    pub(crate) fn has_forgotten_since(&mut self, position: u64) {
        self.untold = Some(Untold { begin: position, records: 0, has_more: true, has_statement: true });
    }
}

impl Untold {
    /// As the file says it.
    pub(super) fn forgotten(&self) -> Forgotten {
        let &Self { records, has_more, has_statement, .. } = self;
        Forgotten { records, has_more, keeps_fields: !has_statement }
    }
}
