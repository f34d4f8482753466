//! Names of session directories.

use std::fmt;
use std::io;
use std::str::FromStr;

use rustix::fs::Dir;

use crate::root::Root;

/// `<pid>-<start>-<n>` (spec/wire.md section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName {
    /// Process id in the process's own namespace.
    pub pid: u32,
    /// Clock ticks since boot at which the process started.
    pub start: u64,
    /// Counts the images of one process.
    pub number: u32,
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.pid, self.start, self.number)
    }
}

/// The text is no name of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameError;

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected the name of a session: <pid>-<start>-<number>")
    }
}

impl std::error::Error for NameError {}

impl FromStr for SessionName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<SessionName, NameError> {
        let mut parts = text.split('-');
        let mut part = || {
            let digits = parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<u64>().ok()).ok_or(NameError)
        };
        let (pid, start, number) = (part()?, part()?, part()?);
        let narrow = |value: u64| u32::try_from(value).map_err(|_| NameError);
        let name = SessionName { pid: narrow(pid)?, start, number: narrow(number)? };
        // Exactly one spelling a session: nothing follows, no leading zeros.
        if name.to_string() == text { Ok(name) } else { Err(NameError) }
    }
}

/// Most sessions that a root is read for: a bound against a directory that somebody fills.
const SESSIONS_MAX: usize = 65_536;

/// The sessions of a root by their names, in ascending order. Other entries are ignored.
pub fn list(root: &Root) -> io::Result<Vec<SessionName>> {
    let mut names: Vec<SessionName> = Vec::new();
    for entry in Dir::read_from(root.fd())? {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().ok().and_then(|text| text.parse().ok()) {
            names.push(name);
            if names.len() == SESSIONS_MAX {
                break;
            }
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_spelling() {
        let name: SessionName = "12-345-0".parse().unwrap();
        assert_eq!((name.pid, name.start, name.number), (12, 345, 0));
        for bad in [
            "",
            "12",
            "12-345",
            "12-345-0-1",
            "012-345-0",
            "+1-2-3",
            "1-2-x",
            ".new-12-77",
            "99999999999-1-0",
        ] {
            assert_eq!(bad.parse::<SessionName>(), Err(NameError), "{bad}");
        }
    }
}
