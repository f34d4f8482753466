//! Processes that are ending: they look dead, and still hold locks.
//!
//! A process releases its locks one after the other, thread by thread, after its children have seen it end. A
//! process that continues its work has to wait for that end. The usual cases are a daemon's child, and a
//! program that is killed and started again at once.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

/// Longest wait for an end. Releasing a large memory takes long, writing a core may take for ever.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval between two checks.
const PAUSE: Duration = Duration::from_millis(1);
/// The kernel's mark of a thread that is past its last instruction (`PF_EXITING`), which /proc shows among the thread's flags.
const EXITING: u64 = 4;
/// Of the signals that wait for a thread, the one that ends it: an exit of the process sends it to all other threads.
const KILL: u64 = 1 << (Signal::KILL.as_raw() - 1);

/// Waits for the end of a process that is ending. True when it was: its locks may be free now. Does not wait
/// for one that lives or that is gone.
pub fn await_end(pid: u32, start: u64) -> bool {
    let until = Instant::now() + PATIENCE;
    let process = Path::new("/proc").join(pid.to_string());
    let mut was_ending = false;
    while is_ending(&process, start) && Instant::now() < until {
        was_ending = true;
        std::thread::sleep(PAUSE);
    }
    was_ending
}

/// When this process was started, in the kernel's ticks: process ids are reused.
pub fn started() -> Option<u64> {
    Stat::read(Path::new("/proc/self")).map(|stat| stat.start)
}

/// Whether it is there, no thread of it goes on, and not all have ended. What cannot be read is taken for no.
fn is_ending(process: &Path, start: u64) -> bool {
    if Stat::read(process).is_none_or(|stat| stat.start != start) {
        return false;
    }
    let Ok(threads) = fs::read_dir(process.join("task")) else { return false };
    let mut is_all_ended = true;
    for thread in threads.flatten() {
        // One that is gone meanwhile has ended.
        let Some(stat) = Stat::read(&thread.path()) else { continue };
        if stat.has_ended {
            continue;
        }
        is_all_ended = false;
        if !stat.is_exiting && !is_killed(&thread.path()) {
            return false;
        }
    }
    !is_all_ended
}

/// What the kernel tells of a process or thread in one line.
struct Stat {
    has_ended: bool,
    is_exiting: bool,
    start: u64,
}

impl Stat {
    fn read(of: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(of.join("stat")).ok()?)
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

/// Whether it is to end as soon as it runs.
fn is_killed(thread: &Path) -> bool {
    let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
    let waiting = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    waiting.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & KILL != 0)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

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

    #[test]
    fn neither_the_living_nor_the_dead_are_waited_for() {
        let start = started().unwrap();
        assert!(!await_end(std::process::id(), start));
        assert!(!await_end(std::process::id(), start + 1));
        let mut child = Command::new("true").spawn().unwrap();
        let of_child = Path::new("/proc").join(child.id().to_string());
        let start = Stat::read(&of_child).unwrap().start;
        // Not waited for: it stays as one that has ended, which holds nothing.
        while !Stat::read(&of_child).unwrap().has_ended {
            std::thread::sleep(PAUSE);
        }
        assert!(!is_ending(&of_child, start));
        child.wait().unwrap();
        assert!(!await_end(child.id(), start));
    }
}
