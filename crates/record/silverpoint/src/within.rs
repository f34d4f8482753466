//! Futures that are within something whenever they run: their span, or the fields of a context.

use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

/// A future that is within `around` whenever it is polled, and when it is dropped before its end. So records
/// of its destructors lie there too. See [`AsyncSpan::with`](crate::AsyncSpan::with) and
/// [`InContext::in_context`](crate::InContext::in_context). The future is kept once. (Not an `async fn`: that
/// would keep its argument twice, and futures within futures would grow by powers of two.)
#[must_use = "futures do nothing unless they are polled"]
pub struct Within<F, A: Around> {
    /// Dropped in `drop`, and used by nobody afterwards.
    future: ManuallyDrop<F>,
    is_done: bool,
    // Dropped behind the future: a span ends then.
    around: A,
}

/// What futures can be within.
pub trait Around {
    /// As long as it lives, its thread is within.
    type Inside;

    /// Goes in.
    fn inside(&self) -> Self::Inside;
}

impl<F, A: Around> Within<F, A> {
    pub(crate) fn new(future: F, around: A) -> Self {
        Self { future: ManuallyDrop::new(future), is_done: false, around }
    }
}

impl<F: Future, A: Around> Future for Within<F, A> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is pinned whenever `self` is: it is never moved, only dropped where it is, and there is no other access to it.
        let (future, is_done, around) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut *this.future), &mut this.is_done, &this.around)
        };
        let _inside = around.inside();
        let polled = future.poll(task);
        *is_done = polled.is_ready();
        polled
    }
}

impl<F, A: Around> Drop for Within<F, A> {
    fn drop(&mut self) {
        // (After any error on the way in, the future is dropped where it is.)
        let future = Dropped(&mut self.future);
        let _inside = (!self.is_done).then(|| self.around.inside());
        drop(future);
    }
}

/// Drops a future when it goes.
struct Dropped<'a, F>(&'a mut ManuallyDrop<F>);

impl<F> Drop for Dropped<'_, F> {
    fn drop(&mut self) {
        // SAFETY: made once, when what the future lies in is dropped: nothing has it afterwards.
        unsafe { ManuallyDrop::drop(self.0) }
    }
}

impl<F: fmt::Debug, A: Around + fmt::Debug> fmt::Debug for Within<F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { future, is_done, around } = self;
        f.debug_struct("Within")
            .field("future", &**future)
            .field("is_done", is_done)
            .field("around", around)
            .finish()
    }
}
