//! The site table as it grows (spec/wire.md, section 3.2).

use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::layout::site::{FIXED_SIZE, SIZE_MAX};
use silverpoint_wire::layout::site_entry::{BODY_AT, COMPLETE, FIRST_ID, LOCATED, LOCATION_AT, SIZE, STAGE};

use super::files::read_exact;
use super::session::CONTROL;
use super::{ObserveError, ObservedSession};

/// Most bytes of all descriptions of a session. Honest ones do not overlap, so they fit the region; a hostile
/// table could refer to the same bytes again and again.
pub const MAX_DESCRIPTION_BYTES: u64 = 16 << 20;
/// Bytes of the descriptions that are read at a time.
const WINDOW: usize = 128 << 10;
/// Entries that are read at a time.
const ENTRIES: usize = 1024;

/// An entry of the table at stage 2 or 3, with its description.
#[derive(Debug)]
pub struct TableSite<'a> {
    /// Number of the entry; the site's id is 16 more.
    pub entry: u32,
    /// Whether the description is the complete one, rather than the location of a stream site.
    pub is_complete: bool,
    /// The description's bytes: of the right length, otherwise unchecked. `None`: the entry names none within the region.
    pub description: Option<&'a [u8]>,
}

impl TableSite<'_> {
    /// The id that its records carry.
    pub fn id(&self) -> u32 {
        self.entry + FIRST_ID
    }
}

/// The state of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteState(pub u8);

impl SiteState {
    /// Whether it records into the ring.
    pub fn is_on(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A stretch of the descriptions, read ahead: entries that were registered one after the other lie side by side.
struct Window {
    at: u64,
    /// Bytes that were read; the buffer behind them is only kept, so that it need not be cleared again.
    len: usize,
    buffer: Vec<u8>,
}

impl ObservedSession {
    /// Sites ever claimed, as far as the table goes.
    pub fn site_count(&self, sites_next: u32) -> u32 {
        sites_next.min(self.header.sites_cap)
    }

    /// Visits the entries from number `first` to the table's current end that are at stage 2 or 3 and wanted. Gives the number of the first entry that is
    /// not complete, or the end: where to go on next time.
    pub fn sites_since(
        &self,
        first: u32,
        sites_next: u32,
        wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(TableSite<'_>),
    ) -> Result<u32, ObserveError> {
        let end = self.site_count(sites_next);
        let mut incomplete = None;
        let mut window = Window { at: 0, len: 0, buffer: Vec::new() };
        let mut chunk = vec![0; (end.saturating_sub(first) as usize).min(ENTRIES) * SIZE];
        let mut entry = first;
        while entry < end {
            let count = ((end - entry) as usize).min(ENTRIES);
            let bytes = &mut chunk[..count * SIZE];
            read_exact(&self.control, CONTROL, bytes, self.header.sites_at + u64::from(entry) * SIZE as u64)?;
            // What was read ahead before these entries may lack their descriptions.
            window.len = 0;
            for bytes in bytes.chunks_exact(SIZE) {
                let word = |at| u32_at(bytes, at).unwrap_or(0);
                let stage = word(STAGE);
                let is_complete = stage == COMPLETE;
                if !is_complete {
                    incomplete.get_or_insert(entry);
                }
                if (is_complete || stage == LOCATED) && wanted(entry) {
                    let units = word(if is_complete { BODY_AT } else { LOCATION_AT });
                    let description = self.description(&mut window, u64::from(units) * 8)?;
                    visit(TableSite { entry, is_complete, description });
                }
                entry += 1;
            }
        }
        Ok(incomplete.unwrap_or(end.max(first)))
    }

    /// The description at an offset of the region.
    fn description<'w>(&self, window: &'w mut Window, at: u64) -> Result<Option<&'w [u8]>, ObserveError> {
        let Some(producer) = self.window(window, at, 4)? else { return Ok(None) };
        let size = u32_at(producer, 0).unwrap_or(0) as usize;
        if size % 8 != 0 || !(FIXED_SIZE..=SIZE_MAX).contains(&size) {
            return Ok(None);
        }
        self.window(window, at, size)
    }

    fn window<'w>(
        &self,
        window: &'w mut Window,
        at: u64,
        len: usize,
    ) -> Result<Option<&'w [u8]>, ObserveError> {
        let region = self.header.descs_size;
        if at.checked_add(len as u64).is_none_or(|end| end > region) {
            return Ok(None);
        }
        if at < window.at || at + len as u64 > window.at + window.len as u64 {
            let ahead = WINDOW.min((region - at) as usize);
            if window.buffer.len() < ahead {
                window.buffer.resize(ahead, 0);
            }
            window.len = 0;
            read_exact(&self.control, CONTROL, &mut window.buffer[..ahead], self.header.descs_at + at)?;
            (window.at, window.len) = (at, ahead);
        }
        let start = (at - window.at) as usize;
        Ok(window.buffer[..window.len].get(start..start + len))
    }

    /// The states of the first `count` sites, in order.
    pub fn states(&self, count: u32) -> Result<Vec<SiteState>, ObserveError> {
        let mut bytes = vec![0; count.min(self.header.sites_cap) as usize];
        read_exact(&self.control, CONTROL, &mut bytes, self.header.states_at)?;
        Ok(bytes.into_iter().map(SiteState).collect())
    }
}
