//! What a logger that died had not delivered, delivered without its program: `silverpoint recover`.
//!
//! A session's collector says where it stores (the intent, `spec/wire.md`, section 9). When that is the trace file of a spool, and the spool's list names the session, it is a logger's. The spool holds
//! the sinks' cursors, and what the sinks are (`sinks.toml`): so they are opened as the program's next start would, with nothing of this process collected.
//!
//! A session is removed when the spool has what was in it; the spool is, when the sinks have. What a sink could not be given is in the spool alone then, so a spool is found by its directory too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use silverpoint_shm::root::Root;

use crate::config::Config;
use crate::error::LoggerError;
use crate::logger::{Flushed, Logger};
use crate::spool::{self, Spool};

/// A configuration of sinks is not longer.
const SINKS_MAX: u64 = 1 << 20;

/// The spool of a logger that died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    directory: PathBuf,
}

impl Unfinished {
    /// That of a session, by its name and by where its collector stored last; `None` when that was no logger, or its spool is gone.
    pub fn of(session: &str, stored_in: &Path) -> Option<Self> {
        let directory = stored_in.parent().filter(|_| spool::is_trace_file(stored_in))?.to_owned();
        spool::has_session(&directory, session).then_some(Self { directory })
    }

    /// That in a directory that has the name of a spool and the list of its sinks, or its trace file; `None` when it has not.
    pub fn in_directory(directory: &Path) -> Option<Self> {
        spool::is_spool(directory).then(|| Self { directory: directory.to_owned() })
    }

    /// Directories of sessions that the spool's list names and that are still there: what it is owed may lie in any of them.
    pub fn roots(&self) -> Vec<PathBuf> {
        spool::roots(&self.directory)
    }

    /// The spool's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Collects the sessions of this root that the spool's list names (of none: what is in the spool itself is all there is), and delivers everything to the sinks that the logger had, from where they were. Waits no longer than `timeout`; what was not
    /// delivered then stays in the spool. Gives the names of the sinks, too.
    ///
    /// # Errors
    /// A spool that another process has, or that does not say what its sinks are; a sink that cannot be opened. Then nothing was taken.
    pub fn deliver(
        &self,
        root: Option<Root>,
        timeout: Duration,
    ) -> Result<(Vec<String>, Flushed), LoggerError> {
        let path = self.directory.join(spool::SINKS);
        let fail = |error| LoggerError::io(&path, "reading the list of its sinks")(error);
        // Before anything in it is believed.
        spool::check_own(&self.directory)?;
        if fs::metadata(&path).map_err(fail)?.len() > SINKS_MAX {
            return Err(LoggerError::io(&path, "reading the list of its sinks")(
                io::ErrorKind::InvalidData.into(),
            ));
        }
        let text = fs::read_to_string(&path).map_err(fail)?;
        let config = Config::from_written(&text, &path.display().to_string())?.checked()?;
        let sinks = config.sinks.iter().map(crate::config::Sink::label).collect();
        let spool = Arc::new(Spool::left(&self.directory, &config)?);
        let logger = Logger::of_dead(config, spool, root)?;
        Ok((sinks, logger.stop(timeout)))
    }
}
