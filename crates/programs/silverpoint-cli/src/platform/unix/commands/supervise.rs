//! The command: started, watched, its signals and its end passed on.
//!
//! It stays in this process's group, so that a terminal treats both as one job. Signals from the terminal
//! reach both; signals from a process to the supervisor are passed on. Ctrl-Z stops the command first and the
//! supervisor after it. So a command that refuses to stop still has its supervisor.

use std::ffi::OsString;
use std::io::{IsTerminal, stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getpgid, getpgrp, kill_process,
    set_dumpable_behavior, setrlimit, waitid,
};
use rustix::termios::tcgetpgrp;
use signal_hook::consts::signal::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH,
};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;
use signal_hook::low_level::siginfo::{Cause, Sent};
use signal_hook::low_level::{emulate_default_handler, raise};

use crate::exit::{Exit, Failed, Outcome, run_failed};
use crate::platform::interrupts::is_ignored;

/// Signals that are passed on to the command.
const PASSED_ON: [i32; 10] =
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP];

/// The signals of this process, watched from before anything is started.
pub struct Signals(SignalsInfo<WithOrigin>);

impl Signals {
    /// Watches them. What is ignored already (as `nohup` ignores SIGHUP) stays ignored, also for the command.
    pub fn watch() -> Result<Self, Failed> {
        let watched = PASSED_ON.iter().filter(|signal| !is_ignored(**signal)).chain([&SIGCHLD]);
        SignalsInfo::<WithOrigin>::new(watched)
            .map(Self)
            .map_err(|error| run_failed(format!("signals cannot be watched: {error}")))
    }

    /// From now on a signal that asks this process to end does so at once: the command has ended, and the
    /// collector finishes without help.
    pub fn end_on_request(mut self) {
        let watched: Vec<i32> = ENDING.iter().copied().filter(|signal| !is_ignored(*signal)).collect();
        let end = move || {
            for origin in self.0.forever() {
                if ENDING.contains(&origin.signal) {
                    end_by(origin.signal);
                }
            }
        };
        if std::thread::Builder::new().name("signals".into()).spawn(end).is_err() {
            // If no thread can be started, the handler itself does it. A signal that leaves a core by default
            // may leave one.
            for signal in watched {
                let always = Arc::new(AtomicBool::new(true));
                let _ = signal_hook::flag::register_conditional_default(signal, always);
            }
        }
    }
}

/// Signals that ask a process to end.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// How the command ended.
pub struct Ended(ExitStatus);

impl Ended {
    /// Whether it ended by itself, with 0.
    pub fn is_success(&self) -> bool {
        self.0.success()
    }

    /// Ends this program as the command ended: with its code, or by its signal.
    pub fn pass_on(self) -> Outcome {
        match self.0.signal() {
            Some(signal) => end_by(signal),
            None => std::process::exit(self.0.code().unwrap_or(Exit::Failure as i32)),
        }
    }
}

fn end_by(signal: i32) -> ! {
    // The command left a core already, if one was wanted.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // The table of defaults lacks the real-time signals and some others; none of these has a handler here.
    let _ = emulate_default_handler(signal);
    let _ = raise(signal);
    std::process::exit(128 + signal)
}

/// Runs the command to its end.
pub fn run(
    words: &[OsString],
    environment: &[(&str, OsString)],
    signals: &mut Signals,
) -> Result<Ended, Failed> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    for (name, value) in environment {
        command.env(name, value);
    }
    let mut child = command.spawn().map_err(|error| {
        let command = words[0].to_string_lossy();
        match error.kind() {
            std::io::ErrorKind::NotFound => Failed::new(Exit::NotFound, format!("{command}: {error}")),
            // Not the command's fault.
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::OutOfMemory => run_failed(format!(
                "no process can be started for {command}: {error} (`ulimit -u`, and the limits of memory and of the container, say how many there may be)"
            )),
            _ => Failed::new(Exit::CannotExecute, format!("{command}: {error}")),
        }
    })?;
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| run_failed("the command has no process id"))?;
    // The first look finds an end that came before its signal was watched.
    loop {
        if let Some(status) = look(&mut child)? {
            return Ok(Ended(status));
        }
        let arrived: Vec<Origin> = signals.0.wait().collect();
        let mut continued = false;
        for origin in arrived.iter().filter(|origin| origin.signal != SIGCHLD) {
            continued |= origin.signal == SIGCONT;
            if is_for_command(origin, pid) {
                forward(pid, origin.signal);
            }
        }
        // A stop that the terminal has just ended is not followed.
        let stopped = waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG);
        if matches!(stopped, Ok(Some(_))) && !continued && is_foreground_job() {
            let _ = raise(SIGSTOP);
        }
    }
}

fn look(child: &mut Child) -> Result<Option<ExitStatus>, Failed> {
    child.try_wait().map_err(|error| run_failed(format!("the command cannot be waited for: {error}")))
}

/// Whether to pass a signal on. Signals from the terminal reach the command anyway, unless it has left the
/// process group.
fn is_for_command(origin: &Origin, pid: Pid) -> bool {
    let from_process = matches!(origin.cause, Cause::Sent(Sent::User | Sent::TKill | Sent::Queue));
    let sender = origin.process.map(|process| process.pid);
    // A command that signals its parent does not want the signal back.
    let from_command = sender == Some(pid.as_raw_nonzero().get());
    let left_group = getpgid(Some(pid)).is_ok_and(|group| group != getpgrp());
    (from_process && !from_command) || (left_group && !matches!(origin.signal, SIGWINCH | SIGCONT))
}

fn forward(pid: Pid, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // It may have ended this very moment.
        let _ = kill_process(pid, signal);
    }
}

/// Whether a shell at a terminal waits for this job to end or stop. Nothing else would ever continue it.
fn is_foreground_job() -> bool {
    let own = getpgrp();
    let at = |stream: &dyn Fn() -> Option<Pid>| stream().is_some_and(|group| group == own);
    at(&|| stdin().is_terminal().then(|| tcgetpgrp(stdin().as_fd()).ok()).flatten())
        || at(&|| stderr().is_terminal().then(|| tcgetpgrp(stderr().as_fd()).ok()).flatten())
        || at(&|| stdout().is_terminal().then(|| tcgetpgrp(stdout().as_fd()).ok()).flatten())
}
