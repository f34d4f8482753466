//! Records that a system tracer (LTTng) may want, with the ring or alone.
//!
//! While a tracer is asked for, every callsite is of interest to `tracing`. What the ring does not want is only
//! looked at: which fields there are decides on the site, and so on the event. Values are formatted only if
//! somebody wants them.

use std::sync::atomic::Ordering;

use silverpoint::dynamic::{self, Encoder, Marks, Wanted};
use tracing_core::Event;
use tracing_core::span::Attributes;

use crate::callsite::Callsite;
use crate::fields::Shape;
use crate::open::{Frame, What};
use crate::records::with_fields;
use crate::role::Role;
use crate::slots::Slot;
use crate::thread::Thread;

/// An event in the innermost open span, of which the ring alone does not decide.
#[cold]
#[inline(never)]
pub(crate) fn event(callsite: &Callsite, wanted: Wanted, event: &Event<'_>) {
    if is_wanted(callsite, wanted, Role::Event, |visitor| event.record(visitor)) {
        with_fields(callsite, wanted, Role::Event, None, |visitor| event.record(visitor));
    }
}

/// Whether the ring or a tracer wants a record with these fields.
pub(crate) fn is_wanted(
    callsite: &Callsite,
    wanted: Wanted,
    role: Role,
    visit: impl FnOnce(&mut Shape<'_>),
) -> bool {
    wanted.by_ring() || (wanted.by_tracer() && tracer_wants(callsite, role, visit))
}

/// The same of a span. Which of its records a tracer wants is known only when they are made. So all are made
/// if it may want any.
pub(crate) fn is_span_wanted(
    callsite: &Callsite,
    wanted: Wanted,
    role: Role,
    attributes: &Attributes<'_>,
) -> bool {
    // First, for the span makes something known.
    let has_wanted = || callsite.has_wanted();
    wanted.by_ring()
        || (wanted.by_tracer()
            && (has_wanted() | tracer_wants(callsite, role, |visitor| attributes.record(visitor))))
}

/// Who may want what is recorded of a span. Whether the ring has it was decided when it was made.
pub(crate) fn wanted_of(callsite: &Callsite, slot: &Slot) -> Wanted {
    Wanted::by(slot.is_recorded(), callsite.wanted().by_tracer())
}

/// A span that a tracer may want, or that has no site, is entered where it was made.
#[cold]
#[inline(never)]
pub(crate) fn begin(thread: &Thread, id: u64, slot: &'static Slot, what: What) {
    if what.site() == 0 {
        dynamic::lose_without_site();
        return thread.open.enter(Frame::silent(id, slot));
    }
    let put = &mut |encoder: &mut Encoder<'_>| slot.put(encoder, what.len());
    let given = dynamic::give_short(what.level(), what.site(), what.wanted(), put);
    slot.created.store(given.ticks, Ordering::Relaxed);
    let what = what.for_wanted(Wanted::by(given.is_recorded, true));
    thread.open.enter(Frame { id, slot, begun: given.ticks, what });
}

#[cold]
#[inline(never)]
fn tracer_wants(callsite: &Callsite, role: Role, visit: impl FnOnce(&mut Shape<'_>)) -> bool {
    let mut marks = Marks::new(role.mark());
    visit(&mut Shape(&mut marks));
    let site = match callsite.site(role, &marks) {
        0 => callsite.general(role, &marks),
        site => site,
    };
    site != 0 && dynamic::tracer_wants(site)
}
