//! Files by the handle of their directory: calls of ntdll, since Windows's own functions take whole paths.

use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_REPARSE_POINT, FILE_SYNCHRONOUS_IO_NONALERT,
    FileDispositionInformation, FileDispositionInformationEx, FileRenameInformation, NtCreateFile,
    NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    HANDLE, NTSTATUS, OBJ_CASE_INSENSITIVE, RtlNtStatusToDosError, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_NORMAL, FILE_GENERIC_READ, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
    SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

/// `FileRenameInformationEx`.
const RENAME_EX: i32 = 65;
/// Of both extended classes: the name is free at once, although the file is open.
const POSIX: u32 = 2;
/// To delete, or to replace.
const DO: u32 = 1;
const IGNORE_READ_ONLY: u32 = 0x10;

pub(super) fn checked(status: NTSTATUS) -> io::Result<()> {
    if status >= 0 {
        return Ok(());
    }
    // SAFETY: it takes and gives a number.
    Err(io::Error::from_raw_os_error(unsafe { RtlNtStatusToDosError(status) } as i32))
}

/// One component, in Windows's form. Names that lead elsewhere, or to a stream beside a file, are refused.
fn component(name: &OsStr) -> io::Result<Vec<u16>> {
    let wide: Vec<u16> = name.encode_wide().collect();
    let leads_elsewhere =
        wide.iter().any(|unit| [b'\\', b'/', b':', 0].contains(&(*unit as u8)) && *unit < 256);
    if wide.is_empty() || wide.len() > 255 || leads_elsewhere || name == "." || name == ".." {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(wide)
}

/// Opens or makes what has this name in a directory, and follows no link.
pub(super) fn open(
    directory: impl AsHandle,
    name: &OsStr,
    access: u32,
    how: u32,
    options: u32,
) -> io::Result<OwnedHandle> {
    open_wide(directory, &component(name)?, access, how, options)
}

/// Opens the same directory again: another handle, which lists it from its beginning.
pub(super) fn open_again(directory: impl AsHandle) -> io::Result<OwnedHandle> {
    open_wide(directory, &[], FILE_GENERIC_READ, FILE_OPEN, FILE_DIRECTORY_FILE)
}

fn open_wide(
    directory: impl AsHandle,
    wide: &[u16],
    access: u32,
    how: u32,
    options: u32,
) -> io::Result<OwnedHandle> {
    let bytes = (wide.len() * 2) as u16;
    let text = UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: wide.as_ptr().cast_mut() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of::<OBJECT_ATTRIBUTES>() as u32,
        RootDirectory: directory.as_handle().as_raw_handle() as HANDLE,
        ObjectName: &raw const text,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: null(),
        SecurityQualityOfService: null(),
    };
    let mut handle: HANDLE = std::ptr::null_mut();
    let mut done = IO_STATUS_BLOCK::default();
    // SAFETY: all pointers refer to what lives until the call returns; no handle is inherited.
    checked(unsafe {
        NtCreateFile(
            &raw mut handle,
            access | SYNCHRONIZE,
            &raw const attributes,
            &raw mut done,
            null(),
            FILE_ATTRIBUTE_NORMAL,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            how,
            options | FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_REPARSE_POINT,
            null(),
            0,
        )
    })?;
    // SAFETY: the call has opened it for this caller.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle.cast()) })
}

fn set(file: impl AsHandle, class: i32, words: &[u64], bytes: usize) -> io::Result<()> {
    let mut done = IO_STATUS_BLOCK::default();
    debug_assert!(bytes <= words.len() * 8);
    // SAFETY: there are as many bytes as it says, and both live until the call returns.
    checked(unsafe {
        NtSetInformationFile(
            file.as_handle().as_raw_handle() as HANDLE,
            &raw mut done,
            words.as_ptr().cast(),
            bytes as u32,
            class,
        )
    })
}

/// Removes what is open with the right to delete it. Where this Windows cannot free the name at once, that is free when nobody has the file open.
pub(super) fn remove(file: impl AsHandle) -> io::Result<()> {
    let flags = u64::from(DO | POSIX | IGNORE_READ_ONLY);
    set(&file, FileDispositionInformationEx, &[flags], 4)
        .or_else(|_| set(&file, FileDispositionInformation, &[DO.into()], 1))
}

/// Gives what is open with the right to delete it another name in a directory.
pub(super) fn rename(
    file: impl AsHandle,
    directory: impl AsHandle,
    to: &OsStr,
    is_replacing: bool,
) -> io::Result<()> {
    // FILE_RENAME_INFORMATION: whether or how to replace, the directory, the name's bytes, the name from byte 20 on.
    let wide = component(to)?;
    let bytes = 20 + wide.len() * 2;
    let mut words = vec![0_u64; bytes.div_ceil(8).max(3)];
    words[1] = directory.as_handle().as_raw_handle().addr() as u64;
    words[2] = wide.len() as u64 * 2;
    for (at, unit) in wide.iter().enumerate() {
        let at = 20 + at * 2;
        words[at / 8] |= u64::from(*unit) << (at % 8 * 8);
    }
    if !is_replacing {
        return set(file, FileRenameInformation, &words, bytes);
    }
    words[0] = u64::from(DO | POSIX);
    set(&file, RENAME_EX, &words, bytes).or_else(|_| {
        words[0] = DO.into();
        set(&file, FileRenameInformation, &words, bytes)
    })
}
