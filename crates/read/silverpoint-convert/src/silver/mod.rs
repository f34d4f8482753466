//! Trace files (`spec/file.md`).

mod begins;
mod event;
mod follow;
mod read;
mod write;

pub use event::EventWriter;
pub use follow::{FollowReader, More};
pub use read::TraceReader;
pub use write::SilverWriter;
