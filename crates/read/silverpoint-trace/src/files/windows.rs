use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// `FILE_FLAG_DELETE_ON_CLOSE`.
const DELETE_ON_CLOSE: u32 = 0x0400_0000;

/// Volume and index of a file.
///
/// # Errors
/// Those of asking the file system.
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    let found = winapi_util::file::information(file)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// As [`identity`], of what was found under a name.
///
/// # Errors
/// Those of opening it and of asking the file system.
pub fn identity_at(path: &Path, _: &Metadata) -> io::Result<(u64, u64)> {
    identity(&File::open(path)?)
}

/// Whether it is a file, and no pipe or console. (A directory cannot be opened as a file here.)
///
/// # Errors
/// Those of asking the system.
pub fn is_regular(file: &File) -> io::Result<bool> {
    // What a shell of Linux gives to a program under Wine is a file without an identity: it is read as a stream.
    winapi_util::file::typ(file).map(|kind| kind.is_disk() && identity(file).is_ok())
}

/// Reads at an offset.
///
/// # Errors
/// Those of reading.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    // Moves the file's own position too, which nothing uses.
    file.seek_read(buffer, offset)
}

/// Fills the buffer from an offset on.
///
/// # Errors
/// Those of reading; [`io::ErrorKind::UnexpectedEof`] where the file ends before.
pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// Opens a file to read it.
///
/// # Errors
/// Those of opening.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A file made with these options has the access list of its directory.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Makes a file under a free name that is gone when it is closed, to be written and read.
///
/// # Errors
/// Those of making it.
pub fn unnamed(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true).share_mode(0).custom_flags(DELETE_ON_CLOSE).open(path)
}

/// The same offset: holes are read as zeros.
///
/// # Errors
/// None here.
pub fn data_from(_: &File, offset: u64) -> io::Result<u64> {
    Ok(offset)
}
