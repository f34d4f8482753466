//! Running the program `logging` with sessions and files of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

/// A directory that is removed in the end.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("silverpoint-logger-").unwrap();
        fs::DirBuilder::new().mode(0o700).create(folder.path().join("sessions")).unwrap();
        Self(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Does this with each line of a file, which may be long: one line is in memory.
    pub fn each_line(&self, name: &str, mut each: impl FnMut(&str)) {
        let Ok(file) = fs::File::open(self.path(name)) else { return };
        for line in BufReader::new(file).lines() {
            each(&line.unwrap());
        }
    }

    /// Names in the directory, sorted, without that of the sessions.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name != "sessions");
        names.sort();
        names
    }

    /// Sessions that are left.
    pub fn sessions(&self) -> usize {
        let entries = fs::read_dir(self.path("sessions")).unwrap().flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(|c: char| c.is_ascii_digit()))
            .count()
    }

    /// `logging FILE WORDS…` in the directory.
    pub fn logging<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Command {
        self.example("logging", words)
    }

    /// Another example, which is given the same file.
    pub fn example<'w>(&self, name: &str, words: impl IntoIterator<Item = &'w str>) -> Command {
        self.command(&example(name), words)
    }

    /// Any program, which is given the same file.
    pub fn command<'w>(&self, program: &Path, words: impl IntoIterator<Item = &'w str>) -> Command {
        let mut command = Command::new(program);
        command
            .arg(self.path("app.log"))
            .args(words)
            .current_dir(&self.0)
            .env_remove("SILVERPOINT_FILTER")
            .env("SILVERPOINT_DIR", self.path("sessions"))
            // On a loaded machine the collector's thread may stand still for longer than a second. Configurations that say otherwise take precedence.
            .env("SILVERPOINT_POLICY", "block=forever")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it to its end, which must be a good one. Gives standard output and error.
    pub fn run<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> (String, String) {
        let output = self.logging(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{}: {out}{err}", output.status);
        (out, err)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.0.disable_cleanup(std::thread::panicking());
    }
}

/// Kills a program that prints the number of each record that it has made; gives the last complete number.
/// `told`: what was read of its output before.
pub fn kill(mut running: Child, mut out: BufReader<ChildStdout>, mut told: String) -> u64 {
    running.kill().unwrap();
    running.wait().unwrap();
    out.read_to_string(&mut told).unwrap();
    // The last line may have been cut by the kill.
    told.lines().rev().nth(1).or(told.lines().next()).unwrap().parse().unwrap()
}

/// The example, which is built with the tests.
fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let found = own.ancestors().map(|path| path.join("examples").join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("examples/{name} is not built beside {}", own.display()))
}

/// The numbers of the lines `… number N …`. A program that outruns the sinks has waited, which is a line too.
pub fn numbers(text: &str) -> Vec<u64> {
    let records = text.lines().filter(|line| !line.contains(" for room in the ring"));
    records
        .map(|line| {
            let rest = line.split("number ").nth(1).unwrap_or_else(|| panic!("{line}"));
            rest.split_whitespace().next().unwrap().parse().unwrap()
        })
        .collect()
}

/// Whether a directory holds nothing.
pub fn is_gone(path: &Path) -> bool {
    !path.exists()
}

/// Looks again and again until it is so, for at most five minutes.
pub fn wait_until(mut is_so: impl FnMut() -> bool) -> bool {
    // On a busy machine a thread of the lowest priority gets its turn late.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(300);
    loop {
        if is_so() {
            return true;
        }
        if std::time::Instant::now() > until {
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
