use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::ending;
use crate::exit::{Exit, Failed, Outcome, run_failed};

/// Checks that a command is there. One that is named by a path is looked at; Windows searches for others when it starts
/// them.
pub fn check(command: &OsStr) -> Result<(), Failed> {
    let name = command.to_string_lossy();
    if command.is_empty() {
        return Err(Failed::new(Exit::NotFound, "the command is empty"));
    }
    if !name.contains(['/', '\\']) {
        return Ok(());
    }
    // Windows adds the ending itself.
    let with_ending = Path::new(command).with_added_extension("exe");
    match std::fs::metadata(command).or_else(|error| std::fs::metadata(with_ending).map_err(|_| error)) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(Failed::new(Exit::CannotExecute, format!("{name}: it is no regular file"))),
        Err(error) => Err(Failed::new(Exit::NotFound, format!("{name}: {error}"))),
    }
}

/// The exit code of a program that Ctrl-C ends.
const INTERRUPTED: i32 = 130;

/// Ctrl-C ends the command, which has the same console, and not this process before it.
pub struct Signals(Arc<AtomicBool>);

impl Signals {
    /// Watched from before anything is started.
    pub fn watch() -> Result<Self, Failed> {
        ending::flag().map(Self).map_err(|error| run_failed(format!("signals cannot be watched: {error}")))
    }

    /// From now on Ctrl-C ends this process at once: the command has ended, and the collector finishes without help.
    pub fn end_on_request(self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        let _ = signal_hook::flag::register_conditional_shutdown(
            signal_hook::consts::SIGINT,
            INTERRUPTED,
            self.0,
        );
    }
}

/// How the command ended.
pub struct Ended(ExitStatus);

impl Ended {
    /// Whether it ended with 0.
    pub fn is_success(&self) -> bool {
        self.0.success()
    }

    /// Ends this program with the command's code.
    pub fn pass_on(self) -> Outcome {
        std::process::exit(self.0.code().unwrap_or(Exit::Failure as i32))
    }
}

/// Runs the command to its end.
pub fn run(words: &[OsString], environment: &[(&str, OsString)], _: &mut Signals) -> Result<Ended, Failed> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).envs(environment.iter().map(|(name, value)| (name, value)));
    let mut child = command.spawn().map_err(|error| {
        let command = words[0].to_string_lossy();
        let exit = match error.kind() {
            std::io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::CannotExecute,
        };
        Failed::new(exit, format!("{command}: {error}"))
    })?;
    let status =
        child.wait().map_err(|error| run_failed(format!("the command cannot be waited for: {error}")))?;
    Ok(Ended(status))
}
