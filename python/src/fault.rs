//! Errors on their way to Python: made by threads that know nothing of it.

use std::io;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyOSError, PyProcessLookupError, PyRuntimeError};
use pyo3::prelude::*;
use silverpoint_convert::ReadError;
use silverpoint_trace::{Matter, Note, OpenError};

use crate::value::classes;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A file that cannot be opened or read.
    Io(PathBuf, io::Error),
    /// An input that is not what it should be.
    Format { message: String, path: PathBuf, offset: Option<u64>, line: Option<(u64, u64)> },
    /// Something was damaged and left out.
    Damaged(Note),
    /// A filter that this input cannot answer.
    Filter(String),
    /// A process without a living session.
    NoSession(String),
    /// Sessions, or the directory of their copies, that cannot be read.
    Sessions(String),
    /// What should not have been done.
    Other(&'static str),
}

impl From<OpenError> for Fault {
    fn from(error: OpenError) -> Self {
        Self::Io(error.path, error.error)
    }
}

impl From<silverpoint_read::ReadError> for Fault {
    fn from(error: silverpoint_read::ReadError) -> Self {
        use silverpoint_read::ReadError;
        match error {
            ReadError::NoSession(message) => Self::NoSession(message),
            ReadError::Usage(message) | ReadError::NotATraceFile(message) | ReadError::Failed(message) => {
                Self::Sessions(message)
            }
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Format { message, .. }
            | Self::Filter(message)
            | Self::NoSession(message)
            | Self::Sessions(message) => f.write_str(message),
            Self::Damaged(note) => note.fmt(f),
            Self::Other(message) => f.write_str(message),
        }
    }
}

impl Fault {
    /// An error of a reader.
    pub(crate) fn reading(path: &Path, error: ReadError) -> Self {
        let message = ReadError { input: path.display().to_string().into(), io: None, ..error };
        match error.io {
            Some(error) => Self::Io(path.to_owned(), error),
            None => Self::Format {
                path: path.to_owned(),
                offset: Some(message.place.offset),
                line: (message.place.line > 0).then_some((message.place.line, message.place.column)),
                message: message.to_string(),
            },
        }
    }

    /// What a note says, as an error.
    pub(crate) fn not_a_trace(note: &Note) -> Self {
        Self::Format {
            message: note.to_string(),
            path: note.file.clone(),
            offset: Some(offset(note).unwrap_or(0)),
            line: None,
        }
    }

    /// As Python's.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        let path_of = |path: &Path| path.display().to_string();
        let made = classes(py).and_then(|classes| match self {
            Self::Io(path, error) => {
                let Some(number) = error.raw_os_error() else {
                    return Ok(PyOSError::new_err(format!("{}: {error}", path.display())));
                };
                let text = io::Error::from_raw_os_error(number).to_string();
                let text = text.split(" (os error").next().unwrap_or_default().to_owned();
                Ok(PyOSError::new_err((number, text, path_of(&path))))
            }
            Self::Format { message, path, offset, line } => {
                let (line, column) = line.unzip();
                let args = (message, path_of(&path), offset, line, column);
                Ok(PyErr::from_value(classes.format_error.bind(py).call1(args)?))
            }
            Self::Damaged(note) => {
                let args = (note.to_string(), path_of(&note.file), offset(&note));
                Ok(PyErr::from_value(classes.damaged_error.bind(py).call1(args)?))
            }
            Self::NoSession(message) => Ok(PyProcessLookupError::new_err(message)),
            Self::Sessions(message) => Ok(PyOSError::new_err(message)),
            Self::Other(message) => Ok(PyRuntimeError::new_err(message)),
            Self::Filter(message) => Ok(PyErr::from_value(classes.filter_error.bind(py).call1((message,))?)),
        });
        made.unwrap_or_else(|error| error)
    }
}

/// Where in its file the matter of a note begins, when it has a place.
pub(crate) fn offset(note: &Note) -> Option<u64> {
    match note.matter {
        Matter::OtherFormat { offset, .. }
        | Matter::Cut { offset, .. }
        | Matter::Skipped { offset, .. }
        | Matter::BadBlock { offset, .. } => Some(offset),
        _ => None,
    }
}
