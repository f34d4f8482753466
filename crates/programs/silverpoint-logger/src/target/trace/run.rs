//! A run of ring bytes that becomes a block.

use silverpoint_trace::{Event, What};
use silverpoint_wire::block::{BlockHeader, BlockKind, site_bit};
use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{CONTEXT, THREAD_NAME};
use silverpoint_wire::layout::site_entry::FIRST_ID;

/// A longer pad costs more than another block, in the file and in every reader's index.
const PAD_MAX: u64 = 256;
/// Largest block in bytes, except for a single record.
const BLOCK: usize = 512 << 10;

/// Records of one stream, with pads where others lay between them.
pub(super) struct Run {
    begin: u64,
    pub(super) raw: Vec<u8>,
    records: u32,
    levels: u32,
    sites: u64,
    first_ticks: u64,
    last_ticks: u64,
    /// The thread's name at the first.
    pub(super) thread_name: String,
}

impl Run {
    pub(super) fn new(event: &Event<'_>) -> Self {
        let mut run = Self {
            begin: event.position,
            raw: Vec::new(),
            records: 0,
            levels: 0,
            sites: 0,
            first_ticks: u64::MAX,
            last_ticks: 0,
            thread_name: event.thread_name.to_owned(),
        };
        run.add(event);
        run
    }

    /// Adds a record that follows the others; false when a block of its own is better.
    pub(super) fn extend(&mut self, event: &Event<'_>) -> bool {
        let end = self.begin + self.raw.len() as u64;
        let Some(between) = event.position.checked_sub(end) else { return false };
        if between > PAD_MAX || self.raw.len() + event.raw.len() > BLOCK {
            return false;
        }
        if between > 0 {
            self.raw.extend_from_slice(&(between as u32).to_le_bytes());
            self.raw.resize((event.position - self.begin) as usize, 0);
        }
        self.add(event);
        true
    }

    fn add(&mut self, event: &Event<'_>) {
        let site = u32_at(event.raw, 4).unwrap_or(0);
        self.raw.extend_from_slice(event.raw);
        self.records += 1;
        self.sites |= site_bit(site);
        self.levels |= match event.what {
            _ if site < FIRST_ID => LEVELS_CONTROL,
            What::Record { site, .. } => 1 << site.level() as u32,
            // Unknown.
            _ => !LEVELS_CONTROL,
        };
        self.first_ticks = self.first_ticks.min(event.ticks);
        self.last_ticks = self.last_ticks.max(event.ticks);
    }

    /// Whether it may hold names of threads or contexts.
    pub(super) fn has_statements(&self) -> bool {
        self.sites & (site_bit(THREAD_NAME) | site_bit(CONTEXT)) != 0
    }

    pub(super) fn header(&self) -> BlockHeader {
        BlockHeader {
            ring_begin: self.begin,
            ring_end: self.begin + self.raw.len() as u64,
            first_ticks: self.first_ticks,
            last_ticks: self.last_ticks,
            records: self.records,
            levels: self.levels,
            sites: self.sites,
            ..BlockHeader::new(BlockKind::RECORDS, &[])
        }
    }
}
