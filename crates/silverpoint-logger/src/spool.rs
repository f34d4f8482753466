//! The spool's directory: the trace file that the collector writes, the sinks' cursors, and what is known of sessions for a successor.
//!
//! ```text
//!  lock              held by the logger that uses the directory
//!  spool.silver      the trace file, with older parts spool.N.silver until every sink has read them
//!  sessions          names of the sessions that were collected into it, one a line
//!  NAME.0, NAME.1    the cursor of a file sink (module cursor)
//! ```

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use silverpoint_shm::observer::{ObservedSession, SessionName, list};
use silverpoint_shm::root::Root;

use crate::config::{Config, To};
use crate::error::LoggerError;

/// Directories that are tried: as many processes can name the same file.
const ATTEMPTS: u32 = 1000;
/// Bytes of the list of sessions that are read.
const SESSIONS_MAX: u64 = 1 << 20;
/// Names of spools that nobody continues.
const TEMPORARY: &str = "silverpoint-log-";

/// See the module.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    /// Held until the spool goes.
    _lock: File,
    /// Which of several processes with the same files this is: the first has 1.
    pub(crate) number: u32,
    /// Nothing is kept for a successor: there are no files.
    pub(crate) is_temporary: bool,
    known: HashSet<SessionName>,
}

impl Spool {
    /// Takes the directory that the configuration asks for, or one beside it when another process has that.
    pub(crate) fn open(config: &Config) -> Result<Self, LoggerError> {
        let file = config.sinks.iter().find_map(|sink| match &sink.to {
            To::File(file) => Some(file.path.clone()),
            _ => None,
        });
        let is_temporary = config.spool.is_none() && file.is_none();
        let directory_of = |number: u32| match (&config.spool, &file) {
            (Some(spool), _) => numbered(spool, number),
            (None, Some(file)) => {
                let mut file = numbered(file, number);
                file.as_mut_os_string().push(".spool");
                file
            }
            (None, None) => numbered(&temporary(), number),
        };
        for number in 1..=ATTEMPTS {
            let directory = directory_of(number);
            make_directory(&directory)
                .map_err(LoggerError::io(&directory, "making the spool's directory"))?;
            let path = directory.join("lock");
            let options = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).to_owned();
            let lock = options.open(&path).map_err(LoggerError::io(&path, "opening it"))?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => continue,
                Err(error) => return Err(LoggerError::io(&path, "locking it")(error.into())),
            }
            // A logger that ended between the two calls has removed it: what is locked would be nobody's.
            if !is_same_file(&lock, &path) {
                continue;
            }
            return Ok(Self { directory, _lock: lock, number, is_temporary, known: HashSet::new() });
        }
        Err(LoggerError::io(directory_of(1), "finding a directory that no other process has")(
            io::ErrorKind::AddrInUse.into(),
        ))
    }

    /// The trace file.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join("spool.silver")
    }

    /// A file of the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Sessions that a logger which died had collected here, and that are dead.
    pub(crate) fn left_behind(&self, root: &Root) -> HashSet<SessionName> {
        let path = self.path("sessions");
        if fs::metadata(&path).map_or(0, |found| found.len()) > SESSIONS_MAX {
            return HashSet::new();
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let listed: HashSet<&str> = text.lines().collect();
        let mut names: HashSet<SessionName> = list(root).unwrap_or_default().into_iter().collect();
        names.retain(|name| {
            listed.contains(name.to_string().as_str())
                && ObservedSession::open(root, *name)
                    .and_then(|session| session.is_alive())
                    .is_ok_and(|alive| !alive)
        });
        names
    }

    /// Notes sessions for a successor.
    pub(crate) fn note_sessions(&mut self, names: &[SessionName]) -> io::Result<()> {
        let new: Vec<String> =
            names.iter().filter(|name| self.known.insert(**name)).map(|name| format!("{name}\n")).collect();
        if new.is_empty() || self.is_temporary {
            return Ok(());
        }
        let options = OpenOptions::new().create(true).append(true).mode(0o600).to_owned();
        options.open(self.path("sessions"))?.write_all(new.concat().as_bytes())
    }

    /// Removes everything: every sink has got everything.
    pub(crate) fn remove(self) -> io::Result<()> {
        fs::remove_dir_all(&self.directory)
    }
}

/// What a process uses that finds others with the same files: `app-2.log`, `app-3.log` …
pub(crate) fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// For a logger without files. A directory that its process left when it was killed is nobody's: see [`sweep`].
fn temporary() -> PathBuf {
    let directory = std::env::temp_dir();
    sweep(&directory);
    directory.join(format!("{TEMPORARY}{}", std::process::id()))
}

/// Removes the user's temporary spools that no logger uses.
fn sweep(parent: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_spool = entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY));
        let is_own = || entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if !is_spool || !is_own() {
            continue;
        }
        let lock = OpenOptions::new().write(true).open(entry.path().join("lock"));
        // Without a lock it is being made this moment.
        if lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn make_directory(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result,
    }
}

fn is_same_file(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}
