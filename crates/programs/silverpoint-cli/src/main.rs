//! The program as it is installed.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    silverpoint_cli::run_with(&silverpoint_cli::formats())
}
