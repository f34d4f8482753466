//! Records of a few words that are stored by somebody else, one by one, straight into their places.

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
    pub fn record(self, fill: impl FnOnce(&mut Places) -> bool) -> Result<bool, Later> {
        let room =
            owner::reserve_up_to(HEADER + size_of::<Places>(), HEADER + 8 * FEW).map_err(Later::new)?;
        let start = room.at();
        // SAFETY: so many bytes at `start`, which is aligned to 8, are reserved, and the record has no more.
        unsafe {
            start.cast::<u64>().write(self.0.to_le());
            start.add(8).cast::<u64>().write(room.ticks().to_le());
            let places = &mut *start.add(HEADER).cast::<Places>();
            places.come = [0; PLACES];
            let is_whole = fill(places);
            if is_whole {
                room.commit(self.0 as u32 as usize);
            }
            Ok(is_whole)
        }
    }
}

/// More than `FEW`, and a power of two: so that no number of a place is compared.
pub const PLACES: usize = (FEW + 2).next_power_of_two();

/// Where the words of a record go, and what has been stored. In a ring the latter is behind the record, and is written over by the next.
#[derive(Debug, Default)]
#[repr(C, align(8))]
pub struct Places {
    words: [u64; PLACES],
    come: [u8; PLACES],
}

impl Places {
    /// Stores a word in a place, whose number counts modulo [`PLACES`], and adds `kind` to what [`Places::come`] says of the place.
    #[inline(always)]
    pub fn set(&mut self, number: usize, word: u64, kind: u8) {
        let at = number % PLACES;
        self.words[at] = word.to_le();
        self.come[at] = self.come[at].wrapping_add(kind);
    }

    /// A byte of each place, the first one the lowest: the sum of the kinds that have come.
    #[inline(always)]
    pub fn come(&self) -> u64 {
        u64::from_le_bytes(self.come)
    }

    /// The words, as they are stored.
    #[inline(always)]
    pub fn words(&self) -> &[u64; PLACES] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_where_they_were_put_and_their_kinds_are_added() {
        let mut places = Places::default();
        places.set(0, 10, 4);
        places.set(2, 12, 5);
        assert_eq!((places.come(), places.words()[..3].to_vec()), (0x05_00_04, vec![10, 0, 12]));
        places.set(2, 13, 6);
        places.set(PLACES - 1, 0, 1 << 7);
        places.set(PLACES + 1, 11, 4);
        assert_eq!(places.come(), 0x80_00_00_00_00_0B_04_04);
        assert_eq!(places.words()[..3], [10, 11, 13]);
    }
}
