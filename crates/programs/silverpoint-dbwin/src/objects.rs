//! The protocol's objects on Windows.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::ptr;
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_ALREADY_EXISTS, GetLastError, HANDLE, INVALID_HANDLE_VALUE, WAIT_ABANDONED,
    WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingA, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    OpenFileMappingA, PAGE_READWRITE, UnmapViewOfFile,
};
use windows_sys::Win32::System::Threading::{
    CreateEventExA, CreateMutexExA, EVENT_MODIFY_STATE, MUTEX_MODIFY_STATE, PulseEvent, ReleaseMutex,
    SYNCHRONIZATION_SYNCHRONIZE, SetEvent, WaitForSingleObject,
};

use crate::monitor::{BUFFER_BYTES, NOTE_AT, Objects, is_served};

/// How often a monitor must be seen alive, and with what time between: what one that ended has left is used up meanwhile.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Why there is no monitor.
#[derive(Debug)]
pub enum Refused {
    /// Another one takes the messages.
    Taken,
    /// The system.
    Failed(io::Error),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str(
                "another debug monitor takes the output of this session (DBWIN_BUFFER exists): end it first",
            ),
            Self::Failed(error) => write!(f, "the objects of OutputDebugString cannot be made: {error}"),
        }
    }
}

/// A handle that is closed.
struct Handle(HANDLE);

impl Handle {
    fn new(handle: HANDLE) -> io::Result<Self> {
        if handle.is_null() { Err(io::Error::last_os_error()) } else { Ok(Self(handle)) }
    }

    /// Waits at most so long; whether it was signalled, or abandoned.
    fn wait(&self, timeout: Duration) -> io::Result<bool> {
        let ms = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX - 1);
        // SAFETY: the handle is open.
        match unsafe { WaitForSingleObject(self.0, ms) } {
            WAIT_OBJECT_0 | WAIT_ABANDONED => Ok(true),
            WAIT_TIMEOUT => Ok(false),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and unused after this.
        unsafe { CloseHandle(self.0) };
    }
}

/// See the module.
pub struct WindowsObjects {
    mutex: Handle,
    buffer_ready: Handle,
    data_ready: Handle,
    view: MEMORY_MAPPED_VIEW_ADDRESS,
    /// Whose existence tells other monitors of this one.
    _mapping: Handle,
}

// SAFETY: handles and views belong to the process. The mutex, which belongs to a thread, is free between the calls.
unsafe impl Send for WindowsObjects {}

impl WindowsObjects {
    /// Makes them, or takes over those that senders keep of a monitor that has ended.
    ///
    /// # Errors
    /// Another monitor runs, or the system refuses.
    pub fn create() -> Result<Self, Refused> {
        for _ in 0..LOOKS {
            let (mut objects, are_new) = Self::open()?;
            if are_new || !is_served(&mut objects).map_err(Refused::Failed)? {
                // What a text before has left there is of none that comes now.
                objects.remove_note();
                return Ok(objects);
            }
            drop(objects);
            thread::sleep(BETWEEN_LOOKS);
        }
        Err(Refused::Taken)
    }

    /// The objects, and whether there were none.
    fn open() -> Result<(Self, bool), Refused> {
        let (mapping, are_new) = mapping()?;
        // SAFETY: the mapping is open and has so many bytes.
        let view = unsafe { MapViewOfFile(mapping.0, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, BUFFER_BYTES) };
        if view.Value.is_null() {
            return Err(Refused::Failed(io::Error::last_os_error()));
        }
        let objects = Self {
            mutex: mutex(c"DBWinMutex")?,
            buffer_ready: event(c"DBWIN_BUFFER_READY")?,
            data_ready: event(c"DBWIN_DATA_READY")?,
            view,
            _mapping: mapping,
        };
        Ok((objects, are_new))
    }

    fn remove_note(&mut self) {
        for at in NOTE_AT..BUFFER_BYTES {
            // SAFETY: the view has so many bytes, and may be written.
            unsafe { self.view.Value.cast::<u8>().add(at).write_volatile(0) };
        }
    }
}

/// The mapping, and whether it is new.
fn mapping() -> Result<(Handle, bool), Refused> {
    // SAFETY: the name ends with a zero; no file is behind it.
    let (handle, error) = unsafe {
        let name = c"DBWIN_BUFFER".as_ptr().cast();
        let size = BUFFER_BYTES as u32;
        let handle = CreateFileMappingA(INVALID_HANDLE_VALUE, ptr::null(), PAGE_READWRITE, 0, size, name);
        (handle, GetLastError())
    };
    Ok((Handle::new(handle).map_err(Refused::Failed)?, error != ERROR_ALREADY_EXISTS))
}

/// Whether a monitor has made its buffer. Senders keep that of one that has ended until they end.
pub fn is_monitored() -> bool {
    // SAFETY: the name ends with a zero.
    Handle::new(unsafe { OpenFileMappingA(FILE_MAP_READ, 0, c"DBWIN_BUFFER".as_ptr().cast()) }).is_ok()
}

/// Windows's library makes the mutex, and gives others these rights alone.
fn mutex(name: &CStr) -> Result<Handle, Refused> {
    let rights = SYNCHRONIZATION_SYNCHRONIZE | MUTEX_MODIFY_STATE;
    // SAFETY: the name ends with a zero.
    Handle::new(unsafe { CreateMutexExA(ptr::null(), name.as_ptr().cast(), 0, rights) })
        .map_err(Refused::Failed)
}

/// An event that one wait resets.
fn event(name: &CStr) -> Result<Handle, Refused> {
    let rights = SYNCHRONIZATION_SYNCHRONIZE | EVENT_MODIFY_STATE;
    // SAFETY: the name ends with a zero.
    Handle::new(unsafe { CreateEventExA(ptr::null(), name.as_ptr().cast(), 0, rights) })
        .map_err(Refused::Failed)
}

fn done(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Objects for WindowsObjects {
    type Error = io::Error;

    fn wait_for_data(&mut self, timeout: Duration) -> io::Result<bool> {
        self.data_ready.wait(timeout)
    }

    fn copy(&mut self, to: &mut [u8; BUFFER_BYTES]) {
        for (at, byte) in to.iter_mut().enumerate() {
            // SAFETY: the view has so many bytes. Other processes may write them, so each is read once, as volatile.
            *byte = unsafe { self.view.Value.cast::<u8>().add(at).read_volatile() };
        }
        self.remove_note();
    }

    fn set_buffer_ready(&mut self) -> io::Result<()> {
        // SAFETY: the handle is open.
        done(unsafe { SetEvent(self.buffer_ready.0) })
    }

    fn reset_buffer_ready(&mut self, timeout: Duration) -> io::Result<bool> {
        self.buffer_ready.wait(timeout)
    }

    fn pulse_buffer_ready(&mut self) -> io::Result<()> {
        // SAFETY: the handle is open.
        done(unsafe { PulseEvent(self.buffer_ready.0) })
    }

    fn try_lock(&mut self, timeout: Duration) -> io::Result<bool> {
        self.mutex.wait(timeout)
    }

    fn unlock(&mut self) -> io::Result<()> {
        // SAFETY: the handle is open.
        done(unsafe { ReleaseMutex(self.mutex.0) })
    }
}

impl Drop for WindowsObjects {
    fn drop(&mut self) {
        // SAFETY: the view is unused after this.
        unsafe { UnmapViewOfFile(self.view) };
    }
}
