//! A damaged or cut trace file: every intact block goes into a new file with a new number. A note in it says
//! what is missing.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use silverpoint_trace::files;
use silverpoint_trace::newfile::{Part, temporary};
use silverpoint_wire::batch::Batch;
use silverpoint_wire::block::{BlockHeader, BlockKind, end};
use silverpoint_wire::process;
use silverpoint_wire::scan::{Found, ReadAt, Scanner};
use silverpoint_wire::version::FormatVersion;

use crate::exit::{Exit, Failed, Outcome, failure, inform, note};
use crate::interrupts;
use crate::names;
use crate::newfile::EXISTS;
use crate::units::{show_bytes, show_number};

/// Places of damage that are reported one by one.
const TOLD: usize = 20;
/// Bytes of a header that its checksum covers, and where the sequence and the checksum stand in it (spec/file.md, section 1).
const CHECKED: usize = 92;
const SEQUENCE: usize = 16;

struct Source(File);

impl ReadAt for Source {
    type Error = std::io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        files::read_at(&self.0, buffer, offset)
    }

    fn skip_hole(&self, offset: u64) -> std::io::Result<u64> {
        files::data_from(&self.0, offset)
    }
}

/// What was found.
#[derive(Default)]
struct Tally {
    blocks: u64,
    records: u64,
    /// Bytes that are no block, and blocks that are missing by their numbers.
    bytes: u64,
    missing_blocks: u64,
    places: usize,
}

pub fn recover(path: &Path, output: Option<&Path>, force: bool) -> Outcome {
    let at = |error: std::io::Error| failure(format!("{}: {error}", path.display()));
    // Checked before it is opened: opening a pipe waits for its writer.
    if !std::fs::metadata(path).map_err(at)?.is_file() {
        return Err(failure(format!("{}: it is no regular file", path.display())));
    }
    let source = Source(File::open(path).map_err(at)?);
    let Some((header, payload)) = first_block(&source).map_err(at)? else {
        return Err(Failed::new(Exit::NotATraceFile, format!("{}: not a trace file", path.display())));
    };
    if header.kind == BlockKind::FILE
        && let Some(version) = FormatVersion::refused(&process::lines(&payload))
    {
        let (version, own) = (version.escape_default(), FormatVersion::CURRENT.major);
        let why = format!("it has version {version:.40} of the format, this program reads {own}.x");
        let what_to_do = "use a silverpoint of that version";
        return Err(Failed::new(Exit::NotATraceFile, format!("{}: {why}: {what_to_do}", path.display())));
    }
    let output = match output {
        Some(path) => path.to_owned(),
        None => default_output(path),
    };
    interrupts::watch();
    let mut out = Output::create(&output, path, force)?;
    let to = |error: std::io::Error| failure(format!("{}: {error}", output.display()));
    let mut found = Tally::default();
    let mut scanner = Scanner::new(&source, 0, true);
    let mut next_sequence = 0;
    loop {
        match scanner.next().map_err(at)? {
            None => break,
            Some(Found::Block { at: offset, header }) => {
                found.missing_blocks += header.sequence.saturating_sub(next_sequence);
                next_sequence = header.sequence.saturating_add(1);
                found.blocks += 1;
                found.records += u64::from(header.records);
                // Their offsets and numbers do not hold in the new file.
                if !matches!(header.kind, BlockKind::INDEX | BlockKind::END) {
                    out.copy(&source, offset, &header, scanner.payload()).map_err(to)?;
                }
            }
            Some(Found::Damage(damage)) => {
                found.bytes += damage.bytes;
                found.places += 1;
                if found.places <= TOLD {
                    note(format_args!("{}: {damage}", path.display()));
                }
            }
        }
    }
    let is_whole = found.bytes == 0 && found.missing_blocks == 0;
    let summary = format!(
        "{} intact with {}; {} that are no block, {} missing",
        show_number(found.blocks, "block"),
        show_number(found.records, "record"),
        show_bytes(found.bytes),
        show_number(found.missing_blocks, "block")
    );
    let about = format!("recovered from {}: {summary}", path.display());
    out.finish(&about).map_err(to)?;
    inform(format_args!("{}: {summary}", output.display()));
    Ok(if is_whole { Exit::Success } else { Exit::Lossy })
}

fn first_block(source: &Source) -> std::io::Result<Option<(BlockHeader, Vec<u8>)>> {
    let mut scanner = Scanner::new(source, 0, true);
    while let Some(found) = scanner.next()? {
        if let Found::Block { header, .. } = found {
            return Ok(Some((header, scanner.payload().to_vec())));
        }
    }
    Ok(None)
}

/// `NAME-recovered.silver` in the current directory.
fn default_output(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    names::free(format!("{stem}-recovered").as_ref())
}

/// The new file, complete or not there: it is written under another name first.
struct Output {
    file: BufWriter<File>,
    part: Part,
    sequence: u64,
}

impl Output {
    fn create(path: &Path, source: &Path, force: bool) -> Result<Self, Failed> {
        if let (Ok(a), Ok(b)) = (std::fs::canonicalize(path), std::fs::canonicalize(source))
            && a == b
        {
            return Err(failure(format!(
                "{}: the output would overwrite its input; choose another name",
                path.display()
            )));
        }
        if !force && std::fs::symlink_metadata(path).is_ok_and(|found| found.len() > 0) {
            return Err(failure(format!("{}: {EXISTS}", path.display())));
        }
        let begun = Part::create(path);
        let (part, file) =
            begun.map_err(|error| failure(format!("{}: {error}", temporary(path).display())))?;
        Ok(Self { file: BufWriter::new(file), part, sequence: 0 })
    }

    /// Copies a block; its header stays as it is, with unknown fields of later versions, except for its
    /// number.
    fn copy(
        &mut self,
        source: &Source,
        at: u64,
        header: &BlockHeader,
        payload: &[u8],
    ) -> std::io::Result<()> {
        let mut bytes = vec![0; usize::from(header.header_size)];
        files::read_exact_at(&source.0, &mut bytes, at)?;
        bytes[SEQUENCE..SEQUENCE + 8].copy_from_slice(&self.sequence.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..CHECKED]);
        bytes[CHECKED..CHECKED + 4].copy_from_slice(&crc.to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        self.sequence += 1;
        self.file.write_all(&bytes)
    }

    fn finish(mut self, about: &str) -> std::io::Result<()> {
        let mut batch = Batch::new();
        batch.restart(self.sequence);
        batch.push(BlockKind::NOTE, 0, 0, about.as_bytes());
        batch.push(BlockKind::END, 0, 0, &end(1, 0));
        self.file.write_all(batch.bytes())?;
        self.file.flush()?;
        self.part.publish(true)
    }
}
