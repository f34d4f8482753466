//! What a trace file came to, from its block headers and loss totals; only blocks that hold control records are looked into.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use silverpoint_formats::tracefile::{Trace, with_parts};
use silverpoint_wire::block::{BlockKind, GapInfo, LossInfo};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::{CAUSE_NAMES, CAUSES};
use silverpoint_wire::scan::{Found, ReadAt, Scanner};

use crate::units::{show_bytes, show_count, show_number};

/// Sums over all parts of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records of sites: what the programs have recorded.
    pub records: u64,
    /// Bytes of all parts.
    pub bytes: u64,
    /// Files.
    pub parts: u32,
    /// Traced processes.
    pub sessions: usize,
    /// Records that were not recorded, by cause.
    pub losses: [u64; CAUSES],
    /// Bytes of rings that could not be stored.
    pub gap_bytes: u64,
    /// Records that were kept back and forgotten deliberately.
    pub forgotten: u64,
    /// There were more, which nobody has counted.
    pub forgotten_more: bool,
}

struct Source(File);

impl ReadAt for Source {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
}

impl Summary {
    /// Reads all parts of the trace at this path.
    pub fn of(path: &Path) -> io::Result<Summary> {
        let mut summary = Summary::default();
        // Session numbers are those of a part; the ids tell which sessions are the same.
        let mut totals: HashMap<([u8; 16], u32), LossInfo> = HashMap::new();
        let mut seen: HashSet<([u8; 16], u32, u64)> = HashSet::new();
        let mut told: HashSet<([u8; 16], u32, u64, u64)> = HashSet::new();
        let mut ids: HashSet<[u8; 16]> = HashSet::new();
        let mut has_control = false;
        let parts = with_parts(&[path.to_owned()]);
        for part in &parts {
            summary.parts += 1;
            let source = Source(File::open(part)?);
            summary.bytes += source.0.metadata()?.len();
            let mut sessions: HashMap<u32, [u8; 16]> = HashMap::new();
            let mut scanner = Scanner::new(&source, 0, false);
            while let Some(found) = scanner.next()? {
                let Found::Block { at, header } = found else { continue };
                let session = sessions.get(&header.session).copied().unwrap_or_default();
                let payload = || -> io::Result<Vec<u8>> {
                    let mut bytes = vec![0; header.stored_size as usize];
                    source.0.read_exact_at(&mut bytes, at + u64::from(header.header_size))?;
                    Ok(bytes)
                };
                match header.kind {
                    BlockKind::SESSION => {
                        if let Some(id) = payload()?.first_chunk::<16>() {
                            sessions.insert(header.session, *id);
                            ids.insert(*id);
                        }
                    }
                    BlockKind::RECORDS if seen.insert((session, header.stream, header.ring_begin)) => {
                        summary.records += u64::from(header.records);
                        has_control |= header.levels & LEVELS_CONTROL != 0;
                    }
                    BlockKind::LOSSES => {
                        let payload = payload()?;
                        totals.extend(
                            LossInfo::decode_all(&payload).map(|loss| ((session, loss.stream), loss)),
                        );
                    }
                    BlockKind::GAP => {
                        let Some(gap) = GapInfo::decode(&payload()?) else { continue };
                        match gap.forgotten {
                            None => summary.gap_bytes = summary.gap_bytes.saturating_add(gap.bytes()),
                            // A write that failed may have told it before.
                            Some(_) if !told.insert((session, header.stream, gap.begin, gap.end)) => {}
                            Some(forgotten) => {
                                summary.forgotten = summary.forgotten.saturating_add(forgotten.records);
                                summary.forgotten_more |= forgotten.has_more;
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        if has_control {
            // Headers count the ends of spans, waits and the like too: those blocks are looked into.
            summary.records = Trace::open(&parts).map_err(io::Error::other)?.count_records();
        }
        summary.sessions = ids.len();
        for loss in totals.values() {
            for (sum, count) in summary.losses.iter_mut().zip(loss.losses) {
                *sum = sum.saturating_add(count);
            }
        }
        Ok(summary)
    }

    /// Whether records are missing.
    pub fn is_lossy(&self) -> bool {
        self.losses.iter().any(|count| *count > 0) || self.gap_bytes > 0
    }

    /// `1,234 records in FILE (1.5 MiB, no losses)`.
    pub fn line(&self, path: &Path) -> String {
        let parts = if self.parts > 1 { format!(" in {} parts", self.parts) } else { String::new() };
        format!(
            "{} in {} ({}{parts}, {})",
            show_number(self.records, "record"),
            path.display(),
            show_bytes(self.bytes),
            self.loss_text()
        )
    }

    /// `no losses`, or which.
    pub fn loss_text(&self) -> String {
        let mut parts: Vec<String> = CAUSE_NAMES
            .iter()
            .zip(self.losses)
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("{} lost ({name})", show_count(count)))
            .collect();
        if self.gap_bytes > 0 {
            parts.push(format!("{} bytes overwritten or unreadable", show_count(self.gap_bytes)));
        }
        if parts.is_empty() {
            parts.push("no losses".to_owned());
        }
        if self.forgotten > 0 || self.forgotten_more {
            let more = if self.forgotten_more { " and more" } else { "" };
            parts.push(format!("{}{more} kept back and not asked for", show_count(self.forgotten)));
        }
        parts.join(", ")
    }
}
