//! `silverpoint doctor`: what on this system prevents tracing, and what to change.
//!
//! Each check is a function from a [`System`] to its findings; the system is a directory that stands for `/`, and what the kernel answered.

mod clock;
mod finding;
mod kernel;
mod leftovers;
mod limits;
mod memory;
mod system;
#[cfg(test)]
mod tests;
mod tracers;

use std::path::PathBuf;

use serde_json::json;

use silverpoint_trace::escape::push_escaped;

use crate::exit::{Exit, Outcome};
use crate::input::Output;
use finding::{Finding, State};
use system::System;

/// Examine this system: shared memory, limits, clock, kernel, permissions, leftover sessions
///
/// Each finding is ok, warn or fail, with its meaning and what to change. Exit status 0: nothing fails (there
/// may be warnings). 7: something fails.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Also check whether this program can be traced
    #[arg(value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Show only what is not ok
    #[arg(short, long)]
    quiet: bool,
}

/// All checks, in the order of the report.
const CHECKS: [fn(&System) -> Vec<Finding>; 22] = [
    memory::root,
    memory::mount,
    memory::space,
    memory::rings,
    limits::file_size,
    limits::address_space,
    limits::locked_memory,
    limits::map_count,
    limits::control_group,
    clock::counter,
    clock::source,
    clock::hypervisor,
    kernel::populate,
    kernel::wipe,
    kernel::proc,
    kernel::privileges,
    kernel::ptrace,
    kernel::namespaces,
    tracers::user_events,
    tracers::trace_marker,
    leftovers::dead,
    leftovers::versions,
];

/// Everything that is found.
fn examine(system: &System) -> Vec<Finding> {
    CHECKS.iter().flat_map(|check| check(system)).collect()
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let mut findings = examine(&System::this());
    if let Some(program) = &args.program {
        findings.extend(kernel::program(program));
    }
    let mut out = Output::new();
    if args.json {
        push_json(&mut out.text, &findings);
    } else {
        push_text(&mut out.text, &findings, args.quiet);
    }
    out.flush()?;
    Ok(if worst(&findings) == State::Fail { Exit::Unfit } else { Exit::Success })
}

fn worst(findings: &[Finding]) -> State {
    findings.iter().map(|finding| finding.state).max().unwrap_or(State::Ok)
}

fn push_text(out: &mut String, findings: &[Finding], quiet: bool) {
    for finding in findings.iter().filter(|finding| !quiet || finding.state != State::Ok) {
        out.push_str(&format!("{:<5} {:<26} ", finding.state.name(), finding.check));
        push_escaped(out, &finding.found);
        out.push('\n');
        for (head, text) in [("", &finding.means), ("change: ", &finding.change)] {
            if !text.is_empty() {
                out.push_str(&format!("{:33}{head}", ""));
                push_escaped(out, text);
                out.push('\n');
            }
        }
    }
    let count = |state| findings.iter().filter(|finding| finding.state == state).count();
    let (ok, warn, fail) = (count(State::Ok), count(State::Warn), count(State::Fail));
    out.push_str(&format!("{ok} ok, {warn} warn, {fail} fail\n"));
}

fn push_json(out: &mut String, findings: &[Finding]) {
    let all: Vec<serde_json::Value> = findings
        .iter()
        .map(|finding| {
            json!({"check": finding.check, "state": finding.state.name(), "found": finding.found, "means": finding.means, "change": finding.change})
        })
        .collect();
    out.push_str(&json!({"state": worst(findings).name(), "findings": all}).to_string());
    out.push('\n');
}
