//! Ids of async spans and flows: unique within a session, for all threads, copies and languages
//! (spec/wire.md, section 3.1, `ids_next`).
//!
//! A thread takes a block at a time, so that an id costs a few nanoseconds. The next id is taken out while it is used: a signal handler in between finds none,
//! and takes a block of its own.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::session::Session;
use super::{at, local};
use crate::sys::ErrnoGuard;
use crate::{clock, sys};

/// Ids of a block; the first number of each is none.
const BLOCK: u64 = 1024;

thread_local! {
    /// The next id of this thread; 0: none.
    static NEXT: Cell<u64> = const { Cell::new(0) };
    /// The session that it is of, by half of its random name.
    static OF: Cell<u64> = const { Cell::new(0) };
}

/// A number that no other call in this session gives; never 0. A forked child has a session, and numbers, of its own. May be called in a signal handler.
pub fn new_id() -> u64 {
    let mut id = NEXT.replace(0);
    let is_of_session = local::existing().is_some_and(|session| name(session) == OF.get());
    if id == 0 || !is_of_session {
        id = claim();
    }
    if (id + 1) % BLOCK != 0 {
        NEXT.set(id + 1);
    }
    id
}

/// The first id of a block that nobody else has.
#[cold]
fn claim() -> u64 {
    /// Without a session nothing is recorded; ids are unique within this copy all the same.
    static OTHERS: AtomicU64 = AtomicU64::new(1);
    let Some((session, _)) = local::session() else {
        return OTHERS.fetch_add(1, Ordering::Relaxed) * BLOCK - 1;
    };
    OF.set(name(session));
    // SAFETY: the header is always backed.
    let blocks = unsafe { session.control.u64(at::header::IDS_NEXT) };
    blocks.fetch_add(1, Ordering::Relaxed) * BLOCK + 1
}

fn name(session: &Session) -> u64 {
    // SAFETY: the header is always backed.
    unsafe { session.control.u64(at::header::SESSION_ID) }.load(Ordering::Relaxed)
}

/// The calling process's id, at the cost of two loads: a forked child gets its own.
#[inline]
pub fn process_id() -> u32 {
    match local::process() {
        0 => ask_process_id(),
        id => id,
    }
}

#[cold]
#[inline(never)]
fn ask_process_id() -> u32 {
    let ask = || rustix::process::getpid().as_raw_nonzero().get() as u32;
    let Some((_, local)) = local::session() else { return ask() };
    match local.process.load(Ordering::Relaxed) {
        0 => {
            let id = ask();
            local.process.store(id, Ordering::Relaxed);
            id
        }
        id => id,
    }
}

/// Random bytes, from the kernel: for ids that must be unique in the world. Costs a system call. Where the kernel has none, what differs from call to call and from
/// process to process.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let _errno = ErrnoGuard::new();
    let mut bytes = [0; N];
    let got = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::NONBLOCK).unwrap_or(0);
    if got < N {
        let mut state = new_id() ^ clock::monotonic_ns() ^ u64::from(sys::thread_id()) << 40;
        for byte in &mut bytes[got..] {
            // A step of splitmix64.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            *byte = (mixed >> 56) as u8;
        }
    }
    bytes
}
