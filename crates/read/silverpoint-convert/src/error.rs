//! Errors of readers and writers.

use std::fmt;
use std::io;

/// Where in an input something stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Byte offset from the start of the input.
    pub offset: u64,
    /// From 1; 0 in formats without lines.
    pub line: u64,
    /// In bytes, from 1; 0 in formats without lines.
    pub column: u64,
}

impl Place {
    /// Of formats that are no stream of bytes: the path alone says where.
    pub const NOWHERE: Self = Self { offset: u64::MAX, line: 0, column: 0 };
}

/// Why a record cannot be read: where, what was found, and what was expected.
#[derive(Debug)]
pub struct ReadError {
    /// Name of the input, when it has one.
    pub input: Box<str>,
    /// Where it stands.
    pub place: Place,
    /// Number of the record in its input, from 0, and the path within it: `[3].args.x`.
    pub path: String,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: Box<str>,
    /// The error of the file system, if it is one.
    pub io: Option<io::Error>,
    /// The reader can continue after the damage.
    pub may_go_on: bool,
}

impl ReadError {
    /// Something that is not what it should be.
    pub fn new(place: Place, found: impl Into<String>, expected: &str) -> Self {
        Self {
            input: Box::default(),
            place,
            path: String::new(),
            found: found.into(),
            expected: expected.into(),
            io: None,
            may_go_on: false,
        }
    }

    /// The input cannot be read.
    pub fn of_io(place: Place, error: io::Error) -> Self {
        Self { io: Some(error), ..Self::new(place, "", "") }
    }

    /// The reader can continue after it.
    pub fn passable(mut self) -> Self {
        self.may_go_on = true;
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.input.is_empty() {
            write!(f, "{}: ", self.input)?;
        }
        let is_placed = self.place != Place::NOWHERE;
        if is_placed {
            write!(f, "byte {}", self.place.offset)?;
        }
        if self.place.line > 0 {
            write!(f, " (line {}, column {})", self.place.line, self.place.column)?;
        }
        if !self.path.is_empty() {
            write!(f, "{}in {}", if is_placed { ", " } else { "" }, self.path)?;
        }
        if !is_placed && self.path.is_empty() {
            f.write_str("the database")?;
        }
        match &self.io {
            Some(error) => write!(f, ": {error}"),
            None => write!(f, ": found {}, expected {}", self.found, self.expected),
        }
    }
}

impl std::error::Error for ReadError {}

/// Why a record cannot be written.
#[derive(Debug)]
pub enum WriteError {
    /// The output.
    Io(io::Error),
    /// The format cannot hold it.
    CannotHold(String),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::CannotHold(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for WriteError {}
