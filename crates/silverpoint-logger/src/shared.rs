//! What the collector's thread, the sinks' threads and whoever flushes tell each other.

use std::cell::Cell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use silverpoint_shm::observer::Nudge;

use crate::config::Sink;
use crate::crash;
use crate::quota::GivenUp;

thread_local! {
    /// The sink whose thread this is: whose (an address, never followed) and which.
    static OWN_SINK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Of this logger among those that a crash waits for.
    pub(crate) place: crash::Place,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Grows whenever the collector has stored something.
    pub(crate) stored: u64,
    /// Grows with each flush that is asked for.
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
    /// Parts of the spool that were given up because it had grown too large.
    pub(crate) given_up: GivenUp,
    /// By sink: records that it has not got because of that.
    pub(crate) skipped: Vec<u64>,
    /// The spool cannot be written at the moment.
    pub(crate) is_spool_failing: bool,
    /// The collector gives the sessions back and ends.
    pub(crate) is_stopping: bool,
    /// It has; nothing more comes into the spool.
    pub(crate) has_collected: bool,
    /// With everything that was recorded in the spool.
    pub(crate) is_whole: bool,
    /// Sinks end without delivering what is left.
    pub(crate) is_given_up: bool,
    /// A crash waits for the flush of the second number; its own is the first.
    pub(crate) crash: Option<(u32, u64)>,
    /// End the collector's sleep.
    pub(crate) nudges: Vec<Nudge>,
    /// By sink: what it shall do differently. It takes it.
    pub(crate) changes: Vec<Option<Change>>,
    /// By sink: it has not yet done what was last wanted of it.
    pub(crate) is_changing: Vec<bool>,
    /// What shall be recorded from now on. The collector takes it.
    pub(crate) directives: Option<String>,
    /// It has not done so yet.
    pub(crate) is_switching: bool,
    /// Grows whenever files are to be opened anew.
    pub(crate) reopens: u64,
    /// Grows with each note, of which the last is kept.
    pub(crate) noted: u64,
    pub(crate) note: Option<Arc<LogNote>>,
}

/// What a sink that runs shall do.
#[derive(Debug)]
pub(crate) enum Change {
    /// Go on with other settings.
    Settings(Box<Sink>),
    /// Deliver what there is, and end.
    End,
}

/// What a logger says in its own logs.
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

    /// Wants something of a sink that runs.
    pub(crate) fn ask(&mut self, number: usize, change: Change) {
        self.changes[number] = Some(change);
        self.is_changing[number] = true;
    }

    /// A sink has done what it had taken; meanwhile something else may be wanted.
    pub(crate) fn has_changed(&mut self, number: usize) {
        self.is_changing[number] = self.changes[number].is_some();
    }

    /// Nobody waits for it any more.
    pub(crate) fn remove_sink(&mut self, number: usize) {
        self.flushed[number] = u64::MAX;
        self.oldest_parts[number] = u64::MAX;
        self.finished[number] = true;
        self.changes[number] = None;
        self.is_changing[number] = false;
    }

    /// What no sink reads any more has lower numbers.
    pub(crate) fn oldest_part(&self) -> u64 {
        self.oldest_parts.iter().copied().filter(|part| *part != u64::MAX).min().unwrap_or(0)
    }
}

impl Shared {
    pub(crate) fn new(sinks: usize) -> Self {
        let mut state = State::default();
        (0..sinks).for_each(|_| state.add_sink());
        Self { state: Mutex::new(state), changed: Condvar::new(), place: crash::Place::take() }
    }

    /// The calling thread is that of the sink of this number from now on.
    pub(crate) fn is_thread_of(self: &Arc<Self>, number: usize) {
        OWN_SINK.set(Some((Arc::as_ptr(self).addr(), number)));
    }

    /// Which of this logger's sinks the calling thread delivers, if it does: a function of the program's is called there, and what it waits for is not its own sink.
    pub(crate) fn own_sink(self: &Arc<Self>) -> Option<usize> {
        OWN_SINK.get().and_then(|(of, number)| (of == Arc::as_ptr(self).addr()).then_some(number))
    }

    /// No thread leaves the state half changed.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes everybody who waits.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = {
            let mut state = self.lock();
            let result = change(&mut state);
            if state.has_collected {
                self.place.retire();
            }
            if let Some((request, flush)) = state.crash
                && state.flush_collected >= flush
                && state.flushed.iter().all(|done| *done >= flush)
            {
                state.crash = None;
                self.place.answer(request);
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
