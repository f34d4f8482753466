//! Processes and threads, and the start of the machine.

use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_INVALID_PARAMETER, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{
    GetCurrentThreadId, OpenProcess, OpenThread, PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION,
    PROCESS_SYNCHRONIZE, QueryFullProcessImageNameW, THREAD_QUERY_LIMITED_INFORMATION, WaitForSingleObject,
};

/// A process of this id. An error: there is none, or it must not be asked.
fn open(pid: u32, access: u32) -> io::Result<OwnedHandle> {
    // SAFETY: it takes numbers; what it opens is this caller's.
    unsafe {
        let opened = OpenProcess(access, 0, pid);
        if opened.is_null() {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedHandle::from_raw_handle(opened.cast()))
    }
}

/// Whether a process of this id has not ended.
pub fn is_alive(pid: u32) -> bool {
    match open(pid, PROCESS_SYNCHRONIZE) {
        // SAFETY: the handle is open; nothing is waited for.
        Ok(process) => unsafe { WaitForSingleObject(process.as_raw_handle().cast(), 0) != WAIT_OBJECT_0 },
        // Any other error is of one that is there.
        Err(error) => error.raw_os_error() != Some(ERROR_INVALID_PARAMETER as i32),
    }
}

/// The path of a process's executable; `None` when it cannot be seen.
pub fn executable(pid: u32) -> Option<PathBuf> {
    let process = open(pid, PROCESS_QUERY_LIMITED_INFORMATION).ok()?;
    let mut path = vec![0_u16; 32 << 10];
    let mut units = path.len() as u32;
    // SAFETY: there is room for as many units as it says.
    let found = unsafe {
        let handle = process.as_raw_handle().cast();
        QueryFullProcessImageNameW(handle, PROCESS_NAME_WIN32, path.as_mut_ptr(), &raw mut units)
    };
    (found != 0).then(|| OsString::from_wide(&path[..units as usize]).into())
}

/// The calling thread's id.
pub(crate) fn thread_id() -> u32 {
    // SAFETY: it takes nothing.
    unsafe { GetCurrentThreadId() }
}

/// Whether a thread with that id exists.
pub(crate) fn thread_exists(thread: u32) -> bool {
    // SAFETY: it takes numbers; what it opens is closed once.
    let opened = unsafe { OpenThread(THREAD_QUERY_LIMITED_INFORMATION, 0, thread) };
    if opened.is_null() {
        // Any other error is of one that exists.
        return io::Error::last_os_error().raw_os_error() != Some(ERROR_INVALID_PARAMETER as i32);
    }
    // SAFETY: as above.
    unsafe { CloseHandle(opened) };
    true
}

/// Whether a session belongs to this start of the machine. Those have no ids: one whose process lives does.
pub(crate) fn is_of_this_start(id: &[u8; 16], is_alive: impl Fn() -> bool) -> bool {
    *id == [0; 16] && is_alive()
}
