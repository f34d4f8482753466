//! Files and directories by descriptor. A link that has the name is not followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
pub use std::os::fd::{AsFd as AsDescriptor, BorrowedFd as BorrowedDescriptor, OwnedFd as Descriptor};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::kept::KeptFd;
pub use crate::platform::status::Status;

impl AsDescriptor for KeptFd {
    fn as_fd(&self) -> BorrowedDescriptor<'_> {
        self.descriptor().as_fd()
    }
}

/// Reading, writing, or both.
pub type AccessOfFile = OFlags;

impl From<rustix::fs::Stat> for Status {
    #[allow(clippy::unnecessary_cast, reason = "the count of names has 32 bits on AArch64")]
    fn from(stat: rustix::fs::Stat) -> Self {
        let kind = FileType::from_raw_mode(stat.st_mode);
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            bytes: stat.st_size.max(0) as u64,
            room: stat.st_blocks as u64 * 512,
            is_file: kind == FileType::RegularFile,
            is_directory: kind == FileType::Directory,
            names: stat.st_nlink as u64,
            is_removed: stat.st_nlink == 0,
            changed_seconds: stat.st_mtime.max(0) as u64,
        }
    }
}

/// Of what is open.
pub fn status(file: impl AsDescriptor) -> io::Result<Status> {
    Ok(rustix::fs::fstat(file)?.into())
}

/// Of what has this name in a directory.
pub fn status_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<Status> {
    Ok(rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?.into())
}

/// Of what has this path; links are followed.
pub fn status_of(path: &Path) -> io::Result<Status> {
    Ok(rustix::fs::stat(path)?.into())
}

/// What a descriptor permits.
pub fn access(file: &File) -> Option<AccessOfFile> {
    rustix::fs::fcntl_getfl(file).ok().map(|flags| flags & OFlags::ACCMODE)
}

/// The absolute path of a directory; links are followed.
pub fn absolute_directory(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Opens a directory; links are followed.
pub fn open_directory(path: &Path) -> io::Result<Descriptor> {
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

const READING: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Opens a file for reading.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    Ok(File::from(rustix::fs::open(path, READING, Mode::empty())?))
}

/// Opens a file of a directory for reading.
pub fn open_to_read_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<File> {
    Ok(File::from(rustix::fs::openat(directory, name, READING, Mode::empty())?))
}

/// Opens a file of a directory for reading and writing.
pub fn open_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?))
}

/// Makes a file in a directory, for reading and writing by this user.
pub fn create_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Names in a directory, with the inodes of what has them.
pub fn names(directory: impl AsDescriptor) -> io::Result<impl Iterator<Item = io::Result<(OsString, u64)>>> {
    Ok(Dir::read_from(directory)?.map(|entry| {
        let entry = entry?;
        Ok((OsString::from_vec(entry.file_name().to_bytes().to_vec()), entry.ino()))
    }))
}

/// Takes a file's name away.
pub fn remove_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(directory, name, AtFlags::empty())?)
}

/// Removes an empty directory.
pub fn remove_directory_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)?)
}

/// Gives a file another name in its directory; what has that is replaced.
pub fn rename_over_at(directory: impl AsDescriptor, from: &OsStr, to: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::renameat(&directory, from, &directory, to)?)
}

/// Gives a file another name in its directory, which nothing has.
///
/// # Errors
/// Those of the system; `AlreadyExists`.
pub fn rename_at(directory: impl AsDescriptor, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match rustix::fs::renameat_with(&directory, from, &directory, to, RenameFlags::NOREPLACE) {
        // File systems that do not know the flag.
        Err(Errno::INVAL | Errno::NOSYS) => {
            if rustix::fs::statat(&directory, to, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            rename_over_at(directory, from, to)
        }
        result => Ok(result?),
    }
}

/// Gives a file a second name in its directory.
///
/// # Errors
/// Those of the system; `Unsupported` where a file has one name.
pub fn link_at(directory: impl AsDescriptor, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match rustix::fs::linkat(&directory, from, &directory, to, AtFlags::empty()) {
        Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK) => {
            Err(io::ErrorKind::Unsupported.into())
        }
        result => Ok(result?),
    }
}

/// Makes the names in a directory durable.
pub fn sync_directory(directory: impl AsDescriptor) -> io::Result<()> {
    match rustix::fs::fsync(directory) {
        // A file system that has no such thing for directories.
        Err(Errno::INVAL) => Ok(()),
        synced => Ok(synced?),
    }
}

/// Reads at an offset: some bytes, none behind the end.
pub fn read_at(file: impl AsDescriptor, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pread(file, buffer, offset)?)
}

/// Writes some of the bytes at an offset.
pub fn write_at(file: impl AsDescriptor, bytes: &[u8], offset: u64) -> io::Result<usize> {
    Ok(rustix::io::pwrite(file, bytes, offset)?)
}

/// Writes all bytes at an offset.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Cuts a file.
pub(crate) fn set_size(file: impl AsDescriptor, bytes: u64) -> io::Result<()> {
    Ok(rustix::fs::ftruncate(file, bytes)?)
}

/// The path as an intent has it.
pub(crate) fn path_to_bytes(path: &Path) -> Option<&[u8]> {
    use std::os::unix::ffi::OsStrExt;
    Some(path.as_os_str().as_bytes())
}

/// The same back.
pub(crate) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    Some(OsString::from_vec(bytes.to_vec()).into())
}

/// The error of a descriptor that is closed.
pub(crate) fn closed() -> io::Error {
    Errno::BADF.into()
}
