//! Small things asked of the system that a signal handler may ask too: nothing here allocates, locks, or changes `errno`.

use std::ffi::{CStr, c_void};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Puts `errno` back when it is dropped: a tracepoint must not change it, wherever it stands.
pub(crate) struct ErrnoGuard(libc::c_int);

impl ErrnoGuard {
    pub(crate) fn new() -> Self {
        // SAFETY: the C library gives the address of this thread's errno, valid as long as the thread.
        Self(unsafe { *libc::__errno_location() })
    }
}

impl Drop for ErrnoGuard {
    fn drop(&mut self) {
        // SAFETY: as in new; the guard does not leave its thread (it is dropped where it was made).
        unsafe { *libc::__errno_location() = self.0 }
    }
}

/// The value of an environment variable, `None` when it is unset or the program runs with more privileges than its caller
/// (`AT_SECURE`). The bytes stay valid until the variable is changed; callers copy them at once.
pub(crate) fn environment(name: &CStr) -> Option<&'static [u8]> {
    environment_text(name).map(CStr::to_bytes)
}

/// The same with the zero behind it.
pub(crate) fn environment_text(name: &CStr) -> Option<&'static CStr> {
    if is_privileged() {
        return None;
    }
    // SAFETY: name ends with zero; the result is null or a string of the environment that ends with zero.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        if value.is_null() { None } else { Some(CStr::from_ptr(value)) }
    }
}

/// Whether the program runs with more privileges than its caller (set-user-id, file capabilities).
pub(crate) fn is_privileged() -> bool {
    // SAFETY: getauxval reads a vector that the kernel made at exec.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The calling thread's kernel id.
pub(crate) fn thread_id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Whether a thread with that id exists. A reused id counts as existing, even in another process. To ask for
/// this process's threads alone needs the process's id, another call of the kernel each time.
pub(crate) fn thread_exists(tid: u32) -> bool {
    let _errno = ErrnoGuard::new();
    // SAFETY: signal 0 sends nothing; tkill takes two integers.
    let result = unsafe { libc::syscall(libc::SYS_tkill, tid as libc::c_int, 0) };
    // SAFETY: as in ErrnoGuard.
    result == 0 || unsafe { *libc::__errno_location() } != libc::ESRCH
}

/// The calling thread's name, zero-padded to 16 bytes.
pub(crate) fn thread_name() -> [u8; 16] {
    let mut name = [0u8; 16];
    let _errno = ErrnoGuard::new();
    // SAFETY: PR_GET_NAME writes at most 16 bytes, the last of them zero.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr(), 0, 0, 0) };
    name
}

/// Backs the pages of a shared mapping with memory and enters them in the page tables, so that no later store can fail with
/// SIGBUS. `None`: this kernel has no such call (before 5.14); `Some(false)`: there is no room.
///
/// # Safety
/// `at .. at + bytes` lies within one writable mapping and starts at a page.
pub(crate) unsafe fn populate(at: *mut u8, bytes: usize) -> Option<bool> {
    loop {
        // SAFETY: by the caller; the advice changes no content.
        match unsafe {
            rustix::mm::madvise(at.cast::<c_void>(), bytes, rustix::mm::Advice::LinuxPopulateWrite)
        } {
            Ok(()) => return Some(true),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(rustix::io::Errno::INVAL) => return None,
            Err(_) => return Some(false),
        }
    }
}

/// Whether this copy is in the executable itself, not in a shared object that may be unloaded.
pub(crate) fn is_in_executable() -> bool {
    extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> libc::c_int {
        static HERE: u8 = 0;
        let here = &raw const HERE as u64;
        // SAFETY: lent for the time of this call, with as many headers as it says.
        let holds_this = unsafe {
            let info = &*info;
            (0..usize::from(info.dlpi_phnum)).any(|i| {
                let part = &*info.dlpi_phdr.add(i);
                let begin = info.dlpi_addr.wrapping_add(part.p_vaddr);
                part.p_type == libc::PT_LOAD && here >= begin && here - begin < part.p_memsz
            })
        };
        // The executable is the first object; others are not looked at.
        if holds_this { 2 } else { 1 }
    }
    // SAFETY: `look` uses what it is lent only while it is called.
    unsafe { libc::dl_iterate_phdr(Some(look), std::ptr::null_mut()) == 2 }
}

/// Bytes of a page.
pub(crate) fn page_size() -> usize {
    // SAFETY: getauxval reads a vector that the kernel made at exec.
    let size = unsafe { libc::getauxval(libc::AT_PAGESZ) } as usize;
    if size.is_power_of_two() { size } else { 4096 }
}

/// Opens a file below a directory without following a link. The descriptor is never one of the three standard
/// ones: those may be closed, and another thread may write to them at any time.
pub(crate) fn open_at(
    directory: impl AsFd,
    name: &CStr,
    flags: rustix::fs::OFlags,
    mode: rustix::fs::Mode,
) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::OFlags;
    let fd = rustix::fs::openat(
        directory,
        name,
        flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK,
        mode,
    )?;
    if fd.as_raw_fd() > 2 { Ok(fd) } else { rustix::io::fcntl_dupfd_cloexec(&fd, 3) }
}

/// Reads a small file such as those of /proc; gives how much there was (at most the buffer).
pub(crate) fn read_file(name: &CStr, buffer: &mut [u8]) -> usize {
    let Ok(fd) = open_at(rustix::fs::CWD, name, rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()) else {
        return 0;
    };
    let mut len = 0;
    while len < buffer.len() {
        match rustix::io::read(&fd, &mut buffer[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    len
}

/// Says one line on standard error, as one write.
pub(crate) fn warn(parts: &[&[u8]]) {
    let mut line = [0u8; 640];
    let mut len = 0;
    for part in [&[b"silverpoint: ".as_slice()], parts, &[b"\n".as_slice()]].into_iter().flatten() {
        let n = part.len().min(line.len() - len);
        line[len..len + n].copy_from_slice(&part[..n]);
        len += n;
    }
    // SAFETY: descriptor 2 is only borrowed for one write; when it is closed, the write fails and nothing is
    // printed.
    let _ = rustix::io::write(unsafe { BorrowedFd::borrow_raw(2) }, &line[..len]);
}

/// Private memory of some pages, without the allocator: given back when it is dropped. Pages that are never touched cost nothing.
pub struct Pages {
    address: *mut u8,
    bytes: usize,
}

impl Pages {
    /// `len` bytes, zeroed. `None`: there is no memory.
    pub fn new(len: usize) -> Option<Self> {
        use rustix::mm::{MapFlags, ProtFlags};
        let _errno = ErrnoGuard::new();
        let bytes = len.next_multiple_of(page_size());
        // SAFETY: a new private mapping, which nobody else uses.
        let address = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        Some(Self { address: address.ok()?.cast(), bytes })
    }

    /// Where they are.
    pub fn address(&self) -> *mut u8 {
        self.address
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let _errno = ErrnoGuard::new();
        // SAFETY: mapped by `new`, with this many bytes; users of the address do not use it any more.
        let _ = unsafe { rustix::mm::munmap(self.address.cast(), self.bytes) };
    }
}

/// Lends private memory of `len` bytes to a function, without the allocator; `None` when there is none.
pub(crate) fn with_pages<R>(len: usize, f: impl FnOnce(&mut [u8]) -> R) -> Option<R> {
    use rustix::mm::{MapFlags, ProtFlags};
    let bytes = len.next_multiple_of(page_size());
    // SAFETY: a new private mapping, zeroed, used by nobody else, given back after the only use.
    unsafe {
        let address = rustix::mm::mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
        .ok()?;
        let result = f(std::slice::from_raw_parts_mut(address.cast::<u8>(), len));
        let _ = rustix::mm::munmap(address, bytes);
        Some(result)
    }
}
