//! Rotated files: finding the parts that belong together.
//!
//! A part names the one before it (`previous`, a file name in the same directory). The next part of a rotated
//! one is found by searching the directory.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use silverpoint_wire::about::PREVIOUS;
use silverpoint_wire::block::{BlockHeader, BlockKind};
use silverpoint_wire::layout::block::HEADER_SIZE;
use silverpoint_wire::process;
use silverpoint_wire::scan::ReadAt;

use super::source::Source;
use crate::files::identity_at;

/// Most parts of one trace, and most files of a directory that are examined.
pub(super) const PARTS_MAX: usize = 10_000;

/// Lines of the *file* block at the start of a file, if it begins with one.
fn about(path: &Path) -> Option<Vec<(String, String)>> {
    // The search must not open a file that blocks or acts when it is opened.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    about_source(&Source::open(path).ok()?)
}

fn about_source(source: &Source) -> Option<Vec<(String, String)>> {
    let mut bytes = [0; HEADER_SIZE];
    if source.read_at(0, &mut bytes).ok()? < HEADER_SIZE {
        return None;
    }
    let header = BlockHeader::decode(&bytes).ok()?;
    if header.kind != BlockKind::FILE || header.stored_size > 64 << 10 {
        return None;
    }
    let mut payload = vec![0; header.stored_size as usize];
    let read = source.read_at(u64::from(header.header_size), &mut payload).ok()?;
    header.check(&payload[..read]).ok()?;
    Some(process::lines(&payload))
}

/// The file that came before one, when it is there. A name with a directory in it is not followed.
fn previous(path: &Path, about: &[(String, String)]) -> Option<PathBuf> {
    let name = process::value(about, PREVIOUS)?;
    if name.is_empty() || name.contains('/') || name == "." || name == ".." {
        return None;
    }
    let path = path.with_file_name(name);
    path.is_file().then_some(path)
}

/// Where the part before a file is, when it names one that is there.
pub(super) fn before(source: &Source) -> Option<PathBuf> {
    previous(&source.path, &about_source(source)?)
}

/// The parts of all traces that `paths` belong to, each once: the given ones where they stand, with the parts before and after them around.
pub fn with_parts(paths: &[PathBuf]) -> Vec<PathBuf> {
    // One file may have two names while it is being rotated.
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    let mut directories = HashMap::new();
    for path in paths {
        for part in parts_of(path, &mut directories) {
            let identity = fs::metadata(&part).and_then(|found| identity_at(&part, &found));
            if identity.is_err() || identity.is_ok_and(|identity| seen.insert(identity)) {
                all.push(part);
            }
        }
    }
    all
}

type Directories = HashMap<PathBuf, HashMap<String, PathBuf>>;

fn parts_of(path: &Path, directories: &mut Directories) -> Vec<PathBuf> {
    let mut parts = vec![path.to_owned()];
    let Some(own) = about(path) else { return parts };
    let mut lines = own;
    while parts.len() < PARTS_MAX {
        let Some(before) = previous(&parts[0], &lines).filter(|before| !parts.contains(before)) else {
            break;
        };
        let Some(before_lines) = about(&before) else { break };
        parts.insert(0, before);
        lines = before_lines;
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let followers = directories.entry(directory).or_insert_with_key(|directory| followers(directory));
    while parts.len() < PARTS_MAX {
        let name = parts.last().and_then(|last| last.file_name()).and_then(|name| name.to_str());
        let next = name.and_then(|name| followers.get(name));
        let Some(next) = next.filter(|next| !parts.contains(next)) else { break };
        parts.push(next.clone());
    }
    parts
}

/// For each part of a directory the one that names it as its predecessor.
fn followers(directory: &Path) -> HashMap<String, PathBuf> {
    let mut followers = HashMap::new();
    let Ok(entries) = fs::read_dir(directory) else { return followers };
    for entry in entries.take(PARTS_MAX).flatten() {
        let path = if directory == Path::new(".") { PathBuf::from(entry.file_name()) } else { entry.path() };
        if path.extension().is_none_or(|extension| extension != "silver") {
            continue;
        }
        let Some(lines) = about(&path) else { continue };
        if let Some(name) = process::value(&lines, PREVIOUS) {
            followers.insert(name.to_owned(), path);
        }
    }
    followers
}
