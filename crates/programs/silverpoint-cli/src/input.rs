//! What `cat`, `stats` and `sites` have in common: which files, which of their records, and how damage is
//! reported.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use silverpoint_query::filter::{Expression, FilePattern, Filter, WhoPattern, category};
use silverpoint_render::time::{When, local_zone, utc_zone};
use silverpoint_trace::{Note, OpenError, Source, Trace, Verdict, with_parts};
use silverpoint_wire::level::Level;

use crate::exit::{Exit, Failed, failure};
use crate::platform;
use crate::terminal::Pager;

/// The files to read.
#[derive(clap::Args, Debug)]
pub struct Files {
    /// Trace files; `-` is standard input. The other parts of a rotated trace are found from any of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Read exactly the named files, not the other parts of a rotated trace
    #[arg(long)]
    pub only: bool,
}

impl Files {
    /// All of them: those named, and the parts that belong to them.
    pub fn paths(&self) -> Vec<PathBuf> {
        if self.only { self.files.clone() } else { with_parts(&self.files) }
    }

    /// The names under which the newest parts appear.
    pub fn heads(&self) -> Vec<PathBuf> {
        let newest = |path: &PathBuf| with_parts(std::slice::from_ref(path)).pop();
        let head = |path| newest(path).filter(|_| !self.only).unwrap_or_else(|| path.clone());
        self.files.iter().map(head).collect()
    }

    /// Opens and indexes them.
    pub fn open(&self) -> Result<Trace, Failed> {
        let paths = self.paths();
        let sources =
            paths.iter().map(|path| open(path).map_err(|error| OpenError { path: path.clone(), error }));
        sources.collect::<Result<_, _>>().and_then(Trace::from_sources).map_err(failure)
    }
}

fn open(path: &Path) -> io::Result<Source> {
    if path == Path::new("-") {
        return Source::from_file(Path::new("standard input"), platform::terminal::input()?);
    }
    Source::open(path)
}

/// Which records are wanted. Options of the same kind widen the choice; options of different kinds narrow it.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Filters")]
pub struct Wanted {
    /// This level and above: trace, debug, info, warn, error, fatal
    #[arg(short, long, value_name = "LEVEL")]
    pub level: Option<Level>,
    /// Category, and those below it (`net` includes `net::tcp`); `*` and `?` match; `net=warn`: at least of
    /// that level
    #[arg(short, long, value_name = "PATTERN", value_parser = category)]
    pub category: Vec<String>,
    /// Source file, with an optional line: `pump.cpp`, `src/*.rs`, `pump.cpp:88`
    #[arg(long, value_name = "PATTERN")]
    pub file: Vec<String>,
    /// Function: its qualified name or the end of it (`Pump::start`)
    #[arg(long, value_name = "PATTERN")]
    pub function: Vec<String>,
    /// Thread, by id or name
    #[arg(short, long, value_name = "ID|PATTERN")]
    pub thread: Vec<String>,
    /// Process, by id or name
    #[arg(short, long, value_name = "ID|PATTERN")]
    pub process: Vec<String>,
    /// From this time on: `19:02:11.5`, `2026-11-20 19:02`, `2026-11-20T19:02:11Z`, `-5s` (before the end), `+1m` (after the beginning)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Up to this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// What the arguments must satisfy: `id=7`, `px>3.5 and not user~"bob*"`, `point.x<0`, `message~"*timeout*"`
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    pub expression: Option<String>,
    /// Only records whose message contains this text (`*` and `?` match)
    #[arg(short, long, value_name = "TEXT")]
    pub grep: Option<String>,
    /// Times in UTC instead of the local zone
    #[arg(long)]
    pub utc: bool,
}

impl Wanted {
    /// As the library's filter.
    pub fn filter(&self) -> Result<Filter, Failed> {
        let usage = |message: String| Failed::new(Exit::Usage, message);
        let zone = self.zone();
        let when = |option: &str, text: &Option<String>| {
            text.as_deref()
                .map(|text| When::parse(text, &zone).map_err(|error| usage(format!("{option}: {error}"))))
                .transpose()
        };
        let who = |patterns: &[String]| patterns.iter().map(|text| WhoPattern::parse(text)).collect();
        let expression = self.expression.as_deref().map(|text| {
            Expression::parse(text)
                .map_err(|error| usage(format!("--where: {error}\n  {text}\n  {:>1$}", "^", error.column)))
        });
        let of_message = self.grep.as_ref().map(|text| Expression::message_contains(text));
        let expression = match (of_message, expression.transpose()?) {
            (Some(one), Some(other)) => Some(Expression::And(Box::new(one), Box::new(other))),
            (one, other) => one.or(other),
        };
        Ok(Filter {
            level: self.level,
            categories: self.category.clone(),
            files: self.file.iter().map(|text| FilePattern::parse(text)).collect(),
            functions: self.function.clone(),
            threads: who(&self.thread),
            processes: who(&self.process),
            since: when("--since", &self.since)?,
            until: when("--until", &self.until)?,
            expression,
            zone: Some(zone),
        })
    }

    /// The filter as given, on one line; empty when everything is wanted.
    pub fn text(&self) -> String {
        let mut words = Vec::new();
        let mut add = |option: &str, value: &str| words.push(format!("--{option} {}", quoted(value)));
        if let Some(level) = self.level {
            add("level", level.name());
        }
        let lists = [
            ("category", &self.category),
            ("file", &self.file),
            ("function", &self.function),
            ("thread", &self.thread),
            ("process", &self.process),
        ];
        for (option, values) in lists {
            values.iter().for_each(|value| add(option, value));
        }
        let texts = [
            ("since", &self.since),
            ("until", &self.until),
            ("where", &self.expression),
            ("grep", &self.grep),
        ];
        for (option, value) in texts {
            value.iter().for_each(|value| add(option, value));
        }
        words.join(" ")
    }

    /// The zone in which times are given and shown.
    pub fn zone(&self) -> silverpoint_render::time::TimeZone {
        if self.utc { utc_zone() } else { local_zone() }
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%=".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The exit code for the state of a trace.
pub fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Intact | Verdict::Lossy | Verdict::Cut => Exit::Success,
        Verdict::Damaged => Exit::Damaged,
        Verdict::NotATraceFile => Exit::NotATraceFile,
    }
}

/// Most notes that are printed.
const NOTES_SHOWN: usize = 20;

/// Reports on standard error what is missing.
pub fn tell<'n>(notes: impl Iterator<Item = &'n Note>) {
    if crate::terminal::quiet() {
        return;
    }
    let mut error = io::stderr().lock();
    let mut untold = 0u64;
    for (at, note) in notes.enumerate() {
        if at < NOTES_SHOWN {
            // When standard error is closed, the notes are dropped.
            let _ = writeln!(error, "silverpoint: {note}");
        } else {
            untold += 1;
        }
    }
    if untold > 0 {
        let _ = writeln!(error, "silverpoint: … and {untold} more like these");
    }
}

/// Standard output, or a substitute. A reader that closes it early (`| head`) is the end, not an error.
pub struct Output {
    out: Box<dyn Write>,
    /// For messages.
    name: &'static str,
    pager: Paging,
    /// Text that waits to be written; append here.
    pub text: String,
    is_held: bool,
    gone: bool,
}

/// Where the text goes.
enum Paging {
    /// To standard output.
    No,
    /// To a pager, as soon as there is text.
    Wanted,
    /// To this one.
    Started(Pager),
}

/// Bytes that are written at a time.
const CHUNK: usize = 64 << 10;

impl Output {
    /// Locks standard output.
    pub fn new() -> Self {
        Self::into(Box::new(io::stdout().lock()), "standard output")
    }

    /// Something else; its name for messages.
    pub fn into(out: Box<dyn Write>, name: &'static str) -> Self {
        Self {
            out,
            name,
            pager: Paging::No,
            text: String::with_capacity(CHUNK * 2),
            is_held: false,
            gone: false,
        }
    }

    /// The same, through a pager where standard output is a terminal.
    pub fn paged() -> Self {
        Self { pager: Paging::Wanted, ..Self::new() }
    }

    /// Writes the pending text, and waits until the user has left a pager. False when the output was closed.
    pub fn finish(&mut self) -> Result<bool, Failed> {
        let goes_on = self.flush()?;
        self.pager = Paging::No;
        Ok(goes_on)
    }

    fn write(&mut self) -> io::Result<()> {
        if matches!(self.pager, Paging::Wanted) && !self.text.is_empty() {
            self.pager = Pager::start().map_or(Paging::No, Paging::Started);
        }
        match &mut self.pager {
            Paging::Started(pager) => pager.write(self.text.as_bytes()),
            _ => self.out.write_all(self.text.as_bytes()).and_then(|()| self.out.flush()),
        }
    }

    /// Whether [`Output::pass_on`] keeps the text back, however much it is.
    pub fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Writes the pending text when there is enough of it. False when the output was closed.
    pub fn pass_on(&mut self) -> Result<bool, Failed> {
        if self.text.len() >= CHUNK && !self.is_held { self.flush() } else { Ok(!self.gone) }
    }

    /// Writes the pending text. False when the output was closed.
    pub fn flush(&mut self) -> Result<bool, Failed> {
        if !self.gone {
            match self.write() {
                Err(error) if platform::terminal::is_closed(&error) => self.gone = true,
                other => other.map_err(|error| failure(format_args!("{}: {error}", self.name)))?,
            }
        }
        self.text.clear();
        Ok(!self.gone)
    }

    /// Whether the output was closed.
    pub fn is_gone(&self) -> bool {
        self.gone
    }
}
