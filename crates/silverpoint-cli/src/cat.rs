//! `silverpoint cat`: the records of trace files as text or JSON lines, in order of time.

use std::fmt::Write;
use std::thread;
use std::time::Duration;

use silverpoint_formats::filter::Filter;
use silverpoint_formats::time::{Style, When};
use silverpoint_formats::tracefile::{Event, Follow, Trace, Watcher};
use silverpoint_formats::{json, text};

use crate::exit::{Exit, Failed, Outcome, failure};
use crate::input::{Files, Output, Wanted, exit, tell};
use crate::terminal;

/// Show the records of trace files as text or JSON lines
///
/// Exit status: 0 when the files are whole (or cut at their end, which is told), 3 when something before the end is damaged and was left out,
/// 4 when a file is no trace file, 1 when a file cannot be read.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    wanted: Wanted,
    /// Go on as the files grow and rotate, until they are closed
    #[arg(short, long)]
    follow: bool,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// With --json: the time in the session's own clock too
    #[arg(long, requires = "json")]
    ticks: bool,
    /// Only how many records there are
    #[arg(long, conflicts_with_all = ["follow", "json", "head", "tail"])]
    count: bool,
    /// The first N records
    #[arg(long, value_name = "N", conflicts_with = "tail")]
    head: Option<u64>,
    /// The last N records
    #[arg(long, value_name = "N")]
    tail: Option<u64>,
    /// How time is shown
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = TimeStyle::Time)]
    time: TimeStyle,
    /// Digits of the second's fraction
    #[arg(long, value_name = "0-9", default_value_t = 9, value_parser = clap::value_parser!(u8).range(0..=9))]
    digits: u8,
    /// The whole path of the source file, and the function
    #[arg(long)]
    long: bool,
    /// No source file and line
    #[arg(long, conflicts_with = "long")]
    no_location: bool,
    /// Do not tell what is missing; the exit status still does
    #[arg(short, long)]
    quiet: bool,
}

/// How time is shown.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum TimeStyle {
    /// 19:02:11.123456789
    Time,
    /// 2026-11-20T19:02:11.123456789+01:00
    Full,
    /// Seconds since the first record shown
    Relative,
    /// Seconds since the record before
    Delta,
    /// Not at all
    None,
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
    let mut printer = Printer::new(&args, &trace, skip);
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

/// Between two looks at files that may have grown.
const LOOK: Duration = Duration::from_millis(50);

fn follow(args: &Args, trace: Trace, filter: &Filter, printer: &mut Printer) -> Outcome {
    if trace.is_foreign() {
        if !args.quiet {
            tell(trace.notes().iter());
        }
        return Ok(Exit::NotATraceFile);
    }
    let mut damaged = Exit::Success;
    let mut follow = Follow::new(trace, &args.files.paths(), filter);
    while printer.wants_more() {
        let notes = follow.poll(printer).map_err(failure)?;
        if let Some(failed) = printer.failed.take() {
            return Err(failed);
        }
        printer.out.flush()?;
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

/// Prints events: the first ones skipped, no more than wanted.
struct Printer {
    writer: Writer,
    out: Output,
    skip: u64,
    left: u64,
    failed: Option<Failed>,
}

enum Writer {
    Text(Box<text::Writer>),
    Json(Box<json::Writer>),
}

impl Printer {
    fn new(args: &Args, trace: &Trace, skip: u64) -> Self {
        let writer = if args.json {
            Writer::Json(Box::new(json::Writer::new(json::Options { ticks: args.ticks }, trace)))
        } else {
            Writer::Text(Box::new(text::Writer::new(&text_options(args), trace)))
        };
        // What grows is shown as it comes.
        let out = if args.follow { Output::new() } else { Output::paged() };
        Self { writer, out, skip, left: args.head.unwrap_or(u64::MAX), failed: None }
    }

    fn wants_more(&self) -> bool {
        self.left > 0 && !self.out.is_gone()
    }

    #[inline]
    fn print(&mut self, event: &Event<'_>) -> Result<(), Failed> {
        if !event.is_shown() {
            return Ok(());
        }
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        self.left -= 1;
        match &mut self.writer {
            Writer::Text(writer) => writer.line(&mut self.out.text, event),
            Writer::Json(writer) => writer.line(&mut self.out.text, event),
        }
        self.out.pass_on().map(|_| ())
    }
}

impl Watcher for Printer {
    fn begin(&mut self, trace: &Trace) {
        match &mut self.writer {
            Writer::Text(writer) => writer.update(trace),
            Writer::Json(writer) => writer.update(trace),
        }
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        self.failed = self.print(event).err();
        self.failed.is_none() && self.wants_more()
    }
}

fn text_options(args: &Args) -> text::Options {
    text::Options {
        time: match args.time {
            TimeStyle::Time => Style::TimeOfDay,
            TimeStyle::Full => Style::Full,
            TimeStyle::Relative => Style::Relative,
            TimeStyle::Delta => Style::Delta,
            TimeStyle::None => Style::None,
        },
        zone: args.wanted.zone(),
        digits: args.digits,
        colour: terminal::colour(),
        location: !args.no_location,
        long: args.long,
    }
}

/// A filter that leaves at least the last `wanted` records, and how many of those it leaves must be skipped. Reads as little of the trace as the
/// filter allows: twice as much each time that too few were found.
fn last(trace: &Trace, filter: &Filter, wanted: u64) -> (Filter, u64) {
    let mut at_least = wanted.max(1);
    loop {
        let since = trace.last_records_since(at_least);
        let narrowed = match since {
            // A later start that was asked for is kept: nothing before it counts.
            Some(ns) if trace.starts_before(&filter.since, ns) => {
                Filter { since: Some(When::Absolute(ns)), ..filter.clone() }
            }
            _ => filter.clone(),
        };
        let found = trace.count(&narrowed).events;
        if found >= wanted || narrowed.since == filter.since {
            return (narrowed, found.saturating_sub(wanted));
        }
        at_least = at_least.saturating_mul(4);
    }
}

/// Prints how many records are wanted.
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
