//! What the header of a block states of its records.

use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{PAD, PAD_MIN};
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::record::{Record, Records};
use silverpoint_wire::value::skip;

use crate::Trace;
use crate::session::Session;

/// Of the pads that fill a longer stretch.
const PAD_LONG: usize = 8 << 20;

/// What is in a block, as far as it has been looked at.
struct Summary {
    records: u32,
    levels: u32,
    sites: u64,
    first_ticks: u64,
    last_ticks: u64,
}

impl Summary {
    fn new() -> Self {
        Self { records: 0, levels: 0, sites: 0, first_ticks: u64::MAX, last_ticks: 0 }
    }

    fn add(&mut self, record: &Record<'_>, levels: u32) {
        self.records += 1;
        self.levels |= levels;
        self.sites |= site_bit(record.header.site);
        self.first_ticks = self.first_ticks.min(record.header.ticks);
        self.last_ticks = self.last_ticks.max(record.header.ticks);
    }

    fn state(self, header: &mut BlockHeader) {
        let first_ticks = if self.records == 0 { 0 } else { self.first_ticks };
        let Self { records, levels, sites, last_ticks, .. } = self;
        *header = BlockHeader { records, levels, sites, first_ticks, last_ticks, ..*header };
    }
}

/// The bit for the level of a record; `None`: nothing describes its site.
fn level(trace: &Trace, session: &Session, site: u32) -> Option<u32> {
    match session.site_number(site) {
        _ if site < FIRST_ID => Some(LEVELS_CONTROL),
        Some(number) => Some(1 << trace.sites[number].level() as u32),
        None => None,
    }
}

/// States in a header what is in a block. Of records that nothing describes the level is what the header stated before.
pub(super) fn summarize(trace: &Trace, session: &Session, raw: &[u8], header: &mut BlockHeader) {
    let mut summary = Summary::new();
    for record in Records::new(raw).map_while(Result::ok) {
        if record.header.site != PAD {
            summary.add(&record, level(trace, session, record.header.site).unwrap_or(header.levels));
        }
    }
    summary.state(header);
}

/// Overwrites a stretch of a block, a multiple of 8 bytes, with pads.
pub(super) fn overwrite(raw: &mut [u8]) {
    // A pad's size has 24 bits.
    for pad in raw.chunks_mut(PAD_LONG) {
        let size = pad.len() as u32;
        pad.fill(0);
        if let Some(word) = pad.first_chunk_mut() {
            *word = size.to_le_bytes();
        }
    }
}

/// Overwrites records without a description, and updates the summary. Gives how many were overwritten.
pub(super) fn mend(trace: &Trace, session: &Session, raw: &mut [u8], header: &mut BlockHeader) -> u64 {
    let mut bad = Vec::new();
    let mut summary = Summary::new();
    let mut whole = raw.len();
    for record in Records::new(raw) {
        let Ok(record) = record else {
            // From here on nothing tells where records begin: the rest becomes one pad.
            whole = whole_until(raw);
            break;
        };
        let site = record.header.site;
        if site == PAD {
            continue;
        }
        let types = session.signatures.get(site).unwrap_or_default();
        let end = types.iter().try_fold(0, |at, ty| skip(ty, record.args, at));
        match (level(trace, session, site), end) {
            (Some(levels), Ok(_)) => summary.add(&record, levels),
            _ => bad.push((record.offset, record.header.size as usize)),
        }
    }
    let overwritten = bad.len() as u64 + u64::from(whole < raw.len());
    // A pad's size is a multiple of 8.
    let end = raw.len() - raw.len() % PAD_MIN;
    if whole < end {
        bad.push((whole, end - whole));
    }
    for (at, size) in bad {
        overwrite(&mut raw[at..at + size]);
    }
    summary.state(header);
    overwritten
}

/// Where the first record begins that is none.
fn whole_until(raw: &[u8]) -> usize {
    let mut at = 0;
    for record in Records::new(raw) {
        match record {
            Ok(record) => at = record.offset + record.header.size as usize,
            Err(_) => break,
        }
    }
    at
}
