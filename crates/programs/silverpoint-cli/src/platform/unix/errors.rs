use silverpoint_collect::CollectError;
use silverpoint_logger::{LoggerError, SettingsError};
use silverpoint_read::ReadError;

use crate::exit::{Exit, Failed, Placed};

impl Placed for CollectError {}
impl Placed for LoggerError {}
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
