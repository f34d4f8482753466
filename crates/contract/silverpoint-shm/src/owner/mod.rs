//! The producer's side of a session, for frontends.
//!
//! ```text
//!  start ─▶ local: the process's state, wiped by fork ─▶ session: make or join ─▶ fork: a child's copy · sweep: what others left
//!  register ─▶ sites · changes: when the directives are others
//!  reserve ─▶ thread: hot path ─▶ slot: a thread's lanes ─▶ lane: policy ─▶ ring: protocol · slabs: slices · context: fields of all records
//!  leave ─▶ the end of the copy
//! ```
//!
//! Everything here may be called from any thread, from signal handlers, before `main` and after it; nothing allocates from the heap or takes a lock.

mod again;
mod anchors;
mod at;
mod cause;
mod changes;
mod context;
mod contexts;
mod control;
pub(crate) mod crash_ring;
mod force_slow_path;
mod fork;
mod fresh;
mod giving;
mod identity;
mod ids;
mod lane;
mod largest;
mod leave;
mod local;
mod opened;
mod paged;
mod prepared;
mod quiet;
mod register;
mod remembered;
mod session;
mod settings;
mod sites;
mod slabs;
mod slot;
mod start;
mod sweep;
mod thread;
mod tracer_libraries;
mod tracers;
mod usable;

pub use again::{end_span, record_packed};
pub use cause::Cause;
pub use changes::{Follower, generation, most_verbose, ticks_to_ns, wait_for_change, would_record};
pub use context::{context_room, enter_context, leave_context, with_context};
pub use contexts::CONTEXT_BYTES;
pub(crate) use force_slow_path::force_slow_path;
pub use ids::{new_id, process_id, random_bytes};
pub use largest::largest_record;
pub use leave::{leave, unload};
pub use local::{Absence, absence};
pub use quiet::Quiet;
pub use register::{register, register_question, register_variety};
pub use sites::{AGAIN, Description, Pieces, Registered};
pub use slabs::ALWAYS_FITS;
pub use start::{session_name, start};
pub use thread::{
    Here, Owned, Reservation, lose, lose_other, lose_without_site, prepare, reserve, reserve_rest,
    reserve_slowly, reserve_up_to,
};
pub use tracers::{Event, Mark, Traced, feeds_tracer, is_unwanted, now, traced};

pub use crate::sys::Pages;
