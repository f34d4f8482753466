//! The command line of `silverpoint convert`.

use std::path::{Path, PathBuf};

use crate::input::Wanted;

/// Convert records from any format to any other
///
/// The formats follow from the file names, or from --from and --to. Several inputs are merged by time. The
/// new file appears under its name only when it is complete.
///
/// An input may also be a process id, or a name without dot and slash that is not a file's (`*` and `?`
/// match). It stands for the living sessions of these processes.
///
/// Exit status 0: done. 3: damage was left out. 4: an input is not a trace file. 6: no such session. 1: an
/// input is malformed, or nothing could be written.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Inputs, then the output; `-` is standard input or output, `otlp+http://HOST:PORT` an OpenTelemetry
    /// collector
    #[arg(value_name = "FILE|PID|NAME", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// Format of the inputs
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<String>,
    /// Format of the output
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<String>,
    /// For JSON and JSON lines: write all that is needed to read the records back completely
    #[arg(long)]
    pub(super) lossless: bool,
    /// For Parquet and Arrow: only the records of this event, span, counter or template, with a typed column
    /// for each argument
    #[arg(long, value_name = "NAME")]
    pub(super) event: Option<String>,
    /// For CTF: take the clock of another trace of CTF, so that both have one timeline. It was recorded at the
    /// same time by LTTng, or by `perf record -k mono`. Inputs are trace files of one boot
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) clock_from: Option<PathBuf>,
    /// Skip and count records that are malformed or that the output cannot hold
    #[arg(long)]
    pub(super) keep_going: bool,
    /// Replace the output if it exists
    #[arg(long)]
    pub(super) force: bool,
    /// Read exactly the named trace files, not the other parts of a rotated trace
    #[arg(long)]
    pub(super) only: bool,
    /// Follow living sessions until their processes end or Ctrl-C; the output is complete then
    #[arg(short, long)]
    pub(super) follow: bool,
    #[command(flatten)]
    pub(super) wanted: Wanted,
    /// Report neither progress nor what is missing; the exit status still shows what is missing
    #[arg(short, long)]
    pub(super) quiet: bool,
}

impl Args {
    /// The output's name, for messages.
    pub(super) fn output(&self) -> String {
        match self.files.last() {
            Some(path) if path != Path::new("-") => path.display().to_string(),
            _ => "standard output".to_owned(),
        }
    }
}
