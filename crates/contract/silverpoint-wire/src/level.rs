//! Levels, kinds and languages of sites.

use std::fmt;
use std::str::FromStr;

/// Severity of a site, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// The finest steps.
    Trace = 0,
    /// For finding a fault.
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
    /// The beginning of a span that may end in another thread; its first argument is `id`.
    AsyncBegin = 6,
    /// The end of such a span: of the same category, name and `id`.
    AsyncEnd = 7,
    /// A moment within such a span.
    AsyncInstant = 8,
    /// The first of the records that `id` joins across threads.
    FlowBegin = 9,
    /// One between the first and the last.
    FlowStep = 10,
    /// The last of them.
    FlowEnd = 11,
    /// One id led to another: `from`, `to`.
    Link = 12,
}

impl Kind {
    /// All kinds, by number.
    pub const ALL: [Kind; 13] = [
        Kind::Log,
        Kind::Stream,
        Kind::Event,
        Kind::Span,
        Kind::Counter,
        Kind::Instant,
        Kind::AsyncBegin,
        Kind::AsyncEnd,
        Kind::AsyncInstant,
        Kind::FlowBegin,
        Kind::FlowStep,
        Kind::FlowEnd,
        Kind::Link,
    ];

    /// The kind with this number; `None` for reserved and private ones.
    pub fn from_u8(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).copied()
    }

    /// The kind of this [name](Kind::name).
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Lower-case name, words joined by `_`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Log => "log",
            Kind::Stream => "stream",
            Kind::Event => "event",
            Kind::Span => "span",
            Kind::Counter => "counter",
            Kind::Instant => "instant",
            Kind::AsyncBegin => "async_begin",
            Kind::AsyncEnd => "async_end",
            Kind::AsyncInstant => "async_instant",
            Kind::FlowBegin => "flow_begin",
            Kind::FlowStep => "flow_step",
            Kind::FlowEnd => "flow_end",
            Kind::Link => "link",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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
    Python = 5,
}
