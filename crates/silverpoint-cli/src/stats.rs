//! `silverpoint stats`: what a trace holds, in numbers.

use silverpoint_formats::stats::{collect, push_json, push_text};
use silverpoint_formats::tracefile::worst;

use crate::exit::Outcome;
use crate::input::{Files, Output, Wanted, exit, tell};

/// Count what trace files hold: records by site, thread and level, spans, counters, losses
///
/// Exit status as of `cat`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    wanted: Wanted,
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// How many sites, spans and counters are shown; 0: all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let filter = args.wanted.filter()?;
    let trace = args.files.open()?;
    let statistics = collect(&trace, &filter);
    let mut out = Output::new();
    if args.json {
        push_json(&mut out.text, &statistics, &trace);
    } else {
        push_text(&mut out.text, &statistics, &trace, args.top, &args.wanted.zone());
    }
    out.flush()?;
    if !out.is_gone() && !args.json {
        tell(statistics.notes.iter());
    }
    Ok(exit(worst(&statistics.notes)))
}
