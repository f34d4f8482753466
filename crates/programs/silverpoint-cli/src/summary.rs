//! What a trace amounts to. It is computed from block headers and loss totals of the file, and from the
//! sessions that could not be stored completely. Of the blocks, only those with control records are read.
//! Losses are counted in the session first: a full disk takes no report of them either.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::Path;

use silverpoint_collect::Missing;
use silverpoint_shm::observer::{ObserveError, ObservedSession, list};
use silverpoint_shm::root::Root;
use silverpoint_trace::{Trace, files, with_parts};
use silverpoint_wire::block::{BlockKind, GapInfo, LossInfo};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::{CAUSE_NAMES, CAUSES, cause};
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
    /// Records that were kept back and dropped on purpose.
    pub forgotten: u64,
    /// There were more, uncounted.
    pub forgotten_more: bool,
    /// Sessions whose rings hold records that could not be stored, and how many bytes.
    pub unstored: (u32, u64),
    /// Stored records that no longer exist.
    pub missing: Missing,
    /// There is no file of this name.
    pub is_absent: bool,
    /// By session and stream, 0 for the session itself: the highest totals that the file or the session has.
    totals: HashMap<([u8; 16], u32), [u64; CAUSES]>,
}

struct Source(File);

impl ReadAt for Source {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        files::read_at(&self.0, buffer, offset)
    }
}

impl Summary {
    /// Reads all parts of the trace at this path.
    pub fn of(path: &Path) -> io::Result<Summary> {
        let mut summary = Summary::default();
        // Session numbers are those of a part; the ids tell which sessions are the same.
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
                    files::read_exact_at(&source.0, &mut bytes, at + u64::from(header.header_size))?;
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
                        for loss in LossInfo::decode_all(&payload) {
                            summary.add_losses((session, loss.stream), &loss.losses);
                        }
                    }
                    BlockKind::GAP => {
                        let Some(gap) = GapInfo::decode(&payload()?) else { continue };
                        match gap.forgotten {
                            None => summary.gap_bytes = summary.gap_bytes.saturating_add(gap.bytes()),
                            // An earlier write that failed may have reported it.
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
            // Headers also count ends of spans, waits and the like: those blocks are read.
            summary.records = Trace::open(&parts).map_err(io::Error::other)?.count_records();
        }
        summary.sessions = ids.len();
        Ok(summary)
    }

    /// As [`Self::of`]; of a trace that is not there, that it is absent.
    pub fn of_what_is_there(path: &Path) -> io::Result<Summary> {
        match Summary::of(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Summary { is_absent: true, ..Summary::default() })
            }
            summary => summary,
        }
    }

    fn add_losses(&mut self, stream: ([u8; 16], u32), losses: &[u64; CAUSES]) {
        let known = self.totals.entry(stream).or_default();
        for ((known, sum), count) in known.iter_mut().zip(&mut self.losses).zip(losses) {
            // Totals never fall.
            let more = count.saturating_sub(*known);
            *known += more;
            *sum = sum.saturating_add(more);
        }
    }

    /// Adds what the sessions of a root that could not be stored know: their losses, and what their rings
    /// hold.
    pub fn add_sessions_left(&mut self, root: &Path) {
        let Ok(root) = Root::open_directory(root) else { return };
        for name in list(&root).unwrap_or_default() {
            // The collector has reported why a session cannot be read.
            if let Ok(session) = ObservedSession::open_read_only(&root, name) {
                let _ = self.add_session(&session, true);
            }
        }
    }

    /// Adds what a session knows of its losses; with `is_unstored` also what its rings hold.
    pub fn add_session(&mut self, session: &ObservedSession, is_unstored: bool) -> Result<(), ObserveError> {
        let id = session.header().session_id;
        let counters = session.counters()?;
        self.add_losses((id, 0), &counters.session_losses);
        let (mut slices, mut bytes) = (Vec::new(), 0_u64);
        session.slices(counters.slabs_next, &mut slices, |_| {})?;
        for slice in slices {
            let Some(ring) = session.ring(slice)? else { continue };
            self.add_losses((id, ring.stream), &ring.losses);
            if let Ok((from, to)) = ring.valid_range(slice.size as usize) {
                bytes = bytes.saturating_add(to - from);
            }
        }
        if is_unstored && bytes > 0 {
            self.unstored = (self.unstored.0 + 1, self.unstored.1.saturating_add(bytes));
        }
        Ok(())
    }

    /// Whether records are missing.
    pub fn is_lossy(&self) -> bool {
        self.losses.iter().any(|count| *count > 0)
            || self.gap_bytes > 0
            || self.unstored.0 > 0
            || self.missing != Missing::default()
    }

    /// Records that could not be stored, as opposed to those that the program could not keep or was asked to drop.
    pub fn unstorable(&self) -> u64 {
        self.losses[cause::SINK_FULL].saturating_add(self.losses[cause::COLLECTOR_GONE])
    }

    /// Whether the trace lacks records although neither the program nor its owner wanted that: they could not
    /// be stored, or were removed.
    pub fn is_incomplete(&self) -> bool {
        self.is_absent || self.unstorable() > 0 || self.unstored.0 > 0 || self.missing.removed > 0
    }

    /// `1,234 records in FILE (1.5 MiB, no losses)`.
    pub fn line(&self, path: &Path) -> String {
        if self.is_absent {
            return format!(
                "{}: the file no longer exists; it, or its directory, was moved or removed ({})",
                path.display(),
                self.loss_text()
            );
        }
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
        if self.missing.removed > 0 {
            parts.push(format!("{} lost (removed with their file)", show_count(self.missing.removed)));
        }
        if self.missing.elsewhere > 0 {
            parts.push(format!("{} in parts that were moved or removed", show_count(self.missing.elsewhere)));
        }
        if let (sessions @ 1.., bytes) = self.unstored {
            let sessions = show_number(sessions.into(), "session");
            parts.push(format!("{} of {sessions} not stored", show_bytes(bytes)));
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
