//! What is enabled, by Android's names of system properties. On Linux they are lines `name=value` of a file, and variables of the environment of the same names; the
//! environment decides where both say something.
//!
//! ```text
//!  debug.atrace.tags.enableflags=0x1002      tags, decimal or 0x…
//!  debug.atrace.app_number=2                 how many of the following there are
//!  debug.atrace.app_0=player                 these programs have the tag APP, too; * is every one
//!  debug.atrace.app_1=/usr/bin/server
//! ```

use std::io::Read as _;
use std::path::Path;
use std::{env, fs};

use rustix::fs::{Mode, OFlags};

use crate::tag::{Tag, VALID};

/// Names the file.
pub(crate) const FILE: &str = "SILVERPOINT_ATRACE_PROPERTIES";
/// Bytes of the file that are read; a line that goes on beyond them is none.
const MOST_BYTES: u64 = 1 << 16;
/// Programs that are looked at.
const MOST_APPS: u32 = 64;

/// Properties as they were read.
#[derive(Debug, Default)]
pub(crate) struct Properties(Vec<(String, String)>);

impl Properties {
    /// Reads file and environment. `None`: nobody has set anything.
    pub(crate) fn read(file: Option<&Path>) -> Option<Self> {
        let mut all = Vec::new();
        if let Some(text) = file.and_then(text_of) {
            all = parse(&String::from_utf8_lossy(&text));
        }
        let known = env::vars_os().filter_map(|(name, value)| {
            Some((
                name.into_string().ok().filter(|name| name.starts_with("debug.atrace."))?,
                value.into_string().ok()?,
            ))
        });
        all.extend(known);
        (file.is_some() || !all.is_empty()).then_some(Self(all))
    }

    /// The last one counts.
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The tags that a program with this command has.
    pub(crate) fn tags(&self, command: &str) -> u64 {
        let flags = self.get("debug.atrace.tags.enableflags").and_then(number).unwrap_or(0);
        let count = self.get("debug.atrace.app_number").and_then(number).unwrap_or(0);
        let apps =
            (0..count.min(MOST_APPS.into())).filter_map(|n| self.get(&format!("debug.atrace.app_{n}")));
        let base = command.rsplit('/').next().unwrap_or(command);
        let is_app = apps.into_iter().any(|app| app == "*" || app == command || app == base);
        if flags == 0 && !is_app {
            return 0;
        }
        (flags | if is_app { Tag::APP.bits() } else { 0 } | Tag::ALWAYS.bits()) & VALID
    }
}

/// What is in a file, as far as it can be read. (Nobody waits for what writes into a pipe.)
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
fn parse(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The program as it was called: its first argument.
pub(crate) fn command() -> String {
    env::args_os().next().map(|command| command.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str, command: &str) -> u64 {
        Properties(parse(text)).tags(command)
    }

    #[test]
    fn flags_and_programs() {
        assert_eq!(tags("", "player"), 0);
        assert_eq!(tags("debug.atrace.tags.enableflags = 0x402 # gfx, camera\n", "player"), 0x403);
        assert_eq!(tags("debug.atrace.tags.enableflags=6", "player"), 7);
        let apps = "debug.atrace.app_number=2\ndebug.atrace.app_0=other\ndebug.atrace.app_1=player\n";
        assert_eq!(tags(apps, "/usr/bin/player"), 0x1001);
        assert_eq!(tags(apps, "/usr/bin/third"), 0);
        assert_eq!(tags("debug.atrace.app_number=1\ndebug.atrace.app_0=*", "third"), 0x1001);
        assert_eq!(tags("debug.atrace.app_number=1\ndebug.atrace.app_1=third", "third"), 0);
    }

    #[test]
    fn files_of_any_kind_are_read_as_far_as_they_are_lines() {
        let place = env::temp_dir().join(format!("silverpoint-properties-{}", std::process::id()));
        fs::create_dir(&place).unwrap();
        let file = place.join("file");
        let of = |file: &Path| Properties::read(Some(file)).expect("a file is named").tags("x");
        let of_text = |text: &str| {
            fs::write(&file, text).unwrap();
            of(&file)
        };
        assert_eq!(of(&file), 0, "it is not there");
        assert_eq!(of(&place), 0, "it is a directory");
        assert_eq!(of_text(""), 0);
        // The last line may end without a newline, also where no more is read.
        let flags = "debug.atrace.tags.enableflags=0x1000";
        assert_eq!(of_text(flags), 0x1001);
        assert_eq!(of_text(&format!("{flags}\r\n")), 0x1001);
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
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn nonsense_enables_nothing() {
        for text in [
            "debug.atrace.tags.enableflags=many",
            "=",
            "debug.atrace.tags.enableflags",
            "\0\n\0=\0",
            "debug.atrace.app_number=99999999999999999999\ndebug.atrace.app_0=*",
        ] {
            assert_eq!(tags(text, "x"), 0, "{text:?}");
        }
        assert_eq!(tags("debug.atrace.tags.enableflags=0xFFFFFFFFFFFFFFFF", "x"), VALID);
    }
}
