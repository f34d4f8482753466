//! Sites of one place by the shape of their records: which arguments, of which types.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::published::Published;

/// Shapes that are found by looking at each.
const FIRST: usize = 6;
/// Others that are remembered.
const MORE: usize = 256;
/// Places for those: a power of two, never more than half full.
const PLACES: usize = 2 * MORE;

/// Shapes of one place that have a site of their own. Records of further shapes carry what varies as an argument.
pub const SHAPES: usize = FIRST + MORE;

/// What is known: the ids of sites by shapes, which are compared whole. A lookup takes no lock, and costs the same however many are known.
#[derive(Debug)]
pub struct Shapes<K: 'static> {
    first: [Published<Shape<K>>; FIRST],
    more: Published<More<K>>,
}

#[derive(Debug)]
struct Shape<K: 'static> {
    key: Box<[K]>,
    id: u32,
}

#[derive(Debug)]
struct More<K: 'static> {
    count: AtomicUsize,
    places: [Published<Shape<K>>; PLACES],
}

impl<K: Copy + Eq + Into<u64> + Send + Sync + 'static> Shapes<K> {
    /// Nothing is known.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { first: [const { Published::new() }; FIRST], more: Published::new() }
    }

    /// The id of the site of a shape.
    #[inline]
    pub fn find(&self, key: &[K]) -> Option<u32> {
        for known in &self.first {
            let known = known.get()?;
            if *known.key == *key {
                return Some(known.id);
            }
        }
        let more = self.more.get()?;
        for place in places(key) {
            let known = more.places[place].get()?;
            if *known.key == *key {
                return Some(known.id);
            }
        }
        None
    }

    /// Remembers a site; gives the one that is known now. `None`: too many shapes are known.
    #[cold]
    pub fn add(&self, key: &[K], id: u32) -> Option<u32> {
        let make = || Shape { key: key.into(), id };
        for known in &self.first {
            let known = known.get_or(make)?;
            if *known.key == *key {
                return Some(known.id);
            }
        }
        let more = self
            .more
            .get_or(|| More { count: AtomicUsize::new(0), places: [const { Published::new() }; PLACES] })?;
        for place in places(key) {
            if more.places[place].get().is_none() && more.count.fetch_add(1, Ordering::Relaxed) >= MORE {
                more.count.fetch_sub(1, Ordering::Relaxed);
                return None;
            }
            let known = more.places[place].get_or(make)?;
            if *known.key == *key {
                return Some(known.id);
            }
        }
        None
    }

    /// Whether this holds for the site of any shape.
    #[cold]
    pub fn any(&self, mut holds: impl FnMut(u32) -> bool) -> bool {
        let more = self.more.get().map_or(&[][..], |more| &more.places);
        self.first.iter().chain(more).filter_map(Published::get).any(|shape| holds(shape.id))
    }

    /// Whether another shape would be remembered.
    #[cold]
    pub fn has_room(&self) -> bool {
        self.more.get().is_none_or(|more| more.count.load(Ordering::Relaxed) < MORE)
    }
}

/// Where a shape may be, in the order that is looked at.
fn places<K: Copy + Into<u64>>(key: &[K]) -> impl Iterator<Item = usize> {
    let mix =
        |hash: u64, part: &K| (hash ^ (*part).into()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let hash = key.iter().fold(key.len() as u64, mix).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let first = (hash >> (64 - PLACES.trailing_zeros())) as usize;
    (0..PLACES).map(move |n| (first + n) % PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_found_again_up_to_a_number() {
        let shapes = Shapes::<u32>::new();
        assert_eq!(shapes.find(&[7]), None);
        for n in 0..1000 {
            let is_known = (n as usize) < SHAPES;
            assert_eq!(shapes.has_room(), is_known, "{n}");
            assert_eq!(shapes.any(|id| id == n + 999), (1..=SHAPES).contains(&(n as usize)), "{n}");
            assert_eq!(shapes.add(&[n, 1], n + 1000), is_known.then_some(n + 1000));
            // One that is known stays as it is.
            assert_eq!(shapes.add(&[n, 1], 5), is_known.then_some(n + 1000));
        }
        for n in 0..1000 {
            assert_eq!(shapes.find(&[n, 1]), ((n as usize) < SHAPES).then_some(n + 1000));
            assert_eq!((shapes.find(&[n]), shapes.find(&[n, 1, 0])), (None, None));
        }
    }

    #[test]
    fn threads_that_add_the_same_shapes_agree() {
        static SHAPES: Shapes<u8> = Shapes::new();
        let all: Vec<Vec<Option<u32>>> = std::thread::scope(|scope| {
            let add = |thread: u32| scope.spawn(move || (0..100).map(|n| SHAPES.add(&[n], thread)).collect());
            (0..4).map(add).collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|ids| *ids == all[0]));
        assert!((0..100).all(|n| SHAPES.find(&[n]) == all[0][usize::from(n)]));
    }
}
