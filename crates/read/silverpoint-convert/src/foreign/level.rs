//! Levels of other programs: words and numbers.

use silverpoint_wire::level::Level;

use super::names::How;

/// A level, and whether it says all that stood there. What does not stays an argument.
pub(super) type Read = Option<(Level, bool)>;

/// A number, which libraries count differently.
pub(super) fn number(number: i64, how: How) -> Read {
    use Level::{Debug, Error, Fatal, Info, Trace, Warn};
    let steps = |steps: &[(i64, Level)]| {
        let step = steps.iter().rev().find(|(least, _)| *least <= number).or(steps.first());
        step.map(|(least, level)| (*level, *least == number))
    };
    match (how, number) {
        (How::OtlpLevel, 1..=24) => {
            steps(&[(1, Trace), (5, Debug), (9, Info), (13, Warn), (17, Error), (21, Fatal)])
        }
        (How::OtlpLevel, _) => None,
        (How::SyslogLevel, 0..=2) => Some((Fatal, number == 2)),
        (How::SyslogLevel, 3) => Some((Error, true)),
        (How::SyslogLevel, 4) => Some((Warn, true)),
        (How::SyslogLevel, 5..=6) => Some((Info, number == 6)),
        (How::SyslogLevel, 7) => Some((Debug, true)),
        (How::SyslogLevel, _) => None,
        (How::PythonLevel, _) => {
            steps(&[(0, Trace), (10, Debug), (20, Info), (30, Warn), (40, Error), (50, Fatal)])
        }
        // slog's: debug is -4.
        (_, i64::MIN..0) => Some((if number < -4 { Trace } else { Debug }, number == -4)),
        // Syslog's, or those of .NET: nothing says which, so the number stays.
        (_, 0..=7) => self::number(number, How::SyslogLevel).map(|(level, _)| (level, false)),
        (_, 8..=9) => Some((Error, false)),
        // pino and bunyan.
        (_, 10..100) => steps(&[(10, Trace), (20, Debug), (30, Info), (40, Warn), (50, Error), (60, Fatal)]),
        // Monolog.
        (_, 100..5000) => steps(&[(100, Debug), (200, Info), (300, Warn), (400, Error), (500, Fatal)]),
        // Logback.
        _ => steps(&[(5000, Trace), (10000, Debug), (20000, Info), (30000, Warn), (40000, Error)]),
    }
}

/// A word, in any case.
pub(super) fn word(text: &str, how: How) -> Read {
    use Level::{Debug, Error, Fatal, Info, Trace, Warn};
    if let Ok(value) = text.parse::<i64>() {
        return number(value, how);
    }
    let plain = without_colours(text);
    let plain = plain.trim();
    if plain.len() > 24 || !plain.is_ascii() {
        return None;
    }
    let is_whole = plain.len() == text.len();
    let lower = plain.to_ascii_lowercase();
    let (level, is_exact) = match lower.as_str() {
        "trace" | "trc" => (Trace, true),
        "debug" | "dbg" => (Debug, true),
        "info" | "inf" | "information" | "informational" => (Info, true),
        "warn" | "warning" | "wrn" => (Warn, true),
        "error" | "err" => (Error, true),
        "fatal" | "ftl" => (Fatal, true),
        // Serilog's lowest, but winston's between info and debug.
        "verbose" | "vrb" if plain != "verbose" => (Trace, false),
        "trace2" | "trace3" | "trace4" | "finer" | "finest" | "t" | "all" => (Trace, false),
        "verbose" | "vrb" | "fine" | "config" | "silly" | "http" | "d" | "d1" | "d2" | "d3" | "d4" | "d5"
        | "debug2" | "debug3" | "debug4" => (Debug, false),
        "notice" | "default" | "log" | "success" | "i" | "info2" | "info3" | "info4" => (Info, false),
        "w" | "warn2" | "warn3" | "warn4" => (Warn, false),
        "severe" | "e" | "failure" | "error2" | "error3" | "error4" => (Error, false),
        "critical" | "crit" | "alert" | "emerg" | "emergency" | "panic" | "dpanic" | "f" | "c" | "fatal2"
        | "fatal3" | "fatal4" => (Fatal, false),
        _ => (shifted(&lower)?, false),
    };
    Some((level, is_exact && is_whole))
}

/// One of slog's between others: `DEBUG+2`, `ERROR-1`.
fn shifted(word: &str) -> Option<Level> {
    let at = word.find(['+', '-'])?;
    let base = match &word[..at] {
        "debug" => -4,
        "info" => 0,
        "warn" => 4,
        "error" => 8,
        _ => return None,
    };
    Some(match base + word[at..].parse::<i32>().ok().filter(|shift| shift.abs() < 1000)? {
        i32::MIN..-4 => Level::Trace,
        -4..0 => Level::Debug,
        0..4 => Level::Info,
        4..8 => Level::Warn,
        8..12 => Level::Error,
        _ => Level::Fatal,
    })
}

/// The text without the escape sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        match sequence.find('m') {
            Some(end) => rest = &sequence[end + 1..],
            None => break,
        }
    }
    plain.push_str(rest);
    plain
}
