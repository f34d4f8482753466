//! Kinds of ATrace's calls.

/// A call of ATrace, which has no probe of its own: its name is known only when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtraceCall {
    Begin,
    End,
    AsyncBegin,
    AsyncEnd,
    TrackBegin,
    TrackEnd,
    Instant,
    TrackInstant,
    Counter,
}
