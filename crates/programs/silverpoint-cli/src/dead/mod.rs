//! Dead sessions that no collector stored: into a trace file, or to the logs of their loggers.

mod account;
#[cfg(unix)]
mod logs;

use std::sync::Arc;

use silverpoint_collect::{Account, Existing, OutputConfig, Recovery, has_stored_in};
use silverpoint_shm::observer::{ObservedSession, SessionName};
use silverpoint_shm::root::Root;

use crate::exit::{Exit, Failed, Outcome, failure, inform, note};
use crate::names;
use crate::newfile::EXISTS;
#[cfg(windows)]
use crate::platform::absent::logs;
use crate::platform::processes::{self, Processes};
use crate::recover::how::How;
use crate::sessions::{self, Place};
use crate::summary::Summary;

/// All of them.
pub fn all(how: &How<'_>) -> Outcome {
    let mut found = dead(None, |_| true)?;
    // The collector of a living run may be restarting; that run stores its own sessions.
    found.places.retain(|place| {
        let runs_on = sessions::supervisor_of(&place.root).filter(|supervisor| is_supervising(*supervisor));
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
        false => found.into_file(how, String::new),
    };
    if !how.keep {
        // A collector that was killed after storing a run's last session has left the run's root.
        sessions::roots(None)?.iter().for_each(|root| remove_run(root));
    }
    outcome
}

/// Those of a process, a session by its name, or a logger's spool. `None`: the target is none of these.
pub fn of_target(target: &str, how: &How<'_>) -> Option<Outcome> {
    let store = |pid, is_wanted: &dyn Fn(SessionName) -> bool, none: String| {
        dead(Some(pid), is_wanted).and_then(|found| found.into_file(how, || none))
    };
    if let Ok(pid) = target.parse::<u32>() {
        return Some(store(pid, &|name| name.pid == pid, format!("process {pid} has no dead session")));
    }
    if let Ok(wanted) = target.parse::<SessionName>() {
        let none = format!("there is no dead session {wanted}");
        return Some(store(wanted.pid, &|name| name == wanted, none));
    }
    logs::of_target(target, how)
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
    fn into_file(self, how: &How<'_>, none: impl FnOnce() -> String) -> Outcome {
        let Found { places, unopened } = self;
        let outcome = match (places.is_empty(), unopened) {
            (true, 0) => return Err(no_session(&none())),
            (true, _) => Ok(Exit::Success),
            // A session that stays in place is not delivered to a log.
            (false, _) if how.keep => sessions_into_file(how, places),
            (false, _) => {
                let (others, delivered) = logs::deliver(places);
                let stored = match others.is_empty() {
                    true => Ok(Exit::Success),
                    false => sessions_into_file(how, others),
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

fn sessions_into_file(how: &How<'_>, places: Vec<Place>) -> Outcome {
    let places = by_root(places);
    let (output, mut existing) = match how.output {
        // An interrupted recovery, or the collector of the run, began there; what it stored exists nowhere
        // else.
        Some(path) if places.iter().any(|(root, places)| has_stored_in(root, &names_of(places), path)) => {
            note(format_args!("{}: it holds a part of these sessions; the rest is added", path.display()));
            (path.to_owned(), Existing::Continue)
        }
        Some(path) if !how.force && std::fs::symlink_metadata(path).is_ok_and(|found| found.len() > 0) => {
            return Err(failure(format!("{}: {EXISTS}", path.display())));
        }
        Some(path) => (path.to_owned(), Existing::Replace),
        None => (names::free("recovered".as_ref()), Existing::Refuse),
    };
    let output =
        std::path::absolute(&output).map_err(|error| failure(format!("{}: {error}", output.display())))?;
    let mut accounts: Vec<(Place, Account)> = Vec::new();
    for (root, places) in places {
        let recovery = Recovery {
            sessions: names_of(&places),
            output: OutputConfig { existing, force: how.force, ..OutputConfig::new(&output) },
            remove: !how.keep,
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
        if !how.keep {
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
