//! `tracing` remembers what is off: whenever directives change it is made to ask again.

use silverpoint::dynamic::PerProcess;
use tracing_core::dispatcher::{self, Dispatch, WeakDispatch};

/// Dispatchers that record here.
static KNOWN: PerProcess<Vec<WeakDispatch>> = PerProcess::new();

/// Begins to watch the directives.
pub(crate) fn begin() {
    silverpoint::dynamic::on_change(ask_again);
}

/// A dispatcher that records here has come.
pub(crate) fn add(dispatch: &Dispatch) {
    let mut known = KNOWN.lock();
    known.retain(|dispatch| dispatch.upgrade().is_some());
    known.push(dispatch.downgrade());
}

/// Makes `tracing` ask every callsite again.
pub(crate) fn ask_again() {
    // While there is only one dispatcher, `tracing` asks that of the calling thread: here it would be none.
    let known = KNOWN.lock().iter().find_map(WeakDispatch::upgrade);
    match known {
        Some(dispatch) => {
            dispatcher::with_default(&dispatch, tracing_core::callsite::rebuild_interest_cache);
        }
        None => tracing_core::callsite::rebuild_interest_cache(),
    }
}
