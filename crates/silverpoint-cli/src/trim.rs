//! `silverpoint trim`: the records of a selection, as a file of their own.

use silverpoint_formats::tracefile::Verdict;
use silverpoint_formats::tracefile::rewrite::{Options, trim};

use crate::exit::{Exit, Outcome, inform};
use crate::input::{Files, Wanted, tell};
use crate::repair::{New, refuse_foreign, summary};

/// Write the records that the filters select into a file of their own
///
/// `cat` of the new file gives what `cat` with the same filters gives of the old ones. The new file says of itself what was selected, so that nobody takes
/// what is not there for lost.
///
/// Exit status: 0; 3 when something was damaged (what is intact was written), 4 when a file is no trace file; 1 when nothing could be written.
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
