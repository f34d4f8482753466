//! Events, by their shape.
//!
//! ```text
//!  event ─┬─ up to six numbers   event_of_words   straight into the record, whose shape is compared once
//!         ├─ one text            event_of_text    formatted beside the ring, then copied
//!         └─ any other           event_taken      encoded beside the ring, with marks if the plan does not fit
//! ```

use silverpoint::dynamic::{Arguments, Later, Marks, Places, TextAlone, Wanted};
use tracing_core::Event;

use crate::callsite::{Callsite, level_of};
use crate::fields::{Plan, Text, Words};
use crate::numbers::number_of_other;
use crate::open::current;
use crate::records::{record_taken, take, with_fields};
use crate::role::Role;
use crate::table;
use crate::traced;

/// An event in the innermost open span.
#[inline(always)]
pub(crate) fn event(event: &Event<'_>) {
    if let Some(callsite) = table::of_record(event.metadata()) {
        event_at(callsite, event);
    }
}

/// The same of a callsite that is known.
#[inline(always)]
pub(crate) fn event_at(callsite: &Callsite, event: &Event<'_>) {
    let wanted = callsite.wanted();
    if !wanted.by_ring_alone() {
        if !wanted.by_nobody() {
            event_beside(callsite, wanted, event);
        }
        return;
    }
    event_for_ring(callsite, event);
}

/// The same while a tracer is asked for.
#[cold]
#[inline(never)]
fn event_beside(callsite: &Callsite, wanted: Wanted, event: &Event<'_>) {
    let is_quiet = |plan: &Plan| wanted.of_site(plan.site).by_ring_alone();
    if callsite.plan(Role::Event).is_some_and(is_quiet) {
        event_for_ring(callsite, event);
    } else {
        traced::event(callsite, wanted, event);
    }
}

/// One that the ring wants, and no tracer, if it is what is expected of the callsite.
#[inline(always)]
fn event_for_ring(callsite: &Callsite, event: &Event<'_>) {
    let Some(plan) = callsite.plan(Role::Event) else {
        return event_taken(callsite, Plan::NOTHING, event);
    };
    if plan.is_words() {
        event_of_words(event, plan);
    } else if plan.is_text() {
        event_of_text(event, plan);
    } else {
        event_taken(callsite, plan, event);
    }
}

/// One that is a text, as far as is known.
#[inline(never)]
fn event_of_text(event: &Event<'_>, plan: &'static Plan) {
    let mut text = Text(TextAlone::new());
    event.record(&mut text);
    if !text.0.record(plan.site, || level_of(event.metadata())) {
        event_differs(event);
    }
}

/// One whose fields are a few numbers, as far as is known.
#[inline(never)]
fn event_of_words(event: &Event<'_>, plan: &'static Plan) {
    let recorded = plan.few().record(|places| {
        let mut words = Words::new(places);
        event.record(&mut words);
        words.has_all(plan)
    });
    match recorded {
        Ok(true) => {}
        Ok(false) => event_differs(event),
        Err(later) => event_later(event, plan, later),
    }
}

/// One that is not what was expected.
#[cold]
#[inline(never)]
fn event_differs(event: &Event<'_>) {
    // (Found once more: so the others keep nothing for this one.)
    if let Some(callsite) = table::of_record(event.metadata()) {
        event_taken(callsite, Plan::NOTHING, event);
    }
}

/// One of a few numbers, where there was no room at once.
#[cold]
#[inline(never)]
fn event_later(event: &Event<'_>, plan: &Plan, later: Later) {
    let mut places = Places::default();
    let mut words = Words::new(&mut places);
    event.record(&mut words);
    if words.has_all(plan) {
        let level = level_of(event.metadata());
        let _ = later.record_words(level, plan.site, &places.words()[..plan.count()]);
    } else {
        later.give_up();
        event_differs(event);
    }
}

/// One that may have fields of any type.
#[inline(never)]
fn event_taken(callsite: &Callsite, plan: &Plan, event: &Event<'_>) {
    let mut arguments = Arguments::new();
    let mut marks = Marks::new(Role::Event.mark());
    let _ = match take(&mut arguments, &mut marks, plan, |visitor| event.record(visitor)) {
        site @ 1.. => arguments.record(callsite.level, site),
        0 => {
            // (A tracer may want this shape, and not that of the plan.)
            let wanted = Wanted::by(true, callsite.wanted().by_tracer());
            let _ = record_taken(callsite, wanted, Role::Event, None, &mut arguments, &marks);
            return;
        }
    };
}

/// An event with an explicit parent; 0: none.
#[cold]
#[inline(never)]
pub(crate) fn event_of(event: &Event<'_>, parent: u64) {
    if parent == current() {
        return self::event(event);
    }
    let Some(callsite) = table::of_record(event.metadata()) else { return };
    let wanted = callsite.wanted();
    if traced::is_wanted(callsite, wanted, Role::EventOf, |visitor| event.record(visitor)) {
        let parent = number_of_other(parent, wanted);
        with_fields(callsite, wanted, Role::EventOf, Some(parent), |visitor| event.record(visitor));
    }
}
