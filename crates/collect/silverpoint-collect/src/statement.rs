//! The fields that the records of a stream have (spec/wire.md, section 6, Contexts), as far as a rotated file must repeat them.

use silverpoint_wire::block::{BlockHeader, BlockKind, site_bit};
use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::CONTEXT;
use silverpoint_wire::record::Records;

use crate::trace::Batch;

/// Longer ones are not repeated.
const RECORD_MAX: usize = 4096;
/// The item of a context without fields has no more bytes.
const EMPTY: u32 = 2;

/// The record that stated them last.
#[derive(Debug)]
pub(crate) struct Statement {
    position: u64,
    ticks: u64,
    bytes: Vec<u8>,
}

impl Statement {
    /// The last one in a stretch of a ring, whose records have been judged; `None` there: there is none. Within: fields have ended, or are too long.
    pub(crate) fn last_in(raw: &[u8], from: u64) -> Option<Option<Self>> {
        let records = Records::new(raw).map_while(Result::ok);
        let record = records.filter(|record| record.header.site == CONTEXT).last()?;
        let size = record.header.size as usize;
        let bytes = raw.get(record.offset..record.offset + size)?;
        let has_fields = u32_at(record.args, 0)? > EMPTY && size <= RECORD_MAX;
        Some(has_fields.then(|| Self {
            position: from + record.offset as u64,
            ticks: record.header.ticks,
            bytes: bytes.to_vec(),
        }))
    }

    /// Where it stands in the ring.
    pub(crate) fn begin(&self) -> u64 {
        self.position
    }

    /// Where it ends there.
    pub(crate) fn end(&self) -> u64 {
        self.position + self.bytes.len() as u64
    }

    /// Repeats the record, with its own ring range, in a block that holds nothing else.
    pub(crate) fn push(&self, batch: &mut Batch, session: u32, stream: u32) {
        let header = BlockHeader {
            session,
            stream,
            ring_begin: self.position,
            ring_end: self.end(),
            first_ticks: self.ticks,
            last_ticks: self.ticks,
            records: 1,
            levels: LEVELS_CONTROL,
            sites: site_bit(CONTEXT),
            raw_size: self.bytes.len() as u32,
            ..BlockHeader::new(BlockKind::RECORDS, &[])
        };
        batch.push_repeated(header, &self.bytes);
    }
}
