//! `silverpoint verify`: whether trace files conform to the specification.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use silverpoint_trace::Source;
use silverpoint_trace::verify::{Depth, Severity, Verified, verify};

use crate::exit::{Exit, Outcome, failure, note};
use crate::input::{Output, exit};
use crate::progress::Progress;
use crate::units::{show_bytes, show_number};

/// Check trace files to the last record: checksums, numbers, dictionaries, arguments, summaries, index
///
/// Findings go to standard output. Standard error also says when a file is not in order.
///
/// Exit status 0: the files are in order, or only cut at their end, which is reported. 3: something before
/// the end is damaged or contradicts itself. 4: a file is not a trace file. 1: a file cannot be read.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Trace files; exactly these, not the other parts of a rotated trace
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Checksums and numbers of blocks only
    #[arg(long)]
    quick: bool,
    /// Print nothing; the exit status shows the result
    #[arg(short, long)]
    quiet: bool,
}

/// Most findings shown for one file.
const SHOWN: u64 = 100;

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let depth = if args.quick { Depth::Checksums } else { Depth::Whole };
    let mut out = Output::new();
    let mut worst = Exit::Success;
    for path in &args.files {
        let found = match one(path, depth, args.quiet, &mut out) {
            Ok(found) => {
                out.flush()?;
                if found.faults > 0 && !args.quiet {
                    note(format_args!("{}: {}", path.display(), summary(&found)));
                }
                exit(found.verdict())
            }
            Err(error) => {
                note(failure(format!("{}: {error}", path.display())));
                Exit::Failure
            }
        };
        worst = worse(worst, found);
    }
    Ok(worst)
}

/// A file that cannot be read outweighs everything; otherwise the code rises with the damage.
fn worse(a: Exit, b: Exit) -> Exit {
    let rank = |exit: Exit| if exit == Exit::Failure { u8::MAX } else { exit as u8 };
    if rank(b) > rank(a) { b } else { a }
}

fn one(path: &Path, depth: Depth, quiet: bool, out: &mut Output) -> std::io::Result<Verified> {
    let source = Source::open(path)?;
    let progress = if quiet { None } else { Some(Progress::of_reading(source.size()?)) };
    let mut told = 0;
    let found = verify(&source, depth, |finding| {
        told += 1;
        if !quiet && told <= SHOWN {
            let mark = if finding.severity == Severity::Remark { "note: " } else { "" };
            let _ = writeln!(out.text, "{}: {mark}{finding}", path.display());
        }
    });
    drop(progress);
    let found = found?;
    if !quiet {
        if told > SHOWN {
            let _ = writeln!(out.text, "{}: … and {} more", path.display(), told - SHOWN);
        }
        if found.faults == 0 {
            let _ = writeln!(out.text, "{}: {}", path.display(), summary(&found));
        }
    }
    Ok(found)
}

fn summary(found: &Verified) -> String {
    let faults = match found.faults {
        0 => "in order".to_owned(),
        faults => format!("{}, {}", found.verdict(), show_number(faults, "fault")),
    };
    format!(
        "{faults}: {} with {}, {}",
        show_number(found.blocks, "block"),
        show_number(found.records, "record"),
        show_bytes(found.bytes)
    )
}
