//! Names of a trace's parts: `NAME.silver` is the current one, `NAME.N.silver` those rotated away, in the order of N.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode, OFlags};

/// Entries of the directory that are looked at.
const MAX_ENTRIES: usize = 100_000;

/// A part that was rotated away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its number.
    pub(crate) number: u64,
    /// Its name in the directory.
    pub(crate) name: OsString,
    /// Device, inode and bytes.
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) bytes: u64,
}

/// The name of part `number` of the trace whose current part is `name`.
pub(crate) fn part_name(name: &OsStr, number: u64) -> OsString {
    let (stem, extension) = split(name);
    let mut part = stem.to_vec();
    part.extend_from_slice(format!(".{number}").as_bytes());
    part.extend_from_slice(extension);
    OsString::from_vec(part)
}

/// Where the next part is made before it gets the name.
pub(crate) fn next_name(name: &OsStr) -> OsString {
    let mut next = b".".to_vec();
    next.extend_from_slice(name.as_bytes());
    next.extend_from_slice(b".next");
    OsString::from_vec(next)
}

/// Which part a name is; `None` when it is none.
fn number_of(name: &OsStr, candidate: &OsStr) -> Option<u64> {
    let (stem, extension) = split(name);
    let rest = candidate.as_bytes().strip_prefix(stem)?.strip_prefix(b".")?.strip_suffix(extension)?;
    let number: u64 = std::str::from_utf8(rest).ok()?.parse().ok()?;
    // One spelling: `trace.01.silver` is somebody else's.
    (part_name(name, number) == candidate && number > 0).then_some(number)
}

/// Before the last dot, and from it on.
fn split(name: &OsStr) -> (&[u8], &[u8]) {
    let bytes = name.as_bytes();
    let dot = bytes.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0).unwrap_or(bytes.len());
    bytes.split_at(dot)
}

/// The parts that were rotated away and are there: regular files, in ascending order.
pub(crate) fn rotated(directory: impl AsFd, name: &OsStr) -> std::io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    for entry in Dir::read_from(&directory)?.take(MAX_ENTRIES) {
        let candidate = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        let Some(number) = number_of(name, &candidate) else { continue };
        let Ok(stat) = rustix::fs::statat(&directory, &candidate, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile {
            let bytes = stat.st_size.max(0) as u64;
            parts.push(Part { number, name: candidate, dev: stat.st_dev, ino: stat.st_ino, bytes });
        }
    }
    parts.sort_unstable_by_key(|part| part.number);
    Ok(parts)
}

/// Whether a trace, or a part that was rotated away from it, is one of the files that are `wanted` by device and inode.
pub(crate) fn is_or_was_part(path: &Path, wanted: impl Fn((u64, u64)) -> bool) -> bool {
    let Some(name) = path.file_name() else { return false };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(directory) = rustix::fs::open(parent, flags, Mode::empty()) else { return false };
    let is_wanted = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| wanted((stat.st_dev, stat.st_ino)));
    is_wanted || rotated(&directory, name).unwrap_or_default().iter().any(|part| wanted((part.dev, part.ino)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_one_spelling() {
        let name = |text: &str| OsString::from(text);
        assert_eq!(part_name(&name("trace.silver"), 3), "trace.3.silver");
        assert_eq!(part_name(&name("trace"), 3), "trace.3");
        assert_eq!(part_name(&name(".trace"), 3), ".trace.3");
        assert_eq!(number_of(&name("trace.silver"), &name("trace.12.silver")), Some(12));
        for other in [
            "trace.silver",
            "trace.0.silver",
            "trace.01.silver",
            "trace.+1.silver",
            "trace.1.txt",
            "race.1.silver",
            "trace.1.2.silver",
        ] {
            assert_eq!(number_of(&name("trace.silver"), &name(other)), None, "{other}");
        }
    }
}
