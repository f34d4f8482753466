//! `silverpoint stats`: what a trace holds, in numbers.

use silverpoint_query::stats::{Signs, TextOptions, collect_with, push_json, push_text};
use silverpoint_trace::worst;

use crate::exit::Outcome;
use crate::input::{Files, Output, Wanted, exit, tell};
use crate::terminal;

/// Count what trace files hold: records by site, thread and level, latencies of spans, counters, losses and
/// their causes
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
    /// The most rows of sites, spans and counters, in text; 0: all
    #[arg(long, value_name = "N", default_value_t = 20)]
    rows: usize,
    /// Show the number of records over time, in at most N equal intervals, in all and for each site [default
    /// of N: 40]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "40",
          value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rates: Option<u16>,
    /// Draw the durations of spans: one line for each power of two
    #[arg(long)]
    histograms: bool,
    /// Draw with ASCII characters only, also where the locale has others
    #[arg(long)]
    ascii: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let filter = args.wanted.filter()?;
    let trace = args.files.open()?;
    let statistics = collect_with(&trace, &filter, args.rates.map_or(0, usize::from));
    let mut out = Output::paged();
    if args.json {
        push_json(&mut out.text, &statistics, &trace);
    } else {
        let options = TextOptions {
            top: args.rows,
            zone: args.wanted.zone(),
            colour: terminal::colour(),
            signs: if args.ascii || !terminal::unicode() { Signs::Ascii } else { Signs::Unicode },
            width: terminal::width(),
            histograms: args.histograms,
        };
        push_text(&mut out.text, &statistics, &trace, &options);
    }
    if out.finish()? {
        tell(statistics.notes.iter());
    }
    Ok(exit(worst(&statistics.notes)))
}
