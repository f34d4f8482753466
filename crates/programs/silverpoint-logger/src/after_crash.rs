//! A process that crashes waits, within its signal handler, until its loggers have delivered what was
//! recorded. The code that runs there ([`drain`]) touches only atomics.
//!
//! ```text
//!  handler: WANTED + 1, looks at each slot ──▶ collector: sees it at its next pass, flushes ──▶ last sink: slot.answered
//! ```

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::thread::{NanosleepRelativeResult, nanosleep};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Loggers of one process that are waited for.
const SLOTS: usize = 8;
/// Threads of loggers that are known as such.
const THREADS: usize = 128;

static WANTED: AtomicU32 = AtomicU32::new(0);
static ALL: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];
static OWN: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];

#[derive(Debug)]
struct Slot {
    is_taken: AtomicBool,
    /// The process id; a forked child has none of its threads. 0: it has ended.
    process: AtomicU32,
    answered: AtomicU32,
}

impl Slot {
    const fn new() -> Self {
        Self { is_taken: AtomicBool::new(false), process: AtomicU32::new(0), answered: AtomicU32::new(0) }
    }
}

/// A logger whose answer is waited for, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    slot: Option<&'static Slot>,
    /// The last request before it: it answers later ones.
    pub(crate) since: u32,
}

impl Place {
    pub(crate) fn take() -> Self {
        let since = wanted();
        let free = ALL.iter().find(|slot| !slot.is_taken.swap(true, Ordering::AcqRel));
        if let Some(slot) = free {
            slot.answered.store(since, Ordering::Relaxed);
            slot.process.store(std::process::id(), Ordering::Release);
        }
        Self { slot: free, since }
    }

    /// Everything that was recorded before the request of this number is delivered.
    pub(crate) fn answer(&self, request: u32) {
        if let Some(slot) = self.slot {
            slot.answered.store(request, Ordering::Release);
        }
    }

    /// Answers no more requests.
    pub(crate) fn retire(&self) {
        self.slot.iter().for_each(|slot| slot.process.store(0, Ordering::Release));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.retire();
        if let Some(slot) = self.slot {
            slot.is_taken.store(false, Ordering::Release);
        }
    }
}

/// The calling thread belongs to a logger, until this is dropped: if it crashes, the handler does not wait.
pub(crate) struct OwnThread(Option<&'static AtomicU32>);

impl OwnThread {
    pub(crate) fn enter() -> Self {
        let tid = thread_id();
        Self(
            OWN.iter()
                .find(|slot| slot.compare_exchange(0, tid, Ordering::AcqRel, Ordering::Relaxed).is_ok()),
        )
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        self.0.iter().for_each(|slot| slot.store(0, Ordering::Release));
    }
}

/// The last request's number.
pub(crate) fn wanted() -> u32 {
    WANTED.load(Ordering::Acquire)
}

/// Waits until the process's loggers have delivered everything that was recorded before the call, but at most
/// this many milliseconds. True when they have; also where there is no logger. Returns at once when the
/// calling thread belongs to a logger. Async-signal-safe: for handlers of crashes.
pub fn drain(timeout_ms: u64) -> bool {
    let (process, tid) = (rustix::process::getpid().as_raw_nonzero().get() as u32, thread_id());
    if OWN.iter().any(|own| own.load(Ordering::Relaxed) == tid) {
        return true;
    }
    let request = WANTED.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
    let is_open = |slot: &Slot| {
        slot.process.load(Ordering::Acquire) == process
            && (slot.answered.load(Ordering::Acquire).wrapping_sub(request) as i32) < 0
    };
    let begin = now_ms();
    while ALL.iter().any(is_open) {
        if now_ms().saturating_sub(begin) >= timeout_ms {
            return false;
        }
        match nanosleep(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 }) {
            NanosleepRelativeResult::Ok | NanosleepRelativeResult::Interrupted(_) => {}
            NanosleepRelativeResult::Err(_) => return false,
        }
    }
    true
}

fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}
