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
            let _ = span_end(self.level, self.id, self.begun);
        }
    }
}

/// A span that may end in another thread than it began in: made by [`async_span!`](crate::async_span), moved about, ends when it is dropped. Costs two records
/// and an id; nothing when its site is off.
#[must_use = "an async span ends when it is dropped"]
#[derive(Debug)]
pub struct AsyncSpan {
    /// Records the end; `None` when there is nothing to end.
    end: Option<fn(u64)>,
    id: u64,
}

impl AsyncSpan {
    /// One whose begin was recorded.
    #[doc(hidden)]
    pub fn begun(id: u64, end: fn(u64)) -> Self {
        Self { end: Some(end), id }
    }

    /// A span that is off.
    #[doc(hidden)]
    pub const fn none() -> Self {
        Self { end: None, id: 0 }
    }

    /// Its id, for [`async_instant!`](crate::async_instant), [`link!`](crate::link) and messages to other processes; 0 when it is off.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Ends it now.
    pub fn end(self) {}
}

impl Drop for AsyncSpan {
    fn drop(&mut self) {
        if let Some(end) = self.end {
            end(self.id);
        }
    }
}

/// Calls it. (A closure that is called by its name may not give away what it has borrowed from what it captured.)
#[inline(always)]
pub fn once<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// What can be an id: a whole number or a pointer.
#[diagnostic::on_unimplemented(message = "an id is a whole number or a pointer, not a `{Self}`")]
pub trait Id: Copy {
    /// As it is recorded.
    fn number(self) -> u64;
}

macro_rules! ids {
    ($($kind:ty),*) => {$(
        impl Id for $kind {
            #[inline(always)]
            fn number(self) -> u64 {
                self as u64
            }
        }
    )*};
}

ids! { u8, u16, u32, u64, usize, i8, i16, i32, i64, isize }

impl<T> Id for *const T {
    #[inline(always)]
    fn number(self) -> u64 {
        self.addr() as u64
    }
}

impl<T> Id for *mut T {
    #[inline(always)]
    fn number(self) -> u64 {
        self.addr() as u64
    }
}
