//! Finding sessions: in the root, and in the private roots of `silverpoint run` beneath it (`run-…`).

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use silverpoint_shm::observer::{ObservedSession, SessionName, list};
use silverpoint_shm::platform::files;
use silverpoint_shm::root::{self, Root};

use crate::{ReadError, platform};

/// How the private roots of `run` are named: `run-<pid of the supervisor>-<random>`.
pub const RUN_PREFIX: &str = "run-";

/// Runs within runs that are looked into.
const MAX_DEPTH: usize = 8;
/// Entries of one root that are looked at.
const MAX_ENTRIES: usize = 100_000;

/// A session and the root that holds it.
#[derive(Clone)]
pub struct Place {
    /// The root, opened and checked.
    pub root: Arc<Root>,
    /// The session's name in it.
    pub name: SessionName,
}

impl Place {
    /// Opens the session.
    pub fn open(&self) -> Result<ObservedSession, ReadError> {
        ObservedSession::open(&self.root, self.name).map_err(|error| self.failed(error))
    }

    /// Path of the session's directory, for messages.
    pub fn path(&self) -> PathBuf {
        self.root.path().join(self.name.to_string())
    }

    /// An error that concerns this session.
    pub fn failed(&self, error: impl std::fmt::Display) -> ReadError {
        ReadError::Failed(format!("{}: {error}", self.path().display()))
    }
}

/// The root (for a process of another user, that user's root) and all private roots beneath it. None at all is no error.
pub fn roots(pid: Option<u32>) -> Result<Vec<Arc<Root>>, ReadError> {
    let root = pid.map_or_else(Root::open, platform::root_of);
    let root = match root {
        Ok(root) => root,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let error = root::explained(error);
            return Err(ReadError::Failed(format!("the directory of sessions cannot be used: {error}")));
        }
    };
    let mut found = vec![Arc::new(root)];
    let mut looked_at = 0;
    for _ in 0..MAX_DEPTH {
        let end = found.len();
        for at in looked_at..end {
            // One that is not ours, or that has gone meanwhile, is passed over.
            let beneath: Vec<_> =
                runs(&found[at])?.iter().filter_map(|name| found[at].open_beneath(name).ok()).collect();
            found.extend(beneath.into_iter().map(Arc::new));
        }
        looked_at = end;
    }
    Ok(found)
}

/// Names in a root that are those of private roots, sorted.
fn runs(root: &Root) -> Result<Vec<OsString>, ReadError> {
    let at = |error: std::io::Error| ReadError::Failed(format!("{}: {error}", root.path().display()));
    let mut names = Vec::new();
    for (name, _) in files::names(root.fd()).map_err(at)?.take(MAX_ENTRIES).flatten() {
        if name.to_str().is_some_and(|name| name.starts_with(RUN_PREFIX)) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The supervisor of a private root; `None` for any other root.
pub fn supervisor_of(root: &Root) -> Option<u32> {
    let name = root.path().file_name()?.to_str()?.strip_prefix(RUN_PREFIX)?;
    name.split('-').next()?.parse().ok()
}

/// All sessions that can be seen, or those of one process, ordered by root and name.
pub fn all(pid: Option<u32>) -> Result<Vec<Place>, ReadError> {
    let mut places = Vec::new();
    for root in roots(pid)? {
        let mut names =
            list(&root).map_err(|error| ReadError::Failed(format!("{}: {error}", root.path().display())))?;
        names.retain(|name| pid.is_none_or(|pid| pid == name.pid));
        names.sort_unstable();
        places.extend(names.into_iter().map(|name| Place { root: Arc::clone(&root), name }));
    }
    Ok(places)
}

/// The living sessions of a process; an error when there is none.
pub fn living(pid: u32) -> Result<Vec<Place>, ReadError> {
    let places = all(Some(pid))?;
    let found = places.len();
    let mut why_not = None;
    let mut alive = Vec::new();
    for place in places {
        match place.open().map(|session| session.is_alive().unwrap_or(false)) {
            Ok(true) => alive.push(place),
            Ok(false) => {}
            Err(error) => why_not = Some(error),
        }
    }
    if !alive.is_empty() {
        return Ok(alive);
    }
    if let Some(error) = why_not {
        return Err(error);
    }
    let why = if found > 0 {
        "its process is dead: `silverpoint recover` finishes it"
    } else {
        "there is no such process, or it does not use Silverpoint, or it is another user's (`silverpoint ls` lists what there is)"
    };
    Err(ReadError::NoSession(format!("process {pid} has no living session: {why}")))
}
