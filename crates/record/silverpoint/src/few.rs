//! Records of a few words that are stored by somebody else, one by one, straight into their places.

use std::marker::PhantomData;

use crate::dynamic::Later;
use crate::header::HEADER;
use crate::platform::owner;
use crate::words::FEW;

/// What stands at the begin of a record of up to six words: its site and its size.
#[derive(Clone, Copy, Debug)]
pub struct FewWords(u64);

impl FewWords {
    /// A record of `count` words at a site; of six, where there are more.
    pub const fn new(site: u32, count: usize) -> Self {
        let count = if count < FEW { count } else { FEW };
        Self((HEADER + 8 * count) as u64 | (site as u64) << 32)
    }

    /// Makes the record, where that takes a few instructions: `fill` stores the words in their places. Where it gives false, there is no record.
    ///
    /// Until then the thread's ring is held. So nothing of the program's may run in `fill`.
    #[inline(always)]
    pub fn record(self, fill: impl FnOnce(Places<'_>) -> bool) -> Result<bool, Later> {
        let room = owner::reserve_up_to(HEADER + 8 * PLACES, HEADER + 8 * FEW).map_err(Later::new)?;
        let start = room.at();
        // SAFETY: so many bytes at `start` are reserved, and the record has no more.
        unsafe {
            start.cast::<u64>().write_unaligned(self.0.to_le());
            start.add(8).cast::<u64>().write_unaligned(room.ticks().to_le());
            let is_whole = fill(Places(start.add(HEADER), PhantomData));
            if is_whole {
                room.commit(self.0 as u32 as usize);
            }
            Ok(is_whole)
        }
    }
}

/// Where the words of a record go.
pub struct Places<'r>(*mut u8, PhantomData<&'r mut [u64; PLACES]>);

/// More than [`FEW`], and a power of two: so that no number of a place is compared.
const PLACES: usize = (FEW + 2).next_power_of_two();

impl Places<'_> {
    /// Stores a word; its number counts modulo 8.
    #[inline(always)]
    pub fn set(&mut self, number: usize, word: u64) {
        // SAFETY: the place lies within the record's room.
        unsafe { self.0.add(8 * (number % PLACES)).cast::<u64>().write_unaligned(word.to_le()) };
    }
}
