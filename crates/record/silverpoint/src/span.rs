//! Spans: a begin record, and an end record when the guard goes.
//!
//! ```text
//!  Span        one thread      begin ─── end
//!  AsyncSpan   any threads     async begin with id ─ stretches, one for each poll of its future ─ async end
//! ```

use std::cell::Cell;
use std::marker::PhantomData;

use crate::args::Args;
use crate::header::Made;
use crate::level::AtLevel;
use crate::probed::{self, PROBED_SPAN};
use crate::record::timed;
use crate::site::{Meta, Site};
use crate::within::{Around, Within};
use crate::words::span_end;

/// Ends the span when it is dropped. It belongs to the thread that began it.
#[must_use = "a span ends when its guard is dropped: `let _span = span!(…)`"]
pub struct Span {
    /// Id of the span's site, 0 when it is not recorded. With [`PROBED_SPAN`] a system tracer may want its end.
    id: u32,
    level: u8,
    begun: u64,
    /// The USDT probe at its end, while a tracer is attached.
    #[cfg(usdt)]
    exit: Option<crate::usdt::Exit>,
    not_send: PhantomData<*const ()>,
}

impl Span {
    /// Records the begin. `state`: of the question whether the site is on.
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin<M: Meta, L: AtLevel, A: Args>(site: &'static Site, state: u8, arguments: &A) -> Self {
        #[cfg(usdt)]
        if crate::site::is_attached(state) {
            let (made, exit) = crate::usdt::begin::<M, L, A>(site, arguments);
            return Self::made(made, L::LEVEL).with_exit(exit);
        }
        #[cfg(not(usdt))]
        let _ = state;
        Self::made(timed::<M, L, A>(site, arguments), L::LEVEL)
    }

    #[inline(always)]
    const fn made(made: Made, level: u8) -> Self {
        Self {
            id: made.id,
            level,
            begun: made.ticks,
            #[cfg(usdt)]
            exit: None,
            not_send: PhantomData,
        }
    }

    #[cfg(usdt)]
    #[inline(always)]
    fn with_exit(mut self, exit: crate::usdt::Exit) -> Self {
        self.exit = Some(exit);
        self
    }

    /// A span that is off.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn none() -> Self {
        Self::made(Made::LOST, 0)
    }

    /// Whether it is recorded.
    pub fn is_recorded(&self) -> bool {
        self.id != 0 && (self.id & PROBED_SPAN == 0 || probed::is_recorded(self.id))
    }
}

impl Drop for Span {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(usdt)]
        if let Some(exit) = &self.exit {
            exit.hit();
        }
        // One comparison for both: the mark is the sign.
        if self.id as i32 > 0 {
            let _ = span_end(self.level, self.id, self.begun);
        } else if self.id != 0 {
            probed::end_span(self.level, self.id, self.begun);
        }
    }
}

/// What is recorded of an async span behind its begin.
#[doc(hidden)]
#[derive(Debug)]
pub struct AsyncSites {
    /// Records its end.
    pub end: fn(u64),
    /// Begins a stretch of it in this thread.
    pub stretch: fn(u64) -> Span,
}

/// A span that may end in another thread than it began in: made by [`async_span!`](crate::async_span), moved about, ends when it is dropped. Costs two records
/// and an id; nothing when its site is off.
#[must_use = "an async span ends when it is dropped"]
#[derive(Debug)]
pub struct AsyncSpan {
    /// `None` when there is nothing to end.
    sites: Option<&'static AsyncSites>,
    id: u64,
}

impl AsyncSpan {
    /// One whose begin was recorded.
    #[doc(hidden)]
    pub fn begun(id: u64, sites: &'static AsyncSites) -> Self {
        Self { sites: Some(sites), id }
    }

    /// A span that is off.
    #[doc(hidden)]
    pub const fn none() -> Self {
        Self { sites: None, id: 0 }
    }

    /// The future, with this as its span. What the future records when it is polled lies in the span, in
    /// every thread. The span ends with the future, done or dropped. Each poll is a part of the span in its
    /// thread: two records more. Dropping an unfinished future is another.
    ///
    /// ```
    /// use silverpoint::{async_span, info};
    ///
    /// async fn fetch(url: &str) -> usize {
    ///     async_span!("fetch", url).with(async { info!("asking"); url.len() }).await
    /// }
    /// ```
    pub fn with<F: IntoFuture>(self, future: F) -> Within<F::IntoFuture, Self> {
        Within::new(future.into_future(), self)
    }

    /// Begins a stretch in this thread.
    pub(crate) fn stretch(&self) -> Stretch {
        let span = self.sites.map_or(Span::none(), |sites| (sites.stretch)(self.id));
        // One that is not recorded is nothing that another could lie in.
        let around = if span.is_recorded() { WITHIN.replace((self.id, span.begun)) } else { WITHIN.get() };
        Stretch { around, _span: span }
    }

    /// Its id, for [`async_instant!`](crate::async_instant), [`link!`](crate::link) and messages to other processes; 0 when it is off.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Ends it now.
    pub fn end(self) {}
}

impl Around for AsyncSpan {
    type Inside = Stretch;

    fn inside(&self) -> Stretch {
        self.stretch()
    }
}

impl Drop for AsyncSpan {
    fn drop(&mut self) {
        if let Some(sites) = self.sites {
            (sites.end)(self.id);
        }
    }
}

thread_local! {
    /// The innermost async span in whose part this thread is: its id, and the ticks at which the part began.
    /// Zeros: none.
    static WITHIN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// The id of the async span in whose stretch this thread is, and the ticks at which the stretch began; `None`: it is in none.
pub fn innermost_stretch() -> Option<(u64, u64)> {
    Some(WITHIN.get()).filter(|(id, _)| *id != 0)
}

/// Until it is dropped a thread is in an async span.
pub struct Stretch {
    around: (u64, u64),
    _span: Span,
}

impl Drop for Stretch {
    fn drop(&mut self) {
        WITHIN.set(self.around);
    }
}

/// Does nothing: a block that mentions a variable has it.
#[inline(always)]
pub fn mention<T: ?Sized>(_: &T) {}

/// The calling thread is within the span until this is dropped.
pub fn inside(span: &AsyncSpan) -> impl Sized + use<> {
    span.stretch()
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
