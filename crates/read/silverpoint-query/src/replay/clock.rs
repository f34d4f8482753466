//! The clock of a replay: it gives the time, and waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A clock that can be waited for. Its times begin anywhere, and never go back.
pub trait Clock {
    /// Now.
    fn now(&mut self) -> Duration;

    /// Returns at this time, or soon after it; at once when it has passed. False: the wait was interrupted,
    /// and nothing more is to happen.
    fn sleep_until(&mut self, time: Duration) -> bool;
}

/// Real time: it sleeps.
#[derive(Debug)]
pub struct RealTime {
    begin: Instant,
    stop: Option<Arc<AtomicBool>>,
}

/// Interval between two checks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

impl Default for RealTime {
    fn default() -> Self {
        Self::new()
    }
}

impl RealTime {
    /// Begins at 0.
    pub fn new() -> Self {
        Self { begin: Instant::now(), stop: None }
    }

    /// As [`RealTime::new`]; sleeps end within a twentieth of a second when the flag is set, as by a handler of signals.
    pub fn until(stop: Arc<AtomicBool>) -> Self {
        Self { stop: Some(stop), ..Self::new() }
    }
}

impl Clock for RealTime {
    fn now(&mut self) -> Duration {
        self.begin.elapsed()
    }

    fn sleep_until(&mut self, time: Duration) -> bool {
        loop {
            if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return false;
            }
            let left = time.saturating_sub(self.begin.elapsed());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(if self.stop.is_some() { left.min(LOOK) } else { left });
        }
    }
}

/// A clock that stands still until `sleep_until` is called, and then jumps to that time.
#[derive(Clone, Debug, Default)]
pub struct Virtual {
    /// Now. Code that takes time adds it here.
    pub now: Duration,
}

impl Clock for Virtual {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn sleep_until(&mut self, time: Duration) -> bool {
        self.now = self.now.max(time);
        true
    }
}
