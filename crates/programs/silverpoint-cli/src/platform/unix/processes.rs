//! Which processes belong to a run: those that were started with its directory in their environment, and their forks.
//!
//! A session shows that a process traces. A process of the run may have none. It has not begun to trace, or
//! is a shell that will start one, or a daemon between two forks. All of them carry the environment that
//! `run` gave to the command.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;

/// Examining all processes of a machine takes milliseconds: not more often.
const INTERVAL: Duration = Duration::from_secs(1);
/// Bytes of an environment that are read; the kernel admits no more than 6 MiB by default.
const ENVIRONMENT_MAX: u64 = 8 << 20;
/// How long to wait for a process that is executing a program. Reading one from a slow disk takes long.
const EXECUTION_MAX: Duration = Duration::from_secs(2);
/// The same for a process whose environment is empty according to the kernel, as it is for a moment of each
/// execution.
const LAYING_OUT_MAX: Duration = Duration::from_millis(10);
/// Most lists of all processes that one search reads, when new processes keep appearing.
const LISTS_MAX: usize = 100;
/// Pause between two checks of it.
const EXECUTION_PAUSE: Duration = Duration::from_micros(200);
/// The kernel's marks of a thread past its last instruction, and of one of its own (`PF_EXITING`, `PF_KTHREAD`).
const EXITING: u64 = 4;
const OF_KERNEL: u64 = 0x0020_0000;

/// Looks for the processes of one run.
pub struct Processes {
    entry: Vec<u8>,
    /// The one found last: most often it still lives.
    known: Option<u32>,
    /// When all were examined, and whether any was found.
    looked: Option<(Instant, bool)>,
}

impl Processes {
    /// Those with `SILVERPOINT_DIR=root`.
    pub fn of(root: &Path) -> Self {
        let mut entry = b"SILVERPOINT_DIR=".to_vec();
        entry.extend_from_slice(root.as_os_str().as_bytes());
        Self { entry, known: None, looked: None }
    }

    /// Whether any lives, as far as is visible: processes of other users and of other process namespaces are
    /// not. Up to a second old.
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

    /// A process that has just ended may have started another one since the list was read. So the search goes
    /// on until a list has no new process.
    fn search(&self) -> Option<u32> {
        let mut seen = HashSet::from([std::process::id()]);
        for _ in 0..LISTS_MAX {
            let pids = fs::read_dir("/proc").ok()?.flatten();
            let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            // The whole list, before any process is examined.
            let new: Vec<u32> = pids.filter(|pid| seen.insert(*pid)).collect();
            if new.is_empty() {
                return None;
            }
            if let Some(found) = new.into_iter().find(|pid| self.belongs(*pid)) {
                return Some(found);
            }
        }
        None
    }

    fn belongs(&self, pid: u32) -> bool {
        let process = Path::new("/proc").join(pid.to_string());
        match self.is_in_environment(&process) {
            Look::Found => true,
            Look::Other => false,
            // The first thread has ended, and others may go on.
            Look::Empty => fs::read_dir(process.join("task")).is_ok_and(|threads| {
                threads.flatten().any(|thread| self.is_in_environment(&thread.path()) == Look::Found)
            }),
        }
    }

    /// Examines the environment of a thread. A process that is executing a program at this moment shows none:
    /// it is waited for.
    fn is_in_environment(&self, thread: &Path) -> Look {
        let begun = Instant::now();
        loop {
            match self.look(thread) {
                // No memory: a thread that has ended.
                Ok(Look::Empty) | Err(Some(Errno::SRCH)) => {}
                Ok(look) => return look,
                Err(_) => return Look::Other,
            }
            let patience = match environment_bytes(thread) {
                None => return Look::Empty,
                Some(0) => LAYING_OUT_MAX,
                Some(_) => EXECUTION_MAX,
            };
            if begun.elapsed() >= patience {
                return Look::Empty;
            }
            std::thread::sleep(EXECUTION_PAUSE);
        }
    }

    /// One check.
    fn look(&self, thread: &Path) -> Result<Look, Option<Errno>> {
        let mut environment = Vec::new();
        let errno = |error: std::io::Error| Errno::from_io_error(&error);
        let mut file = File::open(thread.join("environ")).map_err(errno)?;
        (&mut file).take(ENVIRONMENT_MAX).read_to_end(&mut environment).map_err(errno)?;
        if environment.split(|byte| *byte == 0).any(|entry| entry == self.entry) {
            return Ok(Look::Found);
        }
        // The file belongs to the program that ran when it was opened, and ends with it. While its beginning
        // can be read, it was whole.
        let is_whole = !environment.is_empty() && file.read_at(&mut [0], 0).map_err(errno)? == 1;
        Ok(if is_whole { Look::Other } else { Look::Empty })
    }
}

/// What the environment of a thread shows.
#[derive(Debug, PartialEq, Eq)]
enum Look {
    Found,
    /// That of another run or of none, or one that is not visible.
    Other,
    /// None: of a thread that has ended, of the kernel, or of a program without any.
    Empty,
}

/// The size of a thread's environment according to the kernel. It is not zero while the kernel still prepares
/// the memory of a program. `None` for a thread without a program: one that is ending, or one of the kernel.
fn environment_bytes(thread: &Path) -> Option<u64> {
    let stat = fs::read_to_string(thread.join("stat")).ok()?;
    // proc(5): behind the name the state, which is field 3; flags are field 9, the environment's begin and end fields 50 and 51.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let flags: u64 = fields.nth(5)?.parse().ok()?;
    if matches!(state, "Z" | "X" | "x") || flags & (EXITING | OF_KERNEL) != 0 {
        return None;
    }
    let begin: u64 = fields.nth(40)?.parse().ok()?;
    let end: u64 = fields.next()?.parse().ok()?;
    if end == 0 { Some(u64::MAX) } else { Some(end.saturating_sub(begin)) }
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

/// Nothing: what this starts leaves the terminal by itself.
pub fn leave_alone(_: &mut std::process::Command) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Roots in it are those of one test: other runs of it may be looked at meanwhile.
    fn folder() -> tempfile::TempDir {
        tempfile::TempDir::with_prefix("silverpoint-processes-").unwrap()
    }

    #[test]
    fn a_process_is_known_by_the_environment_that_it_was_started_with() {
        let folder = folder();
        let root = &folder.path().join("run-of-the-test");
        let start = |value: &Path| {
            let mut command = Command::new("sleep");
            command.arg("100").env("SILVERPOINT_DIR", value).stdin(Stdio::null()).spawn().unwrap()
        };
        let mut other = start(&root.with_file_name("run-of-the-test-2"));
        assert!(!Processes::of(root).is_any_left());
        let mut own = start(root);
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
    /// Between two programs it has no environment, and was taken for gone: what it went on to record was collected by nobody.
    #[test]
    fn a_process_that_executes_programs_is_seen_all_the_while() {
        let folder = folder();
        let root = &folder.path().join("run-of-the-executing");
        let again = r#"[ "$1" = 0 ] || exec sh -c "$0" "$0" $(($1 - 1))"#;
        let mut command = Command::new("sh");
        command.args(["-c", again, again, "1000"]).env("SILVERPOINT_DIR", root).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let processes = Processes::of(root);
        while !processes.belongs(child.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let process = Path::new("/proc").join(child.id().to_string());
        let mut looks = 0;
        while is_alive(child.id()) {
            let is_seen = processes.belongs(child.id());
            // The last look may meet its end.
            assert!(is_seen || environment_bytes(&process).is_none(), "not seen at look {looks}");
            looks += 1;
        }
        assert!(looks > 20, "{looks}");
        child.wait().unwrap();
    }

    /// Each lives only for a moment, as a daemon's parents do. One may end after the list of processes was
    /// read, and its child is not in that list.
    #[test]
    fn a_process_that_hands_on_to_its_children_is_seen_all_the_while() {
        let folder = folder();
        let root = &folder.path().join("run-of-the-heirs");
        let ended = folder.path().join("ended");
        let heir = r#"[ "$1" = 0 ] && exec touch "$2"; sh -c "$0" "$0" $(($1 - 1)) "$2" & exit 0"#;
        let mut command = Command::new("sh");
        command.args(["-c", heir, heir, "300"]).arg(&ended).env("SILVERPOINT_DIR", root);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let processes = Processes::of(root);
        while !processes.belongs(child.id()) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut looks = 0;
        while !ended.exists() {
            let is_seen = processes.search().is_some();
            // The last one may have ended since.
            assert!(is_seen || ended.exists(), "not seen at look {looks}");
            looks += 1;
        }
        assert!(looks > 20, "{looks}");
        child.wait().unwrap();
    }

    /// As a program does that leaves its work to other threads.
    #[test]
    fn a_process_whose_first_thread_has_ended_is_seen() {
        let folder = folder();
        let root = &folder.path().join("run-of-the-rest");
        let script = "import ctypes, platform, threading, time\n\
            threading.Thread(target=time.sleep, args=(100,)).start()\n\
            ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)";
        let mut command = Command::new("python3");
        command.args(["-c", script]).env("SILVERPOINT_DIR", root).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let environ = format!("/proc/{}/environ", child.id());
        // The ended one shows nothing.
        while fs::read(&environ).unwrap_or_default() != b""
            || environment_bytes(Path::new(&format!("/proc/{}", child.id()))).is_some()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(Processes::of(root).belongs(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!Processes::of(root).belongs(child.id()));
    }
}
