//! The spool's directory: the trace file that the collector writes, the sinks' cursors, and the list of
//! sessions for a successor.
//!
//! ```text
//!  lock              held as long as any thread of a logger uses the directory (module lock)
//!  spool.silver      the trace file, with older parts spool.N.silver until every sink has read them
//!  sessions          names of the sessions that are collected into it, one a line, each with the root that it is in
//!  sinks.toml        what the sinks are, for whoever delivers without the program (module unfinished)
//!  NAME-HASH.0, .1   the cursor of a file sink (module cursor)
//! ```
//!
//! Each other log of the logger has such a directory beside it too, with nothing but the lock. So no two
//! processes write one log, even if it is the only log that they have in common.
//!
//! The directory is always made here, with a name that ends in `.spool`: what is removed at the end belongs
//! to no other program.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use silverpoint_shm::ending::await_end;
use silverpoint_shm::observer::{ObservedSession, SessionName, list};
use silverpoint_shm::root::Root;
use silverpoint_wire::bytes::floor_char_boundary;

use crate::config::{Config, Sink, To};
use crate::error::{LoggerError, say};
use crate::lock::{Attempt, Lock};
use crate::process::Process;

/// Directories that are tried: at most this many processes can name the same file.
const ATTEMPTS: u32 = 1000;
/// How often a directory that another logger removes at this moment is tried again.
const RACES: u32 = 100;
/// Bytes of the list of sessions that are read.
const SESSIONS_MAX: u64 = 1 << 20;
/// Names of spools that have no successor, and of those that are being removed.
const TEMPORARY: &str = "silverpoint-log-";

/// Longest name of a log to which something can be added; longer names are cut to this.
const NAME_MAX: usize = 224;
const NAME_KEPT: usize = 200;

/// The trace file.
const TRACE: &str = "spool.silver";
/// The list of sessions.
const SESSIONS: &str = "sessions";
/// The configuration of the sinks.
pub(crate) const SINKS: &str = "sinks.toml";

/// See the module.
#[derive(Debug)]
pub(crate) struct Spool {
    directory: PathBuf,
    /// Held until the last thread that uses the spool has ended.
    lock: Mutex<Lock>,
    /// For the logs beside the one whose directory this is.
    claims: Mutex<Vec<Claim>>,
    /// The number of this process among several with the same files: the first has 1.
    pub(crate) number: u32,
    /// Nothing is kept for a successor: there are no files.
    is_temporary: bool,
    known: Mutex<HashSet<SessionName>>,
}

impl Spool {
    /// Locks the directory that the configuration names, or one beside it when another process has that.
    pub(crate) fn open(config: &Config) -> Result<Self, LoggerError> {
        let mut files: Vec<&PathBuf> = config.sinks.iter().filter_map(sink_file).collect();
        // Devices and pipes have no owner.
        files.retain(|path| fs::metadata(path).map_or(true, |found| found.is_file()));
        // Independent of the order of the sinks.
        files.sort();
        // The system's logs have no place for a spool, but a successor can continue them.
        let is_owed = config.sinks.iter().any(|sink| matches!(sink.to, To::Journald(_) | To::Syslog(_)));
        let any_file = config.sinks.iter().find_map(sink_file);
        let program = (is_owed || any_file.is_some()).then(std::env::current_exe).and_then(Result::ok);
        let elsewhere = config.spool.as_ref().and(any_file.or(program.as_ref()));
        let Some(base) = files.first().copied().or(elsewhere) else { return Self::temporary(config) };
        'numbers: for number in 1..=ATTEMPTS {
            let directory = match &config.spool {
                None => beside(&numbered(base, number)),
                Some(spool) => {
                    fs::create_dir_all(spool).map_err(LoggerError::io(spool, "making it"))?;
                    // Two logs in different directories may have the same name.
                    let directory = beside(&numbered(base, number));
                    let mut name = directory.file_stem().unwrap_or_default().to_owned();
                    name.push(format!("-{:016x}.spool", hash(&directory)));
                    spool.join(name)
                }
            };
            let Some(own) = lock(&directory)? else { continue };
            let mut claims = Vec::new();
            for file in &files {
                let claimed = beside(&numbered(file, number));
                if claimed == directory {
                    continue;
                }
                match lock(&claimed) {
                    Ok(Some(lock)) => claims.push(Claim { directory: claimed, lock }),
                    Ok(None) => {
                        // Nothing was put into it.
                        let _ = own.remove_file().and_then(|()| fs::remove_dir(&directory));
                        continue 'numbers;
                    }
                    Err(error @ LoggerError::StillEnding(_)) => return Err(error),
                    // When the configuration names a directory for the spool, directories beside the logs may
                    // be forbidden.
                    Err(_) if config.spool.is_some() => {}
                    Err(error) => return Err(error),
                }
            }
            let known = Mutex::default();
            return Ok(Self {
                directory,
                lock: Mutex::new(own),
                claims: Mutex::new(claims),
                number,
                is_temporary: false,
                known,
            });
        }
        Err(LoggerError::io(base, "finding a spool that no other process has")(
            io::ErrorKind::AddrInUse.into(),
        ))
    }

    /// The spool of a logger that died, with its logs; an error when another process has one of them.
    pub(crate) fn left(directory: &Path, config: &Config) -> Result<Self, LoggerError> {
        let taken = || {
            LoggerError::io(directory, "taking it, which another process has")(
                io::ErrorKind::AddrInUse.into(),
            )
        };
        let own = lock(directory)?.ok_or_else(taken)?;
        let spool = Self {
            directory: directory.to_owned(),
            lock: Mutex::new(own),
            claims: Mutex::default(),
            number: 1,
            is_temporary: false,
            known: Mutex::default(),
        };
        for file in config.sinks.iter().filter_map(sink_file) {
            spool.claim(file)?;
        }
        Ok(spool)
    }

    /// Writes the sinks down, if a successor has to deliver to them.
    pub(crate) fn note_sinks(&self, config: &Config) -> io::Result<()> {
        if self.is_temporary {
            return Ok(());
        }
        let path = self.directory.join(SINKS);
        let new = self.directory.join("spool.sinks");
        let written = match config.written() {
            // Written completely or not at all.
            Some(text) => {
                let options =
                    OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).to_owned();
                let written = options.open(&new).and_then(|mut file| file.write_all(text.as_bytes()));
                written.and_then(|()| fs::rename(&new, &path))
            }
            None => Err(io::ErrorKind::Unsupported.into()),
        };
        match written {
            Ok(()) => Ok(()),
            // No list is better than an outdated one.
            Err(error) => match fs::remove_file(path) {
                Err(gone) if gone.kind() != io::ErrorKind::NotFound => Err(gone),
                _ if error.kind() == io::ErrorKind::Unsupported => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// It is removed at the end of the process, with all its contents.
    pub(crate) fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    /// For a logger without files, and one whose files no successor continues.
    pub(crate) fn temporary(config: &Config) -> Result<Self, LoggerError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        #[expect(clippy::disallowed_methods, reason = "loggers that are gone have left theirs there")]
        let parent = config.spool.clone().unwrap_or_else(std::env::temp_dir);
        fs::create_dir_all(&parent).map_err(LoggerError::io(&parent, "making it"))?;
        sweep(&parent);
        for _ in 0..ATTEMPTS {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let directory = parent.join(format!("{TEMPORARY}{}-{number}.spool", std::process::id()));
            // Made here: an existing one may belong to anyone.
            match DirBuilder::new().mode(0o700).create(&directory) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(LoggerError::io(&directory, "making the spool's directory"))?,
            }
            if let Some(lock) = lock(&directory)? {
                let known = Mutex::default();
                let (number, is_temporary) = (1, true);
                return Ok(Self {
                    directory,
                    lock: Mutex::new(lock),
                    claims: Mutex::default(),
                    number,
                    is_temporary,
                    known,
                });
            }
        }
        Err(LoggerError::io(parent, "finding a name for the spool")(io::ErrorKind::AlreadyExists.into()))
    }

    /// Locks another log that is written from now on; an error when another process has it.
    pub(crate) fn claim(&self, log: &Path) -> Result<(), LoggerError> {
        let directory = beside(log);
        let mut claims = self.claims.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_file = fs::metadata(log).map_or(true, |found| found.is_file());
        if !is_file
            || is_same(&directory, &self.directory)
            || claims.iter().any(|claim| is_same(&claim.directory, &directory))
        {
            return Ok(());
        }
        match lock(&directory)? {
            Some(lock) => claims.push(Claim { directory, lock }),
            None => {
                return Err(LoggerError::io(log, "taking it, which another process writes")(
                    io::ErrorKind::AddrInUse.into(),
                ));
            }
        }
        Ok(())
    }

    /// Keeps the locks, even if the program closes descriptors.
    pub(crate) fn keep_locks(&self) {
        let own = self.lock.lock();
        own.unwrap_or_else(std::sync::PoisonError::into_inner).keep();
        let mut claims = self.claims.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        claims.iter_mut().for_each(|claim| claim.lock.keep());
    }

    /// Whether a successor finds what is left here.
    pub(crate) fn is_kept(&self) -> bool {
        !self.is_temporary
    }

    /// Gives the files of the sinks the names for this process when others have the same files.
    pub(crate) fn number_files(&self, config: &mut Config, is_said: bool) {
        if self.number == 1 {
            return;
        }
        for sink in &mut config.sinks {
            // Sinks that the program added itself have their number already.
            if let To::File(file) = &mut sink.to {
                if is_said || sink.is_of_file {
                    let other = numbered(&file.path, self.number);
                    if is_said {
                        say(format_args!(
                            "{}: another process writes it; this one writes {}",
                            file.path.display(),
                            other.display()
                        ));
                    }
                    file.path = other;
                }
            }
        }
    }

    /// The trace file.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join(TRACE)
    }

    /// Part `number` of the trace file, after its rotation.
    pub(crate) fn part(&self, number: u64) -> PathBuf {
        self.directory.join(format!("spool.{number}.silver"))
    }

    /// Numbers of the parts that are there, in ascending order.
    pub(crate) fn parts(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let number = |name: &str| name.strip_prefix("spool.")?.strip_suffix(".silver")?.parse().ok();
        let mut numbers: Vec<u64> = entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Where a log's cursor lies, without its ending.
    pub(crate) fn cursor(&self, log: &Path) -> PathBuf {
        let name = short_name(log).to_string_lossy().into_owned();
        self.directory.join(format!("{name}-{:016x}", hash(log)))
    }

    /// Renames a file that is not a trace file; gives its new name.
    pub(crate) fn put_away(&self) -> io::Result<PathBuf> {
        let free = |number: &u32| !self.directory.join(format!("spool.damaged-{number}")).exists();
        let number = (1..ATTEMPTS).find(free).unwrap_or(ATTEMPTS);
        let to = self.directory.join(format!("spool.damaged-{number}"));
        fs::rename(self.file(), &to).map(|()| to)
    }

    /// Sessions that a dead logger had collected here.
    pub(crate) fn left_behind(&self, root: &Root) -> LeftBehind {
        let text = sessions(&self.directory);
        let listed: HashSet<&str> = text.lines().map(session_in).collect();
        let mut names: HashSet<SessionName> = list(root).unwrap_or_default().into_iter().collect();
        names.retain(|name| listed.contains(name.to_string().as_str()));
        for name in &names {
            // The lock of the spool may be released before that of the session.
            await_end(name.pid, name.start);
        }
        LeftBehind { root: root.path().to_owned(), names }
    }

    /// Adds sessions, and their root, to the list for a successor.
    pub(crate) fn note_sessions(&self, names: &[SessionName]) -> io::Result<()> {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let new: Vec<SessionName> = names.iter().copied().filter(|name| !known.contains(name)).collect();
        if new.is_empty() || self.is_temporary {
            return Ok(());
        }
        let root = Root::open().map(|root| root.path().to_owned()).unwrap_or_default();
        let root = root.to_str().filter(|root| !root.contains('\n')).unwrap_or_default();
        let lines: String = new.iter().map(|name| format!("{name} {root}\n")).collect();
        let options = OpenOptions::new().create(true).append(true).mode(0o600).to_owned();
        let mut file = options.open(self.directory.join(SESSIONS))?;
        let before = file.metadata()?.len();
        if let Err(error) = file.write_all(lines.as_bytes()) {
            // A partial line would join the next one.
            let _ = file.set_len(before);
            return Err(error);
        }
        known.extend(new);
        Ok(())
    }

    /// Whether the list names a session that still exists and is not this logger's: nobody has collected its
    /// records. It may belong to this very process, from the program that it ran before. One that cannot be
    /// examined counts as existing.
    pub(crate) fn is_awaited(&self) -> bool {
        let own = Process::this();
        let known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sessions(&self.directory).lines().any(|line| {
            let root = line.split_once(' ').map_or("", |(_, root)| root);
            let name = session_in(line);
            let is_own = name.parse().is_ok_and(|name| own.has(name) && known.contains(&name));
            !is_own && !root.is_empty() && is_there(&Path::new(root).join(name))
        })
    }

    /// Removes the files that loggers make here, and the directory when nothing else is in it: every sink has
    /// delivered everything.
    pub(crate) fn remove(&self) -> io::Result<()> {
        // It is renamed first: another logger that starts now makes a directory of its own, and does not find
        // a half-removed one.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{TEMPORARY}{}-removed-{number}.spool", std::process::id());
        let gone = self.directory.with_file_name(name);
        fs::rename(&self.directory, &gone)?;
        remove_directory(&gone)
    }
}

/// Sessions that earlier loggers have collected, and that have no collector any more.
#[derive(Clone, Debug)]
pub(crate) struct LeftBehind {
    root: PathBuf,
    names: HashSet<SessionName>,
}

impl LeftBehind {
    /// Whether it is one of them, and dead: a living one belongs to its process.
    pub(crate) fn holds(&self, name: SessionName) -> bool {
        let is_alive = |root| ObservedSession::open(&root, name).and_then(|session| session.is_alive());
        self.names.contains(&name)
            && Root::open_directory(&self.root).is_ok_and(|root| is_alive(root).is_ok_and(|alive| !alive))
    }
}

/// Whether a path may be that of a spool's trace file, or was before it was rotated.
pub(crate) fn is_trace_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == TRACE)
        && path.parent().and_then(Path::extension).is_some_and(|extension| extension == "spool")
}

/// Whether a directory is a spool with contents: not one that only marks the owner of a log.
pub(crate) fn is_spool(directory: &Path) -> bool {
    directory.extension().is_some_and(|extension| extension == "spool")
        && [SINKS, TRACE].iter().any(|name| directory.join(name).is_file())
}

/// The existing roots in a spool's list.
pub(crate) fn roots(directory: &Path) -> Vec<PathBuf> {
    let text = sessions(directory);
    let mut roots: Vec<PathBuf> = Vec::new();
    for root in text.lines().filter_map(|line| line.split_once(' ')).map(|(_, root)| PathBuf::from(root)) {
        if root.is_absolute() && root.is_dir() && !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}

/// Whether a spool's list names a session.
pub(crate) fn has_session(directory: &Path, name: &str) -> bool {
    sessions(directory).lines().any(|line| session_in(line) == name)
}

/// The name in a line of the list.
fn session_in(line: &str) -> &str {
    line.split_once(' ').map_or(line, |(name, _)| name)
}

/// The list of a spool.
fn sessions(directory: &Path) -> String {
    let mut text = String::new();
    let read = File::open(directory.join(SESSIONS));
    let _ = read.and_then(|file| file.take(SESSIONS_MAX).read_to_string(&mut text));
    text
}

/// Whether there is such a directory, as far as can be determined.
fn is_there(directory: &Path) -> bool {
    match fs::symlink_metadata(directory) {
        Ok(found) => found.is_dir(),
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

/// The name for a process that finds others with the same files: `app-2.log`, `app-3.log` …
fn numbered(path: &Path, number: u32) -> PathBuf {
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

/// The directory of a log.
fn beside(log: &Path) -> PathBuf {
    let mut name = short_name(log);
    name.push(".spool");
    log.with_file_name(name)
}

/// The name of a log, short enough for an ending and a number: file systems accept 255 bytes. A number
/// replaces what is cut off.
fn short_name(log: &Path) -> OsString {
    let name = log.file_name().unwrap_or_default();
    if name.len() <= NAME_MAX {
        return name.to_owned();
    }
    let text = name.to_string_lossy();
    let mut short = OsString::from(&text[..floor_char_boundary(&text, NAME_KEPT)]);
    short.push(format!("-{:016x}", hash(Path::new(name))));
    short
}

/// Whether two paths lead to one directory: one may be relative, or go through a link.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    one == other || matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

/// The file that a sink appends to.
fn sink_file(sink: &Sink) -> Option<&PathBuf> {
    match &sink.to {
        To::File(file) => Some(&file.path),
        _ => None,
    }
}

/// A directory that only marks a log as this process's.
#[derive(Debug)]
struct Claim {
    directory: PathBuf,
    lock: Lock,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Files of another logger stay, and then the directory stays too.
        if self.lock.is_own() {
            let _ = self.lock.remove_file().and_then(|()| fs::remove_dir(&self.directory));
        }
    }
}

/// Makes a directory, or uses the existing one, and locks it; `None` when another process has it.
fn lock(directory: &Path) -> Result<Option<Lock>, LoggerError> {
    let path = directory.join("lock");
    for _ in 0..RACES {
        match DirBuilder::new().mode(0o700).create(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_own(directory)?,
            made => made.map_err(LoggerError::io(directory, "making the spool's directory"))?,
        }
        match Lock::attempt(&path).map_err(LoggerError::io(&path, "locking it"))? {
            Attempt::Taken(lock) => return Ok(Some(lock)),
            Attempt::Others => return Ok(None),
            Attempt::Own => return Err(LoggerError::StillEnding(directory.to_owned())),
            Attempt::Ended | Attempt::Gone => {}
        }
    }
    Ok(None)
}

/// An existing directory must belong to this user alone: its files are read again, and removed.
pub(crate) fn check_own(directory: &Path) -> Result<(), LoggerError> {
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

/// Removes the files that loggers make, and the directory if it is empty then.
fn remove_directory(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_cursor = name.ends_with(".0") || name.ends_with(".1");
        if name == "lock" || name == SESSIONS || name == SINKS || name.starts_with("spool.") || is_cursor {
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
        // Without a lock file it is just being made.
        if entry.path().join("lock").exists() {
            if let Ok(Attempt::Taken(_lock)) = Lock::attempt(&entry.path().join("lock")) {
                let _ = remove_directory(&entry.path());
            }
        }
    }
}

/// FNV-1a of a path: names that differ only in their directories differ in this.
fn hash(path: &Path) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}
