//! Standard error and standard output.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use silverpoint_trace::{Event, Trace};

use super::interface::Target;
use super::lines::Lines;
use super::settings::Settings;
use crate::backtrace::Reached;
use crate::error::STDERR;

/// The largest write that a pipe keeps together (PIPE_BUF of Linux): no other output stands within.
const PIPE_PIECE: usize = 4096;
/// For a file or a terminal, which keep every write together. Limited, because other threads want to write
/// too.
const PIECE: usize = 64 << 10;
/// How long it waits for room at a time; in between the logger may end.
const ROOM: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Pause before the next attempt when the program is within a line.
const AGAIN: Duration = Duration::from_millis(1);
/// The budget of waits. Each attempt that finds an unfinished line costs one, since that line may be finished
/// much later. Each attempt that finds another thread writing costs one too. If that takes long, the thread
/// has crashed there, and the process waits for this output.
const PATIENCE: u32 = 1500;
const WITHIN_LINE: u32 = 15;
const BUSY: u32 = 1;

/// How the program writes to standard output besides.
static SHARED: OnceLock<Share> = OnceLock::new();

/// Calls a function while nothing else writes to standard output, and no earlier output waits in a buffer.
pub type Share = fn(&mut dyn FnMut()) -> Shared;

/// What became of a call of [`Share`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// The function was called.
    Called,
    /// Another thread is writing.
    Busy,
    /// A line has been begun and not been finished.
    WithinLine,
}

/// For frontends in other languages, whose programs buffer standard output themselves: a full buffer may be
/// cut within a line.
pub fn share_standard_output(share: Share) {
    let _ = SHARED.set(share);
}

/// Each record at most once: what a terminal has received is unknown.
///
/// Complete lines are written, in one system call each or several together, past the buffers of the standard
/// library. Those buffers hold the program's unfinished line. Their lock is held, because Rust writes lines
/// to standard error in several calls.
pub(super) struct Console {
    lines: Lines,
    /// Bytes of them that are written.
    done: usize,
    write: fn(&[u8]) -> rustix::io::Result<usize>,
    share: Option<Share>,
    /// Waits that were spent.
    spent: u32,
}

impl Console {
    pub(super) fn stderr(settings: Settings<'_>, trace: &Trace) -> Self {
        let write = |lines: &[u8]| {
            let _own = STDERR.lock();
            write(io::stderr().lock().as_fd(), lines)
        };
        Self { lines: Lines::new(settings, trace), done: 0, write, share: None, spent: 0 }
    }

    pub(super) fn stdout(settings: Settings<'_>, trace: &Trace) -> Self {
        let write = |lines: &[u8]| write(io::stdout().lock().as_fd(), lines);
        let share = SHARED.get().copied();
        Self { lines: Lines::new(settings, trace), done: 0, write, share, spent: 0 }
    }

    /// Writes a piece of the waiting lines, not within a line of the program; gives how many bytes need not
    /// be written again.
    fn write_piece(&mut self) -> rustix::io::Result<usize> {
        let piece = &self.lines.text.as_bytes()[self.done..];
        let Some(share) = self.share else { return (self.write)(piece) };
        // A thread that prints must not wait behind it for a reader.
        if !has_room(Some(&ROOM)) {
            return Ok(0);
        }
        let mut written = Ok(0);
        let outcome = share(&mut || {
            // The contents of the program's buffer may have used the room.
            if has_room(Some(&Timespec::default())) {
                written = (self.write)(piece);
            }
        });
        let cost = match outcome {
            Shared::Called => {
                self.spent = 0;
                return written;
            }
            // No more waits until this is over.
            _ if self.spent >= PATIENCE => return (self.write)(piece),
            Shared::Busy => BUSY,
            Shared::WithinLine => WITHIN_LINE,
        };
        self.spent += cost;
        std::thread::sleep(AGAIN);
        Ok(0)
    }
}

impl Console {
    /// Writes a piece; gives how many bytes need not be written again.
    fn write_some(&mut self) -> rustix::io::Result<usize> {
        let bytes = self.write_piece()?;
        self.done += bytes;
        if self.done >= self.lines.text.len() {
            self.lines.text.clear();
            self.done = 0;
        }
        Ok(bytes)
    }
}

/// Whether standard output accepts something without a wait, or never will.
fn has_room(patience: Option<&Timespec>) -> bool {
    let out = io::stdout();
    let mut ready = [PollFd::from_borrowed_fd(out.as_fd(), PollFlags::OUT)];
    !matches!(poll(&mut ready, patience), Ok(0) | Err(Errno::INTR))
}

/// Writes one piece; how many bytes need not be written again.
fn write(fd: BorrowedFd<'_>, lines: &[u8]) -> rustix::io::Result<usize> {
    let kind = fstat(fd).map(|found| FileType::from_raw_mode(found.st_mode));
    let is_pipe = matches!(kind, Ok(FileType::Fifo | FileType::Socket));
    let piece = whole_lines(lines, if is_pipe { PIPE_PIECE } else { PIECE });
    match rustix::io::write(fd, piece) {
        // The program, or another one at the same terminal, has set it to non-blocking; this thread waits.
        Err(Errno::AGAIN) => {
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::OUT)], Some(&ROOM));
            Ok(0)
        }
        Err(Errno::INTR) => Ok(0),
        // The output is closed for good: a pipe without a reader, a descriptor that the program has closed, a
        // terminal that was hung up. Its lines are discarded: they would fill the spool, and delay the end.
        Err(Errno::PIPE | Errno::CONNRESET | Errno::BADF) => Ok(lines.len()),
        Err(Errno::IO) if kind != Ok(FileType::RegularFile) => Ok(lines.len()),
        written => written,
    }
}

/// As many lines as there are in `most` bytes, but at least one.
fn whole_lines(lines: &[u8], most: usize) -> &[u8] {
    if lines.len() <= most {
        return lines;
    }
    let end = |part: &[u8]| part.iter().rposition(|byte| *byte == b'\n');
    match end(&lines[..most]) {
        Some(at) => &lines[..=at],
        // A longer line: in one call all the same.
        None => {
            let len = lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| at + 1);
            &lines[..len]
        }
    }
}

impl Target for Console {
    fn set(&mut self, settings: Settings<'_>, trace: &Trace) {
        self.lines = Lines::new(settings, trace);
    }

    fn begin(&mut self, trace: &Trace) {
        self.lines.begin(trace);
    }

    fn event(&mut self, event: &Event<'_>) {
        if !self.lines.crash(event) {
            return self.lines.event(event);
        }
        // The dying process does not wait for ever, and reading symbols may take seconds: so the event is
        // printed first. What cannot be written now waits with the rest.
        while !self.is_empty() && self.write_some().is_ok_and(|bytes| bytes > 0) {}
        self.lines.stack(event);
    }

    fn is_full(&self) -> bool {
        self.lines.is_full()
    }

    fn is_empty(&self) -> bool {
        self.lines.text.is_empty()
    }

    fn write(&mut self, _: &Reached<'_>) -> io::Result<()> {
        self.write_some()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_with_lines() {
        assert_eq!(whole_lines(b"a\nbc\nd\n", 100), b"a\nbc\nd\n");
        assert_eq!(whole_lines(b"a\nbc\nd\n", 6), b"a\nbc\n");
        assert_eq!(whole_lines(b"a\nbc\nd\n", 5), b"a\nbc\n");
        assert_eq!(whole_lines(b"a\nbc\nd\n", 4), b"a\n");
        assert_eq!(whole_lines(b"long\nb\n", 3), b"long\n");
        assert_eq!(whole_lines(b"", 3), b"");
    }
}
