use std::num::NonZeroU64;

use rustix::process::{Signal, getpid, kill_process};

/// SIGKILL, now.
pub(crate) fn kill() {
    let _ = kill_process(getpid(), Signal::KILL);
    loop {
        std::thread::park();
    }
}

/// Stops until somebody lets it go on.
#[cfg(feature = "fault-points")]
pub(crate) fn halt() {
    let _ = kill_process(getpid(), Signal::STOP);
}

/// This thread's short sleeps are not rounded up.
pub(crate) fn be_punctual() {
    // Where the system refuses, rings are a little larger.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1_000));
}
