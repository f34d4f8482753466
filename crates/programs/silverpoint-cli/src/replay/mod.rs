//! `silverpoint replay`: gives the records of trace files to sinks again, with their original timing.
//!
//! ```text
//! Trace ─▶ Pace (silverpoint_query::replay) ─▶ each Sink:  lines      standard output, standard error, a command
//!                                                            logger     files, syslog, journal, a logger's configuration
//!                                                            session    a living session of this process
//! ```

mod destination;
mod lines;
mod logger;
mod session;
mod sink;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use silverpoint_query::replay::{Pace, Played, RealTime, Schedule, Speed};
use silverpoint_render::units;
use silverpoint_trace::Trace;

use crate::exit::{Exit, Failed, Outcome, note};
use crate::input::{Files, Wanted, exit, tell};
use crate::printing::Printing;
use crate::tail::stop_at_signals;
use crate::units::show_count;
use destination::{Destination, parse};
use sink::Sink;

/// Give the records of trace files to sinks again, with their original timing
///
/// Records come at their original intervals (--speed 10: ten times as fast; --speed max: without waiting). A
/// late record is given at once, and does not delay those after it. Ctrl-C ends the replay, and what was
/// given until then is complete. At the end, the number of records and their delays are reported.
///
/// Exit status: as of cat; 1 also when a sink or its command failed.
#[derive(clap::Args, Debug)]
#[command(after_help = "Sinks:
  stdout, stderr       lines as `cat` shows them (--json, --style, --pattern …)
  '| COMMAND'          the same lines for a command's standard input: --json --sink '| jq .message'
  FILE                 lines appended: of JSON when it ends with .jsonl, a trace file when it ends with .silver, else of text
  syslog[:SOCKET], syslog:udp:HOST:PORT, syslog:tcp:HOST:PORT, journald[:SOCKET]
  session              a living session of this process, for `silverpoint tail` and `top`: times are now")]
pub struct Args {
    #[command(flatten)]
    files: Files,
    /// How fast: 1 as it was, 10 ten times as fast, 0.5 half as fast, `max` without waiting
    #[arg(long, value_name = "N|max", default_value = "1")]
    speed: Speed,
    /// Shorten pauses between records to this (500ms, 2s, 1m), in the time of the trace
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    max_gap: Option<Duration>,
    /// Where to; may be given several times
    #[arg(long, value_name = "SINK", value_parser = parse, default_value = "stdout")]
    sink: Vec<Destination>,
    /// Give them to the sinks of a logger's configuration; instead of standard output, or in addition to --sink
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    printing: Printing,
    /// Report neither what was given nor what is missing; the exit status still shows what is missing
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let filter = args.wanted.filter()?;
    let trace = args.files.open()?;
    if trace.is_foreign() {
        if !args.quiet {
            tell(trace.notes().iter());
        }
        return Ok(Exit::NotATraceFile);
    }
    let stop = stop_at_signals()?;
    let mut sinks = open(&args, &trace, &stop)?;
    let schedule = Schedule { speed: args.speed, max_gap: args.max_gap };
    let mut pace = Pace::new(schedule);
    let mut clock = RealTime::until(Arc::clone(&stop));
    let mut events = trace.select(&filter);
    let mut failed = None;
    while let Some(event) = events.next() {
        if !event.is_shown() {
            continue;
        }
        let pass_on = || failed = sinks.iter_mut().try_for_each(|sink| sink.pass_on()).err();
        let is_due = pace.wait(event.wall_ns, &mut clock, pass_on).is_some();
        if let Some(failed) = failed.take() {
            return Err(failed);
        }
        if !is_due {
            break;
        }
        for sink in &mut sinks {
            sink.take(&event)?;
        }
        if !sinks.iter().any(|sink| sink.wants_more()) {
            break;
        }
    }
    let mut remarks = Vec::new();
    let mut code = exit(events.verdict());
    for sink in sinks {
        match sink.finish() {
            Ok(said) => remarks.extend(said),
            // The other sinks still end properly.
            Err(failed) => {
                note(&failed);
                code = failed.exit;
            }
        }
    }
    if !args.quiet {
        tell(trace.notes().iter().chain(events.notes()));
        let how = if stop.load(Ordering::Relaxed) { "stopped: " } else { "" };
        note(format_args!("{how}{}", summary(&pace.played())));
        remarks.iter().for_each(note);
    }
    Ok(code)
}

/// All that were asked for.
fn open(args: &Args, trace: &Trace, stop: &Arc<AtomicBool>) -> Result<Vec<Box<dyn Sink>>, Failed> {
    let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
    let mut of_logger = Vec::new();
    let is_default = args.config.is_some() && args.sink == [Destination::Stdout];
    for destination in args.sink.iter().filter(|_| !is_default) {
        match destination {
            Destination::Stdout | Destination::Stderr | Destination::Command(_) => {
                sinks.push(Box::new(lines::Lines::open(
                    destination,
                    &args.printing,
                    args.wanted.zone(),
                    trace,
                )?));
            }
            Destination::Session => sinks.push(Box::new(session::Session::open(trace)?)),
            other => of_logger.push(other),
        }
    }
    if !of_logger.is_empty() || args.config.is_some() {
        sinks.push(Box::new(logger::Logger::open(
            &of_logger,
            args.config.as_deref(),
            &args.printing,
            args.wanted.zone(),
            Arc::clone(stop),
        )?));
    }
    Ok(sinks)
}

/// What was given, as text.
fn summary(played: &Played) -> String {
    let span = Duration::from_nanos(played.last_ns.saturating_sub(played.first_ns).max(0).unsigned_abs());
    let mut text = format!("{} records of {span:?}", show_count(played.records));
    if played.late > 0 {
        text += &format!("; {} were late, at most by {:?}", show_count(played.late), played.latest);
    }
    if played.shortened > 0 {
        text += &format!(
            "; {} pauses were shortened, by {:?} altogether",
            show_count(played.shortened),
            played.left_out
        );
    }
    text
}
