//! The collector's own process: a hidden command that `run` starts, and starts again when it dies.
//!
//! It reports to the supervisor with lines on its standard output. The first is `ready` when the file is
//! open, or `failed …`. Its standard input ends when the command has ended or the supervisor has died. Then
//! it writes one of:
//! - `background`: processes of the run still live;
//! - `done`: everything is stored;
//! - `left …`: something could not be stored and stays where it is.
//!
//! Three lines may precede these. `missing REMOVED ELSEWHERE` gives the number of stored records that no
//! longer exist, `sessions N` the number of sessions. `unmatched DIRECTIVES` names the directives that select
//! none of their sites.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use silverpoint_collect::{Collector, Config, Existing, Message, Missing, Pass};
use silverpoint_shm::observer::{ObservedSession, list};
use silverpoint_shm::root::Root;

use crate::backtrace::{self, Backtrace, Wishes};
use crate::exit::{Exit, Outcome, at, note};
use crate::platform::processes::Processes;
use crate::platform::{detached, ending};
use crate::store::Store;
use crate::units::show_number;

/// Collects all sessions of a directory until the run ends.
#[derive(clap::Args)]
pub struct Args {
    /// The private directory of sessions.
    #[arg(long)]
    root: PathBuf,
    /// The trace file, an absolute path.
    #[arg(long)]
    output: PathBuf,
    /// What to do when the file exists.
    #[arg(long, value_enum)]
    existing: OnExisting,
    /// The run's directives, to report those that select no site.
    #[arg(long, default_value = "")]
    filter: String,
    #[command(flatten)]
    store: Store,
    #[command(flatten)]
    backtrace: Backtrace,
}

/// What to do when the file exists.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExisting {
    /// Continue it: its writer died.
    Continue,
    /// Replace it.
    Replace,
    /// Fail.
    Refuse,
}

/// How long a collector whose run has ended keeps trying to store the rest, when the file cannot be written.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long dead sessions may remain that another program holds or that contradict the rules.
const SETTLE: Duration = Duration::from_secs(3);

pub fn run(args: Args) -> Outcome {
    let asked = detached::detach().map_err(at("signals cannot be watched"))?;
    let existing = match args.existing {
        OnExisting::Continue => Existing::Continue,
        OnExisting::Replace => Existing::Replace,
        OnExisting::Refuse => Existing::Refuse,
    };
    let config = Config {
        backtrace: args.backtrace.limits(),
        ..Config::new(&args.root, args.store.output(args.output, existing))
    };
    let mut collector = match Collector::new(config) {
        Ok(collector) => collector,
        Err(error) => {
            // The supervisor reports it, or starts a successor.
            say(&format!("failed {error}"));
            return Ok(Exit::RunFailed);
        }
    };
    collector.look_for(&args.filter);
    say("ready");
    let ending = InputEnd::watch();
    let mut end = End::new(&args.root);
    let mut wishes = Wishes::of(&args.root, args.backtrace.limits().is_some());
    let state = loop {
        // Checked before the pass: the pass then stores everything that existed when the run ended.
        let is_ending = ending.has_come();
        let pass = collector.pass();
        wishes.serve(&mut collector, pass);
        tell(&mut collector);
        if is_ending {
            match end.state(pass) {
                State::Running if asked.load(Ordering::Relaxed) => break State::Running,
                State::Running => end.say_background(),
                State::Settling => {}
                over => break over,
            }
        }
        collector.rest();
    };
    collector.let_go();
    tell(&mut collector);
    let missing = collector.missing();
    if missing != Missing::default() {
        say(&format!("missing {} {}", missing.removed, missing.elsewhere));
    }
    say(&format!("sessions {}", collector.stats().sessions));
    let unmatched: Vec<&str> = collector.unmatched().collect();
    say(&format!("unmatched {}", unmatched.join(",")));
    if let Err(error) = collector.close() {
        note(error);
    }
    match state {
        State::Left(why) => {
            let text = format!(
                "{why}; the rest stays in {}: run `silverpoint recover --all` to store it",
                args.root.display()
            );
            note(&text);
            say(&format!("left {text}"));
        }
        _ => {
            // Others may still use it, such as a run within this run.
            backtrace::remove_root(&args.root);
            say("done");
        }
    }
    Ok(Exit::Success)
}

/// The end of standard input: the supervisor has closed its end, or died. A thread waits for it and then ends
/// the collector's sleep. Where no thread can be started, every pass checks.
pub(crate) enum InputEnd {
    /// Set by a thread.
    Watched(Arc<AtomicBool>),
    /// Checked by each pass; true once the end was found.
    Polled(std::cell::Cell<bool>),
}

impl InputEnd {
    /// Starts to watch. Needs [`ending::let_wake`], so that it can end the collector's sleep.
    pub(crate) fn watch() -> Self {
        let ending = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ending);
        let wait = move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            flag.store(true, Ordering::Release);
            ending::wake();
        };
        match std::thread::Builder::new().name("stdin".into()).spawn(wait) {
            Ok(_) => Self::Watched(ending),
            Err(_) => Self::Polled(std::cell::Cell::new(false)),
        }
    }

    /// Whether the end has come.
    pub(crate) fn has_come(&self) -> bool {
        match self {
            Self::Watched(flag) => flag.load(Ordering::Acquire),
            Self::Polled(found) => {
                let look =
                    || ending::is_input_ready() && !matches!(std::io::stdin().read(&mut [0; 256]), Ok(1..));
                let now = found.get() || look();
                found.set(now);
                now
            }
        }
    }
}

/// What is left of a run whose command has ended.
enum State {
    /// Processes that may trace.
    Running,
    /// Sessions that the next passes finish.
    Settling,
    /// Nothing.
    Done,
    /// Sessions that cannot be stored, and why.
    Left(String),
}

struct End<'a> {
    root: &'a Path,
    processes: Processes,
    said_background: bool,
    /// Since when dead sessions remain and nothing changes.
    still_since: Option<Instant>,
}

impl<'a> End<'a> {
    fn new(root: &'a Path) -> Self {
        Self { root, processes: Processes::of(root), said_background: false, still_since: None }
    }

    /// Determines what is left after a pass.
    fn state(&mut self, pass: Pass) -> State {
        // In this order: a process that makes its session and ends in between is seen in one of the two places.
        let is_running = self.processes.is_any_left();
        let (living, dead) = sessions(self.root);
        if is_running || living > 0 {
            self.still_since = None;
            return State::Running;
        }
        if dead == 0 && pass.sessions == 0 {
            return State::Done;
        }
        if pass.bytes > 0 {
            self.still_since = None;
        }
        let still = self.still_since.get_or_insert_with(Instant::now).elapsed();
        if pass.is_failing && still >= PATIENCE {
            return State::Left(format!(
                "{} could not be stored, since the trace file cannot be written",
                show_number(dead as u64, "session")
            ));
        }
        if !pass.is_failing && still >= SETTLE {
            return State::Left(format!(
                "{} could not be read, or another collector has them",
                show_number(dead as u64, "session")
            ));
        }
        State::Settling
    }

    /// Reports `background` once, and closes the standard streams: a program that reads them to their end
    /// must not wait for this process.
    fn say_background(&mut self) {
        if std::mem::replace(&mut self.said_background, true) {
            return;
        }
        detached::close_streams(|| say("background"));
    }
}

/// How many sessions of a root live, and how many are dead.
fn sessions(root: &Path) -> (usize, usize) {
    let Ok(root) = Root::open_directory(root) else { return (0, 0) };
    let (mut living, mut dead) = (0, 0);
    for name in list(&root).unwrap_or_default() {
        match ObservedSession::open(&root, name).map(|session| session.is_alive()) {
            Ok(Ok(true)) => living += 1,
            _ => dead += 1,
        }
    }
    (living, dead)
}

/// A supervisor that died cannot read it; that is no reason to stop.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", line.replace('\n', " ")).and_then(|()| out.flush());
}

/// Prints the collector's messages.
pub fn tell(collector: &mut Collector) {
    pass_on(collector.take_messages());
}

/// Says what happened.
pub fn pass_on(messages: Vec<Message>) {
    messages.into_iter().for_each(note);
}
