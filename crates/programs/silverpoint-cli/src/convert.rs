//! `silverpoint convert`: records from any format to any other.

mod args;
mod copying;
mod inputs;
mod output;
mod sqlite;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use silverpoint_convert::ctf::Clock;
use silverpoint_convert::otlp::OTLP;
use silverpoint_convert::silver::TraceReader;
use silverpoint_convert::{Format, Formats, Merge, Reader, SILVER};
use silverpoint_trace::{Session, Trace};

pub use self::args::Args;
use self::copying::Copying;
use self::inputs::Told;
use self::output::{Manner, Output};
use crate::exit::{Exit, Failed, Outcome, at, failure, usage};
use crate::helper;
use crate::input::{Files, exit};
use crate::interrupts;
use crate::live;
use crate::repair::refuse_foreign;

/// All formats that are read or written here.
pub fn formats() -> Formats {
    let mut formats = helper::formats();
    formats.add(sqlite::FORMAT);
    formats
}

/// Runs the command.
pub fn run(args: Args, formats: &Formats) -> Outcome {
    let filter = args.wanted.filter()?;
    let Some((output, inputs)) = args.files.split_last().filter(|(_, inputs)| !inputs.is_empty()) else {
        return Err(usage("convert needs an input and, last, an output: silverpoint convert INPUT… OUTPUT"));
    };
    // With --follow an interrupt ends what is read, and the output is complete.
    if !args.follow {
        interrupts::watch();
    }
    let sender = output::collector(args.to.as_deref(), output).map_err(usage)?;
    let named = sender.as_ref().map(|_| OTLP).or(args.to.as_deref());
    let format = *find(formats, named, output, "--to")?;
    if args.event.is_some() && !helper::has_tables(&format) {
        return Err(usage(format!("--event is for parquet and arrow, not for {}", format.name)));
    }
    let to = Output::of(&format, sender, output, inputs, args.force)?;
    if args.clock_from.is_some() && !matches!(to, Output::Ctf) {
        return Err(usage(format!("--clock-from is for ctf, not for {}", format.name)));
    }
    let (living, inputs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        inputs.iter().partition(|path| args.from.is_none() && inputs::is_session(path));
    if args.follow && living.is_empty() {
        return Err(usage("--follow needs a process id or the name of a process among the inputs"));
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
    if args.clock_from.is_some() && !is_alone {
        return Err(usage("--clock-from needs trace files (.silver): other inputs have no monotonic time"));
    }
    let clock = clock(args.clock_from.as_deref(), trace.as_ref().filter(|_| is_alone))?;
    // An input that is already a trace is written to the database directly.
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
        let (reader, size) = inputs::reader(path, format, number, &filter)?;
        bytes += size;
        readers.push(Box::new(reader));
    }
    if let Some(trace) = &trace {
        let mut reader = TraceReader::new(trace, &filter, 0);
        if args.clock_from.is_some() {
            reader = reader.in_monotonic_time();
        }
        readers.push(Box::new(Told { reader, missing: &missing }));
    }
    let mut found = None;
    if !living.is_empty() {
        let names: Vec<String> = living.iter().map(|path| path.display().to_string()).collect();
        let number = named.len() as u32 + 1;
        let (reader, verdict) = live::reader(&names, filter.clone(), number, args.follow, args.quiet)?;
        readers.push(Box::new(reader));
        found = Some(verdict);
    }
    let mut reader: Box<dyn Reader + '_> = match readers.len() {
        1 => readers.remove(0),
        _ => Box::new(Merge::new(readers)),
    };
    let manner = Manner {
        path: output,
        format: &format,
        event: args.event.as_deref(),
        lossless: args.lossless,
        clock: &clock,
        force: args.force,
    };
    let of_traces = trace.as_ref().map_or(0, |trace| trace.files.iter().map(|file| file.bytes).sum());
    let mut copying = Copying::new(&args, bytes, of_traces);
    if !to.fill(&manner, &inputs, &mut *reader, &mut copying)? {
        return Ok(Exit::Success);
    }
    drop(reader);
    let missing = missing.borrow();
    let code = copying.conclude(trace.as_ref(), &missing)?;
    let is_whole = found.is_none_or(|found| exit(found.get()) == Exit::Success);
    Ok(if is_whole || code != Exit::Success { code } else { Exit::Damaged })
}

/// The clock of a trace of CTF: that of another one, or the wall clock.
fn clock(from: Option<&Path>, trace: Option<&Trace>) -> Result<Clock, Failed> {
    let mut boots: Vec<[u8; 16]> = trace.into_iter().flat_map(|trace| &trace.sessions).map(boot).collect();
    boots.sort_unstable();
    boots.dedup();
    let boot = match boots[..] {
        [boot] if boot != [0; 16] => Some(boot),
        _ => None,
    };
    let Some(from) = from else { return Ok(Clock::realtime(boot)) };
    let clock = Clock::of_trace(from).map_err(at(from.display()))?;
    if boots.len() > 1 {
        return Err(failure(
            "the inputs are of several boots, whose clocks differ: convert those of one boot",
        ));
    }
    if clock.boot().zip(boot).is_some_and(|(theirs, ours)| theirs != ours) {
        let name = from.display();
        return Err(failure(format!(
            "{name} and the inputs are of different boots or machines: their clocks differ"
        )));
    }
    Ok(clock)
}

fn boot(session: &Session) -> [u8; 16] {
    session.info.as_ref().map_or([0; 16], |info| info.boot_id)
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
                format!("{}: the name does not determine the format; give {option}: {known}", path.display())
            }
        })
    })
}
