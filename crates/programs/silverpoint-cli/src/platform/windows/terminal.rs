use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle;

/// Columns of the console: none is asked for.
pub fn columns() -> Option<usize> {
    None
}

/// Standard input, as a file of its own.
pub fn input() -> io::Result<File> {
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// A pager of Windows handles interrupts beside this program: nothing is to be done.
pub fn outlive_interrupts() {}

/// Whether the reader of an output has gone. Wine has a code of its own for that.
pub fn is_closed(error: &io::Error) -> bool {
    const PIPE_NOT_CONNECTED: i32 = 233;
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(PIPE_NOT_CONNECTED)
}
