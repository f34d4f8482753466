//! `silverpoint tail`: the last records of living sessions and files, and those that come.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use silverpoint_query::filter::Filter;
use silverpoint_trace::{Trace, with_parts};

use crate::exit::{Exit, Failed, Outcome, failure};
use crate::input::{Output, Wanted, exit, tell};
use crate::live::{Following, Live, Targets};
use crate::platform::ending;
use crate::printing::{Printer, Printing, last};

/// Show the last records of living sessions and trace files; with -f also new ones as they come
///
/// Reading changes nothing. A session with a collector is read from its collector's file. Without a collector
/// (a flight recorder) the rings are copied, and not emptied.
///
/// Exit status 0: done. 1: something cannot be read. 2: wrong usage. 3: a file is damaged. 4: a file is not a
/// trace file. 6: no such session.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Process ids, names of processes (`*` and `?` match), or trace files [default: all living sessions, with -f also those that begin later]
    #[arg(value_name = "PID|NAME|FILE")]
    targets: Vec<String>,
    /// Keep reading as records come, until the processes have ended and the files are closed
    #[arg(short, long)]
    follow: bool,
    /// Number of last records to show first; with -f all new ones follow
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    lines: u64,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    printing: Printing,
    /// Do not report what is missing; the exit status still shows it
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let targets = Targets::parse(&args.targets)?;
    let mut filter = args.wanted.filter()?;
    filter.processes.extend(targets.patterns());
    let mut live = Live::new(targets.clone());
    let mut files = targets.files.clone();
    files.extend(live.look()?);
    live.expect_some()?;
    // What lies in rings is copied whole by the second look.
    live.look()?;
    if args.follow {
        follow(&args, live, &files, &filter, !targets.files.is_empty())
    } else {
        show(&args, live, &files, &filter)
    }
}

/// The last records that there are now.
fn show(args: &Args, live: Live, files: &[PathBuf], filter: &Filter) -> Outcome {
    let trace = Trace::open(&with_parts(files)).map_err(failure)?;
    let (filter, skip) = last(&trace, filter, args.lines);
    let mut printer =
        Printer::new(&args.printing, args.wanted.zone(), Output::paged(), &trace).only(skip, u64::MAX);
    let mut events = trace.select(&filter);
    while printer.wants_more()
        && let Some(event) = events.next()
    {
        printer.print(&event)?;
    }
    // The directory of copies is not needed while the user reads a pager.
    drop(live);
    if printer.out.finish()? && !args.quiet {
        tell(trace.notes().iter().chain(events.notes()));
    }
    Ok(exit(events.verdict()))
}

fn follow(args: &Args, live: Live, files: &[PathBuf], filter: &Filter, of_files: bool) -> Outcome {
    let mut following = Following::begin(live, files, of_files, args.quiet)?;
    // Only after the files are open: opening a pipe waits for its writer, and a signal must be able to end
    // that.
    fail_at_size_limit()?;
    let stop = stop_at_signals()?;
    if following.trace().is_foreign() {
        if !args.quiet {
            tell(following.trace().notes().iter());
        }
        return Ok(Exit::NotATraceFile);
    }
    let (narrowed, skip) = last(following.trace(), filter, args.lines);
    following.set_filter(&narrowed);
    let mut printer = Printer::new(&args.printing, args.wanted.zone(), Output::new(), following.trace())
        .only(skip, u64::MAX);
    while printer.wants_more() && !stop.load(Ordering::Relaxed) {
        let goes_on = following.read(&mut printer)?;
        printer.pass_on()?;
        if !goes_on {
            break;
        }
        following.look()?;
    }
    Ok(following.found())
}

/// A flag that is set by the signals that end a program.
pub fn stop_at_signals() -> Result<Arc<AtomicBool>, Failed> {
    ending::flag().map_err(unwatched)
}

/// Makes the limit of files' sizes an ordinary error of writing.
pub fn fail_at_size_limit() -> Result<(), Failed> {
    ending::fail_at_size_limit().map_err(unwatched)
}

fn unwatched(error: std::io::Error) -> Failed {
    failure(format!("signals cannot be watched: {error}"))
}
