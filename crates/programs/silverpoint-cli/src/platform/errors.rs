//! Errors of other crates, as this program ends with them.

use silverpoint_collect::CollectError;
#[cfg(unix)]
use silverpoint_logger::{LoggerError, SettingsError};
use silverpoint_read::ReadError;

use crate::exit::{Exit, Failed, Placed};

impl Placed for CollectError {}
#[cfg(unix)]
impl Placed for LoggerError {}
#[cfg(unix)]
impl Placed for SettingsError {}
impl Placed for ReadError {}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        let exit = match error {
            ReadError::Usage(_) => Exit::Usage,
            ReadError::NoSession(_) => Exit::NoSession,
            ReadError::NotATraceFile(_) => Exit::NotATraceFile,
            ReadError::Failed(_) => Exit::Failure,
        };
        Self::new(exit, error.to_string())
    }
}
