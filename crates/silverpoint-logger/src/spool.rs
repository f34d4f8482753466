//! The spool's directory: the trace file that the collector writes, the sinks' cursors, and what is known of sessions for a successor.
//!
//! ```text
//!  lock              held as long as any thread of a logger uses the directory; its text is the process id
//!  spool.silver      the trace file, with older parts spool.N.silver until every sink has read them
//!  sessions          names of the sessions that were collected into it, one a line
//!  NAME-HASH.0, .1   the cursor of a file sink (module cursor)
//! ```
//!
//! The directory is always one of our own making, with a name that ends in `.spool`: what is removed in the end is nobody else's.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, OFlags, flock};
use silverpoint_shm::observer::{ObservedSession, SessionName, list};
use silverpoint_shm::root::Root;

use crate::config::{Config, To};
use crate::error::LoggerError;

/// Directories that are tried: as many processes can name the same file.
const ATTEMPTS: u32 = 1000;
/// How often a directory that another logger removes at this moment is tried again.
const RACES: u32 = 100;
/// Bytes of the list of sessions that are read.
const SESSIONS_MAX: u64 = 1 << 20;
/// Names of spools that nobody continues, and of those that are being removed.
const TEMPORARY: &str = "silverpoint-log-";

/// See the module.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    /// Held until the last thread that uses the spool has ended.
    _lock: File,
    /// Which of several processes with the same files this is: the first has 1.
    pub(crate) number: u32,
    /// Nothing is kept for a successor: there are no files.
    is_temporary: bool,
    known: Mutex<HashSet<SessionName>>,
}

impl Spool {
    /// Takes the directory that the configuration asks for, or one beside it when another process has that.
    pub(crate) fn open(config: &Config) -> Result<Self, LoggerError> {
        let files = config.sinks.iter().filter_map(|sink| match &sink.to {
            To::File(file) => Some(&file.path),
            _ => None,
        });
        // The system's logs have no place where a spool could lie, but have what a successor can go on with.
        let is_owed = config.sinks.iter().any(|sink| matches!(sink.to, To::Journald(_) | To::Syslog(_)));
        let program = (is_owed && config.spool.is_some()).then(std::env::current_exe);
        let program = program.and_then(Result::ok);
        // Whatever the order of the sinks is.
        let Some(base) = files.min().or(program.as_ref()) else { return Self::temporary(config) };
        for number in 1..=ATTEMPTS {
            let mut directory = numbered(base, number);
            directory.as_mut_os_string().push(".spool");
            if let Some(spool) = &config.spool {
                fs::create_dir_all(spool).map_err(LoggerError::io(spool, "making it"))?;
                // Two logs may have one name in different directories.
                let mut name = directory.file_stem().unwrap_or_default().to_owned();
                name.push(format!("-{:016x}.spool", hash(&directory)));
                directory = spool.join(name);
            }
            if let Some(lock) = lock(&directory)? {
                let known = Mutex::default();
                return Ok(Self { directory, _lock: lock, number, is_temporary: false, known });
            }
        }
        Err(LoggerError::io(base, "finding a spool that no other process has")(
            io::ErrorKind::AddrInUse.into(),
        ))
    }

    /// For a logger without files.
    fn temporary(config: &Config) -> Result<Self, LoggerError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let parent = config.spool.clone().unwrap_or_else(std::env::temp_dir);
        fs::create_dir_all(&parent).map_err(LoggerError::io(&parent, "making it"))?;
        sweep(&parent);
        for _ in 0..ATTEMPTS {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let directory = parent.join(format!("{TEMPORARY}{}-{number}.spool", std::process::id()));
            // Made here, or it may be anybody's.
            match DirBuilder::new().mode(0o700).create(&directory) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(LoggerError::io(&directory, "making the spool's directory"))?,
            }
            if let Some(lock) = lock(&directory)? {
                let known = Mutex::default();
                return Ok(Self { directory, _lock: lock, number: 1, is_temporary: true, known });
            }
        }
        Err(LoggerError::io(parent, "finding a name for the spool")(io::ErrorKind::AlreadyExists.into()))
    }

    /// Whether a successor finds what is left here.
    pub(crate) fn is_kept(&self) -> bool {
        !self.is_temporary
    }

    /// The trace file.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join("spool.silver")
    }

    /// Part `number` of the trace file, after its rotation.
    pub(crate) fn part(&self, number: u64) -> PathBuf {
        self.directory.join(format!("spool.{number}.silver"))
    }

    /// Where a log's cursor lies, without its ending.
    pub(crate) fn cursor(&self, log: &Path) -> PathBuf {
        let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.directory.join(format!("{name}-{:016x}", hash(log)))
    }

    /// Puts a trace file away that is none; gives its new name.
    pub(crate) fn put_away(&self) -> io::Result<PathBuf> {
        let free = |number: &u32| !self.directory.join(format!("spool.damaged-{number}")).exists();
        let number = (1..ATTEMPTS).find(free).unwrap_or(ATTEMPTS);
        let to = self.directory.join(format!("spool.damaged-{number}"));
        fs::rename(self.file(), &to).map(|()| to)
    }

    /// Sessions that a logger which died had collected here, and that are dead.
    pub(crate) fn left_behind(&self, root: &Root) -> HashSet<SessionName> {
        let mut text = String::new();
        let read = File::open(self.directory.join("sessions"));
        let _ = read.and_then(|file| file.take(SESSIONS_MAX).read_to_string(&mut text));
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
    pub(crate) fn note_sessions(&self, names: &[SessionName]) -> io::Result<()> {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let new: Vec<String> =
            names.iter().filter(|name| known.insert(**name)).map(|name| format!("{name}\n")).collect();
        if new.is_empty() || self.is_temporary {
            return Ok(());
        }
        let options = OpenOptions::new().create(true).append(true).mode(0o600).to_owned();
        options.open(self.directory.join("sessions"))?.write_all(new.concat().as_bytes())
    }

    /// Removes what loggers put there, and the directory when nothing else is in it: every sink has got everything.
    pub(crate) fn remove(&self) -> io::Result<()> {
        // Under another name first: whoever comes now makes a directory of his own and does not find one half removed.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{TEMPORARY}{}-removed-{number}.spool", std::process::id());
        let gone = self.directory.with_file_name(name);
        fs::rename(&self.directory, &gone)?;
        remove_directory(&gone)
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

/// Makes a directory, or takes the one that is there, and locks it; `None` when another logger has it.
fn lock(directory: &Path) -> Result<Option<File>, LoggerError> {
    let path = directory.join("lock");
    for _ in 0..RACES {
        match DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_own(directory)?,
            made => made.map_err(LoggerError::io(directory, "making the spool's directory"))?,
        }
        let options = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .to_owned();
        let mut lock = match options.open(&path) {
            // Removed this moment, by a logger that has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(LoggerError::io(&path, "opening it"))?,
        };
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_same_file(&lock, &path) => {
                let text = std::process::id().to_string();
                let written = lock.set_len(0).and_then(|()| lock.write_all(text.as_bytes()));
                written.map_err(LoggerError::io(&path, "writing it"))?;
                return Ok(Some(lock));
            }
            // As above.
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) if is_same_file(&lock, &path) => {
                let mut text = String::new();
                let _ = lock.rewind().and_then(|()| lock.take(32).read_to_string(&mut text));
                return match text == std::process::id().to_string() {
                    true => Err(LoggerError::StillEnding(directory.to_owned())),
                    false => Ok(None),
                };
            }
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(error) => return Err(LoggerError::io(&path, "locking it")(error.into())),
        }
    }
    Ok(None)
}

/// A directory that is there must be ours alone: what is put into it is read again, and removed.
fn check_own(directory: &Path) -> Result<(), LoggerError> {
    let refuse =
        |why: &'static str| Err(LoggerError::io(directory, "using it as the spool")(io::Error::other(why)));
    let Ok(found) = fs::symlink_metadata(directory) else { return Ok(()) };
    if !found.is_dir() {
        return refuse("it is no directory");
    }
    if found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o077 != 0 {
        return refuse("it is another user's, or open to others");
    }
    Ok(())
}

/// Removes the files that loggers make, and the directory when that was all.
fn remove_directory(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_cursor = name.ends_with(".0") || name.ends_with(".1");
        if name == "lock" || name == "sessions" || name.starts_with("spool.") || is_cursor {
            fs::remove_file(&path)?;
        }
    }
    fs::remove_dir(directory)
}

/// Removes the user's temporary spools that no logger uses.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_spool = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(TEMPORARY) && name.ends_with(".spool"));
        if !is_spool || check_own(&entry.path()).is_err() {
            continue;
        }
        let options = OpenOptions::new().write(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).to_owned();
        // Without a lock it is being made this moment.
        if let Ok(lock) = options.open(entry.path().join("lock"))
            && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            let _ = remove_directory(&entry.path());
        }
    }
}

fn is_same_file(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}

/// FNV-1a of a path: names that differ only in their directories differ in this.
fn hash(path: &Path) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}
