//! The version of the trace file's format: the line `format` of a *file* block (spec/file.md section 2, docs/format-versions.md).

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use crate::process;

/// A version of the format of trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatVersion {
    /// Another one: nothing but the block's header and the *file* block can be relied on.
    pub major: u32,
    /// A greater one: there may be more than a reader knows, which it passes over.
    pub minor: u32,
}

impl FormatVersion {
    /// What this program writes, and knows all of.
    pub const CURRENT: FormatVersion = FormatVersion { major: 1, minor: 0 };

    /// Whether this program can read files of this version.
    pub fn is_readable(self) -> bool {
        self.major == Self::CURRENT.major
    }

    /// The version that the lines of a *file* block state, where it is none that this program can read. No version is nothing to doubt.
    pub fn refused(lines: &[(String, String)]) -> Option<&str> {
        let stated = process::value(lines, "format")?;
        if stated.parse().is_ok_and(Self::is_readable) { None } else { Some(stated) }
    }

    /// Whether files of this version may hold what this program does not know.
    pub fn is_newer(self) -> bool {
        self > Self::CURRENT
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for FormatVersion {
    type Err = ParseIntError;

    /// Two numbers with a point between them.
    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        // Without a point the minor number is empty, which is no number.
        let (major, minor) = text.split_once('.').unwrap_or((text, ""));
        // `parse` would take a sign.
        let number = |digits: &str| if digits.starts_with('+') { "".parse() } else { digits.parse() };
        Ok(Self { major: number(major)?, minor: number(minor)? })
    }
}

#[cfg(test)]
mod tests {
    use super::FormatVersion;

    #[test]
    fn two_numbers_and_nothing_else() {
        assert_eq!("1.0".parse(), Ok(FormatVersion::CURRENT));
        assert_eq!("2.13".parse(), Ok(FormatVersion { major: 2, minor: 13 }));
        for text in ["", "1", "1.", ".0", "1.0.0", "1.+0", "-1.0", "1.x", " 1.0", "99999999999.0"] {
            assert!(text.parse::<FormatVersion>().is_err(), "{text:?}");
        }
        assert_eq!(FormatVersion::CURRENT.to_string().parse(), Ok(FormatVersion::CURRENT));
    }

    #[test]
    fn minor_versions_are_read_major_ones_are_not() {
        let version = |major, minor| FormatVersion { major, minor };
        assert!(version(1, 7).is_readable() && version(1, 7).is_newer());
        assert!(!version(2, 0).is_readable() && !version(0, 9).is_readable());
        assert!(!version(1, 0).is_newer());
    }
}
