//! How old files are compressed.

use std::fs::File;
use std::io::{self, Write};

use flate2::write::GzEncoder;

use crate::config::Compression;

/// The endings of compressed files, for all compressions.
pub(super) const ENDINGS: [&str; 2] = ["zst", "gz"];

impl Compression {
    /// That of the file's name.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Zstd(_) => ENDINGS[0],
            Self::Gzip(_) => ENDINGS[1],
        }
    }

    /// Compresses what is written into it.
    pub(super) fn encoder(self, file: File) -> io::Result<Encoder> {
        Ok(match self {
            Self::Zstd(level) => {
                let mut encoder = zstd::Encoder::new(file, level)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            Self::Gzip(level) => {
                Encoder::Gzip(Box::new(GzEncoder::new(file, flate2::Compression::new(level))))
            }
        })
    }
}

pub(super) enum Encoder {
    Zstd(zstd::Encoder<'static, File>),
    Gzip(Box<GzEncoder<File>>),
}

impl Encoder {
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Zstd(encoder) => encoder.write_all(bytes),
            Self::Gzip(encoder) => encoder.write_all(bytes),
        }
    }

    /// The complete file.
    pub(super) fn finish(self) -> io::Result<File> {
        match self {
            Self::Zstd(encoder) => encoder.finish(),
            Self::Gzip(encoder) => encoder.finish(),
        }
    }
}
