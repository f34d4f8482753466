//! What a destination can do.

use std::io;

use silverpoint_trace::{Event, Trace};

use super::settings::Settings;
use crate::backtrace::Reached;
use crate::cursor::Position;
use crate::shared::LogNote;

/// Bytes that wait at most.
pub(super) const BUFFER_MAX: usize = 16 << 20;

/// A destination. It accepts events until it is full; then it is asked to write until it has written them.
pub(crate) trait Target: Send {
    /// Events may come; sites and sessions may be new since the last time.
    fn begin(&mut self, trace: &Trace);

    /// Takes an event that is shown ([`Event::is_shown`]).
    fn event(&mut self, event: &Event<'_>);

    /// Accepts an event that is not shown but describes others: a thread's name, a context. True: it waits to
    /// be written. Only if the follower was asked for such events.
    fn statement(&mut self, _event: &Event<'_>) -> bool {
        false
    }

    /// No more events are wanted before the next write.
    fn is_full(&self) -> bool;

    /// Nothing waits to be written.
    fn is_empty(&self) -> bool;

    /// Writes the waiting events, which reach up to `reached`. After an error the unwritten ones still wait,
    /// and the same call may be made again.
    fn write(&mut self, reached: &Reached<'_>) -> io::Result<()>;

    /// Up to where its last owner had written, for streams where `follow` was set further back (module
    /// `backtrace`). Called once.
    fn written(&mut self) -> Vec<Position> {
        Vec::new()
    }

    /// Makes written data survive a loss of power, where that is possible.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Nothing waits: continues with other settings for the same destination.
    fn set(&mut self, _settings: Settings<'_>, _trace: &Trace) {}

    /// Nothing waits: reopens a file by its name.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// A message of the logger itself: it is accepted like an event, if the destination has a form for it.
    fn note(&mut self, _note: &LogNote) {}
}
