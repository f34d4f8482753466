//! What Windows knows of senders and their texts.

use windows_sys::Win32::Foundation::{CloseHandle, SYSTEMTIME};
use windows_sys::Win32::Globalization::{CP_ACP, MultiByteToWideChar};
use windows_sys::Win32::System::SystemInformation::{GetLocalTime, GetSystemTime};
use windows_sys::Win32::System::Threading::{
    OpenProcess, PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION, QueryFullProcessImageNameW,
};

/// The name of a process's program; `?`: there is no such process, or it belongs to somebody else.
pub fn name(pid: u32) -> String {
    let mut path = [0u16; 1024];
    let mut len = path.len() as u32;
    // SAFETY: the handle is closed once; the array has as many units as stated.
    let found = unsafe {
        let process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid);
        if process.is_null() {
            return "?".to_owned();
        }
        let found = QueryFullProcessImageNameW(process, PROCESS_NAME_WIN32, path.as_mut_ptr(), &mut len);
        CloseHandle(process);
        found
    };
    let path = String::from_utf16_lossy(&path[..if found == 0 { 0 } else { len as usize }]);
    path.rsplit('\\').next().filter(|name| !name.is_empty()).unwrap_or("?").to_owned()
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

/// When a message came.
pub struct Time {
    utc: SYSTEMTIME,
    local: SYSTEMTIME,
}

impl Time {
    /// Now.
    pub fn now() -> Self {
        // SAFETY: both are plain data that the system fills.
        unsafe {
            let (mut utc, mut local) = (std::mem::zeroed(), std::mem::zeroed());
            GetSystemTime(&mut utc);
            GetLocalTime(&mut local);
            Self { utc, local }
        }
    }

    /// Date and time, by RFC 3339.
    pub fn utc(&self) -> String {
        let date = &self.utc;
        format!("{:04}-{:02}-{:02}T{}Z", date.wYear, date.wMonth, date.wDay, of_day(date))
    }

    /// The time of day where the user is.
    pub fn local(&self) -> String {
        of_day(&self.local)
    }
}

fn of_day(time: &SYSTEMTIME) -> String {
    format!("{:02}:{:02}:{:02}.{:03}", time.wHour, time.wMinute, time.wSecond, time.wMilliseconds)
}
