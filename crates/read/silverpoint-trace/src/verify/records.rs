//! Records against the dictionaries, and summaries against the records.

use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::compact;
use silverpoint_wire::compression::Decompressor;
use silverpoint_wire::layout::block::{COMPACT, LEVELS_CONTROL, RAW};
use silverpoint_wire::layout::record::PAD;
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::record::{Record, Records};
use silverpoint_wire::value::skip;

use super::super::left_out::{LeftOut, holds_only_statements};
use super::Severity;
use super::dictionary::{Described, Dictionaries, Wrong};

/// Bit 0 of a header's flags: some record is earlier than a watermark.
const LATE: u32 = 1;
/// Most faults of one block's records that are reported.
const TOLD: usize = 4;

/// Decodes blocks of records. Keeps the buffers.
pub(super) struct Reader {
    decompressor: Decompressor,
    unpacked: Vec<u8>,
    raw: Vec<u8>,
}

/// What the records of a block came to.
struct Seen {
    records: u32,
    levels: u32,
    sites: u64,
    first_ticks: u64,
    last_ticks: u64,
}

impl Reader {
    pub(super) fn new(decompressor: Decompressor) -> Self {
        Self { decompressor, unpacked: Vec::new(), raw: Vec::new() }
    }

    /// Checks a block of records whose checksums agree. Gives how many records it holds.
    pub(super) fn check(
        &mut self,
        dictionaries: &mut Dictionaries,
        header: &BlockHeader,
        payload: &[u8],
        wrong: &mut Wrong,
    ) -> u64 {
        let left_out = dictionaries.left_out;
        let is_known = dictionaries.sessions.contains_key(&header.session);
        let session = dictionaries.sessions.entry(header.session).or_default();
        described(session, header, is_known, wrong);
        position(session, header, left_out, wrong);
        if let Err(what) = self.expand(session, header, payload) {
            wrong.push((Severity::Damage, what));
            return 0;
        }
        let seen = walk(&self.raw, session, wrong);
        summary(header, session, &seen, wrong);
        u64::from(seen.records)
    }

    /// The raw bytes, into `raw`.
    fn expand(&mut self, session: &Described, header: &BlockHeader, payload: &[u8]) -> Result<(), String> {
        let mut stored = payload;
        if header.encoding & !COMPACT != RAW {
            self.decompressor
                .decompress(header.encoding, payload, header.raw_size, &mut self.unpacked)
                .map_err(|error| error.to_string())?;
            stored = &self.unpacked;
        }
        self.raw.clear();
        if header.encoding & COMPACT == 0 {
            self.raw.extend_from_slice(stored);
        } else {
            compact::expand(stored, header.raw_size as usize, &session.signatures, &mut self.raw)
                .map_err(|error| error.to_string())?;
        }
        let range = header.ring_end.checked_sub(header.ring_begin);
        if range != Some(self.raw.len() as u64) || header.raw_size as usize != self.raw.len() {
            let (bytes, begin, end) = (self.raw.len(), header.ring_begin, header.ring_end);
            return Err(format!("{bytes} bytes for ring positions {begin} to {end}"));
        }
        Ok(())
    }
}

/// Dictionaries come first.
fn described(session: &mut Described, header: &BlockHeader, is_known: bool, wrong: &mut Wrong) {
    let mut missing = Vec::new();
    if !is_known || session.id.is_none() {
        missing.push("its session");
    }
    if !session.has_anchor {
        missing.push("an anchor of its clock");
    }
    if !missing.is_empty() && session.told.insert(0) {
        wrong.push((Severity::Damage, format!("no description before it of {}", missing.join(" and "))));
    }
    if session.streams.insert(header.stream) {
        wrong.push((Severity::Damage, "no description before it of its stream".into()));
    }
}

/// Ring ranges follow one another, except where records were left out on purpose.
fn position(session: &mut Described, header: &BlockHeader, left_out: LeftOut, wrong: &mut Wrong) {
    let is_after_statements = session.after_statements.remove(&header.stream);
    if let Some(&end) = session.ends.get(&header.stream) {
        if header.ring_begin > end && !left_out.covers(is_after_statements) {
            let bytes = header.ring_begin - end;
            let what =
                format!("{bytes} bytes of the ring before it, from position {end}, are not in this file");
            wrong.push((Severity::Remark, what));
        } else if header.ring_end <= end && header.ring_end > header.ring_begin {
            wrong.push((Severity::Remark, "its ring positions were stored before: a duplicate".into()));
        }
    }
    session.covered(header.stream, header.ring_end);
    if holds_only_statements(header) {
        session.after_statements.insert(header.stream);
    }
}

fn walk(raw: &[u8], session: &mut Described, wrong: &mut Wrong) -> Seen {
    let mut seen = Seen { records: 0, levels: 0, sites: 0, first_ticks: u64::MAX, last_ticks: 0 };
    let mut faults = 0;
    for record in Records::new(raw) {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                wrong.push((Severity::Damage, error.to_string()));
                break;
            }
        };
        let site = record.header.site;
        if site == PAD {
            continue;
        }
        seen.records += 1;
        seen.sites |= site_bit(site);
        seen.first_ticks = seen.first_ticks.min(record.header.ticks);
        seen.last_ticks = seen.last_ticks.max(record.header.ticks);
        seen.levels |= match session.sites.get(&site) {
            _ if site < FIRST_ID => LEVELS_CONTROL,
            Some((level, _)) => level.map_or(0, |level| 1 << (level & 31)),
            None => {
                if session.told.insert(site) {
                    wrong.push((Severity::Damage, format!("no description before it of site {site}")));
                }
                0
            }
        };
        if let Some(what) = arguments(session, &record) {
            faults += 1;
            if faults <= TOLD {
                wrong.push((
                    Severity::Damage,
                    format!("the record of site {site} at {}: {what}", record.offset),
                ));
            }
        }
    }
    if faults > TOLD {
        wrong.push((
            Severity::Damage,
            format!("{} more records whose arguments do not decode", faults - TOLD),
        ));
    }
    seen
}

/// Why the arguments of a record do not follow the signature of its site.
fn arguments(session: &Described, record: &Record<'_>) -> Option<String> {
    let mut at = 0;
    for ty in session.signatures.get(record.header.site)? {
        match skip(ty, record.args, at) {
            Ok(next) => at = next,
            Err(error) => return Some(error.to_string()),
        }
    }
    None
}

/// A summary states no less than there is.
fn summary(header: &BlockHeader, session: &Described, seen: &Seen, wrong: &mut Wrong) {
    let mut less = Vec::new();
    if header.records < seen.records {
        less.push("records");
    }
    if seen.levels & !header.levels != 0 {
        less.push("levels");
    }
    if seen.sites & !header.sites != 0 {
        less.push("sites");
    }
    if seen.records > 0 && (seen.first_ticks < header.first_ticks || seen.last_ticks > header.last_ticks) {
        less.push("times");
    }
    if !less.is_empty() {
        let what = format!("its summary states less than there is: {}", less.join(", "));
        wrong.push((Severity::Damage, what));
    }
    if seen.records > 0 && seen.first_ticks < session.watermark && header.flags & LATE == 0 {
        let what = "earlier than a watermark before it, and not marked late".to_owned();
        wrong.push((Severity::Damage, what));
    }
}
