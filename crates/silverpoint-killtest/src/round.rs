//! Runs one round: victim, collector and supervisor, the killing, the end.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use silverpoint_killtest::counts::{self, Counts};

use crate::judge::judge;
use crate::plan::{Plan, Target};

/// Paths of the programs.
pub struct Programs {
    /// `silverpoint`, built with fault points.
    pub silverpoint: PathBuf,
    /// The Rust victim.
    pub rust_victim: PathBuf,
    /// The C++ victim, where there is a compiler.
    pub cpp_victim: Option<PathBuf>,
}

/// What a round that passed came to.
pub struct Outcome {
    /// Records counted.
    pub records: u64,
    /// The victim died at its own fault point.
    pub killed_in_record: bool,
}

/// Longest time that a round may take: a hang is a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that goes when the round is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let base =
            if Path::new("/dev/shm").is_dir() { PathBuf::from("/dev/shm") } else { std::env::temp_dir() };
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        let path = base.join(format!("silverpoint-kill-{}-{now}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn run(programs: &Programs, plan: &Plan) -> Result<Outcome, String> {
    let folder = Folder::new()?;
    let counts_path = folder.0.join("counts");
    let sized = fs::File::create(&counts_path).and_then(|file| file.set_len(counts::SIZE));
    sized.map_err(|e| e.to_string())?;
    let counts = Counts::open(&counts_path).map_err(|e| e.to_string())?;
    let output = folder.0.join("trace.silver");
    let mut supervisor = start(programs, plan, &folder.0, &counts_path, &output)?;
    let deadline = Instant::now() + PATIENCE;
    let victim = wait_for_victim(&counts, &mut supervisor, deadline)?;
    let mut killed_in_record = false;

    match &plan.target {
        Target::Program { after_ms } => {
            pause(*after_ms);
            kill(victim);
        }
        Target::Collector { times, pause_ms } => {
            for _ in 0..*times {
                pause(*pause_ms);
                for collector in collectors(supervisor.id()) {
                    kill(collector);
                }
            }
            pause(*pause_ms);
            kill(victim);
        }
        Target::Both { after_ms } => {
            pause(*after_ms);
            let collectors = collectors(supervisor.id());
            kill(victim);
            collectors.into_iter().for_each(kill);
        }
        Target::Everything { after_ms } => {
            pause(*after_ms);
            let collectors = collectors(supervisor.id());
            kill(supervisor.id());
            collectors.into_iter().for_each(kill);
            kill(victim);
        }
        // These die by themselves; the program ends when its records are traced.
        Target::CollectorAt { .. } | Target::MidRecord { .. } => {}
    }
    let status = wait(&mut supervisor, deadline)?;
    if let Target::MidRecord { .. } = plan.target {
        killed_in_record = status.signal() == Some(9);
    }
    let mut files = vec![output];
    if let Target::Everything { .. } = plan.target {
        wait_until_dead(victim, deadline)?;
        let recovered = folder.0.join("recovered.silver");
        let done = Command::new(&programs.silverpoint)
            .args(["recover", "--all", "-o"])
            .arg(&recovered)
            .env("SILVERPOINT_DIR", &folder.0.join("root"))
            .output()
            .map_err(|e| e.to_string())?;
        if !done.status.success() {
            return Err(format!("recover: {}: {}", done.status, String::from_utf8_lossy(&done.stderr)));
        }
        files.push(recovered);
    }
    let counted = judge(&files, &counts, plan.threads as usize)?;
    Ok(Outcome { records: counted.records, killed_in_record })
}

fn start(
    programs: &Programs,
    plan: &Plan,
    folder: &Path,
    counts: &Path,
    output: &Path,
) -> Result<Child, String> {
    let root = folder.join("root");
    fs::DirBuilder::new().mode(0o700).create(&root).map_err(|e| e.to_string())?;
    let victim = if plan.cpp {
        programs.cpp_victim.as_ref().unwrap_or(&programs.rust_victim)
    } else {
        &programs.rust_victim
    };
    let mut command = Command::new(&programs.silverpoint);
    command.args(["run", "--quiet", "--policy", "block=forever", "-o"]).arg(output);
    if plan.compact {
        command.arg("--compact");
    }
    if plan.rotate {
        command.args(["--rotate-size", "64K"]);
    }
    command.arg("--").arg(victim).arg(counts).args([plan.threads.to_string(), plan.records.to_string()]);
    command.env("SILVERPOINT_DIR", &root).env_remove("SILVERPOINT_FAULT").env_remove("KILL_AT");
    if plan.small {
        command.env("SILVERPOINT_MEMORY", "256K");
    }
    match plan.target {
        Target::CollectorAt { point, nth } => command.env("SILVERPOINT_FAULT", format!("{point}:{nth}")),
        Target::MidRecord { nth } => command.env("KILL_AT", nth.to_string()),
        _ => &mut command,
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(|e| format!("silverpoint run: {e}"))
}

fn wait_for_victim(counts: &Counts, supervisor: &mut Child, deadline: Instant) -> Result<u32, String> {
    loop {
        match counts.pid() {
            0 => {}
            pid => return Ok(pid),
        }
        if let Ok(Some(status)) = supervisor.try_wait() {
            // A very short life is a life.
            return if counts.pid() != 0 {
                Ok(counts.pid())
            } else {
                Err(format!("the victim never began: {status}"))
            };
        }
        if Instant::now() > deadline {
            kill(supervisor.id());
            return Err("the victim did not begin".into());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn wait(child: &mut Child, deadline: Instant) -> Result<std::process::ExitStatus, String> {
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            for pid in children(child.id()) {
                kill(pid);
            }
            kill(child.id());
            let _ = child.wait();
            return Err("it hangs".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn wait_until_dead(pid: u32, deadline: Instant) -> Result<(), String> {
    // A killed orphan is reaped by init; until then it is a zombie, which holds nothing any more.
    let is_alive = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
        !matches!(state, None | Some('Z' | 'X'))
    };
    while is_alive() {
        if Instant::now() > deadline {
            return Err("the killed victim does not die".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// The collectors among a supervisor's children.
fn collectors(supervisor: u32) -> Vec<u32> {
    let is_collector = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"collect")
    };
    children(supervisor).into_iter().filter(is_collector).collect()
}
