//! Begins of spans of threads that were seen last.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// So many are remembered.
const MOST: usize = 1 << 16;

/// What is kept of the last begins. An async span may turn out to have begun as a span of a thread, which may have ended.
pub struct RecentBegins<K, T> {
    kept: HashMap<K, T>,
    /// The oldest first.
    order: VecDeque<K>,
}

impl<K, T> Default for RecentBegins<K, T> {
    fn default() -> Self {
        Self { kept: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: Clone + Eq + Hash, T> RecentBegins<K, T> {
    /// A span has begun. The oldest is forgotten when there are too many.
    pub fn begin(&mut self, key: K, kept: T) {
        if self.kept.insert(key.clone(), kept).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.kept.remove(&oldest);
            }
        }
    }

    /// What was kept of a begin.
    pub fn get(&self, key: &K) -> Option<&T> {
        self.kept.get(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_and_the_same_begin_counts_once() {
        let mut recent = RecentBegins::default();
        for ticks in 0..2 * MOST {
            recent.begin(ticks, ticks + 1);
            recent.begin(ticks, ticks + 2);
        }
        assert_eq!((recent.kept.len(), recent.order.len()), (MOST, MOST));
        assert_eq!((recent.get(&(MOST - 1)), recent.get(&MOST)), (None, Some(&(MOST + 2))));
    }
}
