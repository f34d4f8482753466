//! System tracers that get an event from a tracepoint itself, beside or instead of its record (spec/wire.md,
//! section 3.7).
//!
//! ```text
//!  site registered ─▶ wake ─▶ thread of the library: makes an event ─▶ its address in the site's entry
//!  state byte: PROBED ─▶ traced ─▶ Event: wanted? ─▶ write
//! ```
//!
//! A program that is not asked to feed a tracer loads no library, and none of its sites has the bit.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};

use rustix::thread::futex;

use super::session::Session;
use super::{at, context, local};
use crate::signal_mask;
use crate::sys::{self, ErrnoGuard};

/// What the library shares with all copies and languages. It lies in the memory of the process for ever.
#[repr(C)]
struct ProbeEvent {
    magic: u64,
    state: *const AtomicI32,
    write: Option<unsafe extern "C" fn(*const Self, *const ProbeRecord)>,
    end: AtomicPtr<Self>,
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

/// "SPPROBE1"
const MAGIC: u64 = 0x3145_424F_5250_5053;

/// The function of a library: it gets the mapped control file of the session.
type Start = unsafe extern "C" fn(*mut u8, usize);

const LIBRARY: &CStr = c"libsilverpoint_lttng.so.0";
const START: &CStr = c"silverpoint_start_lttng";
/// Bytes of the linker's message; a long path leaves room for the advice.
const WHY_MAX: usize = 400;

/// A tracer's event of a site.
#[derive(Clone, Copy)]
pub struct Event(&'static ProbeEvent);

// SAFETY: what it refers to is not changed any more, but for the state, which is atomic.
unsafe impl Send for Event {}
// SAFETY: as above; `write` may be called by several threads at once.
unsafe impl Sync for Event {}

impl Event {
    /// Whether a tracer wants it now. One load.
    pub fn is_wanted(self) -> bool {
        // SAFETY: an event's state lies in the memory of the process for ever.
        unsafe { (*self.0.state).load(Ordering::Relaxed) != 0 }
    }

    /// The event of the end of a span, whose one argument is the duration in ns (code `L`), or of an async span.
    pub fn end(self) -> Option<Self> {
        // SAFETY: null, or an event that lies there for ever.
        unsafe { self.0.end.load(Ordering::Acquire).as_ref() }.map(Self)
    }

    /// Writes it, with the fields of the scopes that are open in this thread. `arguments`: as in a record of the site; `is_cut`: a value of them is cut; `caller`: an
    /// address in the program.
    pub fn write(self, arguments: &[u8], is_cut: bool, caller: *const ()) {
        let _errno = ErrnoGuard::new();
        if let Some(write) = self.0.write {
            context::with_pairs(|context| {
                let record = ProbeRecord {
                    arguments: arguments.as_ptr(),
                    size: arguments.len(),
                    context: context.as_ptr(),
                    context_size: context.len(),
                    caller: caller.cast(),
                    is_cut,
                };
                // SAFETY: the bytes are read only until it returns.
                unsafe { write(self.0, &raw const record) };
            });
        }
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
        self.event.is_some_and(|event| event.is_wanted() || event.end().is_some_and(Event::is_wanted))
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
    if !BEGUN.load(Ordering::Relaxed) {
        begin(session);
    }
    // SAFETY: ids come from entries of the table, which are backed with their states since. The address was
    // stored by the library in this process.
    unsafe {
        let state = session.control.u8(session.layout.states_at as usize + entry as usize);
        let place = session.layout.sites_at as usize + entry as usize * at::site_entry::SIZE;
        let address = session.control.part(place).u64(at::site_entry::PROBE).load(Ordering::Acquire);
        let event = (address as *const ProbeEvent).as_ref().filter(|event| event.magic == MAGIC);
        Traced { event: event.map(Event), is_on: state.load(Ordering::Relaxed) & at::state::RING != 0 }
    }
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

/// The bits of the tracers that are asked for.
fn asked(session: &Session) -> u32 {
    // SAFETY: the header is always backed.
    unsafe { session.control.u32(at::header::PROBES_ASKED) }.load(Ordering::SeqCst)
}

/// Adds these bits; before a site is registered, its session is new here.
pub(super) fn ask(session: &Session, probes: u32) {
    if probes != 0 {
        // SAFETY: the header is always backed.
        unsafe { session.control.u32(at::header::PROBES_ASKED) }.fetch_or(probes, Ordering::SeqCst);
    }
}

/// What the state byte of a new site has of tracers.
pub(super) fn state_bit(session: &Session) -> u8 {
    if asked(session) != 0 { at::state::PROBED } else { 0 }
}

/// A site is complete: the library looks for it.
pub(super) fn wake(session: &Session) {
    if asked(session) != 0 {
        // SAFETY: the header is always backed.
        let word = unsafe { session.control.u32(at::header::PROBES_WAKE) };
        word.fetch_add(1, Ordering::Release);
        let _ = futex::wake(word, futex::Flags::empty(), i32::MAX as u32);
    }
}

/// The library is loaded, or loading it was tried.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// As [`start`] when a program that runs is asked to feed a tracer: by a thread, since loading takes long. Not
/// from a signal handler, where no thread can be started. Not in a plug-in, which may be unloaded meanwhile.
#[cold]
fn begin(session: &Session) {
    extern "C" fn run(_: *mut c_void) -> *mut c_void {
        if let Some(session) = local::existing() {
            start(session);
        }
        null_mut()
    }
    if asked(session) == 0
        || !local::IS_OF_EXECUTABLE.load(Ordering::Relaxed)
        || !signal_mask::is_empty()
        || BEGUN.swap(true, Ordering::Relaxed)
    {
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
        sys::warn(&[b"LTTng gets no events: no thread could be started"]);
    }
}

/// Loads the library that makes events of sites, if one is asked for, and gives it the session. In a forked
/// child it is loaded.
pub(super) fn start(session: &Session) {
    static KNOWN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    // A forked child does not report it again.
    static HAS_FAILED: AtomicBool = AtomicBool::new(false);
    if asked(session) & at::probes::LTTNG == 0 || HAS_FAILED.load(Ordering::Relaxed) {
        return;
    }
    BEGUN.store(true, Ordering::Relaxed);
    let mut function = KNOWN.load(Ordering::Acquire);
    if function.is_null() {
        function = load();
        if function.is_null() {
            HAS_FAILED.store(true, Ordering::Relaxed);
            return;
        }
        KNOWN.store(function, Ordering::Release);
    }
    // SAFETY: the library's function of this name has this type. It maps the file again for itself.
    unsafe {
        let start = std::mem::transmute::<*mut c_void, Start>(function);
        start(session.control.address(), session.layout.control_size as usize);
    }
}

/// The library's function; null, and one message, where it is missing.
fn load() -> *mut c_void {
    let named = sys::environment_text(c"SILVERPOINT_LTTNG_LIBRARY").filter(|name| !name.is_empty());
    let name = named.unwrap_or(LIBRARY);
    // SAFETY: both are texts that end with zero; the library's constructors do nothing.
    let function = unsafe {
        let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() { library } else { libc::dlsym(library, START.as_ptr()) }
    };
    if function.is_null() {
        // SAFETY: null, or a text that stays until this thread asks the linker for something else.
        let why = unsafe {
            let why = libc::dlerror();
            if why.is_null() { name } else { CStr::from_ptr(why) }
        };
        let why = why.to_bytes();
        sys::warn(&[
            b"SILVERPOINT_PROBES=lttng: LTTng gets no events: ",
            &why[..why.len().min(WHY_MAX)],
            b"; install libsilverpoint_lttng, or name its file in SILVERPOINT_LTTNG_LIBRARY",
        ]);
    }
    function
}
