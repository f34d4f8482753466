//! `silverpoint sites`: the tracepoints of a trace with their counts, of a living process with their states, or of a program that need not have run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use silverpoint_query::filter::Filter;
use silverpoint_query::stats::{collect, push_listed_site_json, push_site_json};
use silverpoint_render::table::{Table, bytes, grouped};
use silverpoint_trace::{Site, worst};

use crate::exit::{self, Exit, Failed, Outcome};
use crate::input::{self, Files, Output, Wanted, tell};
use crate::living;
use crate::program;
use crate::terminal;

/// List the sites (tracepoints) of trace files with their record counts, of a living process with their
/// states, or of programs and libraries
///
/// Of PROGRAM, an executable or a shared library that need not have run, all sites compiled into it are
/// listed by file and line. Exit status: as of `cat`; 4 also when a program has no list of sites, 6 when
/// there is no such process.
#[derive(clap::Args, Debug)]
#[command(mut_arg("files", |arg| arg.value_name("FILE|PID|PROGRAM").help(
    "Trace files and their parts as for `cat`; or the id of a living process; or programs and shared libraries"
)))]
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
    if let Some(pid) = pid(&args.files) {
        return of_process(&args, &filter, pid);
    }
    let (programs, traces): (Vec<_>, Vec<_>) =
        args.files.files.iter().map(PathBuf::as_path).partition(|path| program::is_program(path));
    match (&programs[..], &traces[..]) {
        ([], _) => of_files(&args, &filter),
        (_, []) => of_programs(&args, &filter, &programs),
        ([program, ..], [trace, ..]) => {
            let (program, trace) = (program.display(), trace.display());
            let message = format!("{program} is a program, {trace} is not: list them one after the other");
            Err(Failed::new(Exit::Usage, message))
        }
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
    let mut listing = Listing::new(args.json, "<PROCESS", [">RECORDS", ">BYTES"]);
    for session in trace.sessions.iter().filter(|session| filter.process(session.pid, &session.name)) {
        let mut numbers: Vec<_> =
            session.site_numbers().filter(|(_, number)| filter.site(&trace.sites[*number])).collect();
        numbers.sort_unstable();
        let places = Places::of(numbers.iter().map(|(_, number)| &trace.sites[*number]));
        for (id, number) in numbers {
            let (site, count) = (&trace.sites[number], statistics.sites[number]);
            if count.records == 0 && (args.recorded || places.has_others(site)) {
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
    Ok(input::exit(worst(&statistics.notes)))
}

fn of_process(args: &Args, filter: &Filter, pid: u32) -> Outcome {
    let mut listing = Listing::new(args.json, "<PROCESS", ["<STATE", ">ID"]);
    for (name, mut sites) in living::sites(pid)? {
        sites.retain(|(_, site, is_on)| filter.site(site) && (*is_on || !args.recorded));
        let places = Places::of(sites.iter().map(|(_, site, _)| site));
        for (id, site, is_on) in sites.iter().filter(|(_, site, _)| !places.has_others(site)) {
            if args.json {
                push_site_json(&mut listing.out.text, (&name, pid), site, *id, None, Some(*is_on));
            } else {
                let state = if *is_on { "on" } else { "off" };
                listing.row([state.to_owned(), id.to_string()], format!("{name}[{pid}]"), site);
            }
        }
    }
    listing.finish()?;
    Ok(Exit::Success)
}

fn of_programs(args: &Args, filter: &Filter, paths: &[&Path]) -> Outcome {
    let wanted = &args.wanted;
    let asks_for_records = [
        (!wanted.thread.is_empty(), "--thread"),
        (wanted.since.is_some(), "--since"),
        (wanted.until.is_some(), "--until"),
        (wanted.expression.is_some(), "--where"),
        (args.recorded, "--recorded"),
    ];
    if let Some((_, option)) = asks_for_records.iter().find(|(asked, _)| *asked) {
        let message =
            format!("{option}: {} is a program, which has sites but no records", paths[0].display());
        return Err(Failed::new(Exit::Usage, message));
    }
    let mut listing = Listing::new::<0>(args.json, "<PROGRAM", []);
    let mut worst = Exit::Success;
    let mut notes = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let list = match program::sites(path) {
            Ok(list) => list,
            // The sites of the others are still listed.
            Err(failed) => {
                worst = if failed.exit as u8 > worst as u8 { failed.exit } else { worst };
                notes.push(failed.message);
                continue;
            }
        };
        if list.is_damaged && worst == Exit::Success {
            worst = Exit::Damaged;
        }
        notes.extend(list.notes);
        for description in list.sites {
            let site = Site::new(description);
            if !filter.process(0, &name) || !filter.site(&site) {
                continue;
            }
            if args.json {
                push_listed_site_json(&mut listing.out.text, &path.to_string_lossy(), &site);
            } else {
                listing.row([], name.to_string(), &site);
            }
        }
    }
    if listing.finish()? {
        notes.iter().for_each(exit::note);
    }
    Ok(worst)
}

/// Places of sites with arguments.
///
/// A line of `tracing` or `log` gets its types with its first record. Until then it has a site without
/// arguments, which only decides whether it records. Where the place has other sites, that site adds nothing
/// and is not listed.
struct Places<'s>(HashSet<(&'s str, &'s str, u32, &'s str)>);

impl<'s> Places<'s> {
    fn of(sites: impl Iterator<Item = &'s Site>) -> Self {
        let with_arguments = sites.filter(|site| !site.description.signature.is_empty());
        Self(
            with_arguments
                .flat_map(|site| [place(site, &site.description.template), place(site, "")])
                .collect(),
        )
    }

    /// Whether a site stands for others of its place.
    fn has_others(&self, site: &Site) -> bool {
        let described = &site.description;
        described.language == RUST
            && described.line > 0
            && described.signature.is_empty()
            && self.0.contains(&place(site, &described.template))
    }
}

/// Language of a site that an adapter makes.
const RUST: u16 = 2;

fn place<'s>(site: &'s Site, template: &'s str) -> (&'s str, &'s str, u32, &'s str) {
    let described = &site.description;
    (&described.category, &described.file, described.line, template)
}

/// The sites as a table, or as JSON lines in `out`.
struct Listing {
    out: Output,
    table: Option<Table>,
}

impl Listing {
    /// `first`: headings before that of whose sites they are.
    fn new<const N: usize>(json: bool, whose: &'static str, first: [&'static str; N]) -> Self {
        let rest = [whose, "<LEVEL", "<KIND", "<CATEGORY", "<PLACE", "<FUNCTION", "<TEXT"];
        let headings: Vec<&'static str> = first.into_iter().chain(rest).collect();
        Self {
            out: Output::paged(),
            table: (!json).then(|| Table::new("", &headings).coloured(terminal::colour())),
        }
    }

    fn row<const N: usize>(&mut self, first: [String; N], whose: String, site: &Site) {
        if let Some(table) = &mut self.table {
            let rest = [
                whose,
                site.level().to_string(),
                site.kind().name().to_owned(),
                site.description.category.clone(),
                site.place(),
                site.function().to_owned(),
                site.description.template.clone(),
            ];
            let cells: Vec<String> = first.into_iter().chain(rest).collect();
            table.cells(&cells);
        }
    }

    /// Writes everything; false when the output was closed.
    fn finish(&mut self) -> Result<bool, Failed> {
        if let Some(table) = &self.table {
            table.push(&mut self.out.text);
        }
        self.out.finish()
    }
}

#[cfg(test)]
mod tests {
    use silverpoint_trace::Site;
    use silverpoint_wire::level::{Kind, Level};
    use silverpoint_wire::site::SiteDescription;

    use super::Places;

    fn site(line: u32, template: &str, signature: &str) -> Site {
        Site::new(SiteDescription {
            kind: Kind::Log,
            level: Level::Info,
            flags: 0,
            line,
            language: 2,
            category: "net".to_owned(),
            file: "src/net.rs".to_owned(),
            function: String::new(),
            names: "n\n".repeat(signature.len()),
            template: template.to_owned(),
            signature: signature.to_owned(),
        })
    }

    #[test]
    fn a_place_is_asked_by_a_site_that_is_not_listed_beside_those_with_arguments() {
        let sites =
            [site(7, "", ""), site(7, "{}", "s"), site(8, "", ""), site(9, "load", "l"), site(9, "load", "")];
        let places = Places::of(sites.iter());
        let is_hidden: Vec<bool> = sites.iter().map(|site| places.has_others(site)).collect();
        assert_eq!(is_hidden, [true, false, false, false, true]);
        // Another text at the same place is another site.
        assert!(!places.has_others(&site(9, "stored", "")) && !places.has_others(&site(0, "load", "")));
    }
}
