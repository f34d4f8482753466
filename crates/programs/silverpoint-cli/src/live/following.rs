//! Living sessions and files that grow, read as records come: for `tail -f` and `debug`.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use silverpoint_query::filter::Filter;
use silverpoint_trace::{Follow, Note, Trace, Watcher};

use super::Live;
use crate::exit::{Exit, Failed, failure, note};
use crate::input::{exit, tell};
use crate::units::show_bytes;

/// Interval between two looks.
pub const LOOK: Duration = Duration::from_millis(50);

/// See the module.
pub struct Following {
    follow: Follow,
    live: Live,
    of_files: bool,
    is_quiet: bool,
    missed: u64,
    found: Exit,
}

impl Following {
    /// Opens these files; `of_files`: the command line names them, else sessions do.
    pub fn begin(live: Live, files: &[PathBuf], of_files: bool, is_quiet: bool) -> Result<Self, Failed> {
        let mut follow = Follow::nothing();
        for file in files {
            // (A file that the command line names may be a pipe; a file that a session names may not.)
            let added = if of_files { follow.add(file) } else { follow.add_regular(file) };
            added.map_err(failure)?;
        }
        Ok(Self { follow, live, of_files, is_quiet, missed: 0, found: Exit::Success })
    }

    /// What is open.
    pub fn trace(&self) -> &Trace {
        self.follow.trace()
    }

    /// Which records are wanted from now on.
    pub fn set_filter(&mut self, filter: &Filter) {
        self.follow.set_filter(filter);
    }

    /// Reads what is new. False: nothing more can come.
    pub fn read(&mut self, watcher: &mut impl Watcher) -> Result<bool, Failed> {
        let notes = self.follow.poll(watcher).map_err(failure)?;
        self.heed(&notes);
        let is_read = if self.of_files { self.follow.is_finished() } else { self.follow.is_drained() };
        Ok(!(self.live.is_over() && is_read))
    }

    /// Reads everything that there is now, also what could still be preceded by other records.
    pub fn read_all(&mut self, watcher: &mut impl Watcher) -> Result<(), Failed> {
        self.open_new()?;
        let notes = self.follow.poll_all(watcher).map_err(failure)?;
        self.heed(&notes);
        Ok(())
    }

    /// After everything copied so far has been opened.
    fn heed(&mut self, notes: &[Note]) {
        self.live.forget_read();
        if !self.is_quiet {
            tell(notes.iter());
            tell_missed(self.live.missed_bytes(), &mut self.missed);
        }
        if notes.iter().any(|note| exit(note.matter.verdict()) == Exit::Damaged) {
            self.found = Exit::Damaged;
        }
    }

    /// Waits until the next look, and opens what is there by then.
    pub fn look(&mut self) -> Result<(), Failed> {
        thread::sleep(LOOK);
        self.open_new()
    }

    /// Follows one more file.
    #[cfg(windows)]
    pub fn add(&mut self, file: &std::path::Path) -> Result<(), Failed> {
        self.follow.add_regular(file).map(drop).map_err(failure)
    }

    /// Whether the records of this process, which began at this time, are or were in what is read here.
    #[cfg(windows)]
    pub fn reads(&self, pid: u32, start: u64) -> bool {
        self.live.reads(pid, start)
    }

    /// Opens what has come since the last look.
    pub fn open_new(&mut self) -> Result<(), Failed> {
        for file in self.live.look()? {
            // A collector's file may be inaccessible (another user's, or in another mount namespace): the
            // others are still read.
            if let Err(error) = self.follow.add_regular(&file) {
                note(error);
            }
        }
        Ok(())
    }

    /// The exit status by what was read.
    pub fn found(&self) -> Exit {
        self.found
    }
}

/// Reports bytes that were overwritten before they were copied, when there are more.
pub fn tell_missed(now: u64, told: &mut u64) {
    if now > *told {
        note(format_args!("{} were overwritten before they could be copied", show_bytes(now - *told)));
        *told = now;
    }
}
