use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// A flag that is set by the signals that end a program.
pub fn flag() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Makes the limit of files' sizes an ordinary error of writing: without a handler, SIGXFSZ would end the program.
pub fn fail_at_size_limit() -> std::io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Lets [`wake`] end sleeps of this process.
pub fn let_wake() -> std::io::Result<()> {
    flag::register(SIGUSR1, Arc::default()).map(drop)
}

/// Ends the sleep of this process's main thread.
pub fn wake() {
    let _ = kill_process(getpid(), Signal::USR1);
}

/// Whether standard input has something, or has ended.
pub fn is_input_ready() -> bool {
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// The signals of a process that waits for its child.
pub struct Guard(Signals);

impl Guard {
    /// Watched from now on.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self(Signals::new([SIGINT, SIGTERM, SIGHUP, SIGCHLD])?))
    }

    /// Waits for the child. When this process is asked to end, the child's standard input ends.
    pub fn wait(&mut self, child: &mut Child) -> std::io::Result<ExitStatus> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            for signal in self.0.wait() {
                if signal != SIGCHLD {
                    drop(child.stdin.take());
                }
            }
        }
    }
}

/// What has killed a child; `None`: it ended by itself.
pub fn killer(status: ExitStatus) -> Option<String> {
    status.code().is_none().then(|| format!("signal {}", status.signal().unwrap_or(0)))
}
