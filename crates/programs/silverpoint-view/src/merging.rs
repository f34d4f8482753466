//! A timeline is merged in steps, one with each record that is added: questions need not wait until all is merged.
//!
//! First all neighbours are counted, by how long intervals must be to have both. That shows which intervals are long enough.
//! Then the lists are merged, one after the other. Meanwhile each list knows itself what has been merged.

use crate::levels::{Place, SHIFT_MAX};
use crate::timeline::Track;

/// Items of a step, about.
const STEP: usize = 1024;
/// What looking at a list costs, in items.
const LIST: usize = 32;
/// Pieces that are looked at together.
const PIECES: usize = 1;

/// See the module.
pub struct Merging {
    /// The track, the list of it, and the place in that which is next.
    track: usize,
    list: usize,
    place: Place,
    work: Work,
}

enum Work {
    /// Bytes of items by the intervals from which on each is one with the one before.
    Counting(Box<[usize; u64::BITS as usize + 1]>),
    Merging,
}

impl Merging {
    /// Nothing is counted yet.
    pub fn new() -> Self {
        let counts = Box::new([0; u64::BITS as usize + 1]);
        Self { track: 0, list: 0, place: (0, 0), work: Work::Counting(counts) }
    }

    /// Goes on by a step. When all is counted, `shift` becomes the least with which not more than `most` bytes are left. Whether it has come
    /// to the end.
    pub fn step(&mut self, tracks: &mut [Track], most: usize, shift: &mut u32, bytes: &mut usize) -> bool {
        let mut cost = 0;
        while cost < STEP {
            let Some(track) = tracks.get_mut(self.track) else {
                let Work::Counting(counts) = &self.work else { return true };
                let left = |shift: &u32| counts[*shift as usize + 1..].iter().sum::<usize>();
                *shift = (*shift + 1..SHIFT_MAX).find(|shift| left(shift) <= most).unwrap_or(SHIFT_MAX);
                (self.track, self.work) = (0, Work::Merging);
                continue;
            };
            cost += LIST;
            let Some(list) = track.list(self.list) else {
                (self.track, self.list) = (self.track + 1, 0);
                continue;
            };
            let next = match &mut self.work {
                Work::Counting(counts) => list.neighbours(self.place, PIECES, &mut |from, bytes| {
                    counts[from as usize] += bytes;
                    cost += 1;
                }),
                Work::Merging => list.merge_on(*shift, PIECES).map(|gone| {
                    *bytes -= gone;
                    cost += list.count().min(STEP);
                    self.place
                }),
            };
            (self.list, self.place) = next.map_or((self.list + 1, (0, 0)), |place| (self.list, place));
        }
        false
    }
}
