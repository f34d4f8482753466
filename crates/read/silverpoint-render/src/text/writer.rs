//! Lines with columns, or of a pattern.

use silverpoint_symbols::Symbols;
use silverpoint_trace::{Event, Site, Trace, What, escape};

use super::level;
use super::message::{message, push_backtrace};
use super::options::Options;
use super::pattern::PatternWriter;
use crate::ShowContext;
use crate::crash;
use crate::format::columns;
use crate::render::Renderer;
use crate::time::TimeText;

/// Greatest widths of the columns; longer values push the rest of their line to the right.
const PROCESS_MAX: usize = 24;
const THREAD_MAX: usize = 15;
const CATEGORY_MAX: usize = 24;

/// Writes lines. Keeps what is the same for all records of a site or process, and room that is reused.
pub struct Writer {
    time: TimeText,
    options: Options,
    renderer: Renderer,
    /// By session number: `name[pid]`, filled to the column's width.
    processes: Vec<String>,
    /// By site number: the category, filled, and what stands after the message.
    sites: Vec<SiteText>,
    thread_width: usize,
    /// Of an event without a category.
    no_category: String,
    pattern: Option<PatternWriter>,
    /// For the addresses of crashes.
    symbols: Symbols,
    /// Room that is used again.
    tracebacks: String,
}

/// Appends escaped texts in lines of their own: where one has the escape of a line's end, another line begins. All are indented, so that none looks like a record's.
fn push_tracebacks(out: &mut String, tracebacks: &str) {
    for text in tracebacks.lines() {
        out.push_str(TRACEBACK_INDENT);
        let mut is_escape = false;
        for c in text.chars() {
            match (is_escape, c) {
                (false, '\\') => is_escape = true,
                (true, 'n') => {
                    is_escape = false;
                    out.push('\n');
                    out.push_str(TRACEBACK_INDENT);
                }
                (true, c) => {
                    is_escape = false;
                    out.extend(['\\', c]);
                }
                (false, c) => out.push(c),
            }
        }
        out.push('\n');
    }
}

/// As of the stack of a crash.
const TRACEBACK_INDENT: &str = "    ";

struct SiteText {
    category: String,
    location: String,
    begin: Begin,
}

/// The text between time and message in the last line of a site: the next one is usually of the same thread.
#[derive(Default)]
struct Begin {
    session: usize,
    tid: u32,
    thread_name: String,
    /// Of the thread's column, which grows.
    width: usize,
    text: String,
}

impl Begin {
    /// Whether an event's line has it.
    #[inline]
    fn is_of(&self, event: &Event<'_>, width: usize) -> bool {
        !self.text.is_empty()
            && self.session == event.session_number
            && self.tid == event.tid
            && self.width == width
            && self.thread_name == event.thread_name
    }
}

impl Writer {
    /// A writer for one trace.
    pub fn new(options: &Options, trace: &Trace) -> Self {
        let mut writer = Self::without_trace(options);
        writer.update(trace);
        writer
    }

    /// A writer for lines of the options' pattern, which fills no columns and needs no trace for that.
    pub fn of_pattern(options: &Options) -> Self {
        Self::without_trace(options)
    }

    fn without_trace(options: &Options) -> Self {
        Self {
            time: TimeText::new(options.time, options.zone.clone(), options.digits),
            options: options.clone(),
            renderer: Renderer::of(options.dialect),
            processes: Vec::new(),
            sites: Vec::new(),
            thread_width: 0,
            no_category: String::new(),
            pattern: options.pattern.as_ref().map(|pattern| PatternWriter::new(pattern, options)),
            symbols: Symbols::new(),
            tracebacks: String::new(),
        }
    }

    /// Adopts sites and sessions that are new in the trace.
    pub fn update(&mut self, trace: &Trace) {
        let label = |name: &str| {
            let mut escaped = String::new();
            escape::push_escaped(&mut escaped, name);
            escaped
        };
        self.processes = trace.sessions.iter().map(|session| label(&session.label())).collect();
        fill_all(&mut self.processes, PROCESS_MAX);
        let threads = trace.sessions.iter().flat_map(|session| &session.threads);
        let width = threads
            .map(
                |thread| {
                    if thread.name.is_empty() { decimal_digits(thread.tid) } else { columns(&thread.name) }
                },
            )
            .max()
            .unwrap_or(0);
        self.thread_width = self.thread_width.max(width.min(THREAD_MAX));
        let mut categories: Vec<String> =
            trace.sites.iter().map(|site| label(&site.description.category)).collect();
        self.no_category = " ".repeat(fill_all(&mut categories, CATEGORY_MAX));
        let sites = trace.sites.iter().zip(categories);
        self.sites = sites
            .map(|(site, category)| SiteText {
                category,
                location: location(&self.options, site),
                begin: Begin::default(),
            })
            .collect();
    }

    /// Appends the line of an event, with its end. Names and ends of threads have none: then nothing is appended.
    pub fn line(&mut self, out: &mut String, event: &Event<'_>) {
        self.line_without_stack(out, event);
        self.stack(out, event);
    }

    /// As [`Writer::line`], without the stack of a crash: that needs the symbols of the program's files, which may take seconds to read.
    pub fn line_without_stack(&mut self, out: &mut String, event: &Event<'_>) {
        if !event.is_shown() {
            return;
        }
        if let Some(pattern) = &mut self.pattern {
            pattern.line(&mut self.renderer, out, event);
            return;
        }
        if self.options.colour {
            out.push_str("\x1b[2m");
        }
        let timed = self.time.push(out, event.wall_ns);
        if self.options.colour {
            out.push_str("\x1b[0m");
        }
        if timed {
            out.push(' ');
        }
        let site = match event.what {
            What::Record { site_number, .. } => Some(site_number),
            What::SpanEnd { site_number, .. } => site_number,
            _ => None,
        };
        match site.and_then(|number| self.sites.get(number)).map(|site| &site.begin) {
            Some(begin) if begin.is_of(event, self.thread_width) => out.push_str(&begin.text),
            _ => self.begin(out, event, site),
        }
        push_backtrace(out, event);
        let mut tracebacks = std::mem::take(&mut self.tracebacks);
        tracebacks.clear();
        match event.what {
            What::Record { site, args, .. } if !site.is_crash() => {
                // What cannot be read is marked in the text.
                let _ = self.renderer.message_and_tracebacks(out, &mut tracebacks, site, args);
            }
            _ => message(&mut self.renderer, out, event),
        }
        if let Some(context) = event.context {
            out.push_str(if self.options.colour { " \x1b[2m{" } else { " {" });
            out.push_str(context.text());
            out.push_str(if self.options.colour { "}\x1b[0m" } else { "}" });
        }
        if let Some(site) = site.and_then(|number| self.sites.get(number)) {
            out.push_str(&site.location);
        }
        out.push('\n');
        push_tracebacks(out, &tracebacks);
        self.tracebacks = tracebacks;
    }

    /// The text between time and message; it is kept for the next line of the site.
    fn begin(&mut self, out: &mut String, event: &Event<'_>, site: Option<usize>) {
        let start = out.len();
        level::push_column(out, event.what.level(), self.options.colour);
        out.push(' ');
        if self.options.colour {
            out.push_str("\x1b[2m");
        }
        if self.options.process {
            out.push_str(self.processes.get(event.session_number).map_or("?", String::as_str));
            out.push(' ');
        }
        self.thread(out, event);
        if self.options.colour {
            out.push_str("\x1b[0m");
        }
        out.push(' ');
        let site = site.and_then(|number| self.sites.get_mut(number));
        let category = site.as_ref().map_or(&self.no_category, |site| &site.category);
        if !category.is_empty() {
            out.push_str(category);
            out.push_str("  ");
        }
        if let Some(SiteText { begin, .. }) = site {
            (begin.session, begin.tid, begin.width) = (event.session_number, event.tid, self.thread_width);
            event.thread_name.clone_into(&mut begin.thread_name);
            out[start..].clone_into(&mut begin.text);
        }
    }

    /// Appends the lines that follow the line of a crash; nothing for other events.
    pub fn stack(&mut self, out: &mut String, event: &Event<'_>) {
        match event.what {
            What::Record { site, args, .. } if site.is_crash() => {
                crash::push_stack(out, &mut self.symbols, args);
            }
            _ => {}
        }
    }

    /// The column grows with the names that appear while reading.
    fn thread(&mut self, out: &mut String, event: &Event<'_>) {
        let start = out.len();
        if event.thread_name.is_empty() {
            out.push_str(itoa::Buffer::new().format(event.tid));
        } else {
            escape::push_escaped(out, event.thread_name);
        }
        let used = columns(&out[start..]);
        self.thread_width = self.thread_width.max(used.min(THREAD_MAX));
        spaces(out, self.thread_width.saturating_sub(used));
    }
}

/// The text after the message of a site.
fn location(options: &Options, site: &Site) -> String {
    let mut location = String::new();
    if !options.location || site.description.file.is_empty() {
        return location;
    }
    let file = if options.long { &site.description.file } else { site.file_name() };
    location.push_str(if options.colour { "   \x1b[2m" } else { "   " });
    escape::push_escaped(&mut location, file);
    location.push(':');
    location.push_str(itoa::Buffer::new().format(site.description.line));
    if options.long {
        location.push(' ');
        escape::push_escaped(&mut location, site.function());
    }
    location.push_str(if options.colour { "\x1b[0m" } else { "" });
    location
}

/// Fills all to the width of the widest, at most `max`, which is returned.
fn fill_all(texts: &mut [String], max: usize) -> usize {
    let width = texts.iter().map(|text| columns(text)).max().unwrap_or(0).min(max);
    for text in texts {
        let missing = width.saturating_sub(columns(text));
        spaces(text, missing);
    }
    width
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

fn decimal_digits(number: u32) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}
