//! `silverpoint repair` and `silverpoint merge`: what is intact in trace files, as one clean file.

use std::io::{self, Write};
use std::path::PathBuf;

use silverpoint_trace::rewrite::{Options, Rewritten, rewrite};
use silverpoint_trace::{Matter, Source, Trace, Verdict, with_parts};
use silverpoint_wire::compression::Compression;

use crate::exit::{Exit, Failed, Outcome, failure, inform, note};
use crate::input::tell;
use crate::interrupts;
use crate::newfile::NewFile;
use crate::progress::Progress;
use crate::units::{show_bytes, show_number};

/// Write everything that is intact in a trace file into a clean one
///
/// The file itself is not changed. Summaries and the index are rebuilt. Records without a description are
/// overwritten with pads. Standard error says what is missing.
///
/// Exit status 0: nothing was missing. 5: something was. 4: the file is not a trace file. 1: failed.
#[derive(clap::Args, Debug)]
pub struct RepairArgs {
    /// The trace file; exactly this, not the other parts of a rotated trace
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    new: New,
}

/// Make one trace file of several: parts of a rotated trace, processes, sessions
///
/// Records that several files hold are taken once. Blocks are put in order of time.
///
/// Exit status 0: all files are whole. 3: damage before a file's end was left out. 4: a file is not a trace
/// file. 1: failed. With 4 and 1 nothing is written.
#[derive(clap::Args, Debug)]
pub struct MergeArgs {
    /// Trace files. The parts of a rotated trace are found from any of them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Read exactly the files named, not the other parts of a rotated trace
    #[arg(long)]
    only: bool,
    #[command(flatten)]
    new: New,
}

/// The file to be made.
#[derive(clap::Args, Debug)]
pub struct New {
    /// The file to write. It appears under this name only when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Compress blocks: none, lz4, zstd, zstd:LEVEL (1 to 19). By default each block keeps its compression
    /// (zstd at the level that its file states, else 1)
    #[arg(long, value_name = "HOW")]
    pub compress: Option<Compression>,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
}

/// Runs `repair`.
pub fn repair(args: RepairArgs) -> Outcome {
    let paths = [args.file];
    let trace = open(&paths)?;
    let is_damaged = |matter: &Matter| matter.verdict() >= Verdict::Cut;
    let missing = trace.notes().iter().filter(|note| is_damaged(&note.matter)).count();
    let remark = format!("repaired from {}: {missing} places of damage", paths[0].display());
    let (new, done) = write(&trace, &paths, &args.new, true, remark)?;
    tell(trace.notes().iter().filter(|note| is_damaged(&note.matter)).chain(&done.notes));
    if done.undecodable > 0 {
        let records = show_number(done.undecodable, "record");
        note(format_args!("{new}: {records} without a description were overwritten"));
    }
    inform(format_args!("{new}: {}", summary(&done)));
    let is_whole = missing == 0 && done.notes.is_empty() && done.undecodable == 0;
    Ok(if is_whole { Exit::Success } else { Exit::Lossy })
}

/// Runs `merge`.
pub fn merge(args: MergeArgs) -> Outcome {
    let paths = if args.only { args.files } else { with_parts(&args.files) };
    let trace = open(&paths)?;
    let remark = format!("merged from {}", show_number(paths.len() as u64, "file"));
    let (new, done) = write(&trace, &paths, &args.new, false, remark)?;
    tell(trace.notes().iter().filter(|note| note.matter.verdict() >= Verdict::Cut).chain(&done.notes));
    inform(format_args!("{new}: {}", summary(&done)));
    let is_damaged = trace.verdict() == Verdict::Damaged || !done.notes.is_empty();
    Ok(if is_damaged { Exit::Damaged } else { Exit::Success })
}

/// What was written, as text.
pub fn summary(done: &Rewritten) -> String {
    let mut text = format!(
        "{} with {}, {}",
        show_number(done.blocks, "block"),
        show_number(done.records, "record"),
        show_bytes(done.bytes)
    );
    if done.duplicates > 0 {
        text += &format!("; {} left out", show_number(done.duplicates, "duplicate"));
    }
    text
}

/// All files, each of which must be a trace file.
fn open(paths: &[PathBuf]) -> Result<Trace, Failed> {
    let mut sources = Vec::new();
    for path in paths {
        let opened = Source::open(path);
        sources.push(opened.map_err(|error| failure(format!("{}: {error}", path.display())))?);
    }
    let trace = Trace::from_sources(sources).map_err(failure)?;
    refuse_foreign(&trace)?;
    Ok(trace)
}

/// An error when a file is no trace file.
pub fn refuse_foreign(trace: &Trace) -> Result<(), Failed> {
    let foreign = trace.notes().iter().find(|note| note.matter.verdict() == Verdict::NotATraceFile);
    foreign.map_or(Ok(()), |note| Err(Failed::new(Exit::NotATraceFile, note.to_string())))
}

fn write(
    trace: &Trace,
    inputs: &[PathBuf],
    new: &New,
    mend: bool,
    remark: String,
) -> Result<(String, Rewritten), Failed> {
    let options = Options { compression: new.compress, remark, mend, ..Options::default() };
    new.write(inputs, |file| rewrite(trace, &options, file))
}

impl New {
    /// Makes the file completely or not at all. Gives its name and what was written.
    pub fn write(
        &self,
        inputs: &[PathBuf],
        fill: impl FnOnce(&mut dyn Write) -> io::Result<Rewritten>,
    ) -> Result<(String, Rewritten), Failed> {
        let name = self.output.display().to_string();
        let to = |error: io::Error| failure(format!("{name}: {error}"));
        interrupts::watch();
        let mut file = NewFile::create(&self.output, inputs, self.force)?;
        let sizes = inputs.iter().filter_map(|input| std::fs::metadata(input).ok());
        let progress = Progress::of_reading(sizes.map(|found| found.len()).sum());
        let done = fill(&mut file);
        progress.end();
        let done = done.map_err(to)?;
        file.finish().map_err(to)?;
        Ok((name, done))
    }
}
