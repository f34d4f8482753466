//! Starting, flushing and stopping.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use silverpoint_shm::root::Root;

use crate::begin::{Sinks, begin};
use crate::config::Config;
use crate::control::Control;
use crate::error::{LoggerError, say};
use crate::exit;
use crate::idle::sessions;
use crate::process::Process;
use crate::shared::{Shared, State};
use crate::spool::Spool;

/// How long a logger that is dropped waits for its sinks.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the collector may take to release the sessions when the time is over.
const LEAVING: Duration = Duration::from_millis(500);
/// Descriptors below this are those of standard streams.
const STREAMS: i32 = 3;
/// How long to wait for the collector's thread. After that the thread that starts the logger begins its work
/// (module `held`).
const LOADING: Duration = Duration::from_millis(250);
/// Between two attempts to wake the collector.
const NUDGE: Duration = Duration::from_millis(1);

/// What became of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// Everything that was recorded before the call is delivered: written to the console, or passed to the
    /// system for each file. Not included are records that the spool dropped before a sink had read them: the
    /// sink and [`Logger::skipped`] report their number. Records that another collector has are not included
    /// either (see [`Logger::start`]).
    Complete,
    /// The time was over first. Or the call was made within a sink's function, which gets no more records
    /// before it returns. These sinks have not delivered everything; they continue.
    Late {
        /// How many.
        sinks: usize,
    },
    /// The logger belongs to the parent process, and continues there: this call waited for nothing and ended
    /// nothing.
    OfParent,
}

/// A running logger. Methods may be called from any thread.
///
/// Dropping it delivers what there is, for at most 5 seconds, and ends it: keep it as long as `main` runs. A
/// process that ends without that loses no record that goes to files: the next logger with the same files or
/// `silverpoint recover` delivers it.
///
/// A forked child has a copy that does nothing: each method returns at once, and dropping it leaves the
/// parent's logger as it is. A child that needs a logger starts its own.
#[derive(Debug)]
pub struct Logger {
    control: Arc<Control>,
    /// The process of its threads.
    process: u32,
}

impl Logger {
    /// Starts: from now on tracepoints record what the configuration selects. Records that an earlier process
    /// left behind are delivered first.
    ///
    /// Descriptors of standard streams that the program has closed (a daemon) lead to `/dev/null` from now
    /// on. Otherwise files of the logger would have these numbers, and the program's output would go into
    /// them.
    ///
    /// When the program calls `exit`, or returns from `main` while a static holds the logger, the logger is ended as if it were dropped.
    ///
    /// A thread for the collector and one for each sink are started. If another collector has the process
    /// already (`silverpoint run`, another logger), that one keeps it: standard error says so, and the sinks
    /// get no records.
    ///
    /// # Errors
    /// An invalid configuration, unusable files and directories, no thread.
    pub fn start(config: Config) -> Result<Self, LoggerError> {
        let logger = Self::start_without_exit_hook(config)?;
        exit::remember(&logger.control);
        Ok(logger)
    }

    /// For frontends in other languages, which end their logger at the process's exit themselves.
    #[doc(hidden)]
    pub fn start_without_exit_hook(config: Config) -> Result<Self, LoggerError> {
        let mut config = config.checked()?;
        occupy_standard_streams();
        let crash = config.crash;
        let spool = Arc::new(Spool::open(&config)?);
        spool.number_files(&mut config, true);
        // Before the spool holds records that are only for these sinks.
        if let Err(error) = spool.note_sinks(&config) {
            say(format_args!("{}: the list of its sinks cannot be written: {error}", spool.file().display()));
        }
        let logger = Self::launch(config, spool, Some(sessions()?), Some(Process::this()))?;
        if let Some(options) = &crash {
            if !silverpoint_shm::crash::install(options) {
                say("there is no session, so crashes are not recorded");
            }
        }
        silverpoint_shm::crash::set_drain(|timeout_ms| {
            crate::after_crash::drain(timeout_ms);
        });
        Ok(logger)
    }

    /// Collects only what dead processes left to this spool, in a root of sessions if one is given.
    pub(crate) fn of_dead(
        config: Config,
        spool: Arc<Spool>,
        root: Option<Root>,
    ) -> Result<Self, LoggerError> {
        Self::launch(config, spool, root, None)
    }

    /// Starts the threads, and returns when `own`, if it is given, is attached.
    ///
    /// The collector's thread allocates everything that it and the sinks use later. A thread that crashes
    /// within `malloc` holds the lock of its memory arena. What lay there could not even grow while the crash
    /// is delivered. (Little lies there: what the standard library allocates for a thread.)
    fn launch(
        config: Config,
        spool: Arc<Spool>,
        root: Option<Root>,
        own: Option<Process>,
    ) -> Result<Self, LoggerError> {
        let shared = Arc::new(Shared::new(config.sinks.len()));
        let control = Arc::new(Control::new(config.clone(), shared, spool)?);
        let (sender, started) = std::sync::mpsc::sync_channel(1);
        let thread = Arc::clone(&control);
        // Shared, not moved: memory that the new thread frees would be reused there, and would still be this
        // thread's.
        let config = Arc::new(config);
        let lent = Arc::clone(&config);
        // The first to take it begins: the thread, or this one when the thread does not start.
        let task = Arc::new(Mutex::new(Some((root, own))));
        let own_task = Arc::clone(&task);
        let (hand_over, handed_over) = std::sync::mpsc::sync_channel::<()>(1);
        control.spawn("sp-collect", move || {
            let taken = take(&own_task);
            drop(own_task);
            let Some((root, own)) = taken else {
                drop((lent, sender));
                if handed_over.recv().is_ok() {
                    if let Some(collecting) = thread.held.take_collecting() {
                        collecting.run(&thread);
                    }
                }
                return;
            };
            match begin(&lent, &thread, root, own, Sinks::Run) {
                Ok(collecting) => {
                    let _ = sender.send(Ok(()));
                    drop(lent);
                    drop(sender);
                    collecting.run(&thread);
                }
                Err(error) => {
                    // Sinks that already run.
                    thread.shared.change(|state| {
                        state.has_collected = true;
                        state.is_given_up = true;
                    });
                    let _ = sender.send(Err(error));
                }
            }
        })?;
        let begun = match started.recv_timeout(LOADING) {
            Err(RecvTimeoutError::Timeout) => match take(&task) {
                Some((root, own)) => {
                    return Self::launch_here(&config, control, root, own, &hand_over);
                }
                // It runs, and needs time.
                None => started.recv().ok(),
            },
            got => got.ok(),
        };
        let begun = begun.unwrap_or_else(|| {
            Err(LoggerError::Thread(io::Error::other("the collector's thread has panicked")))
        });
        // Until it has released everything.
        while started.recv().is_ok() {}
        drop(config);
        if let Err(error) = begun {
            control.hear_no_more();
            let threads = control.threads().take();
            for thread in threads.into_iter().flatten() {
                let _ = thread.join();
            }
            return Err(error);
        }
        Ok(Self { control, process: std::process::id() })
    }

    /// The rest of [`Logger::launch`] in the calling thread, because the loader blocks the others (module
    /// `held`).
    fn launch_here(
        config: &Config,
        control: Arc<Control>,
        root: Option<Root>,
        own: Option<Process>,
        hand_over: &SyncSender<()>,
    ) -> Result<Self, LoggerError> {
        // The threads begin in this library after it is loaded: it must stay loaded.
        silverpoint_shm::exit::stay_loaded();
        match begin(config, &control, root, own, Sinks::Hold) {
            Ok(collecting) => {
                control.held.hold_collecting(collecting);
                let _ = hand_over.send(());
                Ok(Self { control, process: std::process::id() })
            }
            Err(error) => {
                control.shared.change(|state| {
                    state.has_collected = true;
                    state.is_given_up = true;
                });
                control.hear_no_more();
                // Not waited for: they end as soon as they run.
                drop(control.threads().take());
                Err(error)
            }
        }
    }

    /// Reads the configuration file again, at once; without this call that happens within about a second
    /// after a change. When it returns, directives, levels, filters, forms and rotations are the new ones. (A
    /// stalled sink adopts them when it continues.) Sinks that are not in the file any more deliver earlier
    /// records, and end; new ones begin here. No record is lost or repeated by it. False when the logger was
    /// not configured from a file, has ended, or is the parent's.
    ///
    /// # Errors
    /// A file that cannot be read or has a mistake, a new sink that cannot be opened: then everything is as before.
    pub fn reload(&self) -> Result<bool, LoggerError> {
        if self.is_of_parent() {
            return Ok(false);
        }
        self.control.reload()
    }

    /// Waits until everything that any thread recorded before this call is delivered, but no longer than
    /// `timeout`. Within a function that gets records ([`Sink::handler`](crate::Sink::handler)) it waits for
    /// all other sinks, and reports one as late: its own.
    pub fn flush(&self, timeout: Duration) -> Flushed {
        self.flush_with(timeout, |_| {})
    }

    /// As [`Logger::flush`], and sinks with a [backtrace](crate::Sink::backtrace) write what they keep back.
    pub fn dump_backtrace(&self, timeout: Duration) -> Flushed {
        self.flush_with(timeout, |state| state.dump = state.flush_wanted)
    }

    fn flush_with(&self, timeout: Duration, and: impl FnOnce(&mut State)) -> Flushed {
        if self.is_of_parent() {
            return Flushed::OfParent;
        }
        if self.control.threads().is_none() {
            return self.outcome();
        }
        let until = Instant::now().checked_add(timeout);
        let wanted = self.control.shared.change(|state| {
            state.flush_wanted += 1;
            and(state);
            state.flush_wanted
        });
        self.control.held.collect();
        self.nudge(until, |state| state.flush_collected >= wanted || state.has_collected);
        self.control.held.deliver();
        let own = self.control.shared.own_sink();
        let is_late = |state: &State, sink: usize| state.flushed[sink] < wanted;
        let late = |state: &State| (0..state.flushed.len()).filter(|sink| is_late(state, *sink)).count();
        let waits = |state: &State| late(state) > usize::from(own.is_some_and(|own| is_late(state, own)));
        // If a sink is ended meanwhile, nothing reports that it is flushed.
        let is_ended =
            |state: &State| state.is_given_up || state.has_collected && !state.finished.contains(&false);
        let is_over = self.control.shared.wait_for(until, |state| !waits(state) || is_ended(state));
        let sinks = late(&self.control.shared.lock());
        match (sinks, is_over, own) {
            (0, ..) => Flushed::Complete,
            (_, false, _) | (_, _, Some(_)) => Flushed::Late { sinks },
            _ => self.outcome(),
        }
    }

    /// Records that sinks did not get, because they were slow or failing and the spool had grown beyond its
    /// quota ([`Config::spool_bytes`]). It is the sum over all sinks since the start, before their filters. 0
    /// for a parent's logger.
    pub fn skipped(&self) -> u64 {
        if self.is_of_parent() {
            return 0;
        }
        self.control.shared.lock().skipped.iter().sum()
    }

    /// Delivers everything and ends, but waits no longer than `timeout`: undelivered records are kept for the
    /// next logger with the same files. Then tracepoints are as before the start. Within a function that gets
    /// records, that sink ends after the function returns, without the remaining records.
    pub fn stop(self, timeout: Duration) -> Flushed {
        self.end(timeout)
    }

    /// As [`Logger::stop`], for a logger that others hold too. A second call, or a later flush, returns at
    /// once how it ended.
    pub fn end(&self, timeout: Duration) -> Flushed {
        if self.is_of_parent() {
            return Flushed::OfParent;
        }
        let Some(threads) = self.control.threads().take() else { return self.outcome() };
        let outcome = self.end_threads(threads, timeout);
        exit::forget(&self.control);
        outcome
    }

    /// The process exits.
    pub(crate) fn end_at_exit(control: Arc<Control>) {
        let logger = Self { control, process: std::process::id() };
        let threads = logger.control.threads().take();
        let outcome = match threads {
            Some(threads) => logger.end_threads(threads, PATIENCE),
            None => {
                // Another thread is ending it, and would be stopped in the middle. (That thread may wait for
                // a sink's function.)
                if logger.control.shared.own_sink().is_none() {
                    let until = Some(Instant::now() + PATIENCE);
                    logger.control.shared.wait_for(until, |state| state.is_given_up);
                }
                logger.outcome()
            }
        };
        if outcome != Flushed::Complete {
            logger.report_late();
            // Dropped, it would report the same again.
            std::mem::forget(logger);
        }
    }

    fn end_threads(&self, threads: Vec<JoinHandle<()>>, timeout: Duration) -> Flushed {
        self.control.hear_no_more();
        let until = Instant::now().checked_add(timeout);
        self.control.shared.change(|state| state.is_stopping = true);
        self.control.held.end_collecting();
        self.nudge(until, |state| state.has_collected);
        self.control.held.end_deliveries();
        let own = self.control.shared.own_sink();
        let is_out = |state: &State, but: Option<usize>| {
            state.has_collected
                && (0..state.finished.len()).all(|sink| state.finished[sink] || Some(sink) == but)
        };
        self.control.shared.wait_for(until, |state| is_out(state, own));
        let is_out = is_out(&self.control.shared.lock(), None);
        self.control.shared.change(|state| state.is_given_up = true);
        if !is_out {
            // A collector that could not store everything releases the sessions now; it may be within a call,
            // too.
            self.nudge(Instant::now().checked_add(LEAVING), |state| state.has_collected);
            // A sink may be within a call that does not return (a stalled terminal). It ends with the
            // process, and holds the spool until then.
            return self.outcome();
        }
        // All is delivered; the threads only close their files now. One that does not run yet has nothing to
        // do (module `held`), and cannot be waited for.
        let until = until.map(|until| until.max(Instant::now() + LEAVING));
        while !self.control.awaits_threads() && !threads.iter().all(JoinHandle::is_finished) {
            if until.is_some_and(|until| Instant::now() >= until) {
                // Held up by a file system: the next logger finds its records.
                return self.outcome();
            }
            std::thread::sleep(NUDGE);
        }
        if !self.control.awaits_threads() {
            for thread in threads {
                let _ = thread.join();
            }
        }
        let outcome = self.outcome();
        if outcome != Flushed::Complete {
            // Records that could not be stored are still in the program's memory, and the spool tells the
            // next logger.
            return outcome;
        }
        // Records of another process wait for the next logger (`left_behind` names them). They are in a root
        // that this process does not use, or another process held them for a moment.
        if self.control.spool.is_awaited() {
            return Flushed::Complete;
        }
        if let Err(error) = self.control.spool.remove() {
            say(format_args!(
                "{}: the spool cannot be removed: {error}",
                self.control.spool.file().display()
            ));
        }
        Flushed::Complete
    }

    /// Whether this process is a forked child of the logger's process. It has none of its threads, and one of
    /// those may hold each lock for ever.
    fn is_of_parent(&self) -> bool {
        self.process != std::process::id()
    }

    /// Reports which sinks have not written everything, and where the rest is.
    fn report_late(&self) {
        let (late, is_whole) = (self.control.late(), self.control.shared.lock().is_whole);
        let directory = self.control.spool.directory().display();
        let rest = match is_whole {
            true if self.control.spool.is_temporary() => {
                "The rest is discarded, because without a file no later start can deliver it".to_owned()
            }
            true => format!(
                "The rest waits in {directory}: the next start or `silverpoint recover {directory}` writes it"
            ),
            false => format!(
                "The rest waits in {directory} and in the session of this process: the next start or `silverpoint recover {directory}` writes it"
            ),
        };
        say(format_args!("{late}: not everything is written after {PATIENCE:?}. {rest}"));
    }

    /// Of a logger that has been ended.
    fn outcome(&self) -> Flushed {
        let state = self.control.shared.lock();
        let late = state.finished.iter().filter(|done| !**done).count();
        match state.has_collected && state.is_whole {
            true if late == 0 => Flushed::Complete,
            true => Flushed::Late { sinks: late },
            // Not even in the spool: no sink can have it.
            false => Flushed::Late { sinks: state.finished.len().max(1) },
        }
    }

    /// Wakes the collector until `is_met`.
    fn nudge(&self, until: Option<Instant>, mut is_met: impl FnMut(&State) -> bool) {
        loop {
            for nudge in &self.control.shared.lock().nudges {
                nudge.wake();
            }
            let soon = Instant::now() + NUDGE;
            if self.control.shared.wait_for(Some(until.map_or(soon, |until| until.min(soon))), &mut is_met)
                || until.is_some_and(|until| Instant::now() >= until)
            {
                return;
            }
        }
    }
}

impl Drop for Logger {
    fn drop(&mut self) {
        if self.is_of_parent() {
            // Never dropped: that would release locks and signal handlers of the parent.
            std::mem::forget(Arc::clone(&self.control));
            return;
        }
        let is_late = matches!(self.end(PATIENCE), Flushed::Late { .. });
        // Otherwise another thread is still ending it, and reports the result.
        let is_over = self.control.shared.lock().is_given_up;
        if is_late && is_over {
            self.report_late();
        }
    }
}

/// Takes the work that one of two threads does.
fn take<T>(task: &Mutex<Option<T>>) -> Option<T> {
    task.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// See [`Logger::start`].
fn occupy_standard_streams() {
    while let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        // It stays where it is.
        if nothing.as_raw_fd() >= STREAMS || nothing.into_raw_fd() + 1 == STREAMS {
            break;
        }
    }
}
