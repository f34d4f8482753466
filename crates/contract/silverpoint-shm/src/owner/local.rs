//! What is this process image's alone: memory that the kernel wipes on fork.
//!
//! A forked child finds it zero: no session, no rings, every lane empty. So the first record of each thread, and every registration, falls into the
//! cold path, which makes the child's own session. That is all there is to fork: no handler, no pid check on the hot path.
//!
//! ```text
//!  one anonymous mapping, MADV_WIPEONFORK, backed as it is touched
//!  ┌───────┬──────────────────┬──────────────────┬───────────┬───────────┬────────────────────┐
//!  │ Local │ lane 0 of each   │ lane 1 of each   │ lane 2    │ lane 3    │ contexts of each   │
//!  │       │ thread's slot    │ thread's slot    │           │           │ thread's slot      │
//!  └───────┴──────────────────┴──────────────────┴───────────┴───────────┴────────────────────┘
//! ```

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags};
use rustix::thread::futex;

use super::contexts::Contexts;
use super::lane::{LANES, Lane};
use super::remembered::Remembered;
use super::session::{self, Origin, Session};
use super::settings::Settings;
use super::{anchors, at, sweep, tracer_libraries};
use crate::sys;

/// Threads of one process that can have rings at the same time.
pub(crate) const MAX_THREADS: usize = 16_384;

const LOCAL_BYTES: usize = 64 << 10;
const CONTEXTS_AT: usize = LOCAL_BYTES + LANES * MAX_THREADS * size_of::<Lane>();
const MAPPING_BYTES: usize = CONTEXTS_AT + MAX_THREADS * size_of::<Contexts>();
const _: () = assert!(size_of::<Local>() <= LOCAL_BYTES && LOCAL_BYTES % align_of::<Lane>() == 0);
const _: () = assert!(CONTEXTS_AT % align_of::<Contexts>() == 0);

const READY: u32 = 1;
const UNAVAILABLE: u32 = 2;

/// The start of the mapping. All zero is its first state.
pub(crate) struct Local {
    /// 0 → READY or UNAVAILABLE.
    stage: AtomicU32,
    /// The thread that makes the session, or has made it; 0: nobody yet.
    maker: AtomicU32,
    /// Where the search for slots of dead threads goes on.
    pub(crate) slots_cursor: AtomicU32,
    /// The process's id, once somebody has asked for it; 0: not yet.
    pub(crate) process: AtomicU32,
    pub(crate) remembered: Remembered,
    /// The session's word with the bits of the tracers that are asked for; null: there is no session yet.
    asked: AtomicPtr<AtomicU32>,
}

/// Threads' slots ever used, in this process and those it was forked from. A child begins behind its parent's, because the thread that forked still
/// points to its own.
pub(crate) static SLOTS_USED: AtomicU32 = AtomicU32::new(0);

static LOCAL: AtomicPtr<Local> = AtomicPtr::new(null_mut());

/// Survives a fork: the child needs the parent's addresses.
static SESSION: SessionCell = SessionCell(UnsafeCell::new(MaybeUninit::uninit()));
static HAS_SESSION: AtomicBool = AtomicBool::new(false);
/// And not of a shared object that may be unloaded. Known with the session.
pub(super) static IS_OF_EXECUTABLE: AtomicBool = AtomicBool::new(false);

struct SessionCell(UnsafeCell<MaybeUninit<Session>>);
// SAFETY: written only by the one thread that is the maker, read only when the stage is READY.
unsafe impl Sync for SessionCell {}

/// The session, made or joined by the first caller. `None`: this process has none (privileged, switched off, no usable root), or this call interrupted the
/// making of it in this same thread.
pub(crate) fn session() -> Option<(&'static Session, &'static Local)> {
    let local = match LOCAL.load(Ordering::Acquire) {
        null if null.is_null() => allocate()?,
        // SAFETY: published by `allocate`, never unmapped.
        local => unsafe { &*local },
    };
    loop {
        match local.stage.load(Ordering::Acquire) {
            // SAFETY: READY is stored after the session was written, and it is not written again in this process image.
            READY => return Some((unsafe { (*SESSION.0.get()).assume_init_ref() }, local)),
            UNAVAILABLE => return None,
            stage => {
                // Who makes it says so in one step: a signal handler that interrupts the making finds that it is its own thread.
                let tid = sys::thread_id();
                match local.maker.compare_exchange(0, tid, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => {
                        let stage = if make() { READY } else { UNAVAILABLE };
                        local.stage.store(stage, Ordering::Release);
                        let _ = futex::wake(&local.stage, futex::Flags::PRIVATE, i32::MAX as u32);
                        if let Some(session) = existing() {
                            let word = tracer_libraries::asked_word(session);
                            local.asked.store(ptr::from_ref(word).cast_mut(), Ordering::Relaxed);
                            tracer_libraries::start(session);
                        }
                    }
                    // Unless the handler came before, and has made it.
                    Err(maker) if maker == tid && local.stage.load(Ordering::Acquire) == stage => {
                        return None;
                    }
                    Err(_) => {
                        let timeout = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
                        let _ = futex::wait(&local.stage, futex::Flags::PRIVATE, stage, Some(&timeout));
                    }
                }
            }
        }
    }
}

/// Why this process has no session: 0 when it has one, or none was asked for; `OFF`, `PRIVILEGED`, or the system's error.
static ABSENCE: AtomicI32 = AtomicI32::new(0);
const OFF: i32 = -1;
const PRIVILEGED: i32 = -2;

/// Why a process has no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The variable `SILVERPOINT_OFF` of the environment says so.
    Off,
    /// It runs with more privileges than its user has (setuid).
    Privileged,
    /// The system's error.
    Failed(i32),
}

/// Why [`start`](super::start()) gave false; `None` when there is a session, or none was asked for.
pub fn absence() -> Option<Absence> {
    match ABSENCE.load(Ordering::Acquire) {
        _ if existing().is_some() => None,
        0 => None,
        OFF => Some(Absence::Off),
        PRIVILEGED => Some(Absence::Privileged),
        error => Some(Absence::Failed(error)),
    }
}

/// The mapping if there is one.
#[inline]
pub(crate) fn mapped() -> Option<&'static Local> {
    // SAFETY: published by `allocate`, never unmapped.
    unsafe { LOCAL.load(Ordering::Acquire).as_ref() }
}

/// The session if there is one, without making it.
#[inline]
pub(crate) fn existing() -> Option<&'static Session> {
    let local = LOCAL.load(Ordering::Acquire);
    // SAFETY: as in `session`.
    unsafe {
        (!local.is_null() && (*local).stage.load(Ordering::Acquire) == READY)
            .then(|| (*SESSION.0.get()).assume_init_ref())
    }
}

/// The bits of the tracers that are asked for; without a session, as in a forked child, those of none.
///
/// # Safety
///
/// This process, or one that it was forked from, has had a session.
#[inline(always)]
pub(crate) unsafe fn asked_tracers() -> u32 {
    // SAFETY: published by `allocate` before a session is made, never unmapped.
    let word = unsafe { (*LOCAL.load(Ordering::Acquire)).asked.load(Ordering::Relaxed) };
    // SAFETY: null, or in the control file, which stays mapped.
    unsafe { word.as_ref() }.map_or(0, |word| word.load(Ordering::Relaxed))
}

/// The process's id, as soon as it has been asked for; 0 before that, and in a forked child.
#[inline]
pub(crate) fn process() -> u32 {
    let local = LOCAL.load(Ordering::Acquire);
    // SAFETY: published by `allocate`, never unmapped.
    unsafe { local.as_ref() }.map_or(0, |local| local.process.load(Ordering::Relaxed))
}

/// Called by the one thread that is the maker.
#[cold]
#[inline(never)] // Its room on the stack, some pages, would be touched by each thread that asks for the session.
fn make() -> bool {
    let slot = SESSION.0.get();
    let made = if HAS_SESSION.load(Ordering::Acquire) {
        // Forked: what is mapped is the parent's.
        // SAFETY: set once a session was written.
        let parent = unsafe { (*slot).assume_init_ref() };
        session::join_or_create(&Origin::Forked(parent))
    } else {
        if sys::is_privileged() {
            ABSENCE.store(PRIVILEGED, Ordering::Release);
            return false;
        }
        let settings = Settings::from_environment();
        if settings.off {
            ABSENCE.store(OFF, Ordering::Release);
            return false;
        }
        let made = session::join_or_create(&Origin::Fresh(&settings));
        if let Ok(session) = &made {
            tracer_libraries::ask(session, settings.probes);
        }
        if let Err(error) = made {
            let mut digits = [0; 20];
            let number = crate::root::decimal(error.raw_os_error().unsigned_abs().into(), &mut digits);
            if let Some(path) = crate::root::refused() {
                sys::warn(&[
                    b"SILVERPOINT_DIR names ",
                    path,
                    b", which is no directory of mode 0700 of this user: nothing is recorded (error ",
                    number,
                    b")",
                ]);
            } else if settings.filter.is_some() || settings.collector_expected {
                sys::warn(&[
                    b"no session could be made, nothing is recorded (error ",
                    number,
                    b"); `silverpoint doctor` shows why",
                ]);
            }
        }
        made
    };
    let session = match made {
        Ok(session) => session,
        Err(error) => {
            ABSENCE.store(error.raw_os_error(), Ordering::Release);
            return false;
        }
    };
    // SAFETY: this thread alone is the maker; nobody has a reference before READY. In a forked child the value replaced is the parent's, whose
    // only reader was this thread.
    let session = unsafe { (*slot).write(session) };
    let fresh = !HAS_SESSION.swap(true, Ordering::Release);
    if sys::is_in_executable() {
        IS_OF_EXECUTABLE.store(true, Ordering::Relaxed);
        // SAFETY: the header is always backed.
        unsafe { session.control.u32(at::header::EXECUTABLE) }
            .store(at::control::EXECUTABLE_THERE, Ordering::SeqCst);
    }
    if session.copy == 1 {
        anchors::add(session);
        if fresh {
            sweep::at_start(session);
        }
    }
    true
}

fn allocate() -> Option<&'static Local> {
    // Miri knows neither files in shared memory nor futexes between processes: there is no session, and all sites are off.
    if cfg!(miri) {
        return None;
    }
    // SAFETY: a new private mapping; its advice concerns nobody else. Zero is a valid Local and a valid Lane.
    unsafe {
        let address = rustix::mm::mmap_anonymous(
            null_mut(),
            MAPPING_BYTES,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
        .ok()?;
        if rustix::mm::madvise(address, MAPPING_BYTES, Advice::LinuxWipeOnFork).is_err() {
            let _ = rustix::mm::munmap(address, MAPPING_BYTES);
            return None;
        }
        match LOCAL.compare_exchange(null_mut(), address.cast(), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(&*address.cast::<Local>()),
            Err(other) => {
                let _ = rustix::mm::munmap(address, MAPPING_BYTES);
                Some(&*other)
            }
        }
    }
}

/// Gives all rings of this copy back, when its shared object is unloaded.
pub(crate) fn retire_all_rings(session: &Session) {
    let Some(local) = mapped() else { return };
    let used = SLOTS_USED.load(Ordering::Acquire).min(MAX_THREADS as u32) as usize;
    for slot in 0..used {
        (0..LANES).for_each(|number| local.lane(slot, number).retire(session));
    }
}

/// Gives back the memory that this copy has mapped, when its shared object is unloaded.
///
/// # Safety
/// No code of this copy runs in another thread, nor will. What remains of it in other threads are
/// thread-locals that point to lanes, and go with the object.
pub(crate) unsafe fn unmap_everything() {
    let local = LOCAL.swap(null_mut(), Ordering::AcqRel);
    if HAS_SESSION.swap(false, Ordering::AcqRel) {
        // SAFETY: written, as the flag shows; by the caller it is not used any more.
        unsafe { (*SESSION.0.get()).assume_init_ref().unmap() };
    }
    if !local.is_null() {
        session::unmap(local.cast(), MAPPING_BYTES);
    }
}

impl Local {
    /// A lane of a thread's slot.
    #[inline]
    pub(crate) fn lane(&'static self, slot: usize, lane: usize) -> &'static Lane {
        assert!(slot < MAX_THREADS && lane < LANES);
        // SAFETY: within the mapping, aligned, and zero is a valid Lane.
        unsafe {
            let lanes = std::ptr::from_ref(self).cast::<u8>().add(LOCAL_BYTES).cast::<Lane>();
            &*lanes.add(lane * MAX_THREADS + slot)
        }
    }

    /// The contexts of a thread's slot.
    pub(crate) fn contexts(&'static self, slot: usize) -> &'static Contexts {
        assert!(slot < MAX_THREADS);
        // SAFETY: within the mapping, aligned, and zero is a valid Contexts.
        unsafe {
            let first = std::ptr::from_ref(self).cast::<u8>().add(CONTEXTS_AT).cast::<Contexts>();
            &*first.add(slot)
        }
    }

    /// The slot that a lane 0 belongs to; `None` when it is no lane 0 of this mapping.
    #[inline]
    pub(crate) fn slot_of(&'static self, lane: *const Lane) -> Option<usize> {
        let first = std::ptr::from_ref(self.lane(0, 0)) as usize;
        let offset = (lane as usize).checked_sub(first)?;
        (offset < MAX_THREADS * size_of::<Lane>()).then_some(offset / size_of::<Lane>())
    }
}
