//! The facade by which a victim records, and the kinds of its calls.
//!
//! Calls of a facade come in turns, a record each. So all of its kinds occur, begins and ends apart, and the
//! judge derives from a call's number what its record must be. Only a task ([`Turn::Task`]: a span of
//! `tracing` that is entered twice) is several records, which belong together by its id.

use std::fmt;

/// By what a victim records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Facade {
    /// The macros of the language's own frontend.
    Native,
    /// `tracing`, into a `Subscriber`.
    Subscriber,
    /// `tracing`, into a `Layer` of a registry.
    Layer,
    /// `log`.
    Log,
    /// ATrace, into the rings.
    Atrace,
}

/// Those of the Rust victim.
pub const OF_RUST: [Facade; 5] =
    [Facade::Native, Facade::Subscriber, Facade::Layer, Facade::Log, Facade::Atrace];
/// Those of the C++ victim.
pub const OF_CPP: [Facade; 2] = [Facade::Native, Facade::Atrace];

/// What a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// An event with thread, sequence and text.
    Event,
    /// A text alone.
    Text,
    /// A span of the thread begins.
    Begin,
    /// It ends.
    End,
    /// A span with an id, from its begin to its end.
    Task,
    /// The value of a counter is the sequence.
    Counter,
    /// An async span begins whose id is the sequence.
    AsyncBegin,
    /// That of two calls ago ends.
    AsyncEnd,
    /// A span begins on a track.
    TrackBegin,
    /// It ends; its id is the thread's number.
    TrackEnd,
    /// A point in time on a track.
    TrackInstant,
}

impl Facade {
    /// As the victims get it.
    pub fn name(self) -> &'static str {
        match self {
            Facade::Native => "native",
            Facade::Subscriber => "subscriber",
            Facade::Layer => "layer",
            Facade::Log => "log",
            Facade::Atrace => "atrace",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Facade> {
        OF_RUST.into_iter().find(|facade| facade.name() == name)
    }

    /// What a thread's call of this number, from 1 on, is. (victim.cpp does the same.)
    pub fn turn(self, sequence: u64) -> Turn {
        use Turn::{
            AsyncBegin, AsyncEnd, Begin, Counter, End, Event, Task, Text, TrackBegin, TrackEnd, TrackInstant,
        };
        let turns: &[Turn] = match self {
            Facade::Native => &[Event],
            Facade::Subscriber | Facade::Layer => &[Begin, Event, End, Task, Text],
            Facade::Log => &[Event, Text],
            Facade::Atrace => {
                &[Begin, Counter, End, AsyncBegin, TrackInstant, AsyncEnd, TrackBegin, TrackEnd]
            }
        };
        turns[((sequence - 1) % turns.len() as u64) as usize]
    }
}

impl fmt::Display for Facade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
