//! Whether a trace file conforms to the specification, to the last record.
//!
//! Reading skips what it cannot read. This also finds everything that a reader would skip, and errors that
//! have done no harm so far:
//!
//! ```text
//! every block: checksums, sequence ─▶ dictionaries (state of the sessions) ─▶ records against them ─▶ index and end against the headers
//! ```
//!
//! The file is read once. Memory is bounded by one block, and by the sites and streams of the file. Of the
//! headers that an index must repeat, only a running checksum is kept.

mod dictionary;
mod records;

use std::fmt;
use std::io;

use silverpoint_wire::block::{BlockHeader, BlockKind, Index};
use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::compression::Decompressor;
use silverpoint_wire::layout::block::HEADER_SIZE;
use silverpoint_wire::process;
use silverpoint_wire::scan::{Found, ReadAt, Scanner};
use silverpoint_wire::version::FormatVersion;

use super::left_out::LeftOut;
use super::scan::file_id;
use super::source::Source;
use super::verdict::Verdict;
use dictionary::Dictionaries;

/// How thoroughly a file is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Checksums and the numbers of the blocks.
    Checksums,
    /// Everything.
    Whole,
}

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing, and in order.
    Remark,
    /// The last block is incomplete.
    Cut,
    /// Against the specification: something is lost, or a reader may be misled.
    Damage,
    /// Nothing here can be read.
    Foreign,
}

/// One thing about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Offset in the file of the block concerned.
    pub at: u64,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub what: String,
    /// What to do about it; may be empty.
    pub advice: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.at)?;
        let mut escaped = String::with_capacity(self.what.len());
        crate::escape::push_escaped(&mut escaped, &self.what);
        f.write_str(&escaped)?;
        if self.advice.is_empty() { Ok(()) } else { write!(f, " ({})", self.advice) }
    }
}

/// The result for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Blocks whose checksums agree.
    pub blocks: u64,
    /// Records in them, control records included; by the headers alone at [`Depth::Checksums`].
    pub records: u64,
    /// Of the file.
    pub bytes: u64,
    /// Findings that are more than remarks.
    pub faults: u64,
    /// The worst finding.
    worst: Option<Severity>,
}

impl Verified {
    /// In the words of reading.
    pub fn verdict(&self) -> Verdict {
        match self.worst {
            None | Some(Severity::Remark) => Verdict::Intact,
            Some(Severity::Cut) => Verdict::Cut,
            Some(Severity::Damage) => Verdict::Damaged,
            Some(Severity::Foreign) => Verdict::NotATraceFile,
        }
    }
}

/// What to do about damage.
const REPAIR: &str = "silverpoint repair copies what is intact into a clean file";
/// What to do about a writer's mistake.
const REWRITE: &str = "its writer has a fault; silverpoint repair corrects what it can";
/// What to do about indexes.
const REINDEX: &str = "readers do without it; silverpoint repair makes a new one";

/// Examines a file, and gives all findings to `report`, in the order of the file.
///
/// # Errors
/// Those of reading the file.
pub fn verify(source: &Source, depth: Depth, report: impl FnMut(Finding)) -> io::Result<Verified> {
    let mut check = Check {
        source,
        depth,
        report,
        found: Verified { bytes: source.size()?, ..Verified::default() },
        next_sequence: 0,
        dictionaries: Dictionaries::default(),
        reader: records::Reader::new(Decompressor::default()),
        headers: Headers::default(),
        end: None,
        begin: 0,
        file_id: 0,
        is_refused: false,
    };
    check.file()?;
    Ok(check.found)
}

/// What the next index block must say.
#[derive(Default, PartialEq, Eq)]
struct Headers {
    crc: u32,
    count: usize,
    last_index: u64,
}

impl Headers {
    /// Without the headers' own checksums: a header together with its correct checksum would always give the
    /// same total.
    fn add(&mut self, header: &[u8]) {
        self.crc = crc32c::crc32c_append(self.crc, header.get(..HEADER_SIZE - 4).unwrap_or(header));
        self.count += 1;
    }
}

struct Check<'a, F> {
    source: &'a Source,
    depth: Depth,
    report: F,
    found: Verified,
    next_sequence: u64,
    dictionaries: Dictionaries,
    reader: records::Reader,
    headers: Headers,
    /// Where the last *end* block stands.
    end: Option<u64>,
    /// Where the file begins that is looked at: not at 0 where files were joined.
    begin: u64,
    /// What its *file* block says that it is.
    file_id: u64,
    is_refused: bool,
}

impl<F: FnMut(Finding)> Check<'_, F> {
    fn say(&mut self, at: u64, severity: Severity, what: String, advice: &'static str) {
        self.found.faults += u64::from(severity > Severity::Remark);
        self.found.worst = self.found.worst.max(Some(severity));
        (self.report)(Finding { at, severity, what, advice });
    }

    fn file(&mut self) -> io::Result<()> {
        let mut scanner = Scanner::new(self.source, 0, true);
        let mut last = None;
        while !self.is_refused {
            let Some(found) = scanner.next()? else { break };
            match found {
                Found::Block { at, header } => {
                    self.block(at, &header, scanner.payload())?;
                    last = Some(header.kind);
                }
                Found::Damage(damage) if damage.is_cut && self.found.blocks > 0 => {
                    let bytes = damage.bytes.min(self.found.bytes.saturating_sub(damage.at));
                    let what = format!("cut: {bytes} bytes of a block that is not whole");
                    let advice = "being written, or its writer died";
                    self.say(damage.at, Severity::Cut, what, advice);
                }
                Found::Damage(_) if self.found.blocks == 0 && self.found.bytes == 0 => {}
                Found::Damage(damage) => {
                    let what = format!("{} bytes are no valid block: {}", damage.bytes, damage.why);
                    self.say(damage.at, Severity::Damage, what, REPAIR);
                }
            }
        }
        if self.found.blocks == 0 {
            let what = "not a trace file: it holds no valid block".to_owned();
            self.say(0, Severity::Foreign, what, "");
        } else if last != Some(BlockKind::END) && !self.is_refused {
            let what = "the file was not closed".to_owned();
            self.say(self.found.bytes, Severity::Remark, what, "being written, or its writer died");
        }
        Ok(())
    }

    /// Another file begins here, whose numbers are its own.
    fn join(&mut self, at: u64, file_id: u64) {
        self.dictionaries = Dictionaries::default();
        self.headers = Headers::default();
        (self.begin, self.file_id, self.end) = (at, file_id, None);
        let what = "another file begins: files were joined".to_owned();
        self.say(at, Severity::Remark, what, "readers read them as several files");
    }

    fn block(&mut self, at: u64, header: &BlockHeader, payload: &[u8]) -> io::Result<()> {
        self.found.blocks += 1;
        if header.kind == BlockKind::FILE {
            let id = file_id(&process::lines(payload));
            // A file may be joined to itself, or not state its identity: it begins with block 0. Two such
            // blocks in a row are one that was doubled.
            let begins = header.sequence == 0 && self.next_sequence > 1;
            if self.file_id != 0 && (self.file_id != id || begins) {
                self.join(at, id);
                self.next_sequence = header.sequence;
            }
            self.file_id = id;
        }
        if header.sequence > self.next_sequence {
            let missing = header.sequence - self.next_sequence;
            let what = format!("blocks missing before block {}: {missing}", header.sequence);
            self.say(at, Severity::Damage, what, REPAIR);
        } else if header.sequence < self.next_sequence {
            let (has, wants) = (header.sequence, self.next_sequence);
            let what = format!("block {has} stands where block {wants} should");
            self.say(at, Severity::Damage, what, REPAIR);
        }
        self.next_sequence = header.sequence.saturating_add(1);
        if header.kind == BlockKind::FILE {
            if let Some(version) = FormatVersion::refused(&process::lines(payload)) {
                let own = FormatVersion::CURRENT.major;
                let what = format!("it has version {version:.40} of the format; this program reads {own}.x");
                self.say(at, Severity::Foreign, what, "use a silverpoint of that version");
                self.is_refused = true;
                return Ok(());
            }
        }
        if self.depth == Depth::Checksums {
            let is_records = header.kind == BlockKind::RECORDS;
            self.found.records += if is_records { u64::from(header.records) } else { 0 };
            return Ok(());
        }
        if self.found.blocks == 1 && header.kind != BlockKind::FILE {
            let what = "the first block does not describe the file".to_owned();
            self.say(at, Severity::Damage, what, REPAIR);
        }
        if header.kind == BlockKind::FILE {
            self.dictionaries.left_out = LeftOut::of(&process::lines(payload));
        }
        match header.kind {
            BlockKind::RECORDS => {
                let mut wrong = Vec::new();
                self.found.records += self.reader.check(&mut self.dictionaries, header, payload, &mut wrong);
                for (severity, what) in wrong {
                    let advice = if severity == Severity::Damage { REWRITE } else { "" };
                    let what = format!("session {}, stream {}: {what}", header.session, header.stream);
                    self.say(at, severity, what, advice);
                }
            }
            BlockKind::INDEX => {
                self.index(at, payload);
                return Ok(());
            }
            BlockKind::END => self.end(at, payload),
            _ => {
                let mut wrong = Vec::new();
                self.dictionaries.take(header, payload, &mut wrong);
                for (severity, what) in wrong {
                    let advice = if severity == Severity::Damage { REWRITE } else { "" };
                    self.say(at, severity, what, advice);
                }
            }
        }
        let mut bytes = [0; HEADER_SIZE];
        self.source.read_at(at, &mut bytes)?;
        self.headers.add(&bytes);
        Ok(())
    }

    fn index(&mut self, at: u64, payload: &[u8]) {
        let headers = payload.get(8..).unwrap_or_default();
        let mut stated =
            Headers { last_index: Index::previous(payload).unwrap_or(u64::MAX), ..Headers::default() };
        headers.chunks(HEADER_SIZE).for_each(|header| stated.add(header));
        let are_whole = headers.chunks(HEADER_SIZE).all(|header| BlockHeader::decode(header).is_ok());
        if stated != self.headers || !are_whole {
            let what = "the index does not agree with the blocks before it".to_owned();
            self.say(at, Severity::Damage, what, REINDEX);
        }
        self.headers = Headers { last_index: at - self.begin, ..Headers::default() };
    }

    fn end(&mut self, at: u64, payload: &[u8]) {
        let reason = u32_at(payload, 0);
        if !matches!(reason, Some(1 | 2)) {
            let what = "the end block gives no known reason".to_owned();
            self.say(at, Severity::Remark, what, "");
        }
        let index = u64_at(payload, 8).unwrap_or(0);
        if index != 0 && index != self.headers.last_index {
            let what = format!("the end block names an index at byte {index}, where the last one is not");
            self.say(at, Severity::Damage, what, REINDEX);
        } else if index != 0 && self.headers.count > 0 {
            let what = format!("{} blocks before the end are in no index", self.headers.count);
            self.say(at, Severity::Damage, what, REINDEX);
        }
        if let Some(before) = self.end.replace(at) {
            let what = format!(
                "there is an end block before it, at byte {before}: files were joined, or one was continued"
            );
            self.say(at, Severity::Remark, what, "");
        }
    }
}
