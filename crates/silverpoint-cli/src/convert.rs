//! `silverpoint convert`: records from any format to any other.

mod sqlite;

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use indicatif::{ProgressBar, ProgressStyle};
use silverpoint_convert::ctf::{self, CTF, CtfWriter};
use silverpoint_convert::otlp::{self, OTLP, Patience, Refused, Sender};
use silverpoint_convert::silver::TraceReader;
use silverpoint_convert::{
    Format, Formats, Input, MakeWriter, Merge, ReadError, Reader, Record, SILVER, WriteError, WriteOptions,
    Writer,
};
use silverpoint_formats::filter::{Facts, RecordFilter};
use silverpoint_formats::tracefile::{Note, Trace, Verdict};

use crate::exit::{Exit, Failed, Outcome, failure, note};
use crate::helper;
use crate::input::{Files, Wanted, exit, tell};
use crate::live::{self, Targets};
use crate::newdirectory::NewDirectory;
use crate::newfile::NewFile;
use crate::repair::refuse_foreign;
use crate::tail::stop_at_signals;

/// Convert records from any format to any other
///
/// The formats follow from the names, or are given by --from and --to. Several inputs are merged by time. The new file has its name when it is complete,
/// not before. A process id, or a name without dot and slash that is no file's (`*` and `?` match), is an input too: the living sessions of these processes.
///
/// Exit status: 0; 3 when something was damaged and left out, 4 when a trace file is none, 6 when there is no such session, 1 when an input is malformed or nothing could be written.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Inputs, and the output last; `-` is standard input or output, `otlp+http://HOST:PORT` a collector of OpenTelemetry
    #[arg(value_name = "FILE|PID|NAME", required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// Format of the inputs
    #[arg(long, value_name = "FORMAT")]
    from: Option<String>,
    /// Format of the output
    #[arg(long, value_name = "FORMAT")]
    to: Option<String>,
    /// Write what reading gives back completely, where the usual form does not: JSON and JSON lines
    #[arg(long)]
    lossless: bool,
    /// Of Parquet and Arrow: only the records of this event, span, counter or template, each argument a column of its type
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Pass over records that are malformed, or that the output cannot hold; they are counted
    #[arg(long)]
    keep_going: bool,
    /// Replace the output if it is there
    #[arg(long)]
    force: bool,
    /// Read exactly the trace files named, not the other parts of a rotated trace
    #[arg(long)]
    only: bool,
    /// Of living sessions what comes, too, until their processes have ended or an interrupt (Ctrl-C) ends it; the output is complete then
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    wanted: Wanted,
    /// Do not tell what is missing, nor how far it is; the exit status still does
    #[arg(short, long)]
    quiet: bool,
}

/// All that are read or written here.
pub fn formats() -> Formats {
    let mut formats = helper::formats();
    formats.add(sqlite::FORMAT);
    formats
}

/// Runs the command.
pub fn run(args: Args, formats: &Formats) -> Outcome {
    let filter = args.wanted.filter()?;
    let Some((output, inputs)) = args.files.split_last() else {
        return Err(Failed::new(Exit::Usage, "convert needs an input and an output"));
    };
    let sender = collector(args.to.as_deref(), output).map_err(usage)?;
    let named = sender.as_ref().map(|_| OTLP).or(args.to.as_deref());
    let format = *find(formats, named, output, "--to")?;
    if args.event.is_some() && !helper::has_tables(&format) {
        return Err(usage(format!("--event is for parquet and arrow, not for {}", format.name)));
    }
    let begin = |make: MakeWriter, out, options| match &args.event {
        Some(event) => helper::event(&format, event, out),
        None => make(out, options),
    };
    let to = target(&format, sender, output, inputs, args.force)?;
    let (living, inputs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.iter().partition(|path| args.from.is_none() && is_session(path));
    if args.follow && living.is_empty() {
        return Err(usage("--follow needs a process id or the name of a process among the inputs".into()));
    }
    let named: Vec<(&PathBuf, &Format)> = inputs
        .iter()
        .copied()
        .map(|path| Ok((path, find(formats, args.from.as_deref(), path, "--from")?)))
        .collect::<Result<_, Failed>>()?;
    let traces: Vec<PathBuf> =
        named.iter().filter(|(_, format)| format.name == SILVER).map(|(path, _)| (*path).clone()).collect();
    let trace = match traces.is_empty() {
        true => None,
        false => {
            let trace = Files { files: traces, only: args.only }.open()?;
            refuse_foreign(&trace)?;
            Some(trace)
        }
    };
    let is_alone = living.is_empty() && named.iter().all(|(_, format)| format.name == SILVER);
    // What is a trace already becomes a database as it is.
    let trace = match trace {
        Some(trace) if matches!(to, Output::Sqlite) && is_alone && filter.is_empty() => {
            return sqlite::save(trace, output, args.force, args.quiet);
        }
        other => other,
    };
    let mut bytes = 0;
    let missing = RefCell::new(Vec::new());
    let mut readers: Vec<Box<dyn Reader + '_>> = Vec::new();
    for (number, (path, format)) in (1..).zip(&named) {
        if format.name == SILVER {
            continue;
        }
        let filter = RecordFilter::new(&filter).ok_or_else(|| {
            usage("times of day, and times before the end, need a trace file; give a date or +TIME".into())
        })?;
        let reader: Box<dyn Reader> = if sqlite::is(format) {
            Box::new(sqlite::SqliteReader::open(path, number)?)
        } else {
            let make = format.reader.ok_or_else(|| usage(format!("{} is only written", format.name)))?;
            let (source, size) = open(path)?;
            bytes += size;
            make(Input::new(source), number)
        };
        let name = if *path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
        readers.push(Box::new(Filtered { reader, filter, name }));
    }
    if let Some(trace) = &trace {
        readers.push(Box::new(Told { reader: TraceReader::new(trace, &filter, 0), missing: &missing }));
    }
    let mut found = None;
    if !living.is_empty() {
        let names: Vec<String> = living.iter().map(|path| path.display().to_string()).collect();
        let targets = Targets::parse(&names)?;
        let stop = if args.follow { Some(stop_at_signals()?) } else { None };
        let number = named.len() as u32 + 1;
        let (reader, verdict) = live::reader(&targets, filter.clone(), number, stop, args.quiet)?;
        readers.push(Box::new(reader));
        found = Some(verdict);
    }
    let mut reader: Box<dyn Reader + '_> = match readers.len() {
        1 => readers.remove(0),
        _ => Box::new(Merge::new(readers)),
    };
    let options = WriteOptions { lossless: args.lossless };
    let mut copying = Copying { args: &args, bar: bar(&args, bytes), left_out: 0 };
    let of_output = |error: io::Error| failure(format!("{}: {error}", output.display()));
    match to {
        Output::Standard(make) => {
            let written = begin(make, Box::new(io::stdout().lock()), options)
                .map_err(failure)
                .and_then(|mut writer| copying.run(&mut *reader, &mut *writer));
            match written {
                // Nobody reads any more.
                Err(failed) if failed.message == PIPE => return Ok(Exit::Success),
                other => other?,
            }
        }
        Output::File(make) => {
            let mut paths: Vec<PathBuf> = inputs.into_iter().cloned().collect();
            paths.retain(|path| path != Path::new("-"));
            let file = Rc::new(RefCell::new(NewFile::create(output, &paths, args.force)?));
            {
                let mut writer = begin(make, Box::new(Part(Rc::clone(&file))), options).map_err(failure)?;
                copying.run(&mut *reader, &mut *writer)?;
            }
            let file = Rc::into_inner(file).ok_or_else(|| failure("the output is still in use"))?;
            file.into_inner().finish().map_err(of_output)?;
        }
        Output::Sqlite => {
            let between = sqlite::Between::of(output, |writer| copying.run(&mut *reader, writer))?;
            // What is missing in it was missing before, and is told of that.
            sqlite::save(between.open()?, output, args.force, true)?;
        }
        Output::Ctf => {
            let directory = NewDirectory::create(output, args.force, ctf::is_trace)?;
            let mut writer = CtfWriter::create(directory.meanwhile()).map_err(of_output)?;
            copying.run(&mut *reader, &mut writer)?;
            directory.finish().map_err(of_output)?;
        }
        Output::Collector(sender) => {
            let refused = sender.refused();
            copying.run(&mut *reader, &mut *otlp::protobuf(sender))?;
            let refused = refused.borrow();
            copying.refused(&refused);
        }
    }
    drop(reader);
    let missing = missing.borrow();
    let code = copying.conclude(trace.as_ref(), &missing)?;
    let is_whole = found.is_none_or(|found| exit(found.get()) == Exit::Success);
    Ok(if is_whole || code != Exit::Success { code } else { Exit::Damaged })
}

/// Whether an input is no file but a process: by id, or by a name that is no file's.
fn is_session(path: &Path) -> bool {
    let Some(text) = path.to_str() else { return false };
    let is_name = !text.is_empty() && text != "-" && !text.contains(['/', '.']);
    text.parse::<u32>().is_ok() || is_name && !path.exists()
}

/// Where records go.
enum Output {
    Standard(MakeWriter),
    File(MakeWriter),
    /// A database, by its name.
    Sqlite,
    /// A directory.
    Ctf,
    /// A collector of OpenTelemetry.
    Collector(Sender),
}

fn target(
    format: &Format,
    sender: Option<Sender>,
    output: &Path,
    inputs: &[PathBuf],
    force: bool,
) -> Result<Output, Failed> {
    if let Some(sender) = sender {
        return Ok(Output::Collector(sender));
    }
    match (format.writer, output == Path::new("-")) {
        (Some(make), true) => Ok(Output::Standard(make)),
        (Some(make), false) => Ok(Output::File(make)),
        (None, false) if format.name == CTF => Ok(Output::Ctf),
        (None, _) if sqlite::is(format) => {
            sqlite::check(output, inputs, force)?;
            Ok(Output::Sqlite)
        }
        (None, true) if format.name == CTF => Err(usage("ctf is a directory; give its name".into())),
        (None, _) => Err(usage(format!("{} is only read", format.name))),
    }
}

/// The collector that an output is: `otlp+http://…`, or `http://…` with `--to otlp`.
fn collector(to: Option<&str>, output: &Path) -> Result<Option<Sender>, String> {
    let Some(text) = output.to_str() else { return Ok(None) };
    let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let address = match text.strip_prefix("otlp+") {
        Some(address) if is_url(address) && to.is_none_or(|to| to == OTLP) => address,
        None if is_url(text) && to == Some(OTLP) => text,
        _ => return Ok(None),
    };
    Sender::new(address, Patience::default()).map(Some)
}

fn usage(message: String) -> Failed {
    Failed::new(Exit::Usage, message)
}

fn find<'f>(
    formats: &'f Formats,
    name: Option<&str>,
    path: &Path,
    option: &str,
) -> Result<&'f Format, Failed> {
    let found = match name {
        Some(name) => formats.named(name),
        None => formats.of(path),
    };
    found.ok_or_else(|| {
        let known: Vec<&str> = formats.all().iter().map(|format| format.name).collect();
        let known = known.join(", ");
        usage(match name {
            Some(name) => format!("there is no format '{name}'; {option} takes {known}"),
            None => {
                format!("{}: the name does not tell the format; give {option}: {known}", path.display())
            }
        })
    })
}

/// The bytes of an input, and how many they are (0: unknown).
fn open(path: &Path) -> Result<(Box<dyn Read>, u64), Failed> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), 0));
    }
    let open = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let size = metadata.len();
        Ok((Box::new(file) as Box<dyn Read>, size))
    };
    open().map_err(|error| failure(format!("{}: {error}", path.display())))
}

/// How far it is, on a terminal.
fn bar(args: &Args, bytes: u64) -> ProgressBar {
    if args.quiet {
        return ProgressBar::hidden();
    }
    if bytes == 0 {
        return ProgressBar::new_spinner();
    }
    let bar = ProgressBar::new(bytes);
    match ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Records between two looks at the bar.
const STEP: u64 = 4096;
/// How a pipe that nobody reads is told from other errors.
const PIPE: &str = "nobody reads standard output";

struct Copying<'a> {
    args: &'a Args,
    bar: ProgressBar,
    left_out: u64,
}

impl Copying<'_> {
    fn run(&mut self, reader: &mut dyn Reader, writer: &mut dyn Writer) -> Result<(), Failed> {
        let of_io = |error: io::Error| match error.kind() {
            io::ErrorKind::BrokenPipe => failure(PIPE),
            _ => failure(error),
        };
        let mut count = 0_u64;
        loop {
            match reader.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.pass_over(error)?;
                    continue;
                }
            }
            let Some(record) = reader.record() else { continue };
            match writer.write(&record) {
                Ok(()) => count += 1,
                Err(WriteError::Io(error)) => return Err(of_io(error)),
                Err(WriteError::CannotHold(what)) if self.args.keep_going => self.tell(what),
                Err(error) => return Err(failure(format!("{error} (--keep-going leaves it out)"))),
            }
            if count.is_multiple_of(STEP) {
                match self.bar.length() {
                    Some(_) => self.bar.set_position(reader.position()),
                    None => self.bar.tick(),
                }
            }
        }
        writer.finish().map_err(of_io)?;
        self.bar.finish_and_clear();
        Ok(())
    }

    /// Goes on after damage if that is wanted and possible.
    fn pass_over(&mut self, error: ReadError) -> Result<(), Failed> {
        if !self.args.keep_going {
            let hint = if error.may_go_on { " (--keep-going passes it over)" } else { "" };
            return Err(failure(format!("{error}{hint}")));
        }
        // Of an input that cannot be read further, the others are not to suffer: it has ended.
        if error.io.is_some() {
            return Err(failure(error));
        }
        self.tell(error.to_string());
        Ok(())
    }

    fn tell(&mut self, what: String) {
        self.left_out += 1;
        if !self.args.quiet && self.left_out <= 20 {
            self.bar.suspend(|| note(what));
        }
    }

    /// What a collector did not take.
    fn refused(&mut self, refused: &Refused) {
        self.left_out += refused.records;
        if !self.args.quiet {
            for message in &refused.messages {
                note(format_args!("the collector says: {message}"));
            }
        }
    }

    fn conclude(self, trace: Option<&Trace>, missing: &[Note]) -> Outcome {
        if self.left_out > 0 && !self.args.quiet {
            note(format_args!("{} records were left out", self.left_out));
        }
        let mut code = Exit::Success;
        if let Some(trace) = trace {
            if !self.args.quiet {
                let is_told = |verdict| verdict >= Verdict::Cut;
                let notes = trace.notes().iter().chain(missing);
                tell(notes.filter(|note| is_told(note.matter.verdict())));
            }
            let verdicts = missing.iter().map(|note| note.matter.verdict());
            code = exit(verdicts.fold(trace.verdict(), Verdict::max));
        }
        Ok(if self.left_out > 0 { Exit::Damaged } else { code })
    }
}

/// The new file, which is finished when its writer is gone.
struct Part(Rc<RefCell<NewFile>>);

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// The records of trace files; at the end it is told what was found to be missing.
struct Told<'t> {
    reader: TraceReader<'t>,
    missing: &'t RefCell<Vec<Note>>,
}

impl Reader for Told<'_> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        let goes_on = self.reader.advance()?;
        if !goes_on {
            *self.missing.borrow_mut() = self.reader.events().notes().to_vec();
        }
        Ok(goes_on)
    }

    fn record(&self) -> Option<Record<'_>> {
        self.reader.record()
    }

    fn position(&self) -> u64 {
        self.reader.position()
    }
}

/// The records of an input that a filter takes; errors with the input's name.
struct Filtered {
    reader: Box<dyn Reader>,
    filter: RecordFilter,
    name: String,
}

impl Reader for Filtered {
    fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            match self.reader.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => return Err(ReadError { input: self.name.as_str().into(), ..error }),
            }
            let filter = &mut self.filter;
            if self.reader.record().is_some_and(|record| filter.takes(&facts(&record))) {
                return Ok(true);
            }
        }
    }

    fn record(&self) -> Option<Record<'_>> {
        self.reader.record()
    }

    fn position(&self) -> u64 {
        self.reader.position()
    }
}

fn facts<'a>(record: &Record<'a>) -> Facts<'a> {
    Facts {
        wall_ns: record.wall_ns,
        pid: record.process.pid,
        process: &record.process.name,
        tid: record.tid,
        thread: record.thread,
        context: record.context,
        what: record.what,
    }
}
