//! `silverpoint recover`: finishes dead sessions that no collector stored, and copies what is intact out of a
//! damaged trace file.

mod account;
mod file;
mod logs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use silverpoint_collect::{Account, Existing, OutputConfig, Recovery, has_stored_in};
use silverpoint_logger::Unfinished;
use silverpoint_shm::observer::{ObservedSession, SessionName};
use silverpoint_shm::root::Root;

use crate::exit::{Exit, Failed, Outcome, failure, inform, note};
use crate::names;
use crate::newfile::EXISTS;
use crate::processes::{self, Processes};
use crate::sessions::{self, Place};
use crate::summary::Summary;

/// Store what dead sessions hold, or what is intact in a damaged trace file
///
/// A program that dies leaves its session behind, with everything that it had recorded. A session is removed
/// when it is stored.
///
/// Records that a logger inside the program had collected go to the logger's own logs: in order, each once,
/// as at the program's next start. With --keep they are copied into the trace file like all others, and still
/// wait for the log. Records that a log could not take (a full disk) stay in the logger's spool, a directory
/// beside the log (`app.log.spool`). Give `recover` that directory to continue.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 everything is there; 5 stored, but something was really lost (standard error says what); 1 failed, or a \
session could not be opened (the others are stored); 2 wrong usage; 4 FILE is no trace file; 6 no such session."
)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub struct Args {
    /// Process id, name of a session (see `ls`), or path of a trace file or of a logger's spool
    #[arg(group = "what", value_name = "PID|SESSION|FILE|SPOOL")]
    target: Option<String>,
    /// All dead sessions
    #[arg(long, group = "what")]
    all: bool,
    /// The trace file to make. If it holds a part of these sessions, the rest is added. Any other existing
    /// file is replaced only with --force [default: a free name in the current directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the sessions where they are
    #[arg(long)]
    keep: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> Outcome {
    let target = args.target.as_deref().unwrap_or("");
    if args.all {
        let mut found = dead(None, |_| true)?;
        // The collector of a living run may be restarting; that run stores its own sessions.
        found.places.retain(|place| {
            let runs_on =
                sessions::supervisor_of(&place.root).filter(|supervisor| is_supervising(*supervisor));
            if let Some(supervisor) = runs_on {
                note(place.failed(format!("process {supervisor}, a `silverpoint run`, still stores it")));
            }
            runs_on.is_none()
        });
        let outcome = match found.places.is_empty() && found.unopened == 0 {
            true => {
                note("there are no dead sessions");
                Ok(Exit::Success)
            }
            false => found.into_file(&args, String::new),
        };
        if !args.keep {
            // A collector that was killed after storing a run's last session has left the run's root.
            sessions::roots(None)?.iter().for_each(|root| remove_run(root));
        }
        return outcome;
    }
    if let Ok(pid) = target.parse::<u32>() {
        let found = dead(Some(pid), |name| name.pid == pid)?;
        return found.into_file(&args, || format!("process {pid} has no dead session"));
    }
    if let Ok(wanted) = target.parse::<SessionName>() {
        let found = dead(Some(wanted.pid), |name| name == wanted)?;
        return found.into_file(&args, || format!("there is no dead session {wanted}"));
    }
    let path = Path::new(target);
    if let Some(spool) = Unfinished::in_directory(path) {
        return match args.output.is_some() || args.keep {
            true => Err(Failed::new(
                Exit::Usage,
                format!(
                    "{target}: a logger's spool is delivered to its own logs; leave out -o and --keep, or read its trace file {target}/spool.silver"
                ),
            )),
            false => logs::deliver_spool(&spool),
        };
    }
    file::recover(path, args.output.as_deref(), args.force)
}

/// Whether this process lives and is this program: the id may have been reused.
fn is_supervising(pid: u32) -> bool {
    let own = processes::executable_name(std::process::id());
    processes::is_alive(pid) && own.is_some() && processes::executable_name(pid) == own
}

fn no_session(what: &str) -> Failed {
    Failed::new(Exit::NoSession, format!("{what}; `silverpoint ls` lists what there is"))
}

/// Sessions that stay where they are: earlier messages have reported which, and why.
fn unopened_sessions(count: u32) -> Failed {
    let (sessions, are) = if count == 1 { ("session", "is") } else { ("sessions", "are") };
    failure(format!("{count} {sessions} could not be opened, and {are} not stored: see above"))
}

/// What a target stands for.
struct Found {
    places: Vec<Place>,
    /// Sessions that could not be opened, each with a remark.
    unopened: u32,
}

impl Found {
    /// Stores them; `none` gives the message when there are none.
    fn into_file(self, args: &Args, none: impl FnOnce() -> String) -> Outcome {
        let Found { places, unopened } = self;
        let outcome = match (places.is_empty(), unopened) {
            (true, 0) => return Err(no_session(&none())),
            (true, _) => Ok(Exit::Success),
            // A session that stays in place is not delivered to a log.
            (false, _) if args.keep => sessions_into_file(args, places),
            (false, _) => {
                let (others, delivered) = logs::deliver(places);
                let stored = match others.is_empty() {
                    true => Ok(Exit::Success),
                    false => sessions_into_file(args, others),
                };
                delivered.and(stored)
            }
        };
        match unopened {
            0 => outcome,
            unopened => outcome.and_then(|_| Err(unopened_sessions(unopened))),
        }
    }
}

/// Dead sessions without a collector.
fn dead(pid: Option<u32>, is_wanted: impl Fn(SessionName) -> bool) -> Result<Found, Failed> {
    let mut found = Found { places: Vec::new(), unopened: 0 };
    for place in sessions::all(pid)? {
        if !is_wanted(place.name) {
            continue;
        }
        // One that cannot be opened is reported; the others are recovered all the same.
        let session = match place.open() {
            Ok(session) => session,
            // Stored completely, and removed except for the rest.
            Err(_) if ObservedSession::finish_removal(&place.root, place.name) => continue,
            Err(error) => {
                note(error);
                found.unopened += 1;
                continue;
            }
        };
        if session.lives_on().map_err(|error| place.failed(error))? {
            continue;
        }
        if session.is_collected().map_err(|error| place.failed(error))? {
            note(place.failed("a collector is storing it"));
            continue;
        }
        found.places.push(place);
    }
    Ok(found)
}

fn sessions_into_file(args: &Args, places: Vec<Place>) -> Outcome {
    let places = by_root(places);
    let (output, mut existing) = match &args.output {
        // An interrupted recovery, or the collector of the run, began there; what it stored exists nowhere
        // else.
        Some(path) if places.iter().any(|(root, places)| has_stored_in(root, &names_of(places), path)) => {
            note(format_args!("{}: it holds a part of these sessions; the rest is added", path.display()));
            (path.clone(), Existing::Continue)
        }
        Some(path) if !args.force && std::fs::symlink_metadata(path).is_ok_and(|found| found.len() > 0) => {
            return Err(failure(format!("{}: {EXISTS}", path.display())));
        }
        Some(path) => (path.clone(), Existing::Replace),
        None => (names::free("recovered".as_ref()), Existing::Refuse),
    };
    let output =
        std::path::absolute(&output).map_err(|error| failure(format!("{}: {error}", output.display())))?;
    let mut accounts: Vec<(Place, Account)> = Vec::new();
    for (root, places) in places {
        let recovery = Recovery {
            sessions: names_of(&places),
            output: OutputConfig { existing, force: args.force, ..OutputConfig::new(&output) },
            remove: !args.keep,
        };
        existing = Existing::Continue;
        let stored = silverpoint_collect::recover(&root, recovery).map_err(|error| {
            failure(format!(
                "{error}; the records that are not in {} stay in {}: fix the cause, then recover again into the same file",
                output.display(),
                root.path().display()
            ))
        })?;
        accounts.extend(places.into_iter().zip(stored));
        if !args.keep {
            remove_run(&root);
        }
    }
    let is_whole = account::tell(&accounts, &output);
    match Summary::of(&output) {
        Ok(summary) if is_whole => inform(summary.line(&output)),
        Ok(summary) => note(summary.line(&output)),
        Err(error) => note(format_args!("{}: {error}", output.display())),
    }
    Ok(if is_whole { Exit::Success } else { Exit::Lossy })
}

fn names_of(places: &[Place]) -> Vec<SessionName> {
    places.iter().map(|place| place.name).collect()
}

/// Sessions of one root go together.
fn by_root(places: Vec<Place>) -> Vec<(Arc<Root>, Vec<Place>)> {
    let mut roots: Vec<(Arc<Root>, Vec<Place>)> = Vec::new();
    for place in places {
        match roots.iter_mut().find(|(root, _)| root.path() == place.root.path()) {
            Some((_, of_root)) => of_root.push(place),
            None => roots.push((Arc::clone(&place.root), vec![place])),
        }
    }
    roots
}

/// Removes the private root of a run that is over, with its last session.
fn remove_run(root: &Root) {
    let is_over = sessions::supervisor_of(root).is_some_and(|supervisor| !processes::is_alive(supervisor));
    if is_over && !Processes::of(root.path()).is_any_left() {
        // It stays if it is not empty.
        crate::backtrace::remove_root(root.path());
    }
}
