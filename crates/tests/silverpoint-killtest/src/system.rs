//! Processes and folders of a round.

use std::fs;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Longest time that a round may take: a hang is a failure.
const PATIENCE: Duration = Duration::from_secs(300);

/// When a round has taken too long.
#[derive(Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// Of a round that begins now.
    pub fn new() -> Deadline {
        Deadline(Instant::now() + PATIENCE)
    }

    /// Looks every now and then until `done` gives something; an error when that takes too long.
    pub fn wait<T>(
        self,
        what: &str,
        mut done: impl FnMut() -> Result<Option<T>, String>,
    ) -> Result<T, String> {
        loop {
            if let Some(value) = done()? {
                return Ok(value);
            }
            if Instant::now() > self.0 {
                return Err(format!("waited {} s for {what}", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_micros(300));
        }
    }

    /// Waits for the end of a child.
    pub fn wait_for(self, what: &str, child: &mut Child) -> Result<ExitStatus, String> {
        self.wait(what, || child.try_wait().map_err(|error| error.to_string()))
    }
}

pub fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

pub fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

/// Whether a process lives: any of its threads, for the first may be a zombie while others still hold files and memory. A killed orphan is reaped by
/// init; until then it is a zombie, which holds nothing any more.
pub fn is_alive(pid: u32) -> bool {
    states(pid).iter().any(|state| !matches!(state, 'Z' | 'X'))
}

/// Whether all threads of a process are stopped.
pub fn is_halted(pid: u32) -> bool {
    let states = states(pid);
    !states.is_empty() && states.iter().all(|state| *state == 'T')
}

/// The states of a process's threads.
fn states(pid: u32) -> Vec<char> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let state = |thread: fs::DirEntry| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        stat.rsplit(')').next()?.trim().chars().next()
    };
    threads.flatten().filter_map(state).collect()
}

fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    // The collector is started by a thread of its own when it is started again.
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or_else(
        |_| Vec::new(),
        |threads| threads.flatten().map(|thread| thread.path().join("children")).collect(),
    );
    let mut all: Vec<u32> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    for thread in threads {
        let text = fs::read_to_string(thread).unwrap_or_default();
        all.extend(text.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The living collectors among a supervisor's children.
pub fn collectors(supervisor: u32) -> Vec<u32> {
    let is_collector = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"collect")
    };
    children(supervisor).into_iter().filter(is_collector).filter(|pid| is_alive(*pid)).collect()
}
