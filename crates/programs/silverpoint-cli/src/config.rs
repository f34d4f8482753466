//! `silverpoint config check`: whether a logger would accept a configuration file.

use std::path::PathBuf;

use silverpoint_logger::Config;

use crate::exit::{Exit, Outcome, note};

/// Check configuration files of loggers
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    /// Check whether a logger would accept the files; show the first mistake of each, or the settings in
    /// force
    ///
    /// Each effective key is shown with its value or default, as an equivalent configuration. Nothing is
    /// started and no file is made. Exit status 0: all files are right. 1: one is wrong or cannot be read. 2:
    /// wrong usage.
    Check {
        /// Configuration files (TOML)
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    let Action::Check { files } = args.action;
    let mut exit = Exit::Success;
    for file in files {
        let checked = Config::from_file(&file).and_then(Config::check);
        match checked.and_then(|config| Config::effective_file(&file).map(|shown| (config, shown))) {
            Ok((config, shown)) => {
                let path = file.display();
                println!("# {path}: records {}, {} sinks", config.record, config.sinks.len());
                print!("{shown}");
            }
            Err(error) => {
                note(error);
                exit = Exit::Failure;
            }
        }
    }
    Ok(exit)
}
