//! `silverpoint trim`: the records of a selection, as a file of their own.

use silverpoint_trace::Verdict;
use silverpoint_trace::rewrite::{Options, trim};

use crate::exit::{Exit, Outcome, inform};
use crate::input::{Files, Wanted, tell};
use crate::repair::{New, refuse_foreign, summary};

/// Write the records that the filters select into a file of their own
///
/// `cat` of the new file shows the same as `cat` of the old files with the same filters. The new file records
/// the selection, so that a reader does not take the rest for lost.
///
/// Exit status 0: done. 3: damage was left out. 4: a file is not a trace file. 1: nothing could be written.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    new: New,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let filter = args.wanted.filter()?;
    let trace = args.files.open()?;
    refuse_foreign(&trace)?;
    let options =
        Options { compression: args.new.compress, trimmed: args.wanted.text(), ..Options::default() };
    let (new, done) = args.new.write(&args.files.paths(), |file| trim(&trace, &filter, &options, file))?;
    let is_told = |verdict| verdict >= Verdict::Cut;
    tell(trace.notes().iter().filter(|note| is_told(note.matter.verdict())).chain(&done.notes));
    inform(format_args!("{new}: {}", summary(&done)));
    let damaged = done.notes.iter().any(|note| note.matter.verdict() == Verdict::Damaged);
    Ok(if damaged || trace.verdict() == Verdict::Damaged { Exit::Damaged } else { Exit::Success })
}
