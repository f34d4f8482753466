//! What the collector knows of a session's sites: which exist, their levels, and their descriptions for the dictionary.

use silverpoint_shm::observer::{Counters, MAX_DESCRIPTION_BYTES, ObserveError, ObservedSession};
use silverpoint_wire::block::{BlockKind, push_site};
use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::compact::Signatures;
use silverpoint_wire::layout::site_entry::FIRST_ID;
use silverpoint_wire::site::SiteDescription;

use crate::config::Encoding;
use crate::trace::Batch;

/// Payload of one *sites* block, at most (but for a single longer description).
const BLOCK: usize = 256 << 10;
/// A site whose description cannot be read: any level may occur.
const ANY_LEVEL: u8 = 0x3F;

/// The complete sites of one session.
#[derive(Debug, Default)]
pub(crate) struct SiteBook {
    /// By entry: bit n when it is known and of level n; 0 when it is not known.
    levels: Vec<u8>,
    /// The first entry that was not complete when the table was last read.
    next: u32,
    /// All descriptions in the form of a *sites* block.
    bytes: Vec<u8>,
    /// How many of these bytes the current segment of the file has.
    written: usize,
    /// For compact blocks only.
    signatures: Option<Signatures>,
    /// Entries whose description made no sense.
    pub(crate) faults: u32,
}

impl SiteBook {
    pub(crate) fn new(encoding: Encoding) -> Self {
        Self { signatures: (encoding == Encoding::Compact).then(Signatures::new), ..Self::default() }
    }

    /// The level of a site as a bit; 0 for one that is not known. Control records have no level.
    #[inline]
    pub(crate) fn level_bit(&self, id: u32) -> u8 {
        self.levels.get(id.wrapping_sub(FIRST_ID) as usize).copied().unwrap_or(0)
    }

    /// Reads what has become complete since.
    pub(crate) fn load(
        &mut self,
        session: &ObservedSession,
        counters: &Counters,
    ) -> Result<(), ObserveError> {
        let Self { levels, bytes, signatures, faults, .. } = self;
        levels.resize(session.site_count(counters.sites_next).max(levels.len() as u32) as usize, 0);
        let known = levels.clone();
        let wanted = |entry: u32| known.get(entry as usize).is_some_and(|level| *level == 0);
        self.next = session.sites_since(self.next, counters.sites_next, wanted, |site| {
            let Some(level) = levels.get_mut(site.entry as usize).filter(|_| site.is_complete) else {
                return;
            };
            let decoded = site
                .description
                .filter(|description| (bytes.len() + description.len()) as u64 <= MAX_DESCRIPTION_BYTES)
                .and_then(|description| Some((SiteDescription::decode(description).ok()?.0, description)));
            match decoded {
                Some((decoded, description)) => {
                    *level = 1 << decoded.level as u8;
                    push_site(bytes, site.id(), description);
                    if let Some(signatures) = signatures {
                        // A site whose signature is wrong is stored as it is.
                        let _ = signatures.insert(site.id(), &decoded.signature);
                    }
                }
                None => {
                    *level = ANY_LEVEL;
                    *faults += 1;
                }
            }
        })?;
        Ok(())
    }

    /// The file needs all of them again.
    pub(crate) fn begin_segment(&mut self) {
        self.written = 0;
    }

    /// Writes those that the segment does not have.
    pub(crate) fn push(&mut self, batch: &mut Batch, session: u32) {
        while self.written < self.bytes.len() {
            let rest = &self.bytes[self.written..];
            let mut end = 0;
            while let Some(size) = u32_at(rest, end + 8) {
                let next = end + 8 + size as usize;
                if end > 0 && next > BLOCK {
                    break;
                }
                end = next;
            }
            batch.push(BlockKind::SITES, session, 0, &rest[..end]);
            self.written += end;
        }
    }

    pub(crate) fn signatures(&self) -> Option<&Signatures> {
        self.signatures.as_ref()
    }
}
