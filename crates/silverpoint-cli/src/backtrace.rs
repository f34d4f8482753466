//! Keeping records back until a bad one comes (`run --backtrace`), and asking for them (`ctl --dump`).
//!
//! Whoever asks makes a file in the private root of the run. The collector looks for it, stores what its programs' rings hold, and takes the file away when that is
//! done: a wish outlives a collector that dies, and needs no process's id. One that keeps nothing back writes so into the file, and whoever asked takes it away.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use silverpoint_collect::{Collector, Pass};
use silverpoint_shm::root::Root;
use silverpoint_wire::level::Level;

use crate::units;

/// The wish's file in the private root. Empty: the wish; else the answer of a collector that keeps nothing back.
const WISH: &str = "dump";
/// That answer.
const NOTHING: &str = "nothing is kept back\n";
/// How often a collector looks for it.
const LOOK: Duration = Duration::from_millis(50);
/// How often whoever asks looks whether it is gone.
const POLL: Duration = Duration::from_millis(10);
/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is kept back.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Flight recorder")]
pub struct Backtrace {
    /// Keep the last records of each process in memory, SIZE bytes of them, and write them only when a warning or worse comes, when a process dies without
    /// having ended by itself, or by `silverpoint ctl PID --dump` [default of SIZE: 4M]
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true, default_missing_value = "4M", value_parser = units::size)]
    backtrace: Option<u64>,
    /// The level from which on a record makes them be written: trace, debug, info, warn, error, fatal or never [default: warn]
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
    /// As a collector takes it.
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

/// A collector's side of the wishes.
pub struct Wishes {
    file: PathBuf,
    keeps_back: bool,
    looked: Option<Instant>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody asks, as far as one knows.
    None,
    /// Seen: one more pass finds all sessions that were there.
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
            // Everything is stored that was there.
            State::Writing if !pass.is_failing && !collector.is_writing_kept_back() => {
                let _ = std::fs::remove_file(&self.file);
                self.state = State::None;
            }
            _ => {}
        }
    }

    /// There is nothing to write: to say that it is written would be no answer.
    fn refuse(&self) {
        // Whoever asked may have lost patience and taken the file away.
        if let Ok(mut file) = std::fs::File::options().write(true).open(&self.file) {
            let _ = file.write_all(NOTHING.as_bytes());
        }
    }
}

/// Asks the collector of a private root to store what is kept back, and waits until it has. Gives why it has not.
pub fn ask(root: &Root) -> Result<(), String> {
    let file = root.path().join(WISH);
    let fail = |error: io::Error| format!("{}: {error}", file.display());
    let begun = Instant::now();
    loop {
        match std::fs::File::options().write(true).create_new(true).open(&file) {
            Ok(_) => break,
            // Somebody else has asked, and what is written for him may have passed by what came since: one's own wish comes after it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && begun.elapsed() < PATIENCE => {
                std::thread::sleep(POLL);
            }
            // Nobody has served it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => break,
            Err(error) => return Err(fail(error)),
        }
    }
    while let Ok(found) = file.symlink_metadata() {
        let is_refused = found.len() > 0;
        if is_refused || begun.elapsed() >= PATIENCE {
            let _ = std::fs::remove_file(&file);
            return Err(match is_refused {
                true => "nothing is kept back: `silverpoint run` was begun without --backtrace, and everything is in its file".into(),
                false => format!("no collector has written it within {} s", PATIENCE.as_secs()),
            });
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Removes a private root, if nothing else is in it any more.
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
