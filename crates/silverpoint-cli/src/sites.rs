//! `silverpoint sites`: the tracepoints of a trace, with their counts.

use silverpoint_formats::stats::{collect, push_site_json, push_sites_text};
use silverpoint_formats::tracefile::worst;

use crate::exit::Outcome;
use crate::input::{Files, Output, Wanted, exit, tell};

/// List the sites (tracepoints) of trace files, with the number of their records
///
/// Exit status as of `cat`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    wanted: Wanted,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Only sites that have records
    #[arg(long)]
    recorded: bool,
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let filter = args.wanted.filter()?;
    let trace = args.files.open()?;
    let statistics = collect(&trace, &filter);
    let mut listed = Vec::new();
    for session in trace.sessions.iter().filter(|session| filter.process(session.pid, &session.name)) {
        let mut sites: Vec<_> =
            session.site_numbers().filter(|(_, number)| filter.site(&trace.sites[*number])).collect();
        sites.sort_unstable();
        listed.extend(sites.into_iter().map(|(id, number)| (session, id, number)));
    }
    listed.retain(|(_, _, number)| !args.recorded || statistics.sites[*number].records > 0);
    let mut out = Output::new();
    if args.json {
        for (session, id, number) in &listed {
            push_site_json(&mut out.text, session, &trace.sites[*number], *id, statistics.sites[*number]);
            if !out.pass_on()? {
                break;
            }
        }
    } else {
        push_sites_text(&mut out.text, &listed, &trace, &statistics);
    }
    out.flush()?;
    if !out.is_gone() && !args.json {
        tell(statistics.notes.iter());
    }
    Ok(exit(worst(&statistics.notes)))
}
