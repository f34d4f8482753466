//! `silverpoint sites`: the tracepoints of a trace with their counts, or of a living process with their states.

use silverpoint_formats::filter::Filter;
use silverpoint_formats::site::Site;
use silverpoint_formats::stats::{collect, push_site_json};
use silverpoint_formats::table::{Table, bytes, grouped};
use silverpoint_formats::tracefile::worst;
use silverpoint_wire::process;
use silverpoint_wire::site::SiteDescription;

use crate::exit::{Exit, Failed, Outcome};
use crate::input::{Files, Output, Wanted, exit, tell};
use crate::sessions;
use crate::terminal;

/// List the sites (tracepoints) of trace files with the number of their records, or of a living process with their states
///
/// Exit status as of `cat`; 6 when there is no such process.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    wanted: Wanted,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Only sites that have records, or are on
    #[arg(long)]
    recorded: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let filter = args.wanted.filter()?;
    match pid(&args.files) {
        Some(pid) => of_process(&args, &filter, pid),
        None => of_files(&args, &filter),
    }
}

/// The only argument, when it is a number and no file.
fn pid(files: &Files) -> Option<u32> {
    match &files.files[..] {
        [only] if !only.exists() => only.to_str()?.parse().ok(),
        _ => None,
    }
}

fn of_files(args: &Args, filter: &Filter) -> Outcome {
    let trace = args.files.open()?;
    let statistics = collect(&trace, filter);
    let mut listing = Listing::new(args.json, &[">RECORDS", ">BYTES"]);
    for session in trace.sessions.iter().filter(|session| filter.process(session.pid, &session.name)) {
        let mut numbers: Vec<_> =
            session.site_numbers().filter(|(_, number)| filter.site(&trace.sites[*number])).collect();
        numbers.sort_unstable();
        for (id, number) in numbers {
            let (site, count) = (&trace.sites[number], statistics.sites[number]);
            if args.recorded && count.records == 0 {
                continue;
            }
            if args.json {
                let process = (session.name.as_str(), session.pid);
                push_site_json(&mut listing.out.text, process, site, id, Some(count), None);
            } else {
                listing.row([grouped(count.records), bytes(count.bytes)], session.label(), site);
            }
        }
    }
    if listing.finish()? {
        tell(statistics.notes.iter());
    }
    Ok(exit(worst(&statistics.notes)))
}

fn of_process(args: &Args, filter: &Filter, pid: u32) -> Outcome {
    let mut listing = Listing::new(args.json, &["<STATE", ">ID"]);
    for place in sessions::living(pid)? {
        let session = place.open()?;
        let text = process::lines(&session.process_text().map_err(|error| place.failed(error))?);
        let exe = process::value(&text, "exe").unwrap_or("?");
        let name = exe.rsplit('/').next().unwrap_or(exe).to_owned();
        let counters = session.counters().map_err(|error| place.failed(error))?;
        let count = session.site_count(counters.sites_next);
        let states = session.states(count).map_err(|error| place.failed(error))?;
        let visit = |entry: silverpoint_shm::observer::TableSite<'_>| {
            let Some(Ok((description, _))) = entry.description.map(SiteDescription::decode) else { return };
            let site = Site::new(description);
            let is_on = states.get(entry.entry as usize).is_some_and(|state| state.is_on());
            if !filter.site(&site) || (args.recorded && !is_on) {
                return;
            }
            if args.json {
                push_site_json(&mut listing.out.text, (&name, pid), &site, entry.id(), None, Some(is_on));
            } else {
                let state = if is_on { "on" } else { "off" };
                listing.row([state.to_owned(), entry.id().to_string()], format!("{name}[{pid}]"), &site);
            }
        };
        session.sites_since(0, counters.sites_next, |_| true, visit).map_err(|error| place.failed(error))?;
    }
    listing.finish()?;
    Ok(Exit::Success)
}

/// The sites as a table, or as JSON lines in `out`.
struct Listing {
    out: Output,
    table: Option<Table>,
}

impl Listing {
    fn new(json: bool, first: &[&'static str; 2]) -> Self {
        let rest = ["<PROCESS", "<LEVEL", "<KIND", "<CATEGORY", "<PLACE", "<FUNCTION", "<TEXT"];
        let headings: Vec<&'static str> = first.iter().copied().chain(rest).collect();
        Self {
            out: Output::paged(),
            table: (!json).then(|| Table::new("", &headings).coloured(terminal::colour())),
        }
    }

    fn row(&mut self, first: [String; 2], process: String, site: &Site) {
        let [a, b] = first;
        if let Some(table) = &mut self.table {
            table.row([
                a,
                b,
                process,
                site.level().to_string(),
                site.kind().name().to_owned(),
                site.description.category.clone(),
                site.place(),
                site.function().to_owned(),
                site.description.template.clone(),
            ]);
        }
    }

    /// Writes everything; false when nobody reads any more.
    fn finish(&mut self) -> Result<bool, Failed> {
        if let Some(table) = &self.table {
            table.push(&mut self.out.text);
        }
        self.out.finish()
    }
}
