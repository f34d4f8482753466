//! The callsites that are known, found by the addresses of their metadata without a lock.
//!
//! ```text
//!  address ─▶ TABLE: 16,384 places, 32 of them are looked at ─▶ OTHERS: lists, where all of these are taken
//! ```

use silverpoint::dynamic::{self, Published};
use tracing_core::Metadata;

use crate::callsite::{Callsite, with_question, would_record};
use crate::slots::Slot;

/// Callsites that are found by their address alone: a power of two. Others are in lists behind these.
const PLACES: usize = 1 << 14;
/// Places that are looked at.
const PROBES: usize = 32;

static TABLE: [Published<Callsite>; PLACES] = [const { Published::new() }; PLACES];

/// Lists of others, by their address.
const LISTS: usize = 1 << 8;
static OTHERS: [Published<Other>; LISTS] = [const { Published::new() }; LISTS];

struct Other {
    callsite: Callsite,
    next: Published<Other>,
}

/// What is known of the callsite of this metadata: registered at the first call, found by one or two loads afterwards. `None`: this thread is preparing something
/// ([`dynamic::prepare`]).
#[inline(always)]
pub(crate) fn of(meta: &'static Metadata<'static>) -> Option<&'static Callsite> {
    find(meta).or_else(|| enter(meta))
}

/// As [`of`], for a record: one that is not made is counted.
#[inline(always)]
pub(crate) fn of_record(meta: &'static Metadata<'static>) -> Option<&'static Callsite> {
    find(meta).or_else(|| enter_for_record(meta))
}

#[cold]
#[inline(never)]
fn enter_for_record(meta: &'static Metadata<'static>) -> Option<&'static Callsite> {
    let callsite = enter(meta);
    if callsite.is_none() && with_question(meta, dynamic::would_record) {
        dynamic::lose_nested();
    }
    callsite
}

/// The same, where it is in the first place that is looked at: nearly all are.
#[inline(always)]
pub(crate) fn find(meta: &'static Metadata<'static>) -> Option<&'static Callsite> {
    match TABLE[place_of(meta)].get() {
        Some(callsite) if std::ptr::eq(callsite.meta, meta) => Some(callsite),
        _ => None,
    }
}

#[inline(always)]
fn place_of(meta: &Metadata<'_>) -> usize {
    let address = std::ptr::from_ref(meta).addr() as u64;
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PLACES.trailing_zeros())) as usize
}

#[inline(never)]
fn enter(meta: &'static Metadata<'static>) -> Option<&'static Callsite> {
    let first = place_of(meta);
    let is = |callsite: &&'static Callsite| std::ptr::eq(callsite.meta, meta);
    // Nothing is made for one that is known.
    for probe in 0..PROBES {
        match TABLE[(first + probe) % PLACES].get() {
            Some(callsite) if is(&callsite) => return Some(callsite),
            Some(_) => {}
            None => break,
        }
    }
    dynamic::prepare(|| {
        for probe in 0..PROBES {
            let place = (first + probe) % PLACES;
            let callsite = TABLE[place].get_or(|| Callsite::new(meta, place as u32))?;
            if is(&callsite) {
                return Some(callsite);
            }
        }
        let list = first % LISTS;
        let mut place = &OTHERS[list];
        for depth in 0.. {
            let number = PLACES + list + depth * LISTS;
            let make = || Other { callsite: Callsite::new(meta, number as u32), next: Published::new() };
            let other = place.get_or(make)?;
            if is(&&other.callsite) {
                return Some(&other.callsite);
            }
            place = &other.next;
        }
        None
    })
    .flatten()
}

/// The callsite of the span in a slot.
pub(crate) fn of_slot(slot: &Slot) -> Option<&'static Callsite> {
    numbered(slot.callsite())
}

/// The callsite with this number.
#[inline]
pub(crate) fn numbered(number: u32) -> Option<&'static Callsite> {
    match TABLE.get(number as usize) {
        Some(place) => place.get(),
        None => {
            let number = number as usize - PLACES;
            let mut other = OTHERS[number % LISTS].get()?;
            for _ in 0..number / LISTS {
                other = other.next.get()?;
            }
            Some(&other.callsite)
        }
    }
}

/// As [`would_record`](crate::callsite::would_record): of a callsite that is known, one load.
pub(crate) fn would_record_now(meta: &Metadata<'_>) -> bool {
    // (What has the address of a callsite's metadata is that: it lives as long as the program.)
    let is = |callsite: &&Callsite| std::ptr::addr_eq(callsite.meta, meta);
    match TABLE[place_of(meta)].get().filter(is) {
        Some(callsite) if dynamic::HAS_USDT => !callsite.wanted().by_nobody(),
        _ => would_record(meta),
    }
}
