//! Sites of one place by the shape of their records: which arguments, of which types.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Shapes that are found without a lock.
const FIRST: usize = 6;
/// Others that are remembered.
const MORE: usize = 64;

/// What is known: the ids of sites by the hash of a shape. A lookup of the first few takes a load each, and no lock.
#[derive(Debug)]
pub struct Shapes {
    /// Hash in the high half, id in the low one; 0: nothing yet.
    first: [AtomicU64; FIRST],
    more: Mutex<Vec<(u32, u32)>>,
}

impl Shapes {
    /// Nothing is known.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { first: [const { AtomicU64::new(0) }; FIRST], more: Mutex::new(Vec::new()) }
    }

    /// The id of the site of a shape, whose hash is not 0.
    #[inline(always)]
    pub fn find(&self, hash: u32) -> Option<u32> {
        for known in &self.first {
            let word = known.load(Ordering::Relaxed);
            if (word >> 32) as u32 == hash {
                return Some(word as u32);
            }
            if word == 0 {
                return None;
            }
        }
        self.find_more(hash)
    }

    #[cold]
    fn find_more(&self, hash: u32) -> Option<u32> {
        let more = self.more.lock().unwrap_or_else(PoisonError::into_inner);
        more.iter().find(|(known, _)| *known == hash).map(|(_, id)| *id)
    }

    /// Remembers a site. Where too many are known, it is not found again.
    #[cold]
    pub fn add(&self, hash: u32, id: u32) {
        let word = u64::from(hash) << 32 | u64::from(id);
        for known in &self.first {
            match known.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) if (other >> 32) as u32 == hash => return,
                Err(_) => {}
            }
        }
        let mut more = self.more.lock().unwrap_or_else(PoisonError::into_inner);
        if more.len() < MORE && more.iter().all(|(known, _)| *known != hash) {
            more.push((hash, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_found_again_up_to_a_number() {
        let shapes = Shapes::new();
        assert_eq!(shapes.find(7), None);
        for n in 1..=100 {
            shapes.add(n, n + 1000);
            shapes.add(n, 5);
        }
        let most = (FIRST + MORE) as u32;
        assert!((1..=most).all(|n| shapes.find(n) == Some(n + 1000)));
        assert!((most + 1..=100).all(|n| shapes.find(n).is_none()));
    }
}
