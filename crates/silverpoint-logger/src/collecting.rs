//! The collector's thread.

use std::io;
use std::sync::Arc;

use silverpoint_collect::{Collector, Message};
use silverpoint_shm::observer::SessionName;

use crate::error::say;
use crate::shared::Shared;
use crate::spool::Spool;

/// Passes until a flush has seen everything that was there when it was asked for, at most.
const FLUSH_PASSES: usize = 1000;

/// Collects into the spool until the logger stops; gives the spool back.
pub(crate) struct Collecting {
    pub(crate) collector: Collector,
    pub(crate) spool: Spool,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sessions: Vec<SessionName>,
}

impl Collecting {
    /// One look at everything. What concerns other threads is told to them.
    pub(crate) fn pass(&mut self) -> u64 {
        let pass = self.collector.pass();
        tell(self.collector.take_messages());
        let sessions = self.collector.sessions();
        if sessions != self.sessions {
            if let Err(error) = self.spool.note_sessions(&sessions) {
                say(format_args!("{}: {error}", self.spool.path("sessions").display()));
            }
            let nudges = self.collector.nudges();
            self.shared.change(|state| state.nudges = nudges);
            self.sessions = sessions;
        }
        if pass.bytes > 0 {
            self.shared.change(|state| state.stored += 1);
        }
        pass.bytes
    }

    /// The thread.
    pub(crate) fn run(mut self) -> Spool {
        let mut removed = 0;
        loop {
            let (wanted, is_stopping, oldest);
            {
                let state = self.shared.lock();
                (wanted, is_stopping) = (state.flush_wanted, state.is_stopping);
                oldest = state.oldest_parts.iter().copied().min().unwrap_or(0);
            }
            self.pass();
            if wanted > self.shared.lock().flush_collected {
                for _ in 0..FLUSH_PASSES {
                    if self.pass() == 0 {
                        break;
                    }
                }
                self.shared.change(|state| state.flush_collected = wanted);
            }
            if oldest > removed + 1 {
                self.remove_parts(oldest);
                removed = oldest - 1;
            }
            if is_stopping {
                break;
            }
            self.collector.rest();
        }
        self.collector.let_go();
        tell(self.collector.take_messages());
        self.collector.leave();
        self.shared.change(|state| {
            state.has_collected = true;
            state.stored += 1;
        });
        self.spool
    }

    /// Removes the parts that every sink has read.
    fn remove_parts(&self, oldest: u64) {
        // Each number once: those before were removed before, or by a logger before this one.
        for number in (1..oldest).rev() {
            match std::fs::remove_file(self.spool.path(&format!("spool.{number}.silver"))) {
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

/// Passes the collector's remarks on.
pub(crate) fn tell(messages: Vec<Message>) {
    for message in messages {
        match message.session {
            Some(session) => say(format_args!("session {session}: {}", message.text)),
            None => say(message.text),
        }
    }
}
