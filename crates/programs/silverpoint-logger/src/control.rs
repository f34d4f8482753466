//! Changing a logger while it runs: its configuration file, and files that others have moved away.
//!
//! The collector's thread checks the file once a second, among its other work. A thread of its own applies a
//! change, because it may wait for a file system.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use silverpoint_shm::hangup;
use silverpoint_shm::signal_mask::with_all_blocked;

use crate::config::{Config, ConfigFile, Fingerprint, Sink, To, append, fingerprint};
use crate::deliver::Delivery;
use crate::error::{LoggerError, say};
use crate::held::Held;
use crate::shared::{Change, LogNote, Shared, State};
use crate::spool::Spool;

/// How long a reload waits for sinks that are within a call.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval between two checks of the configuration file.
const LOOK: Duration = Duration::from_secs(1);
/// The same after a check that found a change: the file may still be being written.
const SECOND_LOOK: Duration = Duration::from_millis(100);

/// Grows with each call of [`reopen`].
static REOPENS: AtomicU64 = AtomicU64::new(0);

/// Every logger of the process reopens its files within a tenth of a second: for `logrotate` without
/// `copytruncate`, after it has moved them. Without this call they are reopened with the next line.
/// Async-signal-safe: a program may call it in its handler of SIGHUP. A configuration file that has changed
/// is read at once, too.
pub fn reopen() {
    REOPENS.fetch_add(1, Ordering::Relaxed);
}

/// What the threads of a logger share besides [`Shared`].
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) shared: Arc<Shared>,
    pub(crate) spool: Arc<Spool>,
    /// Until the logger is ended.
    threads: Mutex<Option<Vec<JoinHandle<()>>>>,
    current: Mutex<Current>,
    /// If the logger handles SIGHUP: until it is ended.
    hangup: Mutex<Option<hangup::Listener>>,
    /// The count before it listened; `None`: it does not listen.
    heard: Option<u64>,
    /// Work for threads that do not run yet.
    pub(crate) held: Held,
    /// Threads that were started and do not run yet.
    awaited: Arc<AtomicUsize>,
}

/// The configuration in force.
#[derive(Debug)]
struct Current {
    config: Config,
    /// The numbers of its sinks.
    numbers: Vec<usize>,
    /// Files of sinks that are ending, and may still be within a write.
    ending: Vec<(usize, PathBuf)>,
    seen: Option<Fingerprint>,
}

impl Control {
    /// Of a logger that starts with these sinks, numbered from 0.
    pub(crate) fn new(config: Config, shared: Arc<Shared>, spool: Arc<Spool>) -> Result<Self, LoggerError> {
        let heard = config.reopen_on_hangup.then(hangup::heard);
        let listener = heard.map(|_| hangup::Listener::new()).transpose();
        let hangup = Mutex::new(listener.map_err(LoggerError::io("SIGHUP", "hearing it"))?);
        let numbers = (0..config.sinks.len()).collect();
        // From before it was read: later changes are then noticed.
        let seen = config.file.as_ref().and_then(|file| file.seen);
        let current = Mutex::new(Current { config, numbers, ending: Vec::new(), seen });
        Ok(Self {
            shared,
            spool,
            threads: Mutex::new(Some(Vec::new())),
            current,
            hangup,
            heard,
            held: Held::default(),
            awaited: Arc::default(),
        })
    }

    /// `None` when the logger was ended.
    pub(crate) fn threads(&self) -> MutexGuard<'_, Option<Vec<JoinHandle<()>>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names of the sinks that have not written everything, and why, where that is known.
    pub(crate) fn late(&self) -> String {
        // During a reload, sinks come and go.
        let Ok(current) = self.current.try_lock() else { return "sinks".to_owned() };
        let state = self.shared.lock();
        let sinks = current.config.sinks.iter().zip(&current.numbers);
        let late = sinks.filter(|(_, number)| !state.finished[**number]).map(|(sink, number)| {
            let why = if state.is_describing_crash[*number] {
                " (is still reading symbols, to describe a crash)"
            } else {
                ""
            };
            format!("{}{why}", sink.label())
        });
        let late: Vec<String> = late.collect();
        if late.is_empty() { "the logger".to_owned() } else { late.join(", ") }
    }

    /// Restores the previous action of SIGHUP.
    pub(crate) fn hear_no_more(&self) {
        *self.hangup.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Starts a thread that the end of the logger waits for; false when the logger was ended, and nothing runs.
    pub(crate) fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<bool, LoggerError> {
        // The program's signals are handled by the program's threads.
        with_all_blocked(|| {
            let mut threads = self.threads();
            let Some(threads) = threads.as_mut() else { return Ok(false) };
            self.awaited.fetch_add(1, Ordering::AcqRel);
            let awaited = Arc::clone(&self.awaited);
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                awaited.fetch_sub(1, Ordering::AcqRel);
                drop(awaited);
                run();
            });
            forget_ended(threads);
            if thread.is_err() {
                self.awaited.fetch_sub(1, Ordering::AcqRel);
            }
            threads.push(thread.map_err(LoggerError::Thread)?);
            Ok(true)
        })
    }

    /// Whether a thread does not run yet: the loader may hold it back until this thread has returned (module `held`).
    pub(crate) fn awaits_threads(&self) -> bool {
        self.awaited.load(Ordering::Acquire) > 0
    }

    /// Reads the configuration file again, and applies it. False when there is none, or the logger has ended.
    /// After an error everything is as before.
    pub(crate) fn reload(&self) -> Result<bool, LoggerError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = current.config.file.clone() else { return Ok(false) };
        // Before it is read: the next check sees a change during the read.
        current.seen = fingerprint(&file.path);
        let mut new = Config::from_file(&file.path)?;
        if let Some(record) = &file.record {
            new.record.clone_from(record);
        }
        append(&mut new.record, &file.also);
        // Sinks that the program added itself are not from the file.
        new.sinks.extend(current.config.sinks.iter().filter(|sink| !sink.is_of_file).cloned());
        // Compared with the previous file: code and the environment may have set something else at the start,
        // which stays in force.
        let fixed = new.fixed();
        let is_fixed_changed = fixed != file.fixed;
        new.set_fixed(current.config.fixed());
        new.file = Some(ConfigFile { fixed, ..file.clone() });
        let mut new = new.checked_in(&file.base)?;
        self.spool.number_files(&mut new, false);
        let is_applied = self.apply(&mut current, new)?;
        if is_applied && is_fixed_changed {
            say(
                "the spool's place and size, policy, block-max, crash, crash-wait and reopen-on-hangup change with the next start only",
            );
        }
        Ok(is_applied)
    }

    fn apply(&self, current: &mut Current, new: Config) -> Result<bool, LoggerError> {
        let mut left: Vec<Option<usize>> = current.numbers.iter().copied().map(Some).collect();
        let mut numbers = Vec::new();
        let mut kept: Vec<(usize, Sink)> = Vec::new();
        let mut added: Vec<Sink> = Vec::new();
        for sink in &new.sinks {
            let same = (0..left.len())
                .find(|old| left[*old].is_some() && current.config.sinks[*old].to.is_same(&sink.to));
            match same.and_then(|old| left[old].take()) {
                Some(number) => {
                    numbers.push(Some(number));
                    kept.push((number, sink.clone()));
                }
                None => {
                    numbers.push(None);
                    added.push(sink.clone());
                }
            }
        }
        let removed: Vec<usize> = left.into_iter().flatten().collect();
        for (sink, number) in current.config.sinks.iter().zip(&current.numbers) {
            let To::File(old) = &sink.to else { continue };
            if removed.contains(number)
                && added.iter().any(|new| matches!(&new.to, To::File(new) if new.path == old.path))
            {
                let why = "one file cannot hold both lines and a trace; give the new sink another name";
                return Err(LoggerError::io(&old.path, "changing what it is")(std::io::Error::other(why)));
            }
        }
        // A file has one writer.
        {
            let state = self.shared.lock();
            current.ending.retain(|(number, _)| !state.finished[*number]);
        }
        for sink in &added {
            let To::File(file) = &sink.to else { continue };
            if let Some((_, path)) = current.ending.iter().find(|(_, path)| *path == file.path) {
                return Err(LoggerError::StillEnding(path.clone()));
            }
        }
        // All that can fail comes before the first change.
        let first = self.shared.lock().finished.len();
        let mut deliveries = Vec::new();
        for (at, sink) in added.into_iter().enumerate() {
            // Where only another directory may be written, the start has reported what that means.
            if let To::File(file) = &sink.to {
                if new.spool.is_none() {
                    self.spool.claim(&file.path)?;
                }
            }
            deliveries.push(Delivery::open(first + at, sink, &self.spool, Arc::clone(&self.shared))?);
        }
        if self.threads().is_none() {
            return Ok(false);
        }
        // Earlier records are for the sinks as they are now.
        self.collect();
        deliveries.iter_mut().for_each(Delivery::begin_here);
        self.shared.change(|state| {
            deliveries.iter().for_each(|_| state.add_sink());
            for (number, sink) in kept {
                state.ask(number, Change::Settings(Box::new(sink)));
            }
            for number in &removed {
                state.ask(*number, Change::End);
            }
            if new.record != current.config.record {
                state.directives = Some(new.record.clone());
                state.is_switching = true;
            }
        });
        for (at, delivery) in deliveries.into_iter().enumerate() {
            let spawned = self.spawn("sp-sink", move || delivery.run());
            if !matches!(spawned, Ok(true)) {
                // A sink that does not run is not waited for.
                self.shared.change(|state| state.remove_sink(first + at));
            }
            if let Err(error) = spawned {
                say(error);
            }
        }
        for (sink, number) in current.config.sinks.iter().zip(&current.numbers) {
            if let (To::File(file), true) = (&sink.to, removed.contains(number)) {
                current.ending.push((*number, file.path.clone()));
            }
        }
        let mut next = first..;
        current.numbers =
            numbers.into_iter().map(|number| number.or_else(|| next.next()).unwrap_or(first)).collect();
        if let Err(error) = self.spool.note_sinks(&new) {
            say(format_args!(
                "{}: the list of its sinks cannot be written: {error}",
                self.spool.file().display()
            ));
        }
        current.config = new;
        // The caller's next record is treated by the new rules, unless a sink is held up.
        self.wait(|state| !state.is_switching && !state.is_changing.contains(&true));
        Ok(true)
    }

    /// Collects all records into the spool.
    fn collect(&self) {
        let wanted = self.shared.change(|state| {
            state.flush_wanted += 1;
            state.flush_wanted
        });
        self.wait(|state| state.flush_collected >= wanted);
    }

    /// Waits until the threads have done something, as far as they can.
    fn wait(&self, is_done: impl Fn(&State) -> bool) {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            for nudge in &self.shared.lock().nudges {
                nudge.wake();
            }
            let soon = Some(Instant::now() + Duration::from_millis(2));
            let is_over = |state: &State| state.is_stopping || state.has_collected || is_done(state);
            if self.shared.wait_for(soon, is_over) {
                return;
            }
        }
    }

    /// As [`Control::reload`]; an error is reported on standard error and in the logs.
    pub(crate) fn reload_and_tell(&self) {
        if let Err(error) = self.reload() {
            let text = format!("{error}; the previous configuration stays in force");
            say(&text);
            self.shared.change(|state| {
                state.noted += 1;
                let wall_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
                state.note = Some(Arc::new(LogNote { wall_ns: wall_ns as i64, text }));
            });
        }
    }

    /// The fingerprint of the configuration file, if it differs from the last one that was read.
    fn changed(&self) -> Option<Fingerprint> {
        // During a reload there is nothing to check.
        let current = self.current.try_lock().ok()?;
        let file = current.config.file.as_ref()?;
        // A missing or empty file is just being replaced.
        if std::fs::metadata(&file.path).is_ok_and(|found| found.is_file() && found.len() == 0) {
            return None;
        }
        fingerprint(&file.path).filter(|found| Some(*found) != current.seen)
    }
}

/// What the collector's thread watches in addition.
#[derive(Debug)]
pub(crate) struct Watch {
    looked: Instant,
    /// The changed configuration file that was found, and not read yet.
    found: Option<Fingerprint>,
    reopened: u64,
    heard: u64,
}

impl Watch {
    pub(crate) fn new(control: &Control) -> Self {
        let heard = control.heard.unwrap_or_default();
        Self { looked: Instant::now(), found: None, reopened: REOPENS.load(Ordering::Relaxed), heard }
    }

    /// Costs nothing most of the time, and a `stat` once a second.
    pub(crate) fn look(&mut self, control: &Arc<Control>) {
        let reopened = REOPENS.load(Ordering::Relaxed);
        let heard = control.heard.map_or(self.heard, |_| hangup::heard());
        let is_asked = (heard, reopened) != (self.heard, self.reopened);
        if is_asked {
            (self.heard, self.reopened) = (heard, reopened);
            control.shared.change(|state| state.reopens += 1);
        }
        let pause = if self.found.is_some() { SECOND_LOOK } else { LOOK };
        if !is_asked && self.looked.elapsed() < pause {
            return;
        }
        self.looked = Instant::now();
        if is_settled(&mut self.found, control.changed(), is_asked) {
            let own = Arc::clone(control);
            if let Err(error) = control.spawn("sp-reload", move || own.reload_and_tell()) {
                say(error);
            }
        }
    }
}

/// Whether a changed file is to be read. Two checks must agree, because a file that is rewritten in place is
/// incomplete meanwhile. On request it is read at once.
fn is_settled<F: Copy + PartialEq>(last: &mut Option<F>, found: Option<F>, is_asked: bool) -> bool {
    let is_settled = found.is_some() && (is_asked || found == *last);
    *last = found.filter(|_| !is_settled);
    is_settled
}

/// A thread that has ended keeps its stack until it is joined or dropped: a program whose configuration
/// changes every minute would grow without end.
fn forget_ended(threads: &mut Vec<JoinHandle<()>>) {
    threads.retain(|thread| !thread.is_finished());
}

impl To {
    /// Whether a sink that runs can go on with the settings of another.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(own), Self::File(other)) => {
                (&own.path, own.is_trace) == (&other.path, other.is_trace)
            }
            (Self::Handler(own), Self::Handler(other)) => Arc::ptr_eq(&own.call, &other.call),
            (Self::File(_) | Self::Handler(_), _) | (_, Self::File(_) | Self::Handler(_)) => false,
            // The text of the others contains all their settings.
            (own, other) => format!("{own:?}") == format!("{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration may change at the moment when the logger ends: that is not reported as an error.
    #[test]
    fn a_logger_that_was_ended_starts_no_thread_and_says_nothing() {
        let folder = tempfile::TempDir::with_prefix("silverpoint-control-").unwrap();
        let config = Config { spool: Some(folder.path().to_owned()), ..Config::new("info") };
        let spool = Arc::new(Spool::open(&config).unwrap());
        let control = Control::new(config, Arc::new(Shared::new(0)), spool).unwrap();
        let (ran, runs) = std::sync::mpsc::channel();
        let second = ran.clone();
        assert!(control.spawn("one", move || ran.send(1).unwrap()).unwrap());
        for thread in control.threads().take().unwrap() {
            thread.join().unwrap();
        }
        assert!(!control.spawn("two", move || second.send(2).unwrap()).unwrap());
        assert_eq!(runs.iter().collect::<Vec<_>>(), [1]);
        control.spool.remove().unwrap();
    }

    /// An editor that truncates a file and writes it in pieces: no piece is a configuration.
    #[test]
    fn a_file_that_is_being_written_is_not_read_before_its_end() {
        let mut last = None;
        let looks = [Some(1), Some(2), Some(3), Some(3), None, Some(4), None, Some(4), Some(4), None];
        let read = looks.map(|found| is_settled(&mut last, found, false));
        assert_eq!(read, [false, false, false, true, false, false, false, false, true, false]);
        assert!(is_settled(&mut last, Some(5), true), "a request says that it is whole");
        assert!(!is_settled(&mut last, None, true));
    }

    #[test]
    fn threads_that_have_ended_are_forgotten_and_no_others() {
        let (release, held) = std::sync::mpsc::channel::<()>();
        let mut threads: Vec<JoinHandle<()>> = (0..3).map(|_| std::thread::spawn(|| {})).collect();
        threads.push(std::thread::spawn(move || held.recv().unwrap_or_default()));
        let until = Instant::now() + Duration::from_secs(300);
        while threads.len() > 1 {
            assert!(Instant::now() < until, "{} are left", threads.len());
            forget_ended(&mut threads);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!threads[0].is_finished());
        drop(release);
        threads.remove(0).join().unwrap();
    }
}
