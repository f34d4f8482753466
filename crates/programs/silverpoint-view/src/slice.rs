//! How long is read on between two looks for questions: for a time, and no longer than until somebody asks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many questions wait.
#[derive(Clone, Debug, Default)]
pub struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub fn take(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Slice {
    most: Duration,
    waiting: Option<Waiting>,
}

impl Slice {
    /// For a time.
    pub fn of(most: Duration) -> Self {
        Self { most, waiting: None }
    }

    /// For a time, or until somebody asks.
    pub fn until_asked(most: Duration, waiting: &Waiting) -> Self {
        Self { most, waiting: Some(waiting.clone()) }
    }

    /// Whether what has begun then is to end.
    pub fn is_over(&self, begin: Instant) -> bool {
        self.waiting.as_ref().is_some_and(Waiting::is_there) || begin.elapsed() >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_over_after_its_time_or_once_somebody_asks() {
        let (begin, long) = (Instant::now(), Duration::from_secs(3600));
        assert!(Slice::of(Duration::ZERO).is_over(begin));
        let waiting = Waiting::default();
        let slice = Slice::until_asked(long, &waiting);
        assert!(!slice.is_over(begin));
        waiting.add();
        waiting.add();
        waiting.take();
        assert!(slice.is_over(begin));
        assert!(!Slice::of(long).is_over(begin));
        waiting.take();
        assert!(!slice.is_over(begin));
    }
}
