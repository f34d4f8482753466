//! What takes records of a replay.

use silverpoint_trace::Event;

use crate::exit::Failed;

/// Takes records when they are due.
pub(super) trait Sink {
    /// One record, or the end of a span, a loss, a wait.
    fn take(&mut self, event: &Event<'_>) -> Result<(), Failed>;

    /// No record comes for a while: pending output is to be written.
    fn pass_on(&mut self) -> Result<(), Failed>;

    /// False: the output was closed.
    fn wants_more(&self) -> bool {
        true
    }

    /// All records were given: ends it. Gives messages for the user.
    fn finish(self: Box<Self>) -> Result<Vec<String>, Failed>;
}
