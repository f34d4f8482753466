//! System tracers that get an event from a tracepoint itself, beside or instead of its record (spec/wire.md,
//! section 3.7).
//!
//! ```text
//!  site registered ─▶ wake ─▶ thread of the library: makes an event ─▶ its address in the site's entry
//!  state byte: PROBED ─▶ traced ─▶ Event: wanted? ─▶ write
//! ```
//!
//! A program that is not asked to feed a tracer loads no library, and none of its sites has the bit.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};

use super::session::Session;
use super::tracer_libraries::{BEGUN, asked, start_again, state_of, stop_probing};
use super::{at, context, local};
use crate::signal_mask;
use crate::sys::{self, ErrnoGuard};

/// What the library shares with all copies and languages. It lies in the memory of the process for ever.
#[repr(C)]
pub(super) struct ProbeEvent {
    magic: u64,
    pub(super) state: *const AtomicI32,
    write: Option<unsafe extern "C" fn(*const Self, *const ProbeRecord)>,
    end: AtomicPtr<Self>,
    next: AtomicPtr<Self>,
    /// Its bit among what the program is asked for.
    pub(super) tracer: u32,
    begun: Option<unsafe extern "C" fn(*const Self, u64)>,
}

impl ProbeEvent {
    #[inline(always)]
    fn is_wanted(&self) -> bool {
        // SAFETY: an event's state lies in the memory of the process for ever.
        unsafe { (*self.state).load(Ordering::Relaxed) != 0 }
    }

    /// Whether there is an event of its end.
    pub(super) fn has_end(&self) -> bool {
        follow(&self.end).is_some()
    }

    /// Whether the event is wanted, or that of its end.
    ///
    /// # Safety
    /// It has one.
    #[inline(always)]
    pub(super) unsafe fn is_span_wanted(&self) -> bool {
        // SAFETY: an event that lies there for ever, by the caller.
        self.is_wanted() || unsafe { (*self.end.load(Ordering::Relaxed)).is_wanted() }
    }

    /// (Leaves errno as it is.)
    #[inline(always)]
    fn write(&self, record: *const ProbeRecord) {
        if let Some(write) = self.write {
            // SAFETY: the bytes are read only until it returns. Of a span's end it is a `ProbeSpanEnd`.
            unsafe { write(self, record) };
        }
    }
}

/// What an event is written from.
#[repr(C)]
struct ProbeRecord {
    arguments: *const u8,
    size: usize,
    context: *const u8,
    context_size: usize,
    caller: *const c_void,
    is_cut: bool,
}

impl ProbeRecord {
    #[inline(always)]
    fn new(arguments: &[u8], context: &[u8], is_cut: bool, caller: *const ()) -> Self {
        Self {
            arguments: arguments.as_ptr(),
            size: arguments.len(),
            context: context.as_ptr(),
            context_size: context.len(),
            caller: caller.cast(),
            is_cut,
        }
    }
}

/// That of the end of a span.
#[repr(C)]
struct ProbeSpanEnd {
    /// First: tracers get its address.
    record: ProbeRecord,
    began: u64,
}

/// "SPPROBE4"
const MAGIC: u64 = 0x3445_424F_5250_5053;

/// The tracers' events of a site, or of its end.
#[derive(Clone, Copy)]
pub struct Event {
    first: &'static ProbeEvent,
    /// The tracers that get it: of an end all, else those that the program is asked to feed. Others may want their
    /// events, too.
    of: u32,
    is_end: bool,
}

// SAFETY: what it refers to is not changed any more, but for the state and the links, which are atomic.
unsafe impl Send for Event {}
// SAFETY: as above; `write` may be called by several threads at once.
unsafe impl Sync for Event {}

#[inline(always)]
fn follow(link: &AtomicPtr<ProbeEvent>) -> Option<&'static ProbeEvent> {
    // SAFETY: null, or an event that lies there for ever.
    unsafe { link.load(Ordering::Acquire).as_ref() }
}

impl Event {
    /// Each tracer's.
    fn all(self) -> impl Iterator<Item = &'static ProbeEvent> {
        std::iter::successors(Some(self.first), |event| follow(&event.next))
    }

    fn wanted(self) -> impl Iterator<Item = &'static ProbeEvent> {
        let meant =
            move |event: &'static ProbeEvent| if self.is_end { follow(&event.end) } else { Some(event) };
        self.all().filter_map(meant).filter(move |event| event.tracer & self.of != 0 && event.is_wanted())
    }

    /// Whether a tracer wants it now. One load for each tracer.
    pub fn is_wanted(self) -> bool {
        self.wanted().next().is_some()
    }

    /// The events of the end of a span, whose one argument is the duration in ns (code `L`), or of an async span. Also
    /// for a tracer that is not asked for: it may have the begin.
    pub fn end(self) -> Self {
        Self { is_end: true, of: !0, ..self }
    }

    /// Writes it for each tracer that wants it, with the fields of the scopes that are open in this thread.
    /// `arguments`: as in a record of the site; `is_cut`: a value of them is cut; `caller`: an address in the program.
    pub fn write(self, arguments: &[u8], is_cut: bool, caller: *const ()) {
        let write = |context: &[u8]| {
            let record = ProbeRecord::new(arguments, context, is_cut, caller);
            self.wanted().for_each(|event| event.write(&record));
        };
        match context::open() {
            Some(contexts) => contexts.read(write).0,
            None => write(&[]),
        }
    }

    /// Behind the begin of a span, in its thread, wanted or not: its end will have these ticks. Those of spans of one
    /// thread differ.
    pub fn begun(self, ticks: u64) {
        for event in self.all() {
            if let Some(begun) = event.begun {
                // SAFETY: it is the event's own function.
                unsafe { begun(event, ticks) };
            }
        }
    }

    /// Writes the end of a span, of what [`Self::end`] gave. It may come in another thread than its begin, whose
    /// `begun` had these ticks.
    pub fn write_end(self, duration_ns: u64, began: u64, caller: *const ()) {
        let bytes = duration_ns.to_le_bytes();
        let write = |context: &[u8]| {
            let end = ProbeSpanEnd { record: ProbeRecord::new(&bytes, context, false, caller), began };
            // (With the rights of the whole.)
            let record = std::ptr::from_ref(&end).cast::<ProbeRecord>();
            self.wanted().for_each(|event| event.write(record));
        };
        match context::open() {
            Some(contexts) => contexts.read(write).0,
            None => write(&[]),
        }
    }

    /// The same of what a [`Mark`] has given. Arguments are whole.
    #[inline(always)]
    pub fn write_marked(self, arguments: &[u8], caller: *const ()) {
        if context::open().is_some() {
            return write_each(self.first, arguments, caller);
        }
        self.first.write(&ProbeRecord::new(arguments, &[], false, caller));
    }
}

/// What a site keeps of its first tracer's event while that tracer wants it, and no other is asked for. (A forked
/// child may have the events of several in another order.) The highest byte is the site's state byte, with its highest bit;
/// the rest is the address of the event. 0: nothing. So most executions that a tracer gets ask a few loads only.
pub struct Mark(AtomicU64);

impl Mark {
    /// Of a site that is new.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    #[inline]
    const fn top(state: u8) -> u64 {
        (state | 0x80) as u64
    }

    /// Whether it was made for this state of the site.
    #[inline(always)]
    pub fn holds(&self, state: u8) -> bool {
        self.0.load(Ordering::Relaxed) >> 56 == Self::top(state)
    }

    /// Whether it was made for this state of the site, and the tracer still wants the event, and no other is asked for.
    #[inline(always)]
    pub fn is_wanted(&self, state: u8) -> bool {
        self.wanted(state).is_some()
    }

    #[inline(always)]
    fn wanted(&self, state: u8) -> Option<&'static ProbeEvent> {
        let mark = self.0.load(Ordering::Acquire);
        if mark >> 56 != Self::top(state) {
            return None;
        }
        // SAFETY: a mark is made with a session.
        let asked = unsafe { local::asked_tracers() };
        if asked != BEGUN.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: the address of an event, by `set`. It lies there for ever, in a forked child, too.
        let first = unsafe { &*((mark << 8 >> 8) as *const ProbeEvent) };
        (first.tracer == asked && first.is_wanted()).then_some(first)
    }

    /// Of an execution without arguments whose event the first tracer wants. Whether that was all: the event is
    /// written here, unless the ring wants the record, too.
    #[inline(always)]
    pub fn gives_alone(&self, state: u8) -> Option<bool> {
        let first = self.wanted(state)?;
        if state & at::state::RING != 0 {
            return Some(false);
        }
        give_alone(first);
        Some(true)
    }

    /// The event that was wanted when it was made, and whether the ring wanted the record, too.
    #[inline(always)]
    pub fn event(&self) -> Option<(Event, bool)> {
        let is_on = self.0.load(Ordering::Relaxed) >> 56 & u64::from(at::state::RING) != 0;
        self.first().map(|first| (Event { first, of: first.tracer, is_end: false }, is_on))
    }

    #[inline(always)]
    fn first(&self) -> Option<&'static ProbeEvent> {
        let address = self.0.load(Ordering::Acquire) << 8 >> 8;
        // SAFETY: 0, or the address of an event, by `set`. It lies there for ever, in a forked child, too.
        unsafe { (address as *const ProbeEvent).as_ref() }
    }

    /// Makes it, if the first tracer alone is asked for and wants the event; else there is none.
    pub fn set(&self, traced: &Traced) {
        let is_for = |event: &Event| event.first.tracer == event.of && event.first.is_wanted();
        let now = traced.event.filter(is_for).map_or(0, |event| {
            let state = at::state::PROBED | if traced.is_on { at::state::RING } else { 0 };
            Self::top(state) << 56 | std::ptr::from_ref(event.first) as usize as u64
        });
        if self.0.load(Ordering::Relaxed) != now {
            self.0.store(now, Ordering::Release);
        }
    }
}

/// (A function of its own: so what calls it puts no `Event` into memory.)
#[cold]
#[inline(never)]
fn write_each(first: &'static ProbeEvent, arguments: &[u8], caller: *const ()) {
    Event { first, of: !0, is_end: false }.write(arguments, false, caller);
}

/// Of an execution without arguments.
#[inline(never)]
fn give_alone(first: &'static ProbeEvent) {
    Event { first, of: !0, is_end: false }.write_marked(&[], give_alone as *const ());
}

/// The event of a site, by the number of its entry, which is in the table.
#[inline(always)]
fn stored(session: &Session, entry: u32) -> Option<&'static ProbeEvent> {
    let place = session.layout.sites_at as usize + entry as usize * at::site_entry::SIZE;
    // SAFETY: ids come from entries of the table, which are backed. The address was stored by the library in
    // this process.
    unsafe {
        let address = session.control.part(place).u64(at::site_entry::PROBE).load(Ordering::Acquire);
        (address as *const ProbeEvent).as_ref().filter(|event| event.magic == MAGIC)
    }
}

/// A site for whose event a tracer may ask.
#[derive(Clone, Copy)]
pub struct Traced {
    /// `None`: there is none yet, or none will be.
    pub event: Option<Event>,
    /// Whether the ring wants its record.
    pub is_on: bool,
}

impl Traced {
    /// Whether a tracer wants the event, or that of its end.
    pub fn is_wanted(&self) -> bool {
        self.event.is_some_and(|event| event.is_wanted() || Event { is_end: true, ..event }.is_wanted())
    }

    /// The event of the tracer that alone is asked for.
    pub(super) fn alone(&self) -> Option<&'static ProbeEvent> {
        let event = self.event.filter(|event| event.of.is_power_of_two())?;
        event.all().find(|one| one.tracer == event.of)
    }
}

/// What is to be known of a registered site, whose state byte has the bit PROBED; nothing without a session.
///
/// A forked child makes its own session here. It must not read an address that its parent has stored since.
pub fn traced(id: u32) -> Traced {
    let _errno = ErrnoGuard::new();
    let nothing = Traced { event: None, is_on: false };
    let Some((session, _)) = local::session() else { return nothing };
    let entry = id.wrapping_sub(at::site_entry::FIRST_ID);
    if entry >= session.layout.sites_cap {
        return nothing;
    }
    let asked = asked(session);
    if asked == 0 {
        // A controller that wrote other bits of the state in the same moment has left the bit.
        stop_probing(session, entry);
    } else if asked & !BEGUN.load(Ordering::Relaxed) != 0 {
        begin(session);
    }
    Traced {
        event: stored(session, entry).map(|first| Event { first, of: asked, is_end: false }),
        is_on: state_of(session, entry).load(Ordering::Relaxed) & at::state::RING != 0,
    }
}

/// Whether one tracer alone is asked for, has the event of a site, and wants neither it nor that of its end. For sites that keep nothing of it
/// ([`Quiet`](super::Quiet)): what they are asked for at each execution. False where that is not known.
#[inline]
pub fn is_unwanted(id: u32) -> bool {
    // (None in a forked child, which has not made its own: it must read no event before.)
    let Some(session) = local::existing() else { return false };
    let entry = id.wrapping_sub(at::site_entry::FIRST_ID);
    if entry >= session.layout.sites_cap {
        return false;
    }
    let asked = asked(session);
    // (While its library is to be loaded again, `traced` is what begins that.)
    if asked & !BEGUN.load(Ordering::Relaxed) != 0 {
        return false;
    }
    let mut event = stored(session, entry);
    while let Some(one) = event {
        // (Of several that are asked for it is none.)
        if one.tracer == asked {
            return !one.is_wanted() && !follow(&one.end).is_some_and(ProbeEvent::is_wanted);
        }
        event = follow(&one.next);
    }
    false
}

/// Whether the program is asked to feed a system tracer. Then each of its sites has the bit PROBED.
pub fn feeds_tracer() -> bool {
    let _errno = ErrnoGuard::new();
    local::session().is_some_and(|(session, _)| asked(session) != 0)
}

/// The session's ticks now; 0 without a session.
pub fn now() -> u64 {
    local::session().map_or(0, |(session, _)| session.source.now())
}

/// Loads libraries when a program that runs is asked to feed a tracer: by a thread, since loading takes long. Not
/// from a signal handler, where no thread can be started. Not in a plug-in, which may be unloaded meanwhile.
#[cold]
fn begin(session: &Session) {
    extern "C" fn run(_: *mut c_void) -> *mut c_void {
        if let Some(session) = local::existing() {
            start_again(session);
        }
        null_mut()
    }
    if !local::IS_OF_EXECUTABLE.load(Ordering::Relaxed) || !signal_mask::is_empty() {
        return;
    }
    let asked = asked(session);
    if asked & !BEGUN.fetch_or(asked, Ordering::AcqRel) == 0 {
        return;
    }
    let started = signal_mask::with_all_blocked(|| {
        let mut thread = MaybeUninit::uninit();
        // SAFETY: the thread is detached at once, and its function uses nothing of this one.
        unsafe {
            let error = libc::pthread_create(thread.as_mut_ptr(), null(), run, null_mut());
            error == 0 && libc::pthread_detach(thread.assume_init()) == 0
        }
    });
    if !started {
        sys::warn(&[b"system tracers get no events: no thread could be started"]);
    }
}
