use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, SeekFrom};
use rustix::io::Errno;

/// Device and inode of a file.
///
/// # Errors
/// Those of asking the file system.
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|found| (found.dev(), found.ino()))
}

/// As [`identity`], of what was found under a name.
///
/// # Errors
/// None here.
pub fn identity_at(_: &Path, found: &Metadata) -> io::Result<(u64, u64)> {
    Ok((found.dev(), found.ino()))
}

/// Whether it is a regular file, and no pipe or device.
///
/// # Errors
/// Those of asking the file system; a directory is refused.
pub fn is_regular(file: &File) -> io::Result<bool> {
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
    }
    Ok(kind.is_file())
}

/// Reads at an offset.
///
/// # Errors
/// Those of reading.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Fills the buffer from an offset on.
///
/// # Errors
/// Those of reading; [`io::ErrorKind::UnexpectedEof`] where the file ends before.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Opens a file to read it. Does not wait for a pipe's writer, and takes no terminal.
///
/// # Errors
/// Those of opening.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// A file made with these options is for its owner alone.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Makes a file under a free name that it does not keep, to be written and read.
///
/// # Errors
/// Those of making it.
pub fn unnamed(path: &Path) -> io::Result<File> {
    let file = private(File::options().read(true).write(true).create_new(true)).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// The first offset from here on at which a file has data, or its end; the same offset where the file system cannot tell.
///
/// # Errors
/// Those of asking for the file's size.
pub fn data_from(file: &File, offset: u64) -> io::Result<u64> {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(data) => Ok(data),
        // Nothing but a hole up to the end.
        Err(Errno::NXIO) => Ok(file.metadata()?.len().max(offset)),
        Err(_) => Ok(offset),
    }
}
