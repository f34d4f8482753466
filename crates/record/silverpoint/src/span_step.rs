//! What happens to spans of other facades.

/// What happens to a span that has no probes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanStep {
    /// It is made: its text ends with its fields.
    Begin,
    /// It is entered in this thread.
    Entry,
    /// It is left in this thread.
    Exit {
        /// How long the thread was in it; 0: not known.
        ns: u64,
    },
    /// Nobody has it any more.
    End,
}
