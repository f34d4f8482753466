//! `silverpoint split`: a trace as several files, each for an interval of time.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgGroup;
use silverpoint_trace::Verdict;
use silverpoint_trace::rewrite::{Limit, Options, PARTS_MAX, Parts, Rewritten, split};
use silverpoint_wire::compression::Compression;

use crate::exit::{Exit, Failed, Outcome, at, failure, inform};
use crate::input::{Files, tell};
use crate::interrupts;
use crate::newfile::{NewFile, Sealed};
use crate::progress::Progress;
use crate::repair::{refuse_foreign, summary};
use crate::units::{duration, show_number, size};

/// Write a trace as several files, each for an interval of time
///
/// Each part can be read alone: it has all descriptions, and the names that the threads have at its
/// beginning. `cat` of the parts in order shows the same as `cat` of the trace; `merge` of all parts makes
/// one file of them again. The parts get their names when all of them are complete.
///
/// Exit status 0: done. 3: damage was left out. 4: a file is not a trace file. 2: a size is too small, or
/// there would be more than 9,999 parts. 1: failed. After 2 and 1 there are no parts.
#[derive(clap::Args, Debug)]
#[command(group = ArgGroup::new("limit").required(true).args(["parts", "size", "every"]))]
pub struct Args {
    #[command(flatten)]
    files: Files,
    /// Where the parts go: a directory (`DIR/NAME-001.silver` …, made if it ends with `/`), or a file name with `{}` in it for the number
    #[arg(short, long, value_name = "DIR|PATTERN")]
    output: PathBuf,
    /// Number of parts, with about as many records each; fewer if there are fewer records
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(PARTS_MAX)))]
    parts: Option<u32>,
    /// Largest size of a part: `64M`, `1G`; only a single larger record exceeds it
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Length of a part in time, from the first record on: `10s`, `5m`; intervals without records make no
    /// part
    #[arg(long, value_name = "DURATION", value_parser = stretch)]
    every: Option<Duration>,
    /// Compress blocks: none, lz4, zstd, zstd:LEVEL (1 to 19). By default each block keeps its compression
    #[arg(long, value_name = "HOW")]
    compress: Option<Compression>,
    /// Replace existing parts
    #[arg(long)]
    force: bool,
}

fn stretch(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|stretch| match stretch.is_zero() {
        true => Err(format!("'{text}': expected a duration that is not zero")),
        false => Ok(stretch),
    })
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let (limit, by) = match (args.parts, args.size, args.every) {
        (Some(parts), ..) => (Limit::Parts(parts), format!("--parts {parts}")),
        (_, Some(bytes), _) => (Limit::Size(bytes), format!("--size {bytes}")),
        (.., every) => {
            let every = every.unwrap_or_default();
            let ns = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
            (Limit::Every(ns), format!("--every {every:?}"))
        }
    };
    let digits = args.parts.map_or(4, |parts| parts.to_string().len().max(3));
    let names = Names::new(&args.output, args.files.files.first(), digits)?;
    let trace = args.files.open()?;
    refuse_foreign(&trace)?;
    names.make_directory()?;
    let options = Options { compression: args.compress, split: by, ..Options::default() };
    let inputs = args.files.paths();
    let mut made = Made {
        names,
        inputs,
        force: args.force,
        sealed: Vec::new(),
        sum: Rewritten::default(),
        part: 1,
        failed: None,
    };
    interrupts::watch();
    let sizes = made.inputs.iter().filter_map(|input| std::fs::metadata(input).ok());
    let progress = Progress::of_reading(sizes.map(|found| found.len()).sum());
    let damage = split(&trace, limit, &options, &mut made);
    progress.end();
    let damage = damage
        .map_err(|error| made.failed.take().unwrap_or_else(|| refused(error, &made.names.path(made.part))))?;
    let is_told = |verdict| verdict >= Verdict::Cut;
    tell(trace.notes().iter().filter(|note| is_told(note.matter.verdict())).chain(&damage));
    inform(made.publish()?);
    let is_damaged = damage.iter().any(|note| note.matter.verdict() == Verdict::Damaged);
    Ok(if is_damaged || trace.verdict() == Verdict::Damaged { Exit::Damaged } else { Exit::Success })
}

/// Errors of the system concern the part that is written; errors of the library are wrong usage.
fn refused(error: io::Error, part: &Path) -> Failed {
    match error.kind() {
        io::ErrorKind::InvalidInput if error.raw_os_error().is_none() => {
            Failed::new(Exit::Usage, error.to_string())
        }
        _ => at(part.display())(error),
    }
}

/// The names of the parts: what stands before and behind the number.
struct Names {
    directory: PathBuf,
    before: String,
    behind: String,
    digits: usize,
    /// The directory is made if it is not there.
    is_made: bool,
}

impl Names {
    /// `digits`: of a number, at least.
    fn new(output: &Path, input: Option<&PathBuf>, digits: usize) -> Result<Self, Failed> {
        let name = output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_made = output.to_string_lossy().ends_with('/');
        if is_made || output.is_dir() {
            let stem = input.and_then(|input| input.file_stem()).unwrap_or_default().to_string_lossy();
            let stem = if stem == "-" { "trace".into() } else { stem };
            let (directory, before) = (output.to_owned(), format!("{stem}-"));
            return Ok(Self { directory, before, behind: ".silver".to_owned(), digits, is_made });
        }
        match name.split_once("{}") {
            Some((before, behind)) if !behind.contains("{}") => Ok(Self {
                directory: output.with_file_name(""),
                before: before.to_owned(),
                behind: behind.to_owned(),
                digits,
                is_made,
            }),
            _ => Err(Failed::new(
                Exit::Usage,
                format!(
                    "{}: expected a directory, or a file name with one {{}} for the number of the part",
                    output.display()
                ),
            )),
        }
    }

    fn make_directory(&self) -> Result<(), Failed> {
        if !self.is_made || self.directory.is_dir() {
            return Ok(());
        }
        std::fs::create_dir(&self.directory)
            .map_err(|error| failure(format!("{}: {error}", self.directory.display())))
    }

    fn path(&self, number: u32) -> PathBuf {
        let Self { before, behind, digits, .. } = self;
        self.directory.join(format!("{before}{number:0digits$}{behind}"))
    }
}

/// The parts that have been made, without their names.
struct Made {
    names: Names,
    inputs: Vec<PathBuf>,
    force: bool,
    sealed: Vec<Sealed>,
    /// Of all parts.
    sum: Rewritten,
    /// The number of the one that is written.
    part: u32,
    /// Why a part could not be made.
    failed: Option<Failed>,
}

impl Parts for Made {
    type File = NewFile;

    fn begin(&mut self, number: u32) -> io::Result<NewFile> {
        self.part = number;
        NewFile::create(&self.names.path(number), &self.inputs, self.force).map_err(|failed| {
            let error = io::Error::other(failed.message.clone());
            self.failed = Some(failed);
            error
        })
    }

    fn end(&mut self, file: NewFile, done: Rewritten) -> io::Result<()> {
        self.sealed.push(file.seal()?);
        self.sum.blocks += done.blocks;
        self.sum.records += done.records;
        self.sum.bytes += done.bytes;
        Ok(())
    }
}

impl Made {
    /// Gives all parts their names; reports them.
    fn publish(self) -> Result<String, Failed> {
        let path =
            |sealed: Option<&Sealed>| sealed.map_or_else(PathBuf::new, |sealed| sealed.path().to_owned());
        let (first, last) = (path(self.sealed.first()), path(self.sealed.last()));
        let parts = self.sealed.len() as u64;
        for sealed in self.sealed {
            let name = sealed.path().display().to_string();
            sealed.publish().map_err(|error| failure(format!("{name}: {error}")))?;
        }
        let names = match parts {
            1 => first.display().to_string(),
            _ => format!("{} to {}", first.display(), last.display()),
        };
        Ok(format!("{names}: {}: {}", show_number(parts, "part"), summary(&self.sum)))
    }
}
