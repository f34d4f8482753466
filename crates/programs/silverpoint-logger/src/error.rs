//! Errors at the start of a logger. Later nothing fails: a sink that cannot be written is retried, and
//! standard error reports it.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use silverpoint_collect::CollectError;
use silverpoint_trace::OpenError;
use silverpoint_wire::directive::DirectiveError;

use crate::settings::SettingsError;

/// Why a logger cannot start.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoggerError {
    /// The directives are invalid.
    Directives(DirectiveError),
    /// The policy for full rings is invalid.
    Policy(String),
    /// A configuration file, or the environment, is invalid.
    Settings(SettingsError),
    /// A file or directory cannot be used.
    Io {
        /// Which.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The spool cannot be written.
    Collect(CollectError),
    /// The spool cannot be read.
    Open(OpenError),
    /// Two sinks have the same file.
    SameFile(PathBuf),
    /// Another logger of this process has one of the files, or one that was stopped is still within a write
    /// that does not return. Its spool is in this directory.
    StillEnding(PathBuf),
    /// No thread could be started.
    Thread(io::Error),
    /// This process has no session, so nothing that it records could be delivered.
    NoSession(NoSession),
}

/// Why a process has no session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NoSession {
    /// It runs with more privileges than its user has (setuid).
    Privileged,
    /// The files of a session cannot be made: no room, no memory, a limit.
    Failed(std::sync::Arc<io::Error>),
}

impl fmt::Display for NoSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing can be recorded: ")?;
        match self {
            Self::Privileged => f.write_str(
                "a program that runs with more privileges than its caller (setuid) has no session",
            ),
            Self::Failed(error) => write!(
                f,
                "the session's files in shared memory cannot be made: {error} (limits of file sizes and address space: ulimit -f, ulimit -v; another directory: SILVERPOINT_DIR)"
            ),
        }
    }
}

impl LoggerError {
    pub(crate) fn io(path: impl Into<PathBuf>, what: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, what, error }
    }
}

impl fmt::Display for LoggerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directives(error) => write!(f, "the directives: {error}"),
            Self::Policy(error) => write!(f, "the policy: {error}"),
            Self::Settings(error) => error.fmt(f),
            Self::Io { path, what, error } => write!(f, "{}: {what}: {error}", path.display()),
            Self::Collect(error) => error.fmt(f),
            Self::Open(error) => error.fmt(f),
            Self::SameFile(path) => {
                write!(f, "{}: two sinks have this file; give each sink its own", path.display())
            }
            Self::StillEnding(path) => {
                write!(
                    f,
                    "{}: another logger of this process writes this log, or has not ended yet. Give this one another file, or try again later",
                    path.display()
                )
            }
            Self::Thread(error) => write!(f, "no thread can be started: {error}"),
            Self::NoSession(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for LoggerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directives(_) | Self::Policy(_) | Self::SameFile(_) | Self::StillEnding(_) => None,
            Self::Io { error, .. } | Self::Thread(error) => Some(error),
            Self::NoSession(NoSession::Failed(error)) => Some(&**error),
            Self::NoSession(NoSession::Privileged) => None,
            Self::Settings(error) => Some(error),
            Self::Collect(error) => Some(error),
            Self::Open(error) => Some(error),
        }
    }
}

impl From<CollectError> for LoggerError {
    fn from(error: CollectError) -> Self {
        Self::Collect(error)
    }
}

impl From<SettingsError> for LoggerError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
}

impl From<OpenError> for LoggerError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

/// How long standard error is waited for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Held while the logger writes to standard error: a sink may stall there.
pub(crate) static STDERR: Mutex<()> = Mutex::new(());

/// Prints a message for people. It never uses the tracepoints: the message would return here. It never waits:
/// the message is dropped if a stalled terminal would block it.
pub(crate) fn say(text: impl fmt::Display) {
    let until = Instant::now() + PATIENCE;
    let stderr = io::stderr();
    let mut ready = [PollFd::from_borrowed_fd(stderr.as_fd(), PollFlags::OUT)];
    let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
    if !poll(&mut ready, Some(&patience)).is_ok_and(|count| count > 0) {
        return;
    }
    let _own = loop {
        match STDERR.try_lock() {
            Ok(own) => break own,
            Err(TryLockError::Poisoned(own)) => break own.into_inner(),
            Err(TryLockError::WouldBlock) if Instant::now() > until => return,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    // Standard error may be gone or full, which must not end a thread.
    // In one call: no other output stands within.
    let _ = stderr.lock().write_all(format!("silverpoint: {text}\n").as_bytes());
}
