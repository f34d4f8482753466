//! Limits of one tracepoint: every so many, the first so many, once in a while. Asked after the site is found to be on, before its arguments are evaluated.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The state of a limited tracepoint; shared by all threads.
pub struct Limit(AtomicU64);

impl Limit {
    /// Nothing was recorded yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The first of each `n` executions; all for 0.
    pub fn every(&self, n: u64) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) % n.max(1) == 0
    }

    /// The first `n` executions.
    pub fn first(&self, n: u64) -> bool {
        // Looked at first, so that the number does not go round.
        self.0.load(Ordering::Relaxed) < n && self.0.fetch_add(1, Ordering::Relaxed) < n
    }

    /// At most once in this time.
    pub fn per(&self, time: Duration) -> bool {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        let now = BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1;
        let next = self.0.load(Ordering::Relaxed);
        let after = now.saturating_add(time.as_nanos().min(u128::from(u64::MAX)) as u64);
        now >= next && self.0.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
