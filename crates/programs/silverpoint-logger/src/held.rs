//! A logger that starts while a library is being loaded, as in a constructor of a static. Then the calling
//! thread holds the loader's lock. A new thread needs that lock before it runs any code (it registers
//! destructors of its own data). To wait for such a thread would be a deadlock.
//!
//! So the caller begins the work itself if the collector's thread does not start. The threads' work is stored
//! here. Until they take it, a flush and the end of the logger run in the calling thread.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::collecting::Collecting;
use crate::deliver::Delivery;

/// The work of threads that do not run yet.
#[derive(Default)]
pub(crate) struct Held {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    collecting: Option<Collecting>,
    deliveries: Vec<Delivery>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}

impl Held {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hold_collecting(&self, collecting: Collecting) {
        self.lock().collecting = Some(collecting);
    }

    pub(crate) fn hold_delivery(&self, delivery: Delivery) {
        self.lock().deliveries.push(delivery);
    }

    /// For the collector's thread, which runs now.
    pub(crate) fn take_collecting(&self) -> Option<Collecting> {
        self.lock().collecting.take()
    }

    /// For a sink's thread, which runs now.
    pub(crate) fn take_delivery(&self, number: usize) -> Option<Delivery> {
        let mut state = self.lock();
        let at = state.deliveries.iter().position(|one| one.number() == number)?;
        Some(state.deliveries.swap_remove(at))
    }

    /// Collects all records into the spool, and answers a flush.
    pub(crate) fn collect(&self) {
        if let Some(collecting) = &mut self.lock().collecting {
            collecting.flush();
        }
    }

    /// Delivers what is in the spool.
    pub(crate) fn deliver(&self) {
        for delivery in &mut self.lock().deliveries {
            delivery.flush();
        }
    }

    /// The logger ends: releases the sessions.
    pub(crate) fn end_collecting(&self) {
        if let Some(collecting) = self.take_collecting() {
            collecting.end();
        }
    }

    /// The logger ends: delivers the rest. True when there was something to end here.
    pub(crate) fn end_deliveries(&self) {
        let deliveries = std::mem::take(&mut self.lock().deliveries);
        deliveries.into_iter().for_each(Delivery::end);
    }
}
