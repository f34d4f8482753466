//! How long something that is made a slice after the other is worked on: while somebody asks for it.

use std::time::{Duration, Instant};

/// See the module.
pub struct Interest {
    asked: Instant,
    lasts: Duration,
}

impl Interest {
    /// Somebody has asked now. Without another question it lasts for so long.
    pub fn new(lasts: Duration) -> Self {
        Self { asked: Instant::now(), lasts }
    }

    /// Somebody has asked again.
    pub fn renew(&mut self) {
        self.asked = Instant::now();
    }

    /// When somebody asked last.
    pub fn asked(&self) -> Instant {
        self.asked
    }

    /// Whether it lasts.
    pub fn lasts(&self) -> bool {
        self.asked.elapsed() < self.lasts
    }
}
