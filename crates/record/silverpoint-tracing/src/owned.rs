//! Maps a registry's spans to spans here. It is a table beside the registry, because data that a registry
//! keeps with its spans costs it an allocation, a lock and a map.
//!
//! A place is found by the registry's id. Where both places of an id are taken, the registry keeps the number after all ([`crate::layer`]).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A span of a registry, and what it is here.
struct Place {
    /// The registry's id; 0: free; [`BUSY`]: being written.
    id: AtomicU64,
    /// The layer that it is of: ids of several registries may be the same.
    layer: AtomicU64,
    own: AtomicU64,
}

/// No registry gives this id.
const BUSY: u64 = u64::MAX;
/// A power of two.
const PLACES: usize = 1 << 13;

static TABLE: [Place; PLACES] =
    [const { Place { id: AtomicU64::new(0), layer: AtomicU64::new(0), own: AtomicU64::new(0) } }; PLACES];

/// The two places of an id.
#[inline(always)]
fn places(layer: u64, id: u64) -> [&'static Place; 2] {
    // Ids have a thread, an index and a generation in them.
    let mixed = (id ^ layer << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let place = (mixed >> (64 - PLACES.trailing_zeros())) as usize;
    [&TABLE[place], &TABLE[place ^ 1]]
}

/// Notes what a registry's new span is. False: there is no place for it.
#[inline]
pub(crate) fn put(layer: u64, id: u64, own: u64) -> bool {
    let is_mine = |place: &&'static Place| {
        place.id.load(Ordering::Relaxed) == 0
            && place.id.compare_exchange(0, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    };
    let Some(place) = places(layer, id).into_iter().find(is_mine) else { return false };
    place.layer.store(layer, Ordering::Relaxed);
    // Who reads this number reads an id that is no older: `find` looks at it once more.
    place.own.store(own, Ordering::Release);
    place.id.store(id, Ordering::Release);
    true
}

#[inline(always)]
fn find(layer: u64, id: u64) -> Option<(&'static Place, u64)> {
    for place in places(layer, id) {
        if place.id.load(Ordering::Acquire) == id && place.layer.load(Ordering::Relaxed) == layer {
            let own = place.own.load(Ordering::Acquire);
            // The place of a span that the caller does not hold may have been reused by now.
            return (place.id.load(Ordering::Relaxed) == id).then_some((place, own));
        }
    }
    None
}

/// What a registry's span is, if it was noted.
#[inline(always)]
pub(crate) fn get(layer: u64, id: u64) -> Option<u64> {
    match find(layer, id) {
        Some((_, own)) => Some(own),
        None => Some(find_left(id)?.1),
    }
}

/// The same of a span that is closed now: its place is free afterwards.
#[inline]
pub(crate) fn take(layer: u64, id: u64) -> Option<u64> {
    let (place, own) = find(layer, id).or_else(|| find_left(id))?;
    place.id.store(0, Ordering::Release);
    Some(own)
}

/// Layers that went while spans of theirs were open: one that took the place of another (`reload::Handle`) leaves and closes those. Older ones are forgotten.
static LEFT: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
static LEFT_COUNT: AtomicUsize = AtomicUsize::new(0);

#[cold]
#[inline(never)]
fn find_left(id: u64) -> Option<(&'static Place, u64)> {
    if LEFT_COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    LEFT.iter().find_map(|layer| match layer.load(Ordering::Acquire) {
        0 => None,
        layer => find(layer, id),
    })
}

/// A layer is gone; the layer that replaces it finds the open spans.
#[cold]
pub(crate) fn leave(layer: u64) {
    let is_its =
        |place: &Place| place.id.load(Ordering::Acquire) != 0 && place.layer.load(Ordering::Relaxed) == layer;
    if TABLE.iter().any(is_its) {
        let place = LEFT_COUNT.fetch_add(1, Ordering::AcqRel) % LEFT.len();
        let older = LEFT[place].swap(layer, Ordering::AcqRel);
        if older != 0 {
            forget(older);
        }
    }
}

#[cold]
fn forget(layer: u64) {
    for place in &TABLE {
        let id = place.id.load(Ordering::Acquire);
        if id != 0 && id != BUSY && place.layer.load(Ordering::Relaxed) == layer {
            place.id.store(0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: they would take each other's places.
    #[test]
    fn spans_are_found_until_they_are_taken_and_those_without_a_place_are_refused() {
        assert!(put(71, 5, 50) && put(72, 5, 60));
        assert_eq!((get(71, 5), get(72, 5), get(73, 5), get(71, 6)), (Some(50), Some(60), None, None));
        assert_eq!((take(71, 5), take(71, 5), get(72, 5)), (Some(50), None, Some(60)));
        // What comes in the place of a layer finds its spans.
        leave(72);
        assert_eq!((get(74, 5), take(74, 5), get(72, 5)), (Some(60), Some(60), None));
        assert!(put(75, 5, 70));
        leave(75);
        for (id, layer) in (1_000_000..).zip(200..208) {
            assert!(put(layer, id, 1));
            leave(layer);
        }
        assert_eq!((get(74, 5), get(74, 1_000_007)), (None, Some(1)));

        let count = PLACES as u64 * 2;
        let kept: Vec<u64> = (1..=count).filter(|id| put(81, *id, id * 2)).collect();
        assert!(kept.len() <= PLACES && kept.len() > PLACES / 2);
        assert!(kept.iter().all(|id| get(81, *id) == Some(id * 2)));
        assert!((1..=count).filter(|id| !kept.contains(id)).take(100).all(|id| get(81, id).is_none()));
        forget(81);
        assert!(kept.iter().all(|id| get(81, *id).is_none()));
    }
}
