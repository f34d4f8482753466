//! What Windows knows of senders and their texts.

use std::sync::Arc;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE};
use windows_sys::Win32::Globalization::{CP_ACP, MultiByteToWideChar};
use windows_sys::Win32::System::Threading::{
    OpenProcess, PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION, QueryFullProcessImageNameW,
};

/// What a process without a known name is called.
const UNKNOWN: &str = "?";

/// Processes whose names are kept.
const KEPT: usize = 32;

/// An open process. As long as it is open, no other process gets its id.
struct Process(HANDLE);

impl Process {
    fn open(pid: u32) -> Option<Self> {
        // SAFETY: the call takes no pointer.
        let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
        (!process.is_null()).then_some(Self(process))
    }

    /// The name of its program.
    fn name(&self) -> Option<String> {
        let mut path = [0u16; 1024];
        let mut len = path.len() as u32;
        // SAFETY: the process is open; the array has as many units as stated.
        let found =
            unsafe { QueryFullProcessImageNameW(self.0, PROCESS_NAME_WIN32, path.as_mut_ptr(), &mut len) };
        let path = String::from_utf16_lossy(&path[..if found == 0 { 0 } else { len as usize }]);
        path.rsplit('\\').next().filter(|name| !name.is_empty()).map(str::to_owned)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and unused after this.
        unsafe { CloseHandle(self.0) };
    }
}

/// Names of senders. A name is known as long as its process is among the last ones, also after the process's end.
#[derive(Default)]
pub struct Names {
    /// The one that was asked for last is at the end.
    kept: Vec<(u32, Process, Arc<str>)>,
}

impl Names {
    /// The name of a process's program; `?`: there is no such process, or it belongs to somebody else.
    pub fn of(&mut self, pid: u32) -> Arc<str> {
        if let Some(at) = self.kept.iter().position(|(kept, ..)| *kept == pid) {
            self.kept[at..].rotate_left(1);
        } else {
            let Some(process) = Process::open(pid) else { return UNKNOWN.into() };
            let Some(name) = process.name() else { return UNKNOWN.into() };
            if self.kept.len() == KEPT {
                self.kept.remove(0);
            }
            self.kept.push((pid, process, name.into()));
        }
        self.kept.last().map_or_else(|| UNKNOWN.into(), |(.., name)| name.clone())
    }
}

/// A text of the system's code page.
pub fn text(bytes: &[u8]) -> String {
    let Ok(len) = i32::try_from(bytes.len()) else { return String::new() };
    if len == 0 {
        return String::new();
    }
    let mut units = vec![0u16; bytes.len()];
    // SAFETY: both have as many elements as stated.
    let count = unsafe { MultiByteToWideChar(CP_ACP, 0, bytes.as_ptr(), len, units.as_mut_ptr(), len) };
    String::from_utf16_lossy(&units[..usize::try_from(count).unwrap_or(0)])
}
