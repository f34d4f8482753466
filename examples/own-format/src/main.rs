//! The program `silverpoint` with one format more.

fn main() -> std::process::ExitCode {
    let mut formats = silverpoint_cli::formats();
    formats.add(own_format::LOGFMT);
    silverpoint_cli::run_with(&formats)
}
