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

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

use silverpoint::dynamic::{self, Encoder, Later, Recorded};
use tracing_core::field::Visit;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Metadata};

use crate::callsite::{self, Callsite, Role};
use crate::fields::{Encode, Plan, Shape};
use crate::open::{Frame, What, current, leave, open, slot_of_current};
use crate::slots::{self, FIELD_BYTES, Slot};

/// The begin of the span that this thread has made last.
struct Begin {
    fields: [u8; FIELD_BYTES],
    len: usize,
    what: What,
}

thread_local! {
    /// The span that this thread has made last, while it has not been entered; and how it begins.
    static PENDING: Cell<u64> = const { Cell::new(0) };
    static BEGIN: RefCell<Begin> =
        const { RefCell::new(Begin { fields: [0; FIELD_BYTES], len: 0, what: What::NOTHING }) };
    /// The span that this thread has left last, where it was made in this thread and entered once.
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// The metadata of a span.
pub(crate) fn metadata(id: u64) -> Option<&'static Metadata<'static>> {
    Some(callsite_of(slots::get(id)?)?.meta)
}

fn callsite_of(slot: &Slot) -> Option<&'static Callsite> {
    callsite::numbered(slot.callsite.load(Ordering::Relaxed))
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
fn plain(callsite: &Callsite, role: Role, fill: impl Fn(&mut Encoder<'_>)) -> (u32, u64) {
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
    let open = current();
    make(attributes, open, open)
}

/// One whose parent is said; 0: it has none.
#[cold]
#[inline(never)]
pub(crate) fn new_of(attributes: &Attributes<'_>, parent: u64) -> Option<Id> {
    make(attributes, current(), parent)
}

#[inline(always)]
fn make(attributes: &Attributes<'_>, open: u64, parent: u64) -> Option<Id> {
    let callsite = callsite::of(attributes.metadata());
    settle_pending();
    let is_on = callsite.is_on();
    let (id, slot) = slots::claim(callsite.number, !is_on, parent)?;
    if !is_on {
        return Some(id);
    }
    let is_here = parent == open && !callsite.is_async.load(Ordering::Relaxed);
    if is_here && keep(callsite, slot, attributes) {
        if open != 0
            && let Some(parent) = slot_of_current()
        {
            parent.is_parent.store(true, Ordering::Relaxed);
        }
        PENDING.set(id.into_u64());
    } else {
        begin_with_id(callsite, slot, attributes);
    }
    Some(id)
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
    link_to_parent(callsite, slot, number);
}

/// Keeps how a span begins until it is entered; false when it has too many fields, or is made while another one's are looked at.
#[inline(always)]
fn keep(callsite: &Callsite, slot: &Slot, attributes: &Attributes<'_>) -> bool {
    BEGIN.with(|begin| {
        let Ok(mut begin) = begin.try_borrow_mut() else { return false };
        let Begin { fields: bytes, len, what } = &mut *begin;
        let mut known = None;
        let mut used = None;
        if let Some(plan) = callsite.plan(Role::Begin) {
            if callsite.meta.fields().is_empty() {
                (used, known) = (Some(0), Some(plan.site));
            } else {
                used = dynamic::encode(bytes, |encoder| {
                    known = plan.follow(encoder, |visitor| attributes.record(visitor));
                });
            }
        }
        if known.is_none() {
            (used, known) = keep_otherwise(callsite, bytes, attributes);
        }
        let (Some(used), Some(known)) = (used, known) else { return false };
        slot.keep(known, bytes, used);
        (*len, *what) = (used, What::new(known, callsite.level, true));
        true
    })
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
    let Some(slot) = slots::get(id) else { return };
    if PENDING.get() == id {
        PENDING.set(0);
        if slot.number.load(Ordering::Relaxed) == 0 && slot.parent.load(Ordering::Relaxed) == current() {
            return begin_here(id, slot);
        }
    }
    open(begin_again(id, slot));
}

/// The span that this thread has made last is entered where it was made: it is a span of this thread.
#[inline(always)]
fn begin_here(id: u64, slot: &'static Slot) {
    slot.was_entered.store(true, Ordering::Relaxed);
    BEGIN.with(|begin| {
        let Ok(begin) = begin.try_borrow() else { return open(silent(id, slot)) };
        let what = begin.what;
        if what.site() == 0 {
            dynamic::lose_without_site();
            return open(silent(id, slot));
        }
        let ticks = match begin.len {
            0 => begin_with::<0>(&begin),
            8 => begin_with::<1>(&begin),
            16 => begin_with::<2>(&begin),
            _ => match dynamic::record_at_once(|encoder| put(encoder, &begin)) {
                Ok(Recorded::At { ticks }) => ticks,
                Ok(_) => 0,
                Err(later) => begin_later(&begin, later),
            },
        };
        if ticks == 0 {
            return open(silent(id, slot));
        }
        slot.created.store(ticks, Ordering::Relaxed);
        open(Frame { id, slot: Some(slot), begun: ticks, what });
    });
}

/// A begin of so many words: what most spans have.
#[inline(always)]
fn begin_with<const N: usize>(begin: &Begin) -> u64 {
    let (words, _) = begin.fields.as_chunks::<8>();
    let arguments = std::array::from_fn::<_, N, _>(|number| u64::from_le_bytes(words[number]));
    dynamic::record_words(begin.what.level(), begin.what.site(), arguments)
}

/// Encodes how a span begins; by words, as it was written.
#[inline(always)]
fn put(encoder: &mut Encoder<'_>, begin: &Begin) -> Option<u32> {
    let (words, rest) = begin.fields[..begin.len.min(FIELD_BYTES)].as_chunks::<8>();
    for word in words {
        encoder.u64(u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        encoder.raw(rest);
    }
    Some(begin.what.site())
}

/// Gives the ticks of the begin, 0 when it was lost.
#[cold]
#[inline(never)]
fn begin_later(begin: &Begin, later: Later) -> u64 {
    match later.record(begin.what.level(), &mut |encoder| put(encoder, begin)) {
        Recorded::At { ticks } => ticks,
        _ => 0,
    }
}

/// A span that is entered once more, or elsewhere than it was made: a stretch of one that has an id.
#[inline(never)]
fn begin_again(id: u64, slot: &'static Slot) -> Frame {
    slot.was_entered.store(true, Ordering::Relaxed);
    let Some(callsite) = callsite_of(slot).filter(|_| !slot.is_silent()) else { return silent(id, slot) };
    let number = number_of(id);
    let (site, begun) = plain(callsite, Role::Segment, |encoder| encoder.u64(number));
    Frame { id, slot: Some(slot), begun, what: What::new(site, callsite.level, false) }
}

/// One of which nothing is recorded.
fn silent(id: u64, slot: &'static Slot) -> Frame {
    Frame { id, slot: Some(slot), begun: 0, what: What::NOTHING }
}

/// The span is left in this thread.
#[inline(always)]
pub(crate) fn exit(id: u64) {
    let Some(frame) = leave(id) else { return };
    settle_pending();
    let what = frame.what;
    if what.site() == 0 {
        return;
    }
    let ended = dynamic::end_span(what.level(), what.site(), frame.begun);
    let Some(slot) = frame.slot.filter(|slot| ended != 0 && slot.is(id)) else { return };
    let busy = ended.saturating_sub(frame.begun);
    if what.is_first() {
        slot.first_busy.store(busy, Ordering::Relaxed);
        LEFT.set(id);
    } else {
        slot.busy.fetch_add(busy, Ordering::Relaxed);
    }
}

/// A span that was not entered before the next was made, or what it was made in was left: it will be elsewhere, perhaps when its parent is gone. So it
/// gets its id and its link now.
#[inline(always)]
fn settle_pending() {
    let id = PENDING.get();
    if id != 0 {
        PENDING.set(0);
        settle(id);
    }
}

#[cold]
fn settle(id: u64) {
    let _ = held(id, |slot| slot.was_entered.load(Ordering::Relaxed) || number_of(id) != 0);
}

/// As [`number_of`], of a span that the caller does not hold.
fn number_of_other(id: u64) -> u64 {
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
fn number_of(id: u64) -> u64 {
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
    callsite.is_async.store(true, Ordering::Relaxed);
    let site = callsite.with_id(slot.begin.load(Ordering::Relaxed));
    if site == 0 {
        dynamic::lose_without_site();
        return number;
    }
    let recorded = slot.kept(|kept| {
        dynamic::record(callsite.level, |encoder| {
            encoder.u64(number);
            encoder.raw(kept);
            Some(site)
        })
    });
    if let Recorded::At { ticks } = recorded {
        // One that was entered before began then.
        let _ = slot.created.compare_exchange(0, ticks, Ordering::Relaxed, Ordering::Relaxed);
    }
    link_to_parent(callsite, slot, number);
    number
}

fn link_to_parent(callsite: &Callsite, slot: &Slot, number: u64) {
    let parent = slot.parent.load(Ordering::Relaxed);
    if parent == 0 || slot.is_linked.swap(true, Ordering::Relaxed) {
        return;
    }
    let parent = number_of_other(parent);
    if parent != 0 {
        link(callsite, parent, number);
    }
}

fn link(callsite: &Callsite, from: u64, to: u64) {
    plain(callsite, Role::Link, |encoder| {
        encoder.u64(from);
        encoder.u64(to);
    });
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

/// The span came from another.
pub(crate) fn follows_from(id: u64, other: u64) {
    let Some(callsite) = slots::get(id).and_then(callsite_of) else { return };
    let (from, to) = (number_of_other(other), number_of(id));
    if from != 0 && to != 0 {
        link(callsite, from, to);
    }
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
    let Some(slot) = slots::get(id) else { return false };
    if LEFT.get() == id && slot.is_alone(id) {
        LEFT.set(0);
        slots::give_back(id, slot);
        return true;
    }
    if !slot.let_go() {
        return false;
    }
    close(id, slot);
    true
}

/// Nobody has the span any more.
#[inline(never)]
fn close(id: u64, slot: &'static Slot) {
    if PENDING.get() == id {
        PENDING.set(0);
    }
    let was_entered = slot.was_entered.load(Ordering::Relaxed);
    if !slot.is_silent() && (slot.number.load(Ordering::Acquire) != 0 || !was_entered) {
        end(slot, number_of(id));
    }
    slots::give_back(id, slot);
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
