use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use signal_hook::consts::SIGINT;

/// Columns of the terminal that standard output is.
pub fn columns() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col))
}

/// Standard input, as a file of its own.
pub fn input() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// From now on an interrupt does not end this program.
pub fn outlive_interrupts() {
    let _ = signal_hook::flag::register(SIGINT, Arc::default());
}

/// Whether the reader of an output has gone.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}
