//! Records on standard output, as `cat` and `tail` print them.

use silverpoint_query::filter::Filter;
use silverpoint_render::time::{Style, TimeZone, When};
use silverpoint_render::{json, text};
use silverpoint_trace::{Event, Trace, Watcher};

use crate::exit::Failed;
use crate::input::Output;
use crate::terminal;

/// How records are shown.
#[derive(clap::Args, Debug)]
pub struct Printing {
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
    /// With --json: the time in the session's own clock too
    #[arg(long, requires = "json")]
    ticks: bool,
    /// How time is shown
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = TimeStyle::Time)]
    time: TimeStyle,
    /// Digits of the second's fraction
    #[arg(long, value_name = "0-9", default_value_t = 9, value_parser = clap::value_parser!(u8).range(0..=9))]
    digits: u8,
    /// Show the whole path of the source file, and the function
    #[arg(long)]
    long: bool,
    /// How lines look, and the values in them
    #[arg(long, value_name = "STYLE", value_enum, default_value_t = LineStyle::Text, conflicts_with = "json")]
    style: LineStyle,
    /// Lines of this form, such as '{time:.3} {level:<5} {category}: {message}' (docs/guide/reading.md)
    #[arg(long, value_name = "PATTERN", value_parser = text::Pattern::parse, conflicts_with_all = ["json", "long"])]
    pattern: Option<text::Pattern>,
    /// Omit source file and line
    #[arg(long, conflicts_with = "long")]
    no_location: bool,
}

/// How lines look.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum LineStyle {
    /// Columns, values as in the guide
    Text,
    /// What qDebug writes: the message alone, values as QDebug shows them
    Qdebug,
    /// By Qt's default message pattern: category and message, values as QDebug shows them
    Qt,
    /// Time, level, category and message; long values are cut short
    Summary,
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

/// Prints events: skips the first ones, and stops when there are enough.
pub struct Printer {
    writer: Writer,
    /// Where to.
    pub out: Output,
    skip: u64,
    left: u64,
    failed: Option<Failed>,
}

enum Writer {
    Text(Box<text::Writer>),
    Json(Box<json::Writer>),
}

impl Printer {
    /// Prints everything that it is given.
    pub fn new(printing: &Printing, zone: TimeZone, out: Output, trace: &Trace) -> Self {
        let writer = if printing.json {
            Writer::Json(Box::new(json::Writer::new(json::Options { ticks: printing.ticks }, trace)))
        } else {
            Writer::Text(Box::new(text::Writer::new(&text_options(printing, zone), trace)))
        };
        Self { writer, out, skip: 0, left: u64::MAX, failed: None }
    }

    /// Skips the next `skip`, and prints at most `left` after them.
    pub fn only(self, skip: u64, left: u64) -> Self {
        Self { skip, left, ..self }
    }

    /// Whether more output is wanted, and the output is still open.
    pub fn wants_more(&self) -> bool {
        self.left > 0 && !self.out.is_gone()
    }

    /// Prints an event.
    #[inline]
    pub fn print(&mut self, event: &Event<'_>) -> Result<(), Failed> {
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

    /// Writes the pending text, and reports what went wrong since the last time.
    pub fn pass_on(&mut self) -> Result<(), Failed> {
        match self.failed.take() {
            Some(failed) => Err(failed),
            None => self.out.flush().map(|_| ()),
        }
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

/// As the library's options.
pub fn text_options(args: &Printing, zone: TimeZone) -> text::Options {
    let look = match args.style {
        LineStyle::Text => text::Look::Text,
        LineStyle::Qdebug => text::Look::QDebug,
        LineStyle::Qt => text::Look::Qt,
        LineStyle::Summary => text::Look::Summary,
    };
    let options = text::Options {
        time: match args.time {
            TimeStyle::Time => Style::TimeOfDay,
            TimeStyle::Full => Style::Full,
            TimeStyle::Relative => Style::Relative,
            TimeStyle::Delta => Style::Delta,
            TimeStyle::None => Style::None,
        },
        zone,
        digits: args.digits,
        colour: terminal::colour(),
        process: true,
        location: !args.no_location,
        long: args.long,
        ..text::Options::default()
    }
    .looking(look);
    match &args.pattern {
        Some(pattern) => text::Options { pattern: Some(pattern.clone()), ..options },
        None => options,
    }
}

/// A filter that leaves at least the last `wanted` records, and how many of those must be skipped. Reads as
/// little of the trace as the filter allows: twice as much each time that too few were found.
pub fn last(trace: &Trace, filter: &Filter, wanted: u64) -> (Filter, u64) {
    let mut at_least = wanted.max(1);
    loop {
        let since = trace.last_records_since(at_least);
        let narrowed = match since {
            // A later start in the filter is kept: nothing before it counts.
            Some(ns) if filter.starts_before(trace, ns) => {
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
