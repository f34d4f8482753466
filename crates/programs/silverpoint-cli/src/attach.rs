//! `silverpoint attach`: collects from a program that runs already, and lets go of it.
//!
//! Two processes, so that the program is restored at once even when one of them is killed. The worker
//! collects; it detaches when its standard input ends. The guard waits, and restores the sessions' modes when
//! the worker dies. When both are killed, the next process that opens the session restores it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use silverpoint_collect::{AttachMode, Collector, Config, Existing, Filter};
use silverpoint_shm::observer::ObservedSession;

use crate::collect::{InputEnd, tell};
use crate::exit::{Exit, Failed, Outcome, at, failure, inform, note};
use crate::names;
use crate::platform::{ending, processes};
use crate::sessions::{self, Place};
use crate::store::{Store, directives};
use crate::summary::Summary;

/// Collect from a running program until it ends or Ctrl-C, then restore its settings
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 done; 1 the file cannot be written, or another collector has the process; 2 wrong usage; 5 records \
could not be stored, or were removed; 6 no such process."
)]
pub struct Args {
    /// Process id
    pid: u32,
    /// The trace file; an existing one is replaced [default: NAME.silver after the program, NAME-2.silver …
    /// if that exists]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which sites record during the attachment [default: those that already record, or all if none does]
    #[arg(long, value_name = "DIRECTIVES", value_parser = directives)]
    filter: Option<String>,
    /// Stop after this time
    #[arg(long = "for", value_name = "DURATION", value_parser = crate::units::duration)]
    duration: Option<Duration>,
    /// Run as the worker. The guard holds the other end of standard input.
    #[arg(long, hide = true)]
    worker: bool,
    #[command(flatten)]
    store: Store,
}

/// Interval between checks that the process still lives, when it has no session.
const GONE_INTERVAL: Duration = Duration::from_millis(200);

pub fn run(args: Args) -> Outcome {
    if args.worker { work(args) } else { guard(args.pid) }
}

/// Starts the worker, waits for it, and cleans up after it if it is killed.
fn guard(pid: u32) -> Outcome {
    let places = sessions::living(pid)?;
    refuse_taken(&places)?;
    let mut guard = ending::Guard::new().map_err(unwatched)?;
    let program = std::env::current_exe()
        .map_err(|error| failure(format!("cannot find this program's own executable: {error}")))?;
    let mut worker = Command::new(program)
        .args(std::env::args_os().skip(1))
        .arg("--worker")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| failure(format!("the collector's process cannot be started: {error}")))?;
    let status = guard.wait(&mut worker).map_err(at("the collector's process"))?;
    let killer = ending::killer(status);
    // Windows has no sign of a death that another process has caused.
    if killer.is_some() || cfg!(windows) {
        put_back(&places);
    }
    if let Some(killer) = killer {
        return Err(failure(format!(
            "the collector was killed by {killer}; process {pid} has its settings back, and the records stored so far are in the file"
        )));
    }
    // The worker has reported why.
    std::process::exit(status.code().unwrap_or(Exit::Failure as i32))
}

fn unwatched(error: std::io::Error) -> Failed {
    failure(format!("signals cannot be watched: {error}"))
}

/// Restores the sessions' modes, where they still exist and no other collector has them.
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
    let stop = ending::flag().map_err(unwatched)?;
    // With a handler, the file size limit is an ordinary write error.
    ending::fail_at_size_limit().map_err(unwatched)?;
    ending::let_wake().map_err(unwatched)?;
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
            // It ended, or another collector took it, between the look and the pass.
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
        "{}: the file could not be written completely; the missing records stay in the session of process {pid}: run `silverpoint recover {pid}` after it has ended",
        output.display()
    )))
}

/// Adds the losses that the sessions have counted and, with `is_unstored`, what they still hold. A session
/// that has ended was stored completely and is gone.
fn known_losses(mut summary: Summary, places: &[Place], is_unstored: bool) -> Summary {
    for place in places {
        if let Ok(session) = ObservedSession::open_read_only(&place.root, place.name) {
            let _ = summary.add_session(&session, is_unstored);
        }
    }
    summary
}

/// The filter when the user gives none: everything, if the program records nothing by itself.
fn default_filter(places: &[Place]) -> Result<Option<String>, Failed> {
    refuse_taken(places)?;
    for place in places {
        let session = place.open()?;
        // The mode that a dead attachment left behind is not the program's own.
        session.restore_abandoned_mode().map_err(|error| place.failed(error))?;
        let directives = session.directives().map_err(|error| place.failed(error))?;
        if !directives.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
    }
    Ok(Some("trace".into()))
}

fn refuse_taken(places: &[Place]) -> Result<(), Failed> {
    for place in places {
        let session = place.open()?;
        if session.is_collected().map_err(|error| place.failed(error))? {
            let pid = session.counters().map_or(0, |counters| counters.collector_pid);
            return Err(place.failed(format!(
                "process {pid} already collects it; `silverpoint ctl {} DIRECTIVES` changes what it records",
                place.name.pid
            ))
            .into());
        }
    }
    Ok(())
}
