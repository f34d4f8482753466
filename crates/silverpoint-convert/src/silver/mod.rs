//! Trace files (`spec/file.md`).

mod read;
mod write;

pub use read::TraceReader;
pub use write::SilverWriter;
