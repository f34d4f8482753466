//! Records again, in time: as far apart as they were, or faster, or at once.
//!
//! ```text
//! Trace ─▶ Pace: when is it due? ─▶ Clock: sleep until then ─▶ the user's function
//! ```
//!
//! Times follow one schedule that begins with the first record. A late record does not delay those after it,
//! so a replay of an hour takes an hour. A late record is given at once, and its delay is counted. The clock
//! is the caller's ([`Clock`]): [`RealTime`] sleeps; [`Virtual`] only counts, for tests that need exact times
//! and no waiting.
//!
//! ```
//! use std::ops::ControlFlow;
//! use silverpoint_query::filter::Filter;
//! use silverpoint_query::replay::{RealTime, Schedule, Speed, replay};
//! use silverpoint_trace::Trace;
//!
//! # fn main() -> Result<(), silverpoint_trace::OpenError> {
//! # let files: [std::path::PathBuf; 0] = [];
//! let trace = Trace::open(&files)?;
//! let schedule = Schedule { speed: Speed::times(10.0).unwrap_or_default(), ..Schedule::default() };
//! let done = replay(&trace, &Filter::default(), schedule, &mut RealTime::new(), |event, due| {
//!     println!("{due:?} after the first: line {}", event.what.level().name());
//!     ControlFlow::Continue(())
//! });
//! println!("{} records, {} late", done.records, done.late);
//! # Ok(())
//! # }
//! ```

mod clock;
mod schedule;

use std::ops::ControlFlow;
use std::time::Duration;

pub use clock::{Clock, RealTime, Virtual};
pub use schedule::{LATE, Pace, Played, Schedule, Speed, SpeedError};

use silverpoint_trace::{Event, Trace};

use crate::filter::Filter;

/// Gives the records that the filter selects, in order of time, each when it is due, and how long after the
/// first that was. Names and ends of threads and contexts are not given: each event contains them. Ends when
/// there are no more, when the function stops it, or when the clock's sleep is interrupted.
///
/// Memory is that of reading the trace in order of time. Unreadable parts of it are left out;
/// [`Trace::select`] reports them.
pub fn replay(
    trace: &Trace,
    filter: &Filter,
    schedule: Schedule,
    clock: &mut dyn Clock,
    mut each: impl FnMut(&Event<'_>, Duration) -> ControlFlow<()>,
) -> Played {
    let mut pace = Pace::new(schedule);
    let mut events = trace.select(filter);
    while let Some(event) = events.next() {
        if !event.is_shown() {
            continue;
        }
        let Some(due) = pace.wait(event.wall_ns, clock, || ()) else { break };
        if each(&event, due).is_break() {
            break;
        }
    }
    pace.played()
}
