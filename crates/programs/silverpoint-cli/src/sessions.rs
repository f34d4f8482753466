//! Finding sessions.

pub use silverpoint_read::sessions::{Place, RUN_PREFIX, all, living, roots, supervisor_of};
