//! Exit codes of the program (docs/exit-codes.md) and its errors.

use std::fmt;
use std::io::Write;

use silverpoint_trace::OpenError;

/// What the program ends with. `run` ends as its command did, unless it could not start it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Success = 0,
    /// Something failed; a message says what.
    Failure = 1,
    /// The command line was wrong.
    Usage = 2,
    /// A file is damaged: everything intact was given.
    Damaged = 3,
    /// A file is no trace file.
    NotATraceFile = 4,
    /// Recovered, but records were really lost; a message says which.
    Lossy = 5,
    /// No such session.
    NoSession = 6,
    /// `doctor` found something that prevents tracing; or this system lacks what the command needs.
    Unfit = 7,
    /// `run` itself failed before the command began.
    RunFailed = 125,
    /// The command was found but could not be executed.
    CannotExecute = 126,
    /// The command was not found.
    NotFound = 127,
}

/// An error that ends a command: what happened, where, what to do; and the exit code.
#[derive(Debug)]
pub struct Failed {
    /// For standard error.
    pub message: String,
    /// The exit code.
    pub exit: Exit,
}

impl Failed {
    /// With this exit code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Failed {
        Failed { message: message.into(), exit }
    }
}

/// `run` failed before the command began.
pub fn run_failed(message: impl Into<String>) -> Failed {
    Failed::new(Exit::RunFailed, message)
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// An error that names where it happened. [`std::io::Error`] is none: "No space left on device" alone says of no file that it is full. [`at`] names the place.
pub trait Placed: fmt::Display {}

impl Placed for &str {}
impl Placed for String {}
impl Placed for fmt::Arguments<'_> {}
impl Placed for Failed {}
impl Placed for OpenError {}
impl Placed for silverpoint_convert::ReadError {}

/// Makes a general failure of an error.
pub fn failure(error: impl Placed) -> Failed {
    Failed::new(Exit::Failure, error.to_string())
}

/// Makes a general failure of an error at this place: a file, or what else failed.
pub fn at<E: fmt::Display>(place: impl fmt::Display) -> impl Fn(E) -> Failed {
    move |error| failure(format!("{place}: {error}"))
}

/// An error of the command line.
pub fn usage(message: impl Into<String>) -> Failed {
    Failed::new(Exit::Usage, message)
}

/// What a command gives.
pub type Outcome = Result<Exit, Failed>;

/// Prints a message on standard error. When that is closed, the message is dropped.
pub fn note(message: impl fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "silverpoint: {message}");
}

/// Prints what was done, unless `--quiet` is given.
pub fn inform(message: impl fmt::Display) {
    if !crate::terminal::quiet() {
        note(message);
    }
}
