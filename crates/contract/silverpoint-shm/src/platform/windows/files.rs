//! Files and directories by handle. A link that has the name is not followed. Others may read, write and delete
//! what is open here.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
pub use std::os::windows::io::{
    AsHandle as AsDescriptor, BorrowedHandle as BorrowedDescriptor, OwnedHandle as Descriptor,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN,
};
use windows_sys::Win32::Foundation::{
    ERROR_HANDLE_EOF, ERROR_INVALID_HANDLE, ERROR_LOCK_VIOLATION, FILETIME, HANDLE,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_READ_ATTRIBUTES, FILE_STANDARD_INFO, FileEndOfFileInfo, FileStandardInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, ReadFile, SetFileInformationByHandle,
    WriteFile,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::directory::Names;
use super::nt;
use crate::kept::KeptFd;
pub use crate::platform::status::Status;

impl AsDescriptor for KeptFd {
    fn as_handle(&self) -> BorrowedDescriptor<'_> {
        self.descriptor().as_handle()
    }
}

/// How long a lock is waited for that others have for a moment, and the pause between two attempts.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// A handle's number is not used for another file while it is kept: nothing is to be compared.
pub type AccessOfFile = ();

pub(super) fn handle_of(file: &impl AsDescriptor) -> HANDLE {
    file.as_handle().as_raw_handle().cast()
}

fn done(result: i32) -> io::Result<()> {
    if result != 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Of what is open.
pub fn status(file: impl AsDescriptor) -> io::Result<Status> {
    let handle = handle_of(&file);
    let mut found = MaybeUninit::<BY_HANDLE_FILE_INFORMATION>::zeroed();
    let mut standard = MaybeUninit::<FILE_STANDARD_INFO>::zeroed();
    // SAFETY: there is room for what Windows says; zeros are valid in both.
    let (found, standard) = unsafe {
        done(GetFileInformationByHandle(handle, found.as_mut_ptr()))?;
        let bytes = size_of::<FILE_STANDARD_INFO>() as u32;
        done(GetFileInformationByHandleEx(handle, FileStandardInfo, standard.as_mut_ptr().cast(), bytes))?;
        (found.assume_init(), standard.assume_init())
    };
    let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let kinds = found.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT);
    Ok(Status {
        device: 0,
        inode: both(found.nFileIndexHigh, found.nFileIndexLow),
        bytes: both(found.nFileSizeHigh, found.nFileSizeLow),
        room: standard.AllocationSize.max(0) as u64,
        is_file: kinds == 0,
        is_directory: kinds == FILE_ATTRIBUTE_DIRECTORY,
        names: found.nNumberOfLinks.into(),
        is_removed: standard.DeletePending || found.nNumberOfLinks == 0,
        changed_seconds: seconds_since_1970(found.ftLastWriteTime),
    })
}

fn seconds_since_1970(time: FILETIME) -> u64 {
    let since_1601 = (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) / 10_000_000;
    since_1601.saturating_sub(11_644_473_600)
}

/// Of what has this name in a directory.
pub fn status_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<Status> {
    status(nt::open(directory, name, FILE_READ_ATTRIBUTES, FILE_OPEN, 0)?)
}

/// Of what has this path; links are followed.
pub fn status_of(path: &Path) -> io::Result<Status> {
    let mut options = File::options();
    status(options.access_mode(FILE_READ_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?)
}

/// What a handle permits: it is not asked.
pub fn access(_: &File) -> Option<AccessOfFile> {
    Some(())
}

/// The absolute path of a directory.
pub fn absolute_directory(path: &Path) -> io::Result<PathBuf> {
    // (`canonicalize` gives a form that other programs do not read.)
    std::path::absolute(path)
}

/// Opens a directory; links are followed.
pub fn open_directory(path: &Path) -> io::Result<Descriptor> {
    open_directory_as(path, 0)
}

/// The same, not followed.
pub(super) fn open_own_directory(path: &Path) -> io::Result<Descriptor> {
    open_directory_as(path, FILE_FLAG_OPEN_REPARSE_POINT)
}

fn open_directory_as(path: &Path, flags: u32) -> io::Result<Descriptor> {
    let mut options = File::options();
    options.access_mode(FILE_GENERIC_READ).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags);
    Ok(options.open(path)?.into())
}

/// Opens a file for reading.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
}

/// Opens a file of a directory for reading.
pub fn open_to_read_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<File> {
    Ok(nt::open(directory, name, FILE_GENERIC_READ, FILE_OPEN, FILE_NON_DIRECTORY_FILE)?.into())
}

/// Opens a file of a directory for reading and writing.
pub fn open_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<File> {
    let access = FILE_GENERIC_READ | FILE_GENERIC_WRITE;
    Ok(nt::open(directory, name, access, FILE_OPEN, FILE_NON_DIRECTORY_FILE)?.into())
}

/// Opens a directory in a directory.
pub(super) fn open_directory_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<Descriptor> {
    nt::open(directory, name, FILE_GENERIC_READ, FILE_OPEN, FILE_DIRECTORY_FILE)
}

/// Makes a file in a directory, for reading and writing. Who else may is what the directory says.
pub fn create_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<File> {
    let access = FILE_GENERIC_READ | FILE_GENERIC_WRITE;
    Ok(nt::open(directory, name, access, FILE_CREATE, FILE_NON_DIRECTORY_FILE)?.into())
}

/// Names in a directory, with the numbers of what has them.
pub fn names(directory: impl AsDescriptor) -> io::Result<impl Iterator<Item = io::Result<(OsString, u64)>>> {
    Names::new(directory)
}

/// Removes a file. Where this Windows cannot free the name at once, that is free when nobody has the file open.
pub fn remove_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<()> {
    nt::remove(nt::open(directory, name, DELETE, FILE_OPEN, FILE_NON_DIRECTORY_FILE)?)
}

/// Removes an empty directory.
pub fn remove_directory_at(directory: impl AsDescriptor, name: &OsStr) -> io::Result<()> {
    nt::remove(nt::open(directory, name, DELETE, FILE_OPEN, FILE_DIRECTORY_FILE)?)
}

/// Gives a file another name in its directory; what has that is replaced.
pub fn rename_over_at(directory: impl AsDescriptor, from: &OsStr, to: &OsStr) -> io::Result<()> {
    nt::rename(nt::open(&directory, from, DELETE, FILE_OPEN, 0)?, directory, to, true)
}

/// Gives a file another name in its directory, which nothing has.
///
/// # Errors
/// Those of the system; `AlreadyExists`.
pub fn rename_at(directory: impl AsDescriptor, from: &OsStr, to: &OsStr) -> io::Result<()> {
    nt::rename(nt::open(&directory, from, DELETE, FILE_OPEN, 0)?, directory, to, false)
}

/// A file has one name: while it is open here, that name could not be given to another.
///
/// # Errors
/// `Unsupported`.
pub fn link_at(_: impl AsDescriptor, _: &OsStr, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing: Windows makes the entries of a directory durable by itself.
pub fn sync_directory(_: impl AsDescriptor) -> io::Result<()> {
    Ok(())
}

/// What calls take as an offset.
pub(super) fn place_of(offset: u64) -> OVERLAPPED {
    let place = OVERLAPPED_0_0 { Offset: offset as u32, OffsetHigh: (offset >> 32) as u32 };
    OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: place }, ..OVERLAPPED::default() }
}

fn length(bytes: usize) -> u32 {
    // As many at a time as any caller has.
    bytes.min(1 << 30) as u32
}

/// Reads at an offset: some bytes, none behind the end.
pub fn read_at(file: impl AsDescriptor, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    let mut place = place_of(offset);
    let len = length(buffer.len());
    // SAFETY: the buffer has as many bytes; the handle is for calls that end when they return.
    let result =
        done(unsafe { ReadFile(handle_of(&file), buffer.as_mut_ptr(), len, &raw mut read, &raw mut place) });
    match result {
        Err(error) if error.raw_os_error() == Some(ERROR_HANDLE_EOF as i32) => Ok(0),
        result => result.map(|()| read as usize),
    }
}

/// Writes some of the bytes at an offset. Others cannot write where somebody has locked a byte, as a controller does for
/// a moment in the collector's file: that is waited for.
pub fn write_at(file: impl AsDescriptor, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let begun = Instant::now();
    loop {
        match write_at_once(&file, bytes, offset) {
            Err(error) if is_locked(&error) && begun.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
}

fn is_locked(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_LOCK_VIOLATION as i32)
}

fn write_at_once(file: &impl AsDescriptor, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let mut written = 0;
    let mut place = place_of(offset);
    let len = length(bytes.len());
    // SAFETY: as above.
    done(unsafe { WriteFile(handle_of(file), bytes.as_ptr(), len, &raw mut written, &raw mut place) })?;
    Ok(written as usize)
}

/// Writes all bytes at an offset.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
        }
    }
    Ok(())
}

/// Cuts a file.
pub(crate) fn set_size(file: impl AsDescriptor, bytes: u64) -> io::Result<()> {
    let end = bytes as i64;
    // SAFETY: FILE_END_OF_FILE_INFO is this number.
    done(unsafe {
        SetFileInformationByHandle(handle_of(&file), FileEndOfFileInfo, (&raw const end).cast(), 8)
    })
}

/// The path as an intent has it: UTF-8.
pub(crate) fn path_to_bytes(path: &Path) -> Option<&[u8]> {
    path.to_str().map(str::as_bytes)
}

/// The same back.
pub(crate) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The error of a handle that is closed.
pub(crate) fn closed() -> io::Error {
    io::Error::from_raw_os_error(ERROR_INVALID_HANDLE as i32)
}
