//! The kill test: `kill-test --silverpoint PROGRAM --rust-victim PROGRAM [--cpp-victim PROGRAM] [--rounds N] [--seed N] [--only N]`.
//!
//! Each round runs a victim under `silverpoint run`, which records by the frontend's own macros or by a
//! facade ([`silverpoint_killtest::facade`]). It kills something with SIGKILL, lets the survivors finish, and
//! then counts. Every record whose tracepoint returned must be in the trace file exactly once, in order, with
//! the right content. For each thread at most one more may be there (its call had not returned). Nothing may
//! be reported lost, and no session may be left. The last line is `kill test: N passed, N failed`.

mod calls;
mod judge;
mod plan;
mod round;
mod system;
mod torn;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use plan::{Plan, Random};

fn option(words: &[String], name: &str) -> Option<String> {
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1).cloned()
}

fn number<T: std::str::FromStr>(words: &[String], name: &str) -> Option<T> {
    option(words, name).and_then(|text| text.parse().ok())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let path = |name| option(&words, name).map(PathBuf::from);
    let (Some(silverpoint), Some(rust_victim)) = (path("--silverpoint"), path("--rust-victim")) else {
        eprintln!(
            "usage: kill-test --silverpoint PROGRAM --rust-victim PROGRAM [--cpp-victim PROGRAM] [--rounds N] [--seed N] [--only N]"
        );
        return ExitCode::from(2);
    };
    let programs = round::Programs { silverpoint, rust_victim, cpp_victim: path("--cpp-victim") };
    if programs.cpp_victim.is_none() {
        println!("kill test: without the C++ victim, unpublished records in memory are not checked");
    }
    let rounds: u32 = number(&words, "--rounds").unwrap_or(60);
    let seed: u64 = number(&words, "--seed").unwrap_or_else(|| u64::from(std::process::id()));
    let only: Option<u32> = number(&words, "--only");
    println!("kill test: {rounds} rounds, seed {seed}");

    let mut random = Random::new(seed);
    let (mut passed, mut failed) = (0_u32, 0_u32);
    let mut by_what = BTreeMap::<(bool, String), (u32, u64)>::new();
    let begun = Instant::now();
    for number in 0..rounds {
        let plan = Plan::of_round(number, &mut random, programs.cpp_victim.is_some());
        if only.is_some_and(|only| only != number) {
            continue;
        }
        match round::run(&programs, &plan) {
            Ok(records) => {
                passed += 1;
                let language = if plan.cpp { "C++" } else { "Rust" };
                let facade = format!("by {} of {language}", plan.facade);
                for what in [(false, plan.target.to_string()), (true, facade)] {
                    let entry = by_what.entry(what).or_default();
                    entry.0 += 1;
                    entry.1 += records;
                }
            }
            Err(error) => {
                failed += 1;
                println!("round {number} FAILED: {plan}\n  {error}");
            }
        }
    }
    for ((_, what), (rounds, records)) in &by_what {
        println!("  {what:<42} {rounds:>4} rounds, {records:>10} records counted one by one");
    }
    println!("  in {:.1} s", begun.elapsed().as_secs_f64());
    println!("kill test: {passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
