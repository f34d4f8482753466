//! Where a trace file's bytes come from: a file, read at offsets, or bytes in memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use silverpoint_wire::layout::block::{PAYLOAD_MAX, SYNC};
use silverpoint_wire::scan::ReadAt;

use crate::files::{self, identity, identity_at};

/// See [`bytes_read`].
static READ: AtomicU64 = AtomicU64::new(0);

/// Bytes of trace files that this process has read: the progress of something that reads them once.
pub fn bytes_read() -> u64 {
    READ.load(Ordering::Relaxed)
}

/// An open trace file. Reading never maps the file: one that is cut meanwhile gives fewer bytes, not a fault.
#[derive(Debug)]
pub struct Source {
    /// For messages, and to find rotated parts.
    pub path: PathBuf,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    File(RwLock<Kept>),
    Memory(Vec<u8>),
}

/// A file whose descriptor the program may close, as daemons do: another file with the same number is neither
/// read nor closed.
#[derive(Debug)]
struct Kept {
    file: Option<File>,
    identity: (u64, u64),
}

impl Kept {
    fn new(file: File) -> io::Result<Self> {
        let identity = identity(&file)?;
        Ok(Self { file: Some(file), identity })
    }

    fn intact(&self) -> Option<&File> {
        self.file.as_ref().filter(|file| identity(file).is_ok_and(|now| now == self.identity))
    }

    /// Opens the same file again, under its name or another one in the same directory: it may have been rotated.
    fn reopen(&mut self, path: &Path) -> io::Result<()> {
        if self.intact().is_some() {
            return Ok(());
        }
        self.let_go();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let others = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in std::iter::once(path.to_owned()).chain(others) {
            let is_it = |found: std::fs::Metadata| {
                found.is_file() && identity_at(&path, &found).is_ok_and(|now| now == self.identity)
            };
            if std::fs::metadata(&path).is_ok_and(is_it) {
                let is_same = |file: &File| identity(file).is_ok_and(|now| now == self.identity);
                if let Some(file) = File::open(&path).ok().filter(is_same) {
                    self.file = Some(file);
                    return Ok(());
                }
            }
        }
        let text = "the program has closed its descriptor, and it is not found again";
        Err(io::Error::new(io::ErrorKind::NotFound, text))
    }

    /// Closes the descriptor if it is still the file's.
    fn let_go(&mut self) {
        if let Some(file) = self.file.take() {
            if identity(&file).ok() != Some(self.identity) {
                std::mem::forget(file);
            }
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Source {
    /// Opens a file. Anything but a regular file (a pipe, a device) is copied to an unnamed temporary file
    /// first, since reading needs offsets. It is copied completely, unless its first 32 MiB hold no block's
    /// mark.
    ///
    /// # Errors
    /// Those of opening, reading and copying.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(path, File::open(path)?)
    }

    /// Opens a regular file, and nothing else. A foreign name may be that of a pipe without a writer, or of a
    /// device that acts when it is opened.
    ///
    /// # Errors
    /// Those of opening; [`io::ErrorKind::InvalidInput`] for anything but a regular file.
    pub fn open_regular(path: &Path) -> io::Result<Self> {
        let refused = || {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "is no regular file: only regular files can be followed",
            )
        };
        if !std::fs::metadata(path)?.is_file() {
            return Err(refused());
        }
        // It may have been replaced since.
        let file = files::open_at_once(path)?;
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
        let file = if files::is_regular(&file)? { file } else { copied(file)? };
        Ok(Self { path: path.to_owned(), bytes: Bytes::File(RwLock::new(Kept::new(file)?)) })
    }

    /// Does something with the file, which is opened again if need be.
    fn with<T>(&self, kept: &RwLock<Kept>, act: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        {
            let kept = kept.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(file) = kept.intact() {
                return act(file);
            }
        }
        let mut kept = kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.reopen(&self.path)?;
        act(kept.file.as_ref().ok_or(io::ErrorKind::NotFound)?)
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
            Bytes::File(kept) => self.with(kept, |file| Ok(file.metadata()?.len())),
            Bytes::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Device and inode of the file; zeros for bytes in memory.
    ///
    /// # Errors
    /// Those of asking the file system.
    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        match &self.bytes {
            Bytes::File(kept) => Ok(kept.read().unwrap_or_else(PoisonError::into_inner).identity),
            Bytes::Memory(_) => Ok((0, 0)),
        }
    }
}

impl ReadAt for Source {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.bytes {
            Bytes::File(kept) => self.with(kept, |file| {
                loop {
                    match files::read_at(file, buffer, offset) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Ok(read) => {
                            READ.fetch_add(read as u64, Ordering::Relaxed);
                            return Ok(read);
                        }
                        other => return other,
                    }
                }
            }),
            Bytes::Memory(bytes) => {
                let Ok(read) = bytes.as_slice().read_at(offset, buffer);
                Ok(read)
            }
        }
    }

    fn skip_hole(&self, offset: u64) -> io::Result<u64> {
        match &self.bytes {
            Bytes::File(kept) => self.with(kept, |file| files::data_from(file, offset)),
            Bytes::Memory(_) => Ok(offset),
        }
    }
}

/// The rest of a stream, in a file that has no name any more.
fn copied(mut stream: File) -> io::Result<File> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the file loses its name at once, and a taken name is not used"
    )]
    let directory = std::env::temp_dir();
    for attempt in 0..1000 {
        let path = directory.join(format!("silverpoint-{}-{attempt}", std::process::id()));
        match files::unnamed(&path) {
            Ok(mut file) => {
                copy(&mut stream, &mut file)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
}

/// Copies a stream to its end. One that does not look like a trace file may have no end (`/dev/zero`): it is
/// copied only until that is clear.
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
