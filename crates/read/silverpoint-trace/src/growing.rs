//! Files that grow and are rotated, and the trace that they make together.
//!
//! A *head* is a name under which the newest part of a rotated trace appears. A file is closed when it has
//! been read and its blocks are forgotten. So following for weeks holds a few files open, not all that ever
//! were. A closed file may grow again, when another collector continues it: then it is reopened.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use silverpoint_wire::about::PREVIOUS;
use silverpoint_wire::process;

use super::parts::{self, PARTS_MAX, with_parts};
use super::source::Source;
use super::{OpenError, Trace};
use crate::files::identity_at;

/// Reason of the *end* block of a file after which nothing follows.
const CLOSED: u32 = 1;

/// See the module.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) trace: Trace,
    heads: Vec<Head>,
    /// By file of the trace: its head.
    owners: Vec<usize>,
    /// Files that were closed here and still existed at the last check, in this order.
    given_back: VecDeque<u32>,
    /// Files that were closed here and have been removed.
    gone: HashSet<u32>,
}

#[derive(Debug)]
struct Head {
    /// The path under which the newest part appears.
    path: PathBuf,
    /// Identity of the file that is read under that path.
    identity: Option<(u64, u64)>,
    /// The newest part.
    file: usize,
}

impl Growing {
    /// A trace of files that are open already; new parts appear under these names, the last of which is that of the trace's last file.
    pub(super) fn new(trace: Trace, heads: &[PathBuf]) -> Self {
        let newest = |path: &PathBuf| trace.files.iter().rposition(|file| file.path == *path).unwrap_or(0);
        let heads: Vec<Head> = heads
            .iter()
            .map(|path| Head { path: path.clone(), identity: identity(path).ok(), file: newest(path) })
            .collect();
        let owner = |file: usize| heads.iter().position(|head| head.file >= file).unwrap_or(0);
        let owners = (0..trace.files.len()).map(owner).collect();
        Self { trace, heads, owners, given_back: VecDeque::new(), gone: HashSet::new() }
    }

    /// Adds a file, with the parts that belong to it, unless it is there already. Gives the number of its head.
    pub(super) fn add(&mut self, path: &Path) -> Result<usize, OpenError> {
        self.add_opened(path, Source::open)
    }

    /// The same of a regular file alone: see [`Source::open_regular`].
    pub(super) fn add_regular(&mut self, path: &Path) -> Result<usize, OpenError> {
        self.add_opened(path, Source::open_regular)
    }

    fn add_opened(&mut self, path: &Path, open: fn(&Path) -> io::Result<Source>) -> Result<usize, OpenError> {
        let parts = with_parts(&[path.to_owned()]);
        let name = parts.last().map_or(path, PathBuf::as_path);
        if let Some(known) = self.heads.iter().position(|head| head.path == name) {
            return Ok(known);
        }
        let mut sources = Vec::new();
        for part in &parts {
            sources.push(open(part).map_err(|error| OpenError { path: part.clone(), error })?);
        }
        let owner = self.heads.len();
        let head =
            Head { path: name.to_owned(), identity: identity(name).ok(), file: self.trace.files.len() };
        self.heads.push(head);
        for source in sources {
            self.index_part(owner, source)?;
        }
        self.trace.finish();
        Ok(owner)
    }

    /// The head of a file of the trace.
    pub(super) fn head_of(&self, file: usize) -> usize {
        self.owners.get(file).copied().unwrap_or(0)
    }

    /// Indexes what the files have grown by, and the parts that were begun meanwhile. True when there was something.
    pub(super) fn refresh(&mut self) -> Result<bool, OpenError> {
        for owner in 0..self.heads.len() {
            let head = &self.heads[owner];
            if self.trace.is_released(head.file)
                && fs::metadata(&head.path).is_ok_and(|found| self.goes_on(owner, &found))
            {
                match open(&head.path) {
                    Ok((source, identity)) if Some(identity) == head.identity => {
                        self.take_up(head.file, source);
                    }
                    // It has lost the name meanwhile: see below.
                    Ok(_) => {}
                    Err(error) if error.error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let mut news = self.index_all()?;
        for owner in 0..self.heads.len() {
            let head = &self.heads[owner];
            if !identity(&head.path).is_ok_and(|now| Some(now) != head.identity) {
                continue;
            }
            let file = head.file;
            let (parts, last) = self.new_parts(owner)?;
            if let Some(source) = last {
                if self.trace.is_released(file)
                    && source.size().is_ok_and(|size| size != self.trace.files[file].bytes)
                {
                    // It grew, and has been rotated away since.
                    self.take_up(file, source);
                    self.trace.index(file)?;
                }
            }
            for part in parts {
                self.index_part(owner, part)?;
            }
            // Bytes of the old part between the check above and its rotation: nothing follows there now.
            self.index_all()?;
            news = true;
        }
        if news {
            self.trace.finish();
        }
        Ok(news)
    }

    /// Whether the newest part of a head, which was closed here, is longer or shorter than when it was read.
    fn goes_on(&self, owner: usize, found: &fs::Metadata) -> bool {
        let head = &self.heads[owner];
        found.is_file()
            && identity_at(&head.path, found).is_ok_and(|now| Some(now) == head.identity)
            && found.len() != self.trace.files[head.file].bytes
    }

    fn take_up(&mut self, file: usize, source: Source) {
        self.given_back.retain(|given_back| *given_back as usize != file);
        self.trace.take_up(file, source);
    }

    /// Closes the files that have ended and of which every block has been forgotten.
    pub(super) fn release(&mut self) {
        if (0..self.owners.len()).all(|file| self.trace.is_released(file) || !self.trace.has_ended(file)) {
            return;
        }
        let streams = self.trace.sessions.iter().flat_map(|session| session.holding());
        let used: HashSet<u32> =
            streams.flat_map(|(_, stream)| stream.blocks.iter().map(|block| block.file)).collect();
        for file in 0..self.owners.len() {
            if self.trace.has_ended(file) && !used.contains(&(file as u32)) && !self.trace.is_released(file) {
                self.trace.release(file);
                self.given_back.push_back(file as u32);
            }
        }
    }

    /// Checks whether closed files have been removed since, beginning with the one that was closed first.
    /// True when there is such a file.
    pub(super) fn notice_removed(&mut self) -> bool {
        let before = self.gone.len();
        while self.given_back.front().is_some_and(|file| self.is_removed(*file as usize)) {
            self.gone.extend(self.given_back.pop_front());
        }
        self.gone.len() > before
    }

    /// Whether a file was closed here and removed, so that opening the trace again would not find it: as of
    /// the last [`Growing::notice_removed`].
    pub(super) fn is_gone(&self, file: u32) -> bool {
        self.gone.contains(&file)
    }

    /// Whether a file has lost all names under which it can be found. One is the name by which the next part
    /// refers to it. The other is the name under which it was opened, unless other parts have had that one
    /// too. In doubt it exists.
    fn is_removed(&self, file: usize) -> bool {
        let Some(owner) = self.owners.get(file) else { return false };
        let Some(next) = (file + 1..self.owners.len()).find(|next| self.owners[*next] == *owner) else {
            return false;
        };
        let next = &self.trace.files[next];
        let Some(name) = process::value(&next.about, PREVIOUS) else { return false };
        let opened = Some(&self.trace.files[file].path).filter(|path| **path != self.heads[*owner].path);
        let named = next.path.with_file_name(name);
        opened.into_iter().chain([&named]).all(|path| {
            fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        })
    }

    /// Whether nothing can follow: the newest part of every head has been closed.
    pub(super) fn is_closed(&self) -> bool {
        self.heads
            .iter()
            .all(|head| self.trace.files.get(head.file).is_some_and(|file| file.end == Some(CLOSED)))
    }

    fn index_all(&mut self) -> Result<bool, OpenError> {
        let mut news = false;
        for file in 0..self.trace.files.len() {
            news |= self.trace.index(file)?;
        }
        Ok(news)
    }

    fn index_part(&mut self, owner: usize, source: Source) -> Result<(), OpenError> {
        self.trace.index_source(source)?;
        self.owners.push(owner);
        self.heads[owner].file = self.owners.len() - 1;
        Ok(())
    }

    /// The parts that were begun since the last check, the oldest first. These are the one that has the name
    /// now, and those before it that were rotated away again meanwhile. A rotated part keeps its name, so the
    /// way back is safe while more are made. Also gives the part that was the newest so far, if it is found
    /// on that way.
    fn new_parts(&mut self, owner: usize) -> Result<(Vec<Source>, Option<Source>), OpenError> {
        let head = &mut self.heads[owner];
        let (newest, identity) = open(&head.path)?;
        let mut seen = HashSet::from([identity]);
        let (mut parts, mut last) = (vec![newest], None);
        while parts.len() < PARTS_MAX {
            let Some(path) = parts.last().and_then(parts::before) else { break };
            // One that was removed (a quota) is missing where its records would be.
            let (part, identity) = match open(&path) {
                Err(error) if error.error.kind() == io::ErrorKind::NotFound => break,
                opened => opened?,
            };
            if Some(identity) == head.identity {
                last = Some(part);
                break;
            }
            if !seen.insert(identity) {
                break;
            }
            parts.push(part);
        }
        head.identity = Some(identity);
        parts.reverse();
        Ok((parts, last))
    }
}

/// A part that has come since. Its name comes from files that were read, and from anyone who may write beside
/// them.
fn open(path: &Path) -> Result<(Source, (u64, u64)), OpenError> {
    let fail = |error| OpenError { path: path.to_owned(), error };
    let source = Source::open_regular(path).map_err(fail)?;
    let identity = source.identity().map_err(fail)?;
    Ok((source, identity))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).and_then(|found| identity_at(path, &found))
}
