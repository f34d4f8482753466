//! The sinks of a logger without its collector: records from a trace file that the caller writes. For
//! replays, and for records from other sources.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::{Config, To};
use crate::control::Control;
use crate::deliver::Delivery;
use crate::error::{LoggerError, say};
use crate::logger::Flushed;
use crate::shared::{Shared, State};
use crate::spool::Spool;

/// Sinks that get their records from a trace file that the caller writes; otherwise as those of a
/// [`Logger`](crate::Logger).
///
/// ```text
/// open ─▶ the caller begins a trace file at file() ─▶ start ─▶ it writes, and says so: written ─▶ end
/// ```
///
/// Nothing of this process is recorded, and nothing waits for a successor: undelivered records are lost when
/// it is dropped. Files are appended to. It is an error if another process logs to one of them.
#[derive(Debug)]
pub struct Feed {
    config: Config,
    spool: Arc<Spool>,
    shared: Arc<Shared>,
    /// From the start on.
    control: Option<Control>,
    /// Parts that were begun so far.
    parts: u64,
}

impl Feed {
    /// Checks the configuration and locks its files. It ignores `record`, `policy` and `crash`.
    ///
    /// # Errors
    /// An invalid configuration, a log that another process writes, no directory.
    pub fn open(config: Config) -> Result<Self, LoggerError> {
        let mut config = config.checked()?;
        config.reopen_on_hangup = false;
        let spool = Spool::temporary(&config)?;
        for sink in &config.sinks {
            if let To::File(file) = &sink.to {
                spool.claim(&file.path)?;
            }
        }
        let shared = Arc::new(Shared::new(config.sinks.len()));
        Ok(Self { config, spool: Arc::new(spool), shared, control: None, parts: 0 })
    }

    /// Where the caller writes the trace file, which does not exist yet.
    pub fn file(&self) -> PathBuf {
        self.spool.file()
    }

    /// The file has been begun: the sinks' threads start.
    ///
    /// # Errors
    /// An invalid file, a sink that cannot be opened, no thread.
    pub fn start(&mut self) -> Result<(), LoggerError> {
        let mut deliveries = Vec::new();
        for (number, sink) in self.config.sinks.iter().enumerate() {
            let shared = Arc::clone(&self.shared);
            deliveries.push(Delivery::open(number, sink.clone(), &self.spool, shared)?);
        }
        let control = Control::new(self.config.clone(), Arc::clone(&self.shared), Arc::clone(&self.spool))?;
        for delivery in deliveries {
            control.spawn("sp-sink", move || delivery.run())?;
        }
        self.control = Some(control);
        Ok(())
    }

    /// Reports that the file has grown. Costs a lock.
    pub fn written(&self) {
        self.shared.change(|state| state.stored += 1);
    }

    /// Waits until everything in the file is delivered, but no longer than `timeout`.
    pub fn flush(&self, timeout: Duration) -> Flushed {
        let wanted = self.shared.change(|state| {
            state.flush_wanted += 1;
            state.flush_collected = state.flush_wanted;
            state.stored += 1;
            state.flush_wanted
        });
        self.wait(timeout, |state, sink| state.flushed[sink] >= wanted)
    }

    /// After [`Feed::flush`], and after the file was closed: renames the file, so that the next one can be
    /// begun. Without that, the file grows as long as it is fed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin_part(&mut self) -> Result<(), LoggerError> {
        self.parts += 1;
        let part = self.spool.part(self.parts);
        fs::rename(self.file(), &part)
            .map_err(LoggerError::io(self.file(), "renaming it for the next part"))?;
        // A sink that still has it open has read it.
        fs::remove_file(&part).map_err(LoggerError::io(part, "removing it"))
    }

    /// The caller has written everything: waits until it is delivered, but no longer than `timeout`, and ends
    /// the sinks.
    pub fn end(mut self, timeout: Duration) -> Flushed {
        self.shared.change(|state| {
            state.has_collected = true;
            state.is_whole = true;
            state.stored += 1;
        });
        let outcome = self.wait(timeout, |state, sink| state.finished[sink]);
        self.leave(outcome == Flushed::Complete);
        outcome
    }

    fn wait(&self, timeout: Duration, is_done: impl Fn(&State, usize) -> bool) -> Flushed {
        let until = Instant::now().checked_add(timeout);
        let late = |state: &State| (0..state.finished.len()).filter(|sink| !is_done(state, *sink)).count();
        self.shared.wait_for(until, |state| late(state) == 0);
        match late(&self.shared.lock()) {
            0 => Flushed::Complete,
            sinks => Flushed::Late { sinks },
        }
    }

    fn leave(&mut self, is_out: bool) {
        self.shared.change(|state| {
            state.has_collected = true;
            state.is_given_up = true;
        });
        let threads = self.control.take().and_then(|control| control.threads().take());
        // A thread within a call that does not return ends with the process.
        for thread in threads.into_iter().flatten().filter(|thread| is_out || thread.is_finished()) {
            let _ = thread.join();
        }
        if let Err(error) = self.spool.remove() {
            say(format_args!("{}: the spool cannot be removed: {error}", self.spool.file().display()));
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let has_left = self.shared.lock().is_given_up;
        if !has_left {
            self.leave(false);
        }
    }
}
