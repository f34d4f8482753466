//! Spans: what of their life is recorded, and how they become one tree with the spans of Silverpoint's own macros.
//!
//! ```text
//!  made, entered at once, left, closed       begin with its fields ─── end                      two records, as of `span!`
//!  entered again, elsewhere, or later        async begin with id, fields ─ segments of threads ─ async end with busy and idle times
//! ```
//!
//! A span that is entered where it was made is a span of its thread. It lies within the innermost open span
//! there, of its own kind or a native one. Any other span gets an id, and a link from its parent. Which of
//! the two it will be is unknown when it is made. So its fields wait, and its callsite remembers what the
//! last one was: from then on its spans begin with an id. Therefore the first one of a callsite begins late,
//! at its second entry, and its end states its times all the same.

use std::num::NonZeroU64;
use std::sync::atomic::Ordering;

use silverpoint::dynamic::{self, Arguments, Here, Lasting, Later, Marks, Recorded, Wanted};
use tracing_core::Metadata;
use tracing_core::span::{Attributes, Id, Record};

use crate::callsite::Callsite;
use crate::fields::{Plan, Words};
use crate::links::{self, link_to_parent};
use crate::numbers::{held, number_of};
use crate::open::{Frame, What, current};
use crate::records::{plain, record_taken, take, with_fields};
use crate::role::Role;
use crate::slots::{self, FIELD_BYTES, SILENT, Slot, UNRECORDED};
use crate::table;
use crate::thread::{self, Thread};
use crate::traced::{self, wanted_of};

/// The metadata of a span.
pub(crate) fn metadata(id: u64) -> Option<&'static Metadata<'static>> {
    Some(table::of_slot(slots::get(id)?)?.meta)
}

/// A new span, with one reference, within the innermost open span.
#[inline(always)]
pub(crate) fn new(attributes: &Attributes<'_>) -> Option<Id> {
    thread::with(|thread| {
        let Some(callsite) = table::find(attributes.metadata()) else { return new_otherwise(attributes) };
        let Some(what) = callsite.bare() else { return new_with_words(callsite, attributes) };
        match new_bare(thread, callsite, what, callsite.wanted()) {
            Some(id) => Some(Id::from_non_zero_u64(id)),
            None => new_bare_beside(attributes),
        }
    })
}

/// The same, where another span waits, or a tracer is asked for.
#[inline(never)]
fn new_bare_beside(attributes: &Attributes<'_>) -> Option<Id> {
    let quiet = || {
        // (Found once more: so the other function keeps nothing for this one.)
        let callsite = table::find(attributes.metadata())?;
        let what = callsite.bare()?;
        let wanted = callsite.wanted().of_site(what.site());
        thread::with(|thread| new_bare(thread, callsite, what, wanted))
    };
    quiet().map_or_else(|| new_otherwise(attributes), |id| Some(Id::from_non_zero_u64(id)))
}

/// One without fields, where all that it takes is at hand.
#[inline(always)]
fn new_bare(thread: &Thread, callsite: &Callsite, what: What, wanted: Wanted) -> Option<NonZeroU64> {
    if thread.pending.get() != 0 || !wanted.by_ring_alone() {
        return None;
    }
    let (id, slot) = slots::claim_last(thread, callsite.number, thread.open.id())?;
    slot.set_begin(what);
    wait(thread, id, slot);
    Some(id)
}

/// The same with a few numbers.
#[inline(never)]
fn new_with_words(callsite: &Callsite, attributes: &Attributes<'_>) -> Option<Id> {
    let Some(plan) = callsite.plan(Role::Begin).filter(|plan| plan.is_words()) else {
        return new_otherwise(attributes);
    };
    let made = thread::with(|thread| new_words(thread, callsite, plan, attributes, Callsite::wanted));
    made.map_or_else(|| new_words_beside(attributes), |id| Some(Id::from_non_zero_u64(id)))
}

#[inline(always)]
fn new_words(
    thread: &Thread,
    callsite: &Callsite,
    plan: &Plan,
    attributes: &Attributes<'_>,
    wanted: impl FnOnce(&Callsite) -> Wanted,
) -> Option<NonZeroU64> {
    if thread.pending.get() != 0 || !wanted(callsite).by_ring_alone() || callsite.is_async() {
        return None;
    }
    let (id, slot) = slots::claim_last(thread, callsite.number, thread.open.id())?;
    if !keep_words(callsite, plan, slot, attributes) {
        slots::give_back(thread, id.get(), slot);
        return None;
    }
    wait(thread, id, slot);
    Some(id)
}

/// The same, where that could not be, or a tracer is asked for.
#[inline(never)]
fn new_words_beside(attributes: &Attributes<'_>) -> Option<Id> {
    let quiet = || {
        // (Found once more: so the other function keeps nothing for this one.)
        let callsite = table::find(attributes.metadata())?;
        let plan = callsite.plan(Role::Begin)?;
        let wanted = callsite.wanted();
        let quiet = Some(wanted.of_site(plan.site)).filter(|quiet| *quiet != wanted)?;
        thread::with(|thread| new_words(thread, callsite, plan, attributes, |_| quiet))
    };
    quiet().map_or_else(|| new_otherwise(attributes), |id| Some(Id::from_non_zero_u64(id)))
}

/// A span that will be entered here, as far as is known. It may tell other threads of the one that it is made in.
#[inline(always)]
fn wait(thread: &Thread, id: NonZeroU64, slot: &'static Slot) {
    if thread.open.id() != 0 {
        thread.open.make_parent();
    }
    thread.pending.set(id.get());
    thread.pending_slot.set(Lasting::new(slot));
}

#[inline(never)]
fn new_otherwise(attributes: &Attributes<'_>) -> Option<Id> {
    let open = current();
    make(attributes, open, open)
}

/// A new span with an explicit parent; 0: none.
#[cold]
#[inline(never)]
pub(crate) fn new_of(attributes: &Attributes<'_>, parent: u64) -> Option<Id> {
    make(attributes, current(), parent)
}

fn make(attributes: &Attributes<'_>, open: u64, parent: u64) -> Option<Id> {
    let callsite = table::of_record(attributes.metadata())?;
    let is_here = parent == open && !callsite.is_async();
    let role = if is_here { Role::Begin } else { Role::AsyncBegin };
    let wanted = callsite.wanted();
    let is_on = traced::is_span_wanted(callsite, wanted, role, attributes);
    // First of all: where this unwinds there is no span.
    let mut arguments = Arguments::new();
    let mut marks = Marks::new(role.mark());
    if is_on {
        let _ = take(&mut arguments, &mut marks, Plan::NOTHING, |visitor| attributes.record(visitor));
    }
    settle_pending();
    let mark = match (is_on, wanted.by_ring()) {
        (false, _) => SILENT,
        (true, false) => UNRECORDED,
        (true, true) => 0,
    };
    let claimed = thread::with(|thread| slots::claim(thread, callsite.number | mark, parent));
    let Some((id, slot)) = claimed else {
        if is_on && wanted.by_ring() {
            dynamic::lose_nested();
        }
        return None;
    };
    if is_on {
        if is_here && keep(callsite, wanted, slot, &mut arguments, &marks) {
            thread::with(|thread| wait(thread, id, slot));
        } else {
            marks.set_first(Role::AsyncBegin.mark());
            begin_with_id(callsite, id.get(), slot, attributes, &mut arguments, &marks);
        }
    }
    Some(Id::from_non_zero_u64(id))
}

/// Begins a span that will be elsewhere than in the thread and the span that it is made in.
#[inline(never)]
fn begin_with_id(
    callsite: &Callsite,
    id: u64,
    slot: &Slot,
    attributes: &Attributes<'_>,
    arguments: &mut Arguments,
    marks: &Marks,
) {
    let number = silverpoint::new_id();
    slot.begin_number(id);
    slot.number.store(number, Ordering::Relaxed);
    let wanted = wanted_of(callsite, slot);
    let ticks = record_taken(callsite, wanted, Role::AsyncBegin, Some(number), arguments, marks);
    if ticks != 0 {
        slot.created.store(ticks, Ordering::Relaxed);
    }
    if !attributes.is_contextual() && slot.parent.load(Ordering::Relaxed) == 0 {
        // It lies in nothing, even if spans are open here.
        return links::link(callsite, wanted, Role::Parent, 0, number);
    }
    link_to_parent(callsite, slot, number);
}

/// Keeps how a span begins whose fields are a few numbers; false when they are not those of the plan.
#[inline(always)]
fn keep_words(callsite: &Callsite, plan: &Plan, slot: &Slot, attributes: &Attributes<'_>) -> bool {
    let mut words = Words::kept(slot);
    attributes.record(&mut words);
    let has_all = words.has_all(plan);
    if has_all {
        slot.set_begin(What::begin(plan.site, callsite.level, 8 * plan.count(), true));
    }
    has_all
}

/// A span that may have fields of any type; false when it has too many, or no site of its own.
fn keep(callsite: &Callsite, wanted: Wanted, slot: &Slot, arguments: &mut Arguments, marks: &Marks) -> bool {
    let Some(bytes) = arguments.bytes().filter(|bytes| bytes.len() <= FIELD_BYTES) else { return false };
    let site = callsite.site(Role::Begin, marks);
    if site != 0 {
        slot.keep(bytes);
        let what = What::begin(site, callsite.level, bytes.len(), false);
        slot.set_begin(what.for_wanted(wanted.of_site(site)));
    }
    site != 0
}

/// The span is entered in this thread.
#[inline(always)]
pub(crate) fn enter(id: u64) {
    thread::with(|thread| {
        let (slot, outer) = (thread.pending_slot.get().get(), thread.open.id());
        if thread.pending.get() != id || !slot.is_alone(id) || slot.parent.load(Ordering::Relaxed) != outer {
            return enter_otherwise(id);
        }
        let what = slot.begin();
        if !what.is_bare() || (outer != 0 && !thread.open.is_near()) {
            return enter_with_words(id, slot);
        }
        let recorded = dynamic::record_words_at_once(thread.here.get(), what.plain_site(), []);
        entered_near(thread, outer, id, slot, what, recorded);
    });
}

/// The same with a few numbers, or other fields. (Apart: so a span without fields saves nothing for them.)
#[inline(never)]
fn enter_with_words(id: u64, slot: &'static Slot) {
    thread::with(|thread| {
        let what = slot.begin();
        if !what.is_words() || !thread.open.is_near() {
            return enter_otherwise(id);
        }
        let recorded = dynamic::record_few_at_once(what.site(), &slot.few(), what.len() / 8);
        entered_near(thread, thread.open.id(), id, slot, what, recorded);
    });
}

/// The begin of the span that this thread has made last was recorded, or has to be later.
#[inline(always)]
fn entered_near(
    thread: &Thread,
    outer: u64,
    id: u64,
    slot: &'static Slot,
    what: What,
    recorded: Result<u64, Later>,
) {
    thread.pending.set(0);
    slot.was_entered.store(true, Ordering::Relaxed);
    match recorded {
        Ok(ticks) => {
            slot.created.store(ticks, Ordering::Relaxed);
            thread.open.enter_near(outer, Frame { id, slot, begun: ticks, what });
        }
        Err(later) => begin_later(id, slot, later),
    }
}

/// Whether the span that this thread has made last is where it was made, and nobody has asked for its id.
#[inline(always)]
fn is_here(thread: &Thread, id: u64, slot: &Slot) -> bool {
    slot.is(id)
        && slot.number.load(Ordering::Relaxed) == 0
        && slot.parent.load(Ordering::Relaxed) == thread.open.id()
}

#[inline(never)]
fn enter_otherwise(id: u64) {
    let Some(slot) = slots::get(id) else { return };
    thread::with(|thread| {
        let is_pending = thread.pending.get() == id;
        if is_pending {
            thread.pending.set(0);
        }
        if is_pending && is_here(thread, id, slot) {
            return begin_here(thread, id, slot);
        }
        thread.open.enter(begin_again(id, slot));
    });
}

/// The span that this thread has made last is entered where it was made: it is a span of this thread.
#[inline(always)]
fn begin_here(thread: &Thread, id: u64, slot: &'static Slot) {
    slot.was_entered.store(true, Ordering::Relaxed);
    let what = slot.begin();
    if !what.is_for_ring_alone() {
        return traced::begin(thread, id, slot, what);
    }
    match dynamic::record_short_at_once(what.site(), |encoder| slot.put(encoder, what.len())) {
        Ok(recorded) => open_begun(thread, id, slot, what, recorded),
        Err(later) => begin_later(id, slot, later),
    }
}

/// A span of this thread is open, if its begin was recorded.
fn open_begun(thread: &Thread, id: u64, slot: &'static Slot, what: What, begun: Recorded) {
    let frame = match begun {
        Recorded::At { ticks } => {
            slot.created.store(ticks, Ordering::Relaxed);
            Frame { id, slot, begun: ticks, what }
        }
        _ => Frame::silent(id, slot),
    };
    thread.open.enter(frame);
}

#[cold]
#[inline(never)]
fn begin_later(id: u64, slot: &'static Slot, later: Later) {
    let what = slot.begin();
    let recorded =
        later.record_short(what.level(), what.site(), &mut |encoder| slot.put(encoder, what.len()));
    thread::with(|thread| {
        thread.here.set(Here::find());
        open_begun(thread, id, slot, what, recorded);
    });
}

/// A span that is entered once more, or elsewhere than it was made: a stretch of one that has an id.
fn begin_again(id: u64, slot: &'static Slot) -> Frame {
    slot.was_entered.store(true, Ordering::Relaxed);
    let Some(callsite) = table::of_slot(slot).filter(|_| !slot.is_silent()) else {
        return Frame::silent(id, slot);
    };
    let number = number_of(id);
    let wanted = wanted_of(callsite, slot).of_site(callsite.plain(Role::Segment));
    let (site, given) = plain(callsite, wanted, Role::Segment, |encoder| encoder.u64(number));
    let mut what = What::segment(site, callsite.level);
    if site != 0 && !wanted.by_ring_alone() {
        what = what.for_wanted(Wanted::by(given.is_recorded, true));
    }
    // The thread that gives it its id may not have recorded its begin yet.
    if slot.created.load(Ordering::Relaxed) == 0 {
        let _ = slot.created.compare_exchange(0, given.ticks, Ordering::Relaxed, Ordering::Relaxed);
    }
    Frame { id, slot, begun: given.ticks, what }
}

/// The span is left in this thread.
#[inline(always)]
pub(crate) fn exit(id: u64) {
    thread::with(|thread| {
        if thread.open.id() != id || thread.pending.get() != 0 {
            return exit_otherwise(id);
        }
        let Some(Frame { slot, begun, what, .. }) = thread.open.leave_near() else {
            return exit_otherwise(id);
        };
        if !what.is_for_ring_alone() {
            return end_otherwise(id, slot, begun, what);
        }
        match dynamic::end_span_at_once(thread.here.get(), what.plain_site(), begun) {
            Ok(ended) if what.is_first_alone() && slot.is_alone(id) => {
                ended_alone(thread, id, slot, ended);
            }
            Ok(ended) => ended_at(thread, id, slot, begun, what, ended),
            Err(later) => end_later(id, slot, begun, what, later),
        }
    });
}

#[inline(never)]
fn exit_otherwise(id: u64) {
    let Some(Frame { slot, begun, what, .. }) = thread::with(|thread| thread.open.leave(id)) else { return };
    settle_pending();
    if !what.is_for_ring_alone() {
        return end_otherwise(id, slot, begun, what);
    }
    let ended = dynamic::end_span(what.level(), what.site(), begun);
    if ended != 0 {
        thread::with(|thread| ended_at(thread, id, slot, begun, what, ended));
    }
}

/// The end of a span that a system tracer may want, or of which nothing is recorded.
#[cold]
#[inline(never)]
fn end_otherwise(id: u64, slot: &'static Slot, begun: u64, what: What) {
    if what.site() != 0 {
        let ended = dynamic::give_end(what.level(), what.site(), begun, what.wanted());
        thread::with(|thread| ended_at(thread, id, slot, begun, what, ended));
    }
}

#[cold]
#[inline(never)]
fn end_later(id: u64, slot: &'static Slot, begun: u64, what: What, later: Later) {
    let ended = later.end_span(what.level(), what.site(), begun);
    thread::with(|thread| {
        thread.here.set(Here::find());
        if ended != 0 {
            ended_at(thread, id, slot, begun, what, ended);
        }
    });
}

/// A stretch of a span has ended.
#[inline(never)]
fn ended_at(thread: &Thread, id: u64, slot: &'static Slot, begun: u64, what: What, ended: u64) {
    if !what.is_first() {
        ended_again(id, slot, begun, ended);
    } else if slot.is(id) {
        slot.first_left.store(ended, Ordering::Relaxed);
        if what.is_first_alone() {
            ended_alone(thread, id, slot, ended);
        }
    }
}

/// The first one, where it was a span of this thread, and no other was made in it.
#[inline(always)]
fn ended_alone(thread: &Thread, id: u64, slot: &'static Slot, ended: u64) {
    slot.first_left.store(ended, Ordering::Relaxed);
    thread.left.set(id);
    thread.left_slot.set(Lasting::new(slot));
}

/// Another one. What lies within another stretch of the same span counts with that.
#[inline(never)]
fn ended_again(id: u64, slot: &'static Slot, begun: u64, ended: u64) {
    if slot.is(id) && !thread::with(|thread| thread.open.has(id)) {
        slot.busy.fetch_add(ended.saturating_sub(begun), Ordering::Relaxed);
    }
}

/// A span that was not entered before the next was made, or whose surrounding span was left. It will be
/// entered elsewhere, perhaps when its parent is gone. So it gets its id and its link now.
#[inline(always)]
fn settle_pending() {
    let id = thread::with(|thread| thread.pending.replace(0));
    if id != 0 {
        settle(id);
    }
}

#[cold]
fn settle(id: u64) {
    let _ = held(id, |slot| slot.was_entered.load(Ordering::Relaxed) || number_of(id) != 0);
}

/// Fields that were not there when the span was made, or are others now.
pub(crate) fn record(id: u64, values: &Record<'_>) {
    let Some(slot) = slots::get(id).filter(|slot| !slot.is_silent()) else { return };
    let Some(callsite) = table::of_slot(slot) else { return };
    let (number, wanted) = (number_of(id), wanted_of(callsite, slot));
    with_fields(callsite, wanted, Role::AsyncInstant, Some(number), |visitor| values.record(visitor));
}

/// One more has the span.
pub(crate) fn hold(id: u64) {
    if let Some(slot) = slots::get(id) {
        slot.hold();
    }
}

/// One less has it; true when it is closed.
#[inline(always)]
pub(crate) fn let_go(id: u64) -> bool {
    thread::with(|thread| {
        let slot = thread.left_slot.get().get();
        if thread.left.get() != id || !slot.is_alone(id) || !slots::keeps_last(thread) {
            return let_go_otherwise(id);
        }
        // (Its id is of no use from here on, and so is what the thread has left.)
        slots::keep_last(thread, id, slot);
        true
    })
}

#[inline(never)]
fn let_go_otherwise(id: u64) -> bool {
    let Some(slot) = slots::get(id) else { return false };
    thread::with(|thread| {
        if thread.left.get() == id && slot.is_alone(id) {
            thread.left.set(0);
            slots::give_back(thread, id, slot);
            return true;
        }
        if !slot.let_go(id) {
            return false;
        }
        close(id, slot);
        true
    })
}

/// Nobody has the span any more.
#[inline(never)]
pub(crate) fn close(id: u64, slot: &'static Slot) {
    thread::with(|thread| {
        if thread.pending.get() == id {
            thread.pending.set(0);
        }
        let was_entered = slot.was_entered.load(Ordering::Relaxed);
        if !slot.is_silent() && (slot.number.load(Ordering::Acquire) != 0 || !was_entered) {
            end(slot, number_of(id));
        }
        slots::give_back(thread, id, slot);
    });
}

/// The end of a span that has an id. One that was never entered was idle all its time.
#[cold]
fn end(slot: &Slot, number: u64) {
    let Some(callsite) = table::of_slot(slot) else { return };
    let created = slot.created.load(Ordering::Relaxed);
    let first = match created {
        0 => 0,
        created => slot.first_left.load(Ordering::Relaxed).saturating_sub(created),
    };
    let busy = slot.busy.load(Ordering::Relaxed) + first;
    let ns = |ticks: u64| dynamic::ticks_to_ns(ticks) as i64;
    plain(callsite, wanted_of(callsite, slot), Role::AsyncEnd, |encoder| {
        // Without a beginning that is known, at least the time in it.
        let whole = if created == 0 { busy } else { encoder.ticks().saturating_sub(created) };
        encoder.u64(number);
        encoder.i64(ns(busy));
        // Segments in several threads at a time may be more than the whole.
        encoder.i64(ns(whole.saturating_sub(busy)));
    });
}
