//! Names of sessions, and which there are.

use std::fmt;
use std::str::FromStr;

use super::ObserveError;
use crate::platform::files;
use crate::platform::root::Root;

/// Entries of a root that one listing looks at: a bound on time and memory.
const MAX_ENTRIES: usize = 100_000;

/// `<pid>-<start>-<n>` (spec/wire.md, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionName {
    /// Process id, in the process's own namespace.
    pub pid: u32,
    /// Start of the process, in clock ticks since boot.
    pub start: u64,
    /// Which of the images (or layouts) of that process.
    pub n: u32,
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.pid, self.start, self.n)
    }
}

impl FromStr for SessionName {
    type Err = ObserveError;

    fn from_str(text: &str) -> Result<Self, ObserveError> {
        let parse = || {
            let mut parts = text.split('-');
            let name = Self {
                pid: parts.next()?.parse().ok()?,
                start: parts.next()?.parse().ok()?,
                n: parts.next()?.parse().ok()?,
            };
            // Other spellings of the same numbers (leading zeros, a plus sign) are other names.
            (parts.next().is_none() && name.to_string() == text).then_some(name)
        };
        parse().ok_or_else(|| {
            ObserveError::refused("session name", format!("{text:?} is not <pid>-<start>-<n>"))
        })
    }
}

/// The names in a root that are those of sessions, in no order. Whether they are sessions shows when they are opened.
pub fn list(root: &Root) -> Result<Vec<SessionName>, ObserveError> {
    let failed = |error| ObserveError::io("root of sessions", error);
    let mut names = Vec::new();
    for entry in files::names(root.fd()).map_err(failed)?.take(MAX_ENTRIES) {
        let (name, _) = entry.map_err(failed)?;
        if let Some(name) = name.to_str().and_then(|name| name.parse().ok()) {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_spelling_is_a_name() {
        assert_eq!("12-34-0".parse::<SessionName>().unwrap(), SessionName { pid: 12, start: 34, n: 0 });
        for bad in [
            "",
            "12",
            "12-34",
            "12-34-0-1",
            "012-34-0",
            "+12-34-0",
            "a-1-2",
            ".new-1-2",
            "12-34-",
            "5000000000-1-1",
        ] {
            assert!(bad.parse::<SessionName>().is_err(), "{bad}");
        }
    }
}
