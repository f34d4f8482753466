//! Async spans that are open, by what joins their records.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use silverpoint_trace::Site;
use silverpoint_wire::level::Kind;

/// The id of a record of an async span; `None` for other records.
pub fn async_id(site: &Site, args: &[u8]) -> Option<u64> {
    let is_part = matches!(site.kind(), Kind::AsyncBegin | Kind::AsyncInstant | Kind::AsyncEnd);
    let has_id = site.description.signature.starts_with('L');
    args.first_chunk().filter(|_| is_part && has_id).map(|id| u64::from_le_bytes(*id))
}

/// Open async spans, with what is kept of each. A key has what its records share: process, category, name and id.
pub struct AsyncSpans<K, T> {
    /// In the order of their begins.
    open: HashMap<K, VecDeque<T>>,
    count: usize,
}

impl<K, T> Default for AsyncSpans<K, T> {
    fn default() -> Self {
        Self { open: HashMap::new(), count: 0 }
    }
}

impl<K: Eq + Hash, T> AsyncSpans<K, T> {
    /// How many are open.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What is kept of all that are open, in no order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.open.values().flatten()
    }

    /// The one of a key that began last.
    pub fn last(&self, key: &K) -> Option<&T> {
        self.open.get(key)?.back()
    }

    /// The same, to be changed.
    pub fn last_mut(&mut self, key: &K) -> Option<&mut T> {
        self.open.get_mut(key)?.back_mut()
    }

    /// One has begun.
    pub fn begin(&mut self, key: K, kept: T) {
        self.open.entry(key).or_default().push_back(kept);
        self.count += 1;
    }

    /// One has ended: gives what was kept. `None` when its begin was not seen.
    pub fn end(&mut self, key: &K) -> Option<T> {
        let open = self.open.get_mut(key)?;
        let ended = open.pop_back()?;
        if open.is_empty() {
            self.open.remove(key);
        }
        self.count -= 1;
        Some(ended)
    }

    /// Takes all that have not ended.
    pub fn take(&mut self) -> impl Iterator<Item = T> + use<K, T> {
        self.count = 0;
        std::mem::take(&mut self.open).into_values().flatten()
    }
}

impl<K: Eq + Hash, T: Ord> AsyncSpans<K, T> {
    /// One has begun that may be older than others of its key: what is kept gives the order.
    pub fn begin_in_order(&mut self, key: K, kept: T) {
        let open = self.open.entry(key).or_default();
        open.insert(open.partition_point(|known| *known < kept), kept);
        self.count += 1;
    }

    /// A certain one is no longer open.
    pub fn remove(&mut self, key: &K, kept: &T) {
        let Some(open) = self.open.get_mut(key) else { return };
        if let Ok(at) = open.binary_search(kept) {
            open.remove(at);
            self.count -= 1;
        }
        if open.is_empty() {
            self.open.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_ends_the_last_begin_of_its_key() {
        let mut spans = AsyncSpans::default();
        for (key, kept) in [("a", 1), ("b", 2), ("a", 3)] {
            spans.begin(key, kept);
        }
        assert_eq!((spans.last(&"a"), spans.count()), (Some(&3), 3));
        assert_eq!([spans.end(&"a"), spans.end(&"a"), spans.end(&"a")], [Some(3), Some(1), None]);
        assert_eq!(spans.take().collect::<Vec<_>>(), [2]);
        assert!(spans.is_empty() && spans.open.is_empty());
    }

    #[test]
    fn one_may_turn_up_late_and_go_early() {
        let mut spans = AsyncSpans::default();
        spans.begin_in_order("a", 5);
        spans.begin_in_order("a", 2);
        spans.begin_in_order("a", 9);
        spans.remove(&"a", &5);
        spans.remove(&"a", &7);
        assert_eq!([spans.end(&"a"), spans.end(&"a"), spans.end(&"a")], [Some(9), Some(2), None]);
        assert!(spans.is_empty() && spans.open.is_empty());
    }
}
