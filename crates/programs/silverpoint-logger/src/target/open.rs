//! Which destination a sink has.

use silverpoint_trace::Follow;

use super::console::Console;
use super::file::FileTarget;
use super::interface::Target;
use super::settings::Settings;
use super::system::System;
use super::trace::TraceTarget;
use crate::config::{Sink, To};
use crate::error::LoggerError;
use crate::spool::Spool;

/// Opens a sink's destination, and sets `follow` to where its last owner stopped.
pub(crate) fn open(sink: Sink, spool: &Spool, follow: &mut Follow) -> Result<Box<dyn Target>, LoggerError> {
    let (name, has_backtrace) = (sink.label(), sink.backtrace.is_some());
    let settings = Settings::of(&sink);
    Ok(match &sink.to {
        To::Stderr => Box::new(Console::stderr(settings, follow.trace())),
        To::Stdout => Box::new(Console::stdout(settings, follow.trace())),
        To::Handler(handler) => Box::new(handler.clone()),
        To::Journald(config) => Box::new(System::journald(config, &name, has_backtrace, spool, follow)?),
        To::Syslog(config) => Box::new(System::syslog(config, &name, has_backtrace, spool, follow)?),
        To::File(config) if config.is_trace => Box::new(TraceTarget::open(settings, config, spool, follow)?),
        To::File(config) => Box::new(FileTarget::open(settings, config, has_backtrace, spool, follow)?),
    })
}
