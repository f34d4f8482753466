//! What the collector's thread, the sinks' threads and flushing threads report to each other.

use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use silverpoint_shm::observer::Nudge;

use crate::after_crash;
use crate::config::Sink;
use crate::quota::GivenUp;

thread_local! {
    /// The sink of the current thread: its logger (an address, never dereferenced) and its number.
    static OWN_SINK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// This logger's place among those that a crash waits for.
    pub(crate) place: after_crash::Place,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Grows whenever the collector has stored something.
    pub(crate) stored: u64,
    /// Grows with each requested flush.
    pub(crate) flush_wanted: u64,
    /// The last flush before which everything is in the spool.
    pub(crate) flush_collected: u64,
    /// The last flush with which sinks also write what they keep back.
    pub(crate) dump: u64,
    /// By sink: the last flush before which everything is in its destination.
    pub(crate) flushed: Vec<u64>,
    /// By sink: the oldest part of the spool that it still reads.
    pub(crate) oldest_parts: Vec<u64>,
    /// By sink: it has delivered everything after the collector's end.
    pub(crate) finished: Vec<bool>,
    /// By sink: it describes a crash, for which it reads the symbols of the program's files.
    pub(crate) is_describing_crash: Vec<bool>,
    /// Parts of the spool that were dropped because it had grown too large.
    pub(crate) given_up: GivenUp,
    /// By sink: records that it did not get because of that.
    pub(crate) skipped: Vec<u64>,
    /// The spool cannot be written at the moment.
    pub(crate) is_spool_failing: bool,
    /// The collector releases the sessions and ends.
    pub(crate) is_stopping: bool,
    /// It has done so; nothing more comes into the spool.
    pub(crate) has_collected: bool,
    /// Everything that was recorded is in the spool.
    pub(crate) is_whole: bool,
    /// Sinks end without delivering the rest.
    pub(crate) is_given_up: bool,
    /// A crash waits for the flush of the second number; its own is the first.
    pub(crate) crash: Option<(u32, u64)>,
    /// End the collector's sleep.
    pub(crate) nudges: Vec<Nudge>,
    /// By sink: a pending change. The sink takes it.
    pub(crate) changes: Vec<Option<Change>>,
    /// By sink: it has not yet done the last request.
    pub(crate) is_changing: Vec<bool>,
    /// New directives. The collector takes them.
    pub(crate) directives: Option<String>,
    /// The collector has not applied them yet.
    pub(crate) is_switching: bool,
    /// Grows whenever files are to be reopened.
    pub(crate) reopens: u64,
    /// Grows with each note, of which the last is kept.
    pub(crate) noted: u64,
    pub(crate) note: Option<Arc<LogNote>>,
}

/// A request to a running sink.
#[derive(Debug)]
pub(crate) enum Change {
    /// Continue with other settings.
    Settings(Box<Sink>),
    /// Deliver everything, and end.
    End,
}

/// A message of the logger in its own logs.
#[derive(Debug)]
pub(crate) struct LogNote {
    /// Since 1970.
    pub(crate) wall_ns: i64,
    pub(crate) text: String,
}

impl State {
    /// One more.
    pub(crate) fn add_sink(&mut self) {
        self.flushed.push(0);
        self.oldest_parts.push(0);
        self.finished.push(false);
        self.is_describing_crash.push(false);
        self.skipped.push(0);
        self.changes.push(None);
        self.is_changing.push(false);
    }

    /// Requests something of a running sink.
    pub(crate) fn ask(&mut self, number: usize, change: Change) {
        self.changes[number] = Some(change);
        self.is_changing[number] = true;
    }

    /// A sink has applied the change that it had taken; another one may be pending.
    pub(crate) fn has_changed(&mut self, number: usize) {
        self.is_changing[number] = self.changes[number].is_some();
    }

    /// Nothing waits for it any more.
    pub(crate) fn remove_sink(&mut self, number: usize) {
        self.flushed[number] = u64::MAX;
        self.oldest_parts[number] = u64::MAX;
        self.finished[number] = true;
        self.changes[number] = None;
        self.is_changing[number] = false;
    }

    /// Parts that no sink reads any more have lower numbers.
    pub(crate) fn oldest_part(&self) -> u64 {
        self.oldest_parts.iter().copied().filter(|part| *part != u64::MAX).min().unwrap_or(0)
    }
}

impl Shared {
    pub(crate) fn new(sinks: usize) -> Self {
        let mut state = State::default();
        (0..sinks).for_each(|_| state.add_sink());
        Self { state: Mutex::new(state), changed: Condvar::new(), place: after_crash::Place::take() }
    }

    /// From now on the calling thread belongs to the sink of this number.
    pub(crate) fn is_thread_of(self: &Arc<Self>, number: usize) {
        OWN_SINK.set(Some((Arc::as_ptr(self).addr(), number)));
    }

    /// Which of this logger's sinks the calling thread delivers, if any. A function of the program runs
    /// there, and must not wait for its own sink.
    pub(crate) fn own_sink(self: &Arc<Self>) -> Option<usize> {
        OWN_SINK.get().and_then(|(of, number)| (of == Arc::as_ptr(self).addr()).then_some(number))
    }

    /// No thread leaves the state half changed.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes all waiting threads.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = {
            let mut state = self.lock();
            let result = change(&mut state);
            if state.has_collected {
                self.place.retire();
            }
            if let Some((request, flush)) = state.crash {
                if state.flush_collected >= flush && state.flushed.iter().all(|done| *done >= flush) {
                    state.crash = None;
                    self.place.answer(request);
                }
            }
            result
        };
        self.changed.notify_all();
        result
    }

    /// Waits until `is_met` or the time is over; true when it is met.
    pub(crate) fn wait_for(&self, until: Option<Instant>, mut is_met: impl FnMut(&State) -> bool) -> bool {
        let mut state = self.lock();
        while !is_met(&state) {
            state = match until {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let Some(left) =
                        until.checked_duration_since(Instant::now()).filter(|left| *left > Duration::ZERO)
                    else {
                        return false;
                    };
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }
}
