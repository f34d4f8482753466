//! Where a sink's records end up: one kind of destination for each file.

mod compression;
mod console;
mod file;
mod handler;
mod lines;
mod logfile;
mod old_name;
mod rotate;
mod socket;
mod system;
mod trace;

use std::io;

use silverpoint_formats::tracefile::{Event, Follow, Trace};

use crate::backtrace::Reached;
use crate::config::{Sink, To};
use crate::cursor::Position;
use crate::error::LoggerError;
use crate::shared::LogNote;
use crate::spool::Spool;
pub(crate) use compression::Compression;
pub use console::{Share, Shared, share_standard_output};
pub(crate) use old_name::Naming;
pub(crate) use rotate::Keep;
pub(crate) use socket::Address;

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
    fn set(&mut self, _sink: &Sink, _trace: &Trace) {}

    /// Nothing waits: reopens a file by its name.
    fn reopen(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// A message of the logger itself: it is accepted like an event, if the destination has a form for it.
    fn note(&mut self, _note: &LogNote) {}
}

/// Opens a sink's destination, and sets `follow` to where its last owner stopped.
pub(crate) fn open(sink: Sink, spool: &Spool, follow: &mut Follow) -> Result<Box<dyn Target>, LoggerError> {
    let (name, has_backtrace) = (sink.label(), sink.backtrace.is_some());
    Ok(match &sink.to {
        To::Stderr => Box::new(console::Console::stderr(&sink, follow.trace())),
        To::Stdout => Box::new(console::Console::stdout(&sink, follow.trace())),
        To::Handler(handler) => Box::new(handler.clone()),
        To::Journald(config) => {
            Box::new(system::System::journald(config, &name, has_backtrace, spool, follow)?)
        }
        To::Syslog(config) => Box::new(system::System::syslog(config, &name, has_backtrace, spool, follow)?),
        To::File(config) if config.is_trace => {
            Box::new(trace::TraceTarget::open(&sink, config, spool, follow)?)
        }
        To::File(config) => Box::new(file::FileTarget::open(&sink, config, spool, follow)?),
    })
}
