//! What happens now, as `tail`, `debug`, `top` and `convert` read it. What is missing is reported on standard error.

mod following;
mod reader;

use std::path::PathBuf;

use crate::exit::{Failed, note};
pub use following::Following;
pub use reader::reader;
pub use silverpoint_read::Targets;

/// The living sessions of the targets.
pub struct Live(silverpoint_read::Live);

impl Live {
    /// Nothing is opened before the first [`Live::look`].
    pub fn new(targets: Targets) -> Self {
        Self(silverpoint_read::Live::new(targets))
    }

    /// As [`Live::new`]; this category is on meanwhile.
    pub fn switching(targets: Targets, category: &'static str) -> Self {
        Self(silverpoint_read::Live::switching(targets, category))
    }

    /// Copies what is new, and searches for sessions now and then. Gives the files to be read from now on.
    pub fn look(&mut self) -> Result<Vec<PathBuf>, Failed> {
        let files = self.0.look();
        self.0.take_messages().into_iter().for_each(note);
        Ok(files?)
    }

    /// To be called when the caller has opened everything copied so far.
    pub fn forget_read(&mut self) {
        self.0.forget_read();
    }

    /// Whether no session can come any more: all named processes have ended.
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Whether the records of this process, which began at this time, are or were in what is read here.
    #[cfg(windows)]
    pub fn reads(&self, pid: u32, start: u64) -> bool {
        self.0.reads(pid, start)
    }

    /// Bytes that programs had overwritten before they could be copied.
    pub fn missed_bytes(&self) -> u64 {
        self.0.missed_bytes()
    }

    /// An error when a process that was named has no session.
    pub fn expect_some(&self) -> Result<(), Failed> {
        Ok(self.0.expect_some()?)
    }
}
