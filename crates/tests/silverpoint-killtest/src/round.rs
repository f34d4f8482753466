//! Runs one round: victim, collector and supervisor, the killing, the end.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::Signal;
use silverpoint_killtest::counts::{self, Counts};
use tempfile::TempDir;

use crate::judge::judge;
use crate::plan::{BURST, Plan, Target};
use crate::system::{Deadline, collectors, is_alive, is_halted, kill, pause, signal};
use crate::torn;

/// Paths of the programs.
pub struct Programs {
    /// `silverpoint`, built with fault points.
    pub silverpoint: PathBuf,
    /// The Rust victim.
    pub rust_victim: PathBuf,
    /// The C++ victim, where there is a compiler.
    pub cpp_victim: Option<PathBuf>,
}

/// What the supervisor says when a collector died.
const DEATH: &str = "the collector died";

/// A round under way.
struct Round<'a> {
    programs: &'a Programs,
    plan: &'a Plan,
    /// On a disk: the trace, the counts, what programs say.
    folder: TempDir,
    /// In shared memory, as usual: the sessions.
    root: TempDir,
    counts: Counts,
    deadline: Deadline,
}

/// Runs a round; gives the number of records counted.
pub fn run(programs: &Programs, plan: &Plan) -> Result<u64, String> {
    let folder = TempDir::with_prefix("silverpoint-kill-").map_err(|e| e.to_string())?;
    let root = silverpoint_tests::folder_in_memory();
    fs::DirBuilder::new().mode(0o700).create(root.path().join("root")).map_err(|e| e.to_string())?;
    let path = folder.path().join("counts");
    File::create(&path).and_then(|file| file.set_len(counts::SIZE)).map_err(|e| e.to_string())?;
    let counts = Counts::open(&path).map_err(|e| e.to_string())?;
    if plan.target.needs_burst() {
        counts.set_limit(1);
    }
    Round { programs, plan, folder, root, counts, deadline: Deadline::new() }.run()
}

impl Round<'_> {
    fn run(&self) -> Result<u64, String> {
        let mut child = self.start()?;
        let result = self.kill_and_judge(&mut child);
        if result.is_err() {
            // Nothing of a failed round lives on beside the next.
            collectors(child.id()).into_iter().for_each(kill);
            kill(child.id());
            if self.counts.pid() != 0 {
                kill(self.counts.pid());
            }
            let _ = child.wait();
        }
        result.map_err(|error| match fs::read_to_string(self.errors()) {
            Ok(said) if !said.is_empty() => {
                format!("{error}\n  said: {}", said.trim_end().replace('\n', "\n        "))
            }
            _ => error,
        })
    }

    fn kill_and_judge(&self, child: &mut Child) -> Result<u64, String> {
        let victim =
            self.deadline.wait("the victim's begin", || match (self.counts.pid(), child.try_wait()) {
                (0, Ok(Some(status))) => Err(format!("the victim never began: {status}")),
                (0, _) => Ok(None),
                (pid, _) => Ok(Some(pid)),
            })?;
        self.kill(child, victim)?;
        let mut exact = Vec::new();
        if let Target::MidRecordAlone { .. } = self.plan.target {
            let status = self.deadline.wait_for("the victim's end", child)?;
            died_by_kill(status)?;
            exact = torn::unpublished(&self.sessions(), &self.counts, self.plan.threads as usize)?;
            self.recover()?;
        } else {
            let status = self.deadline.wait_for("the supervisor's end", child)?;
            if let Target::MidRecord { .. } = self.plan.target {
                died_by_kill(status)?;
            }
            if let Target::Everything { .. } = self.plan.target {
                self.deadline.wait("the victim's death", || Ok((!is_alive(victim)).then_some(())))?;
                self.recover()?;
            }
        }
        self.check_deaths()?;
        self.check_nothing_left()?;
        judge(self.folder.path(), &self.counts, self.plan, &exact)
    }

    /// Kills who is to be killed, and lets the rest come to its end.
    fn kill(&self, child: &mut Child, victim: u32) -> Result<(), String> {
        let supervisor = child.id();
        match &self.plan.target {
            Target::Program { after_ms } => {
                pause(*after_ms);
                let halted = self.fill(supervisor)?;
                kill(victim);
                halted.into_iter().for_each(|pid| signal(pid, Signal::CONT));
            }
            Target::Collector { times, pause_ms, program_too } => {
                for _ in 0..*times {
                    pause(*pause_ms);
                    collectors(supervisor).into_iter().for_each(kill);
                }
                pause(*pause_ms);
                if *program_too {
                    kill(victim);
                }
                self.counts.stop();
            }
            Target::Both { after_ms } => {
                pause(*after_ms);
                self.fill(supervisor)?;
                let collectors = collectors(supervisor);
                kill(victim);
                collectors.into_iter().for_each(kill);
            }
            Target::Everything { after_ms } => {
                pause(*after_ms);
                self.fill(supervisor)?;
                let collectors = collectors(supervisor);
                // The supervisor first: it would start another.
                kill(supervisor);
                collectors.iter().copied().for_each(kill);
                kill(victim);
                self.deadline.wait("the collector's death", || {
                    Ok(collectors.iter().all(|pid| !is_alive(*pid)).then_some(()))
                })?;
            }
            Target::CollectorAt { program_too, .. } => {
                if self.plan.target.needs_burst() {
                    self.burst(supervisor)?;
                }
                self.deadline.wait("the collector's death at its place", || {
                    // What it said is complete when it has ended.
                    let has_ended = child.try_wait().map_err(|error| error.to_string())?.is_some();
                    match self.deaths() >= self.plan.target.deaths() {
                        true => Ok(Some(())),
                        false if has_ended => Err("all ended, and no collector reached its place".into()),
                        false => Ok(None),
                    }
                })?;
                if *program_too {
                    kill(victim);
                } else if self.plan.target.needs_burst() {
                    // The next burst finds a ring that is reserved by the dead.
                    self.record_up_to(2 * BURST)?;
                }
                self.counts.stop();
            }
            Target::ProgramAt { .. } => {
                self.burst(supervisor)?;
                let halted = self.deadline.wait("the collector at its place", || {
                    Ok(collectors(supervisor).into_iter().find(|pid| is_halted(*pid)))
                })?;
                kill(victim);
                signal(halted, Signal::CONT);
            }
            // It dies by itself.
            Target::MidRecord { .. } | Target::MidRecordAlone { .. } => {}
        }
        Ok(())
    }

    /// Halts the collectors until no thread gets on any more: all rings are full. Only where the plan says so.
    fn fill(&self, supervisor: u32) -> Result<Vec<u32>, String> {
        if !self.plan.full {
            return Ok(Vec::new());
        }
        let halted = collectors(supervisor);
        halted.iter().for_each(|pid| signal(*pid, Signal::STOP));
        let sum = || (0..self.plan.threads as usize).map(|thread| self.counts.get(thread)).sum::<u64>();
        let mut before = sum();
        let mut still = 0;
        self.deadline.wait("full rings", || {
            let now = sum();
            still = if now == before { still + 1 } else { 0 };
            before = now;
            Ok((still >= 20).then_some(()))
        })?;
        Ok(halted)
    }

    /// Lets all threads record a burst that no collector reads meanwhile, so that their records use further rings.
    fn burst(&self, supervisor: u32) -> Result<(), String> {
        let halted = self.deadline.wait("a collector", || {
            let found = collectors(supervisor);
            Ok((!found.is_empty()).then_some(found))
        })?;
        halted.iter().for_each(|pid| signal(*pid, Signal::STOP));
        self.record_up_to(BURST)?;
        halted.into_iter().for_each(|pid| signal(pid, Signal::CONT));
        Ok(())
    }

    /// Until each thread has recorded so many.
    fn record_up_to(&self, records: u64) -> Result<(), String> {
        self.counts.set_limit(records);
        self.deadline.wait("the threads' burst", || {
            let is_done = |thread| self.counts.get(thread) == records;
            Ok((0..self.plan.threads as usize).all(is_done).then_some(()))
        })
    }

    fn start(&self) -> Result<Child, String> {
        let victim = match (&self.programs.cpp_victim, self.plan.cpp) {
            (Some(cpp), true) => cpp,
            _ => &self.programs.rust_victim,
        };
        let words =
            [self.plan.threads.to_string(), self.plan.records.to_string(), self.plan.facade.to_string()];
        let mut command;
        if let Target::MidRecordAlone { nth } = self.plan.target {
            command = Command::new(victim);
            command.env("SILVERPOINT_FILTER", "trace").env("SILVERPOINT_COLLECTOR", "1");
            command.env("SILVERPOINT_POLICY", "block=forever").env("KILL_AT", nth.to_string());
        } else {
            command = Command::new(&self.programs.silverpoint);
            command.args(["run", "--policy", "block=forever", "-o"]).arg(self.output());
            if self.plan.compact {
                command.arg("--compact");
            }
            if self.plan.rotate {
                command.args(["--rotate-size", "64K"]);
            }
            command.arg("--").arg(victim).env_remove("SILVERPOINT_FAULT").env_remove("KILL_AT");
            if self.plan.small {
                command.env("SILVERPOINT_MEMORY", "256K");
            }
        }
        command.arg(self.folder.path().join("counts")).args(words).env("SILVERPOINT_DIR", self.sessions());
        if let Some(faults) = self.plan.target.faults() {
            command.env("SILVERPOINT_FAULT", faults);
        }
        if let Target::MidRecord { nth } = self.plan.target {
            command.env("KILL_AT", nth.to_string());
        }
        let errors = File::create(self.errors()).map_err(|e| e.to_string())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        command.spawn().map_err(|e| format!("the program cannot be started: {e}"))
    }

    fn sessions(&self) -> PathBuf {
        self.root.path().join("root")
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("trace.silver")
    }

    fn errors(&self) -> PathBuf {
        self.folder.path().join("errors")
    }

    /// Stores what the dead left behind.
    fn recover(&self) -> Result<(), String> {
        let done = Command::new(&self.programs.silverpoint)
            .args(["recover", "--all", "-o"])
            .arg(self.folder.path().join("recovered.silver"))
            .env("SILVERPOINT_DIR", self.sessions())
            .output()
            .map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&done.stderr);
        let _ = fs::OpenOptions::new()
            .append(true)
            .open(self.errors())
            .and_then(|mut errors| std::io::Write::write_all(&mut errors, said.as_bytes()));
        if !done.status.success() {
            return Err(format!("recover: {}", done.status));
        }
        Ok(())
    }

    /// Collectors that died, as the supervisor says.
    fn deaths(&self) -> usize {
        fs::read_to_string(self.errors()).unwrap_or_default().matches(DEATH).count()
    }

    /// The named places were really reached, and not more often than planned.
    fn check_deaths(&self) -> Result<(), String> {
        let (died, planned) = (self.deaths(), self.plan.target.deaths());
        match &self.plan.target {
            Target::CollectorAt { .. } if died != planned => {
                Err(format!("{died} collectors died at their places, {planned} were to"))
            }
            _ => Ok(()),
        }
    }

    fn check_nothing_left(&self) -> Result<(), String> {
        let mut left = Vec::new();
        entries(&self.sessions(), &mut left);
        if left.is_empty() { Ok(()) } else { Err(format!("sessions are left behind: {left:?}")) }
    }
}

/// Everything beneath a directory.
fn entries(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        found.push(entry.path());
        entries(&entry.path(), found);
    }
}

fn died_by_kill(status: ExitStatus) -> Result<(), String> {
    match status.signal() {
        Some(9) => Ok(()),
        _ => Err(format!("the program was to die in the middle of a record, but ended with {status}")),
    }
}
