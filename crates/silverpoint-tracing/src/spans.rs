//! Spans: what of their life is recorded, and how they become one tree with the spans of Silverpoint's own macros.
//!
//! ```text
//!  made, entered at once, left, closed       begin with its fields ─── end                      two records, as of `span!`
//!  entered again, elsewhere, or later        async begin with id, fields ─ segments of threads ─ async end with busy and idle times
//! ```
//!
//! A span that is entered where it was made is a span of its thread, and lies within whatever is open there: its own kind or a native one. One that is
//! more than that gets an id, and a link from its parent. Which of the two it will be is not known when it is made; so its fields wait, and its
//! callsite remembers what the last one was: from then on its spans begin with an id. The first one of a callsite begins late for that, at its second
//! entry, and its end says its times all the same.

use std::num::NonZeroU64;
use std::sync::atomic::Ordering;

use silverpoint::dynamic::{self, Encoder, Later, Recorded};
use tracing_core::field::Visit;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Metadata};

use crate::callsite::{self, Callsite, Role};
use crate::fields::{Encode, Kept, Plan, Shape, Words};
use crate::links::{self, link_to_parent};
use crate::open::{Frame, What, current};
use crate::slots::{self, FIELD_BYTES, SILENT, Slot};
use crate::thread::{self, Thread};

/// The metadata of a span.
pub(crate) fn metadata(id: u64) -> Option<&'static Metadata<'static>> {
    Some(callsite_of(slots::get(id)?)?.meta)
}

pub(crate) fn callsite_of(slot: &Slot) -> Option<&'static Callsite> {
    callsite::numbered(slot.callsite())
}

/// Records with fields: finds the site of their shape, or registers it.
#[inline(always)]
fn with_fields(
    callsite: &Callsite,
    role: Role,
    level: u8,
    mut before: impl FnMut(&mut Encoder<'_>),
    visit: &dyn Fn(&mut dyn Visit),
) -> Recorded {
    let mut fill = |encoder: &mut Encoder<'_>| {
        before(encoder);
        fields(encoder, role.shape(), visit).hash()
    };
    match dynamic::record(level, |encoder| callsite.site(fill(encoder))) {
        Recorded::GivenUp => first(callsite, role, level, &mut fill, visit),
        recorded => recorded,
    }
}

/// The first record of a shape, or one of a callsite that has more shapes than are remembered.
#[cold]
#[inline(never)]
fn first(
    callsite: &Callsite,
    role: Role,
    level: u8,
    fill: &mut dyn FnMut(&mut Encoder<'_>) -> u32,
    visit: &dyn Fn(&mut dyn Visit),
) -> Recorded {
    let (hash, id) = callsite.learn(role, &|describe| visit(describe));
    // A value may be of another type than a moment ago: then the site is not that of these bytes.
    let recorded = match id {
        0 => Recorded::GivenUp,
        id => dynamic::record(level, |encoder| (fill(encoder) == hash).then_some(id)),
    };
    if recorded == Recorded::GivenUp {
        dynamic::lose_without_site();
        return Recorded::Lost;
    }
    recorded
}

#[inline(always)]
fn fields(encoder: &mut Encoder<'_>, shape: Shape, visit: &dyn Fn(&mut dyn Visit)) -> Shape {
    let mut encode = Encode { encoder, shape };
    visit(&mut encode);
    encode.shape
}

/// Records arguments of known types at a site that has no fields.
pub(crate) fn plain(callsite: &Callsite, role: Role, fill: impl Fn(&mut Encoder<'_>)) -> (u32, u64) {
    let id = callsite.plain(role);
    if id == 0 {
        dynamic::lose_without_site();
        return (0, 0);
    }
    let recorded = dynamic::record(callsite.level, |encoder| {
        fill(encoder);
        Some(id)
    });
    match recorded {
        Recorded::At { ticks } => (id, ticks),
        _ => (0, 0),
    }
}

/// An event of whatever is open.
#[inline(always)]
pub(crate) fn event(event: &Event<'_>) {
    let callsite = callsite::of(event.metadata());
    if !callsite.is_on() {
        return;
    }
    let Some(plan) = callsite.plan(Role::Event) else { return event_otherwise(callsite, event) };
    if !plan.is_words() {
        return event_planned(callsite, plan, event);
    }
    let mut words = Words::new(plan);
    event.record(&mut words);
    let Some(all) = words.all() else { return event_otherwise(callsite, event) };
    if let Err(later) = dynamic::record_few_at_once(plan.site, all, plan.count()) {
        let _ = later.record_words(callsite.level, plan.site, &all[..plan.count()]);
    }
}

/// One that may have fields of any type.
#[inline(never)]
fn event_planned(callsite: &Callsite, plan: &Plan, event: &Event<'_>) {
    match dynamic::record_at_once(|encoder| plan.follow(encoder, |visitor| event.record(visitor))) {
        Ok(Recorded::At { .. }) => {}
        Ok(_) => event_otherwise(callsite, event),
        Err(later) => event_later(callsite, plan, event, later),
    }
}

/// An event whose fields are not those that are expected.
#[cold]
#[inline(never)]
fn event_otherwise(callsite: &Callsite, event: &Event<'_>) {
    let visit = |visitor: &mut dyn Visit| event.record(visitor);
    let _ = with_fields(callsite, Role::Event, callsite.level, |_| {}, &visit);
}

#[cold]
#[inline(never)]
fn event_later(callsite: &Callsite, plan: &Plan, event: &Event<'_>, later: Later) {
    let mut fill = |encoder: &mut Encoder<'_>| plan.follow(encoder, |visitor| event.record(visitor));
    if later.record(callsite.level, &mut fill) == Recorded::GivenUp {
        event_otherwise(callsite, event);
    }
}

/// An event whose parent is said; 0: it has none.
#[cold]
#[inline(never)]
pub(crate) fn event_of(event: &Event<'_>, parent: u64) {
    if parent == current() {
        return self::event(event);
    }
    let callsite = callsite::of(event.metadata());
    if !callsite.is_on() {
        return;
    }
    let parent = number_of_other(parent);
    let visit = |visitor: &mut dyn Visit| event.record(visitor);
    let _ = with_fields(callsite, Role::EventOf, callsite.level, |encoder| encoder.u64(parent), &visit);
}

/// A new span, with one reference, within whatever is open.
#[inline(always)]
pub(crate) fn new(attributes: &Attributes<'_>) -> Option<Id> {
    let Some(callsite) = callsite::find(attributes.metadata()) else { return new_otherwise(attributes) };
    let Some(what) = callsite.bare() else { return new_with_words(callsite, attributes) };
    match thread::with(|thread| new_bare(thread, callsite, what)) {
        Some(id) => Some(Id::from_non_zero_u64(id)),
        None => new_otherwise(attributes),
    }
}

/// One without fields, where all that it takes is at hand.
#[inline(always)]
fn new_bare(thread: &Thread, callsite: &Callsite, what: What) -> Option<NonZeroU64> {
    if thread.pending.get() != 0 || !callsite.is_on() {
        return None;
    }
    let (id, slot) = slots::claim_last(thread, callsite.number, thread.open.id())?;
    slot.set_begin(what);
    wait(thread, id);
    Some(id)
}

/// The same with a few numbers.
#[inline(never)]
fn new_with_words(callsite: &Callsite, attributes: &Attributes<'_>) -> Option<Id> {
    let Some(plan) = callsite.plan(Role::Begin).filter(|plan| plan.is_words()) else {
        return new_otherwise(attributes);
    };
    let made = thread::with(|thread| {
        if thread.pending.get() != 0 || !callsite.is_on() || callsite.is_async() {
            return None;
        }
        let (id, slot) = slots::claim_last(thread, callsite.number, thread.open.id())?;
        if keep_words(callsite, plan, slot, attributes) {
            wait(thread, id);
        } else {
            keep_or_begin(callsite, id, slot, attributes);
        }
        Some(id)
    });
    made.map_or_else(|| new_otherwise(attributes), |id| Some(Id::from_non_zero_u64(id)))
}

/// A span that will be entered here, as far as is known. It may tell other threads of the one that it is made in.
#[inline(always)]
fn wait(thread: &Thread, id: NonZeroU64) {
    if thread.open.id() != 0 {
        thread.open.innermost().slot.is_parent.store(true, Ordering::Relaxed);
    }
    thread.pending.set(id.get());
}

#[inline(never)]
fn new_otherwise(attributes: &Attributes<'_>) -> Option<Id> {
    let open = current();
    make(attributes, open, open)
}

/// One whose parent is said; 0: it has none.
#[cold]
#[inline(never)]
pub(crate) fn new_of(attributes: &Attributes<'_>, parent: u64) -> Option<Id> {
    make(attributes, current(), parent)
}

fn make(attributes: &Attributes<'_>, open: u64, parent: u64) -> Option<Id> {
    let callsite = callsite::of(attributes.metadata());
    settle_pending();
    let is_on = callsite.is_on();
    let (id, slot) = thread::with(|thread| {
        slots::claim(thread, callsite.number | if is_on { 0 } else { SILENT }, parent)
    })?;
    if is_on {
        if parent == open && !callsite.is_async() {
            keep_or_begin(callsite, id, slot, attributes);
        } else {
            begin_with_id(callsite, slot, attributes);
        }
    }
    Some(Id::from_non_zero_u64(id))
}

/// Begins a span that will be elsewhere than in the thread and the span that it is made in.
#[inline(never)]
fn begin_with_id(callsite: &Callsite, slot: &Slot, attributes: &Attributes<'_>) {
    let number = silverpoint::new_id();
    slot.number.store(number, Ordering::Relaxed);
    let planned = callsite.plan(Role::AsyncBegin).map(|plan| {
        dynamic::record(callsite.level, |encoder| {
            encoder.u64(number);
            plan.follow(encoder, |visitor| attributes.record(visitor))
        })
    });
    let recorded = match planned {
        Some(recorded) if recorded != Recorded::GivenUp => recorded,
        _ => {
            let visit = |visitor: &mut dyn Visit| attributes.record(visitor);
            with_fields(callsite, Role::AsyncBegin, callsite.level, |encoder| encoder.u64(number), &visit)
        }
    };
    if let Recorded::At { ticks } = recorded {
        slot.created.store(ticks, Ordering::Relaxed);
    }
    if !attributes.is_contextual() && slot.parent.load(Ordering::Relaxed) == 0 {
        // It lies in nothing, whatever is open here.
        return links::link(callsite, Role::Parent, 0, number);
    }
    link_to_parent(callsite, slot, number);
}

/// Keeps how a span begins until it is entered, or begins it now when it has too many fields.
#[inline(never)]
fn keep_or_begin(callsite: &Callsite, id: NonZeroU64, slot: &Slot, attributes: &Attributes<'_>) {
    if keep_encoded(callsite, slot, attributes) {
        // What formats its fields may have made another.
        settle_pending();
        thread::with(|thread| wait(thread, id));
    } else {
        begin_with_id(callsite, slot, attributes);
    }
}

/// Keeps how a span begins whose fields are a few numbers; false when they are not those of the plan.
#[inline(always)]
fn keep_words(callsite: &Callsite, plan: &Plan, slot: &Slot, attributes: &Attributes<'_>) -> bool {
    let mut kept = Kept::new(plan, slot);
    attributes.record(&mut kept);
    let has_all = kept.has_all();
    if has_all {
        slot.set_begin(What::begin(plan.site, callsite.level, 8 * plan.count(), true));
    }
    has_all
}

/// A span that may have fields of any type; false when it has too many.
fn keep_encoded(callsite: &Callsite, slot: &Slot, attributes: &Attributes<'_>) -> bool {
    let mut bytes = [0; FIELD_BYTES];
    let mut known = None;
    let mut used = None;
    if let Some(plan) = callsite.plan(Role::Begin) {
        used = dynamic::encode(&mut bytes, |encoder| {
            known = plan.follow(encoder, |visitor| attributes.record(visitor));
        });
    }
    if known.is_none() {
        (used, known) = keep_otherwise(callsite, &mut bytes, attributes);
    }
    let (Some(used), Some(known)) = (used, known) else { return false };
    slot.keep(&bytes[..used]);
    slot.set_begin(What::begin(known, callsite.level, used, false));
    true
}

/// A span whose fields are not those that are expected. Gives their bytes, and the site of its begin.
#[cold]
#[inline(never)]
fn keep_otherwise(
    callsite: &Callsite,
    bytes: &mut [u8; FIELD_BYTES],
    attributes: &Attributes<'_>,
) -> (Option<usize>, Option<u32>) {
    let visit = |visitor: &mut dyn Visit| attributes.record(visitor);
    let mut shape = Role::Begin.shape();
    let used = dynamic::encode(bytes, |encoder| shape = fields(encoder, shape, &visit));
    let learn = || callsite.learn(Role::Begin, &|describe| visit(describe)).1;
    (used, used.map(|_| callsite.site(shape.hash()).unwrap_or_else(learn)))
}

/// The span is entered in this thread.
#[inline(always)]
pub(crate) fn enter(id: u64) {
    thread::with(|thread| {
        let slot = thread.found_slot.get();
        if thread.pending.get() != id || thread.found.get() != id || !is_here(thread, id, slot) {
            return enter_otherwise(id);
        }
        let what = slot.begin();
        if !what.is_words() || !thread.open.is_near() {
            return enter_otherwise(id);
        }
        if what.len() != 0 {
            return enter_with_words(id, slot);
        }
        entered_near(thread, id, slot, what, dynamic::record_words_at_once(what.site(), []));
    });
}

/// The same with a few numbers. (Apart: so a span without fields saves nothing for them.)
#[inline(never)]
fn enter_with_words(id: u64, slot: &'static Slot) {
    let what = slot.begin();
    let recorded = dynamic::record_few_at_once(what.site(), &slot.few(), what.len() / 8);
    thread::with(|thread| entered_near(thread, id, slot, what, recorded));
}

/// The begin of the span that this thread has made last was recorded, or has to be later.
#[inline(always)]
fn entered_near(thread: &Thread, id: u64, slot: &'static Slot, what: What, recorded: Result<u64, Later>) {
    thread.pending.set(0);
    slot.was_entered.store(true, Ordering::Relaxed);
    match recorded {
        Ok(ticks) => {
            slot.created.store(ticks, Ordering::Relaxed);
            thread.open.enter_near(Frame { id, slot, begun: ticks, what });
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
    if what.site() == 0 {
        dynamic::lose_without_site();
        return thread.open.enter(silent(id, slot));
    }
    match dynamic::record_at_once(|encoder| put(encoder, slot, what)) {
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
        _ => silent(id, slot),
    };
    thread.open.enter(frame);
}

/// Encodes how a span begins.
#[inline(always)]
fn put(encoder: &mut Encoder<'_>, slot: &Slot, what: What) -> Option<u32> {
    slot.put(encoder, what.len());
    Some(what.site())
}

#[cold]
#[inline(never)]
fn begin_later(id: u64, slot: &'static Slot, later: Later) {
    let what = slot.begin();
    let recorded = later.record(what.level(), &mut |encoder| put(encoder, slot, what));
    thread::with(|thread| open_begun(thread, id, slot, what, recorded));
}

/// A span that is entered once more, or elsewhere than it was made: a stretch of one that has an id.
fn begin_again(id: u64, slot: &'static Slot) -> Frame {
    slot.was_entered.store(true, Ordering::Relaxed);
    let Some(callsite) = callsite_of(slot).filter(|_| !slot.is_silent()) else { return silent(id, slot) };
    let number = number_of(id);
    let (site, begun) = plain(callsite, Role::Segment, |encoder| encoder.u64(number));
    Frame { id, slot, begun, what: What::segment(site, callsite.level) }
}

/// One of which nothing is recorded.
fn silent(id: u64, slot: &'static Slot) -> Frame {
    Frame { id, slot, begun: 0, what: What::NOTHING }
}

/// The span is left in this thread.
#[inline(always)]
pub(crate) fn exit(id: u64) {
    thread::with(|thread| {
        if thread.open.id() != id || thread.pending.get() != 0 || !thread.open.is_near() {
            return exit_otherwise(id);
        }
        let Frame { slot, begun, what, .. } = thread.open.innermost();
        thread.open.leave_near();
        if what.site() == 0 {
            return;
        }
        match dynamic::end_span_at_once(what.site(), begun) {
            Ok(ended) => ended_at(thread, id, slot, begun, what, ended),
            Err(later) => end_later(id, slot, begun, what, later),
        }
    });
}

#[inline(never)]
fn exit_otherwise(id: u64) {
    let Some(Frame { slot, begun, what, .. }) = thread::with(|thread| thread.open.leave(id)) else { return };
    settle_pending();
    if what.site() == 0 {
        return;
    }
    let ended = dynamic::end_span(what.level(), what.site(), begun);
    if ended != 0 {
        thread::with(|thread| ended_at(thread, id, slot, begun, what, ended));
    }
}

#[cold]
#[inline(never)]
fn end_later(id: u64, slot: &'static Slot, begun: u64, what: What, later: Later) {
    let ended = later.end_span(what.level(), what.site(), begun);
    if ended != 0 {
        thread::with(|thread| ended_at(thread, id, slot, begun, what, ended));
    }
}

/// A stretch of a span has ended.
#[inline(always)]
fn ended_at(thread: &Thread, id: u64, slot: &'static Slot, begun: u64, what: What, ended: u64) {
    if !slot.is(id) {
        return;
    }
    let busy = ended.saturating_sub(begun);
    if what.is_first() {
        slot.first_busy.store(busy, Ordering::Relaxed);
        thread.left.set(id);
    } else if !thread.open.has(id) {
        // (What lies within another stretch of the same span counts with that.)
        slot.busy.fetch_add(busy, Ordering::Relaxed);
    }
}

/// A span that was not entered before the next was made, or what it was made in was left: it will be elsewhere, perhaps when its parent is gone. So it
/// gets its id and its link now.
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

/// As [`number_of`], of a span that the caller does not hold.
pub(crate) fn number_of_other(id: u64) -> u64 {
    if id == 0 {
        return 0;
    }
    held(id, |_| number_of(id)).unwrap_or(0)
}

/// Looks at a span that the caller does not hold: it may have gone to another thread, and be closed there at any moment. `None`: it is.
fn held<R>(id: u64, look: impl FnOnce(&Slot) -> R) -> Option<R> {
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
        0 => give_number(slot),
        number => number,
    }
}

#[cold]
fn give_number(slot: &Slot) -> u64 {
    let Some(callsite) = callsite_of(slot) else { return 0 };
    let number = silverpoint::new_id();
    if let Err(given) = slot.number.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire) {
        return given;
    }
    callsite.make_async();
    let what = slot.begin();
    // One that was entered before began then.
    let begun = slot.created.load(Ordering::Relaxed);
    let site = callsite.with_id(what.site(), begun != 0);
    if site == 0 {
        dynamic::lose_without_site();
        return number;
    }
    let recorded = dynamic::record(callsite.level, |encoder| {
        encoder.u64(number);
        if begun != 0 {
            encoder.u64(begun);
        }
        slot.put(encoder, what.len());
        Some(site)
    });
    if let Recorded::At { ticks } = recorded {
        let _ = slot.created.compare_exchange(0, ticks, Ordering::Relaxed, Ordering::Relaxed);
    }
    link_to_parent(callsite, slot, number);
    number
}

/// Fields that were not there when the span was made, or are others now.
pub(crate) fn record(id: u64, values: &Record<'_>) {
    let Some(callsite) = slots::get(id).filter(|slot| !slot.is_silent()).and_then(callsite_of) else {
        return;
    };
    let number = number_of(id);
    let visit = |visitor: &mut dyn Visit| values.record(visitor);
    let _ = with_fields(callsite, Role::AsyncInstant, callsite.level, |encoder| encoder.u64(number), &visit);
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
        let slot = thread.found_slot.get();
        let is_last = thread.found.get() == id
            && thread.left.get() == id
            && slot.is_alone(id)
            && slots::keeps_last(thread);
        if !is_last {
            return let_go_otherwise(id);
        }
        thread.left.set(0);
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
        if !slot.let_go() {
            return false;
        }
        close(id, slot);
        true
    })
}

/// Nobody has the span any more.
#[inline(never)]
fn close(id: u64, slot: &'static Slot) {
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
    let Some(callsite) = callsite_of(slot) else { return };
    let busy = slot.busy.load(Ordering::Relaxed) + slot.first_busy.load(Ordering::Relaxed);
    let created = slot.created.load(Ordering::Relaxed);
    let ns = |ticks: u64| dynamic::ticks_to_ns(ticks) as i64;
    plain(callsite, Role::AsyncEnd, |encoder| {
        // Without a beginning that is known, at least the time in it.
        let whole = if created == 0 { busy } else { encoder.ticks().saturating_sub(created) };
        encoder.u64(number);
        encoder.i64(ns(busy));
        // Segments in several threads at a time may be more than the whole.
        encoder.i64(ns(whole.saturating_sub(busy)));
    });
}
