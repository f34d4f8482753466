//! One thread that sleeps until the directives change: for facades that remember what is off, and would never ask again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::platform::{owner, signal_mask};

use crate::published::Published;

/// Whom to tell, in a list without a lock.
struct Tell {
    tell: fn(),
    next: Published<Tell>,
}

static TELL: Published<Tell> = Published::new();
/// Process that the thread runs in; 0: none yet. A forked child has no thread.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Calls `tell` each time that the session's directives have changed. It runs in a thread that sleeps
/// otherwise: one for the whole process, which takes no signals. A thread of the process that changes them
/// waits until it has returned, for at most a second. The same function is called once for a change, however
/// often it is registered. Registered again in a forked child, the child has such a thread, too. Without a
/// session nothing will ever change.
pub fn on_change(tell: fn()) {
    let mut place = &TELL;
    while let Some(known) = place.get_or(|| Tell { tell, next: Published::new() }) {
        if std::ptr::fn_addr_eq(known.tell, tell) {
            break;
        }
        place = &known.next;
    }
    let process = owner::process_id();
    let before = PROCESS.swap(process, Ordering::AcqRel);
    if before == process {
        return;
    }
    let builder = thread::Builder::new().name("silverpoint".to_owned()).stack_size(256 << 10);
    let begin = |(follower, seen): (owner::Follower, u32)| {
        signal_mask::with_all_blocked(|| builder.spawn(move || run(&follower, seen))).is_ok()
    };
    // Where there can be no thread, facades keep what they remember.
    if !owner::Follower::start().is_some_and(begin) {
        PROCESS.store(before, Ordering::Release);
    }
}

fn run(follower: &owner::Follower, mut seen: u32) {
    follower.is_this_thread();
    while let Some(now) = owner::wait_for_change(seen) {
        seen = now;
        let mut place = TELL.get();
        while let Some(known) = place {
            (known.tell)();
            place = known.next.get();
        }
        follower.has_followed(seen);
    }
}
