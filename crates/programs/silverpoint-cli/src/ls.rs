//! `silverpoint ls`: the sessions of this machine that can be seen.

use std::fmt::Write;

use serde_json::json;
use silverpoint_collect::{Limits, sweep};
use silverpoint_shm::observer::{ObservedSession, Slice};
use silverpoint_shm::root::Root;
use silverpoint_trace::escape::push_escaped;
use silverpoint_wire::layout::{CAUSE_NAMES, CAUSES};
use silverpoint_wire::process;

use crate::exit::{Exit, Failed, Outcome, inform, note};
use crate::input::Output;
use crate::platform::processes::{self, Processes};
use crate::sessions::{self, Place};
use crate::terminal;
use crate::units::{show_bytes, show_count};

/// List sessions: living ones, and dead ones whose records are not collected yet
///
/// Dead sessions without records are removed. Others are removed when there are too many, too large or too
/// old (32 sessions, 256 MiB, a week).
#[derive(clap::Args)]
pub struct Args {
    /// One JSON object a session
    #[arg(long)]
    json: bool,
    /// Remove nothing
    #[arg(long)]
    no_sweep: bool,
}

/// Characters of a command line that the table shows.
const COMMAND_MAX: usize = 200;

struct Row {
    /// Its name is the executable's, without directories.
    name: String,
    session: String,
    root: String,
    pid: u32,
    command: String,
    alive: bool,
    collector: u32,
    sites: u32,
    streams: u32,
    waiting_bytes: u64,
    losses: [u64; CAUSES],
    directives: String,
}

pub fn run(args: Args) -> Outcome {
    if !args.no_sweep {
        for root in sessions::roots(None)? {
            clean(&root);
        }
    }
    let mut rows = Vec::new();
    for place in sessions::all(None)? {
        match look(&place) {
            Ok(row) => rows.push(row),
            // It may just have ended, or not be a session.
            Err(error) => note(error),
        }
    }
    let mut out = Output::paged();
    if args.json {
        print_json(&mut out.text, &rows);
    } else {
        print_table(&mut out.text, &rows, terminal::colour());
    }
    if rows.is_empty() && !args.json {
        match sessions::roots(None)?.first() {
            Some(root) => inform(format_args!("looked in {}", root.path().display())),
            None => inform("there is no directory of sessions yet: no program has made one"),
        }
    }
    out.finish()?;
    Ok(Exit::Success)
}

/// Sweeps a root. What cannot be removed now is removed the next time.
fn clean(root: &Root) {
    let Some(supervisor) = sessions::supervisor_of(root) else {
        let _ = sweep(root, Limits::default());
        return;
    };
    // A run's collector stores everything there, however much; it may be restarting.
    if processes::is_alive(supervisor) || Processes::of(root.path()).is_any_left() {
        return;
    }
    let _ = sweep(root, Limits { sessions: usize::MAX, bytes: u64::MAX, ..Limits::default() });
    crate::backtrace::remove_root(root.path());
}

fn look(place: &Place) -> Result<Row, Failed> {
    let session = place.open()?;
    let at = |error| place.failed(error);
    let counters = session.counters().map_err(at)?;
    let text = process::lines(&session.process_text().map_err(at)?);
    let (waiting_bytes, losses) = waiting(&session, counters.slabs_next, counters.session_losses);
    Ok(Row {
        name: name(process::value(&text, "exe")),
        session: place.name.to_string(),
        root: root_name(&place.root),
        pid: place.name.pid,
        command: process::value(&text, "cmdline").or(process::value(&text, "exe")).unwrap_or("?").to_owned(),
        alive: session.is_alive().map_err(at)?,
        collector: if session.is_collected().map_err(at)? { counters.collector_pid } else { 0 },
        sites: session.site_count(counters.sites_next),
        streams: counters.streams_next,
        waiting_bytes,
        losses,
        directives: String::from_utf8_lossy(&session.directives().map_err(at)?).into_owned(),
    })
}

/// Bytes that are not stored yet, and losses by cause, over all rings.
fn waiting(session: &ObservedSession, slabs_next: u32, mut losses: [u64; CAUSES]) -> (u64, [u64; CAUSES]) {
    let mut slices: Vec<Slice> = Vec::new();
    // A slab that contradicts the rules has no rings to count.
    let _ = session.slices(slabs_next, &mut slices, |_| {});
    let mut bytes = 0;
    for slice in slices {
        let Ok(Some(ring)) = session.ring(slice) else { continue };
        if let Ok((from, to)) = ring.valid_range(slice.size as usize) {
            bytes += to - from;
        }
        for (sum, loss) in losses.iter_mut().zip(ring.losses) {
            *sum = sum.saturating_add(loss);
        }
    }
    (bytes, losses)
}

fn name(exe: Option<&str>) -> String {
    exe.map_or("?", process::name_of_program).to_owned()
}

fn root_name(root: &Root) -> String {
    root.path().display().to_string()
}

fn loss_text(losses: &[u64; CAUSES]) -> String {
    let parts: Vec<String> = CAUSE_NAMES
        .iter()
        .zip(losses)
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| format!("{} {name}", show_count(*count)))
        .collect();
    if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
}

fn print_json(out: &mut String, rows: &[Row]) {
    for row in rows {
        let losses: serde_json::Map<String, serde_json::Value> = CAUSE_NAMES
            .iter()
            .zip(row.losses)
            .map(|(name, count)| ((*name).to_owned(), count.into()))
            .collect();
        let line = json!({
            "session": row.session, "root": row.root, "pid": row.pid, "name": row.name, "command": row.command, "alive": row.alive,
            "collector": row.collector, "sites": row.sites, "streams": row.streams, "waiting_bytes": row.waiting_bytes,
            "losses": losses, "directives": row.directives,
        });
        let _ = writeln!(out, "{line}");
    }
}

fn print_table(out: &mut String, rows: &[Row], colour: bool) {
    if rows.is_empty() {
        out.push_str("no sessions\n");
        return;
    }
    let (dim, plain) = if colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    let _ = writeln!(
        out,
        "{dim}{:>8}  {:<5}  {:>9}  {:>6}  {:>7}  {:>10}  {:<12}  COMMAND{plain}",
        "PID", "STATE", "COLLECTOR", "SITES", "STREAMS", "WAITING", "LOSSES"
    );
    for row in rows {
        let collector = if row.collector == 0 { "-".to_owned() } else { row.collector.to_string() };
        // A command line may hold anything.
        let mut command = String::new();
        push_escaped(&mut command, &row.command.chars().take(COMMAND_MAX).collect::<String>());
        let _ = writeln!(
            out,
            "{:>8}  {:<5}  {:>9}  {:>6}  {:>7}  {:>10}  {:<12}  {command}",
            row.pid,
            if row.alive { "alive" } else { "dead" },
            collector,
            row.sites,
            row.streams,
            show_bytes(row.waiting_bytes),
            loss_text(&row.losses),
        );
    }
}
