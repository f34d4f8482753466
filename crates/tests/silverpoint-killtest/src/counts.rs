//! How many tracepoints returned, thread by thread: a file that only the victim maps, and that the kernel
//! keeps after any death.
//!
//! Layout: u64 process id, u64 that is 1 when the victim must stop, u64 number of records after which each
//! thread waits (0: none). From byte 64 on each thread has 64 bytes
//! that start with a u64 count. Both victims (C++ and Rust) and the judge use it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memmap2::MmapMut;

/// Most threads of a victim.
pub const THREADS_MAX: usize = 64;
/// Bytes of a thread's part: a cache line, so that counting disturbs nobody.
const PART: usize = 64;
/// Bytes of the file.
pub const SIZE: u64 = ((THREADS_MAX + 1) * PART) as u64;

/// A mapped file of counts.
pub struct Counts(MmapMut);

impl Counts {
    /// Maps the file, which has the right size already.
    pub fn open(path: &Path) -> io::Result<Counts> {
        let file = File::options().read(true).write(true).open(path)?;
        // SAFETY: the file is this test's own; nobody shortens it, and all access is by atomics.
        Ok(Counts(unsafe { MmapMut::map_mut(&file)? }))
    }

    fn word(&self, part: usize) -> &AtomicU64 {
        assert!(part <= THREADS_MAX);
        // SAFETY: the offset is a multiple of 64 within the map, and the word is only ever used as an atomic.
        unsafe { &*self.0.as_ptr().add(part * PART).cast::<AtomicU64>() }
    }

    /// The victim says who it is.
    pub fn set_pid(&self, pid: u32) {
        self.word(0).store(u64::from(pid), Ordering::Release);
    }

    /// The victim's process id; 0 before it began.
    pub fn pid(&self) -> u32 {
        self.word(0).load(Ordering::Acquire) as u32
    }

    /// The test has seen enough.
    pub fn stop(&self) {
        self.stop_word().store(1, Ordering::Release);
    }

    /// Whether the victim's threads must stop.
    pub fn is_stopped(&self) -> bool {
        self.stop_word().load(Ordering::Relaxed) == 1
    }

    fn stop_word(&self) -> &AtomicU64 {
        // SAFETY: the second word of the first part; only ever used as an atomic.
        unsafe { &*self.0.as_ptr().add(8).cast::<AtomicU64>() }
    }

    /// Each thread waits after so many records; 0: none does.
    pub fn set_limit(&self, records: u64) {
        self.limit_word().store(records, Ordering::Release);
    }

    /// Waits while a thread may not record this one, from 1, unless the victim must stop.
    pub fn wait_for(&self, sequence: u64) {
        let is_over = |limit| limit != 0 && sequence > limit;
        while is_over(self.limit_word().load(Ordering::Relaxed)) && !self.is_stopped() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn limit_word(&self) -> &AtomicU64 {
        // SAFETY: the third word of the first part; only ever used as an atomic.
        unsafe { &*self.0.as_ptr().add(16).cast::<AtomicU64>() }
    }

    /// One more tracepoint of this thread returned.
    pub fn add(&self, thread: usize) {
        let word = self.word(thread + 1);
        word.store(word.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Tracepoints of this thread that returned.
    pub fn get(&self, thread: usize) -> u64 {
        self.word(thread + 1).load(Ordering::Acquire)
    }
}

/// The text of a record: a function of thread and sequence number, of varying length.
pub fn text_of(thread: u32, sequence: u64, out: &mut String) {
    use std::fmt::Write;
    out.clear();
    let _ = write!(out, "{thread}/{sequence}/");
    let len = (sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize;
    out.extend(std::iter::repeat_n(char::from(b'a' + (sequence % 26) as u8), len));
}
