//! Formats that a separate program writes, because its dependencies take longer to build than all the rest:
//! Parquet and Arrow, by `silverpoint-arrow`.
//!
//! ```text
//! records ─▶ CBOR ─▶ its standard input      its standard output ─▶ the new file
//! ```
//!
//! One thread serves both directions: it never waits for one pipe while the other is full.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use silverpoint_convert::cbor::CborWriter;
use silverpoint_convert::{Format, Formats, Record, WriteError, Writer};

const PROGRAM: &str = "silverpoint-arrow";
/// Where it is, if it is neither beside this program nor in `PATH`.
const VARIABLE: &str = "SILVERPOINT_ARROW";
/// Bytes that are passed on at a time.
const CHUNK: usize = 64 << 10;

/// All formats of the program: those of the library, and those that a helper writes.
pub fn formats() -> Formats {
    let mut formats = Formats::default();
    for format in OWN {
        formats.add(*format);
    }
    formats
}

const OWN: &[Format] = &[
    Format {
        name: "arrow-stream",
        endings: &["arrows"],
        about: "Arrow IPC stream, by silverpoint-arrow",
        reader: None,
        writer: Some(|out, _| Ok(Box::new(Helper::start("arrow-stream", None, out)?))),
    },
    Format {
        name: "arrow",
        endings: &["arrow", "feather"],
        about: "Arrow IPC file, by silverpoint-arrow",
        reader: None,
        writer: Some(|out, _| Ok(Box::new(Helper::start("arrow", None, out)?))),
    },
    Format {
        name: "parquet",
        endings: &["parquet"],
        about: "Apache Parquet, by silverpoint-arrow",
        reader: None,
        writer: Some(|out, _| Ok(Box::new(Helper::start("parquet", None, out)?))),
    },
];

/// Whether a helper writes it: then it may be asked for the records of one event.
pub fn has_tables(format: &Format) -> bool {
    OWN.iter().any(|own| own.name == format.name)
}

/// Writes a format by a helper, of one event.
pub fn event(format: &Format, event: &str, out: Box<dyn Write>) -> io::Result<Box<dyn Writer>> {
    Ok(Box::new(Helper::start(format.name, Some(event), out)?))
}

/// A helper that runs.
struct Helper {
    records: CborWriter<BufWriter<Pipes>>,
}

impl Helper {
    fn start(form: &str, event: Option<&str>, out: Box<dyn Write>) -> io::Result<Self> {
        let program = find().ok_or_else(|| {
            let why = format!(
                "{form} needs a separate program, {PROGRAM}, which is neither beside this one nor in PATH. Build and install it with `make arrow install-arrow` in Silverpoint's source tree, or set {VARIABLE} to its path"
            );
            io::Error::new(io::ErrorKind::NotFound, why)
        })?;
        let mut command = Command::new(&program);
        command.arg(form).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(event) = event {
            command.arg(format!("--event={event}"));
        }
        let fail = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", program.display()));
        let mut child = command.spawn().map_err(fail)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(fail(io::ErrorKind::BrokenPipe.into()));
        };
        for flags in [&input as &dyn AsFlags, &output] {
            flags.nonblock()?;
        }
        let pipes = Pipes { child, input: Some(input), output, out, chunk: vec![0; CHUNK] };
        Ok(Self { records: CborWriter::new(BufWriter::with_capacity(CHUNK, pipes)) })
    }
}

impl Writer for Helper {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.records.write(record)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.records.finish()?;
        let pipes = self.records.get_mut();
        pipes.flush()?;
        pipes.get_mut().finish()
    }
}

/// Beside this program, or in `PATH`.
fn find() -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.is_file();
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    let beside = std::env::current_exe().ok().map(|path| path.with_file_name(PROGRAM));
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join(PROGRAM)).find(is_there);
    beside.filter(is_there).or(in_path)
}

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
struct Pipes {
    child: Child,
    /// `None` when everything was written.
    input: Option<ChildStdin>,
    output: ChildStdout,
    out: Box<dyn Write>,
    chunk: Vec<u8>,
}

impl Pipes {
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
    fn finish(&mut self) -> io::Result<()> {
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
