//! A folder of sessions and files, and the program started in it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use silverpoint_shm::observer::{ObservedSession, list};
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::collector_state;
use tempfile::{Builder, TempDir};

/// A test that waits longer has found a hang: a machine that has much else to do is slow, and no fault.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// A folder that goes with the test.
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub fn new() -> Scratch {
        handle_ignored_signals();
        let folder = Builder::new()
            .prefix("silverpoint-cli-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .unwrap();
        std::fs::DirBuilder::new().mode(0o700).create(folder.path().join("root")).unwrap();
        Scratch { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts a program here, which may then be executed. Another process copies it. A child that a thread of this process forks meanwhile would have our
    /// file open for a moment. What is open for writing cannot be executed ("text file busy").
    pub fn executable(&self, name: &str, program: impl AsRef<OsStr>) -> PathBuf {
        let path = self.path(name);
        let copied = Command::new("cp").arg("--").arg(program).arg(&path).status().unwrap();
        assert!(copied.success(), "{}", path.display());
        path
    }

    /// The same of a program for the shell.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && chmod 700 \"$2\"";
        let written = Command::new("sh").args(["-c", write, "sh", text]).arg(&path).status().unwrap();
        assert!(written.success(), "{}", path.display());
        path
    }

    /// Where sessions are.
    pub fn root(&self) -> PathBuf {
        self.path("root")
    }

    /// The program, in this folder, with this root.
    pub fn silverpoint<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        self.command(env!("CARGO_BIN_EXE_silverpoint"), words)
    }

    /// The traced program.
    pub fn subject<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        self.command(subject(), words)
    }

    pub fn command<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        words: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.folder).stdin(Stdio::null());
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SILVERPOINT_")) {
            command.env_remove(name);
        }
        command.env("SILVERPOINT_DIR", self.root()).env("SUBJECT", subject());
        command
    }

    /// `silverpoint WORDS`, to its end.
    pub fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Ended {
        end(&mut self.silverpoint(words))
    }

    /// Messages (`name` of an event, else the text) of all records in a trace and its other parts.
    pub fn messages(&self, trace: &str) -> Vec<String> {
        let cat = self.run(["cat", "--json", "--quiet", trace]);
        assert_eq!(cat.code(), Some(0), "{cat:?}");
        let text = |line: &str| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["message"].as_str().or(record["text"].as_str()).unwrap_or(line).to_owned()
        };
        cat.out.lines().map(text).collect()
    }

    /// How many records of the subject's `count` or `tick` a trace holds.
    pub fn records(&self, trace: &str) -> usize {
        self.messages(trace)
            .iter()
            .filter(|text| text.contains("subject.count") || text.contains("tick"))
            .count()
    }

    /// Waits until a condition holds.
    pub fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until nothing is left in the root.
    pub fn wait_until_empty(&self) {
        self.wait("an empty root", || self.left().is_empty());
    }

    /// Sessions of programs that `run` has started: each run has a root of its own.
    pub fn sessions_of_runs(&self) -> Vec<ObservedSession> {
        let runs = self.left().into_iter().filter(|name| name.starts_with("run-"));
        let roots = runs.filter_map(|name| Root::open_directory(&self.root().join(name)).ok());
        let open = |root: Root| {
            let names = list(&root).unwrap_or_default();
            names.into_iter().filter_map(move |name| ObservedSession::open(&root, name).ok())
        };
        roots.flat_map(open).collect()
    }

    /// Waits until the collector of a run has found that its file cannot be written.
    pub fn wait_until_sink_full(&self) {
        self.wait("a collector that cannot write", || {
            let sessions = self.sessions_of_runs();
            let mut counters = sessions.iter().filter_map(|session| session.counters().ok());
            counters.any(|counters| counters.collector_state == collector_state::SINK_FULL)
        });
    }

    /// Waits until a thread of a program under `run` waits for room in its ring.
    pub fn wait_until_waiting(&self) {
        let is_waiting = |session: &ObservedSession| {
            let mut slices = Vec::new();
            let slabs = session.counters().ok()?.slabs_next;
            session.slices(slabs, &mut slices, |_| {}).ok()?;
            let mut rings = slices.iter().filter_map(|slice| session.ring(*slice).ok().flatten());
            rings.any(|ring| ring.waiting == 1).then_some(())
        };
        self.wait("a thread that waits", || {
            self.sessions_of_runs().iter().any(|one| is_waiting(one).is_some())
        });
    }

    /// Names in the root.
    pub fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root()).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// The rows of `ls --json`.
    pub fn sessions(&self) -> Vec<serde_json::Value> {
        let ls = self.run(["ls", "--json"]);
        assert_eq!(ls.code(), Some(0), "{ls:?}");
        ls.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The traced program.
pub fn subject() -> PathBuf {
    example("subject")
}

/// An example of this crate.
pub fn example(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_silverpoint")).with_file_name("examples").join(name);
    assert!(
        path.is_file(),
        "{} is not built: run `cargo test -p silverpoint-cli` without --test",
        path.display()
    );
    path
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        std::os::unix::process::ExitStatusExt::signal(&self.status)
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        Ended {
            status: output.status,
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs a command to its end.
pub fn end(command: &mut Command) -> Ended {
    Running::start(command).end()
}

/// Runs a compiler, which must succeed. Not by [`end`]: beside other work it takes as long as it takes.
pub fn compile(command: &mut Command) {
    let ended = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(ended.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// What is compiled once for all tests of a run, under this name: a program, a library, an object. C++'s headers of the frontend are found.
pub fn built(name: &str, compiler: &str, words: &[&str]) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
    let how = format!("{name}: {compiler} {words:?}");
    let once = Arc::clone(BUILT.lock().unwrap().entry(how.clone()).or_default());
    let build = || {
        let mut hasher = DefaultHasher::new();
        how.hash(&mut hasher);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("built/{:016x}", hasher.finish()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, fresh) = (folder.join(name), folder.join(format!("{name}.{}", std::process::id())));
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../cpp/include");
        compile(Command::new(compiler).args(words).arg("-I").arg(include).arg("-o").arg(&fresh));
        std::fs::rename(fresh, &path).unwrap();
        path
    };
    once.get_or_init(build).clone()
}

/// What programs in C are linked with.
pub fn objects_of_c() -> [String; 2] {
    ["silverpoint_c", "context_c"].map(|name| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../cpp/src/{name}.cpp"));
        let options = ["-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-c"];
        let words = [&options[..], &[file.to_str().unwrap()]].concat();
        built(&format!("{name}.o"), "g++", &words).to_str().unwrap().to_owned()
    })
}

/// A program under way; killed when the test fails.
pub struct Running {
    child: Option<Child>,
}

impl Running {
    pub fn start(command: &mut Command) -> Running {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Running { child: Some(command.spawn().unwrap()) }
    }

    /// With a standard input that ends by [`Running::end`] at the latest.
    pub fn start_with_input(command: &mut Command) -> Running {
        Running::start(command.stdin(Stdio::piped()))
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().unwrap()
    }

    pub fn pid(&mut self) -> u32 {
        self.child().id()
    }

    pub fn write(&mut self, text: &str) {
        self.child().stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Reads one line of its standard output.
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        while let Some(byte) = self.byte(&line)
            && byte != b'\n'
        {
            line.push(byte);
        }
        String::from_utf8(line).unwrap()
    }

    /// Reads its standard output until a text has come; gives all that was read.
    pub fn read_until(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        while !seen.ends_with(text.as_bytes()) {
            let byte = self.byte(&seen);
            seen.push(byte.unwrap_or_else(|| panic!("it ended without {text:?}: {}", seen.escape_ascii())));
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    /// The next byte of its standard output, after those that are `seen`; none at its end.
    fn byte(&mut self, seen: &[u8]) -> Option<u8> {
        let out = self.child().stdout.as_mut().unwrap();
        let patience = Timespec::try_from(PATIENCE).unwrap();
        let ready = poll(&mut [PollFd::new(out, PollFlags::IN)], Some(&patience)).unwrap();
        assert_ne!(ready, 0, "it says nothing more after {:?}", seen.escape_ascii().to_string());
        let mut byte = [0];
        (out.read(&mut byte).unwrap() == 1).then_some(byte[0])
    }

    /// Whether it goes on.
    pub fn is_running(&mut self) -> bool {
        self.child().try_wait().unwrap().is_none()
    }

    pub fn signal(&mut self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Closes its standard input and waits for its end.
    pub fn end(mut self) -> Ended {
        let mut child = self.child.take().unwrap();
        drop(child.stdin.take());
        let pid = child.id();
        let (sender, done) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        match done.recv_timeout(PATIENCE) {
            Ok(output) => output.unwrap().into(),
            Err(_) => {
                send(pid, Signal::KILL);
                panic!("process {pid} does not end: {:?}", done.recv().map(|output| output.map(Ended::from)));
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Gives signals that this process ignores a handler that does nothing: a program that a test starts would ignore them, too.
/// (A shell starts what it puts in the background, and `nohup` its command, with such signals.)
fn handle_ignored_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
        let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
        for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM].map(Signal::as_raw) {
            if mask >> (signal - 1) & 1 == 1 {
                signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).unwrap();
            }
        }
    });
}

pub fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

/// Stops a process, and waits until it stands still: a signal is only sent when the call returns.
pub fn stop(pid: u32) {
    send(pid, Signal::STOP);
    let is_stopped = |task: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        // A thread that has ended has no state.
        stat.rsplit(") ").next().is_none_or(|rest| !rest.starts_with(['R', 'S', 'D']))
    };
    let begun = Instant::now();
    while !std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().all(is_stopped) {
        assert!(begun.elapsed() < PATIENCE, "process {pid} does not stand still");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The collector of a supervisor.
pub fn collector_of(supervisor: u32) -> Option<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{supervisor}/task")).ok()?.flatten();
    let mut pids = tasks.flat_map(|task| {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        text.split_whitespace().filter_map(|word| word.parse::<u32>().ok()).collect::<Vec<_>>()
    });
    pids.find(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"collect")
    })
}

/// True when the tests run as root; else says loudly what is not tested.
pub fn is_root(what: &str) -> bool {
    let is = rustix::process::geteuid().is_root();
    if !is {
        silverpoint_tests::skipped!("{what}: only root can do that");
    }
    is
}

/// The numbers of `subject.count` in JSON lines.
pub fn numbers(out: &str) -> Vec<u64> {
    let number = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        (record["template"] == "subject.count").then(|| record["args"]["n"].as_u64().unwrap())
    };
    out.lines().filter_map(number).collect()
}
