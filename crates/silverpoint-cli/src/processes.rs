//! Which processes belong to a run: those that were started with its directory in their environment, and their forks.
//!
//! A session shows that a process traces. A process that has not begun to, a shell that will start one that does, a daemon between two forks, has
//! no session; all of them still carry the environment that `run` gave to the command.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Looking at all processes of a machine takes milliseconds: not more often.
const INTERVAL: Duration = Duration::from_secs(1);
/// Bytes of an environment that are read; the kernel admits no more than 6 MiB by default.
const ENVIRONMENT_MAX: u64 = 8 << 20;

/// Looks for the processes of one run.
pub struct Processes {
    entry: Vec<u8>,
    /// One that was found the last time: most often it is still there.
    known: Option<u32>,
    /// When all were looked at, and whether any was found.
    looked: Option<(Instant, bool)>,
}

impl Processes {
    /// Those with `SILVERPOINT_DIR=root`.
    pub fn of(root: &Path) -> Self {
        let mut entry = b"SILVERPOINT_DIR=".to_vec();
        entry.extend_from_slice(root.as_os_str().as_bytes());
        Self { entry, known: None, looked: None }
    }

    /// Whether any lives, as far as can be seen: another user's processes and those of other process namespaces cannot. Up to a second old.
    pub fn is_any_left(&mut self) -> bool {
        if self.known.is_some_and(|pid| self.belongs(pid)) {
            return true;
        }
        if let Some((at, found)) = self.looked
            && at.elapsed() < INTERVAL
            && self.known.is_none()
        {
            return found;
        }
        self.known = self.search();
        self.looked = Some((Instant::now(), self.known.is_some()));
        self.known.is_some()
    }

    fn search(&self) -> Option<u32> {
        let own = std::process::id();
        let pids = fs::read_dir("/proc").ok()?.flatten();
        let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.find(|pid| *pid != own && self.belongs(*pid))
    }

    fn belongs(&self, pid: u32) -> bool {
        let Ok(file) = File::open(Path::new("/proc").join(pid.to_string()).join("environ")) else {
            return false;
        };
        let mut environment = Vec::new();
        // Empty for a zombie.
        file.take(ENVIRONMENT_MAX).read_to_end(&mut environment).is_ok()
            && environment.split(|byte| *byte == 0).any(|entry| entry == self.entry)
    }
}

/// Whether a process of this id lives and is no zombie: any of its threads, for the first may have ended before the others.
pub fn is_alive(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| {
        let stat = fs::read(thread.path().join("stat")).unwrap_or_default();
        // The state follows the name, which may hold anything but ends with the last parenthesis.
        let state = stat.iter().rposition(|byte| *byte == b')').and_then(|at| stat.get(at + 2));
        !matches!(state, None | Some(b'Z' | b'X'))
    })
}

/// The name of a process's executable file; `None` when it cannot be seen.
pub fn executable_name(pid: u32) -> Option<std::ffi::OsString> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?;
    // So does the kernel mark a file that is gone.
    let name = name.as_bytes().strip_suffix(b" (deleted)").unwrap_or(name.as_bytes());
    Some(OsStr::from_bytes(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_known_by_the_environment_that_it_was_started_with() {
        let root = Path::new("/nowhere/run-of-the-test");
        let start = |value: &str| {
            let mut command = Command::new("sleep");
            command.arg("100").env("SILVERPOINT_DIR", value).stdin(Stdio::null()).spawn().unwrap()
        };
        let mut other = start("/nowhere/run-of-the-test-2");
        assert!(!Processes::of(root).is_any_left());
        let mut own = start("/nowhere/run-of-the-test");
        let mut processes = Processes::of(root);
        // A child that has not executed its program yet has the environment of this test.
        while !processes.belongs(own.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(processes.is_any_left() && is_alive(own.id()));
        assert_eq!(executable_name(own.id()).as_deref(), fs::canonicalize("/bin/sleep").unwrap().file_name());
        own.kill().unwrap();
        own.wait().unwrap();
        assert!(!processes.is_any_left() && !is_alive(own.id()));
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
