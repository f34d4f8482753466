//! A ring's header and image, read from bytes (spec/wire.md sections 4 and 12).
//!
//! [`judge_slice`] checks the complete image of a slice. It finds the records that were accepted and not yet
//! stored, and where the image contradicts the rules. A collector, which reads a ring piece by piece, applies
//! the same rules by [`RingHeader::valid_range`] and [`summarize`].

use std::fmt;

use crate::bytes::{array, u16_at, u32_at, u64_at};
use crate::layout::ring::{CLAIMING, FREE, HEADER_SIZE, MAGIC, STATE_MASK, at};
use crate::layout::{CAUSES, record};
use crate::record::{Record, RecordErrorKind, Records};

/// The number of slabs (of `slab_count`) that a thread leaves unused when it continues, for comfort, in a
/// ring of this size. The size is in bytes, with the header (spec/wire.md section 3.4). The larger the ring,
/// the more. Otherwise the first threads would have the largest rings, and later ones would wait every few
/// records.
pub fn left_to_others(slab_count: u32, ring_bytes: u32) -> u32 {
    let eighths = match ring_bytes {
        ..=0x4000 => 1,
        0x4001..=0x2_0000 => 2,
        _ => 3,
    };
    ((u64::from(slab_count) * eighths / 8) as u32).max(u32::from(slab_count >= 4))
}

/// The header of a ring as it was read; not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RingHeader {
    pub magic: u32,
    pub state: u32,
    pub owner_tid: u32,
    pub stream: u32,
    pub capacity: u32,
    pub data_at: u32,
    pub lane: u16,
    pub copy: u16,
    pub previous: u32,
    pub claimed_ticks: u64,
    pub name: [u8; 16],
    pub base: u64,
    pub committed: u64,
    pub oldest: u64,
    pub waiting: u32,
    pub stalls: u64,
    pub stall_ns: u64,
    pub consumed: u64,
    pub wake: u32,
    pub losses: [u64; CAUSES],
}

/// How a ring contradicts the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingError {
    /// Capacity or start of the data do not fit the slice.
    Shape {
        /// As stated.
        capacity: u32,
        /// As stated.
        data_at: u32,
    },
    /// A position is not a multiple of 8.
    Unaligned(u64),
    /// Positions are not in order, or farther apart than the capacity.
    Positions {
        /// Where reading would start.
        from: u64,
        /// Where it would end.
        committed: u64,
    },
    /// A record is broken, at this position.
    Record(u64, RecordErrorKind),
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RingError::Shape { capacity, data_at } => {
                write!(f, "capacity {capacity} and data at {data_at} do not fit the slice")
            }
            RingError::Unaligned(position) => write!(f, "position {position} is not a multiple of 8"),
            RingError::Positions { from, committed } => {
                write!(f, "positions {from} and {committed} make no sense")
            }
            RingError::Record(position, kind) => write!(f, "at position {position}: {kind}"),
        }
    }
}

impl std::error::Error for RingError {}

impl RingHeader {
    /// Reads the 256 bytes; `None` when there are fewer.
    pub fn decode(bytes: &[u8]) -> Option<RingHeader> {
        let bytes: [u8; HEADER_SIZE] = array(bytes, 0)?;
        let mut losses = [0; CAUSES];
        for (i, loss) in losses.iter_mut().enumerate() {
            *loss = u64_at(&bytes, at::LOSSES + 8 * i)?;
        }
        Some(RingHeader {
            magic: u32_at(&bytes, at::MAGIC)?,
            state: u32_at(&bytes, at::STATE)? & STATE_MASK,
            owner_tid: u32_at(&bytes, at::OWNER_TID)?,
            stream: u32_at(&bytes, at::STREAM)?,
            capacity: u32_at(&bytes, at::CAPACITY)?,
            data_at: u32_at(&bytes, at::DATA_AT)?,
            lane: u16_at(&bytes, at::LANE)?,
            copy: u16_at(&bytes, at::COPY)?,
            previous: u32_at(&bytes, at::PREVIOUS)?,
            claimed_ticks: u64_at(&bytes, at::CLAIMED_TICKS)?,
            name: array(&bytes, at::NAME)?,
            base: u64_at(&bytes, at::BASE)?,
            committed: u64_at(&bytes, at::COMMITTED)?,
            oldest: u64_at(&bytes, at::OLDEST)?,
            waiting: u32_at(&bytes, at::WAITING)?,
            stalls: u64_at(&bytes, at::STALLS)?,
            stall_ns: u64_at(&bytes, at::STALL_NS)?,
            consumed: u64_at(&bytes, at::CONSUMED)?,
            wake: u32_at(&bytes, at::WAKE)?,
            losses,
        })
    }

    /// Whether the slice holds a ring with contents.
    pub fn is_in_use(&self) -> bool {
        self.magic == MAGIC && self.state != FREE && self.state != CLAIMING
    }

    /// The valid positions [from, to), checked against the size of the slice.
    pub fn valid_range(&self, slice_size: usize) -> Result<(u64, u64), RingError> {
        let shape = RingError::Shape { capacity: self.capacity, data_at: self.data_at };
        let fits = (self.data_at as usize) >= HEADER_SIZE
            && (self.data_at as usize)
                .checked_add(self.capacity as usize)
                .is_some_and(|end| end <= slice_size);
        if !fits || self.capacity == 0 || self.capacity % 64 != 0 || self.data_at % 8 != 0 {
            return Err(shape);
        }
        let from = self.base.max(self.consumed).max(self.oldest);
        for position in [from, self.committed] {
            if position % 8 != 0 {
                return Err(RingError::Unaligned(position));
            }
        }
        if from > self.committed || self.committed - from > u64::from(self.capacity) {
            return Err(RingError::Positions { from, committed: self.committed });
        }
        Ok((from, self.committed))
    }
}

/// What a ring's bytes from one position to another came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Bytes that obey the rules, from the start.
    pub bytes: usize,
    /// Records, pads not counted.
    pub records: u32,
    /// Smallest ticks.
    pub first_ticks: u64,
    /// Largest ticks.
    pub last_ticks: u64,
    /// Filter of sites ([`crate::block::site_bit`]).
    pub sites: u64,
    /// Whether a control record other than a pad occurs.
    pub control: bool,
}

/// Walks the records of a payload that starts at ring position `position` of a ring of this capacity. It
/// checks sizes, at most a quarter of the capacity, and that none wraps; `known` decides whether a site id
/// exists. Gives what is right from the start, and what ended it early. Touches record headers only.
pub fn summarize(
    payload: &[u8],
    position: u64,
    capacity: u32,
    mut known: impl FnMut(u32) -> bool,
) -> (Summary, Option<RingError>) {
    let mut summary = Summary { first_ticks: u64::MAX, ..Summary::default() };
    let mut error = None;
    let capacity = u64::from(capacity.max(64));
    let most = (capacity / 4).min(record::SIZE_MAX as u64);
    let mut offset = position % capacity;
    while summary.bytes < payload.len() {
        let lap_end = summary.bytes.saturating_add((capacity - offset) as usize).min(payload.len());
        let walked = walk_plain(&payload[..lap_end], &mut summary, most as usize, &mut known);
        offset += walked as u64;
        if offset == capacity {
            offset = 0;
        }
        if summary.bytes == payload.len() {
            break;
        }
        let rest = &payload[summary.bytes..];
        let fail = |kind| Some(RingError::Record(position + summary.bytes as u64, kind));
        let (Some(word), Some(site)) = (u32_at(rest, 0), u32_at(rest, 4)) else {
            error = fail(RecordErrorKind::Truncated);
            break;
        };
        let size = word & record::SIZE_MASK;
        let least = if site == record::PAD { record::PAD_MIN } else { record::HEADER_SIZE };
        if size % 8 != 0 || (size as usize) < least || (u64::from(size) > most && site != record::PAD) {
            error = fail(RecordErrorKind::Size(size));
            break;
        }
        if size as usize > rest.len() || offset + u64::from(size) > capacity {
            error = fail(RecordErrorKind::Beyond(size));
            break;
        }
        if site != record::PAD {
            if !known(site) {
                error = fail(RecordErrorKind::Site(site));
                break;
            }
            let ticks = u64_at(rest, 8).unwrap_or(0);
            summary.records += 1;
            summary.first_ticks = summary.first_ticks.min(ticks);
            summary.last_ticks = summary.last_ticks.max(ticks);
            summary.sites |= crate::block::site_bit(site);
            summary.control |= site < crate::layout::site_entry::FIRST_ID;
        }
        summary.bytes += size as usize;
        offset += u64::from(size);
        if offset == capacity {
            offset = 0;
        }
    }
    if summary.records == 0 {
        summary.first_ticks = 0;
    }
    (summary, error)
}

/// Walks correct records, from `summary.bytes` on. Stops at anything else (a pad, an error, the end), for the
/// caller to decide. Gives the bytes walked.
///
/// Nearly all time of the check is spent here: a record waits only for the size of the one before it.
fn walk_plain(lap: &[u8], summary: &mut Summary, most: usize, known: &mut impl FnMut(u32) -> bool) -> usize {
    let begin = summary.bytes;
    let mut at = begin;
    let mut records = 0;
    let (mut first_ticks, mut last_ticks) = (summary.first_ticks, summary.last_ticks);
    let (mut sites, mut least_site) = (0, u32::MAX);
    while let Some(head) = lap[at..].first_chunk::<16>() {
        let head = u128::from_le_bytes(*head);
        let size = (head as u32 & record::SIZE_MASK) as usize;
        let site = (head >> 32) as u32;
        let ticks = (head >> 64) as u64;
        let is_plain = size % 8 == 0
            && size.wrapping_sub(record::HEADER_SIZE) <= most.wrapping_sub(record::HEADER_SIZE)
            && size <= lap.len() - at
            && site != record::PAD;
        if !is_plain || !known(site) {
            break;
        }
        records += 1;
        first_ticks = first_ticks.min(ticks);
        last_ticks = last_ticks.max(ticks);
        sites |= crate::block::site_bit(site);
        least_site = least_site.min(site);
        at += size;
    }
    summary.records += records;
    summary.first_ticks = first_ticks;
    summary.last_ticks = last_ticks;
    summary.sites |= sites;
    summary.control |= least_site < crate::layout::site_entry::FIRST_ID;
    summary.bytes = at;
    at - begin
}

/// What the image of a slice holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceVerdict {
    /// As it was read; `None` when the image is shorter than a header.
    pub header: Option<RingHeader>,
    /// Position of the first byte of `payload`.
    pub from: u64,
    /// The records (pads too) that were accepted and not yet stored, up to the first contradiction. Empty when the slice is not in use.
    pub payload: Vec<u8>,
    /// Records in `payload`, pads not counted.
    pub records: u32,
    /// What ended it early.
    pub contradiction: Option<RingError>,
}

impl SliceVerdict {
    /// The records with their ring positions, pads left out.
    pub fn records(&self) -> impl Iterator<Item = (u64, Record<'_>)> {
        let records = Records::new(&self.payload).without_pads();
        records.map_while(Result::ok).map(|record| (self.from + record.offset as u64, record))
    }
}

/// Judges the image of a slice (header and data), as recovery does (spec/wire.md section 12). `known` tells whether a site id exists. Pure; work and memory
/// are bounded by the image.
pub fn judge_slice(slice: &[u8], known: impl FnMut(u32) -> bool) -> SliceVerdict {
    let header = RingHeader::decode(slice);
    let (from, mut payload) = match contents(slice) {
        Ok(contents) => contents,
        Err(error) => return SliceVerdict { header, contradiction: Some(error), ..SliceVerdict::default() },
    };
    let (summary, contradiction) = summarize(&payload, from, header.map_or(0, |h| h.capacity), known);
    payload.truncate(summary.bytes);
    SliceVerdict { header, from, payload, records: summary.records, contradiction }
}

/// The valid bytes of a whole slice image, unwrapped, with the position they start at.
pub fn contents(slice: &[u8]) -> Result<(u64, Vec<u8>), RingError> {
    let shape = RingError::Shape { capacity: 0, data_at: 0 };
    let header = RingHeader::decode(slice).ok_or(shape)?;
    if !header.is_in_use() {
        return Ok((header.base, Vec::new()));
    }
    let (from, to) = header.valid_range(slice.len())?;
    let capacity = u64::from(header.capacity);
    let data = &slice[header.data_at as usize..][..header.capacity as usize];
    let mut out = Vec::with_capacity((to - from) as usize);
    let mut position = from;
    while position < to {
        let offset = position % capacity;
        let len = (to - position).min(capacity - offset);
        out.extend_from_slice(&data[offset as usize..(offset + len) as usize]);
        position += len;
    }
    Ok((from, out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_rings_leave_more_to_others() {
        let left = |slabs| [2 << 10, 16 << 10, 128 << 10, 1 << 20].map(|ring| left_to_others(slabs, ring));
        assert_eq!(left(32), [4, 4, 8, 12]);
        // The only thread of a small session may have most of it.
        assert_eq!(left(2), [0, 0, 0, 0]);
        assert_eq!(left(5), [1, 1, 1, 1]);
        assert_eq!(left(u32::MAX)[3], 1_610_612_735);
    }
    use crate::record::RecordHeader;

    const CAPACITY: u64 = 512;

    /// A live ring with these positions, whose data are the given records at theirs.
    fn slice(base: u64, committed: u64, records: &[(u64, u32, u32)]) -> Vec<u8> {
        let mut slice = vec![0; HEADER_SIZE + CAPACITY as usize];
        let mut put = |at: usize, bytes: &[u8]| slice[at..at + bytes.len()].copy_from_slice(bytes);
        for (at, word) in
            [(at::MAGIC, MAGIC), (at::STATE, 2), (at::CAPACITY, CAPACITY as u32), (at::DATA_AT, 256)]
        {
            put(at, &word.to_le_bytes());
        }
        for (at, position) in
            [(at::BASE, base), (at::CONSUMED, base), (at::OLDEST, base), (at::COMMITTED, committed)]
        {
            put(at, &position.to_le_bytes());
        }
        for (position, size, site) in records {
            let header = RecordHeader { size: *size, flags: 0, site: *site, ticks: *position };
            let bytes = header.encode();
            let len = if *site == record::PAD { 8 } else { 16 };
            put(HEADER_SIZE + (position % CAPACITY) as usize, &bytes[..len]);
        }
        slice
    }

    fn judge(slice: &[u8]) -> (Vec<u64>, Option<RingError>) {
        let verdict = judge_slice(slice, |site| site < 20);
        assert_eq!(verdict.records as usize, verdict.records().count());
        (verdict.records().map(|(position, _)| position).collect(), verdict.contradiction)
    }

    #[test]
    fn records_before_committed_are_given_and_no_others() {
        let image = slice(0, 64, &[(0, 24, 16), (24, 40, 17), (64, 32, 16)]);
        assert_eq!(judge(&image), (vec![0, 24], None));
        let wrapped = slice(448, 560, &[(448, 40, 16), (488, 24, 0), (512, 48, 17)]);
        assert_eq!(judge(&wrapped), (vec![448, 512], None));
        assert_eq!(judge(&slice(8, 8, &[])), (vec![], None));
    }

    #[test]
    fn the_first_contradiction_ends_a_ring() {
        let at = |position, kind| Some(RingError::Record(position, kind));
        for (records, error) in [
            ([(0, 24, 16), (24, 40, 99)], at(24, RecordErrorKind::Site(99))),
            ([(0, 24, 16), (24, 0, 16)], at(24, RecordErrorKind::Size(0))),
            ([(0, 24, 16), (24, 20, 16)], at(24, RecordErrorKind::Size(20))),
            ([(0, 24, 16), (24, 48, 16)], at(24, RecordErrorKind::Beyond(48))),
            // More than a quarter of the capacity.
            ([(0, 24, 16), (24, 136, 16)], at(24, RecordErrorKind::Size(136))),
        ] {
            assert_eq!(judge(&slice(0, 64, &records)), (vec![0], error));
        }
        let over = RingError::Positions { from: 0, committed: 520 };
        assert_eq!(judge(&slice(0, 520, &[])), (vec![], Some(over)));
        assert_eq!(judge(&slice(0, 12, &[])), (vec![], Some(RingError::Unaligned(12))));
        assert_eq!(judge(&[0; 9]), (vec![], Some(RingError::Shape { capacity: 0, data_at: 0 })));
    }

    #[test]
    fn what_is_claimed_or_free_holds_nothing() {
        for state in [FREE, CLAIMING] {
            let mut image = slice(0, 24, &[(0, 24, 16)]);
            image[at::STATE..at::STATE + 4].copy_from_slice(&state.to_le_bytes());
            assert_eq!(judge(&image), (vec![], None));
        }
    }
}
