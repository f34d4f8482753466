//! `silverpoint config check`: whether a logger would take a configuration file.

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
    /// Say whether a logger would take the files, and where the first mistake in each is
    ///
    /// Nothing is started and no file is made. Exit status: 0 all are right; 1 one is not, or cannot be read; 2 wrong usage.
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
        match Config::from_file(&file).and_then(Config::check) {
            Ok(config) => {
                let path = file.display();
                println!("{path}: records {}, {} sinks", config.record, config.sinks.len());
            }
            Err(error) => {
                note(error);
                exit = Exit::Failure;
            }
        }
    }
    Ok(exit)
}
