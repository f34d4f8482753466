//! Making and joining a session (spec/wire.md, sections 2 and 3).
//!
//! A session is made under a hidden name and renamed when it is complete, with the owner lock held. So a
//! session's name always stands for a complete and living session. No descriptor is kept. The lock lives in a
//! mapping ([`lock_owner`]); files are opened again by name in the rare cases that need them.
//!
//! ```text
//!  n = 0, 1, 2 …   <pid>-<start>-n   absent            make it
//!                                    lock is held      this process's own: join it, when its layout suits
//!                                    lock is not held  an image before exec left it: leave it alone
//! ```

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::{Resource, getrlimit};

use super::at;
use super::control::{Layout, Shared, get32, get64, put32, put64};
use super::fork;
use super::identity::{self, Name, ProcessText};
use super::opened::Rings;
use super::settings::Settings;
use crate::clock::{self, Source};
use crate::locks::{self, Lock};
use crate::memory::{self, Limits, SMALL};
use crate::root::{PathText, Root};
use crate::sys;

/// Images of one process id and start time (`exec` keeps both) and sessions whose layout does not suit, at most.
const MAX_N: u64 = 1000;

/// This copy's session.
pub(crate) struct Session {
    pub(crate) control: Shared,
    pub(crate) rings: Rings,
    /// Slabs that may be used while nobody collects.
    pub(crate) uncollected_slabs: u32,
    /// The page that holds the owner lock.
    pub(crate) owner: Shared,
    pub(crate) layout: Layout,
    /// Number of this copy in the session.
    pub(crate) copy: u16,
    pub(crate) source: Source,
    pub(crate) root: PathText,
    pub(crate) name: Name,
}

/// What a new session begins with.
pub(crate) enum Origin<'a> {
    /// Nothing: the process has had no session. The filter is that of the settings.
    Fresh(&'a Settings),
    /// The session of the process that this one was forked from, still mapped. Sites keep their ids and addresses.
    Forked(&'a Session),
}

/// The process's own identity, read once for every attempt.
struct Identity {
    pid: u32,
    start: u64,
    boot_id: [u8; 16],
    pid_ns: u32,
}

/// Joins the process's session, or makes it.
pub(crate) fn join_or_create(origin: &Origin<'_>) -> Result<Session, Errno> {
    let to_errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let root = Root::open_or_create().map_err(to_errno)?;
    let identity = Identity {
        pid: rustix::process::getpid().as_raw_nonzero().get() as u32,
        start: identity::start_time(),
        boot_id: identity::boot_id(),
        pid_ns: identity::pid_namespace(),
    };
    for n in 0..MAX_N {
        let name = Name::of_session(identity.pid, identity.start, n);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        match sys::open_at(root.fd(), name.as_c_str(), flags, Mode::empty()) {
            Ok(directory) => {
                if let Some(session) = join(&root, &directory, name, &identity, origin) {
                    return Ok(session);
                }
            }
            Err(Errno::NOENT) => match create(&root, name, &identity, origin) {
                // Another copy in another thread was first: look at it.
                Err(Errno::EXIST | Errno::NOTEMPTY) => {
                    if let Ok(directory) = sys::open_at(root.fd(), name.as_c_str(), flags, Mode::empty()) {
                        if let Some(session) = join(&root, &directory, name, &identity, origin) {
                            return Ok(session);
                        }
                    }
                }
                other => return other,
            },
            // Something else has that name: never touched.
            Err(_) => {}
        }
    }
    Err(Errno::EXIST)
}

fn join(
    root: &Root,
    directory: &OwnedFd,
    name: Name,
    identity: &Identity,
    origin: &Origin<'_>,
) -> Option<Session> {
    let owner = sys::open_at(directory, c"owner", OFlags::RDWR, Mode::empty()).ok()?;
    if !locks::is_locked_against(owner.as_fd(), 0, Lock::Exclusive).ok()? {
        return None;
    }
    let control = open_regular(directory, c"control")?;
    let rings = open_regular(directory, c"rings")?;
    let mut header = [0u8; at::HEADER_CONSTANT];
    let size = |fd: &OwnedFd| rustix::fs::fstat(fd).map(|stat| stat.st_size as u64).ok();
    if rustix::io::pread(&control, &mut header, 0).ok()? != header.len() {
        return None;
    }
    let layout = Layout::read(&header, size(&control)?, size(&rings)?)?;
    let source = Source::from_wire(get32(&header, at::header::CLOCK_SOURCE))?;
    if get32(&header, at::header::PID) != identity.pid
        || get64(&header, at::header::START_TIME) != identity.start
        || get32(&header, at::header::PID_NS) != identity.pid_ns
        || header[at::header::BOOT_ID..at::header::BOOT_ID + 16] != identity.boot_id
    {
        return None;
    }
    let lock = lock_owner(owner).ok()?;
    let release = || unmap(lock, sys::page_size());
    let Ok(mapped) = map(&control, layout.control_size, null_mut()) else {
        release();
        return None;
    };
    let give_up = || {
        unmap(mapped.address(), layout.control_size as usize);
        release();
    };
    if let Origin::Forked(parent) = origin {
        if !fork::suits(parent, mapped, &layout) {
            give_up();
            return None;
        }
    }
    // 0: its last copy has left, and its directory may be about to go.
    // SAFETY: the header is backed since the session was made.
    let (joined, next) =
        unsafe { (mapped.u32(at::header::COPIES_JOINED), mapped.u32(at::header::COPIES_NEXT)) };
    let entered =
        joined.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| if n == 0 { None } else { Some(n + 1) });
    if entered.is_err() {
        give_up();
        return None;
    }
    let copy = (next.fetch_add(1, Ordering::Relaxed) + 1) as u16;
    let Some((control, rings)) = place(origin, mapped, &control, &rings, &layout) else {
        joined.fetch_sub(1, Ordering::AcqRel);
        give_up();
        return None;
    };
    // SAFETY: the page just mapped.
    let owner = unsafe { Shared::new(lock) };
    Some(Session {
        control,
        rings,
        uncollected_slabs: uncollected_slabs(origin, &layout),
        owner,
        layout,
        copy,
        source,
        root: path_of(root),
        name,
    })
}

fn create(root: &Root, name: Name, identity: &Identity, origin: &Origin<'_>) -> Result<Session, Errno> {
    let mut random = [0u8; 24];
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::NONBLOCK);
    let hidden = Name::of_new(identity.pid, get64(&random, 16));
    rustix::fs::mkdirat(root.fd(), hidden.as_c_str(), Mode::RWXU)?;
    let made = create_files(root, hidden, identity, origin, &random).and_then(|made| {
        // From here on the session is seen, and whole.
        let renamed = rename(root, hidden.as_c_str(), name.as_c_str());
        let placed = renamed.and_then(|()| {
            place(origin, made.mapped, &made.control, &made.rings, &made.layout).ok_or_else(|| {
                remove_directory(root, name.as_c_str());
                Errno::NOMEM
            })
        });
        placed
            .inspect_err(|_| {
                unmap(made.mapped.address(), made.layout.control_size as usize);
                unmap(made.owner, sys::page_size());
            })
            .map(|(control, rings)| Session {
                control,
                rings,
                uncollected_slabs: uncollected_slabs(origin, &made.layout),
                // SAFETY: the page that `create_files` has mapped.
                owner: unsafe { Shared::new(made.owner) },
                layout: made.layout,
                copy: 1,
                source: made.source,
                root: path_of(root),
                name,
            })
    });
    if made.is_err() {
        remove_directory(root, hidden.as_c_str());
    }
    made
}

/// A session's files before they have their name.
struct Made {
    control: OwnedFd,
    rings: OwnedFd,
    mapped: Shared,
    owner: *mut u8,
    layout: Layout,
    source: Source,
}

/// Makes the four files, with the lock held, the control file filled and mapped.
fn create_files(
    root: &Root,
    hidden: Name,
    identity: &Identity,
    origin: &Origin<'_>,
    random: &[u8; 24],
) -> Result<Made, Errno> {
    let directory =
        sys::open_at(root.fd(), hidden.as_c_str(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    let file = |name: &CStr, size: u64| -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let fd = sys::open_at(&directory, name, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::ftruncate(&fd, size)?;
        Ok(fd)
    };
    let mut layout = match origin {
        Origin::Fresh(settings) => Layout::new(ceiling(root, settings)),
        Origin::Forked(parent) => parent.layout,
    };
    if layout.control_size > file_size_limit() {
        return Err(Errno::FBIG); // else the kernel would end the program by SIGXFSZ
    }
    let process = ProcessText::of_this_process();
    if matches!(origin, Origin::Fresh(_)) {
        layout.process_size = process.as_bytes().len() as u32;
    }
    let source = match origin {
        Origin::Fresh(_) => Source::of_this_machine(),
        Origin::Forked(parent) => parent.source,
    };
    let owner = lock_owner(file(c"owner", sys::page_size() as u64)?)?;
    let made = (|| {
        file(c"collector", sys::page_size() as u64)?;
        let rings = file(c"rings", layout.rings_size)?;
        let control = file(c"control", layout.control_size)?;
        let mapped = map(&control, layout.control_size, null_mut())?;
        let made = Made { control, rings, mapped, owner, layout, source };
        if back(&made.control, mapped, 0, layout.head_bytes())
            && fill(&made, identity, origin, random, &process)
        {
            return Ok(made);
        }
        unmap(mapped.address(), layout.control_size as usize);
        Err(Errno::NOSPC)
    })();
    if made.is_err() {
        unmap(owner, sys::page_size());
    }
    made
}

/// Writes the header and what the origin gives. False: no room.
fn fill(
    made: &Made,
    identity: &Identity,
    origin: &Origin<'_>,
    random: &[u8; 24],
    process: &ProcessText,
) -> bool {
    let (control, layout) = (made.mapped, &made.layout);
    let mut header = [0u8; 1024];
    header[..8].copy_from_slice(&at::control::MAGIC);
    header[at::header::VERSION_MAJOR..][..2].copy_from_slice(&at::VERSION_MAJOR.to_le_bytes());
    header[at::header::VERSION_MINOR..][..2].copy_from_slice(&at::VERSION_MINOR.to_le_bytes());
    layout.write(&mut header);
    put32(&mut header, at::header::PID, identity.pid);
    put64(&mut header, at::header::START_TIME, identity.start);
    header[at::header::BOOT_ID..][..16].copy_from_slice(&identity.boot_id);
    put32(&mut header, at::header::UID, rustix::process::geteuid().as_raw());
    put32(&mut header, at::header::PID_NS, identity.pid_ns);
    put64(&mut header, at::header::CREATED_WALL_NS, clock::wall_ns());
    header[at::header::SESSION_ID..][..16].copy_from_slice(&random[..16]);
    put32(&mut header, at::header::CLOCK_SOURCE, made.source as u32);
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get() as u32);
    put32(&mut header, at::header::PARENT_PID, parent);
    put64(&mut header, at::header::TICKS_PER_SECOND, made.source.ticks_per_second());
    put32(&mut header, at::header::COPIES_JOINED, 1);
    put32(&mut header, at::header::COPIES_NEXT, 1);
    let mut flags = 0;
    if let Origin::Fresh(settings) = origin {
        flags |= if settings.collector_expected { at::control::FLAG_EXPECTED } else { 0 };
        flags |= if settings.filter.is_some() { at::control::FLAG_DEMANDED } else { 0 };
        put32(&mut header, at::header::BLOCK_MAX_MS, settings.block_max_ms);
        header[at::header::POLICY..][..settings.policy.len()].copy_from_slice(&settings.policy);
        let filter = settings.filter.unwrap_or(b"");
        let filter = &filter[..filter.len().min(layout.directives_cap as usize)];
        put32(&mut header, at::header::DIRECTIVES_LEN, filter.len() as u32);
        if !filter.is_empty() {
            if !back(&made.control, control, layout.directives_at as usize, filter.len()) {
                return false;
            }
            // SAFETY: within the layout, and backed.
            unsafe { control.write(layout.directives_at as usize, filter) };
        }
        // SAFETY: the process text lies in the backed head of the file.
        unsafe { control.write(layout.process_at as usize, process.as_bytes()) };
    }
    put32(&mut header, at::header::FLAGS, flags);
    // SAFETY: the header is backed.
    unsafe { control.write(0, &header) };
    match origin {
        Origin::Fresh(_) => true,
        Origin::Forked(parent) => {
            fork::copy_control(parent, control, |at, len| back(&made.control, control, at, len))
        }
    }
}

/// Where the files are used: at new addresses, or exactly over those of the parent's session.
fn place(
    origin: &Origin<'_>,
    mapped: Shared,
    control: &OwnedFd,
    rings: &OwnedFd,
    layout: &Layout,
) -> Option<(Shared, Rings)> {
    match origin {
        Origin::Fresh(_) => Some((mapped, Rings::map(rings, layout.rings_size, null_mut()).ok()?)),
        Origin::Forked(parent) => {
            // Rings first: until the control file is the child's own, nothing has been reported to others.
            let over = parent.rings.mapping().address();
            let rings = Rings::map(rings, layout.rings_size, over).ok()?;
            let control = map(control, layout.control_size, parent.control.address()).ok()?;
            unmap(mapped.address(), layout.control_size as usize);
            Some((control, rings))
        }
    }
}

/// Takes the read lock and keeps it without a descriptor: the mapping keeps the open file description. A forked child does not get it.
fn lock_owner(owner: OwnedFd) -> Result<*mut u8, Errno> {
    if !matches!(locks::try_lock(owner.as_fd(), 0, Lock::Shared), Ok(true)) {
        return Err(Errno::AGAIN);
    }
    let page = sys::page_size();
    // SAFETY: a new mapping at an address of the kernel's choice.
    let address =
        unsafe { rustix::mm::mmap(null_mut(), page, ProtFlags::READ, MapFlags::SHARED, &owner, 0)? };
    // SAFETY: the mapping just made.
    if let Err(error) = unsafe { rustix::mm::madvise(address, page, rustix::mm::Advice::LinuxDontFork) } {
        unmap(address.cast(), page);
        return Err(error);
    }
    Ok(address.cast())
}

fn map(fd: &OwnedFd, size: u64, over: *mut u8) -> Result<Shared, Errno> {
    let flags = if over.is_null() { MapFlags::SHARED } else { MapFlags::SHARED | MapFlags::FIXED };
    // SAFETY: either a new mapping, or exactly over one of this size that the session has made itself.
    unsafe {
        let address =
            rustix::mm::mmap(over.cast(), size as usize, ProtFlags::READ | ProtFlags::WRITE, flags, fd, 0)?;
        Ok(Shared::new(address.cast()))
    }
}

pub(crate) fn unmap(address: *mut u8, size: usize) {
    // SAFETY: called with mappings that the session made and that are not used any more.
    let _ = unsafe { rustix::mm::munmap(address.cast(), size) };
}

/// Backs bytes of a mapped file with memory, whole pages around them.
pub(crate) fn back(fd: &OwnedFd, mapping: Shared, at: usize, len: usize) -> bool {
    let page = sys::page_size();
    let start = at / page * page;
    let bytes = (at + len).next_multiple_of(page) - start;
    // SAFETY: callers ask for bytes within the mapping, whose length is a multiple of pages as far as it is used.
    match unsafe { sys::populate(mapping.address().add(start), bytes) } {
        Some(backed) => backed,
        None => {
            rustix::fs::fallocate(fd, rustix::fs::FallocateFlags::empty(), start as u64, bytes as u64).is_ok()
        }
    }
}

impl Session {
    /// Whether somebody collects, or is expected to.
    pub(crate) fn is_collected(&self) -> bool {
        // SAFETY: the header is always backed.
        unsafe {
            self.control.u32(at::header::COLLECTOR_PID).load(Ordering::Relaxed) != 0
                || self.control.u32(at::header::FLAGS).load(Ordering::Relaxed) & at::control::FLAG_EXPECTED
                    != 0
        }
    }

    /// Backs bytes of the control file; opens it again where the kernel cannot do it through the mapping.
    pub(crate) fn back_control(&self, at: usize, len: usize) -> bool {
        self.back_by_name(self.control, c"control", at, len)
    }

    /// Backs bytes of the ring file.
    pub(crate) fn back_rings(&self, at: usize, len: usize) -> bool {
        self.back_by_name(self.rings.mapping(), c"rings", at, len)
    }

    /// Backs `len` bytes of the ring file at once; all up to `most`, where the kernel cannot do so quickly.
    /// Returns how many.
    pub(crate) fn back_some_of_rings(&self, at: usize, len: usize, most: usize) -> usize {
        match populate(self.rings.mapping(), at, len) {
            Some(true) => len,
            Some(false) => 0,
            None if self.allocate(c"rings", at, most) => most,
            None => 0,
        }
    }

    fn back_by_name(&self, mapping: Shared, name: &CStr, at: usize, len: usize) -> bool {
        populate(mapping, at, len).unwrap_or_else(|| self.allocate(name, at, len))
    }

    fn allocate(&self, name: &CStr, at: usize, len: usize) -> bool {
        let (start, bytes) = pages(at, len);
        let Ok(directory) = self.open_directory() else { return false };
        let Ok(fd) = sys::open_at(&directory, name, OFlags::RDWR, Mode::empty()) else { return false };
        rustix::fs::fallocate(&fd, rustix::fs::FallocateFlags::empty(), start as u64, bytes as u64).is_ok()
    }

    fn open_root(&self) -> Result<Root, Errno> {
        Root::open_directory(self.root.as_path())
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    fn open_directory(&self) -> Result<OwnedFd, Errno> {
        let root = self.open_root()?;
        sys::open_at(root.fd(), self.name.as_c_str(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    }

    /// Gives back what is mapped.
    ///
    /// # Safety
    /// The session, its state bytes and its rings are not used by this copy any more.
    pub(crate) unsafe fn unmap(&self) {
        // SAFETY: by the caller.
        unsafe { self.rings.unmap() };
        unmap(self.control.address(), self.layout.control_size as usize);
        unmap(self.owner.address(), sys::page_size());
    }

    /// Removes the session's directory; what is mapped stays usable.
    pub(crate) fn remove(&self) {
        if let Ok(root) = self.open_root() {
            remove_directory(&root, self.name.as_c_str());
        }
    }
}

/// Offset and bytes of the pages of so many bytes.
fn pages(at: usize, len: usize) -> (usize, usize) {
    let page = sys::page_size();
    let start = at / page * page;
    (start, (at + len).next_multiple_of(page) - start)
}

/// See [`sys::populate`].
fn populate(mapping: Shared, at: usize, len: usize) -> Option<bool> {
    let (start, bytes) = pages(at, len);
    // SAFETY: callers ask for bytes within the mapping.
    unsafe { sys::populate(mapping.address().add(start), bytes) }
}

/// Removes a session's files and its directory, nothing else that somebody may have put there.
pub(crate) fn remove_directory(root: &Root, name: &CStr) {
    if let Ok(directory) = sys::open_at(root.fd(), name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()) {
        // The lock files last: as long as they are there, others see that the session is taken.
        for file in [c"control", c"rings", c"collector", c"owner"] {
            let _ = rustix::fs::unlinkat(&directory, file, AtFlags::empty());
        }
        let _ = rustix::fs::unlinkat(root.fd(), name, AtFlags::REMOVEDIR);
    }
}

fn rename(root: &Root, from: &CStr, to: &CStr) -> Result<(), Errno> {
    match rustix::fs::renameat_with(root.fd(), from, root.fd(), to, RenameFlags::NOREPLACE) {
        // Without the flag the kernel refuses a directory that is not empty, which every session's is.
        Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::renameat(root.fd(), from, root.fd(), to),
        result => result,
    }
}

/// A session's file: regular, the user's own, with one link.
fn open_regular(directory: &OwnedFd, name: &CStr) -> Option<OwnedFd> {
    let fd = sys::open_at(directory, name, OFlags::RDWR, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&fd).ok()?;
    let regular = stat.st_mode & libc::S_IFMT == libc::S_IFREG;
    (regular && stat.st_nlink == 1 && stat.st_uid == rustix::process::geteuid().as_raw()).then_some(fd)
}

fn path_of(root: &Root) -> PathText {
    use std::os::unix::ffi::OsStrExt;
    PathText::join(&[root.path().as_os_str().as_bytes()]).unwrap_or(PathText::EMPTY)
}

/// Largest use of the ring file: what is asked for, or the default.
fn ceiling(root: &Root, settings: &Settings) -> u64 {
    let wanted = settings.memory.unwrap_or_else(|| limits(root).default_memory());
    memory::of_session(wanted, Some(file_size_limit()))
}

fn limits(root: &Root) -> Limits {
    Limits {
        memory: memory_limit(),
        room: rustix::fs::fstatvfs(root.fd())
            .map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize)),
        addresses: getrlimit(Resource::As).current,
        locked: getrlimit(Resource::Memlock).current,
    }
}

/// Slabs that may be used while nobody collects. A history of threads that have ended is kept as long as there
/// are unused slabs. By default that takes no more than a session may on any machine.
fn uncollected_slabs(origin: &Origin<'_>, layout: &Layout) -> u32 {
    match origin {
        Origin::Forked(parent) => parent.uncollected_slabs,
        Origin::Fresh(settings) if settings.memory.is_some() => layout.slab_count,
        Origin::Fresh(_) => layout.slab_count.min(SMALL as u32 / layout.slab_bytes),
    }
}

/// The machine's memory, or what the control group admits.
fn memory_limit() -> u64 {
    let info = rustix::system::sysinfo();
    let total = (info.totalram as u64).saturating_mul(u64::from(info.mem_unit));
    let mut buffer = [0u8; 32];
    let len = sys::read_file(c"/sys/fs/cgroup/memory.max", &mut buffer);
    let group = std::str::from_utf8(&buffer[..len]).ok().and_then(|text| text.trim().parse().ok());
    total.min(group.unwrap_or(u64::MAX))
}

fn file_size_limit() -> u64 {
    getrlimit(Resource::Fsize).current.unwrap_or(u64::MAX)
}
