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
    /// Say whether a logger would take the files, and where the first mistake in each is; show what is in force
    ///
    /// Each key that counts is shown with its value or its default, as a configuration that means the same.
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
