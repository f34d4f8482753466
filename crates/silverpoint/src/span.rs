//! Spans: a begin record, and an end record when the guard goes.

use std::marker::PhantomData;

use crate::args::Args;
use crate::record::{AtLevel, Made, span_end, timed};
use crate::site::{Meta, Site};

/// Ends the span when it is dropped. It belongs to the thread that began it.
#[must_use = "a span ends when its guard is dropped: `let _span = span!(…)`"]
pub struct Span {
    /// Id of the span's site, 0 when it is not recorded.
    id: u32,
    level: u8,
    begun: u64,
    not_send: PhantomData<*const ()>,
}

impl Span {
    /// Records the begin.
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin<M: Meta, L: AtLevel, A: Args>(site: &'static Site, arguments: &A) -> Self {
        let Made { id, ticks: begun } = timed::<M, L, A>(site, arguments);
        Self { id, level: L::LEVEL, begun, not_send: PhantomData }
    }

    /// A span that is off.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn none() -> Self {
        Self { id: 0, level: 0, begun: 0, not_send: PhantomData }
    }

    /// Whether it is recorded.
    pub fn is_recorded(&self) -> bool {
        self.id != 0
    }
}

impl Drop for Span {
    #[inline(always)]
    fn drop(&mut self) {
        if self.id != 0 {
            span_end(self.level, self.id, self.begun);
        }
    }
}
