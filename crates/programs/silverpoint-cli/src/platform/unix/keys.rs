//! Keys that are pressed while a command prints lines: read one by one, and not shown.

use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr};

/// The terminal's keys, until it is dropped. Interrupts and the end of lines stay as they are.
pub struct Keys {
    before: Termios,
}

impl Keys {
    /// `None`: standard input and output are not the terminal of this program.
    pub fn watch() -> Option<Self> {
        if !isatty(io::stdout()) || !is_in_foreground() {
            return None;
        }
        let before = tcgetattr(io::stdin()).ok()?;
        let mut modes = before.clone();
        modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        tcsetattr(io::stdin(), OptionalActions::Now, &modes).ok()?;
        Some(Self { before })
    }

    /// The first of the keys since the last call.
    pub fn pressed(&self) -> Option<u8> {
        // A program in the background would be stopped by reading.
        if !is_in_foreground() {
            return None;
        }
        let stdin = io::stdin();
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut waiting, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) != Ok(1) {
            return None;
        }
        let mut keys = [0; 64];
        let count = rustix::io::read(&stdin, &mut keys).ok()?;
        keys[..count].first().copied()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if is_in_foreground() {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
    }
}

fn is_in_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}
