//! Starting, flushing and stopping.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use silverpoint_collect::{CollectError, Collector, Existing, Filter, OutputConfig, sessions_of};
use silverpoint_shm::observer::{ObservedSession, SessionName};
use silverpoint_shm::owner::Absence;
use silverpoint_shm::root::{self, Root};

use crate::collecting::{Collecting, note, tell};
use crate::config::Config;
use crate::control::Control;
use crate::deliver::Delivery;
use crate::error::{LoggerError, NoSession, say};
use crate::exit;
use crate::process::Process;
use crate::quota::Quota;
use crate::shared::{Shared, State};
use crate::spool::Spool;

/// A part of the spool; those that all sinks have read are removed.
const PART_BYTES: u64 = 16 << 20;
/// The quota is kept by whole parts.
const SPOOL_BYTES_MIN: u64 = 4 * PART_BYTES;
/// How long a logger that is dropped waits for its sinks.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the collector may take to give the sessions back when the time is over.
const LEAVING: Duration = Duration::from_millis(500);
/// Descriptors of standard streams are below.
const STREAMS: i32 = 3;
/// How long the collector's thread is waited for until its work is begun by whoever starts the logger (module `held`).
const LOADING: Duration = Duration::from_millis(250);
/// Between two attempts to wake the collector.
const NUDGE: Duration = Duration::from_millis(1);

/// What became of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flushed {
    /// Everything that was recorded before the call is out: written to the console, or handed to the system for each file. What the spool had to give up before a sink had got it
    /// is not owed any more: the sink says how many records that were, and so does [`Logger::skipped`]. Nor is what another
    /// collector has taken (see [`Logger::start`]).
    Complete,
    /// The time was over first, or the call was made within a sink's function, which cannot be given more before it returns. So many sinks have not got everything; they go on.
    Late {
        /// How many.
        sinks: usize,
    },
    /// The logger is that of the process that this one was forked from, and goes on there: nothing was waited for, and nothing ended.
    OfParent,
}

/// A running logger. Methods may be called from any thread.
///
/// Dropping it delivers what there is, for at most 5 seconds, and ends it: keep it as long as `main` runs. A process that ends without that loses nothing that goes to files: the next
/// logger with the same files delivers it, and so does `silverpoint recover`.
///
/// A forked child has a copy of it that does nothing: each method returns at once, and dropping it leaves the parent's logger as it is. A child that wants one of its own starts it.
#[derive(Debug)]
pub struct Logger {
    control: Arc<Control>,
    /// Whose threads it has.
    process: u32,
}

impl Logger {
    /// Starts: from now on tracepoints record what the configuration says, and what a process before this one left behind is delivered first.
    ///
    /// Descriptors of standard streams that the program has closed (a daemon) lead to `/dev/null` from now on: else files of the logger's would have these numbers, and what the program prints come into them.
    ///
    /// When the program calls `exit`, or returns from `main` while a static holds the logger, the logger is ended as if it were dropped.
    ///
    /// A thread for the collector and one for each sink are started. When another collector has the process already (`silverpoint run`, another logger), that one keeps
    /// it: standard error says so, and the sinks get nothing.
    ///
    /// # Errors
    /// A configuration that makes no sense, files and directories that cannot be used, no thread.
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
        // Before anything lies there that only these sinks are owed.
        if let Err(error) = spool.note_sinks(&config) {
            say(format_args!("{}: the list of its sinks cannot be written: {error}", spool.file().display()));
        }
        let logger = Self::launch(config, spool, Some(root()?), Some(Process::this()))?;
        if let Some(options) = &crash
            && !silverpoint_shm::crash::install(options)
        {
            say("there is no session, so crashes are not recorded");
        }
        silverpoint_shm::crash::set_drain(|timeout_ms| {
            crate::crash::drain(timeout_ms);
        });
        Ok(logger)
    }

    /// Collects what dead processes left to this spool in a root of sessions, if one is given, and nothing else.
    pub(crate) fn of_dead(
        config: Config,
        spool: Arc<Spool>,
        root: Option<Root>,
    ) -> Result<Self, LoggerError> {
        Self::launch(config, spool, root, None)
    }

    /// Starts the threads, and returns when `own`, if it is given, is attached.
    ///
    /// The collector's thread makes all that it and the sinks go on with: whoever fails within `malloc` holds the lock of the memory that his thread allocates from, and what lay there could not even
    /// grow while his crash is delivered. (Little does: what the standard library gives a thread along.)
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
        // Lent, not given: what that thread frees it would use again, and it would be this thread's memory still.
        let config = Arc::new(config);
        let lent = Arc::clone(&config);
        // Whoever takes it begins: the thread, or this one when the thread does not come.
        let task = Arc::new(Mutex::new(Some((root, own))));
        let own_task = Arc::clone(&task);
        let (hand_over, handed_over) = std::sync::mpsc::sync_channel::<()>(1);
        control.spawn("sp-collect", move || {
            let taken = take(&own_task);
            drop(own_task);
            let Some((root, own)) = taken else {
                drop((lent, sender));
                if handed_over.recv().is_ok()
                    && let Some(collecting) = thread.held.take_collecting()
                {
                    collecting.run(&thread);
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
                    // Sinks that run already.
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
                // It runs, and takes its time.
                None => started.recv().ok(),
            },
            got => got.ok(),
        };
        let begun = begun.unwrap_or_else(|| {
            Err(LoggerError::Thread(io::Error::other("the collector's thread has panicked")))
        });
        // Until it has given everything back.
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

    /// The rest of [`Logger::launch`] in the calling thread, since the loader holds the others back (module `held`).
    fn launch_here(
        config: &Config,
        control: Arc<Control>,
        root: Option<Root>,
        own: Option<Process>,
        hand_over: &SyncSender<()>,
    ) -> Result<Self, LoggerError> {
        // The threads begin within this library, when it is loaded: it must be there.
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

    /// Reads the configuration file again, at once; without this call that happens within about a second after it was changed. When it returns, what is recorded, levels, filters, forms
    /// and rotations are the new ones (a sink that stands still takes them over when it goes on); sinks that are not in the file any more deliver what was recorded before, and end; new ones begin here. No record is lost or repeated
    /// by it. False when the logger was not configured from a file, has ended, or is the parent's.
    ///
    /// # Errors
    /// A file that cannot be read or has a mistake, a new sink that cannot be opened: then everything is as before.
    pub fn reload(&self) -> Result<bool, LoggerError> {
        if self.is_of_parent() {
            return Ok(false);
        }
        self.control.reload()
    }

    /// Waits until everything that was recorded before this call, by any thread, has come out, but no longer than `timeout`. Within a function that is given records
    /// ([`Sink::handler`](crate::Sink::handler)) it waits for all other sinks, and says that one is late: its own.
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
        // One that is ended meanwhile has nobody left who would say that it is flushed.
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

    /// Records that sinks have not got, because they were slow or failing and the spool had grown beyond its quota ([`Config::spool_bytes`]): the sum over all sinks since the
    /// start, before their filters. 0 of a parent's logger.
    pub fn skipped(&self) -> u64 {
        if self.is_of_parent() {
            return 0;
        }
        self.control.shared.lock().skipped.iter().sum()
    }

    /// Delivers everything and ends, but waits no longer than `timeout`: what was not delivered then is kept for the next logger with the same files. Tracepoints are
    /// afterwards what they were before the start. Within a function that is given records that sink ends behind its return, without what it was not given.
    pub fn stop(self, timeout: Duration) -> Flushed {
        self.end(timeout)
    }

    /// As [`Logger::stop`], for a logger that others hold too. Whoever calls it again, or flushes afterwards, is told at once how it ended.
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
                // Another thread is at it, and would be stopped in the middle. (A sink's function may be what that one waits for.)
                if logger.control.shared.own_sink().is_none() {
                    let until = Some(Instant::now() + PATIENCE);
                    logger.control.shared.wait_for(until, |state| state.is_given_up);
                }
                logger.outcome()
            }
        };
        if outcome != Flushed::Complete {
            logger.report_late();
            // Dropped, it would say so again.
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
            // A collector that could not store everything gives the sessions back now; it may be within a call, too.
            self.nudge(Instant::now().checked_add(LEAVING), |state| state.has_collected);
            // A sink may be within a call that does not return (a terminal that stands still). It ends with the process, and holds the spool till then.
            return self.outcome();
        }
        // All is out; what a thread does yet is to close its files. One that does not run yet has nothing to do (module `held`), and cannot be waited for.
        let until = until.map(|until| until.max(Instant::now() + LEAVING));
        while !self.control.awaits_threads() && !threads.iter().all(JoinHandle::is_finished) {
            if until.is_some_and(|until| Instant::now() >= until) {
                // Held up by a file system: what it has is the next logger's to find.
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
            // What could not be stored is still in the program's memory, and the spool says so to the next logger.
            return outcome;
        }
        // Somebody's records wait for the next logger (`left_behind` names them): of a root that this process does not use, or locked for a moment by whoever looked.
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

    /// Whether this process is a forked child of the logger's. It has none of its threads, and each lock may be held for ever by one of those.
    fn is_of_parent(&self) -> bool {
        self.process != std::process::id()
    }

    /// Says which sinks have not written everything, and where the rest is.
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
            // Never dropped: that would give up locks and signal handlers that are the parent's.
            std::mem::forget(Arc::clone(&self.control));
            return;
        }
        let is_late = matches!(self.end(PATIENCE), Flushed::Late { .. });
        // Else another thread is still ending it, which says how that went.
        let is_over = self.control.shared.lock().is_given_up;
        if is_late && is_over {
            self.report_late();
        }
    }
}

/// Takes what one of two threads is to do.
fn take<T>(task: &Mutex<Option<T>>) -> Option<T> {
    task.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Whether threads of sinks are waited for to run, or hold their work until they do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sinks {
    Run,
    Hold,
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

/// What the collector's thread does before it collects: opens everything, attaches the process if it is to, and starts the sinks.
fn begin(
    config: &Config,
    control: &Arc<Control>,
    root: Option<Root>,
    own: Option<Process>,
    sinks: Sinks,
) -> Result<Collecting, LoggerError> {
    let (spool, shared) = (&control.spool, &control.shared);
    let quota = Quota::new(config.spool_bytes.max(SPOOL_BYTES_MIN));
    let collector = collector(config, spool, root, own)?;
    let mut collecting = Collecting::new(collector, quota, Arc::clone(spool), Arc::clone(shared));
    // Before anything is attached: what cannot start must leave the program as it was.
    let mut deliveries = Vec::new();
    for (number, sink) in config.sinks.iter().enumerate() {
        deliveries.push(Delivery::open(number, sink.clone(), spool, Arc::clone(shared))?);
    }
    if let Some(own) = own {
        // Attached when the start returns: the caller's next tracepoint records. A forked child of a Rust program has no session before its first record; those of other languages have made one.
        if sessions_of(|name| own.has(name)).is_empty() {
            silverpoint_shm::owner::start();
            // Said to the caller: records would be lost, and every flush succeed.
            match silverpoint_shm::owner::absence() {
                Some(Absence::Privileged) => return Err(LoggerError::NoSession(NoSession::Privileged)),
                Some(Absence::Failed(error)) => {
                    let error = io::Error::from_raw_os_error(error);
                    return Err(LoggerError::NoSession(NoSession::Failed(Arc::new(error))));
                }
                Some(Absence::Off) | None => {}
            }
        }
        // Noted before anything is taken from it: of a process that dies meanwhile the next logger finds the rest.
        note(spool, &sessions_of(|name| own.has(name) && !is_collected_by_another(name)));
        collecting.pass();
        let is_taken = collecting.sessions.iter().any(|name| own.has(*name));
        if !is_taken && sessions_of(|name| own.has(name)).into_iter().any(is_collected_by_another) {
            say(
                "another collector already has this process (`silverpoint run`, another logger?): it gets all records, and this logger's sinks get none",
            );
        }
    }
    for delivery in deliveries {
        match sinks {
            Sinks::Run => control.spawn("sp-sink", move || delivery.run())?,
            Sinks::Hold => {
                let (number, of) = (delivery.number(), Arc::clone(control));
                control.held.hold_delivery(delivery);
                control.spawn("sp-sink", move || {
                    let delivery = of.held.take_delivery(number);
                    drop(of);
                    if let Some(delivery) = delivery {
                        delivery.run();
                    }
                })?
            }
        };
    }
    Ok(collecting)
}

/// Where sessions are.
fn root() -> Result<Root, LoggerError> {
    Root::open_or_create()
        .map_err(root::explained)
        .map_err(LoggerError::io("the directory of sessions", "it cannot be used"))
}

/// A collector of a process's sessions, and of those that a logger before it left.
fn collector(
    config: &Config,
    spool: &Spool,
    root: Option<Root>,
    own: Option<Process>,
) -> Result<Collector, LoggerError> {
    let left_behind = root.as_ref().map(|root| spool.left_behind(root));
    let mode = config.mode()?;
    let new = || {
        let output = OutputConfig {
            existing: Existing::Continue,
            // By the spool's lock.
            is_owned: true,
            rotate_bytes: Some(PART_BYTES),
            // Kept here (module quota): records that a sink has not got are counted.
            quota_bytes: None,
            ..OutputConfig::new(spool.file())
        };
        let left_behind = left_behind.clone();
        Collector::new(silverpoint_collect::Config {
            roots: Vec::new(),
            filter: Filter::by(move |name| {
                own.is_some_and(|own| own.has(name))
                    || left_behind.as_ref().is_some_and(|left| left.holds(name))
            }),
            output,
            // The dead record nothing more.
            attach: own.map(|_| mode.clone()),
            backtrace: None,
            remove_dead: true,
            is_eager: true,
        })
    };
    let mut collector = match new() {
        // A file system that lost what it had not written yet: a logger must start all the same.
        Err(error @ CollectError::NotATraceFile(_)) => {
            let kept = spool.put_away().map_err(LoggerError::io(spool.file(), "putting it away"))?;
            say(format_args!("{error}; it is kept as {}", kept.display()));
            new()?
        }
        made => made?,
    };
    if let Some(root) = root {
        collector.add_root(root);
    }
    tell(collector.take_messages());
    Ok(collector)
}

fn is_collected_by_another(name: SessionName) -> bool {
    Root::open().is_ok_and(|root| {
        ObservedSession::open_read_only(&root, name)
            .and_then(|session| session.is_collected())
            .unwrap_or(false)
    })
}
