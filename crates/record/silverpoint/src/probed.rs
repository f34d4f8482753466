//! Executions whose event a system tracer may want (spec/wire.md, section 3.7): the event, and the record if
//! the site is on.
//!
//! ```text
//!  arguments ─▶ Scratch, once ─▶ event, if it is wanted ─▶ record, if the site is on
//! ```

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::platform::owner::{self, Cause, Event, Traced};

use crate::args::{Args, Borrower};
use crate::copy::COPY_MAX;
use crate::header::Made;
use crate::level::AtLevel;
use crate::record::behind_event;
use crate::scratch::{Scratch, Unfinished};
use crate::site::Site;
use crate::words::span_end;
use crate::writer::Writer;

/// Mark in the id of a span that a tracer may want the end of; with [`RECORDED_SPAN`] there is a record, too.
pub(crate) const PROBED_SPAN: u32 = 1 << 31;
const RECORDED_SPAN: u32 = 1 << 30;

/// Takes the arguments: the site, and its id, with [`PROBED_SPAN`] if it is a span. (Two numbers, which go in registers.)
pub(crate) struct Probed<L>(&'static Site, u32, PhantomData<L>);

impl<L: AtLevel> Borrower for Probed<L> {
    type Result = Made;
    #[cold]
    #[inline(never)]
    fn take<A: Args>(self, arguments: &A) -> Made {
        let caller = Self::take::<A> as *const ();
        // (The id of a span is no site's.)
        match self.0.marked(self.1) {
            Some((event, false)) if is_given(event, arguments, caller) => Made::LOST,
            _ => self.take_seldom(arguments, caller),
        }
    }
}

/// Gives the arguments to a tracer: as they lie in memory, or from the stack. False: they may need more of
/// that.
#[inline(always)]
fn is_given<A: Args>(event: Event, arguments: &A, caller: *const ()) -> bool {
    /// Bytes that need no [`Scratch`].
    const NEAR: usize = 512;
    if let Some(bytes) = arguments.packed() {
        event.write_marked(bytes, caller);
        return true;
    }
    if const { A::ONCE || A::DEAR || !A::EXACT.is_so() } {
        return false;
    }
    let size = arguments.size();
    if size > NEAR {
        return false;
    }
    let mut near = [const { MaybeUninit::<u8>::uninit() }; NEAR];
    let at = near.as_mut_ptr().cast::<u8>();
    // SAFETY: there are so many bytes, which are what the arguments write.
    let bytes = unsafe {
        arguments.write(&mut Writer::whole(at, at.add(size), false, size <= COPY_MAX));
        std::slice::from_raw_parts(at, size)
    };
    event.write_marked(bytes, caller);
    true
}

impl<L: AtLevel> Probed<L> {
    #[inline(always)]
    pub(crate) fn new(site: &'static Site, id: u32, is_span: bool) -> Self {
        Self(site, if is_span { id | PROBED_SPAN } else { id }, PhantomData)
    }

    /// Of a span, or where the ring wants it, too.
    #[inline(never)]
    fn take_seldom<A: Args>(self, arguments: &A, caller: *const ()) -> Made {
        let (site, id, is_span) = (self.0, self.1 & !PROBED_SPAN, self.1 & PROBED_SPAN != 0);
        let begun = if is_span { owner::now() } else { 0 };
        let given = site.marked(id).filter(|(event, _)| is_given(*event, arguments, caller));
        let made = match given {
            None => return Self::take_slowly(id, is_span, arguments, caller),
            Some((_, true)) => behind_event::<L, A>(id, arguments),
            Some((_, false)) => Made::LOST,
        };
        if is_span { probed_span(given.map(|(event, _)| event), id, made, begun) } else { made }
    }

    #[cold]
    #[inline(never)]
    fn take_slowly<A: Args>(id: u32, is_span: bool, arguments: &A, caller: *const ()) -> Made {
        let traced = owner::traced(id);
        let unfinished = traced.is_on.then_some(Unfinished);
        let mut scratch = Scratch::new();
        let written = Written::of(&mut scratch, arguments, caller);
        if let Some(unfinished) = unfinished {
            unfinished.finish();
        }
        give(id, traced, is_span, L::LEVEL, &mut scratch, &written)
    }
}

/// What became of the arguments.
pub(crate) struct Written {
    /// Their bytes; `None`: a record cannot have them.
    pub(crate) len: Option<usize>,
    is_cut: bool,
    caller: *const (),
}

impl Written {
    /// Writes them, once.
    #[inline]
    pub(crate) fn of<A: Args>(scratch: &mut Scratch, arguments: &A, caller: *const ()) -> Self {
        let mut writer = Writer::into_scratch(scratch, arguments.least());
        arguments.write(&mut writer);
        let (len, is_cut, has_overrun) = (writer.used(), writer.was_cut(), writer.has_overrun());
        Self { len: if has_overrun { None } else { Some(len) }, is_cut, caller }
    }
}

/// Gives them to a system tracer and the ring, as far as these want them.
#[inline(never)]
pub(crate) fn give(
    id: u32,
    traced: Traced,
    is_span: bool,
    level: u8,
    scratch: &mut Scratch,
    written: &Written,
) -> Made {
    let begun = if is_span { owner::now() } else { 0 };
    let mut made = Made::LOST;
    if let Some(len) = written.len {
        // Before the record, which may have to wait for room.
        if let Some(event) = traced.event.filter(|event| event.is_wanted()) {
            // SAFETY: so many were written.
            event.write(unsafe { scratch.bytes(len) }, written.is_cut, written.caller);
        }
        if traced.is_on {
            // SAFETY: as above; they are the arguments of the site.
            made = unsafe { scratch.record(level, id, None, len, written.is_cut) };
        }
    } else if traced.is_on {
        owner::lose(Cause::TooLarge);
    }
    if is_span { probed_span(traced.event, id, made, begun) } else { made }
}

/// A span that a tracer may want the end of, with its record if that was made.
fn probed_span(event: Option<Event>, id: u32, made: Made, begun: u64) -> Made {
    let span = match made.ticks {
        0 => Made { id: id | PROBED_SPAN, ticks: begun },
        ticks => Made { id: id | PROBED_SPAN | RECORDED_SPAN, ticks },
    };
    if let Some(event) = event {
        event.begun(span.ticks);
    }
    span
}

/// Whether a span with the mark has a record.
pub(crate) fn is_recorded(id: u32) -> bool {
    id & RECORDED_SPAN != 0
}

/// The end of a span with the mark.
#[cold]
#[inline(never)]
pub(crate) fn end_span(level: u8, marked: u32, begun: u64) {
    let id = marked & !(PROBED_SPAN | RECORDED_SPAN);
    if let Some(event) = owner::traced(id).event.map(Event::end).filter(|end| end.is_wanted()) {
        let duration = owner::ticks_to_ns(owner::now().saturating_sub(begun));
        event.write_end(duration, begun, end_span as *const ());
    }
    if is_recorded(marked) {
        let _ = span_end(level, id, begun);
    }
}
