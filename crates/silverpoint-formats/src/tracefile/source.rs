//! Where a trace file's bytes come from: a file, read at offsets, or bytes in memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

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
    /// Opens a file. What is no regular file (a pipe, a device) is copied to an unnamed temporary file first, since reading needs offsets.
    ///
    /// # Errors
    /// Those of opening, reading and copying.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(path, File::open(path)?)
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
}

/// The rest of a stream, in a file that has no name any more.
fn copied(mut stream: File) -> io::Result<File> {
    let directory = std::env::temp_dir();
    for attempt in 0..1000 {
        let path = directory.join(format!("silverpoint-{}-{attempt}", std::process::id()));
        let opened = {
            use std::os::unix::fs::OpenOptionsExt;
            File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)
        };
        match opened {
            Ok(mut file) => {
                std::fs::remove_file(&path)?;
                io::copy(&mut stream, &mut file)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
}
