//! Blocks of trace files (spec/file.md sections 1 and 2): headers and the payloads of dictionaries.

use std::fmt;

use crate::bytes::{array, u16_at, u32_at, u64_at};
use crate::clock::Anchor;
use crate::layout::CAUSES;
use crate::layout::block::{HEADER_SIZE, PAYLOAD_MAX, SYNC};
use crate::site::{SiteDescription, SiteError};

/// What a block holds. Numbers without a name here are kept, and skipped by readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockKind(pub u8);

#[allow(missing_docs)]
impl BlockKind {
    pub const FILE: BlockKind = BlockKind(1);
    pub const SESSION: BlockKind = BlockKind(2);
    pub const SITES: BlockKind = BlockKind(3);
    pub const STREAMS: BlockKind = BlockKind(4);
    pub const RECORDS: BlockKind = BlockKind(5);
    pub const ANCHORS: BlockKind = BlockKind(6);
    pub const LOSSES: BlockKind = BlockKind(7);
    pub const WATERMARK: BlockKind = BlockKind(8);
    pub const END: BlockKind = BlockKind(9);
    pub const POSITIONS: BlockKind = BlockKind(10);
    pub const NOTE: BlockKind = BlockKind(11);
    pub const GAP: BlockKind = BlockKind(12);
    pub const INDEX: BlockKind = BlockKind(13);
}

/// A block's header. Fields that do not concern a kind are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Bytes before the payload; 96 as written by this version.
    pub header_size: u16,
    /// What the payload is.
    pub kind: BlockKind,
    /// How the payload is stored.
    pub encoding: u8,
    /// Bytes of the payload as stored.
    pub stored_size: u32,
    /// Number of the block in its file.
    pub sequence: u64,
    /// Session in this file, from 1; 0: none.
    pub session: u32,
    /// Stream in its session; 0: none.
    pub stream: u32,
    /// Position of the first byte in the ring.
    pub ring_begin: u64,
    /// Position after the last byte.
    pub ring_end: u64,
    /// Smallest ticks of a record.
    pub first_ticks: u64,
    /// Largest ticks of a record.
    pub last_ticks: u64,
    /// Records, pads not counted.
    pub records: u32,
    /// Levels that may occur, by bit; bit 31: control records.
    pub levels: u32,
    /// Bloom filter of site ids ([`site_bit`]).
    pub sites: u64,
    /// Bytes of the payload when raw.
    pub raw_size: u32,
    /// Bit 0: late.
    pub flags: u32,
    /// CRC-32C of the payload as stored.
    pub payload_crc: u32,
}

/// Why bytes are no block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockError {
    /// Fewer than 96 bytes.
    Truncated,
    /// No sync mark.
    Sync,
    /// The header's checksum does not agree.
    HeaderCrc,
    /// A size exceeds its limit.
    Size,
    /// The payload's checksum does not agree.
    PayloadCrc,
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlockError::Truncated => "the block is incomplete",
            BlockError::Sync => "there is no sync mark",
            BlockError::HeaderCrc => "the block header does not agree with its checksum",
            BlockError::Size => "the block header states an impossible size",
            BlockError::PayloadCrc => "the payload does not agree with its checksum",
        })
    }
}

impl std::error::Error for BlockError {}

impl BlockHeader {
    /// A header for this payload (its checksum and sizes); the other fields are zero.
    pub fn new(kind: BlockKind, payload: &[u8]) -> BlockHeader {
        let size = payload.len() as u32;
        BlockHeader {
            header_size: HEADER_SIZE as u16,
            kind,
            encoding: 0,
            stored_size: size,
            sequence: 0,
            session: 0,
            stream: 0,
            ring_begin: 0,
            ring_end: 0,
            first_ticks: 0,
            last_ticks: 0,
            records: 0,
            levels: 0,
            sites: 0,
            raw_size: size,
            flags: 0,
            payload_crc: crc32c::crc32c(payload),
        }
    }

    /// The header's bytes, with its checksum. `header_size` must be 96.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &SYNC);
        put(8, &(HEADER_SIZE as u16).to_le_bytes());
        put(10, &[self.kind.0, self.encoding]);
        put(12, &self.stored_size.to_le_bytes());
        put(16, &self.sequence.to_le_bytes());
        put(24, &self.session.to_le_bytes());
        put(28, &self.stream.to_le_bytes());
        put(32, &self.ring_begin.to_le_bytes());
        put(40, &self.ring_end.to_le_bytes());
        put(48, &self.first_ticks.to_le_bytes());
        put(56, &self.last_ticks.to_le_bytes());
        put(64, &self.records.to_le_bytes());
        put(68, &self.levels.to_le_bytes());
        put(72, &self.sites.to_le_bytes());
        put(80, &self.raw_size.to_le_bytes());
        put(84, &self.flags.to_le_bytes());
        put(88, &self.payload_crc.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..92]);
        bytes[92..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads and checks the header that `bytes` starts with.
    pub fn decode(bytes: &[u8]) -> Result<BlockHeader, BlockError> {
        let bytes: [u8; HEADER_SIZE] = array(bytes, 0).ok_or(BlockError::Truncated)?;
        if bytes[..8] != SYNC {
            return Err(BlockError::Sync);
        }
        let u32_field = |at| u32_at(&bytes, at).unwrap_or(0);
        let u64_field = |at| u64_at(&bytes, at).unwrap_or(0);
        // A fuzzer cannot guess checksums; what lies behind them is what it should try.
        if u32_field(92) != crc32c::crc32c(&bytes[..92]) && !cfg!(fuzzing) {
            return Err(BlockError::HeaderCrc);
        }
        let header = BlockHeader {
            header_size: u16_at(&bytes, 8).unwrap_or(0),
            kind: BlockKind(bytes[10]),
            encoding: bytes[11],
            stored_size: u32_field(12),
            sequence: u64_field(16),
            session: u32_field(24),
            stream: u32_field(28),
            ring_begin: u64_field(32),
            ring_end: u64_field(40),
            first_ticks: u64_field(48),
            last_ticks: u64_field(56),
            records: u32_field(64),
            levels: u32_field(68),
            sites: u64_field(72),
            raw_size: u32_field(80),
            flags: u32_field(84),
            payload_crc: u32_field(88),
        };
        let sizes = [header.stored_size, header.raw_size];
        if usize::from(header.header_size) < HEADER_SIZE
            || sizes.iter().any(|size| *size as usize > PAYLOAD_MAX)
        {
            return Err(BlockError::Size);
        }
        Ok(header)
    }

    /// Bytes from the start of this block to the start of the next.
    pub fn block_size(&self) -> u64 {
        (u64::from(self.header_size) + u64::from(self.stored_size)).next_multiple_of(8)
    }

    /// Checks a payload against the header.
    pub fn check(&self, payload: &[u8]) -> Result<(), BlockError> {
        if payload.len() != self.stored_size as usize {
            return Err(BlockError::Truncated);
        }
        if crc32c::crc32c(payload) == self.payload_crc || cfg!(fuzzing) {
            Ok(())
        } else {
            Err(BlockError::PayloadCrc)
        }
    }
}

/// The bit of a site in [`BlockHeader::sites`].
pub const fn site_bit(site: u32) -> u64 {
    1 << (site.wrapping_mul(0x9E37_79B1) >> 26)
}

/// Appends a whole block: header, payload, zero bytes to a multiple of 8. Sizes and checksum of `header` must be the payload's.
pub fn push_block(out: &mut Vec<u8>, header: &BlockHeader, payload: &[u8]) {
    out.extend_from_slice(&header.encode());
    out.extend_from_slice(payload);
    out.resize(out.len().next_multiple_of(8), 0);
}

/// Payload of a *session* block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct SessionInfo {
    pub session_id: [u8; 16],
    pub clock_source: u32,
    pub pid: u32,
    pub start_time: u64,
    pub ticks_per_second: u64,
    pub boot_id: [u8; 16],
    pub uid: u32,
    /// Lines `key=value` (see [`crate::process`]).
    pub process: Vec<u8>,
}

impl SessionInfo {
    const FIXED: usize = 64;

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.session_id);
        out.extend_from_slice(&self.clock_source.to_le_bytes());
        out.extend_from_slice(&self.pid.to_le_bytes());
        out.extend_from_slice(&self.start_time.to_le_bytes());
        out.extend_from_slice(&self.ticks_per_second.to_le_bytes());
        out.extend_from_slice(&self.boot_id);
        out.extend_from_slice(&self.uid.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.process);
    }

    /// Reads a payload; `None` when it is too short.
    pub fn decode(payload: &[u8]) -> Option<SessionInfo> {
        Some(SessionInfo {
            session_id: array(payload, 0)?,
            clock_source: u32_at(payload, 16)?,
            pid: u32_at(payload, 20)?,
            start_time: u64_at(payload, 24)?,
            ticks_per_second: u64_at(payload, 32)?,
            boot_id: array(payload, 40)?,
            uid: u32_at(payload, 56)?,
            process: payload.get(SessionInfo::FIXED..)?.to_vec(),
        })
    }
}

/// Appends one site to the payload of a *sites* block; `description` as in the session.
pub fn push_site(out: &mut Vec<u8>, id: u32, description: &[u8]) {
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(description);
}

/// The sites of a *sites* block. A description that cannot be used (unknown kind …) is given as its error and passed over; ends where sizes
/// make no sense.
pub fn sites(payload: &[u8]) -> impl Iterator<Item = (u32, Result<SiteDescription, SiteError>)> {
    let mut is_broken = false;
    site_entries(payload).map_while(move |(id, description)| {
        if is_broken {
            return None;
        }
        let site = SiteDescription::decode(description).map(|(site, _)| site);
        is_broken = matches!(site, Err(SiteError::Size | SiteError::Truncated));
        Some((id, site))
    })
}

/// The entries of a *sites* block: ids, and where each description begins, which is not decoded. Ends where sizes make no sense.
pub fn site_entries(payload: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let id = u32_at(payload, at)?;
        let description = payload.get(at + 8..)?;
        let size = u32_at(description, 0)? as usize;
        at = if size == 0 { payload.len() } else { at.saturating_add(8).saturating_add(size) };
        Some((id, description))
    })
}

/// An entry of a *streams* block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct StreamInfo {
    pub stream: u32,
    pub tid: u32,
    pub lane: u16,
    pub copy: u16,
    pub previous: u32,
    pub claimed_ticks: u64,
    pub base: u64,
    /// Zero-padded.
    pub name: [u8; 16],
}

impl StreamInfo {
    /// Bytes of an entry.
    pub const SIZE: usize = 48;

    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.stream.to_le_bytes());
        out.extend_from_slice(&self.tid.to_le_bytes());
        out.extend_from_slice(&self.lane.to_le_bytes());
        out.extend_from_slice(&self.copy.to_le_bytes());
        out.extend_from_slice(&self.previous.to_le_bytes());
        out.extend_from_slice(&self.claimed_ticks.to_le_bytes());
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&self.name);
    }

    /// All whole entries of a payload.
    pub fn decode_all(payload: &[u8]) -> impl Iterator<Item = StreamInfo> {
        payload.chunks_exact(StreamInfo::SIZE).filter_map(|entry| {
            Some(StreamInfo {
                stream: u32_at(entry, 0)?,
                tid: u32_at(entry, 4)?,
                lane: u16_at(entry, 8)?,
                copy: u16_at(entry, 10)?,
                previous: u32_at(entry, 12)?,
                claimed_ticks: u64_at(entry, 16)?,
                base: u64_at(entry, 24)?,
                name: array(entry, 32)?,
            })
        })
    }

    /// The thread's name up to the first zero byte; invalid UTF-8 is replaced.
    pub fn thread_name(&self) -> String {
        let len = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        String::from_utf8_lossy(&self.name[..len]).into_owned()
    }
}

/// Appends an entry of an *anchors* block.
pub fn push_anchor(out: &mut Vec<u8>, anchor: &Anchor) {
    for word in [anchor.ticks, anchor.monotonic_ns, anchor.wall_ns] {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// The anchors of an *anchors* block.
pub fn anchors(payload: &[u8]) -> impl Iterator<Item = Anchor> {
    payload.chunks_exact(24).filter_map(|entry| {
        Some(Anchor {
            ticks: u64_at(entry, 0)?,
            monotonic_ns: u64_at(entry, 8)?,
            wall_ns: u64_at(entry, 16)?,
        })
    })
}

/// An entry of a *losses* block: totals of a stream (0: of the session).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LossInfo {
    pub stream: u32,
    /// By cause ([`crate::layout::CAUSE_NAMES`]).
    pub losses: [u64; CAUSES],
    pub stalls: u64,
    pub stall_ns: u64,
}

impl LossInfo {
    /// Bytes of an entry.
    pub const SIZE: usize = 88;

    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.stream.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        for word in self.losses.iter().chain([&self.stalls, &self.stall_ns]) {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// All whole entries of a payload.
    pub fn decode_all(payload: &[u8]) -> impl Iterator<Item = LossInfo> {
        payload.chunks_exact(LossInfo::SIZE).filter_map(|entry| {
            let mut losses = [0; CAUSES];
            for (i, loss) in losses.iter_mut().enumerate() {
                *loss = u64_at(entry, 8 + 8 * i)?;
            }
            Some(LossInfo {
                stream: u32_at(entry, 0)?,
                losses,
                stalls: u64_at(entry, 72)?,
                stall_ns: u64_at(entry, 80)?,
            })
        })
    }
}

/// Payload of a *gap* block: ring bytes of its stream that are in no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct GapInfo {
    pub begin: u64,
    pub end: u64,
    /// They were kept back and forgotten deliberately, since nobody asked for them; else they could not be stored.
    pub forgotten: Option<Forgotten>,
}

/// What is known of ring bytes that were forgotten deliberately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Forgotten {
    /// Records in them, control records included, pads not.
    pub records: u64,
    /// There were more, which nobody has counted.
    pub has_more: bool,
    /// No *context* was in them: what follows has the fields that were in force before.
    pub keeps_fields: bool,
}

impl GapInfo {
    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.begin.to_le_bytes());
        out.extend_from_slice(&self.end.to_le_bytes());
        if let Some(forgotten) = &self.forgotten {
            let flags = 1 | u64::from(forgotten.has_more) << 1 | u64::from(forgotten.keeps_fields) << 2;
            out.extend_from_slice(&forgotten.records.to_le_bytes());
            out.extend_from_slice(&flags.to_le_bytes());
        }
    }

    /// Reads a payload; `None` when it is too short.
    pub fn decode(payload: &[u8]) -> Option<GapInfo> {
        let forgotten = match (u64_at(payload, 16), u64_at(payload, 24)) {
            (Some(records), Some(flags)) if flags & 1 != 0 => {
                Some(Forgotten { records, has_more: flags & 2 != 0, keeps_fields: flags & 4 != 0 })
            }
            _ => None,
        };
        Some(GapInfo { begin: u64_at(payload, 0)?, end: u64_at(payload, 8)?, forgotten })
    }

    /// Bytes of the ring.
    pub fn bytes(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// Payload of an *index* block. It states where the index before it stands (0: none). Then come the
/// headers of all blocks since the end of that index, or the beginning of the file. They are as in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Offset of the *index* block before this one; 0: none.
    pub previous: u64,
    /// Headers, one after the other.
    pub headers: Vec<u8>,
}

/// Bytes of an *index* block's payload before the headers.
const INDEX_FIXED: usize = 8;
/// Most headers of an *index* block.
pub const INDEX_HEADERS_MAX: usize = (PAYLOAD_MAX - INDEX_FIXED) / HEADER_SIZE;

impl Index {
    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.previous.to_le_bytes());
        out.extend_from_slice(&self.headers);
    }

    /// The blocks that the payload of the *index* block at `at` describes, in order, with their offsets. The
    /// offsets begin at `from`, the end of the block before. `None` when the payload contradicts itself: then
    /// it is useless.
    pub fn blocks(payload: &[u8], from: u64, at: u64) -> Option<Vec<(u64, BlockHeader)>> {
        let headers = payload.get(INDEX_FIXED..)?;
        let mut blocks = Vec::with_capacity(headers.len() / HEADER_SIZE);
        let mut next = from;
        for bytes in headers.chunks(HEADER_SIZE) {
            let header = BlockHeader::decode(bytes).ok()?;
            blocks.push((next, header));
            next = next.checked_add(header.block_size())?;
        }
        (next == at).then_some(blocks)
    }

    /// Where the *index* block before the one with this payload stands; 0: there is none.
    pub fn previous(payload: &[u8]) -> Option<u64> {
        u64_at(payload, 0)
    }
}

/// The payload of an *end* block: why, and where the last *index* block stands (0: there is none).
pub const fn end(reason: u32, last_index: u64) -> [u8; 16] {
    (reason as u128 | (last_index as u128) << 64).to_le_bytes()
}

/// Appends an entry of a *positions* block.
pub fn push_position(out: &mut Vec<u8>, stream: u32, ring_end: u64) {
    out.extend_from_slice(&stream.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&ring_end.to_le_bytes());
}

/// The entries (stream, ring_end) of a *positions* block.
pub fn positions(payload: &[u8]) -> impl Iterator<Item = (u32, u64)> {
    payload.chunks_exact(16).filter_map(|entry| Some((u32_at(entry, 0)?, u64_at(entry, 8)?)))
}
