//! The `silverpoint` program: it parses arguments, supervises processes, and joins the other crates.
//!
//! **The invariant.** It computes nothing that a library could: verbs parse, call, and print. Each way to end
//! has its exit code, which `--help` lists.
//!
//! As a library it is the same program with the caller's own formats:
//!
//! ```
//! use std::path::Path;
//! use std::process::ExitCode;
//!
//! use silverpoint_convert::{Format, Formats};
//!
//! fn formats() -> Formats {
//!     let mut formats = silverpoint_cli::formats();
//!     // A reader, a writer or both: see `examples/own-format`.
//!     formats.add(Format { name: "own", endings: &["own"], about: "a format of our own", reader: None, writer: None });
//!     formats
//! }
//!
//! /// What the program's `main` returns.
//! fn run() -> ExitCode {
//!     silverpoint_cli::run_with(&formats())
//! }
//!
//! assert!(formats().of(Path::new("app.own")).is_some_and(|format| format.name == "own"));
//! assert!(formats().named("json").is_some()); // beside those of the program
//! ```
//!
//! A verb is a module with its arguments and a function `run`.
#![forbid(unsafe_code)]
// Some things are used by commands alone that are not there.
#![cfg_attr(windows, allow(dead_code))]

mod cat;
mod convert;
mod examples;
mod exit;
#[cfg(test)]
mod grammar;
mod helper;
mod input;
mod manual;
mod names;
mod newdirectory;
mod newfile;
mod platform;
mod printing;
mod program;
mod progress;
mod recover;
mod repair;
mod sites;
mod split;
mod sql;
mod stats;
mod terminal;
mod tracegen;
mod trim;
mod verify;

// What needs the sessions of programs.
mod attach;
mod backtrace;
mod collect;
mod ctl;
mod dead;
mod debug;
mod doctor;
mod live;
mod living;
mod ls;
mod policy;
mod run;
mod sessions;
mod store;
mod summary;
mod tail;
mod top;
mod view;

// What needs Linux, too.
#[cfg(unix)]
mod config;
#[cfg(unix)]
mod replay;
// What says on Windows that it does.
#[cfg(windows)]
use platform::absent::{config, replay};

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::Outcome;
use platform::interrupts;
use silverpoint_convert::Formats;
use silverpoint_render::units;

/// Tracing that costs what reading the clock costs, and survives the death of the program.
#[derive(Parser)]
#[command(name = "silverpoint", version, max_term_width = 120)]
#[command(
    after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 the file is damaged (everything intact was given);
4 not a trace file; 5 recovered, but records were really lost; 6 no such session; 7 the system is unfit (doctor), or lacks what the command needs; 130 interrupted, and nothing was written.
`run` ends as its command does; 125 it could not begin, 126 the command could not be executed, 127 it was not found."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    terminal: terminal::Choice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Attach(attach::Args),
    Ls(ls::Args),
    Recover(recover::Args),
    Cat(cat::Args),
    Tail(tail::Args),
    Debug(debug::Args),
    Top(top::Args),
    View(view::Args),
    Stats(stats::Args),
    Sites(sites::Args),
    Verify(verify::Args),
    Repair(repair::RepairArgs),
    Merge(repair::MergeArgs),
    Trim(trim::Args),
    Split(split::Args),
    Convert(convert::Args),
    Replay(replay::Args),
    Sql(sql::Args),
    Ctl(ctl::Args),
    Config(config::Args),
    Tracegen(tracegen::Args),
    Doctor(doctor::Args),
    Man(manual::ManArgs),
    Completions(manual::CompletionsArgs),
    #[command(hide = true)]
    Collect(collect::Args),
}

/// The commands of the two processes that stay while a program runs. Their arguments are parsed without those of all other commands,
/// which would stay in memory as long as they do.
#[derive(Parser)]
#[command(name = "silverpoint", disable_help_subcommand = true)]
struct Lasting {
    #[command(flatten)]
    terminal: terminal::Choice,
    #[command(subcommand)]
    command: LastingCommand,
}

#[derive(Subcommand)]
enum LastingCommand {
    Run(run::Args),
    #[command(hide = true)]
    Collect(collect::Args),
}

/// What the program is asked for. Messages about wrong arguments, and help, come from the whole grammar.
fn parse() -> Cli {
    let is_lasting = std::env::args_os().nth(1).is_some_and(|verb| verb == "run" || verb == "collect");
    let Some(lasting) = is_lasting.then(Lasting::try_parse).and_then(Result::ok) else { return Cli::parse() };
    let command = match lasting.command {
        LastingCommand::Run(args) => Command::Run(args),
        LastingCommand::Collect(args) => Command::Collect(args),
    };
    Cli { terminal: lasting.terminal, command }
}

/// The formats of the program: [`Formats::add`] adds more.
pub fn formats() -> Formats {
    convert::formats()
}

/// Runs the program by its arguments, with these formats for `convert`; gives its exit status.
pub fn run_with(formats: &Formats) -> ExitCode {
    let cli = parse();
    terminal::choose(cli.terminal);
    let outcome: Outcome = match cli.command {
        Command::Run(args) => run::run(args),
        Command::Attach(args) => attach::run(args),
        Command::Ls(args) => ls::run(args),
        Command::Recover(args) => recover::run(args),
        Command::Cat(args) => cat::run(args),
        Command::Tail(args) => tail::run(args),
        Command::Debug(args) => debug::run(args),
        Command::Top(args) => top::run(args),
        Command::View(args) => view::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Sites(args) => sites::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Repair(args) => repair::repair(args),
        Command::Merge(args) => repair::merge(args),
        Command::Trim(args) => trim::run(args),
        Command::Split(args) => split::run(args),
        Command::Convert(args) => convert::run(args, formats),
        Command::Replay(args) => replay::run(args),
        Command::Sql(args) => sql::run(args),
        Command::Ctl(args) => ctl::run(args),
        Command::Config(args) => config::run(args),
        Command::Tracegen(args) => tracegen::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Man(args) => manual::man(args),
        Command::Completions(args) => manual::completions(args),
        Command::Collect(args) => collect::run(args),
    };
    match outcome {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(failed) => {
            exit::note(&failed);
            ExitCode::from(failed.exit as u8)
        }
    }
}
