use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use silverpoint_shm::platform::process;

pub use process::is_alive;

/// The processes of a run. Windows does not show the environment of others: those that have a session are known by
/// that alone.
pub struct Processes;

impl Processes {
    /// Of any run.
    pub fn of(_: &Path) -> Self {
        Self
    }

    /// None that has no session is known.
    pub fn is_any_left(&mut self) -> bool {
        false
    }
}

/// The name of a process's executable file, without `.exe`; `None` when it cannot be seen.
pub fn executable_name(pid: u32) -> Option<OsString> {
    let path = process::executable(pid)?;
    let is_exe = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("exe"));
    if is_exe { path.file_stem() } else { path.file_name() }.map(OsString::from)
}

/// A console's Ctrl-C does not reach what this starts.
pub fn leave_alone(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}
