//! `silverpoint ctl`: directives of a living process.

use std::io::Write;

use crate::backtrace;
use crate::exit::{Exit, Failed, Outcome, failure};
use crate::sessions::{self, Place};
use crate::store::directives;
use crate::units::show_count;

/// Show or change which sites of a living process record; takes effect at once, without the process's help
#[derive(clap::Args)]
#[command(
    after_help = "Directives: comma-separated LEVEL or TARGET=LEVEL, where TARGET is a category (net, io::*), a file (pump.cpp), a \
file and line (pump.cpp:88) or a function (Pump::start()), and LEVEL is trace, debug, info, warn, error, fatal, on or off.\n\
Example: silverpoint ctl 4312 'net=debug,io::*=off,pump.cpp:88=on'\n\n\
Exit status: 0 done; 1 what was kept back could not be written; 2 malformed directives (nothing was changed); 6 no \
such process."
)]
pub struct Args {
    /// Process id
    pid: u32,
    /// New directives; without them the present ones are shown
    #[arg(value_parser = directives)]
    directives: Option<String>,
    /// Write what `silverpoint run --backtrace` keeps back into its trace file, of all processes of the run, and wait until that is done
    #[arg(long, conflicts_with = "directives")]
    dump: bool,
}

pub fn run(args: Args) -> Outcome {
    let mut out = std::io::stdout().lock();
    if args.dump {
        for place in sessions::living(args.pid)? {
            dump(&place)?;
            writeln!(out, "{}: what was kept back is written", place.name).map_err(failure)?;
        }
        return Ok(Exit::Success);
    }
    for place in sessions::living(args.pid)? {
        let session = place.open()?;
        session.restore_abandoned_mode().map_err(|error| place.failed(error))?;
        let line = match &args.directives {
            Some(text) => {
                let on = session.write_directives(text).map_err(|error| place.failed(error))?;
                // A program that is stopped follows when it goes on.
                let _ = session.await_followers().map_err(|error| place.failed(error))?;
                let known =
                    session.site_count(session.counters().map_err(|error| place.failed(error))?.sites_next);
                format!(
                    "{}: {} of {} known sites on",
                    place.name,
                    show_count(on.into()),
                    show_count(known.into())
                )
            }
            None => {
                let text = session.directives().map_err(|error| place.failed(error))?;
                format!("{}: {}", place.name, String::from_utf8_lossy(&text).escape_debug())
            }
        };
        writeln!(out, "{line}").map_err(failure)?;
    }
    Ok(Exit::Success)
}

fn dump(place: &Place) -> Result<(), Failed> {
    let is_collected = place.open()?.is_collected().map_err(|error| place.failed(error))?;
    if sessions::supervisor_of(&place.root).is_none() || !is_collected {
        return Err(failure(
            place.failed("it is not collected by `silverpoint run`, so that nothing is kept back"),
        ));
    }
    backtrace::ask(&place.root).map_err(|why| failure(place.failed(why)))
}
