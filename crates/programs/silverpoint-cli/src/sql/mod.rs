//! `silverpoint sql`: queries over trace files.

mod output;
mod prompt;

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::SIGINT;
use silverpoint_render::units;
use silverpoint_sql::{Database, Error, InterruptHandle, KEYWORDS, Limits, write_database};

use crate::exit::{Exit, Failed, Outcome, failure, note};
use crate::input::{Files, Output, exit, tell};
use output::{Mode, Printer};

/// Query trace files with SQL
///
/// Tables: records, spans, sites, threads, processes, losses, counters, and one view for each event name with
/// a column for each argument. Only what a query needs is read. Nothing can be changed. Without a query, a
/// terminal gets a prompt.
///
/// Exit status 0: the files are whole, or only cut at their end, which is reported. 1: a query failed. 2: a
/// query is not SQL, or would change something. 3: damage before the end was left out. 4: a file is not a
/// trace file.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Trace files, then the query; `-` is standard input. The other parts of a rotated trace are found from
    /// any of them
    #[arg(value_name = "FILE|QUERY", required = true)]
    words: Vec<PathBuf>,
    /// Read exactly the named files, not the other parts of a rotated trace
    #[arg(long)]
    only: bool,
    /// Read the queries from this file; `-` is standard input
    #[arg(long = "query-file", value_name = "FILE", conflicts_with = "save")]
    query_file: Option<PathBuf>,
    /// Rows as CSV (the default without a terminal)
    #[arg(long, conflicts_with_all = ["json", "json_array", "table"])]
    csv: bool,
    /// One JSON object a line
    #[arg(long, conflicts_with_all = ["json_array", "table"])]
    json: bool,
    /// The rows of each query as one array of JSON objects
    #[arg(long, conflicts_with = "table")]
    json_array: bool,
    /// Rows as a table (the default on a terminal)
    #[arg(long)]
    table: bool,
    /// Write all tables and views into a SQLite database instead
    #[arg(short = 'o', long = "output", alias = "save", value_name = "FILE", conflicts_with_all = ["csv", "json", "json_array", "table"])]
    save: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long, requires = "save")]
    force: bool,
    /// Most memory for sorting and grouping: `64M`, `2G`
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = units::size)]
    memory: u64,
    /// Do not report what is missing; the exit status still shows it
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let (files, mut query) = args.words();
    if files.is_empty() {
        return Err(Failed::new(Exit::Usage, "no trace file: silverpoint sql FILE… [QUERY]"));
    }
    if let Some(path) = &args.query_file {
        query = Some(read(path)?);
    }
    let trace = Files { files, only: args.only }.open()?;
    if let Some(path) = &args.save {
        if query.is_some() {
            return Err(Failed::new(Exit::Usage, "--output takes no query: it writes all tables"));
        }
        crate::interrupts::watch();
        let saved = write_database(trace, path, args.force, |_| ());
        let saved = saved.map_err(failed)?;
        if !args.quiet {
            tell(saved.notes.iter());
            let counts = (units::show_count(saved.records), units::show_count(saved.spans));
            note(format_args!("{}: {} records, {} spans", path.display(), counts.0, counts.1));
        }
        return Ok(exit(saved.verdict));
    }
    let database = Database::new(trace, Limits { memory: Some(args.memory) }).map_err(failed)?;
    if database.names_without_view() > 0 && !args.quiet {
        let more = units::show_count(database.names_without_view() as u64);
        note(format_args!(
            "{more} names of events have no view, because there are too many; query the table records instead"
        ));
    }
    if query.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal() {
        let interrupts = Interrupts::of(database.interrupt_handle());
        prompt::run(&database, args.mode(), &interrupts)?;
    } else {
        let query = query.map_or_else(|| read(Path::new("-")), Ok)?;
        if prompt::is_command(&query) {
            return prompt::print(&database, &query);
        }
        let mut printer = Printer::new(args.mode(), Output::paged());
        let ended = database.run(&query, &mut printer);
        let is_read = printer.out.finish()?;
        match ended {
            Err(Error::Rows(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Success),
            ended => ended.map_err(failed)?,
        }
        if !is_read {
            return Ok(Exit::Success);
        }
    }
    if !args.quiet {
        tell(database.notes().iter());
    }
    Ok(exit(database.verdict()))
}

impl Args {
    /// Files, and the query if the last word is one.
    fn words(&self) -> (Vec<PathBuf>, Option<String>) {
        let mut files = self.words.clone();
        if self.query_file.is_some() {
            return (files, None);
        }
        let last = self.words.last().and_then(|word| word.to_str()).filter(|_| !self.words.is_empty());
        let query = last.filter(|word| is_query(word, self.words.len() > 1)).map(str::to_owned);
        if query.is_some() {
            files.pop();
        }
        (files, query)
    }

    fn mode(&self) -> Mode {
        match (self.csv, self.json, self.json_array, self.table) {
            (true, ..) => Mode::Csv,
            (_, true, ..) => Mode::Json,
            (_, _, true, _) => Mode::JsonArray,
            (_, _, _, true) => Mode::Table,
            _ if io::stdout().is_terminal() => Mode::Table,
            _ => Mode::Csv,
        }
    }
}

/// Whether a word is a query and not a file. There is no such file. The word is also a command of the prompt,
/// begins with an SQL keyword, or consists of several words after those of files.
fn is_query(word: &str, has_files: bool) -> bool {
    if word == "-" || Path::new(word).exists() {
        return false;
    }
    let first =
        word.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_sql = KEYWORDS.binary_search(&first.to_ascii_lowercase().as_str()).is_ok();
    let is_comment = word.trim_start().starts_with("--") || word.trim_start().starts_with("/*");
    let has_words = word.trim().contains(char::is_whitespace);
    if has_files && prompt::is_command(word) {
        return true;
    }
    (is_sql && has_words) || is_comment || (has_files && has_words) || word.trim().is_empty()
}

/// Longest query: SQLite takes no longer one.
const LONGEST_QUERY: u64 = 1_000_000;

/// The text of a file of queries.
fn read(path: &Path) -> Result<String, Failed> {
    let failed = |error: io::Error| failure(format!("{}: {error}", path.display()));
    let mut text = String::new();
    let read = match path == Path::new("-") {
        true => io::stdin().lock().take(LONGEST_QUERY + 1).read_to_string(&mut text),
        false => fs::File::open(path).map_err(failed)?.take(LONGEST_QUERY + 1).read_to_string(&mut text),
    };
    if read.map_err(failed)? as u64 > LONGEST_QUERY {
        let why = format!("{}: longer than {LONGEST_QUERY} bytes, the longest allowed query", path.display());
        return Err(Failed::new(Exit::Usage, why));
    }
    Ok(text)
}

/// The failure that an error is.
pub(crate) fn failed(error: Error) -> Failed {
    Failed::new(if error.is_usage() { Exit::Usage } else { Exit::Failure }, error.to_string())
}

/// Ends queries when the user asks for it.
pub(crate) struct Interrupts {
    /// An interrupt was requested since the last query began.
    asked: Arc<AtomicBool>,
}

impl Interrupts {
    /// From now on an interrupt ends the query of this database, and not the program.
    pub(crate) fn of(handle: InterruptHandle) -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&asked);
        // Repeats the request until it takes effect: a statement may be between two of its steps.
        let ask = move || {
            loop {
                std::thread::sleep(Duration::from_millis(20));
                if flag.load(Ordering::Relaxed) {
                    handle.interrupt();
                }
            }
        };
        // If no thread can be started, an interrupt ends the program, as it does by default.
        if std::thread::Builder::new().name("interrupts".into()).spawn(ask).is_ok() {
            let _ = signal_hook::flag::register(SIGINT, Arc::clone(&asked));
        }
        Self { asked }
    }

    /// A request before the query began does not concern it.
    fn forget(&self) {
        self.asked.store(false, Ordering::Relaxed);
    }
}
