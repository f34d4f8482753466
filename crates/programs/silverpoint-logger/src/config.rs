//! The configuration of a logger.

mod address;
mod keep;
mod place;
mod sink;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use silverpoint_collect::AttachMode;
use silverpoint_shm::crash::Options as CrashOptions;
use silverpoint_wire::directive;
use silverpoint_wire::policy::Policy;

use crate::error::LoggerError;
pub(crate) use address::Address;
pub(crate) use keep::{Compression, Keep, Naming};
pub(crate) use place::Place;
pub use sink::{Backtrace, Sink};
pub(crate) use sink::{FileSink, Handler, JournaldSink, To};

/// Size of the spool above which the oldest records are dropped, although a sink has not read them.
const SPOOL_BYTES: u64 = 1 << 30;

/// Most links that are followed one after the other: as many as the system follows.
const LINKS: usize = 40;

/// A logger's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is recorded (spec/directives.md), for all sinks together: `info`, `info,net=debug`.
    pub record: String,
    /// The destinations. None: nothing is kept.
    pub sinks: Vec<Sink>,
    /// Where the spool's directory is made, in which records wait for their sinks. Default: beside the log
    /// whose path comes first in the alphabet (`app.log.spool`); without a log, in the directory of temporary
    /// files. It exists while the logger runs, and afterwards as long as it holds undelivered records.
    pub spool: Option<PathBuf>,
    /// Size of the spool above which the oldest records are dropped, although a sink has not read them. The
    /// default is 1 GiB, the minimum 64 MiB.
    pub spool_bytes: u64,
    /// Records of crashes and panics, which are delivered before the process ends (`silverpoint::crash`); `None`: no handlers are installed.
    pub crash: Option<CrashOptions>,
    /// What a thread does when its ring is full, which happens when the disk of the spool is too slow or
    /// full. It is `block` (at most [`Config::block_max`]), `block=forever`, `drop` or `overwrite`, also by
    /// level: `block,debug=drop`. Default: `SILVERPOINT_POLICY`, or `block` without that variable.
    pub policy: Option<String>,
    /// How long `block` waits before it drops. Default: `SILVERPOINT_BLOCK_MAX`, or a second without that
    /// variable.
    pub block_max: Option<Duration>,
    /// The file that it was read from ([`Config::from_file`]): a running logger applies the file whenever it
    /// changes. None: no file is watched.
    pub file: Option<ConfigFile>,
    /// SIGHUP reopens the files ([`crate::reopen`]). While the logger runs, it does nothing else to the
    /// program, except for a handler that the program had installed before. After that the old action is
    /// restored. Off by default: signals belong to the program.
    pub reopen_on_hangup: bool,
}

/// How a changed file is recognized: modified, changed, inode, size.
pub(crate) type Fingerprint = (i64, i64, i64, i64, u64, u64);

pub(crate) fn fingerprint(path: &Path) -> Option<Fingerprint> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec(), found.ino(), found.size()))
}

/// A configuration file that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    pub(crate) path: PathBuf,
    /// Relative paths in it begin here.
    pub(crate) base: PathBuf,
    /// The directives of the environment, which override its `record`.
    pub(crate) record: Option<String>,
    /// Directives in addition to those of the file: see [`Config::record_also`].
    pub(crate) also: String,
    /// Its fingerprint just before it was read.
    pub(crate) seen: Option<Fingerprint>,
    /// Its settings that apply only from a start on.
    pub(crate) fixed: Fixed,
}

/// Settings that a running logger cannot change: they apply at the next start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    spool: Option<PathBuf>,
    spool_bytes: u64,
    crash: Option<CrashOptions>,
    policy: Option<String>,
    block_max: Option<Duration>,
    reopen_on_hangup: bool,
}

impl Default for Config {
    /// Records of level info and above, on standard error.
    fn default() -> Self {
        Self::new("info").sink(Sink::stderr())
    }
}

impl Config {
    /// Records what the directives say, and no sink yet.
    pub fn new(record: impl Into<String>) -> Self {
        Self {
            record: record.into(),
            sinks: Vec::new(),
            spool: None,
            spool_bytes: SPOOL_BYTES,
            crash: Some(CrashOptions::default()),
            policy: None,
            block_max: None,
            file: None,
            reopen_on_hangup: false,
        }
    }

    /// Adds a sink.
    #[must_use]
    pub fn sink(mut self, sink: Sink) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Records what these directives select too (`net=debug`), for records that the program processes itself,
    /// such as with a [handler](Sink::handler). They also stay in force when the configuration file changes.
    /// Called last, after [`Config::with_environment`].
    #[must_use]
    pub fn record_also(mut self, directives: &str) -> Self {
        append(&mut self.record, directives);
        if let Some(file) = &mut self.file {
            append(&mut file.also, directives);
        }
        self
    }

    /// What a thread does when its ring is full: see [`Config::policy`](field@Config::policy).
    #[must_use]
    pub fn policy(mut self, policy: impl Into<String>) -> Self {
        self.policy = Some(policy.into());
        self
    }

    /// SIGHUP reopens the files.
    #[must_use]
    pub fn reopen_on_hangup(mut self, is_wanted: bool) -> Self {
        self.reopen_on_hangup = is_wanted;
        self
    }

    /// Checks what can be checked without touching anything, and makes paths absolute.
    pub(crate) fn checked(self) -> Result<Self, LoggerError> {
        self.checked_in(Path::new(""))
    }

    /// As [`Config::checked`], with paths that begin in a folder.
    pub(crate) fn checked_in(mut self, base: &Path) -> Result<Self, LoggerError> {
        directive::check(&self.record).map_err(LoggerError::Directives)?;
        self.mode()?;
        let mut seen: Vec<(PathBuf, Option<Place>)> = Vec::new();
        for sink in &mut self.sinks {
            if let To::File(file) = &mut sink.to {
                file.path = resolved(&base.join(&file.path))?;
                if let Some((path, first)) = seen.iter().find(|(path, _)| *path == file.path) {
                    return Err(match (first, &sink.place) {
                        (Some(first), Some(place)) => place.twice(path, first).into(),
                        _ => LoggerError::SameFile(path.clone()),
                    });
                }
                seen.push((file.path.clone(), sink.place.clone()));
            }
        }
        if let Some(spool) = &mut self.spool {
            *spool = absolute(&base.join(&spool))?;
        }
        Ok(self)
    }
}

impl Config {
    pub(crate) fn fixed(&self) -> Fixed {
        Fixed {
            spool: self.spool.clone(),
            spool_bytes: self.spool_bytes,
            crash: self.crash,
            policy: self.policy.clone(),
            block_max: self.block_max,
            reopen_on_hangup: self.reopen_on_hangup,
        }
    }

    pub(crate) fn set_fixed(&mut self, fixed: Fixed) {
        Fixed {
            spool: self.spool,
            spool_bytes: self.spool_bytes,
            crash: self.crash,
            policy: self.policy,
            block_max: self.block_max,
            reopen_on_hangup: self.reopen_on_hangup,
        } = fixed;
    }

    /// What attaching changes in the program's session.
    pub(crate) fn mode(&self) -> Result<AttachMode, LoggerError> {
        let policy = self.policy.as_deref().map(Policy::parse).transpose().map_err(LoggerError::Policy)?;
        // The wait in the text takes precedence over the separate setting.
        let wait = self.block_max.map(|wait| u32::try_from(wait.as_millis()).unwrap_or(u32::MAX - 1));
        Ok(AttachMode {
            directives: Some(self.record.clone()),
            policy: policy.map(|policy| policy.levels),
            block_max_ms: policy.and_then(|policy| policy.block_max_ms).or(wait),
        })
    }
}

/// Appends directives; they take precedence over the earlier ones.
pub(crate) fn append(directives: &mut String, more: &str) {
    if !directives.is_empty() && !more.is_empty() {
        directives.push(',');
    }
    directives.push_str(more);
}

/// As [`absolute`], and with one path for each file no matter which links lead to it, even if it does not
/// exist yet. Two names of two processes may be one log.
fn resolved(path: &Path) -> Result<PathBuf, LoggerError> {
    let mut path = absolute(path)?;
    for _ in 0..LINKS {
        if let Ok(real) = path.canonicalize() {
            return Ok(real);
        }
        if let Some(parent) = path.parent().and_then(|parent| parent.canonicalize().ok()) {
            if let Some(name) = path.file_name() {
                path = parent.join(name);
            }
        }
        // A file without a path of its own (a pipe behind `/dev/stdout`) keeps the caller's name.
        match std::fs::read_link(&path) {
            Ok(to) if std::fs::metadata(&path).is_err() => path = path.with_file_name(to),
            _ => break,
        }
    }
    Ok(path)
}

fn absolute(path: &Path) -> Result<PathBuf, LoggerError> {
    std::path::absolute(path).map_err(LoggerError::io(path, "its absolute path"))
}
