//! A program beside this one. One thread serves both directions: it never waits for one pipe while the other is full.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use crate::helper::{CHUNK, PROGRAM};

/// A descriptor that is not waited for.
trait AsFlags {
    fn nonblock(&self) -> io::Result<()>;
}

impl<T: std::os::fd::AsFd> AsFlags for T {
    fn nonblock(&self) -> io::Result<()> {
        let flags = fcntl_getfl(self)?;
        Ok(fcntl_setfl(self, flags | OFlags::NONBLOCK)?)
    }
}

/// Input is written to the helper; meanwhile the helper's output goes to `out`.
pub struct Pipes {
    child: Child,
    /// `None` when everything was written.
    input: Option<ChildStdin>,
    output: ChildStdout,
    out: Box<dyn Write>,
    chunk: Vec<u8>,
}

impl Pipes {
    /// Starts the program; its output goes to `out`.
    pub fn start(mut command: Command, out: Box<dyn Write>) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        for flags in [&input as &dyn AsFlags, &output] {
            flags.nonblock()?;
        }
        Ok(Self { child, input: Some(input), output, out, chunk: vec![0; CHUNK] })
    }

    /// Passes on what the helper has given; false when it has closed its output.
    fn pass_on(&mut self) -> io::Result<bool> {
        loop {
            match self.output.read(&mut self.chunk) {
                Ok(0) => return Ok(false),
                Ok(len) => self.out.write_all(&self.chunk[..len])?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until something can be written or read.
    fn wait(&mut self) -> io::Result<bool> {
        let mut fds = vec![PollFd::new(&self.output, PollFlags::IN)];
        if let Some(input) = &self.input {
            fds.push(PollFd::new(input, PollFlags::OUT));
        }
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => self.pass_on(),
            Err(error) => Err(error.into()),
        }
    }

    /// The helper ended before everything was written, and has reported why. This is never a broken pipe:
    /// that error stands for standard output.
    fn ended(&mut self) -> io::Error {
        drop(self.input.take());
        match self.child.wait() {
            Ok(status) => io::Error::other(format!("{PROGRAM} has ended: {status}")),
            Err(error) => io::Error::other(format!("{PROGRAM} has ended: {error}")),
        }
    }

    /// Everything was written: reads the rest of the helper's output, and its exit status.
    pub fn finish(&mut self) -> io::Result<()> {
        drop(self.input.take());
        while self.wait()? {}
        let status = self.child.wait()?;
        if !status.success() {
            return Err(io::Error::other(format!("{PROGRAM}: {status}")));
        }
        self.out.flush()
    }
}

impl Write for Pipes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let Some(input) = &mut self.input else { return Err(self.ended()) };
            match input.write(bytes) {
                // A helper that has closed its output accepts no input either.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait()? {
                        return Err(self.ended());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(self.ended()),
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        drop(self.input.take());
        // A helper that is no longer needed is killed, so that the wait is short.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
