//! Where spans belong: links of their ids, from the one that a span lies in, and from those that it follows.

use std::sync::atomic::Ordering;

use silverpoint::dynamic::{self, Wanted};

use crate::callsite::Callsite;
use crate::numbers::{number_of, number_of_other};
use crate::records::plain;
use crate::role::Role;
use crate::slots::{self, Slot};
use crate::table;
use crate::thread::{self, Thread};
use crate::traced::wanted_of;

/// The span lies in the one that it was made in, or in its explicit parent; once.
pub(crate) fn link_to_parent(callsite: &Callsite, slot: &Slot, number: u64) {
    let parent = slot.parent.load(Ordering::Relaxed);
    if parent == 0 || slot.is_linked.swap(true, Ordering::Relaxed) {
        return;
    }
    let wanted = wanted_of(callsite, slot);
    let parent = native_within(parent).unwrap_or_else(|| number_of_other(parent, wanted));
    if parent != 0 {
        link(callsite, wanted, Role::Parent, parent, number);
    }
}

/// The async span of Silverpoint's own macros between here and a span that is the innermost of `tracing`: it
/// is polled within that one. `None`: there is none.
fn native_within(id: u64) -> Option<u64> {
    let (native, begun) = dynamic::innermost_stretch()?;
    // (When it is open elsewhere, what is polled here is none of its matter.)
    let is_between = |thread: &Thread| thread.open.id() == id && thread.open.innermost().begun < begun;
    thread::with(is_between).then_some(native)
}

/// Two ids belong together.
pub(crate) fn link(callsite: &Callsite, wanted: Wanted, role: Role, from: u64, to: u64) {
    plain(callsite, wanted, role, |encoder| {
        encoder.u64(from);
        encoder.u64(to);
    });
}

/// The span came from another.
pub(crate) fn follows_from(id: u64, other: u64) {
    let Some(slot) = slots::get(id) else { return };
    let Some(callsite) = table::of_slot(slot) else { return };
    let wanted = wanted_of(callsite, slot);
    let (from, to) = (number_of_other(other, wanted), number_of(id));
    if from != 0 && to != 0 {
        link(callsite, wanted, Role::FollowsFrom, from, to);
    }
}
