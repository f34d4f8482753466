//! The ids of spans in the session: a span begins with one when the first asks for it.

use std::sync::atomic::Ordering;

use silverpoint::dynamic::{self, Encoder, Recorded, Wanted};

use crate::links::link_to_parent;
use crate::slots::{self, Slot};
use crate::spans::close;
use crate::table;
use crate::traced::wanted_of;

/// As [`number_of`], of a span that the caller does not hold.
///
/// For a record of the ring it is 0 if the ring has nothing of the span, which LTTng alone wants.
pub(crate) fn number_of_other(id: u64, wanted: Wanted) -> u64 {
    if id == 0 {
        return 0;
    }
    let look = |slot: &Slot| if wanted.by_ring() && !slot.is_recorded() { 0 } else { number_of(id) };
    held(id, look).unwrap_or(0)
}

/// Looks at a span that the caller does not hold: it may have gone to another thread, and be closed there at any moment. `None`: it is.
pub(crate) fn held<R>(id: u64, look: impl FnOnce(&Slot) -> R) -> Option<R> {
    let slot = slots::get(id).filter(|slot| slot.try_hold(id))?;
    let seen = look(slot);
    if slot.let_go_again(id) {
        close(id, slot);
    }
    Some(seen)
}

/// The id of a span in the session: it begins with one now, if it has not. 0: there is nothing of it.
#[inline]
pub(crate) fn number_of(id: u64) -> u64 {
    let Some(slot) = slots::get(id).filter(|slot| !slot.is_silent()) else { return 0 };
    match slot.number.load(Ordering::Acquire) {
        0 => give_number(id, slot),
        number => number,
    }
}

#[cold]
fn give_number(id: u64, slot: &Slot) -> u64 {
    let Some(callsite) = table::of_slot(slot) else { return 0 };
    // One that was entered before began then. (Once it has an id, another thread may enter it.)
    let begun = slot.created.load(Ordering::Relaxed);
    let number = silverpoint::new_id();
    slot.begin_number(id);
    if let Err(given) = slot.number.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire) {
        return given;
    }
    callsite.make_async();
    let what = slot.begin();
    let site = callsite.with_id(what.site(), begun != 0);
    let wanted = wanted_of(callsite, slot).of_site(site);
    if site == 0 {
        if wanted.by_ring() {
            dynamic::lose_without_site();
        }
        return number;
    }
    let put = &mut |encoder: &mut Encoder<'_>| {
        encoder.u64(number);
        if begun != 0 {
            encoder.u64(begun);
        }
        slot.put(encoder, what.len());
    };
    let ticks = if wanted.by_ring_alone() {
        match dynamic::record_short(callsite.level, site, put) {
            Recorded::At { ticks } => ticks,
            _ => 0,
        }
    } else {
        dynamic::give_short(callsite.level, site, wanted, put).ticks
    };
    if ticks != 0 {
        let _ = slot.created.compare_exchange(0, ticks, Ordering::Relaxed, Ordering::Relaxed);
    }
    link_to_parent(callsite, slot, number);
    number
}
