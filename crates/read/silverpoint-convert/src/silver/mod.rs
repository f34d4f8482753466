//! Trace files (`spec/file.md`).

mod begins;
mod follow;
mod read;
mod waiting;
mod write;

pub use follow::{FollowReader, More};
pub use read::TraceReader;
pub use write::SilverWriter;
