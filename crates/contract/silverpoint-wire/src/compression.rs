//! lz4 and zstd over the payloads of blocks (spec/file.md section 3.1).
//!
//! A compressed payload begins with the size of what was compressed, which is checked before any room is taken for it.

use std::fmt;
use std::str::FromStr;

use crate::bytes::u32_at;
use crate::layout::block::{COMPACT, LZ4, PAYLOAD_MAX, ZSTD};

/// How payloads are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// lz4: fast in both directions.
    Lz4,
    /// zstd at a level from 1 to 19: smaller.
    Zstd(u8),
}

/// The level of `zstd` without a level.
const ZSTD_LEVEL: u8 = 1;
/// Higher ones take hundreds of megabytes of memory.
const ZSTD_LEVEL_MAX: u8 = 19;
/// Bytes of the size that a compressed payload begins with.
const SIZE_BYTES: usize = 4;

impl FromStr for Compression {
    type Err = String;

    /// `none`, `lz4`, `zstd` or `zstd:LEVEL`.
    fn from_str(text: &str) -> Result<Compression, String> {
        match text {
            "none" => Ok(Compression::None),
            "lz4" => Ok(Compression::Lz4),
            "zstd" => Ok(Compression::Zstd(ZSTD_LEVEL)),
            other => match other.strip_prefix("zstd:").map(str::parse) {
                Some(Ok(level @ 1..=ZSTD_LEVEL_MAX)) => Ok(Compression::Zstd(level)),
                Some(_) => Err(format!("'{other}': the levels of zstd are 1 to {ZSTD_LEVEL_MAX}")),
                None => Err(format!("'{other}': expected none, lz4, zstd or zstd:LEVEL")),
            },
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compression::None => f.write_str("none"),
            Compression::Lz4 => f.write_str("lz4"),
            Compression::Zstd(level) => write!(f, "zstd:{level}"),
        }
    }
}

/// Compresses payloads, one after the other.
pub struct Compressor {
    compression: Compression,
    /// Kept, because making it costs more than a small block.
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compressor({})", self.compression)
    }
}

impl Compressor {
    /// One that compresses so. Where zstd cannot be had (no memory), payloads stay as they are.
    pub fn new(compression: Compression) -> Compressor {
        let zstd = match compression {
            Compression::Zstd(level) => zstd::bulk::Compressor::new(i32::from(level)).ok(),
            _ => None,
        };
        Compressor { compression, zstd }
    }

    /// How it compresses.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Replaces `out` by the compressed form of a payload, and gives the bit for its encoding. It gives 0
    /// when that would not be smaller: then `out` is useless.
    pub fn compress(&mut self, payload: &[u8], out: &mut Vec<u8>) -> u8 {
        let bit = match self.compression {
            Compression::None => return 0,
            Compression::Lz4 => LZ4,
            Compression::Zstd(_) => ZSTD,
        };
        let bound = match bit {
            LZ4 => lz4_flex::block::get_maximum_output_size(payload.len()),
            _ => zstd::zstd_safe::compress_bound(payload.len()),
        };
        out.resize(SIZE_BYTES + bound, 0);
        let room = &mut out[SIZE_BYTES..];
        let size = match &mut self.zstd {
            _ if bit == LZ4 => lz4_flex::block::compress_into(payload, room).ok(),
            Some(zstd) => zstd.compress_to_buffer(payload, room).ok(),
            None => None,
        };
        match (size, u32::try_from(payload.len())) {
            (Some(size), Ok(raw)) if SIZE_BYTES + size < payload.len() => {
                out[..SIZE_BYTES].copy_from_slice(&raw.to_le_bytes());
                out.truncate(SIZE_BYTES + size);
                bit
            }
            _ => 0,
        }
    }
}

/// Why a compressed payload cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecompressError {
    /// It is too short to state its size.
    Truncated,
    /// The size that it states is beyond the limit, or not the block's.
    Size(u32),
    /// The bytes contradict the algorithm's format, or give another size than stated.
    Malformed(&'static str),
    /// Both bits are set, or one that this version does not know.
    Encoding(u8),
}

impl fmt::Display for DecompressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecompressError::Truncated => f.write_str("the compressed payload is truncated"),
            DecompressError::Size(size) => {
                write!(f, "the compressed payload states the impossible size {size}")
            }
            DecompressError::Malformed(name) => write!(f, "the payload is not what {name} makes"),
            DecompressError::Encoding(encoding) => {
                write!(f, "encoding {encoding} is not known to this version")
            }
        }
    }
}

impl std::error::Error for DecompressError {}

/// Restores compressed payloads, one after the other.
#[derive(Default)]
pub struct Decompressor {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decompressor")
    }
}

impl Decompressor {
    /// Replaces `out` by the decompressed raw or compact payload. `raw_size` is the header's. Uses at most 16
    /// MiB of memory for any bytes; after an error `out` is empty.
    pub fn decompress(
        &mut self,
        encoding: u8,
        stored: &[u8],
        raw_size: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), DecompressError> {
        out.clear();
        let result = self.restore(encoding, stored, raw_size, out);
        if result.is_err() {
            out.clear();
        }
        result
    }

    fn restore(
        &mut self,
        encoding: u8,
        stored: &[u8],
        raw_size: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), DecompressError> {
        let name = match encoding & !COMPACT {
            LZ4 => "lz4",
            ZSTD => "zstd",
            _ => return Err(DecompressError::Encoding(encoding)),
        };
        let size = u32_at(stored, 0).ok_or(DecompressError::Truncated)?;
        if size as usize > PAYLOAD_MAX || (encoding & COMPACT == 0 && size != raw_size) {
            return Err(DecompressError::Size(size));
        }
        let compressed = &stored[SIZE_BYTES..];
        out.resize(size as usize, 0);
        let restored = match name {
            "lz4" => lz4_flex::block::decompress_into(compressed, out).ok(),
            _ => self.zstd().and_then(|zstd| zstd.decompress_to_buffer(compressed, &mut out[..]).ok()),
        };
        match restored {
            Some(restored) if restored == size as usize => Ok(()),
            _ => Err(DecompressError::Malformed(name)),
        }
    }

    fn zstd(&mut self) -> Option<&mut zstd::bulk::Decompressor<'static>> {
        if self.zstd.is_none() {
            self.zstd = zstd::bulk::Decompressor::new().ok();
        }
        self.zstd.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [(Compression, u8); 3] =
        [(Compression::Lz4, LZ4), (Compression::Zstd(1), ZSTD), (Compression::Zstd(9), ZSTD)];

    #[test]
    fn names_are_read_and_written() {
        for text in ["none", "lz4", "zstd:1", "zstd:19"] {
            assert_eq!(text.parse::<Compression>().unwrap().to_string(), text);
        }
        assert_eq!("zstd".parse(), Ok(Compression::Zstd(1)));
        for text in ["", "gzip", "zstd:", "zstd:0", "zstd:20", "zstd:-1", "lz4:1"] {
            assert!(text.parse::<Compression>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_does_not_shrink_stays() {
        for (compression, _) in ALL {
            let mut out = Vec::new();
            assert_eq!(Compressor::new(compression).compress(b"12345678", &mut out), 0);
            assert_eq!(Compressor::new(compression).compress(b"", &mut out), 0);
        }
    }

    #[test]
    fn sizes_are_checked_before_they_are_believed() {
        let payload = vec![7; 5000];
        for (compression, bit) in ALL {
            let mut stored = Vec::new();
            assert_eq!(Compressor::new(compression).compress(&payload, &mut stored), bit);
            let (mut out, mut decompressor) = (Vec::new(), Decompressor::default());
            decompressor.decompress(bit, &stored, 5000, &mut out).unwrap();
            assert_eq!(out, payload);
            let error = decompressor.decompress(bit, &stored, 4999, &mut out);
            assert_eq!(error, Err(DecompressError::Size(5000)));
            // Compact: the size is not the raw one.
            decompressor.decompress(bit | COMPACT, &stored, 4999, &mut out).unwrap();
            for (size, error) in [
                (4999, DecompressError::Malformed(if bit == LZ4 { "lz4" } else { "zstd" })),
                (5001, DecompressError::Malformed(if bit == LZ4 { "lz4" } else { "zstd" })),
                (PAYLOAD_MAX as u32 + 1, DecompressError::Size(PAYLOAD_MAX as u32 + 1)),
                (u32::MAX, DecompressError::Size(u32::MAX)),
            ] {
                stored[..4].copy_from_slice(&u32::to_le_bytes(size));
                assert_eq!(decompressor.decompress(bit, &stored, size, &mut out), Err(error));
                assert!(out.is_empty());
            }
        }
        let mut out = Vec::new();
        for encoding in [0x30, 0x12, 0x40, 2, LZ4 | ZSTD | COMPACT] {
            let error = Decompressor::default().decompress(encoding, &[0; 9], 0, &mut out);
            assert_eq!(error, Err(DecompressError::Encoding(encoding)));
        }
        let error = Decompressor::default().decompress(LZ4, &[0; 3], 0, &mut out);
        assert_eq!(error, Err(DecompressError::Truncated));
    }

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(payload in prop::collection::vec(0_u8..4, 0..4000)) {
            for (compression, _) in ALL {
                let mut stored = Vec::new();
                let bit = Compressor::new(compression).compress(&payload, &mut stored);
                if bit != 0 {
                    prop_assert!(stored.len() < payload.len());
                    let mut out = Vec::new();
                    Decompressor::default().decompress(bit, &stored, payload.len() as u32, &mut out).unwrap();
                    prop_assert_eq!(&out, &payload);
                }
            }
        }

        /// Any bytes, and bytes that were right but for one: refused or restored to the stated size, nothing else.
        #[test]
        fn hostile_bytes_are_bounded(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            payload in prop::collection::vec(0_u8..3, 100..2000),
            at in any::<prop::sample::Index>(),
        ) {
            let mut decompressor = Decompressor::default();
            let mut out = Vec::new();
            for (compression, bit) in ALL {
                let mut stored = Vec::new();
                if Compressor::new(compression).compress(&payload, &mut stored) != 0 {
                    let at = at.index(stored.len());
                    stored[at] ^= bytes.first().copied().unwrap_or(1);
                }
                for stored in [&stored, &bytes] {
                    let stated = u32_at(stored, 0).unwrap_or(0);
                    match decompressor.decompress(bit, stored, stated, &mut out) {
                        Ok(()) => prop_assert_eq!(out.len(), stated as usize),
                        Err(_) => prop_assert!(out.is_empty()),
                    }
                }
            }
        }
    }
}
