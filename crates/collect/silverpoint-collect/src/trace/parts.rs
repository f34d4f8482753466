//! Names of a trace's parts: `NAME.silver` is the current one, `NAME.N.silver` those rotated away, in the order of N.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use silverpoint_shm::platform::files::{self, AsDescriptor};

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
    let mut part = stem.to_owned();
    part.push(format!(".{number}"));
    if let Some(extension) = extension {
        part.push(".");
        part.push(extension);
    }
    part
}

/// Where the next part is made before it gets the name.
pub(crate) fn next_name(name: &OsStr) -> OsString {
    let mut next = OsString::from(".");
    next.push(name);
    next.push(".next");
    next
}

/// Which part a name is; `None` when it is none.
fn number_of(name: &OsStr, candidate: &OsStr) -> Option<u64> {
    let (stem, extension) = split(name);
    let rest = candidate.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes())?.strip_prefix(b".")?;
    let digits = match extension {
        Some(extension) => rest.strip_suffix(extension.as_encoded_bytes())?.strip_suffix(b".")?,
        None => rest,
    };
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    // One spelling: `trace.01.silver` is somebody else's.
    (part_name(name, number) == candidate && number > 0).then_some(number)
}

/// What is before the last dot, and behind it. A dot in front belongs to the name.
fn split(name: &OsStr) -> (&OsStr, Option<&OsStr>) {
    let name = Path::new(name);
    (name.file_stem().unwrap_or_default(), name.extension())
}

/// The parts that were rotated away and are there: regular files, in ascending order.
pub(crate) fn rotated(directory: impl AsDescriptor, name: &OsStr) -> std::io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    for entry in files::names(&directory)?.take(MAX_ENTRIES) {
        let (candidate, _) = entry?;
        let Some(number) = number_of(name, &candidate) else { continue };
        let Ok(status) = files::status_at(&directory, &candidate) else { continue };
        if status.is_file {
            let (dev, ino, bytes) = (status.device, status.inode, status.bytes);
            parts.push(Part { number, name: candidate, dev, ino, bytes });
        }
    }
    parts.sort_unstable_by_key(|part| part.number);
    Ok(parts)
}

/// Whether a trace, or a part that was rotated away from it, is one of the files that are `wanted` by device and inode.
pub(crate) fn is_or_was_part(path: &Path, wanted: impl Fn((u64, u64)) -> bool) -> bool {
    let Some(name) = path.file_name() else { return false };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(directory) = files::open_directory(parent) else { return false };
    let is_wanted =
        files::status_at(&directory, name).is_ok_and(|status| wanted((status.device, status.inode)));
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
