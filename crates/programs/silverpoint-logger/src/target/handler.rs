//! A function of the program.

use std::io;
use std::sync::PoisonError;

use silverpoint_trace::{Event, Trace};

use super::interface::Target;
use crate::backtrace::Reached;
use crate::config::Handler;

/// Each record at most once; it gets the event where other targets make a line.
impl Target for Handler {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) {
        self.has_told = true;
        (self.call.lock().unwrap_or_else(PoisonError::into_inner))(Some(event));
    }

    fn is_full(&self) -> bool {
        false
    }

    fn is_empty(&self) -> bool {
        !self.has_told
    }

    fn write(&mut self, _: &Reached<'_>) -> io::Result<()> {
        self.has_told = false;
        (self.call.lock().unwrap_or_else(PoisonError::into_inner))(None);
        Ok(())
    }
}
