//! Formats that a separate program writes, because its dependencies take longer to build than all the rest:
//! Parquet and Arrow, by `silverpoint-arrow`.
//!
//! ```text
//! records ─▶ CBOR ─▶ its standard input      its standard output ─▶ the new file
//! ```

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::Command;

use silverpoint_convert::cbor::CborWriter;
use silverpoint_convert::{Format, Formats, Record, WriteError, Writer};

use crate::platform::Pipes;

/// The program.
pub const PROGRAM: &str = "silverpoint-arrow";
/// Where it is, if it is neither beside this program nor in `PATH`.
const VARIABLE: &str = "SILVERPOINT_ARROW";
/// Bytes that are passed on at a time.
pub const CHUNK: usize = 64 << 10;

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
        command.arg(form);
        if let Some(event) = event {
            command.arg(format!("--event={event}"));
        }
        let pipes = Pipes::start(command, out)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())))?;
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
