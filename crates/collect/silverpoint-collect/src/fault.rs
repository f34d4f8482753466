//! Places where a test kills the process. Without the feature `fault-points` there are none.
//!
//! `SILVERPOINT_FAULT=<name>:<n>` raises SIGKILL when execution reaches the place of that name for the n-th
//! time (from 1). A collector must survive a death at any moment; these are the important ones.
//! `<name>:<n>:halt` raises SIGSTOP instead, so that another process can die meanwhile.

/// All names, in the order in which a collector passes them.
pub const NAMES: [&str; 14] = [
    "before-intent",
    "after-intent",
    "mid-write",
    "after-write",
    "mid-release",
    "after-release",
    GIVING_BACK,
    "before-rename",
    "after-create",
    "after-link",
    "after-rename",
    "mid-end",
    "after-rotation",
    "mid-takeover",
];

/// While an empty ring is reserved, and before and after each piece of its memory that is given back.
pub const GIVING_BACK: &str = "mid-giving-back";

/// Kills the process if the environment says so.
#[inline(always)]
pub(crate) fn point(name: &str) {
    if reached(name) {
        kill();
    }
}

/// Counts a passing; true when this is the one at which to die. For places that must leave something half done first.
#[inline(always)]
pub(crate) fn reached(name: &str) -> bool {
    #[cfg(feature = "fault-points")]
    return armed::reached(name);
    #[cfg(not(feature = "fault-points"))]
    {
        let _ = name;
        false
    }
}

/// Ends the process as a kill does, now.
pub(crate) fn kill() {
    crate::platform::kill()
}

#[cfg(feature = "fault-points")]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Wanted {
        place: String,
        nth: u64,
        halts: bool,
    }

    static WANTED: OnceLock<Option<Wanted>> = OnceLock::new();
    static PASSED: AtomicU64 = AtomicU64::new(0);

    pub(super) fn reached(name: &str) -> bool {
        let wanted = WANTED.get_or_init(|| {
            let text = std::env::var("SILVERPOINT_FAULT").ok()?;
            let (place, nth) = text.split_once(':')?;
            let (nth, action) = nth.split_once(':').unwrap_or((nth, ""));
            Some(Wanted { place: place.to_owned(), nth: nth.parse().ok()?, halts: action == "halt" })
        });
        let Some(wanted) = wanted.as_ref().filter(|wanted| wanted.place == name) else { return false };
        let is_it = PASSED.fetch_add(1, Ordering::Relaxed) + 1 == wanted.nth;
        if is_it && wanted.halts {
            crate::platform::halt();
        }
        is_it && !wanted.halts
    }
}
