//! `silverpoint-debug` for Windows and Wine: shows what programs give to OutputDebugString.

use std::process::ExitCode;

#[cfg(windows)]
fn main() -> ExitCode {
    silverpoint_dbwin::show()
}

#[cfg(not(windows))]
fn main() -> ExitCode {
    eprintln!("silverpoint-debug: this program is for Windows and Wine; on Linux use `silverpoint debug`");
    ExitCode::FAILURE
}
