//! Where records go: the destination that a name or an option selects. It is complete at the end, or does not
//! exist.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use silverpoint_convert::ctf::{self, CTF, Clock, CtfWriter};
use silverpoint_convert::etl::{ETL, EtlWriter};
use silverpoint_convert::otlp::{self, OTLP, Patience, Sender};
use silverpoint_convert::{Format, MakeWriter, Reader, WriteOptions, Writer};

use super::copying::{Copying, PIPE};
use super::sqlite;
use crate::exit::{Failed, at, failure, usage};
use crate::helper;
use crate::newdirectory::NewDirectory;
use crate::newfile::NewFile;

/// See the module.
pub(super) enum Output {
    Standard(MakeWriter),
    File(MakeWriter),
    /// A database, by its name.
    Sqlite,
    /// A directory.
    Ctf,
    /// A file whose begin is written last.
    Etl,
    /// A collector of OpenTelemetry.
    Collector(Sender),
}

/// How it is written.
pub(super) struct Manner<'a> {
    pub(super) path: &'a Path,
    pub(super) format: &'a Format,
    /// For tables: only the records of this one.
    pub(super) event: Option<&'a str>,
    pub(super) lossless: bool,
    /// For CTF: of the records' times.
    pub(super) clock: &'a Clock,
    /// Replaces an existing output.
    pub(super) force: bool,
}

impl Output {
    /// The output of that name and format; a collector where there is a sender.
    pub(super) fn of(
        format: &Format,
        sender: Option<Sender>,
        path: &Path,
        inputs: &[PathBuf],
        force: bool,
    ) -> Result<Self, Failed> {
        if let Some(sender) = sender {
            return Ok(Self::Collector(sender));
        }
        match (format.writer, path == Path::new("-")) {
            (Some(make), true) => Ok(Self::Standard(make)),
            (Some(make), false) => Ok(Self::File(make)),
            (None, false) if format.name == CTF => Ok(Self::Ctf),
            (None, false) if format.name == ETL => Ok(Self::Etl),
            (None, _) if sqlite::is(format) => {
                sqlite::check(path, inputs, force)?;
                Ok(Self::Sqlite)
            }
            (None, true) if format.name == CTF => Err(usage("ctf is written as a directory; give its name")),
            (None, true) if format.name == ETL => {
                Err(usage("an event log cannot be written to a stream: give the name of a file"))
            }
            (None, _) => Err(usage(format!("{} can only be read, not written", format.name))),
        }
    }

    /// Writes all records; `inputs` are the files among their sources. False: standard output was closed.
    pub(super) fn fill(
        self,
        manner: &Manner<'_>,
        inputs: &[&PathBuf],
        reader: &mut dyn Reader,
        copying: &mut Copying<'_>,
    ) -> Result<bool, Failed> {
        let &Manner { path, force, .. } = manner;
        let of_output = at::<io::Error>(path.display());
        match self {
            Self::Standard(make) => {
                let written = manner
                    .begin(make, Box::new(io::stdout().lock()))
                    .map_err(at("standard output"))
                    .and_then(|mut writer| copying.run(reader, &mut *writer));
                match written {
                    Err(failed) if failed.message == PIPE => return Ok(false),
                    other => other?,
                }
            }
            Self::File(make) => {
                let file = Rc::new(RefCell::new(new_file(path, inputs, force)?));
                {
                    let mut writer =
                        manner.begin(make, Box::new(Part(Rc::clone(&file)))).map_err(&of_output)?;
                    copying.run(reader, &mut *writer)?;
                }
                let file = Rc::into_inner(file).ok_or_else(|| failure("the output is still in use"))?;
                file.into_inner().finish().map_err(&of_output)?;
            }
            Self::Sqlite => {
                let between = sqlite::Between::of(path, |writer| copying.run(reader, writer))?;
                // What it lacks was missing in the inputs, and was reported there.
                sqlite::save(between.open()?, path, force, true)?;
            }
            Self::Ctf => {
                let directory = NewDirectory::create(path, force, ctf::is_trace)?;
                let mut writer =
                    CtfWriter::create(directory.meanwhile(), manner.clock).map_err(&of_output)?;
                copying.run(reader, &mut writer)?;
                directory.finish().map_err(&of_output)?;
            }
            Self::Etl => {
                let mut file = new_file(path, inputs, force)?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let mut writer = EtlWriter::new(&mut file, &name).map_err(&of_output)?;
                copying.run(reader, &mut writer)?;
                drop(writer);
                file.finish().map_err(&of_output)?;
            }
            Self::Collector(sender) => {
                let refused = sender.refused();
                copying.run(reader, &mut *otlp::protobuf(sender))?;
                let refused = refused.borrow();
                copying.refused(&refused);
            }
        }
        Ok(true)
    }
}

/// A new file that replaces none of the inputs.
fn new_file(path: &Path, inputs: &[&PathBuf], force: bool) -> Result<NewFile, Failed> {
    let mut paths: Vec<PathBuf> = inputs.iter().copied().cloned().collect();
    paths.retain(|path| path != Path::new("-"));
    NewFile::create(path, &paths, force)
}

impl Manner<'_> {
    fn begin(&self, make: MakeWriter, out: Box<dyn Write>) -> io::Result<Box<dyn Writer>> {
        match self.event {
            Some(event) => helper::event(self.format, event, out),
            None => make(out, WriteOptions { lossless: self.lossless }),
        }
    }
}

/// The OpenTelemetry collector that an output names: `otlp+http://…`, or `http://…` with `--to otlp`.
pub(super) fn collector(to: Option<&str>, output: &Path) -> Result<Option<Sender>, String> {
    let Some(text) = output.to_str() else { return Ok(None) };
    let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let address = match text.strip_prefix("otlp+") {
        Some(address) if is_url(address) && to.is_none_or(|to| to == OTLP) => address,
        None if is_url(text) && to == Some(OTLP) => text,
        _ => return Ok(None),
    };
    Sender::new(address, Patience::default()).map(Some)
}

/// The new file, which is finished when its writer is gone.
struct Part(Rc<RefCell<NewFile>>);

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}
