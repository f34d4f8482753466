//! Keeps a collector's process alive: starts it, starts it again when it dies, lets it finish.
//!
//! A thread of its own reads what the collector reports. The end of the pipe means that the collector has
//! died, of any cause; this needs no signal.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use silverpoint_collect::Missing;

use crate::backtrace::Backtrace;
use crate::collect::OnExisting;
use crate::exit::note;
use crate::platform::processes;
use crate::store::Store;

/// How collecting ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Everything is stored.
    Done,
    /// Processes of the run still live; the collector continues without a supervisor.
    Background,
    /// Not everything could be stored. The collector has reported why, unless this does.
    Left(Option<String>),
}

/// What is collected, and where to.
pub struct Task {
    /// The private root.
    pub root: PathBuf,
    /// The trace file, an absolute path.
    pub output: PathBuf,
    /// How the first collector treats an existing file.
    pub existing: OnExisting,
    /// How it is stored.
    pub store: Store,
    /// What is kept back.
    pub backtrace: Backtrace,
    /// What the programs record.
    pub filter: String,
    /// Whether deaths of collectors are kept quiet.
    pub quiet: bool,
}

/// A collector's process and the thread that keeps it alive.
pub struct Keeper {
    shared: Arc<Shared>,
    thread: JoinHandle<Finished>,
}

#[derive(Default)]
struct Shared {
    /// The command has ended: a collector that is started from now on learns it at once.
    ending: AtomicBool,
    /// The present collector's standard input; closing it asks the collector to finish.
    stdin: Mutex<Option<ChildStdin>>,
    /// What all of them have reported.
    said: Mutex<Said>,
}

/// What collectors report at their end, besides whether everything is stored.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// Stored records that no longer exist.
    pub missing: Missing,
    /// Sessions that they had.
    pub sessions: u64,
    /// Directives that selected no site, those of the last one.
    pub unmatched: String,
}

impl Said {
    /// Adds a line.
    fn add(&mut self, line: &str) {
        let Some((what, rest)) = line.split_once(' ') else { return };
        let mut numbers = rest.split(' ').map(|number| number.parse::<u64>().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        match what {
            "missing" => {
                self.missing.removed += next();
                self.missing.elsewhere += next();
            }
            "sessions" => self.sessions += next(),
            "unmatched" => rest.clone_into(&mut self.unmatched),
            _ => {}
        }
    }
}

/// Longest pause before a collector is started again.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A collector that has lived this long works.
const LONG_LIFE: Duration = Duration::from_secs(10);
/// Attempts after the command's end; after that the records are left for `recover`.
const LAST_ATTEMPTS: u32 = 20;

impl Keeper {
    /// Starts a collector and waits until its file is open; otherwise gives the collector's message.
    pub fn start(task: Task) -> Result<Self, String> {
        let (task, shared) = (Arc::new(task), Arc::new(Shared::default()));
        let (of_thread, kept) = (Arc::clone(&task), Arc::clone(&shared));
        let (sender, first) = sync_channel(1);
        // The thread starts first: if it cannot, no collector is started that nothing would wait for.
        let thread = std::thread::Builder::new()
            .name("keeper".into())
            .spawn(move || first.recv().map_or(Finished::Left(None), |first| keep(&of_thread, first, &kept)))
            .map_err(|error| format!("no thread can be started: {error}"))?;
        let first = Collector::start(&task, task.existing, 0, &shared)?;
        let _ = sender.send(first);
        Ok(Self { shared, thread })
    }

    /// Lets the collector store the rest, and waits for that. Also gives what it has reported.
    pub fn finish(self) -> (Finished, Said) {
        self.shared.ending.store(true, Ordering::SeqCst);
        drop(self.shared.stdin().take());
        let finished = self.thread.join();
        let finished =
            finished.unwrap_or_else(|_| Finished::Left(Some("the collector's keeper failed".into())));
        (finished, self.shared.said().clone())
    }
}

impl Shared {
    fn stdin(&self) -> std::sync::MutexGuard<'_, Option<ChildStdin>> {
        self.stdin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A collector's process.
struct Collector {
    child: Child,
    lines: BufReader<ChildStdout>,
    started: Instant,
}

impl Collector {
    fn start(task: &Task, existing: OnExisting, number: usize, shared: &Shared) -> Result<Self, String> {
        let program = std::env::current_exe()
            .map_err(|error| format!("cannot find this program's own executable: {error}"))?;
        let mut command = Command::new(program);
        let existing = match existing {
            OnExisting::Continue => "continue",
            OnExisting::Replace => "replace",
            OnExisting::Refuse => "refuse",
        };
        command.arg("collect").arg("--existing").arg(existing);
        command.arg("--root").arg(&task.root).arg("--output").arg(&task.output).args(task.store.words());
        command.args(task.backtrace.words()).arg("--filter").arg(&task.filter);
        fault(&mut command, number);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        processes::leave_alone(&mut command);
        let mut child =
            command.spawn().map_err(|error| format!("the collector cannot be started: {error}"))?;
        let stdin = child.stdin.take();
        {
            let mut slot = shared.stdin();
            *slot = if shared.ending.load(Ordering::SeqCst) { None } else { stdin };
        }
        let mut collector = match child.stdout.take() {
            Some(stdout) => Self { child, lines: BufReader::new(stdout), started: Instant::now() },
            None => return Err("the collector has no standard output".into()),
        };
        match collector.line() {
            Some(line) if line == "ready" => Ok(collector),
            said => {
                let status = collector.child.wait().map_err(|error| error.to_string())?;
                let error = said.and_then(|line| line.strip_prefix("failed ").map(str::to_owned));
                Err(error.unwrap_or_else(|| format!("the collector could not begin ({status})")))
            }
        }
    }

    /// The next line that it reports; `None` when it is dead.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).unwrap_or(0);
        // The collector died while it wrote a line without an end.
        (read > 0).then(|| line.strip_suffix('\n').map(str::to_owned)).flatten()
    }
}

/// A place where a test makes the n-th collector die, from `SILVERPOINT_FAULT=place:nth,place:nth…`.
fn fault(command: &mut Command, number: usize) {
    if !cfg!(feature = "fault-points") {
        return;
    }
    let places = std::env::var_os("SILVERPOINT_FAULT").unwrap_or_default();
    match places.to_str().unwrap_or("").split(',').nth(number).filter(|place| !place.is_empty()) {
        Some(place) => command.env("SILVERPOINT_FAULT", OsStr::new(place)),
        None => command.env_remove("SILVERPOINT_FAULT"),
    };
}

fn keep(task: &Task, mut collector: Collector, shared: &Shared) -> Finished {
    let mut number = 0;
    // Deaths one after the other, without a long life between.
    let mut deaths = 0_u32;
    loop {
        match collector.line().as_deref() {
            Some("done") => {
                let _ = collector.child.wait();
                return Finished::Done;
            }
            Some("background") => return Finished::Background,
            Some(line) if line.starts_with("left") => {
                let _ = collector.child.wait();
                return Finished::Left(None);
            }
            Some(line) => shared.said().add(line),
            None => {
                let status = collector.child.wait();
                if collector.started.elapsed() >= LONG_LIFE {
                    deaths = 0;
                }
                match revive(task, &mut number, &mut deaths, shared) {
                    Ok(next) => collector = next,
                    Err(error) => return Finished::Left(Some(error)),
                }
                if !task.quiet {
                    let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                    note(format_args!(
                        "the collector died ({how}) and was started again; no records were lost"
                    ));
                }
            }
        }
    }
}

/// Starts the next collector; tries as long as the command runs.
fn revive(task: &Task, number: &mut usize, deaths: &mut u32, shared: &Shared) -> Result<Collector, String> {
    let mut said = String::new();
    let mut last_attempts = 0;
    loop {
        *number += 1;
        *deaths += 1;
        // The first is started again at once: producers may be waiting.
        if *deaths > 1 {
            std::thread::sleep(Duration::from_millis(10 << (*deaths).min(10)).min(LONGEST_PAUSE));
        }
        // A missing file is created again.
        match Collector::start(task, OnExisting::Continue, *number, shared) {
            Ok(collector) => return Ok(collector),
            Err(error) if shared.ending.load(Ordering::SeqCst) && last_attempts >= LAST_ATTEMPTS => {
                return Err(format!(
                    "the collector cannot be started again: {error}; the rest stays in {}: run `silverpoint recover --all` to store it",
                    task.root.display()
                ));
            }
            Err(error) => {
                last_attempts += u32::from(shared.ending.load(Ordering::SeqCst));
                if said != error {
                    note(format_args!(
                        "the collector died and cannot be started again: {error}; retrying until it can"
                    ));
                    said = error;
                }
            }
        }
    }
}
