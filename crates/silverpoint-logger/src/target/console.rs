//! Standard error and standard output.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use silverpoint_formats::tracefile::{Event, Trace};

use super::Target;
use super::file::BUFFER_MAX;
use super::lines::{BATCH, Lines};
use crate::backtrace::Reached;
use crate::config::Sink;
use crate::error::STDERR;

/// What a pipe takes in one piece (PIPE_BUF of Linux): nothing of others stands within.
const PIPE_PIECE: usize = 4096;
/// Of a file or a terminal, which take every write in one piece. Not everything at once: others want to write too.
const PIECE: usize = 64 << 10;
/// How long it waits for room at a time; meanwhile the logger may end.
const ROOM: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Each record at most once: nobody can say what a terminal has got.
///
/// Lines go out whole, in one system call each or several together, past the buffers of the standard library: what the program has printed of a line that is not at its end is still in
/// there. Its lock is held, for Rust writes lines to standard error in several calls.
pub(super) struct Console {
    lines: Lines,
    /// Bytes of them that are out.
    done: usize,
    write: fn(&[u8]) -> rustix::io::Result<usize>,
}

impl Console {
    pub(super) fn stderr(sink: &Sink, trace: &Trace) -> Self {
        let write = |lines: &[u8]| {
            let _own = STDERR.lock();
            write(io::stderr().lock().as_fd(), lines)
        };
        Self { lines: lines(sink, trace), done: 0, write }
    }

    pub(super) fn stdout(sink: &Sink, trace: &Trace) -> Self {
        Self { lines: lines(sink, trace), done: 0, write: |lines| write(io::stdout().lock().as_fd(), lines) }
    }
}

/// Writes one piece; how many bytes need not be written again.
fn write(fd: BorrowedFd<'_>, lines: &[u8]) -> rustix::io::Result<usize> {
    let kind = fstat(fd).map(|found| FileType::from_raw_mode(found.st_mode));
    let is_pipe = matches!(kind, Ok(FileType::Fifo | FileType::Socket));
    let piece = whole_lines(lines, if is_pipe { PIPE_PIECE } else { PIECE });
    match rustix::io::write(fd, piece) {
        // The program, or whoever shares the terminal with it, does not want to wait in writes; this thread does.
        Err(Errno::AGAIN) => {
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::OUT)], Some(&ROOM));
            Ok(0)
        }
        Err(Errno::INTR) => Ok(0),
        // Nobody reads any more, nor will: a pipe without a reader, a descriptor that the program has closed, a terminal that was hung up. Nothing is owed to such a console; lines that waited for it
        // would fill the spool, and hold up the end.
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
        // Longer than that: in one call all the same.
        None => {
            let len = lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |at| at + 1);
            &lines[..len]
        }
    }
}

fn lines(sink: &Sink, trace: &Trace) -> Lines {
    Lines::new(sink, sink.flush.map_or(BATCH, |flush| flush.bytes.clamp(1, BUFFER_MAX)), trace)
}

impl Target for Console {
    fn set(&mut self, sink: &Sink, trace: &Trace) {
        self.lines = lines(sink, trace);
    }

    fn begin(&mut self, trace: &Trace) {
        self.lines.begin(trace);
    }

    fn event(&mut self, event: &Event<'_>) {
        self.lines.event(event);
    }

    fn is_full(&self) -> bool {
        self.lines.is_full()
    }

    fn is_empty(&self) -> bool {
        self.lines.text.is_empty()
    }

    fn write(&mut self, _: &Reached<'_>) -> io::Result<()> {
        self.done += (self.write)(&self.lines.text.as_bytes()[self.done..])?;
        if self.done >= self.lines.text.len() {
            self.lines.text.clear();
            self.done = 0;
        }
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
