//! Giving back the ring memory that a burst has used.
//!
//! A thread whose largest ring is full goes on in further ones. When they are empty they stay ready for a
//! while, for the next burst. Then their memory is given back in small pieces, since each takes the system some
//! time. A thread that needs such a ring again makes its memory itself.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use silverpoint_shm::observer::{ObserveError, ObservedSession, Slice};
use silverpoint_wire::layout::ring::KEPT;

use crate::fault;

/// For so long an empty ring stays ready.
const READY: Duration = Duration::from_secs(1);
/// Bytes that are given back at once.
const PIECE: u64 = 64 << 10;
/// Pieces in one pass over a session that records nothing. While it records, it is one.
const PIECES_QUIET: usize = 16;

/// Retired rings of the largest size that hold nothing, the longest empty first.
#[derive(Debug, Default)]
pub(crate) struct Unused {
    rings: VecDeque<Empty>,
    /// The file system cannot give back a part of a file.
    is_refused: bool,
}

#[derive(Debug)]
struct Empty {
    slice: Slice,
    stream: u32,
    since: Instant,
    /// Through which its memory is given back; 0: not begun.
    done: u64,
}

impl Unused {
    /// A ring was found empty.
    pub(crate) fn add(&mut self, slice: Slice, stream: u32) {
        if !self.is_refused {
            self.rings.retain(|empty| empty.slice != slice);
            self.rings.push_back(Empty { slice, stream, since: Instant::now(), done: 0 });
        }
    }

    /// Gives back some pieces of what is due. True: there is more to do soon.
    pub(crate) fn give_back(
        &mut self,
        session: &ObservedSession,
        is_recording: bool,
    ) -> Result<bool, ObserveError> {
        let mut left = if is_recording { 1 } else { PIECES_QUIET };
        while let Some(empty) = self.rings.front_mut() {
            if empty.done == 0 {
                if empty.since.elapsed() < READY {
                    return Ok(false);
                }
                if !session.begin_giving_back(empty.slice, empty.stream)? {
                    self.rings.pop_front();
                    continue;
                }
                empty.done = KEPT as u64;
                fault::point(fault::GIVING_BACK);
            }
            if left == 0 {
                return Ok(true);
            }
            left -= 1;
            let bytes = PIECE - empty.done % PIECE;
            if !session.give_back(empty.slice, empty.done, bytes) {
                self.is_refused = true;
                self.finish(session)?;
                self.rings.clear();
                return Ok(false);
            }
            empty.done += bytes;
            fault::point(fault::GIVING_BACK);
            if empty.done >= u64::from(empty.slice.size) {
                session.end_giving_back(empty.slice)?;
                self.rings.pop_front();
            }
        }
        Ok(false)
    }

    /// Leaves a ring whose memory was being given back to its next owner.
    pub(crate) fn finish(&self, session: &ObservedSession) -> Result<(), ObserveError> {
        match self.rings.front().filter(|empty| empty.done > 0) {
            Some(begun) => session.end_giving_back(begun.slice),
            None => Ok(()),
        }
    }
}
