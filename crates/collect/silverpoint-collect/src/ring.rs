//! One ring, and the look at all of them.

use std::time::Instant;

use silverpoint_wire::block::StreamInfo;
use silverpoint_wire::layout::CAUSES;

use crate::keep::kept::Kept;
use crate::statement::Statement;

/// One ring, as far as the collector remembers it.
#[derive(Debug, Default)]
pub(crate) struct RingState {
    /// The stream that is in it; `stream.stream` 0: none yet.
    pub(crate) stream: StreamInfo,
    /// Whether the file describes the stream.
    pub(crate) is_declared: bool,
    /// Retired, drained and reported: nothing can change before another stream begins.
    pub(crate) is_quiet: bool,
    /// Its contents contradict the rules: passed over from `consumed` on.
    pub(crate) is_broken: bool,
    /// How often in a row the same contradiction was seen.
    pub(crate) strikes: u8,
    /// Position through which it is stored, or in the batch.
    pub(crate) stored: u64,
    /// Losses or stalls are not as the file has them.
    pub(crate) has_news: bool,
    /// The greatest totals that were seen: the file's never fall.
    pub(crate) losses: [u64; CAUSES],
    pub(crate) stalls: u64,
    pub(crate) stall_ns: u64,
    /// Stalls and their time as the ring had them when it was last looked at.
    pub(crate) seen_stalls: (u64, u64),
    /// They stand in an earlier part or segment only.
    pub(crate) retell: bool,
    /// What it has was left to a later pass, because the stream before was not known yet.
    pub(crate) has_waited: bool,
    /// It was looked at before its turn in this pass, for the sake of another.
    pub(crate) is_ahead: bool,
    /// Which fields its records have from `stored` on; `None`: none, or that is not known.
    pub(crate) statement: Option<Statement>,
    /// What of it is kept back.
    pub(crate) kept: Kept,
}

/// A look at all rings; with very many it takes several passes, so that other sessions have their turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sweep {
    /// The ring to go on with; 0: the next sweep has not begun.
    pub(crate) next: usize,
    /// Quiet rings are looked at too.
    pub(crate) all: bool,
    /// So they shall be in the next sweep.
    pub(crate) all_wanted: bool,
    /// It has found something.
    pub(crate) has_found: bool,
    /// When it began, in the session's clock.
    pub(crate) ticks: Option<u64>,
    /// When the last one that looked at quiet rings began.
    pub(crate) all_at: Option<Instant>,
}
