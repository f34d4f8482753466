use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Between two looks at a child.
const LOOK: Duration = Duration::from_millis(20);
/// Exit codes from here on are numbers of exceptions.
const EXCEPTIONS: u32 = 0xC000_0000;
/// The exit code of whom the task manager and other programs kill.
const KILLED: u32 = 1;

/// A flag that Ctrl-C sets.
pub fn flag() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// There is no such limit.
pub fn fail_at_size_limit() -> std::io::Result<()> {
    Ok(())
}

/// Sleeps are short.
pub fn let_wake() -> std::io::Result<()> {
    Ok(())
}

/// Sleeps are short.
pub fn wake() {}

/// Not known without waiting.
pub fn is_input_ready() -> bool {
    false
}

/// What ends a process that waits for its child.
pub struct Guard(Arc<AtomicBool>);

impl Guard {
    /// Watched from now on.
    pub fn new() -> std::io::Result<Self> {
        flag().map(Self)
    }

    /// Waits for the child. When this process is asked to end, the child's standard input ends.
    pub fn wait(&mut self, child: &mut Child) -> std::io::Result<ExitStatus> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.0.load(Ordering::Relaxed) {
                drop(child.stdin.take());
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// What has killed a child; `None`: it ended by itself.
pub fn killer(status: ExitStatus) -> Option<String> {
    let code = status.code().map_or(KILLED, |code| code as u32);
    (code >= EXCEPTIONS).then(|| format!("exception {code:#x}"))
}
