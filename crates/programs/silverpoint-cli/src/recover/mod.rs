//! `silverpoint recover`: finishes dead sessions that no collector stored, and copies what is intact out of a
//! damaged trace file.

mod file;
pub mod how;

use std::path::{Path, PathBuf};

use how::How;

use crate::dead;
use crate::exit::Outcome;

/// Store what dead sessions hold, or what is intact in a damaged trace file
///
/// A program that dies leaves its session behind, with everything that it had recorded. A session is removed
/// when it is stored.
///
/// Records that a logger inside the program had collected go to the logger's own logs: in order, each once,
/// as at the program's next start. With --keep they are copied into the trace file like all others, and still
/// wait for the log. Records that a log could not take (a full disk) stay in the logger's spool, a directory
/// beside the log (`app.log.spool`). Give `recover` that directory to continue.
#[derive(clap::Args)]
#[command(
    after_help = "Exit status: 0 everything is there; 5 stored, but something was really lost (standard error says what); 1 failed, or a \
session could not be opened (the others are stored); 2 wrong usage; 4 FILE is no trace file; 6 no such session."
)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub struct Args {
    /// Process id, name of a session (see `ls`), or path of a trace file or of a logger's spool
    #[arg(group = "what", value_name = "PID|SESSION|FILE|SPOOL")]
    target: Option<String>,
    /// All dead sessions
    #[arg(long, group = "what")]
    all: bool,
    /// The trace file to make. If it holds a part of these sessions, the rest is added. Any other existing
    /// file is replaced only with --force [default: a free name in the current directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the sessions where they are
    #[arg(long)]
    keep: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> Outcome {
    let how = How { output: args.output.as_deref(), keep: args.keep, force: args.force };
    if args.all {
        return dead::all(&how);
    }
    let target = args.target.as_deref().unwrap_or("");
    match dead::of_target(target, &how) {
        Some(outcome) => outcome,
        None => file::recover(Path::new(target), how.output, how.force),
    }
}
