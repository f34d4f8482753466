//! `silverpoint run`: runs a command and collects what it and its children record.
//!
//! ```text
//!  supervisor ──starts──▶ collector (a session of its own; started again when it dies; outlives the supervisor when it must)
//!      └──────starts──▶ command (same terminal, same standard streams; signals and exit status pass through)
//! ```

mod echo;
mod find;
mod keeper;
mod supervise;

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use silverpoint_shm::root::Root;

use crate::backtrace::Backtrace;
use crate::collect::OnExisting;
use crate::exit::{Exit, Failed, Outcome, note};
use crate::sessions::RUN_PREFIX;
use crate::store::{Store, directives};
use crate::summary::Summary;
use crate::{names, policy};

use echo::Echo;
use keeper::{Finished, Keeper, Task};
use supervise::Signals;

/// Run a command and record what it, and everything that it starts, traces
///
/// Standard streams, signals and the exit status pass through. Whatever dies, and when, everything recorded is stored exactly once.
#[derive(clap::Args)]
#[command(trailing_var_arg = true)]
#[command(
    after_help = "Exit status: that of COMMAND, or death by the signal it died of. 125: silverpoint could not begin (nothing was \
started); 126: COMMAND cannot be executed; 127: it was not found; 2: wrong usage."
)]
pub struct Args {
    /// The trace file; one that is there is replaced [default: NAME.silver after the command, NAME-2.silver … when it is there]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which sites record, for example info,net=debug,pump.cpp:88=on
    #[arg(long, value_name = "DIRECTIVES", default_value = "trace", value_parser = directives)]
    filter: String,
    /// What a program does when its ring is full: block, block=forever, drop or overwrite; also by level (block,debug=drop)
    #[arg(long, value_name = "POLICY", value_parser = policy::parse)]
    policy: Option<String>,
    /// Show the records as text on standard error as they come
    #[arg(long)]
    echo: bool,
    /// Say nothing at the end, unless records were lost
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    backtrace: Backtrace,
    #[command(flatten)]
    store: Store,
    /// The command and its arguments
    #[arg(required = true, value_name = "COMMAND", allow_hyphen_values = true)]
    command: Vec<OsString>,
}

fn run_failed(message: impl Into<String>) -> Failed {
    Failed::new(Exit::RunFailed, message)
}

pub fn run(args: Args) -> Outcome {
    find::check(&args.command[0])?;
    let (output, existing) = match &args.output {
        Some(path) => (path.clone(), OnExisting::Replace),
        None => (names::free(&args.command[0]), OnExisting::Refuse),
    };
    let output =
        std::path::absolute(&output).map_err(|error| run_failed(format!("{}: {error}", output.display())))?;
    let mut signals = Signals::watch()?;
    let root = private_root()?;
    let task = Task {
        root: root.clone(),
        output: output.clone(),
        existing,
        store: args.store.clone(),
        backtrace: args.backtrace,
        quiet: args.quiet,
    };
    let keeper = Keeper::start(task).map_err(|error| {
        let _ = std::fs::remove_dir(&root);
        run_failed(error)
    })?;
    let echo = args.echo.then(|| Echo::start(&output));
    let mut environment = vec![
        ("SILVERPOINT_DIR", root.into_os_string()),
        ("SILVERPOINT_FILTER", OsString::from(&args.filter)),
        ("SILVERPOINT_COLLECTOR", OsString::from("1")),
    ];
    environment.extend(args.policy.as_ref().map(|policy| ("SILVERPOINT_POLICY", OsString::from(policy))));
    let ended = supervise::command(&args.command, &environment, &mut signals);
    signals.end_on_request();
    let finished = keeper.finish();
    if let Some(echo) = echo {
        echo.finish();
    }
    match ended {
        Ok(ended) => {
            report(&args, &output, finished);
            ended.pass_on()
        }
        Err(failed) => {
            // Nothing ran, so that the file is empty.
            let _ = std::fs::remove_file(&output);
            Err(failed)
        }
    }
}

/// Says where the trace lies. What is said must not disturb a command whose standard error is read: one line, only at the end.
fn report(args: &Args, output: &Path, finished: Finished) {
    match finished {
        Finished::Background if !args.quiet => note(format_args!(
            "processes of the command are still running; they are collected into {} until they end",
            output.display()
        )),
        Finished::Left(Some(why)) => note(why),
        Finished::Background | Finished::Left(None) | Finished::Done => {}
    }
    match Summary::of(output) {
        Err(error) => note(format_args!("{}: {error}", output.display())),
        Ok(summary) if summary.sessions == 0 && !args.quiet => note(format_args!(
            "{} holds nothing: no process of the command used Silverpoint",
            output.display()
        )),
        Ok(summary) if !args.quiet || summary.is_lossy() => note(summary.line(output)),
        Ok(_) => {}
    }
}

/// A directory of sessions of this run alone, beneath the user's root, so that `ls`, `ctl` and `attach` find it.
fn private_root() -> Result<PathBuf, Failed> {
    let root = Root::open_or_create().map_err(|error| {
        run_failed(format!(
            "no directory for sessions can be made: {error} (set SILVERPOINT_DIR to one of your own with mode 0700)"
        ))
    })?;
    let path = std::path::absolute(root.path()).map_err(|error| run_failed(error.to_string()))?;
    for _ in 0..100 {
        let random = std::hash::RandomState::new().build_hasher().finish() as u32;
        let name = format!("{RUN_PREFIX}{}-{random:08x}", std::process::id());
        match rustix::fs::mkdirat(root.fd(), &name, rustix::fs::Mode::RWXU) {
            Ok(()) => return Ok(path.join(name)),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => {
                return Err(run_failed(format!(
                    "{}: {}",
                    path.join(name).display(),
                    std::io::Error::from(error)
                )));
            }
        }
    }
    Err(run_failed(format!("{}: no free name for a directory", path.display())))
}
