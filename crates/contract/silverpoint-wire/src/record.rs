//! Records within a payload (spec/wire.md section 5).

use std::fmt;

use crate::bytes::{array, u32_at, u64_at};
use crate::layout::record::{HEADER_SIZE, PAD, PAD_MIN, SIZE_MASK, TRUNCATED};

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHeader {
    /// Bytes of the whole record, a multiple of 8.
    pub size: u32,
    /// Bits 24 to 31 of the first word.
    pub flags: u32,
    /// Site id.
    pub site: u32,
    /// When; 0 for a pad.
    pub ticks: u64,
}

impl RecordHeader {
    /// The first 16 bytes of a record.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[..4].copy_from_slice(&(self.size & SIZE_MASK | self.flags & !SIZE_MASK).to_le_bytes());
        bytes[4..8].copy_from_slice(&self.site.to_le_bytes());
        bytes[8..].copy_from_slice(&self.ticks.to_le_bytes());
        bytes
    }

    /// Whether an argument was cut.
    pub fn is_truncated(&self) -> bool {
        self.flags & TRUNCATED != 0
    }
}

/// One record of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Offset of the record in the payload.
    pub offset: usize,
    /// Its header.
    pub header: RecordHeader,
    /// Everything after the header (empty for pads of 8 bytes).
    pub args: &'a [u8],
}

/// Where a payload contradicts the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Offset in the payload.
    pub offset: usize,
    /// What is wrong.
    pub kind: RecordErrorKind,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordErrorKind {
    /// Fewer bytes remain than any record has.
    Truncated,
    /// The size is not a multiple of 8, or smaller than a header.
    Size(u32),
    /// The record ends beyond the payload, or beyond the ring's end.
    Beyond(u32),
    /// No site has this id.
    Site(u32),
}

impl fmt::Display for RecordErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordErrorKind::Truncated => f.write_str("a record is truncated"),
            RecordErrorKind::Size(size) => write!(f, "a record has the impossible size {size}"),
            RecordErrorKind::Beyond(size) => write!(f, "a record of {size} bytes ends beyond the data"),
            RecordErrorKind::Site(site) => write!(f, "a record names the unknown site {site}"),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} of the records: {}", self.offset, self.kind)
    }
}

impl std::error::Error for RecordError {}

/// Walks a payload; pads are given too ([`Records::without_pads`] leaves them out). Ends after the first error.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    payload: &'a [u8],
    offset: usize,
}

impl<'a> Records<'a> {
    /// Starts at the first byte.
    pub fn new(payload: &'a [u8]) -> Records<'a> {
        Records { payload, offset: 0 }
    }

    /// The records proper.
    pub fn without_pads(self) -> impl Iterator<Item = Result<Record<'a>, RecordError>> {
        self.filter(|record| !matches!(record, Ok(r) if r.header.site == PAD))
    }

    /// Offset of the next record.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, RecordError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset;
        let rest = self.payload.get(offset..).filter(|rest| !rest.is_empty())?;
        match read(rest, offset) {
            Ok(record) => {
                self.offset += record.header.size as usize;
                Some(Ok(record))
            }
            Err(kind) => {
                self.offset = usize::MAX;
                Some(Err(RecordError { offset, kind }))
            }
        }
    }
}

#[inline]
fn read(rest: &[u8], offset: usize) -> Result<Record<'_>, RecordErrorKind> {
    let [word, site] = match array::<8>(rest, 0) {
        Some(_) => [u32_at(rest, 0).unwrap_or(0), u32_at(rest, 4).unwrap_or(0)],
        None => return Err(RecordErrorKind::Truncated),
    };
    let size = word & SIZE_MASK;
    let least = if site == PAD { PAD_MIN } else { HEADER_SIZE };
    if size % 8 != 0 || (size as usize) < least {
        return Err(RecordErrorKind::Size(size));
    }
    let body = rest.get(..size as usize).ok_or(RecordErrorKind::Beyond(size))?;
    let (ticks, args) =
        if site == PAD { (0, &body[8..]) } else { (u64_at(body, 8).unwrap_or(0), &body[HEADER_SIZE..]) };
    Ok(Record { offset, header: RecordHeader { size, flags: word & !SIZE_MASK, site, ticks }, args })
}
