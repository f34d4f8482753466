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
            .and_then(|root| unfinished.deliver(root, PATIENCE).map_err(|error| error.to_string()));
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

/// Delivers what waits in a spool, with what sessions hold that its list names.
pub fn deliver_spool(spool: &Unfinished) -> Outcome {
    let fail = |error: &dyn std::fmt::Display| failure(format!("{}: {error}", spool.directory().display()));
    let mut roots = spool.roots();
    if roots.is_empty() {
        // Its sessions are gone, but a logger looks somewhere.
        roots.push(Root::open_or_create().map_err(|error| fail(&error))?.path().to_owned());
    }
    let mut sinks = Vec::new();
    let mut refused = Vec::new();
    for root in roots {
        // It goes when the last session has been taken.
        if !spool.directory().exists() {
            break;
        }
        let root = match Root::open_directory(&root) {
            Ok(root) => root,
            // The other ones have their part all the same.
            Err(error) => {
                refused.push(format!("{}: {error}", root.display()));
                continue;
            }
        };
        let (labels, flushed) = spool.deliver(root, PATIENCE).map_err(|error| fail(&error))?;
        sinks = labels;
        if flushed != Flushed::Complete {
            let sinks = sinks.join(", ");
            return Err(fail(&format_args!(
                "not everything could be written to {sinks}, and waits there: {}",
                what_to_do(spool)
            )));
        }
    }
    if !refused.is_empty() && spool.directory().exists() {
        return Err(fail(&format_args!(
            "its list names sessions in a directory that cannot be opened, and what these hold waits there: {}",
            refused.join("; ")
        )));
    }
    if spool.directory().exists() {
        return Err(fail(
            &"a session that its list names is held by another process, and waits there; the same words again take it when that has ended",
        ));
    }
    note(format_args!("{}: what was missing is in {} now", spool.directory().display(), sinks.join(", ")));
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
