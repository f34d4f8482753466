//! `silverpoint ctl`: directives of a living process.

use std::io::Write;

use silverpoint_query::filter::WhoPattern;
use silverpoint_shm::observer::{ObserveError, ObservedSession, TableSite};
use silverpoint_wire::directive;
use silverpoint_wire::layout::probes;
use silverpoint_wire::process;
use silverpoint_wire::site::SiteDescription;

use crate::backtrace;
use crate::exit::{Exit, Failed, Outcome, at, failure, note};
use crate::sessions::{self, Place};
use crate::store;
use crate::units::show_count;

/// Show or change which sites of a living process record; takes effect at once, without the process's help
#[derive(clap::Args)]
#[command(
    after_help = "Directives: comma-separated LEVEL or TARGET=LEVEL, where TARGET is a category (net, io::*), a file (pump.cpp), a \
file and line (pump.cpp:88) or a function (Pump::start()), and LEVEL is trace, debug, info, warn, error, fatal, on or off. They \
replace the present ones. After a + they are added, and override an earlier one for the same target.\n\
Examples: silverpoint ctl 4312 'info,net=debug,io::*=off'\n          silverpoint ctl server '+pump.cpp:88=on'\n\n\
Exit status: 0 done; 1 what was kept back could not be written; 2 malformed directives (nothing was changed); 6 no \
such process."
)]
pub struct Args {
    /// Process id, or name of processes (`*` and `?` match)
    #[arg(value_name = "PID|NAME")]
    target: String,
    /// New directives, or with + before them additional ones; without them the present ones are shown
    #[arg(value_name = "DIRECTIVES", value_parser = directives)]
    directives: Option<String>,
    /// Write the records that `silverpoint run --backtrace` keeps back into its trace file, for all processes
    /// of the run, and wait until that is done
    #[arg(long, conflicts_with = "directives")]
    dump: bool,
    /// A system tracer that tracepoints feed, too, or no longer: lttng=on, lttng=off, user_events=on, trace_marker=on and so on. Sites follow at their next executions
    #[arg(long, value_name = "TRACER", value_parser = probe, conflicts_with = "dump")]
    probe: Option<Probe>,
}

/// Whether a tracer is to be fed.
#[derive(Clone, Copy, Debug)]
struct Probe {
    bit: u32,
    receiver: &'static str,
    is_on: bool,
}

fn probe(text: &str) -> Result<Probe, String> {
    let expected = || "expected lttng, user_events or trace_marker, with =on or =off".to_owned();
    let (name, switch) = text.split_once('=').ok_or_else(expected)?;
    let (bit, receiver) = match name {
        "lttng" => (probes::LTTNG, "LTTng is"),
        "user_events" => (probes::USER_EVENTS, "user_events are"),
        "trace_marker" => (probes::TRACE_MARKER, "trace_marker is"),
        _ => return Err(expected()),
    };
    let is_on = match switch {
        "on" => true,
        "off" => false,
        _ => return Err(expected()),
    };
    Ok(Probe { bit, receiver, is_on })
}

/// As [`store::directives`], with or without a + before them.
fn directives(text: &str) -> Result<String, String> {
    let (mark, rest) = text.strip_prefix('+').map_or(("", text), |rest| ("+", rest));
    store::directives(rest).map(|rest| format!("{mark}{rest}"))
}

pub fn run(args: Args) -> Outcome {
    let mut out = std::io::stdout().lock();
    for place in targets(&args.target)? {
        let line = if args.dump {
            dump(&place)?;
            format!("{}: the kept records are written", place.name)
        } else {
            let session = place.open()?;
            let at = |error| Failed::from(place.failed(error));
            session.restore_abandoned_mode().map_err(at)?;
            if let Some(probe) = args.probe {
                session.ask_for_probes(probe.bit, probe.is_on).map_err(at)?;
            }
            match (&args.directives, args.probe) {
                (Some(text), _) => change(&place, &session, text)?,
                (None, Some(probe)) if probe.is_on => {
                    format!("{}: {} fed from the next executions on", place.name, probe.receiver)
                }
                (None, Some(probe)) => format!("{}: {} no longer fed", place.name, probe.receiver),
                (None, None) => format!("{}: {}", place.name, present(&session).map_err(at)?.escape_debug()),
            }
        };
        writeln!(out, "{line}").map_err(at("standard output"))?;
    }
    Ok(Exit::Success)
}

/// The living sessions of a process, or of all whose executable has this name.
fn targets(target: &str) -> Result<Vec<Place>, Failed> {
    if let Ok(pid) = target.parse() {
        return Ok(sessions::living(pid)?);
    }
    let pattern = WhoPattern::parse(target);
    let is_meant = |place: &Place| {
        let Ok(session) = place.open() else { return false };
        let text = process::lines(&session.process_text().unwrap_or_default());
        let exe = process::value(&text, "exe").unwrap_or_default();
        let name = process::name_of_program(exe);
        session.is_alive().unwrap_or(false) && pattern.matches(place.name.pid, name)
    };
    let found: Vec<Place> = sessions::all(None)?.into_iter().filter(is_meant).collect();
    match found.is_empty() {
        true => Err(Failed::new(
            Exit::NoSession,
            format!(
                "no living process that uses Silverpoint is called '{target}' (`silverpoint ls` lists what there is)"
            ),
        )),
        false => Ok(found),
    }
}

fn present(session: &ObservedSession) -> Result<String, ObserveError> {
    Ok(String::from_utf8_lossy(&session.directives()?).into_owned())
}

/// Writes the directives; says how many sites are on, and which directives concern no site.
fn change(place: &Place, session: &ObservedSession, text: &str) -> Result<String, Failed> {
    let at = |error| Failed::from(place.failed(error));
    let on = place.direct(session, text)?;
    let sites_next = session.counters().map_err(at)?.sites_next;
    let known = session.site_count(sites_next);
    let mut sites: Vec<Vec<u8>> = Vec::new();
    let visit = |site: TableSite<'_>| sites.extend(site.description.map(<[u8]>::to_vec));
    session.sites_since(0, sites_next, |_| true, visit).map_err(at)?;
    let facts: Vec<_> = sites.iter().filter_map(|bytes| SiteDescription::facts(bytes).ok()).collect();
    for (bad, _) in directive::matched(text.trim_start_matches('+'), &facts).iter().filter(|(_, any)| !any) {
        note(place.failed(format!(
            "no known site matches '{bad}'{} (sites that have never run are not known)",
            categories(&facts)
        )));
    }
    Ok(format!("{}: {} of {} known sites on", place.name, show_count(on.into()), show_count(known.into())))
}

/// Categories that are shown where one was not found.
const CATEGORIES: usize = 8;

/// `; the categories are a, b …`, the first few.
fn categories(facts: &[directive::SiteFacts<'_>]) -> String {
    let mut names: Vec<&str> =
        facts.iter().map(|site| site.category).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    let more = if names.len() > CATEGORIES { " …" } else { "" };
    names.truncate(CATEGORIES);
    format!("; the categories are {}{more}", names.join(", "))
}

fn dump(place: &Place) -> Result<(), Failed> {
    let is_collected = place.open()?.is_collected().map_err(|error| place.failed(error))?;
    if sessions::supervisor_of(&place.root).is_none() || !is_collected {
        return Err(failure(place.failed("`silverpoint run` does not collect it, so nothing is kept back")));
    }
    backtrace::ask(&place.root).map_err(|why| failure(place.failed(why)))
}
