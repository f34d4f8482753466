//! The libraries that make events of sites for system tracers, and the bits by which tracers are asked for.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

use rustix::thread::futex;

use super::at;
use super::session::Session;
use crate::sys;

/// The function of a library: it gets the mapped control file of the session.
type Start = unsafe extern "C" fn(*mut u8, usize);

/// A library that makes events of sites for a tracer.
struct Library {
    bit: u32,
    /// In `SILVERPOINT_PROBES`.
    asked: &'static str,
    /// In messages.
    receiver: &'static str,
    /// Names its file.
    variable: &'static CStr,
    file: &'static CStr,
    function: &'static CStr,
}

const LIBRARIES: [Library; 3] = [
    Library {
        bit: at::probes::LTTNG,
        asked: "lttng",
        receiver: "LTTng",
        variable: c"SILVERPOINT_LTTNG_LIBRARY",
        file: c"libsilverpoint_lttng.so.0",
        function: c"silverpoint_start_lttng",
    },
    Library {
        bit: at::probes::USER_EVENTS,
        asked: "user_events",
        receiver: "the kernel",
        variable: c"SILVERPOINT_USER_EVENTS_LIBRARY",
        file: c"libsilverpoint_user_events.so.0",
        function: c"silverpoint_start_user_events",
    },
    Library {
        bit: at::probes::TRACE_MARKER,
        asked: "trace_marker",
        receiver: "trace_marker",
        variable: c"SILVERPOINT_TRACE_MARKER_LIBRARY",
        file: c"libsilverpoint_trace_marker.so.0",
        function: c"silverpoint_start_trace_marker",
    },
];
/// Bytes of the linker's message; a long path leaves room for the advice.
const WHY_MAX: usize = 400;

/// The bits of the tracers that are asked for.
#[inline]
pub(super) fn asked(session: &Session) -> u32 {
    asked_word(session).load(Ordering::SeqCst)
}

/// Where they are.
#[inline]
pub(super) fn asked_word(session: &Session) -> &AtomicU32 {
    // SAFETY: the header is always backed.
    unsafe { session.control.u32(at::header::PROBES_ASKED) }
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

/// Bits of the tracers whose library is loaded, or is being loaded.
pub(super) static BEGUN: AtomicU32 = AtomicU32::new(0);
/// Bits of those whose library could not be loaded. A forked child does not report it again.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Loads the libraries of the tracers that are asked for, and gives them the session. In a forked child they
/// are loaded.
pub(super) fn start(session: &Session) {
    static KNOWN: [AtomicPtr<c_void>; LIBRARIES.len()] =
        [const { AtomicPtr::new(null_mut()) }; LIBRARIES.len()];
    let asked = asked(session);
    if asked == 0 {
        return;
    }
    BEGUN.fetch_or(asked, Ordering::Relaxed);
    for (library, known) in LIBRARIES.iter().zip(&KNOWN) {
        if asked & library.bit == 0 {
            continue;
        }
        let mut function = known.load(Ordering::Acquire);
        if function.is_null() && FAILED.load(Ordering::Relaxed) & library.bit == 0 {
            function = load(library);
            known.store(function, Ordering::Release);
        }
        if function.is_null() {
            FAILED.fetch_or(library.bit, Ordering::Relaxed);
            stop_asking(session, library.bit);
            BEGUN.fetch_and(!library.bit, Ordering::Relaxed);
            continue;
        }
        // SAFETY: the library's function of this name has this type. It maps the file again for itself.
        unsafe {
            let start = std::mem::transmute::<*mut c_void, Start>(function);
            start(session.control.address(), session.layout.control_size as usize);
        }
        // The library could not open the tracer: it is called again when somebody asks again.
        if self::asked(session) & library.bit == 0 {
            BEGUN.fetch_and(!library.bit, Ordering::Relaxed);
        }
    }
}

/// As [`start`], when somebody asks again: a library that was missing may be there by now.
pub(super) fn start_again(session: &Session) {
    FAILED.fetch_and(!asked(session), Ordering::Relaxed);
    start(session);
}

/// Nothing asks for a tracer that cannot be fed. Without another one, tracepoints cost what they cost without tracers.
fn stop_asking(session: &Session, bit: u32) {
    // SAFETY: the header is always backed.
    let (word, next) = unsafe {
        (session.control.u32(at::header::PROBES_ASKED), session.control.u32(at::header::SITES_NEXT))
    };
    if word.fetch_and(!bit, Ordering::SeqCst) & !bit != 0 {
        return;
    }
    for entry in 0..next.load(Ordering::Acquire).min(session.layout.sites_cap) {
        stop_probing(session, entry);
    }
}

/// The state byte of an entry of the table.
#[inline(always)]
pub(super) fn state_of(session: &Session, entry: u32) -> &AtomicU8 {
    // SAFETY: states are backed before `sites_next` passes over their site.
    unsafe { session.control.u8(session.layout.states_at as usize + entry as usize) }
}

/// If no tracer is asked for, the site of this entry costs what it costs without tracers.
pub(super) fn stop_probing(session: &Session, entry: u32) {
    if asked(session) != 0 {
        return;
    }
    let state = state_of(session, entry);
    state.fetch_and(!(at::state::PROBED | at::state::QUIET), Ordering::SeqCst);
    // A controller has asked meanwhile: its bit stays.
    if asked(session) != 0 {
        state.fetch_or(at::state::PROBED, Ordering::SeqCst);
    }
}

/// The library's function; null, and one message, where it is missing.
fn load(library: &Library) -> *mut c_void {
    let named = sys::environment_text(library.variable).filter(|name| !name.is_empty());
    let name = named.unwrap_or(library.file);
    // SAFETY: both are texts that end with zero; the library's constructors do nothing.
    let function = unsafe {
        let opened = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if opened.is_null() { opened } else { libc::dlsym(opened, library.function.as_ptr()) }
    };
    if function.is_null() {
        // SAFETY: null, or a text that stays until this thread asks the linker for something else.
        let why = unsafe {
            let why = libc::dlerror();
            if why.is_null() { name } else { CStr::from_ptr(why) }
        };
        let (why, file) = (why.to_bytes(), library.file.to_bytes());
        sys::warn(&[
            b"SILVERPOINT_PROBES=",
            library.asked.as_bytes(),
            b": ",
            library.receiver.as_bytes(),
            b" gets no events: ",
            &why[..why.len().min(WHY_MAX)],
            b"; install ",
            file.strip_suffix(b".so.0").unwrap_or(file),
            b", or name its file in ",
            library.variable.to_bytes(),
        ]);
    }
    function
}
