//! For adapters of other facades (`tracing`, `log`) that remember what is off: what the directives say now, and a wait until they are others
//! (spec/wire.md, section 8).

use std::sync::atomic::Ordering;

use rustix::thread::futex;
use silverpoint_wire::directive;

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
            // Woken by whoever changes them; an early return is looked at again.
            let _ = futex::wait(word, futex::Flags::empty(), seen, None);
        } else if now.is_multiple_of(2) || patience == 0 {
            return Some(now);
        } else {
            patience -= 1;
            let moment = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            let _ = futex::wait(word, futex::Flags::empty(), now, Some(&moment));
        }
    }
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
        let now = clock::Instant::now(session.source);
        (now.monotonic_ns.saturating_sub(then_ns), now.ticks.saturating_sub(then_ticks).max(1))
    };
    u64::try_from(u128::from(ticks) * u128::from(per) / u128::from(of)).unwrap_or(u64::MAX)
}
