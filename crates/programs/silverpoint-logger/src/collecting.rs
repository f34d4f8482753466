//! The collector's thread.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use silverpoint_collect::{Collector, Message, Pass};
use silverpoint_shm::observer::SessionName;

use crate::after_crash;
use crate::control::{Control, Watch};
use crate::error::say;
use crate::quota::{self, Quota};
use crate::shared::Shared;
use crate::spool::Spool;

/// Passes that serve every ring: after the first, everything that existed before is stored.
const SETTLED: u32 = 2;
/// Most passes until a flush has seen everything that existed when it was requested.
const FLUSH_PASSES: usize = 1000;
/// Interval between two checks, at the end, whether the spool can be written again.
const RETRY: Duration = Duration::from_millis(20);

/// Collects into the spool until the logger stops. Dropped before that, it releases the sessions.
pub(crate) struct Collecting {
    /// `None` when it has left.
    collector: Option<Collector>,
    pub(crate) spool: Arc<Spool>,
    shared: Arc<Shared>,
    pub(crate) sessions: Vec<SessionName>,
    quota: Quota,
    /// The spool could not be written at the last pass.
    is_failing: bool,
}

impl Collecting {
    pub(crate) fn new(collector: Collector, quota: Quota, spool: Arc<Spool>, shared: Arc<Shared>) -> Self {
        Self { collector: Some(collector), spool, shared, sessions: Vec::new(), quota, is_failing: false }
    }

    /// One pass over everything. What concerns other threads is reported to them.
    pub(crate) fn pass(&mut self) -> Pass {
        let Some(collector) = &mut self.collector else { return Pass::default() };
        self.spool.keep_locks();
        let pass = collector.pass();
        tell(collector.take_messages());
        let sessions = collector.sessions();
        if sessions != self.sessions {
            note(&self.spool, &sessions);
            let nudges = collector.nudges();
            self.shared.change(|state| state.nudges = nudges);
            self.sessions = sessions;
        }
        let removed = self.quota.enforce(&self.spool, collector.stats().rotations);
        if pass.bytes > 0 || !removed.is_empty() || pass.is_failing != self.is_failing {
            self.is_failing = pass.is_failing;
            self.shared.change(|state| {
                quota::add(&mut state.given_up, removed);
                state.is_spool_failing = pass.is_failing;
                state.stored += u64::from(pass.bytes > 0);
            });
        }
        pass
    }

    /// The thread.
    pub(crate) fn run(mut self, control: &Arc<Control>) {
        let _own = after_crash::OwnThread::enter();
        let mut watch = Watch::new(control);
        let (mut removed, mut crashes) = (0, self.shared.place.since);
        loop {
            let crash = after_crash::wanted();
            if std::mem::replace(&mut crashes, crash) != crash {
                self.shared.change(|state| {
                    state.flush_wanted += 1;
                    state.crash = Some((crash, state.flush_wanted));
                });
            }
            watch.look(control);
            let (wanted, collected, is_stopping, oldest, directives);
            {
                let mut state = self.shared.lock();
                (wanted, collected, is_stopping) =
                    (state.flush_wanted, state.flush_collected, state.is_stopping);
                oldest = state.oldest_part();
                directives = state.directives.take();
            }
            if let Some(text) = directives {
                self.record(&text);
            }
            self.pass();
            if wanted > collected && self.drain() {
                self.shared.change(|state| state.flush_collected = wanted);
            }
            if oldest > removed + 1 {
                self.remove_parts(oldest);
                removed = oldest - 1;
            }
            if is_stopping {
                break;
            }
            if let Some(collector) = &mut self.collector {
                collector.rest();
            }
        }
        self.end();
    }

    /// Answers a flush in place of the thread, which does not run yet.
    pub(crate) fn flush(&mut self) {
        let (wanted, collected) = {
            let state = self.shared.lock();
            (state.flush_wanted, state.flush_collected)
        };
        if wanted > collected && self.drain() {
            self.shared.change(|state| state.flush_collected = wanted);
        }
    }

    /// Stores what is left, and releases the sessions.
    pub(crate) fn end(mut self) {
        let is_whole = self.drain_in_time() & self.leave();
        self.shared.change(|state| {
            state.has_collected = true;
            state.is_whole = is_whole;
            state.stored += 1;
        });
    }

    /// Changes the directives.
    fn record(&mut self, directives: &str) {
        if let Some(collector) = &mut self.collector {
            if let Err(error) = collector.set_directives(directives) {
                say(format_args!("the directives cannot be changed to {directives:?}: {error}"));
            }
        }
        // Threads that wait for it need not wait for the end of a sleep.
        self.shared.change(|state| state.is_switching = state.directives.is_some());
    }

    /// Passes until nothing is left; false when the spool cannot be written, or a session cannot be read.
    fn drain(&mut self) -> bool {
        // Otherwise, of thousands of idle threads, some would not have been served.
        if let Some(collector) = &mut self.collector {
            collector.begin_anew();
        }
        let mut settled = 0;
        for _ in 0..FLUSH_PASSES {
            let pass = self.pass();
            if pass.is_failing || pass.has_lost {
                return false;
            }
            settled += u32::from(pass.is_settled);
            if pass.is_settled && (pass.bytes == 0 || settled >= SETTLED) {
                return true;
            }
        }
        // A program may record faster than this for ever; what existed at first is stored.
        true
    }

    /// Passes until nothing is left. A spool that cannot be written now may become writable: false only when
    /// the thread that ends the logger stops waiting.
    fn drain_in_time(&mut self) -> bool {
        loop {
            if self.drain() {
                return true;
            }
            if self.shared.wait_for(Some(Instant::now() + RETRY), |state| state.is_given_up) {
                return false;
            }
        }
    }

    /// Releases the sessions. False when the rest of their records could not be stored.
    fn leave(&mut self) -> bool {
        self.collector.take().is_none_or(|mut collector| {
            collector.let_go();
            tell(collector.take_messages());
            let is_whole = !collector.is_failing();
            if let Err(error) = collector.close() {
                say(format_args!("{error}"));
            }
            is_whole
        })
    }

    /// Removes the parts that every sink has read.
    fn remove_parts(&self, oldest: u64) {
        // Each number once: earlier ones were removed before, or by an earlier logger.
        for number in (1..oldest).rev() {
            match std::fs::remove_file(self.spool.part(number)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => {
                    say(format_args!(
                        "{}: part {number} cannot be removed: {error}",
                        self.spool.file().display()
                    ));
                    break;
                }
            }
        }
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Writes the names of sessions down for a successor.
pub(crate) fn note(spool: &Spool, sessions: &[SessionName]) {
    if let Err(error) = spool.note_sessions(sessions) {
        say(format_args!(
            "{}: the list of sessions beside it cannot be written: {error} (if this program is killed, its next start cannot deliver the remaining records)",
            spool.file().display()
        ));
    }
}

/// Prints the collector's messages.
pub(crate) fn tell(messages: Vec<Message>) {
    messages.into_iter().for_each(say);
}
