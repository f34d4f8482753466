//! What the ring core needs of the machine. The same code runs on shared memory, on a heap buffer under Miri,
//! and under loom, which explores every order of its atomic operations.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A 32-bit word that several threads or processes share.
pub trait Word32 {
    /// Reads it.
    fn load(&self, order: Ordering) -> u32;
    /// Writes it.
    fn store(&self, value: u32, order: Ordering);
    /// Adds to it, wrapping, and gives the value before.
    fn fetch_add(&self, value: u32, order: Ordering) -> u32;
}

/// A 64-bit word that several threads or processes share.
pub trait Word64 {
    /// Reads it.
    fn load(&self, order: Ordering) -> u64;
    /// Writes it.
    fn store(&self, value: u64, order: Ordering);
}

/// Atomic words, ring bytes, fences, waiting.
pub trait Platform: Sized + 'static {
    /// A shared 32-bit word.
    type U32: Word32;
    /// A shared 64-bit word.
    type U64: Word64;
    /// Where the bytes of a ring are.
    type Data: Copy;

    /// Orders every access before it before every access after it, between threads.
    fn full_fence();

    /// The same bytes, so that what [`Platform::put`] calls position `lap` is their first one.
    fn at_lap(data: Self::Data, lap: u64) -> Self::Data;

    /// Stores one word of a ring at a position of this lap; a multiple of 8.
    ///
    /// # Safety
    /// `data` was given by [`Platform::at_lap`], the ring has `position - lap + 8` bytes or more, and the caller is its only writer.
    unsafe fn put(data: Self::Data, position: u64, word: u64);

    /// Enters the page at a position of this lap into the page tables, and what the kernel enters around it.
    /// Returns the bytes from there on that need no page fault, at least one.
    ///
    /// # Safety
    /// As for [`Platform::put`], of one byte. The page is backed by memory.
    unsafe fn enter(data: Self::Data, position: u64) -> u64;

    /// Sleeps until `word` is woken, unless it no longer has the value `expected`; at most `timeout_ns`. May return early.
    fn wait(word: &Self::U32, expected: u32, timeout_ns: u64);

    /// Wakes the waiters of `word`.
    fn wake(word: &Self::U32);
}

/// The machine itself: shared memory and futexes.
pub struct Machine;

/// Bytes that one page fault enters: the kernel's `fault_around_bytes`, aligned to itself. It does so for a
/// load; a store enters one page. Entries of a file in memory are writable at once.
const WINDOW: usize = 64 << 10;

impl Word32 for AtomicU32 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u32 {
        AtomicU32::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: u32, order: Ordering) {
        AtomicU32::store(self, value, order)
    }
    #[inline(always)]
    fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        AtomicU32::fetch_add(self, value, order)
    }
}

impl Word64 for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order)
    }
}

impl Platform for Machine {
    type U32 = AtomicU32;
    type U64 = AtomicU64;
    type Data = *mut u8;

    #[inline]
    fn full_fence() {
        fence(Ordering::SeqCst);
    }

    #[inline]
    fn at_lap(data: *mut u8, lap: u64) -> *mut u8 {
        data.wrapping_sub(lap as usize)
    }

    #[inline]
    unsafe fn put(data: *mut u8, position: u64, word: u64) {
        // SAFETY: by the caller, the address is within the ring again; unaligned because a heap buffer need not be aligned to words.
        unsafe { data.wrapping_add(position as usize).cast::<u64>().write_unaligned(word.to_le()) }
    }

    #[inline]
    unsafe fn enter(data: *mut u8, position: u64) -> u64 {
        let at = data.wrapping_add(position as usize);
        // SAFETY: by the caller. Nobody else writes there.
        let _ = unsafe { at.read_volatile() };
        (WINDOW - at.addr() % WINDOW) as u64
    }

    fn wait(word: &AtomicU32, expected: u32, timeout_ns: u64) {
        let timeout = rustix::time::Timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as i64,
            tv_nsec: (timeout_ns % 1_000_000_000) as _,
        };
        // Every result (woken, another value, timeout, signal) leads to another look at the ring.
        let _ = rustix::thread::futex::wait(
            word,
            rustix::thread::futex::Flags::empty(),
            expected,
            Some(&timeout),
        );
    }

    fn wake(word: &AtomicU32) {
        // The waiter may be in another process: not FUTEX_PRIVATE.
        let _ = rustix::thread::futex::wake(word, rustix::thread::futex::Flags::empty(), i32::MAX as u32);
    }
}
