//! Reads the records of one block by their headers: enough for counting and filtering by site, level and
//! time. Raw blocks are walked in place, compact ones are skimmed. Neither costs more for arguments that are
//! not used.

use silverpoint_wire::compact::skim;
use silverpoint_wire::layout::block::{COMPACT, PAYLOAD_MAX};
use silverpoint_wire::layout::record::{HEADER_SIZE, PAD, PAD_MIN, SIZE_MASK};

use super::Trace;
use super::blocks::{BlockReader, NextBlock};
use super::session::Session;
use super::verdict::Note;

/// The header of a record that is no pad.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Id of its site.
    pub site: u32,
    /// In the clock of its session.
    pub ticks: u64,
    /// Of the whole record.
    pub size: u32,
    /// Empty for sites whose arguments were not asked for.
    pub args: &'a [u8],
}

/// How the walk through a block ended.
#[derive(Debug, Default)]
pub struct Walked {
    /// Bytes of records that were read, including pads and what was skipped.
    pub bytes: u64,
    /// What is wrong with the block.
    pub notes: Vec<Note>,
}

impl Walked {
    /// Whether nothing of the block could be read: another one may hold the same records.
    pub fn is_lost(&self) -> bool {
        self.bytes == 0 && !self.notes.is_empty()
    }
}

impl BlockReader {
    /// Gives the new records of a block to `visit`; their arguments where `wants_args` says so for the site, and perhaps elsewhere.
    pub fn walk(
        &mut self,
        trace: &Trace,
        session: &Session,
        next: &NextBlock<'_>,
        wants_args: impl Fn(u32) -> bool,
        mut visit: impl FnMut(Head<'_>),
    ) -> Walked {
        let header = &next.block.header;
        let mut walked = Walked::default();
        let states_its_size =
            header.ring_end.checked_sub(header.ring_begin) == Some(u64::from(header.raw_size));
        if header.encoding & COMPACT != 0 && next.skip == 0 && states_its_size {
            let size = (header.raw_size as usize).min(PAYLOAD_MAX);
            let compact = match self.payload(trace, next.block) {
                Ok(compact) => compact,
                Err(note) => {
                    walked.notes.extend(note);
                    return walked;
                }
            };
            let skimmed = skim(compact, size, &session.signatures, wants_args, |record| {
                walked.bytes += u64::from(record.size);
                if record.site != PAD {
                    let (site, ticks, size, args) = (record.site, record.ticks, record.size, record.args);
                    visit(Head { site, ticks, size, args });
                }
            });
            if let Err(error) = skimmed {
                walked.notes.extend(self.note(trace, next.block, error.to_string()));
            }
            walked.notes.extend(self.take_misplaced());
            return walked;
        }
        let mut raw = std::mem::take(&mut self.raw);
        walked.notes.extend(self.read(trace, session, next.block, &mut raw));
        walked.bytes = raw.len() as u64;
        let new = raw.get(next.skip..).unwrap_or_default();
        if !heads(new, visit) {
            walked.notes.push(self.contradiction(trace, next.block));
        }
        self.raw = raw;
        walked
    }
}

/// Gives the records of a raw payload; false when it ends within a record or contradicts the rules.
#[inline]
fn heads(raw: &[u8], mut visit: impl FnMut(Head<'_>)) -> bool {
    let mut rest = raw;
    while let Some(head) = rest.first_chunk::<8>() {
        let word = u64::from_le_bytes(*head);
        let (size, site) = ((word as u32 & SIZE_MASK) as usize, (word >> 32) as u32);
        if size % 8 != 0 || size > rest.len() {
            return false;
        }
        let record;
        (record, rest) = rest.split_at(size);
        match record.split_first_chunk::<HEADER_SIZE>() {
            Some((head, args)) if site != PAD => {
                let Some(ticks) = head.last_chunk() else { return false };
                visit(Head { site, ticks: u64::from_le_bytes(*ticks), size: size as u32, args });
            }
            _ if site != PAD || size < PAD_MIN => return false,
            _ => {}
        }
    }
    rest.is_empty()
}
