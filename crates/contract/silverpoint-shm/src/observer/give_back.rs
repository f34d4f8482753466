//! Giving back the memory of unused slices (spec/wire.md, section 3.4).

use std::sync::atomic::{Ordering, fence};

use silverpoint_wire::layout::ring::{KEPT, PRESENT, RETIRED, RETURNED, RETURNING, STATE_MASK, at};

use super::files::{read_u32, write_all};
use super::rings::{Look, Slice};
use super::session::RINGS;
use super::{ObserveError, ObservedSession};
use crate::platform::room;

impl ObservedSession {
    /// Reserves a retired slice that holds nothing, and in which this stream was: nobody adopts it before
    /// [`Self::end_giving_back`]. False: somebody has it, or its memory was given back before.
    pub fn begin_giving_back(&self, slice: Slice, stream: u32) -> Result<bool, ObserveError> {
        let state_at = slice.at + self.header().fields.state as u64;
        // Before the positions: when another thread has had the slice, the count of adoptions has changed.
        let state = read_u32(&self.rings, RINGS, state_at)?;
        let returned = read_u32(&self.rings, RINGS, slice.at + at::RETURNED as u64)?;
        if state & STATE_MASK != RETIRED || returned == RETURNED {
            return Ok(false);
        }
        let Look::Ring(header) = self.look(slice)? else { return Ok(false) };
        if header.stream != stream || header.consumed != header.committed {
            return Ok(false);
        }
        self.set_returned(slice, RETURNING)?;
        // Either an adopter sees the word, or this sees the adoption.
        fence(Ordering::SeqCst);
        let is_reserved = read_u32(&self.rings, RINGS, state_at)? == state;
        if !is_reserved {
            self.set_returned(slice, PRESENT)?;
        }
        Ok(is_reserved)
    }

    /// Gives back a part of a reserved slice, from an offset of at least [`KEPT`] on. False: the file system cannot.
    pub fn give_back(&self, slice: Slice, from: u64, bytes: u64) -> bool {
        let end = from.saturating_add(bytes).min(slice.size.into());
        let from = from.max(KEPT as u64);
        self.rings.is_intact() && from < end && room::give_back(&self.rings, slice.at + from, end - from)
    }

    /// Leaves a reserved slice to adopters, who make its memory again.
    pub fn end_giving_back(&self, slice: Slice) -> Result<(), ObserveError> {
        self.set_returned(slice, RETURNED)
    }

    fn set_returned(&self, slice: Slice, word: u32) -> Result<(), ObserveError> {
        write_all(&self.rings, RINGS, &word.to_le_bytes(), slice.at + at::RETURNED as u64)
    }
}
