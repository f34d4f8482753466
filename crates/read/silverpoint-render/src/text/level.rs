//! Names and colours of levels.

use silverpoint_wire::level::Level;

/// The level's name, five columns wide.
pub(super) fn push_column(out: &mut String, level: Level, is_coloured: bool) {
    let name = name(level);
    if is_coloured {
        out.push_str(colour(level));
    }
    out.push_str(name);
    if is_coloured {
        out.push_str(PLAIN);
    }
    if name.len() < 5 {
        out.push(' ');
    }
}

/// The name of a level.
pub(super) fn name(level: Level) -> &'static str {
    match level {
        Level::Trace => "TRACE",
        Level::Debug => "DEBUG",
        Level::Info => "INFO",
        Level::Warn => "WARN",
        Level::Error => "ERROR",
        Level::Fatal => "FATAL",
    }
}

/// Begins a level's colour; [`PLAIN`] ends it.
pub(super) fn colour(level: Level) -> &'static str {
    match level {
        Level::Trace => "\x1b[2m",
        Level::Debug => "\x1b[36m",
        Level::Info => "\x1b[32m",
        Level::Warn => "\x1b[33m",
        Level::Error => "\x1b[31m",
        Level::Fatal => "\x1b[1;37;41m",
    }
}

/// Ends a colour.
pub(super) const PLAIN: &str = "\x1b[0m";

/// What Qt calls a level.
pub(super) fn qt_name(level: Level) -> &'static str {
    match level {
        Level::Trace | Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "critical",
        Level::Fatal => "fatal",
    }
}

/// What spdlog calls a level.
pub(super) fn spdlog_name(level: Level) -> &'static str {
    match level {
        Level::Trace => "trace",
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
        Level::Fatal => "critical",
    }
}

/// spdlog's letter of a level.
pub(super) fn spdlog_letter(level: Level) -> &'static str {
    match level {
        Level::Trace => "T",
        Level::Debug => "D",
        Level::Info => "I",
        Level::Warn => "W",
        Level::Error => "E",
        Level::Fatal => "C",
    }
}
