//! Which begin belongs to which end. Everything that shows spans pairs them here.
//!
//! ```text
//! OpenSpans    spans of threads: an end names its site and its begin, in this thread or another; without a begin, it ends the last of its site
//! AsyncSpans   async spans: an end ends the last begin of the same process, category, name and id, in any thread
//! Halves       the same for begins and ends that come in no order
//! RecentBegins begins of spans of threads that async spans may turn out to have begun as
//! ```
//!
//! Each holds what its user keeps of a begin. How many may be open is for the user to limit: see `count`.
//!
//! ```
//! use silverpoint_query::spans::OpenSpans;
//!
//! let mut spans = OpenSpans::default();
//! let thread = (0, 4711); // of the first process
//! spans.begin(thread, 7, 100, "load");
//! assert_eq!(spans.innermost(thread), Some(&"load"));
//! assert_eq!(spans.end(thread, 7, 100), Some("load"));
//! assert_eq!(spans.count(), 0);
//! ```

mod asyncs;
mod halves;
mod recent;
mod threads;

pub use asyncs::{AsyncSpans, async_id};
pub use halves::Halves;
pub use recent::RecentBegins;
pub use threads::{OpenSpans, Place};
