//! The stack of a thread as program counters, and the modules that they lie in. By async-signal-safe means: nothing is allocated, no lock is taken. (Unwinding is libgcc's, which finds
//! its tables by `_dl_find_object` since glibc 2.35; [`prepare`] has everything loaded.)

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{MaybeUninit, size_of, transmute};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, compiler_fence};

/// Frames that are kept.
pub(crate) const FRAMES: usize = 64;
/// Modules that are kept.
pub(crate) const MODULES: usize = 24;
/// Frames that are counted beyond those that are kept.
const COUNTED: u32 = 100_000;

/// A file that is mapped as code.
#[derive(Clone, Copy)]
pub(crate) struct Module {
    /// Address − base is the address in the file.
    pub(crate) base: u64,
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// Null: the executable.
    path: *const c_char,
    build_id: [u8; 32],
    build_id_len: usize,
}

impl Module {
    const NONE: Self =
        Self { base: 0, begin: 0, end: 0, path: std::ptr::null(), build_id: [0; 32], build_id_len: 0 };

    fn has(&self, address: u64) -> bool {
        (self.begin..self.end).contains(&address)
    }

    pub(crate) fn path(&self) -> &[u8] {
        if !self.path.is_null() {
            // SAFETY: the dynamic linker's name of a module that is mapped; it ends with zero.
            let path = unsafe { CStr::from_ptr(self.path) }.to_bytes();
            if !path.is_empty() {
                return path;
            }
        }
        executable()
    }

    pub(crate) fn build_id(&self) -> &[u8] {
        &self.build_id[..self.build_id_len]
    }
}

/// Innermost first. All zero is an empty one.
pub(crate) struct Stack {
    pub(crate) frames: [u64; FRAMES],
    pub(crate) count: usize,
    pub(crate) missing: u32,
    /// The frame that was asked for has been seen: what is here is outside of the handler.
    pub(crate) has_begun: bool,
    pub(crate) modules: [Module; MODULES],
    pub(crate) module_count: usize,
}

/// Where a signal has interrupted its thread.
#[derive(Clone, Copy, Default)]
pub(crate) struct Interrupted {
    pub(crate) pc: u64,
    pub(crate) stack: u64,
    frame: u64,
    link: u64,
}

impl Interrupted {
    /// # Safety
    /// The context that the kernel gave to a handler.
    pub(crate) unsafe fn of(context: *const c_void) -> Self {
        // SAFETY: by the caller.
        let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
        #[cfg(target_arch = "x86_64")]
        let found = {
            let register = |number: c_int| machine.gregs[number as usize] as u64;
            Self {
                pc: register(libc::REG_RIP),
                stack: register(libc::REG_RSP),
                frame: register(libc::REG_RBP),
                link: 0,
            }
        };
        #[cfg(target_arch = "aarch64")]
        let found =
            Self { pc: machine.pc, stack: machine.sp, frame: machine.regs[29], link: machine.regs[30] };
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let found = {
            let _ = machine;
            Self::default()
        };
        found
    }
}

impl Stack {
    fn clear(&mut self) {
        self.count = 0;
        self.missing = 0;
        self.module_count = 0;
        self.has_begun = false;
    }

    /// The calling thread's stack from the frame with this program counter outwards; all of it when there is none. True: there was.
    pub(crate) fn walk(&mut self, from: Option<u64>) -> bool {
        self.clear();
        let mut walk = Walk { stack: self, from };
        // SAFETY: the callback gets the pointer that is given here, during the call only.
        unsafe { _Unwind_Backtrace(take_frame, std::ptr::from_mut(&mut walk).cast()) };
        self.has_begun
    }

    /// As [`Stack::walk`], of a thread that a signal has interrupted.
    pub(crate) fn walk_interrupted(&mut self, from: &Interrupted) {
        if !self.walk(Some(from.pc)) || self.count < 2 {
            self.guess(from);
        }
    }

    /// Without unwind tables: where the thread was interrupted, and what frame pointers tell. Only what can be read is read, and only addresses of code are taken.
    pub(crate) fn guess(&mut self, from: &Interrupted) {
        self.clear();
        self.has_begun = true;
        self.push(from.pc);
        let mut word = [0; 8];
        if from.link != 0 {
            self.push_code(from.link);
        } else if peek(from.stack, &mut word) {
            self.push_code(u64::from_ne_bytes(word));
        }
        let (mut frame, mut least) = (from.frame, from.stack);
        while frame >= least && frame % 8 == 0 {
            let mut words = [0; 16];
            if !peek(frame, &mut words) {
                return;
            }
            let [next, caller] =
                [0, 8].map(|at| u64::from_ne_bytes(words[at..at + 8].try_into().unwrap_or_default()));
            if !self.push_code(caller) {
                return;
            }
            least = frame.saturating_add(16);
            frame = next;
        }
    }

    fn push(&mut self, address: u64) -> bool {
        let Some(frame) = self.frames.get_mut(self.count) else { return false };
        *frame = address;
        // A fault on the way leaves what was found before.
        compiler_fence(Ordering::SeqCst);
        self.count += 1;
        true
    }

    fn push_code(&mut self, address: u64) -> bool {
        find_module(address).is_some() && self.push(address)
    }

    /// Finds the modules of all frames.
    pub(crate) fn find_modules(&mut self) {
        self.module_count = 0;
        for at in 0..self.count {
            let address = self.frames[at];
            let count = self.module_count;
            if self.modules[..count].iter().any(|module| module.has(address)) || count == MODULES {
                continue;
            }
            if let Some(module) = find_module(address) {
                self.modules[count] = module;
                // Counted first: should what follows fail, the module is there without its build id.
                self.module_count += 1;
                compiler_fence(Ordering::SeqCst);
                find_build_id(&mut self.modules[count]);
            }
        }
    }
}

struct Walk<'a> {
    stack: &'a mut Stack,
    from: Option<u64>,
}

const GO_ON: c_int = 0;
const END: c_int = 5;

unsafe extern "C" {
    // Of libgcc_s or libunwind, which the standard library links.
    fn _Unwind_Backtrace(
        call: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

extern "C" fn take_frame(context: *mut c_void, argument: *mut c_void) -> c_int {
    // SAFETY: the pointer that `walk` has given, whose referent nobody else uses meanwhile; the context is the unwinder's.
    let (walk, pc) = unsafe { (&mut *argument.cast::<Walk<'_>>(), _Unwind_GetIP(context) as u64) };
    let stack = &mut *walk.stack;
    if Some(pc) == walk.from && !stack.has_begun {
        // What lies below is the handler's.
        stack.has_begun = true;
        stack.count = 0;
        stack.missing = 0;
    }
    if pc == 0 && stack.count > 0 {
        return END;
    }
    if !stack.push(pc) {
        stack.missing += 1;
        if stack.missing == COUNTED {
            return END;
        }
    }
    GO_ON
}

/// Copies memory that may not be there; false then.
pub(super) fn peek(from: u64, to: &mut [u8]) -> bool {
    peek_some(from, to) == to.len()
}

/// Copies memory that may not be there, up to the first page that is not; gives how many bytes are.
pub(super) fn peek_some(from: u64, to: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = libc::iovec { iov_base: from as *mut c_void, iov_len: to.len() };
    // SAFETY: the kernel reads what is there and writes into `to` alone.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    usize::try_from(copied).unwrap_or(0)
}

// --- Modules.

/// As in <dlfcn.h>; what is reserved behind is large enough for every machine.
#[repr(C)]
struct Found {
    flags: u64,
    begin: *mut c_void,
    end: *mut c_void,
    link_map: *const LinkMap,
    rest: [u64; 12],
}

/// The public part, as in <link.h>.
#[repr(C)]
struct LinkMap {
    base: u64,
    name: *const c_char,
}

type Find = unsafe extern "C" fn(*mut c_void, *mut Found) -> c_int;

/// `_dl_find_object`, where there is one.
static FIND: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// The executable's path, which the dynamic linker does not name.
static EXECUTABLE: Fixed<[u8; 1024]> = Fixed::new([0; 1024]);
/// Modules as they were when [`prepare`] was called: for systems whose dynamic linker cannot be asked in a signal handler.
static KNOWN: Fixed<[Module; 128]> = Fixed::new([Module::NONE; 128]);

/// Written by the thread that prepares, before it stores the length.
struct Fixed<T> {
    value: std::cell::UnsafeCell<T>,
    len: AtomicUsize,
}
// SAFETY: written under the ownership of the crash state (see `prepare`), read up to `len`, which is stored afterwards.
unsafe impl<T> Sync for Fixed<T> {}

impl<T> Fixed<T> {
    const fn new(value: T) -> Self {
        Self { value: std::cell::UnsafeCell::new(value), len: AtomicUsize::new(0) }
    }
}

fn executable() -> &'static [u8] {
    let len = EXECUTABLE.len.load(Ordering::Acquire);
    // SAFETY: so many bytes were written before `len`.
    unsafe { &(&*EXECUTABLE.value.get())[..len] }
}

/// The module that an address lies in, without its build id.
fn find_module(address: u64) -> Option<Module> {
    let find = FIND.load(Ordering::Acquire);
    if find.is_null() {
        let len = KNOWN.len.load(Ordering::Acquire);
        // SAFETY: so many modules were written before `len`.
        let known = unsafe { &(&*KNOWN.value.get())[..len] };
        return known.iter().find(|module| module.has(address)).copied();
    }
    let mut found =
        Found { flags: 0, begin: null_mut(), end: null_mut(), link_map: std::ptr::null(), rest: [0; 12] };
    // SAFETY: the function of this name has this type, and fills a structure that is smaller than this.
    let map = unsafe {
        let find = transmute::<*mut c_void, Find>(find);
        if find(address as *mut c_void, &mut found) != 0 || found.link_map.is_null() {
            return None;
        }
        &*found.link_map
    };
    Some(Module {
        base: map.base,
        begin: found.begin as u64,
        end: found.end as u64,
        path: map.name,
        ..Module::NONE
    })
}

/// A value of a mapped module. T is a plain structure of the ELF format, of which any bytes are one.
fn read<T: Copy>(module: &Module, at: u64) -> Option<T> {
    let end = at.checked_add(size_of::<T>() as u64)?;
    if at >= module.begin && end <= module.end {
        // SAFETY: within the module's mapping. Should a page of it not be there, the handler of the fault goes on without.
        return Some(unsafe { (at as *const T).read_unaligned() });
    }
    // In another of its segments, as it seems.
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: so many bytes are the value's, and all are written when `peek` says so.
    unsafe {
        let bytes = std::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>());
        peek(at, bytes).then(|| value.assume_init())
    }
}

/// Looks for the build id in the notes of a mapped file.
fn find_build_id(module: &mut Module) {
    // When the segments of a file are not adjacent, the dynamic linker reports only the segment with the
    // address. Such files have a hole of a page, which linkers leave now and then, or are laid out for larger
    // pages than the machine has.
    let is_header = |at: &u64| read::<[u8; 4]>(module, *at) == Some(*b"\x7fELF");
    let Some(begin) = [module.begin, module.base].into_iter().find(is_header) else { return };
    let Some(header) = read::<libc::Elf64_Ehdr>(module, begin) else { return };
    if usize::from(header.e_phentsize) != size_of::<libc::Elf64_Phdr>() {
        return;
    }
    for number in 0..u64::from(header.e_phnum) {
        let at = begin.wrapping_add(header.e_phoff) + number * size_of::<libc::Elf64_Phdr>() as u64;
        let Some(segment) = read::<libc::Elf64_Phdr>(module, at) else { return };
        if segment.p_type != libc::PT_NOTE {
            continue;
        }
        let mut at = module.base.wrapping_add(segment.p_vaddr);
        let end = at.saturating_add(segment.p_memsz);
        while let Some([name, desc, kind]) = read::<[u32; 3]>(module, at).filter(|_| at < end) {
            let name_at = at + 12;
            let desc_at = name_at + u64::from(name).next_multiple_of(4);
            if kind == 3 && name == 4 && read::<[u8; 4]>(module, name_at) == Some(*b"GNU\0") {
                let len = (desc as usize).min(module.build_id.len());
                for n in 0..len {
                    let Some(byte) = read(module, desc_at + n as u64) else { return };
                    module.build_id[n] = byte;
                }
                module.build_id_len = len;
                return;
            }
            at = desc_at + u64::from(desc).next_multiple_of(4);
        }
    }
}

/// Loads and initialises what unwinding needs, and notes what cannot be asked later. Only for the thread that
/// has the crash state.
pub(crate) fn prepare(room: &mut Stack) {
    // SAFETY: the name ends with zero; the call reads links; no other thread writes what is written here.
    unsafe {
        FIND.store(libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()), Ordering::Release);
        let path = EXECUTABLE.value.get().cast::<c_char>();
        let len = libc::readlink(c"/proc/self/exe".as_ptr(), path, 1024);
        EXECUTABLE.len.store(usize::try_from(len).unwrap_or(0), Ordering::Release);
        if FIND.load(Ordering::Relaxed).is_null() {
            KNOWN.len.store(0, Ordering::Release);
            libc::dl_iterate_phdr(Some(note_module), null_mut());
        }
    }
    room.walk(None);
    room.find_modules();
    room.clear();
}

/// # Safety
/// Called by dl_iterate_phdr.
unsafe extern "C" fn note_module(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    let len = KNOWN.len.load(Ordering::Relaxed);
    // SAFETY: the structure is the caller's; of KNOWN only what `len` does not reach is written.
    unsafe {
        let (info, known) = (&*info, &mut *KNOWN.value.get());
        let Some(known) = known.get_mut(len) else { return 1 };
        let mut module =
            Module { base: info.dlpi_addr, begin: u64::MAX, path: info.dlpi_name, ..Module::NONE };
        for number in 0..usize::from(info.dlpi_phnum) {
            let segment = &*info.dlpi_phdr.add(number);
            if segment.p_type == libc::PT_LOAD {
                let begin = info.dlpi_addr + segment.p_vaddr;
                module.begin = module.begin.min(begin);
                module.end = module.end.max(begin + segment.p_memsz);
            }
        }
        if module.begin < module.end {
            *known = module;
            KNOWN.len.store(len + 1, Ordering::Release);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For such a file the dynamic linker reports only the part with the address.
    #[test]
    #[cfg_attr(not(target_arch = "x86_64"), ignore = "an emulator of user space has no process_vm_readv")]
    fn a_file_whose_segments_lie_apart_has_its_build_id() {
        // SAFETY: all zero is an empty stack; the name ends with zero.
        unsafe {
            prepare(&mut Box::<Stack>::new_zeroed().assume_init());
        }
        let address = libc::getpid as *const () as u64;
        let mut whole = find_module(address).unwrap();
        find_build_id(&mut whole);
        assert!(!whole.build_id().is_empty(), "the C library has none");
        let begin = address & !4095;
        let mut part = Module { begin, end: begin + 4096, build_id_len: 0, ..whole };
        find_build_id(&mut part);
        assert_eq!(part.build_id(), whole.build_id());
        // A file that is nowhere has none.
        let mut gone = Module { base: 0, build_id_len: 0, ..part };
        find_build_id(&mut gone);
        assert!(gone.build_id().is_empty());
    }
}
