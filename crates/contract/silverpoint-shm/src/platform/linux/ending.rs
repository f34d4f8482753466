//! Processes that are ending: they look dead, and still hold locks.
//!
//! A process releases its locks one after the other, thread by thread, after its children have seen it end. A
//! process that continues its work has to wait for that end. The usual cases are a daemon's child, and a
//! program that is killed and started again at once.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::Signal;

/// Longest wait for an end. Releasing a large memory takes long, writing a core may take for ever.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval between two checks.
const PAUSE: Duration = Duration::from_millis(1);
/// The kernel's marks of a thread that is past its last instruction, among the flags that /proc shows.
/// `PF_EXITING`; and `PF_SIGNALED`, which a signal's victim has earlier, also while it writes its core.
const EXITING: u64 = 0x4 | 0x400;
/// Of the signals that wait, the one that ends: an exit of the process sends it to all other threads.
const KILL: u64 = 1 << (Signal::KILL.as_raw() - 1);

/// Whether a process has ended, or ends within two seconds if it is ending: its locks are free then. False at
/// once for one that lives.
///
/// True also for a process that ended before the call: who saw its locks before asks for them again.
pub fn await_end(pid: u32, start: u64) -> bool {
    let until = Instant::now() + PATIENCE;
    let process = Path::new("/proc").join(pid.to_string());
    loop {
        match phase(&process, start) {
            Phase::Living => return false,
            Phase::Ended => return true,
            Phase::Ending if Instant::now() >= until => return false,
            Phase::Ending => std::thread::sleep(PAUSE),
        }
    }
}

/// When this process was started, in the kernel's ticks: process ids are reused.
pub fn started() -> Option<u64> {
    Stat::read(Path::new("/proc/self")).map(|stat| stat.start)
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// A thread of it goes on. Also what cannot be read.
    Living,
    /// No thread of it goes on, and not all have ended.
    Ending,
    /// It is not there, or all its threads have ended.
    Ended,
}

fn phase(process: &Path, start: u64) -> Phase {
    match read(&process.join("stat")) {
        Ok(line) if Stat::parse(&line).is_some_and(|stat| stat.start == start) => {}
        // Another process has its number.
        Ok(line) if Stat::parse(&line).is_some() => return Phase::Ended,
        Err(error) if is_gone(&error) => return Phase::Ended,
        _ => return Phase::Living,
    }
    let threads = match fs::read_dir(process.join("task")) {
        Ok(threads) => threads,
        Err(error) if is_gone(&error) => return Phase::Ended,
        Err(_) => return Phase::Living,
    };
    let mut all = Phase::Ended;
    for thread in threads.flatten() {
        // Before the flags: a thread takes the signal from those that wait for it, and has its mark then. Read
        // in the other order, it would show neither.
        let is_killed = is_killed(&thread.path());
        // One that is gone meanwhile has ended.
        let Some(stat) = Stat::read(&thread.path()) else { continue };
        if stat.has_ended {
            continue;
        }
        if !stat.is_exiting && !is_killed {
            return Phase::Living;
        }
        all = Phase::Ending;
    }
    all
}

/// A file of /proc. It holds the name of the process or thread, which need not be UTF-8: the kernel cuts it after 15 bytes.
fn read(path: &Path) -> io::Result<String> {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// What the kernel answers for a process that is not there, or that went while its file was open.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

/// What the kernel tells of a process or thread in one line.
struct Stat {
    has_ended: bool,
    is_exiting: bool,
    start: u64,
}

impl Stat {
    fn read(of: &Path) -> Option<Self> {
        Self::parse(&read(&of.join("stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // Behind the name, which may hold anything: the state, which is field 3, flags, field 9, the start, field 22.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let flags: u64 = fields.nth(5)?.parse().ok()?;
        let start = fields.nth(12)?.parse().ok()?;
        Some(Self { has_ended: matches!(state, "Z" | "X" | "x"), is_exiting: flags & EXITING != 0, start })
    }
}

/// Whether it is to end as soon as it runs. The signal waits for the thread, or for the process, where it stays.
fn is_killed(thread: &Path) -> bool {
    let status = read(&thread.join("status")).unwrap_or_default();
    let mut waiting =
        status.lines().filter_map(|line| line.strip_prefix("SigPnd:").or(line.strip_prefix("ShdPnd:")));
    waiting.any(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & KILL != 0))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_line_of_a_process_is_read_behind_its_name() {
        let line = "12 (a) Z (c)) S 1 2 3 4 5 4194564 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        let stat = Stat::parse(line).unwrap();
        assert!(!stat.has_ended && stat.is_exiting);
        assert_eq!(stat.start, 4711);
        assert!(Stat::parse(&line.replace(") S", ") Z")).unwrap().has_ended);
        assert!(!Stat::parse(&line.replace("4194564", "4194560")).unwrap().is_exiting);
        for cut in 0..line.len() - 7 {
            assert!(Stat::parse(&line[..cut]).is_none(), "{cut}");
        }
    }

    /// Also when it ends between two looks at it, and when a look falls between the signal and the end.
    #[test]
    fn a_killed_process_is_never_taken_for_a_living_one() {
        for round in 0..300 {
            let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
            let start = Stat::read(&Path::new("/proc").join(child.id().to_string())).unwrap().start;
            assert!(!await_end(child.id(), start), "round {round}");
            child.kill().unwrap();
            for _ in 0..round * 10 {
                std::hint::spin_loop();
            }
            let of_child = Path::new("/proc").join(child.id().to_string());
            loop {
                match phase(&of_child, start) {
                    Phase::Living => panic!("round {round}"),
                    Phase::Ending => {}
                    Phase::Ended => break,
                }
            }
            assert!(await_end(child.id(), start), "round {round}");
            child.wait().unwrap();
        }
    }

    /// The kernel cuts names within a character.
    #[test]
    fn a_thread_whose_name_is_no_utf_8_lives() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let named = std::thread::spawn(move || {
            rustix::thread::set_name(c"w\xC3").unwrap();
            tell.send(rustix::thread::gettid()).unwrap();
            let _ = ended.recv();
        });
        let thread = Path::new("/proc/self/task").join(told.recv().unwrap().as_raw_nonzero().to_string());
        let stat = Stat::read(&thread).unwrap();
        assert!(!stat.has_ended && !stat.is_exiting && !is_killed(&thread));
        drop(end);
        named.join().unwrap();
    }

    #[test]
    fn neither_the_living_nor_the_dead_are_waited_for() {
        let start = started().unwrap();
        assert!(!await_end(std::process::id(), start));
        assert!(await_end(std::process::id(), start + 1));
        let mut child = Command::new("true").spawn().unwrap();
        let of_child = Path::new("/proc").join(child.id().to_string());
        let start = Stat::read(&of_child).unwrap().start;
        // Not waited for: it stays as one that has ended, which holds nothing.
        while !Stat::read(&of_child).unwrap().has_ended {
            std::thread::sleep(PAUSE);
        }
        assert_eq!(phase(&of_child, start), Phase::Ended);
        child.wait().unwrap();
        assert!(await_end(child.id(), start));
    }
}
