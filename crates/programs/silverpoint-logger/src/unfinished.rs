//! Delivers the records of a dead logger without its program: `silverpoint recover`.
//!
//! A session's collector states where it stores (the intent, `spec/wire.md`, section 9). If that is the trace
//! file of a spool, and the spool's list names the session, it belongs to a logger. The spool holds the
//! sinks' cursors, and their configuration (`sinks.toml`). So they are opened as the program's next start
//! would open them, but nothing of this process is collected.
//!
//! A session is removed when the spool has its records; the spool is removed when the sinks have them. Then
//! undelivered records are in the spool alone, so a spool is also found by its directory.

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
    /// The spool of a session, by its name and by where its collector stored last. `None` when that was no
    /// logger, or its spool is gone.
    pub fn of(session: &str, stored_in: &Path) -> Option<Self> {
        let directory = stored_in.parent().filter(|_| spool::is_trace_file(stored_in))?.to_owned();
        spool::has_session(&directory, session).then_some(Self { directory })
    }

    /// The spool in a directory, if that has the name of a spool, and the list of its sinks or its trace
    /// file; otherwise `None`.
    pub fn in_directory(directory: &Path) -> Option<Self> {
        spool::is_spool(directory).then(|| Self { directory: directory.to_owned() })
    }

    /// Existing directories of sessions in the spool's list: each may hold undelivered records.
    pub fn roots(&self) -> Vec<PathBuf> {
        spool::roots(&self.directory)
    }

    /// The spool's directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Collects the sessions of this root that the spool's list names, and delivers everything to the
    /// logger's sinks, from where they were. Without a root only the records in the spool itself are
    /// delivered. Waits no longer than `timeout`; undelivered records stay in the spool. Gives the names of
    /// the sinks, too.
    ///
    /// # Errors
    /// A spool that another process has, or without a list of its sinks; a sink that cannot be opened. Then
    /// nothing was collected.
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
