//! The kill test: `kill-test --silverpoint PROGRAM --rust-victim PROGRAM [--cpp-victim PROGRAM] [--rounds N] [--seed N]`.
//!
//! Each round runs a victim under `silverpoint run`, kills something with SIGKILL, lets the survivors finish, and then counts: every record whose
//! tracepoint returned must be in the trace file exactly once, in order, with the right content; at most one more a thread may be there (its
//! call had not returned); nothing may be reported lost. The last line is `kill test: N passed, N failed`.

mod judge;
mod plan;
mod round;

use std::path::PathBuf;
use std::process::ExitCode;

use plan::{Plan, Random};

fn option(words: &[String], name: &str) -> Option<String> {
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1).cloned()
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let path = |name| option(&words, name).map(PathBuf::from);
    let (Some(silverpoint), Some(rust_victim)) = (path("--silverpoint"), path("--rust-victim")) else {
        eprintln!(
            "usage: kill-test --silverpoint PROGRAM --rust-victim PROGRAM [--cpp-victim PROGRAM] [--rounds N] [--seed N]"
        );
        return ExitCode::from(2);
    };
    let programs = round::Programs { silverpoint, rust_victim, cpp_victim: path("--cpp-victim") };
    let rounds = option(&words, "--rounds").and_then(|n| n.parse().ok()).unwrap_or(60);
    let seed = option(&words, "--seed")
        .and_then(|n| n.parse().ok())
        .unwrap_or_else(|| u64::from(std::process::id()));
    println!("kill test: {rounds} rounds, seed {seed}");

    let mut random = Random::new(seed);
    let (mut passed, mut failed, mut killed_in_record) = (0_u32, 0_u32, 0_u32);
    let mut by_target = std::collections::BTreeMap::<String, (u32, u64)>::new();
    for number in 0..rounds {
        let plan = Plan::of_round(number, &mut random, programs.cpp_victim.is_some());
        match round::run(&programs, &plan) {
            Ok(outcome) => {
                passed += 1;
                killed_in_record += u32::from(outcome.killed_in_record);
                let entry = by_target.entry(plan.target.to_string()).or_default();
                entry.0 += 1;
                entry.1 += outcome.records;
            }
            Err(error) => {
                failed += 1;
                println!("round {number} FAILED: {plan}\n  {error}");
            }
        }
    }
    for (target, (rounds, records)) in &by_target {
        println!("  {target:<42} {rounds:>4} rounds, {records:>9} records counted one by one");
    }
    if killed_in_record > 0 {
        println!("  {killed_in_record} victims died in the middle of a record, which then was not there");
    }
    println!("kill test: {passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
