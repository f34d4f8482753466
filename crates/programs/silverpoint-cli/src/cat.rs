//! `silverpoint cat`: the records of trace files as text or JSON lines, in order of time.

use std::fmt::Write;
use std::thread;
use std::time::Duration;

use silverpoint_query::filter::Filter;
use silverpoint_trace::{Follow, Trace};

use crate::exit::{Exit, Outcome, failure};
use crate::input::{Files, Output, Wanted, exit, tell};
use crate::printing::{Printer, Printing, last};

/// Show the records of trace files as text or JSON lines
///
/// Exit status 0: the files are whole, or only cut at their end, which is reported. 3: damage before the end
/// was left out. 4: a file is not a trace file. 1: a file cannot be read.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    wanted: Wanted,
    /// Keep reading as the files grow and rotate, until they are closed
    #[arg(short, long)]
    follow: bool,
    /// Show only the number of records
    #[arg(long, conflicts_with_all = ["follow", "json", "head", "tail"])]
    count: bool,
    /// Show only the first N records
    #[arg(long, value_name = "N", conflicts_with = "tail")]
    head: Option<u64>,
    /// Show only the last N records
    #[arg(short = 'n', long = "lines", alias = "tail", value_name = "N")]
    tail: Option<u64>,
    #[command(flatten)]
    printing: Printing,
    /// Do not report what is missing; the exit status still shows it
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let mut filter = args.wanted.filter()?;
    let trace = args.files.open()?;
    if args.count {
        return count(&args, &trace, &filter);
    }
    let mut skip = 0;
    if let Some(wanted) = args.tail {
        (filter, skip) = last(&trace, &filter, wanted);
    }
    let most = args.head.unwrap_or(u64::MAX);
    // Growing output is shown as it comes.
    let out = if args.follow { Output::new() } else { Output::paged() };
    let mut printer = Printer::new(&args.printing, args.wanted.zone(), out, &trace).only(skip, most);
    if args.follow {
        return follow(&args, trace, &filter, &mut printer);
    }
    let mut events = trace.select(&filter);
    while printer.wants_more()
        && let Some(event) = events.next()
    {
        printer.print(&event)?;
    }
    if !printer.out.finish()? {
        return Ok(Exit::Success);
    }
    if !args.quiet {
        tell(trace.notes().iter().chain(events.notes()));
    }
    Ok(exit(events.verdict()))
}

/// Interval between reads of files that may have grown.
const LOOK: Duration = Duration::from_millis(50);

fn follow(args: &Args, trace: Trace, filter: &Filter, printer: &mut Printer) -> Outcome {
    if trace.is_foreign() {
        if !args.quiet {
            tell(trace.notes().iter());
        }
        return Ok(Exit::NotATraceFile);
    }
    let mut damaged = Exit::Success;
    let mut follow = Follow::new(trace, &args.files.heads(), filter);
    while printer.wants_more() {
        let notes = follow.poll(printer).map_err(failure)?;
        printer.pass_on()?;
        if !args.quiet {
            tell(notes.iter());
        }
        if notes.iter().any(|note| exit(note.matter.verdict()) == Exit::Damaged) {
            damaged = Exit::Damaged;
        }
        if follow.is_finished() {
            break;
        }
        thread::sleep(LOOK);
    }
    Ok(damaged)
}

/// Prints the number of matching records.
fn count(args: &Args, trace: &Trace, filter: &Filter) -> Outcome {
    let counted = trace.count(filter);
    let mut out = Output::new();
    let _ = writeln!(out.text, "{}", counted.events);
    out.flush()?;
    if !args.quiet && !out.is_gone() {
        tell(trace.notes().iter().chain(&counted.notes));
    }
    Ok(exit(counted.verdict(trace)))
}
