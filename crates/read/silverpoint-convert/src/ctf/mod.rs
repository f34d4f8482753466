//! CTF 1.8 (Common Trace Format), as Babeltrace and Trace Compass open it: a directory with `metadata` and streams. Written only: `docs/formats.md` says what
//! is left out.
//!
//! ```text
//! Record ─▶ event class of its site, declared in `metadata` when it is new ─▶ event in a packet of `stream_0` …
//! ```
//!
//! Records that come in order of time fill one stream. A record earlier than its predecessor goes to the next
//! stream that has not passed its time. Readers merge streams, so they see all in order. Memory is one packet
//! a stream, and a name for each class.

mod classes;
mod clock;
mod fields;
mod packets;

use std::convert::Infallible;
use std::fs::{self, DirEntry, File};
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

use silverpoint_render::ShowContext;
use silverpoint_trace::{Site, What, files};
use silverpoint_wire::layout::CAUSE_NAMES;
use silverpoint_wire::value::{Nobody, WalkError, walk};

use crate::{Record, WriteError, Writer};
use classes::{Class, Classes};
pub use clock::Clock;
use fields::{Encoder, push_text};
use packets::Packets;

/// The name of the format.
pub const CTF: &str = "ctf";
/// Streams at most: so often a record may be earlier than all that came before it.
const STREAMS_MAX: usize = 64;

/// Writes a trace into a directory.
pub struct CtfWriter {
    directory: PathBuf,
    classes: Classes<BufWriter<File>>,
    streams: Vec<Packets<BufWriter<File>>>,
    uuid: [u8; 16],
    encoder: Encoder,
    payload: Vec<u8>,
}

impl CtfWriter {
    /// Begins a trace in a directory that is there and empty. The times of records are those of the clock, without its offset.
    ///
    /// # Errors
    /// Those of writing.
    pub fn create(directory: &Path, clock: &Clock) -> io::Result<Self> {
        let uuid = classes::new_uuid();
        let metadata = BufWriter::new(private(&directory.join("metadata"))?);
        Ok(Self {
            directory: directory.to_owned(),
            classes: Classes::new(metadata, uuid, clock)?,
            streams: Vec::new(),
            uuid,
            encoder: Encoder::default(),
            payload: Vec::new(),
        })
    }

    /// The stream that has not passed a time.
    fn stream(&mut self, time: u64) -> Result<&mut Packets<BufWriter<File>>, WriteError> {
        let found = self.streams.iter().position(|stream| stream.last() <= time);
        let number = match found {
            Some(number) => number,
            None if self.streams.len() < STREAMS_MAX => {
                let name = format!("stream_{}", self.streams.len());
                let file = private(&self.directory.join(name))?;
                self.streams.push(Packets::new(BufWriter::new(file), self.uuid));
                self.streams.len() - 1
            }
            None => {
                return Err(WriteError::CannotHold(format!(
                    "records are in no order of time, more than {STREAMS_MAX} times over: convert them to a trace file (.silver) first, which sorts them"
                )));
            }
        };
        Ok(&mut self.streams[number])
    }

    /// Makes the payload of a record whose class says its arguments; false when they contradict it.
    fn arguments(&mut self, site: &Site, args: &[u8]) -> bool {
        self.payload.clear();
        // Looked through first: what is given out then is bounded by the bytes.
        let mut end = 0;
        for ty in &site.types {
            let walked: Result<usize, WalkError<Infallible>> = walk(ty, args, end, &mut Nobody);
            match walked {
                Ok(after) => end = after,
                Err(_) => return false,
            }
        }
        let mut at = Some(0);
        for ty in &site.types {
            at = at.and_then(|at| self.encoder.push(&mut self.payload, ty, args, at));
        }
        at.is_some()
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.payload.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.payload.extend_from_slice(bytes);
    }
}

/// Whether a directory is a trace of CTF and nothing else: the metadata's file begins as it must, and all others are regular files.
pub fn is_trace(directory: &Path) -> bool {
    let mut begin = [0; 10];
    let is_metadata =
        |mut file: File| file.read_exact(&mut begin).is_ok() && begin.starts_with(b"/* CTF 1.8");
    let is_file =
        |entry: io::Result<DirEntry>| entry.and_then(|entry| entry.file_type()).is_ok_and(|of| of.is_file());
    File::open(directory.join("metadata")).is_ok_and(is_metadata)
        && fs::read_dir(directory).is_ok_and(|mut entries| entries.all(is_file))
}

impl Writer for CtfWriter {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let Ok(time) = u64::try_from(record.wall_ns) else {
            return Err(WriteError::CannotHold("CTF holds no record from before 1970".into()));
        };
        // Babeltrace takes it for an overflow.
        if record.wall_ns == i64::MAX {
            return Err(WriteError::CannotHold("CTF holds no record from after 2262-04-11".into()));
        }
        let mut lost = None;
        let class = match record.what {
            What::Record { site, site_number, args, .. } => {
                if self.arguments(site, args) {
                    Class::Site(site_number, site)
                } else {
                    self.payload.clear();
                    push_text(&mut self.payload, &classes::name(site));
                    self.bytes(args);
                    Class::Unreadable
                }
            }
            What::SpanEnd { site, site_number, duration_ns, .. } => {
                self.payload.clear();
                let is_timed = duration_ns.is_some();
                self.payload.extend(duration_ns.into_iter().flat_map(u64::to_le_bytes));
                match site.zip(site_number) {
                    Some((site, number)) => Class::End(number, site, is_timed),
                    None => Class::UnknownEnd(is_timed),
                }
            }
            What::Loss { cause, count, span_ns } => {
                self.payload.clear();
                self.cause(cause);
                self.payload.extend_from_slice(&count.to_le_bytes());
                self.payload.extend_from_slice(&span_ns.to_le_bytes());
                lost = Some((count, time.saturating_sub(span_ns)));
                Class::Loss
            }
            What::Stall { cause, duration_ns } => {
                self.payload.clear();
                self.cause(cause);
                self.payload.extend_from_slice(&duration_ns.to_le_bytes());
                Class::Stall
            }
            What::Unknown { site_id, args } => {
                self.payload.clear();
                self.payload.extend_from_slice(&site_id.to_le_bytes());
                self.bytes(args);
                Class::Unknown
            }
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => return Ok(()),
        };
        let id = self.classes.id(&class)?;
        let payload = std::mem::take(&mut self.payload);
        let stream = self.stream(time)?;
        if let Some((count, since)) = lost {
            stream.lose(count, since)?;
        }
        let event = stream.event(id, time);
        event.extend_from_slice(&record.pid.to_le_bytes());
        event.extend_from_slice(&record.tid.to_le_bytes());
        push_text(event, record.process);
        push_text(event, record.thread);
        push_text(event, record.context.map_or("", |context| context.json()));
        event.extend_from_slice(&payload);
        stream.end_of_event(lost.is_some())?;
        self.payload = payload;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        // A trace without a stream is none.
        if self.streams.is_empty() {
            let file = File::create_new(self.directory.join("stream_0"))?;
            self.streams.push(Packets::new(BufWriter::new(file), self.uuid));
        }
        for stream in &mut self.streams {
            stream.finish()?;
            stream.get_ref().get_ref().sync_data()?;
        }
        self.classes.finish()?;
        self.classes.get_ref().get_ref().sync_data()
    }
}

impl CtfWriter {
    fn cause(&mut self, cause: u8) {
        match CAUSE_NAMES.get(usize::from(cause)) {
            Some(name) => push_text(&mut self.payload, name),
            None => push_text(&mut self.payload, &cause.to_string()),
        }
    }
}
/// A new file for its owner alone, as trace files are: it holds what they held.
fn private(path: &Path) -> io::Result<File> {
    files::private(File::options().write(true).create_new(true)).open(path)
}
