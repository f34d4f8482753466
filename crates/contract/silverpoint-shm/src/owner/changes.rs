//! For adapters of other facades (`tracing`, `log`) that remember which sites are off. It gives the present
//! directives, and waits for their next change (spec/wire.md, section 8).

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex;
use silverpoint_wire::directive;

use super::session::Session;
use super::sites::{self, Description};
use super::{at, local};
use crate::clock;
use crate::sys::ErrnoGuard;

/// Whether the directives, as they are now, switch such a site on; false without a session. Costs the evaluation of the directives, some hundred nanoseconds
/// each.
pub fn would_record(description: &Description<'_>) -> bool {
    let _errno = ErrnoGuard::new();
    local::session().is_some_and(|(session, _)| sites::is_on(session, description))
}

/// The most verbose level (0 trace to 5 fatal) that any site may be on at, as the directives are now; `None`: nothing is on.
pub fn most_verbose() -> Option<u8> {
    let _errno = ErrnoGuard::new();
    let (session, _) = local::session()?;
    sites::with_directives(session, directive::most_verbose)?.map(|level| level as u8)
}

/// Number of the directives that hold now; odd while they are being written. `None` without a session.
pub fn generation() -> Option<u32> {
    let _errno = ErrnoGuard::new();
    let (session, _) = local::session()?;
    // SAFETY: the header is always backed.
    Some(unsafe { session.control.u32(at::header::GENERATION) }.load(Ordering::Acquire))
}

/// Sleeps until the directives are others than those of number `seen`, and whole; gives their number. `None` without a session.
///
/// A writer that died while it wrote leaves them odd for ever: those are taken as they stand after a second.
pub fn wait_for_change(seen: u32) -> Option<u32> {
    let _errno = ErrnoGuard::new();
    let (session, _) = local::session()?;
    // SAFETY: the header is always backed.
    let word = unsafe { session.control.u32(at::header::GENERATION) };
    let mut patience = 100;
    loop {
        let now = word.load(Ordering::Acquire);
        if now == seen {
            // Woken by the process that changes them; after an early return it checks again.
            let _ = futex::wait(word, futex::Flags::empty(), seen, None);
        } else if now % 2 == 0 || patience == 0 {
            return Some(now);
        } else {
            patience -= 1;
            let moment = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ = futex::wait(word, futex::Flags::empty(), now, Some(&moment));
        }
    }
}

/// A thread that makes adapters apply new directives. The process that changes them waits for that
/// (spec/wire.md, section 8).
#[derive(Debug)]
pub struct Follower {
    /// `None`: the table is full, and nothing waits for it.
    entry: Option<usize>,
}

impl Follower {
    /// For a thread that is about to be started: changes from now on wait for it. Gives the number of the directives now, for [`wait_for_change`]. `None` without a session.
    pub fn start() -> Option<(Self, u32)> {
        let _errno = ErrnoGuard::new();
        let (session, _) = local::session()?;
        let entry = (0..at::control::FOLLOWERS_CAP).find(|entry| {
            let claimed = word(session, *entry, 0).compare_exchange(
                0,
                at::control::FOLLOWER_STARTS,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            claimed.is_ok()
        });
        let follower = Self { entry };
        // After the claim: a change in between is waited for by its writer, and found by the thread.
        let seen = generation()?;
        follower.has_followed(seen);
        Some((follower, seen))
    }

    /// The calling thread is it.
    pub fn is_this_thread(&self) {
        self.put(0, crate::sys::thread_id());
    }

    /// Everything that remembers directives has asked again since those of this number.
    pub fn has_followed(&self, seen: u32) {
        self.put(4, seen);
    }

    fn put(&self, at: usize, value: u32) {
        let _errno = ErrnoGuard::new();
        if let (Some(entry), Some((session, _))) = (self.entry, local::session()) {
            let word = word(session, entry, at);
            word.store(value, Ordering::Release);
            let _ = futex::wake(word, futex::Flags::empty(), u32::MAX >> 1);
        }
    }
}

/// Nothing waits for it any more.
impl Drop for Follower {
    fn drop(&mut self) {
        self.put(0, 0);
    }
}

/// A word of an entry of the table of followers.
fn word(session: &Session, entry: usize, at: usize) -> &'static AtomicU32 {
    // SAFETY: the header is always backed, and the table lies in it.
    unsafe { session.control.u32(at::header::FOLLOWERS + entry * at::control::FOLLOWER_ENTRY + at) }
}

/// So many ticks in nanoseconds; 0 without a session.
pub fn ticks_to_ns(ticks: u64) -> u64 {
    let _errno = ErrnoGuard::new();
    let Some((session, _)) = local::session() else { return 0 };
    // SAFETY: the header is always backed, and so is the first anchor, which is made with the session.
    let (frequency, then_ticks, then_ns) = unsafe {
        let anchor = session.control.part(session.layout.anchors_at as usize);
        (
            session.control.u64(at::header::TICKS_PER_SECOND).load(Ordering::Relaxed),
            anchor.u64(0).load(Ordering::Relaxed),
            anchor.u64(8).load(Ordering::Relaxed),
        )
    };
    let (per, of) = if frequency != 0 {
        (1_000_000_000, frequency)
    } else {
        let now = clock::anchor_now(session.source);
        (now.monotonic_ns.saturating_sub(then_ns), now.ticks.saturating_sub(then_ticks).max(1))
    };
    u64::try_from(u128::from(ticks) * u128::from(per) / u128::from(of)).unwrap_or(u64::MAX)
}
