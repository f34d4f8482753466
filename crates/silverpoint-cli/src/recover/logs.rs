//! Sessions that a logger had collected: what they hold is for its logs, as far as these have not got it.

use std::path::PathBuf;
use std::time::Duration;

use silverpoint_logger::{Flushed, Unfinished};
use silverpoint_shm::observer::ObservedSession;
use silverpoint_shm::root::Root;

use crate::exit::{Exit, Outcome, failure, note};
use crate::sessions::Place;

/// How long sinks are waited for that cannot be written.
const PATIENCE: Duration = Duration::from_secs(10);

/// A logger that died, with its sessions of one root.
struct Logger {
    unfinished: Unfinished,
    root: PathBuf,
    places: Vec<Place>,
}

/// Delivers what loggers had collected, and gives the sessions that are of none.
pub fn deliver(places: Vec<Place>) -> (Vec<Place>, Outcome) {
    let (loggers, others) = sort(places);
    let mut undelivered = 0;
    for Logger { unfinished, root, places } in loggers {
        let directory = unfinished.directory().display();
        let sessions: Vec<String> = places.iter().map(|place| place.name.to_string()).collect();
        let what = format!("{}: it is a logger's (its spool is {directory})", sessions.join(", "));
        let delivered = Root::open_directory(&root)
            .map_err(|error| error.to_string())
            .and_then(|root| unfinished.deliver(Some(root), PATIENCE).map_err(|error| error.to_string()));
        match delivered {
            Ok((sinks, Flushed::Complete)) => {
                note(format_args!("{what}; what was missing is in {} now", sinks.join(", ")));
            }
            Ok((sinks, _)) => {
                undelivered += 1;
                let sinks = sinks.join(", ");
                note(format_args!(
                    "{what}; not everything could be written to {sinks}, and waits there: {}",
                    what_to_do(&unfinished)
                ));
            }
            Err(error) => {
                undelivered += 1;
                let next = "its program's next start delivers it, and --keep copies it into a trace file";
                note(format_args!("{what}, and stays: {error}; {next}"));
            }
        }
    }
    match undelivered {
        0 => (others, Ok(Exit::Success)),
        1 => (others, Err(failure("the log of one program is not complete: see above".to_owned()))),
        count => (others, Err(failure(format!("the logs of {count} programs are not complete: see above")))),
    }
}

/// Delivers what waits in a spool, with what sessions hold that its list names: as much as can be.
pub fn deliver_spool(spool: &Unfinished) -> Outcome {
    let mut troubles = Vec::new();
    let mut roots = Vec::new();
    for path in spool.roots() {
        match Root::open_directory(&path) {
            Ok(root) => roots.push(Some(root)),
            Err(error) => troubles.push(format!(
                "what sessions hold in {} waits there, since that cannot be opened: {error}",
                path.display()
            )),
        }
    }
    if roots.is_empty() {
        // None is there, or may be looked at: what is in the spool itself is delivered all the same.
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
        // It goes when the last session has been taken.
        if !spool.directory().exists() {
            break;
        }
        // What fails here is the spool's matter or its sinks', so that it would fail with any other root.
        match spool.deliver(root, PATIENCE) {
            Ok((labels, Flushed::Complete)) => sinks = labels,
            Ok((labels, _)) => {
                troubles.push(format!(
                    "not everything could be written to {}, and waits there: {}",
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
        // Everything that is there was delivered: what could not be opened holds nothing that the list names.
        troubles.clear();
    }
    if troubles.is_empty() && spool.directory().exists() {
        troubles.push("a session that its list names is held by another process, and waits there; the same words again take it when that has ended".to_owned());
    }
    if !troubles.is_empty() {
        return Err(failure(format!("{directory}: {}", troubles.join("; "))));
    }
    note(format_args!("{directory}: what was missing is in {} now", sinks.join(", ")));
    Ok(Exit::Success)
}

/// When a sink could not be given everything: its sessions may be gone by then.
fn what_to_do(spool: &Unfinished) -> String {
    format!(
        "`silverpoint recover {}` delivers it when that can be written, and so does its program's next start",
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
