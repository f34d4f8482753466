//! Keeps records in memory until a bad one comes (`run --backtrace`), and requests them on demand (`ctl
//! --dump`).
//!
//! The requester makes a file in the private root of the run. The collector sees it, stores what the
//! programs' rings hold, and then removes the file. So a request survives a collector that dies, and needs no
//! process id. A collector that keeps nothing back writes so into the file; then the requester removes it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use silverpoint_collect::{Collector, Pass};
use silverpoint_shm::root::Root;
use silverpoint_wire::level::Level;

use crate::units;

/// The request file in the private root. Empty: the request; otherwise the answer of a collector that keeps
/// nothing back.
const WISH: &str = "dump";
/// That answer.
const NOTHING: &str = "nothing is kept back\n";
/// How often a collector looks for it.
const LOOK: Duration = Duration::from_millis(50);
/// How often the requester checks whether the file is gone.
const POLL: Duration = Duration::from_millis(10);
/// How long the requester waits for a collector.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is kept back.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Flight recorder")]
pub struct Backtrace {
    /// Keep the last SIZE bytes of records of each process in memory. Write them only at a warning or worse,
    /// when a process is killed or crashes, or on `silverpoint ctl PID --dump` [default of SIZE: 4M]
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "4M", value_parser = units::size)]
    backtrace: Option<u64>,
    /// The lowest level that causes the kept records to be written: trace, debug, info, warn, error, fatal or
    /// never [default: warn]
    #[arg(long, value_name = "LEVEL", requires = "backtrace", value_parser = trigger)]
    backtrace_at: Option<Trigger>,
}

/// `--backtrace-at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Trigger(Option<Level>);

fn trigger(text: &str) -> Result<Trigger, String> {
    match Level::ALL.into_iter().find(|level| level.name() == text) {
        Some(level) => Ok(Trigger(Some(level))),
        None if text == "never" => Ok(Trigger(None)),
        None => Err(format!("'{text}': expected trace, debug, info, warn, error, fatal or never")),
    }
}

impl Backtrace {
    /// As the collector's setting.
    pub fn limits(self) -> Option<silverpoint_collect::Backtrace> {
        let trigger = self.backtrace_at.map_or(Some(Level::Warn), |trigger| trigger.0);
        self.backtrace.map(|bytes| silverpoint_collect::Backtrace { bytes, trigger })
    }

    /// The same as command-line words, for the collector's own process.
    pub fn words(self) -> Vec<OsString> {
        let Some(limits) = self.limits() else { return Vec::new() };
        let trigger = limits.trigger.map_or("never", Level::name);
        vec![format!("--backtrace={}", limits.bytes).into(), format!("--backtrace-at={trigger}").into()]
    }
}

/// The collector's side of the requests.
pub struct Wishes {
    file: PathBuf,
    keeps_back: bool,
    looked: Option<Instant>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No request was seen.
    None,
    /// Seen: one more pass finds all sessions that existed then.
    Seen,
    /// All are being written.
    Writing,
}

impl Wishes {
    /// For a private root, and a collector that keeps records back or does not.
    pub fn of(root: &Path, keeps_back: bool) -> Self {
        Self { file: root.join(WISH), keeps_back, looked: None, state: State::None }
    }

    /// After a pass.
    pub fn serve(&mut self, collector: &mut Collector, pass: Pass) {
        match self.state {
            State::None if self.looked.is_none_or(|at| at.elapsed() >= LOOK) => {
                self.looked = Some(Instant::now());
                match self.file.symlink_metadata() {
                    Ok(_) if self.keeps_back => self.state = State::Seen,
                    Ok(found) if found.len() == 0 => self.refuse(),
                    _ => {}
                }
            }
            State::Seen if !pass.is_failing => {
                collector.write_kept_back();
                self.state = State::Writing;
            }
            // Everything that was there is stored.
            State::Writing if !pass.is_failing && !collector.is_writing_kept_back() => {
                let _ = std::fs::remove_file(&self.file);
                self.state = State::None;
            }
            _ => {}
        }
    }

    /// Answers that there is nothing to write: reporting success would be wrong.
    fn refuse(&self) {
        // The requester may have given up and removed the file.
        if let Ok(mut file) = std::fs::File::options().write(true).open(&self.file) {
            let _ = file.write_all(NOTHING.as_bytes());
        }
    }
}

/// Asks the collector of a private root to store what is kept back, and waits until that is done. The error
/// says why it is not.
pub fn ask(root: &Root) -> Result<(), String> {
    let file = root.path().join(WISH);
    let fail = |error: io::Error| format!("{}: {error}", file.display());
    let begun = Instant::now();
    loop {
        match std::fs::File::options().write(true).create_new(true).open(&file) {
            Ok(_) => break,
            // Another request is pending, and its answer may lack newer records: this request follows it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && begun.elapsed() < PATIENCE => {
                std::thread::sleep(POLL);
            }
            // No collector served it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => break,
            Err(error) => return Err(fail(error)),
        }
    }
    while let Ok(found) = file.symlink_metadata() {
        let is_refused = found.len() > 0;
        if is_refused || begun.elapsed() >= PATIENCE {
            let _ = std::fs::remove_file(&file);
            return Err(match is_refused {
                true => "nothing is kept back: `silverpoint run` was started without --backtrace, so all records go to its file at once".into(),
                false => format!("no collector wrote the kept records within {} s; check that `silverpoint run` still runs, then repeat the command", PATIENCE.as_secs()),
            });
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Removes a private root if it is empty.
pub fn remove_root(root: &Path) {
    if std::fs::remove_dir(root).is_err() {
        let is_empty = |entries: std::fs::ReadDir| entries.flatten().all(|entry| entry.file_name() == WISH);
        if std::fs::read_dir(root).is_ok_and(is_empty) {
            let _ = std::fs::remove_file(root.join(WISH));
            let _ = std::fs::remove_dir(root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_collector_is_told_what_the_supervisor_was() {
        let given = Backtrace { backtrace: Some(1 << 20), backtrace_at: None };
        assert_eq!(given.words(), ["--backtrace=1048576", "--backtrace-at=warn"]);
        let given = Backtrace { backtrace_at: Some(trigger("never").unwrap()), ..given };
        assert_eq!(given.limits().unwrap().trigger, None);
        assert_eq!(given.words()[1], "--backtrace-at=never");
        assert!(Backtrace::default().words().is_empty());
        assert!(trigger("bad").unwrap_err().contains("warn, error, fatal or never"));
    }
}
