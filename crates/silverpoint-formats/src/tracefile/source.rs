//! Where a trace file's bytes come from: a file, read at offsets, or bytes in memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use silverpoint_wire::layout::block::{PAYLOAD_MAX, SYNC};
use silverpoint_wire::scan::ReadAt;

/// An open trace file. Reading never maps the file: one that is cut meanwhile gives fewer bytes, not a fault.
#[derive(Debug)]
pub struct Source {
    /// For messages, and to find rotated parts.
    pub path: PathBuf,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

impl Source {
    /// Opens a file. What is no regular file (a pipe, a device) is copied to an unnamed temporary file first, since reading needs offsets: whole, unless
    /// its first 32 MiB hold no block's mark.
    ///
    /// # Errors
    /// Those of opening, reading and copying.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(path, File::open(path)?)
    }

    /// Opens a regular file, and nothing else: what somebody else names may be a pipe into which nobody writes, or a device that acts when it is opened.
    ///
    /// # Errors
    /// Those of opening; [`io::ErrorKind::InvalidInput`] for what is no regular file.
    pub fn open_regular(path: &Path) -> io::Result<Self> {
        let refused =
            || io::Error::new(io::ErrorKind::InvalidInput, "is no regular file: only such a one is followed");
        if !std::fs::metadata(path)?.is_file() {
            return Err(refused());
        }
        // It may have been replaced since.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(refused());
        }
        Self::from_file(path, file)
    }

    /// An open file, under the name `path`.
    ///
    /// # Errors
    /// As [`Source::open`]; a directory is refused.
    pub fn from_file(path: &Path, file: File) -> io::Result<Self> {
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
        }
        let file = if kind.is_file() { file } else { copied(file)? };
        Ok(Self { path: path.to_owned(), bytes: Bytes::File(file) })
    }

    /// Bytes in memory, under the name `path`.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Self {
        Self { path: path.to_owned(), bytes: Bytes::Memory(bytes) }
    }

    /// Bytes that are there now.
    ///
    /// # Errors
    /// Those of asking the file system.
    pub fn size(&self) -> io::Result<u64> {
        match &self.bytes {
            Bytes::File(file) => Ok(file.metadata()?.len()),
            Bytes::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Device and inode of the file; zeros for bytes in memory.
    ///
    /// # Errors
    /// Those of asking the file system.
    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        match &self.bytes {
            Bytes::File(file) => file.metadata().map(|metadata| (metadata.dev(), metadata.ino())),
            Bytes::Memory(_) => Ok((0, 0)),
        }
    }
}

impl ReadAt for Source {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.bytes {
            Bytes::File(file) => loop {
                match file.read_at(buffer, offset) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => return other,
                }
            },
            Bytes::Memory(bytes) => {
                let Ok(read) = bytes.as_slice().read_at(offset, buffer);
                Ok(read)
            }
        }
    }

    fn skip_hole(&self, offset: u64) -> io::Result<u64> {
        match &self.bytes {
            Bytes::File(file) => data_from(file, offset),
            Bytes::Memory(_) => Ok(offset),
        }
    }
}

/// The first offset from here on at which a file has data, or its end; the same offset where the file system cannot tell.
///
/// # Errors
/// Those of asking for the file's size.
pub fn data_from(file: &File, offset: u64) -> io::Result<u64> {
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(data) => Ok(data),
        // Nothing but a hole up to the end.
        Err(rustix::io::Errno::NXIO) => Ok(file.metadata()?.len().max(offset)),
        Err(_) => Ok(offset),
    }
}

/// The rest of a stream, in a file that has no name any more.
fn copied(mut stream: File) -> io::Result<File> {
    let directory = std::env::temp_dir();
    for attempt in 0..1000 {
        let path = directory.join(format!("silverpoint-{}-{attempt}", std::process::id()));
        match File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                std::fs::remove_file(&path)?;
                copy(&mut stream, &mut file)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
}

/// Copies a stream to its end; one that does not look like a trace file, which may have none (`/dev/zero`), only so far that this can be said.
fn copy(stream: &mut File, file: &mut File) -> io::Result<()> {
    // A stream may begin within the largest of blocks.
    const LOOKED_AT: usize = 2 * PAYLOAD_MAX;
    let (mut chunk, mut copied) = (vec![0; 64 << 10], 0);
    // The end of the last chunk stays in front of the next one: a mark may lie across both.
    let mut kept = 0;
    while copied < LOOKED_AT {
        let read = match stream.read(&mut chunk[kept..]) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        file.write_all(&chunk[kept..kept + read])?;
        copied += read;
        let seen = &chunk[..kept + read];
        if memchr::memmem::find(seen, &SYNC).is_some() {
            return io::copy(stream, file).map(|_| ());
        }
        let from = seen.len().saturating_sub(SYNC.len() - 1);
        kept = seen.len() - from;
        chunk.copy_within(from..from + kept, 0);
    }
    Ok(())
}
