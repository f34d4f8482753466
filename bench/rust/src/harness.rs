//! The harness (bench/harness/harness.h) as Rust sees it.

use std::ffi::{CString, c_char, c_int};
use std::ptr;

/// A loop of `n` calls whose ids begin at `first_id`.
pub type Burst = extern "C" fn(n: u64, first_id: u64);
/// The same with the counter read around each call; `elapsed_ticks` has `n` entries.
pub type Singles = extern "C" fn(n: u64, first_id: u64, elapsed_ticks: *mut u32);

/// A tracepoint that another process switches; it is off at first.
pub struct Switching {
    /// Not 0: it would record now.
    pub is_on: extern "C" fn() -> c_int,
    /// The tracepoint itself. Not 0: its argument was evaluated.
    pub switched: extern "C" fn(id: u64) -> c_int,
}

/// One tracepoint.
pub struct Case {
    pub name: &'static str,
    pub burst: Burst,
    pub singles: Singles,
}

/// Makes the two loops of a case, with and without the counter read around each call, and the [`Case`] that names them. Arguments are in a static `INPUTS` of the caller.
macro_rules! case {
    ($name:literal, |$inputs:ident, $index:ident, $fraction:ident, $id:ident| $tracepoint:expr) => {{
        #[inline(never)]
        extern "C" fn burst(n: u64, first_id: u64) {
            let $inputs = &*INPUTS;
            let mut $fraction = 0.125_f64;
            let mut $index = 0_i32;
            for $id in first_id..first_id + n {
                $tracepoint;
                let _ = ($inputs, $index, $fraction, $id); // not every tracepoint uses all
                $fraction += 1.0;
                $index = $index.wrapping_add(1);
            }
        }
        #[inline(never)]
        extern "C" fn singles(n: u64, first_id: u64, elapsed_ticks: *mut u32) {
            // SAFETY: the harness gives a buffer of n entries that nobody else uses meanwhile.
            let elapsed_ticks = unsafe { std::slice::from_raw_parts_mut(elapsed_ticks, n as usize) };
            let $inputs = &*INPUTS;
            let mut $fraction = 0.125_f64;
            let mut $index = 0_i32;
            for ($id, elapsed) in (first_id..).zip(elapsed_ticks) {
                let before = $crate::harness::ticks();
                $tracepoint;
                *elapsed = ($crate::harness::ticks() - before) as u32;
                let _ = ($inputs, $index, $fraction, $id);
                $fraction += 1.0;
                $index = $index.wrapping_add(1);
            }
        }
        $crate::harness::Case { name: $name, burst, singles }
    }};
}
pub(crate) use case;

#[repr(C)]
struct RawCase {
    name: *const c_char,
    burst: Burst,
    singles: Singles,
}

#[repr(C)]
struct Observation {
    _private: [u64; 8],
}

#[repr(C)]
struct RawFacility {
    name: *const c_char,
    cases: *const RawCase,
    case_count: usize,
    empty: Burst,
    disabled: Burst,
    prepare_thread: Option<extern "C" fn()>,
    turn_begins: Option<extern "C" fn()>,
    turn_ends: Option<extern "C" fn()>,
    flush: Option<extern "C" fn()>,
    observe: Option<unsafe extern "C" fn(*mut Observation) -> c_int>,
    is_on: Option<extern "C" fn() -> c_int>,
    switched: Option<extern "C" fn(u64) -> c_int>,
}

unsafe extern "C" {
    fn bench_main(argc: c_int, argv: *const *const c_char, facility: *const RawFacility) -> c_int;
    fn bench_observe_session(out: *mut Observation) -> c_int;
}

/// The time stamp counter, as the floor reads it.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction; it touches no memory.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads a counter that Linux lets every program read; it touches no memory.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
}

fn c_text(text: &str) -> *const c_char {
    // Lives as long as the program: the harness keeps the pointer.
    CString::new(text).expect("no zero byte in a name or an argument").into_raw()
}

/// Runs the mode that the command line asks for; returns the exit status. `flush` returns when everything accepted has been delivered, where a session does not tell.
pub fn run(
    name: &str,
    cases: &[Case],
    empty: Burst,
    disabled: Burst,
    prepare_thread: Option<extern "C" fn()>,
    switching: Option<Switching>,
    flush: Option<extern "C" fn()>,
) -> i32 {
    // Where LTTng alone is fed there is nothing to observe: babeltrace2 counts what has arrived.
    let asks = |name| std::env::var_os(name).is_some();
    let has_ring = asks("BENCH_RING") || !asks("BENCH_LTTNG_GATE");
    let raw: Vec<RawCase> = cases
        .iter()
        .map(|case| RawCase { name: c_text(case.name), burst: case.burst, singles: case.singles })
        .collect();
    let facility = RawFacility {
        name: c_text(name),
        cases: raw.as_ptr(),
        case_count: raw.len(),
        empty,
        disabled,
        prepare_thread,
        turn_begins: None,
        turn_ends: None,
        flush,
        observe: has_ring.then_some(bench_observe_session as _),
        is_on: switching.as_ref().map(|one| one.is_on),
        switched: switching.as_ref().map(|one| one.switched),
    };
    let mut arguments: Vec<*const c_char> = std::env::args().map(|argument| c_text(&argument)).collect();
    let count = arguments.len() as c_int;
    arguments.push(ptr::null());
    // SAFETY: the layouts are those of harness.h. `arguments` ends with a null pointer. `facility` and what it points to outlive the call. Its
    // functions write only into the buffer they are given.
    unsafe { bench_main(count, arguments.as_ptr(), &raw const facility) }
}
