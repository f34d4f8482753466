use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{chdir, setsid};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;

/// Detaches this process from the terminal, from the command's signals, and from a directory that may have to be
/// unmounted. Gives a flag: a signal has asked this process to end. It obeys only when the run has ended and only
/// processes in the background remain.
pub fn detach() -> std::io::Result<Arc<AtomicBool>> {
    // Fails for the leader of a process group, which is then not in the command's group.
    let _ = setsid();
    let _ = chdir("/");
    let asked = Arc::new(AtomicBool::new(false));
    flag::register(SIGTERM, Arc::clone(&asked))?;
    // Without a handler, SIGXFSZ would kill this process again and again; with one, it is an ordinary write
    // error.
    for signal in [SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGXFSZ] {
        flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(asked)
}

/// Closes standard error, then lets `last` write to standard output, and closes that.
pub fn close_streams(last: impl FnOnce()) {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stderr(&null);
        last();
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}
