//! Stacks for handlers, so that one can run when a thread's own stack is used up.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::sys::{self, ErrnoGuard};

/// Threads that can have one.
const STACKS: usize = 4096;
/// Bytes of a stack, beside what the kernel puts there.
pub(crate) const BYTES: usize = 64 << 10;

struct Entry {
    /// Process << 32 | thread; 0: nobody yet.
    owner: AtomicU64,
    memory: AtomicPtr<u8>,
}

static ENTRIES: [Entry; STACKS] =
    [const { Entry { owner: AtomicU64::new(0), memory: AtomicPtr::new(null_mut()) } }; STACKS];
static USED: AtomicU32 = AtomicU32::new(0);

/// Gives the calling thread a stack for handlers, unless it has one that is large enough.
pub(crate) fn give() {
    let _errno = ErrnoGuard::new();
    // SAFETY: zero is a valid stack_t, which the call fills.
    let now = unsafe {
        let mut now: libc::stack_t = std::mem::zeroed();
        if libc::sigaltstack(std::ptr::null(), &mut now) != 0 {
            return;
        }
        now
    };
    let has_enough = now.ss_flags & libc::SS_DISABLE == 0 && now.ss_size >= BYTES / 2;
    if now.ss_flags & libc::SS_ONSTACK != 0 || has_enough {
        return;
    }
    let Some(entry) = claim() else { return };
    // SAFETY: getauxval reads a vector that the kernel made at exec.
    let extra = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    // What the kernel puts there grows with the processor's registers.
    let size = BYTES + extra.next_multiple_of(4096);
    let mut memory = entry.memory.load(Ordering::Acquire);
    if memory.is_null() {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a new mapping, whose first page guards the others; it is never unmapped.
        unsafe {
            let made = libc::mmap(null_mut(), size + 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if made == libc::MAP_FAILED {
                return;
            }
            libc::mprotect(made, 4096, libc::PROT_NONE);
            memory = made.cast::<u8>().add(4096);
        }
        entry.memory.store(memory, Ordering::Release);
    }
    let given = libc::stack_t { ss_sp: memory.cast(), ss_flags: 0, ss_size: size };
    // SAFETY: the memory is this thread's alone as long as it lives.
    unsafe { libc::sigaltstack(&given, null_mut()) };
}

/// An entry of a thread that is gone, or a new one.
fn claim() -> Option<&'static Entry> {
    static CURSOR: AtomicU32 = AtomicU32::new(0);
    let process = u64::from(rustix::process::getpid().as_raw_nonzero().get() as u32);
    let own = process << 32 | u64::from(sys::thread_id());
    let used = USED.load(Ordering::Acquire).min(STACKS as u32);
    for _ in 0..used.min(8) {
        let entry = &ENTRIES[(CURSOR.fetch_add(1, Ordering::Relaxed) % used) as usize];
        let owner = entry.owner.load(Ordering::Acquire);
        // That of a parent may be in use here: by the thread that forked.
        if owner >> 32 != process || entry.memory.load(Ordering::Acquire).is_null() {
            continue;
        }
        let is_free = owner == own || !sys::thread_exists(owner as u32);
        if is_free && entry.owner.compare_exchange(owner, own, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(entry);
        }
    }
    let number = USED.fetch_add(1, Ordering::AcqRel);
    let Some(entry) = ENTRIES.get(number as usize) else {
        USED.store(STACKS as u32, Ordering::Relaxed);
        return None;
    };
    entry.owner.store(own, Ordering::Release);
    Some(entry)
}
