//! Timeout for late records of silent sessions.

use std::time::{Duration, Instant};

use super::Trace;

/// Default timeout: after this time without growth, records beyond the watermarks are given too.
const PATIENCE: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Debug)]
pub(super) struct Patience {
    /// How long.
    pub(super) time: Duration,
    /// By session: how often it had changed, and when that was seen first.
    changes: Vec<(u64, Instant)>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { time: PATIENCE, changes: Vec::new() }
    }
}

impl Patience {
    /// The least time, in the common order, that any session may still bring. One that has been silent for a while does not hold up the others.
    pub(super) fn bound_ns(&mut self, trace: &Trace) -> i64 {
        let now = Instant::now();
        let sessions = &trace.sessions;
        self.changes.resize(sessions.len(), (0, now));
        let mut bound = i64::MAX;
        for (session, (changes, at)) in sessions.iter().zip(&mut self.changes) {
            if session.changes != *changes {
                (*changes, *at) = (session.changes, now);
            }
            if session.watermark != u64::MAX && now.duration_since(*at) < self.time {
                bound = bound.min(session.order.wall_ns(session.watermark));
            }
        }
        bound
    }
}
