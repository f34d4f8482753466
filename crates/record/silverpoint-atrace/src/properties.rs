//! What is enabled, by Android's names of system properties. On Linux they are lines `name=value` of a file, and variables of the environment of the same names; the
//! environment decides where both say something.
//!
//! ```text
//!  debug.atrace.tags.enableflags=0x1002      tags, decimal or 0x…
//!  debug.atrace.app_number=2                 how many of the following there are
//!  debug.atrace.app_0=player                 these programs have the tag APP, too; * is every one
//!  debug.atrace.app_1=/usr/bin/server
//! ```
//!
//! Cases, for every language: spec/vectors/atrace.tsv.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::{env, fs};

use rustix::fs::{Mode, OFlags};
use silverpoint::dynamic;

use crate::tag::{Tag, VALID};

/// Names the file.
pub(crate) const FILE: &str = "SILVERPOINT_ATRACE_PROPERTIES";
/// Bytes of the file that are read; a line that goes on beyond them is none.
const MOST_BYTES: u64 = 1 << 16;
/// Programs that are looked at.
const MOST_APPS: u32 = 64;

/// What the environment says; nothing in a program with more privileges than its caller, and an empty variable says nothing.
pub(crate) fn environment(name: &str) -> Option<OsString> {
    if dynamic::is_privileged() {
        return None;
    }
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The tags that a program with this command has, by file and environment. `None`: nobody has set anything.
pub(crate) fn tags(file: Option<&Path>, command: &[u8]) -> Option<u64> {
    let lines = file.map(|file| parse(&text_of(file).unwrap_or_default()));
    Properties { lines, environment: &|name| environment(name).map(OsString::into_vec) }.tags(command)
}

type Line = (Vec<u8>, Vec<u8>);

/// Properties as they were read.
struct Properties<'a> {
    /// Those of the file, if one is named.
    lines: Option<Vec<Line>>,
    environment: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

impl Properties<'_> {
    /// The last line counts.
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        let line = || self.lines.iter().flatten().rev().find(|(known, _)| known == name.as_bytes());
        let found = (self.environment)(name).or_else(|| line().map(|(_, value)| value.clone()));
        found.filter(|value| !value.is_empty())
    }

    fn tags(&self, command: &[u8]) -> Option<u64> {
        let flags = self.get("debug.atrace.tags.enableflags");
        let count = self.get("debug.atrace.app_number");
        if self.lines.is_none() && flags.is_none() && count.is_none() {
            return None;
        }
        let flags = flags.and_then(|text| number(&text)).unwrap_or(0);
        let apps = count.and_then(|text| self::count(&text)).unwrap_or(0);
        let mut apps = (0..apps.min(MOST_APPS.into()))
            .filter_map(|number| self.get(&format!("debug.atrace.app_{number}")));
        let base = command.rsplit(|byte| *byte == b'/').next().unwrap_or(command);
        let is_app = apps.any(|app| app == b"*" || app == command || app == base);
        if flags == 0 && !is_app {
            return Some(0);
        }
        Some((flags | if is_app { Tag::APP.bits() } else { 0 } | Tag::ALWAYS.bits()) & VALID)
    }
}

/// The contents of a file, as far as they can be read. (The writer of a pipe is not waited for.)
fn text_of(file: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let open = fs::File::from(rustix::fs::open(file, flags, Mode::empty()).ok()?);
    let mut text = Vec::new();
    let _ = open.take(MOST_BYTES + 1).read_to_end(&mut text);
    if text.len() as u64 > MOST_BYTES {
        // Half a number would be another one.
        text.truncate(text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
    }
    Some(text)
}

/// Lines `name=value`; `#` begins a comment.
fn parse(text: &[u8]) -> Vec<Line> {
    let lines = text.split(|byte| *byte == b'\n');
    let pairs = lines.filter_map(|line| {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let equals = line.iter().position(|byte| *byte == b'=')?;
        Some((trim(&line[..equals]).to_vec(), trim(&line[equals + 1..]).to_vec()))
    });
    pairs.collect()
}

/// Without space around it.
fn trim(text: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t'..=b'\r');
    let Some(first) = text.iter().position(is_text) else { return &[] };
    let last = text.iter().rposition(is_text).unwrap_or(first);
    &text[first..=last]
}

/// As Android reads it (strtoull with base 0): hexadecimal after `0x`, octal after `0`, otherwise decimal,
/// with a sign or not. `None` for an invalid number, and for the largest one, which Android takes for an
/// overflow.
fn number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, base) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    // (A second sign is no digit.)
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let size = is_plain.then(|| u64::from_str_radix(digits, base).ok())??;
    Some(if is_negative { size.wrapping_neg() } else { size }).filter(|number| *number != u64::MAX)
}

/// The same of a count, which is an `int` on Android.
fn count(text: &[u8]) -> Option<u64> {
    number(text).filter(|count| i32::try_from(*count).is_ok())
}

/// The program as it was called: its first argument.
pub(crate) fn command() -> Vec<u8> {
    env::args_os().next().map(OsString::into_vec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    /// A column of the table as the bytes that it stands for.
    fn bytes_of(column: &str) -> Vec<u8> {
        let mut parts = column.split('\\');
        let mut bytes = parts.next().unwrap().as_bytes().to_vec();
        for part in parts {
            let (byte, rest) = match part.as_bytes()[0] {
                b'n' => (b'\n', &part[1..]),
                b'r' => (b'\r', &part[1..]),
                b't' => (b'\t', &part[1..]),
                b'x' => (u8::from_str_radix(&part[1..3], 16).unwrap(), &part[3..]),
                _ => panic!("{column}"),
            };
            bytes.push(byte);
            bytes.extend(rest.as_bytes());
        }
        bytes
    }

    #[test]
    fn the_cases_of_all_languages() {
        let table = include_str!("../../../../spec/vectors/atrace.tsv");
        let cases = table.lines().filter(|line| !line.starts_with('#'));
        for case in cases.clone() {
            let [name, variables, file, command, tags] = case.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{case}")
            };
            let variables = if variables == "-" { Vec::new() } else { bytes_of(variables) };
            let known = |name: &str| {
                let lines = variables.split(|byte| *byte == b'\n');
                let mut values =
                    lines.filter_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
                values.next().map(<[u8]>::to_vec).filter(|value| !value.is_empty())
            };
            let lines = match file {
                "-" => None,
                "absent" => Some(Vec::new()),
                text => Some(parse(&bytes_of(text))),
            };
            let expected = match tags {
                "unset" => None,
                tags => number(tags.as_bytes()),
            };
            let found = Properties { lines, environment: &known }.tags(&bytes_of(command));
            assert_eq!(found, expected, "{name}");
        }
        assert!(cases.count() >= 50);
    }

    #[test]
    fn files_of_any_kind_are_read_as_far_as_they_are_lines() {
        let folder = tempfile::TempDir::with_prefix("silverpoint-properties-").unwrap();
        let place = folder.path();
        let file = place.join("file");
        let of = |file: &Path| tags(Some(file), b"x").expect("a file is named");
        let of_text = |text: &str| {
            fs::write(&file, text).unwrap();
            of(&file)
        };
        assert_eq!(of(&file), 0, "it is not there");
        assert_eq!(of(place), 0, "it is a directory");
        assert_eq!(of_text(""), 0);
        // The last line may end without a newline, also where no more is read.
        let flags = "debug.atrace.tags.enableflags=0x1000";
        assert_eq!(of_text(flags), 0x1001);
        for (beyond, tags) in [(-1, 0x1001), (0, 0x1001), (1, 0x11), (2, 0x11), (100, 0x11)] {
            let before = "debug.atrace.tags.enableflags=0x10\n#";
            let size = (MOST_BYTES as i64 + beyond) as usize - before.len() - flags.len() - 1;
            assert_eq!(of_text(&format!("{before}{}\n{flags}", "x".repeat(size))), tags, "{beyond}");
        }
        assert_eq!(of_text(&format!("{flags}{}", " ".repeat(200_000))), 0, "one line, and no end");
        // Nobody writes into this one: to open it as other files would take for ever.
        let pipe = place.join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert_eq!(of(&pipe), 0);
    }

    /// The environment comes from a caller with fewer privileges than the program: it is ignored, under any
    /// name.
    #[test]
    fn a_privileged_program_reads_no_properties() {
        const ROLE: &str = "SILVERPOINT_ATRACE_PRIVILEGED";
        const OTHER: u32 = 65_534;
        let name = "properties::tests::a_privileged_program_reads_no_properties";
        if let Some(role) = env::var_os(ROLE) {
            let expected = if role == "privileged" { None } else { Some(3) };
            assert_eq!(tags(None, b"x"), expected);
            assert_eq!(environment(FILE).is_some(), role != "privileged");
            return;
        }
        if !rustix::process::geteuid().is_root() {
            silverpoint_tests::skipped!("a program of another user can be made by root only");
            return;
        }
        let folder = tempfile::TempDir::with_prefix("silverpoint-properties-").unwrap();
        let place = folder.path();
        let program = place.join("program");
        fs::set_permissions(place, PermissionsExt::from_mode(0o755)).unwrap();
        // By another process: what this one writes may be open in a child that another test forks this moment.
        let mut copy = Command::new("cp");
        assert!(copy.arg(env::current_exe().unwrap()).arg(&program).status().unwrap().success());
        chown(&program, Some(OTHER), Some(OTHER)).unwrap();
        for (role, mode) in [("privileged", 0o4755), ("not", 0o755)] {
            fs::set_permissions(&program, PermissionsExt::from_mode(mode)).unwrap();
            let mut command = Command::new(&program);
            command.args([name, "--exact"]).env(ROLE, role).current_dir("/");
            command.env("debug.atrace.tags.enableflags", "2").env(FILE, "/absent");
            if role == "not" {
                command.uid(OTHER);
            }
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{role}: {text}");
        }
    }
}
