//! `silverpoint attach`: collects from a program that runs already, and lets go of it.
//!
//! Two processes, so that the program is as before at once also when one of them is killed: the worker collects, and lets go when its standard input ends; the
//! guard waits, and puts back what the worker had kept when it dies. When both are killed, whoever comes next to the session puts it back.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;
use silverpoint_collect::{AttachMode, Collector, Config, Existing, Filter};
use silverpoint_shm::observer::ObservedSession;

use crate::collect::{InputEnd, tell};
use crate::exit::{Exit, Outcome, failure, inform, note};
use crate::sessions::{self, Place};
use crate::store::{Store, directives};
use crate::summary::Summary;
use crate::{names, processes};

/// Collect from a running program until it ends or Ctrl-C; then everything in it is as before
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 done; 1 the file cannot be written, or another collector has the process; 2 wrong usage; 5 records \
could not be stored meanwhile, or somebody removed them; 6 no such process."
)]
pub struct Args {
    /// Process id
    pid: u32,
    /// The trace file; one that is there is replaced [default: NAME.silver after the program, NAME-2.silver … when it is there]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which sites record meanwhile [default: those that do already, or all when none do]
    #[arg(long, value_name = "DIRECTIVES", value_parser = directives)]
    filter: Option<String>,
    /// Stop after this time
    #[arg(long = "for", value_name = "TIME", value_parser = crate::units::duration)]
    duration: Option<Duration>,
    /// Be the worker, guarded by whoever holds the other end of standard input.
    #[arg(long, hide = true)]
    worker: bool,
    #[command(flatten)]
    store: Store,
}

/// Between two looks whether the process still lives, when it has no session.
const GONE_INTERVAL: Duration = Duration::from_millis(200);

pub fn run(args: Args) -> Outcome {
    if args.worker { work(args) } else { guard(args.pid) }
}

/// Starts the worker, waits for it, and cleans up after it if it is killed.
fn guard(pid: u32) -> Outcome {
    let places = sessions::living(pid)?;
    refuse_taken(&places)?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGCHLD])
        .map_err(|error| failure(format!("signals cannot be watched: {error}")))?;
    let program =
        std::env::current_exe().map_err(|error| failure(format!("this program's file: {error}")))?;
    let mut worker = Command::new(program)
        .args(std::env::args_os().skip(1))
        .arg("--worker")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| failure(format!("the collector's process cannot be started: {error}")))?;
    let status = wait(&mut worker, &mut signals).map_err(failure)?;
    let Some(code) = status.code() else {
        put_back(&places);
        return Err(failure(format!(
            "the collector was killed by signal {}; process {pid} is as it was, and what was stored is in the file",
            status.signal().unwrap_or(0)
        )));
    };
    // The worker has said why.
    std::process::exit(code)
}

fn wait(worker: &mut Child, signals: &mut Signals) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = worker.try_wait()? {
            return Ok(status);
        }
        for signal in signals.wait() {
            if signal != SIGCHLD {
                // The end of its standard input: it lets go.
                drop(worker.stdin.take());
            }
        }
    }
}

/// Puts the sessions' modes back, as far as they are there and nobody else collects them.
fn put_back(places: &[Place]) {
    for place in places {
        let Ok(session) = place.open() else { continue };
        if let Err(error) = session.restore_abandoned_mode() {
            note(place.failed(error));
        }
    }
}

fn work(args: Args) -> Outcome {
    let places = sessions::living(args.pid)?;
    let filter = match &args.filter {
        Some(text) => Some(text.clone()),
        None => default_filter(&places)?,
    };
    let (output, existing) = match &args.output {
        Some(path) => (path.clone(), Existing::Replace),
        None => {
            let program = processes::executable_name(args.pid).unwrap_or_else(|| "attached".into());
            (names::free(&program), Existing::Refuse)
        }
    };
    let output =
        std::path::absolute(&output).map_err(|error| failure(format!("{}: {error}", output.display())))?;
    let config = Config {
        // Opened already: they may be another user's.
        roots: Vec::new(),
        filter: Filter::pids([args.pid]),
        output: args.store.output(output.clone(), existing),
        // What the program does when a ring is full stays its owner's choice.
        attach: Some(AttachMode { directives: filter, policy: None, block_max_ms: None }),
        backtrace: None,
        remove_dead: true,
        is_eager: false,
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| failure(format!("signals cannot be watched: {error}")))?;
    }
    // SIGXFSZ: a file that may not grow is an error as any other is.
    for signal in [SIGUSR1, SIGXFSZ] {
        signal_hook::flag::register(signal, Arc::default())
            .map_err(|error| failure(format!("signals cannot be watched: {error}")))?;
    }
    let is_alone = InputEnd::watch();
    let mut collector = Collector::new(config).map_err(failure)?;
    for root in sessions::roots(Some(args.pid))? {
        if let Some(root) = Arc::into_inner(root) {
            collector.add_root(root);
        }
    }
    let unstorable_before = known_losses(Summary::default(), &places, false).unstorable();
    let begun = Instant::now();
    let mut looked = Instant::now();
    loop {
        let pass = collector.pass();
        tell(&mut collector);
        if pass.sessions == 0 && collector.stats().sessions == 0 {
            // Between the look and the pass it has ended, or somebody has taken it.
            refuse_taken(&places)?;
        }
        let over = args.duration.is_some_and(|duration| begun.elapsed() >= duration);
        if stop.load(Ordering::Relaxed) || is_alone.has_come() || over {
            break;
        }
        // A process that executes another program has no session for a moment.
        if pass.sessions == 0 && looked.elapsed() >= GONE_INTERVAL {
            if !processes::is_alive(args.pid) {
                break;
            }
            looked = Instant::now();
        }
        collector.rest();
    }
    collector.let_go();
    tell(&mut collector);
    let is_whole = !collector.is_failing();
    let missing = collector.missing();
    let closed = collector.close();
    let mut is_complete = missing.removed == 0;
    match Summary::of_what_is_there(&output) {
        Ok(summary) => {
            let mut summary = known_losses(summary, &places, !is_whole);
            summary.missing = missing;
            is_complete &= !summary.is_absent && summary.unstorable() <= unstorable_before;
            match summary.is_lossy() {
                true => note(summary.line(&output)),
                false => inform(summary.line(&output)),
            }
        }
        Err(error) => note(format_args!("{}: {error}", output.display())),
    }
    if is_whole {
        return match closed {
            Err(error) if missing.removed == 0 => Err(failure(error)),
            _ if is_complete => Ok(Exit::Success),
            _ => Ok(Exit::Lossy),
        };
    }
    let pid = args.pid;
    Err(failure(format!(
        "{}: it could not be written to the end; what is not in it stays with process {pid}, and is there for `silverpoint recover {pid}` when that has ended",
        output.display()
    )))
}

/// With what the sessions know of their losses, and, with `is_unstored`, of what they hold. One that has ended was stored whole and is gone.
fn known_losses(mut summary: Summary, places: &[Place], is_unstored: bool) -> Summary {
    for place in places {
        if let Ok(session) = ObservedSession::open_read_only(&place.root, place.name) {
            let _ = summary.add_session(&session, is_unstored);
        }
    }
    summary
}

/// A program that records nothing by itself is attached to in order to see something.
fn default_filter(places: &[Place]) -> Result<Option<String>, crate::exit::Failed> {
    refuse_taken(places)?;
    for place in places {
        let session = place.open()?;
        // What an attachment that died had asked for is not what the program records by itself.
        session.restore_abandoned_mode().map_err(|error| place.failed(error))?;
        let directives = session.directives().map_err(|error| place.failed(error))?;
        if !directives.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
    }
    Ok(Some("trace".into()))
}

fn refuse_taken(places: &[Place]) -> Result<(), crate::exit::Failed> {
    for place in places {
        let session = place.open()?;
        if session.is_collected().map_err(|error| place.failed(error))? {
            let pid = session.counters().map_or(0, |counters| counters.collector_pid);
            return Err(place.failed(format!(
                "process {pid} collects it already; `silverpoint ctl {} DIRECTIVES` changes what it records",
                place.name.pid
            ))
            .into());
        }
    }
    Ok(())
}
