//! `silverpoint doctor`: what on this system prevents tracing, and what to change.
//!
//! `platform` has what is examined of each system; sessions that are left are the same.

pub mod finding;
pub mod leftovers;

use std::path::PathBuf;

use serde_json::json;

use silverpoint_trace::escape::push_escaped;

use crate::exit::{Exit, Outcome};
use crate::input::Output;
use crate::platform::doctor;
use finding::{Finding, State};

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

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let findings = doctor::examine(args.program.as_deref());
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

pub fn push_text(out: &mut String, findings: &[Finding], quiet: bool) {
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

pub fn push_json(out: &mut String, findings: &[Finding]) {
    let all: Vec<serde_json::Value> = findings
        .iter()
        .map(|finding| {
            json!({"check": finding.check, "state": finding.state.name(), "found": finding.found, "means": finding.means, "change": finding.change})
        })
        .collect();
    out.push_str(&json!({"state": worst(findings).name(), "findings": all}).to_string());
    out.push('\n');
}
