//! `silverpoint run`: runs a command and collects what it and its children record.
//!
//! ```text
//!  supervisor ──starts──▶ collector (a session of its own; started again when it dies; outlives the supervisor when it must)
//!      └──────starts──▶ command (same terminal, same standard streams; signals and exit status pass through)
//! ```

mod echo;
mod keeper;

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use silverpoint_shm::root::{self, Root};

use crate::backtrace::Backtrace;
use crate::collect::OnExisting;
use crate::exit::{Exit, Failed, Outcome, note, run_failed};
use crate::platform::commands::{self, Signals};
use crate::sessions::RUN_PREFIX;
use crate::store::{Store, directives};
use crate::summary::Summary;
use crate::{names, policy};

use echo::Echo;
use keeper::{Finished, Keeper, Said, Task};

/// Run a command and record what it, and everything that it starts, traces
///
/// Standard streams, signals and the exit status pass through. Every record is stored exactly once, no matter
/// which process dies, and when.
#[derive(clap::Args)]
#[command(trailing_var_arg = true)]
#[command(
    after_help = "Exit status: that of COMMAND, or death by the signal it died of. 5: COMMAND ended with 0, but records could not be \
stored, or were removed; 125: silverpoint could not begin (nothing was \
started); 126: COMMAND cannot be executed; 127: it was not found; 2: wrong usage."
)]
pub struct Args {
    /// The trace file; an existing one is replaced [default: NAME.silver after the command, NAME-2.silver …
    /// if that exists]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which sites record, for example info,net=debug,pump.cpp:88=on
    #[arg(long, value_name = "DIRECTIVES", default_value = "trace", value_parser = directives)]
    filter: String,
    /// What a program does when its ring is full: block, block=forever, drop or overwrite; also by level (block,debug=drop)
    #[arg(long, value_name = "POLICY", value_parser = policy::parse)]
    policy: Option<String>,
    /// System tracers that tracepoints feed, too, beside the trace file; several are separated by commas
    #[arg(long, value_name = "TRACER", value_delimiter = ',')]
    probe: Vec<Probe>,
    /// Show the records as text on standard error as they come
    #[arg(long)]
    echo: bool,
    /// Print nothing at the end, unless records were lost
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

/// System tracers.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Probe {
    /// LTTng-UST
    Lttng,
    /// The kernel's user_events: perf and ftrace
    #[value(name = "user_events")]
    UserEvents,
    /// The kernel's trace_marker: Perfetto and ftrace
    #[value(name = "trace_marker")]
    TraceMarker,
}

impl Probe {
    /// Its name in `SILVERPOINT_PROBES`, and the variable that names its library.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Probe::Lttng => ("lttng", "SILVERPOINT_LTTNG_LIBRARY"),
            Probe::UserEvents => ("user_events", "SILVERPOINT_USER_EVENTS_LIBRARY"),
            Probe::TraceMarker => ("trace_marker", "SILVERPOINT_TRACE_MARKER_LIBRARY"),
        }
    }

    /// What a frontend needs to know. A library may lie beside this program, where the dynamic linker does not search.
    fn environment(all: &[Probe]) -> Vec<(&'static str, OsString)> {
        let names: Vec<&str> = all.iter().map(|probe| probe.names().0).collect();
        let mut environment = Vec::new();
        if !all.is_empty() {
            environment.push(("SILVERPOINT_PROBES", OsString::from(names.join(","))));
        }
        for probe in all {
            let (name, variable) = probe.names();
            let beside = std::env::current_exe().ok().and_then(|program| {
                let path = program.parent()?.parent()?.join(format!("lib/libsilverpoint_{name}.so.0"));
                path.is_file().then_some(path)
            });
            if let (Some(path), None) = (beside, std::env::var_os(variable)) {
                environment.push((variable, path.into_os_string()));
            }
        }
        environment
    }
}

pub fn run(args: Args) -> Outcome {
    commands::check(&args.command[0])?;
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
        filter: args.filter.clone(),
        quiet: args.quiet,
    };
    let keeper = Keeper::start(task).map_err(|error| {
        let _ = std::fs::remove_dir(&root);
        run_failed(error)
    })?;
    let echo = args.echo.then(|| Echo::start(&output));
    let mut environment = vec![
        ("SILVERPOINT_DIR", root.clone().into_os_string()),
        ("SILVERPOINT_FILTER", OsString::from(&args.filter)),
        ("SILVERPOINT_COLLECTOR", OsString::from("1")),
    ];
    environment.extend(args.policy.as_ref().map(|policy| ("SILVERPOINT_POLICY", OsString::from(policy))));
    environment.extend(Probe::environment(&args.probe));
    let ended = commands::run(&args.command, &environment, &mut signals);
    signals.end_on_request();
    let (finished, said) = keeper.finish();
    if let Some(echo) = echo {
        echo.finish();
    }
    match ended {
        Ok(ended) => {
            let is_complete = report(&args, &output, &root, finished, &said);
            match ended.is_success() && !is_complete {
                true => Ok(Exit::Lossy),
                false => ended.pass_on(),
            }
        }
        Err(failed) => {
            // Nothing ran, so that the file is empty.
            let _ = std::fs::remove_file(&output);
            Err(failed)
        }
    }
}

/// Reports where the trace is. It prints one line, only at the end, so that it does not disturb a command
/// whose standard error is read. False: records are missing that could not be stored or that were removed.
fn report(args: &Args, output: &Path, root: &Path, finished: Finished, said: &Said) -> bool {
    let is_over = finished != Finished::Background;
    let mut is_complete = true;
    match finished {
        Finished::Background if !args.quiet => note(format_args!(
            "processes of the command are still running; they are collected into {} until they end",
            output.display()
        )),
        Finished::Left(why) => {
            is_complete = false;
            why.into_iter().for_each(note);
        }
        Finished::Background | Finished::Done => {}
    }
    let mut summary = match Summary::of_what_is_there(output) {
        Ok(summary) => summary,
        Err(error) => {
            note(format_args!("{}: {error}", output.display()));
            return false;
        }
    };
    summary.missing = said.missing;
    if is_over {
        summary.add_sessions_left(root);
    }
    is_complete &= !summary.is_incomplete();
    if summary.sessions == 0 && is_complete && !summary.is_lossy() {
        if !args.quiet {
            note(nothing_in(output, &args.filter, said.sessions));
        }
    } else if !args.quiet || !is_complete || summary.is_lossy() {
        note(summary.line(output));
    }
    if !args.quiet && is_over && said.sessions > 0 && !said.unmatched.is_empty() {
        note(format_args!("--filter: no site that ran matches {}", said.unmatched));
    }
    is_complete
}

/// Why a trace is empty: programs that do not use Silverpoint, or a filter that lets nothing through.
fn nothing_in(output: &Path, filter: &str, sessions: u64) -> String {
    let output = output.display();
    match sessions {
        0 => format!("{output} holds nothing: no process of the command used Silverpoint"),
        sessions => {
            let processes =
                if sessions == 1 { "a process".to_owned() } else { format!("{sessions} processes") };
            format!(
                "{output} holds nothing: {processes} of the command used Silverpoint and recorded nothing that --filter '{filter}' lets through"
            )
        }
    }
}

/// A directory of sessions of this run alone, beneath the user's root, so that `ls`, `ctl` and `attach` find it.
fn private_root() -> Result<PathBuf, Failed> {
    let root = Root::open_or_create().map_err(|error| {
        run_failed(format!("the directory of sessions cannot be used: {}", root::explained(error)))
    })?;
    let path = std::path::absolute(root.path())
        .map_err(|error| run_failed(format!("{}: {error}", root.path().display())))?;
    for _ in 0..100 {
        let random = std::hash::RandomState::new().build_hasher().finish() as u32;
        let name = format!("{RUN_PREFIX}{}-{random:08x}", std::process::id());
        match root.make_beneath(&name) {
            Ok(()) => return Ok(path.join(name)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(run_failed(format!("{}: {error}", path.join(name).display()))),
        }
    }
    Err(run_failed(format!("{}: no free name for a directory", path.display())))
}
