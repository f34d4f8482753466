//! Levels, kinds and languages of sites.

use std::fmt;
use std::str::FromStr;

/// Severity of a site, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// The finest steps.
    Trace = 0,
    /// For whoever looks for a fault.
    Debug = 1,
    /// Normal events of note.
    Info = 2,
    /// Unexpected, handled.
    Warn = 3,
    /// Something failed.
    Error = 4,
    /// The program cannot go on.
    Fatal = 5,
}

impl Level {
    /// All levels in ascending order.
    pub const ALL: [Level; 6] =
        [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Fatal];

    /// The level with this number; `None` above 5.
    pub fn from_u8(number: u8) -> Option<Level> {
        Level::ALL.get(usize::from(number)).copied()
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        ["trace", "debug", "info", "warn", "error", "fatal"][self as usize]
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The text was no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelError;

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a level: trace, debug, info, warn, error or fatal")
    }
}

impl std::error::Error for LevelError {}

impl FromStr for Level {
    type Err = LevelError;

    /// Upper or lower case.
    fn from_str(text: &str) -> Result<Level, LevelError> {
        Level::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(text)).ok_or(LevelError)
    }
}

/// What a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A template with arguments.
    Log = 0,
    /// Pieces written with `<<`.
    Stream = 1,
    /// A named event with fields.
    Event = 2,
    /// A named span; its end is a control record.
    Span = 3,
    /// A named number.
    Counter = 4,
    /// A named moment.
    Instant = 5,
}

impl Kind {
    /// All kinds, by number.
    pub const ALL: [Kind; 6] =
        [Kind::Log, Kind::Stream, Kind::Event, Kind::Span, Kind::Counter, Kind::Instant];

    /// The kind with this number; `None` for reserved and private ones.
    pub fn from_u8(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).copied()
    }

    /// Lower-case name.
    pub fn name(self) -> &'static str {
        ["log", "stream", "event", "span", "counter", "instant"][self as usize]
    }
}

/// Language of the frontend that made a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Language {
    Cpp = 1,
    Rust = 2,
    C = 3,
    DotNet = 4,
}
