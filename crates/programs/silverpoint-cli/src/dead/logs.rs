//! Sessions that a logger had collected: their records go to its logs, as far as they are missing there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use silverpoint_logger::{Flushed, Unfinished};
use silverpoint_shm::observer::ObservedSession;
use silverpoint_shm::root::Root;

use crate::exit::{Exit, Failed, Outcome, failure, note};
use crate::recover::how::How;
use crate::sessions::Place;

/// How long to wait for sinks that cannot be written.
const PATIENCE: Duration = Duration::from_secs(10);

/// A logger that died, with its sessions of one root.
struct Logger {
    unfinished: Unfinished,
    root: PathBuf,
    places: Vec<Place>,
}

/// Delivers what loggers had collected, and gives the sessions that belong to no logger.
pub fn deliver(places: Vec<Place>) -> (Vec<Place>, Outcome) {
    let (loggers, others) = sort(places);
    let mut undelivered = 0;
    for Logger { unfinished, root, places } in loggers {
        let directory = unfinished.directory().display();
        let sessions: Vec<String> = places.iter().map(|place| place.name.to_string()).collect();
        let what = format!("{}: it belongs to a logger (spool {directory})", sessions.join(", "));
        let delivered = Root::open_directory(&root)
            .map_err(|error| error.to_string())
            .and_then(|root| unfinished.deliver(Some(root), PATIENCE).map_err(|error| error.to_string()));
        match delivered {
            Ok((sinks, Flushed::Complete)) => {
                note(format_args!("{what}; the missing records are now in {}", sinks.join(", ")));
            }
            Ok((sinks, _)) => {
                undelivered += 1;
                let sinks = sinks.join(", ");
                note(format_args!(
                    "{what}; some records could not be written to {sinks} and stay in the spool: {}",
                    what_to_do(&unfinished)
                ));
            }
            Err(error) => {
                undelivered += 1;
                let next =
                    "the program's next start delivers its records, and --keep copies them into a trace file";
                note(format_args!("{what}; it could not be delivered and stays: {error}; {next}"));
            }
        }
    }
    match undelivered {
        0 => (others, Ok(Exit::Success)),
        1 => (others, Err(failure("the log of one program is not complete: see above".to_owned()))),
        count => (others, Err(failure(format!("the logs of {count} programs are not complete: see above")))),
    }
}

/// A logger's spool that a target names. `None`: it names none.
pub fn of_target(target: &str, how: &How<'_>) -> Option<Outcome> {
    let spool = Unfinished::in_directory(Path::new(target))?;
    Some(match how.output.is_some() || how.keep {
        true => Err(Failed::new(
            Exit::Usage,
            format!(
                "{target}: a logger's spool is delivered to its own logs; leave out -o and --keep, or read its trace file {target}/spool.silver"
            ),
        )),
        false => deliver_spool(&spool),
    })
}

/// Delivers the records of a spool, and those that the sessions in its list hold: as many as possible.
fn deliver_spool(spool: &Unfinished) -> Outcome {
    let mut troubles = Vec::new();
    let mut roots = Vec::new();
    for path in spool.roots() {
        match Root::open_directory(&path) {
            Ok(root) => roots.push(Some(root)),
            Err(error) => troubles.push(format!(
                "{} cannot be opened: {error}; the records of its sessions stay there",
                path.display()
            )),
        }
    }
    if roots.is_empty() {
        // No root exists or is accessible: the records in the spool itself are delivered all the same.
        match Root::open_or_create() {
            Ok(root) => roots.push(Some(root)),
            Err(error) => {
                roots.push(None);
                troubles.push(format!(
                    "the directory of sessions cannot be used: {}",
                    silverpoint_shm::root::explained(error)
                ));
            }
        }
    }
    let mut sinks = Vec::new();
    for root in roots {
        // The spool is removed with its last session.
        if !spool.directory().exists() {
            break;
        }
        // An error here concerns the spool or its sinks, so any other root would fail too.
        match spool.deliver(root, PATIENCE) {
            Ok((labels, Flushed::Complete)) => sinks = labels,
            Ok((labels, _)) => {
                troubles.push(format!(
                    "some records could not be written to {} and stay in the spool: {}",
                    labels.join(", "),
                    what_to_do(spool)
                ));
                break;
            }
            Err(error) => {
                troubles.push(error.to_string());
                break;
            }
        }
    }
    let directory = spool.directory().display();
    if !sinks.is_empty() && !spool.directory().exists() {
        // All that exists was delivered: what could not be opened holds no session of the list.
        troubles.clear();
    }
    if troubles.is_empty() && spool.directory().exists() {
        troubles.push(
            "another process holds a session of its list; repeat the command after that process has ended"
                .to_owned(),
        );
    }
    if !troubles.is_empty() {
        return Err(failure(format!("{directory}: {}", troubles.join("; "))));
    }
    note(format_args!("{directory}: the missing records are now in {}", sinks.join(", ")));
    Ok(Exit::Success)
}

/// What to do when a sink could not take everything: its sessions may no longer exist.
fn what_to_do(spool: &Unfinished) -> String {
    format!(
        "when that can be written, run `silverpoint recover {}`, or start the program again",
        spool.directory().display()
    )
}

/// By loggers, and the rest.
fn sort(places: Vec<Place>) -> (Vec<Logger>, Vec<Place>) {
    let (mut loggers, mut others): (Vec<Logger>, _) = (Vec::new(), Vec::new());
    for place in places {
        let session = ObservedSession::open_read_only(&place.root, place.name);
        let intent = session.ok().and_then(|session| session.intent().ok().flatten());
        let found = intent.and_then(|intent| Unfinished::of(&place.name.to_string(), &intent.path));
        let Some(unfinished) = found else {
            others.push(place);
            continue;
        };
        let root = place.root.path().to_owned();
        match loggers.iter_mut().find(|known| known.unfinished == unfinished && known.root == root) {
            Some(known) => known.places.push(place),
            None => loggers.push(Logger { unfinished, root, places: vec![place] }),
        }
    }
    (loggers, others)
}
