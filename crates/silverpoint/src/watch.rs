//! One thread that sleeps until the directives change: for facades that remember what is off, and would never ask again.

use std::sync::{Mutex, PoisonError};
use std::thread;

use silverpoint_shm::{owner, signal_mask};

/// Whom to tell.
struct Watch {
    /// Process that the thread runs in; 0: none yet. A forked child has no thread.
    process: u32,
    tell: Vec<fn()>,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { process: 0, tell: Vec::new() });

/// Calls `tell` each time that the session's directives have changed, in a thread that sleeps otherwise: one for the whole process, which takes no signals. Whoever changes them from within the process waits
/// until it has returned, for at most a second. The same function
/// is told once, however often it is given; given again in a forked child, the child has such a thread, too. Without a session nothing will ever change.
pub fn on_change(tell: fn()) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    if watch.tell.iter().all(|known| !std::ptr::fn_addr_eq(*known, tell)) {
        watch.tell.push(tell);
    }
    let process = std::process::id();
    if watch.process == process {
        return;
    }
    let Some((follower, seen)) = owner::Follower::start() else { return };
    let builder = thread::Builder::new().name("silverpoint".to_owned()).stack_size(256 << 10);
    // Where there can be no thread, facades keep what they remember.
    if signal_mask::with_all_blocked(|| builder.spawn(move || run(&follower, seen))).is_ok() {
        watch.process = process;
    }
}

fn run(follower: &owner::Follower, mut seen: u32) {
    follower.is_this_thread();
    while let Some(now) = owner::wait_for_change(seen) {
        seen = now;
        let all = WATCH.lock().unwrap_or_else(PoisonError::into_inner).tell.clone();
        all.iter().for_each(|tell| tell());
        follower.has_followed(seen);
    }
}
