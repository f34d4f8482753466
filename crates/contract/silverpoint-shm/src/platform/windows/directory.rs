//! Listing a directory by its handle.

use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};

use windows_sys::Win32::Foundation::{ERROR_NO_MORE_FILES, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{
    FileIdBothDirectoryInfo, FileIdBothDirectoryRestartInfo, GetFileInformationByHandleEx,
};

use super::nt;

/// Words of 8 bytes that are asked for at a time.
const WORDS: usize = 1024;
/// Where FILE_ID_BOTH_DIR_INFO has the bytes of the name, the number of the file, and the name.
const NAME_BYTES: usize = 60;
const NUMBER: usize = 96;
const NAME: usize = 104;

/// Names, with the numbers of what has them.
pub(super) struct Names {
    directory: OwnedHandle,
    words: Box<[u64; WORDS]>,
    /// Where the next entry is; `None`: more is to be asked for.
    next: Option<usize>,
    has_begun: bool,
    is_over: bool,
}

impl Names {
    pub(super) fn new(directory: impl AsHandle) -> io::Result<Self> {
        // (Wine would list again what a handle has listed once.)
        let directory = nt::open_again(directory)?;
        Ok(Self { directory, words: Box::new([0; WORDS]), next: None, has_begun: false, is_over: false })
    }

    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        for (offset, byte) in bytes.iter_mut().enumerate() {
            let at = at + offset;
            *byte = self.words.get(at / 8)?.to_le_bytes()[at % 8];
        }
        Some(bytes)
    }

    fn ask(&mut self) -> io::Result<bool> {
        let class = if self.has_begun { FileIdBothDirectoryInfo } else { FileIdBothDirectoryRestartInfo };
        self.has_begun = true;
        let handle = self.directory.as_raw_handle() as HANDLE;
        // SAFETY: there is room for as many bytes as it says.
        let done = unsafe {
            GetFileInformationByHandleEx(handle, class, self.words.as_mut_ptr().cast(), (WORDS * 8) as u32)
        };
        if done != 0 {
            self.next = Some(0);
            return Ok(true);
        }
        match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(ERROR_NO_MORE_FILES as i32) => Ok(false),
            error => Err(error),
        }
    }

    /// The entry at an offset. `None`: it contradicts itself.
    fn entry(&mut self, at: usize) -> Option<(OsString, u64)> {
        let to_next = u32::from_le_bytes(self.bytes(at)?) as usize;
        let units = u32::from_le_bytes(self.bytes(at + NAME_BYTES)?) as usize / 2;
        let number = u64::from_le_bytes(self.bytes(at + NUMBER)?);
        let name: Option<Vec<u16>> =
            (0..units).map(|unit| self.bytes(at + NAME + 2 * unit).map(u16::from_le_bytes)).collect();
        self.next = (to_next > 0).then_some(at + to_next);
        Some((OsString::from_wide(&name?), number))
    }
}

impl Iterator for Names {
    type Item = io::Result<(OsString, u64)>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            let Some(at) = self.next.take() else {
                match self.ask() {
                    Ok(true) => continue,
                    Ok(false) => self.is_over = true,
                    Err(error) => {
                        self.is_over = true;
                        return Some(Err(error));
                    }
                }
                continue;
            };
            match self.entry(at) {
                Some((name, _)) if name == "." || name == ".." => {}
                Some(found) => return Some(Ok(found)),
                None => self.is_over = true,
            }
        }
        None
    }
}
