//! Reading trace files (`spec/file.md`).
//!
//! ```text
//! Source ── scan ──▶ Trace: sessions, sites, streams, and where their blocks lie ── events() ──▶ Event, in order of time
//! one file           all files together, the same session in several files is one       one open block a stream
//! ```
//!
//! Everything in a file is taken as hostile. What cannot be read costs a [`Note`] and nothing else; only the file system's errors
//! are errors. Memory is bounded by the number of blocks, streams and sites, and by the blocks that are open at once.

mod blocks;
mod event;
mod merge;
mod parts;
mod scan;
mod session;
mod source;
mod verdict;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use blocks::{BlockCursor, BlockReader};
pub use event::{Event, What, cause_name};
pub use merge::Events;
pub use parts::with_parts;
pub use scan::BlockRef;
use scan::SessionNumbers;
pub use session::{Session, Stream, Thread, loss_causes};
use silverpoint_wire::clock::Anchor;
pub use source::Source;
pub use verdict::{Matter, Note, Verdict};

use crate::filter::{Filter, Selection};
use crate::site::Site;
use crate::time::When;

/// One trace: all files that were opened together, indexed.
#[derive(Debug)]
pub struct Trace {
    /// In the order of opening.
    pub files: Vec<TraceFile>,
    /// Sessions in the order in which they were found.
    pub sessions: Vec<Session>,
    /// Sites of all sessions; a session finds its own by [`Session::site_number`].
    pub sites: Vec<Site>,
    /// What the index alone shows to be missing.
    notes: Vec<Note>,
    sources: Vec<Source>,
}

/// One file of a trace.
#[derive(Clone, Debug)]
pub struct TraceFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Bytes when it was indexed.
    pub bytes: u64,
    /// Valid blocks.
    pub blocks: u64,
    /// Lines of its *file* block: `writer`, `created`, `host`, `part` …
    pub about: Vec<(String, String)>,
    /// Reason of its *end* block: 1 closed, 2 rotated.
    pub end: Option<u32>,
}

/// A file that cannot be opened or read.
#[derive(Debug)]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// The file system's error.
    pub error: io::Error,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl Trace {
    /// Opens and indexes files, exactly these. See [`with_parts`] for rotated ones.
    ///
    /// # Errors
    /// A file that cannot be opened or read. What is wrong *within* a file is told by [`Trace::notes`].
    pub fn open<P: AsRef<Path>>(paths: &[P]) -> Result<Self, OpenError> {
        let open = |path: &P| {
            let path = path.as_ref();
            Source::open(path).map_err(|error| OpenError { path: path.to_owned(), error })
        };
        Self::from_sources(paths.iter().map(open).collect::<Result<_, _>>()?)
    }

    /// Indexes what is open already.
    ///
    /// # Errors
    /// A source that cannot be read.
    pub fn from_sources(sources: Vec<Source>) -> Result<Self, OpenError> {
        let mut trace =
            Self { files: Vec::new(), sessions: Vec::new(), sites: Vec::new(), notes: Vec::new(), sources };
        let mut numbers = SessionNumbers::default();
        let mut anchors: Vec<Vec<Anchor>> = Vec::new();
        for file in 0..trace.sources.len() {
            let source = &trace.sources[file];
            let found = scan::scan(source, file as u32)
                .map_err(|error| OpenError { path: source.path.clone(), error })?;
            let path = source.path.clone();
            let mut note = |matter| trace.notes.push(Note { file: path.clone(), matter });
            if found.blocks == 0 {
                note(Matter::NotATraceFile);
            } else {
                found.matters.into_iter().for_each(&mut note);
            }
            for text in found.notes {
                note(Matter::Collector { whose: String::new(), text });
            }
            for session in found.sessions.into_values() {
                let (number, new) = numbers.number(session.info.as_ref());
                if new {
                    trace.sessions.push(Session::new(session.info.clone()));
                    anchors.push(Vec::new());
                }
                anchors[number].extend(trace.sessions[number].add(session, &mut trace.sites));
            }
            trace.files.push(TraceFile {
                path,
                bytes: found.bytes,
                blocks: found.blocks,
                about: found.about,
                end: found.end,
            });
        }
        trace.finish_sessions(&anchors);
        trace.note_losses();
        Ok(trace)
    }

    /// Clocks and orders. All sessions of one boot share one step from monotonic to wall time, so that setting the wall clock moves none of
    /// them against another.
    fn finish_sessions(&mut self, anchors: &[Vec<Anchor>]) {
        let mut boots: HashMap<[u8; 16], i128> = HashMap::new();
        for (session, anchors) in self.sessions.iter_mut().zip(anchors) {
            let own = anchors
                .iter()
                .min_by_key(|anchor| anchor.ticks)
                .map_or(0, |first| i128::from(first.wall_ns) - i128::from(first.monotonic_ns));
            let step = match session.info.as_ref().map(|info| info.boot_id) {
                Some(boot) if boot != [0; 16] => *boots.entry(boot).or_insert(own),
                _ => own,
            };
            session.finish(anchors, step);
        }
    }

    fn note_losses(&mut self) {
        let path = self.sources.first().map_or_else(PathBuf::new, |source| source.path.clone());
        let mut matters = Vec::new();
        for session in &self.sessions {
            let whose = session.label();
            for (cause, records) in loss_causes(&session.losses()) {
                matters.push(Matter::Lost { whose: whose.clone(), records, cause });
            }
            for stream in &session.streams {
                let bytes = stream
                    .gaps
                    .iter()
                    .fold(0u64, |sum, (begin, end)| sum.saturating_add(end.saturating_sub(*begin)));
                if bytes > 0 {
                    matters.push(Matter::Gap { whose: session.stream_label(stream), bytes });
                }
            }
            for text in &session.notes {
                matters.push(Matter::Collector { whose: whose.clone(), text: text.clone() });
            }
        }
        self.notes.extend(matters.into_iter().map(|matter| Note { file: path.clone(), matter }));
    }

    /// What the index shows to be missing. Reading the records may find more: see [`Events::notes`].
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The worst that the notes so far allow.
    pub fn verdict(&self) -> Verdict {
        worst(&self.notes)
    }

    /// Wall time of the first and the last record, by the block headers; `None` without records.
    pub fn time_range(&self) -> Option<(i64, i64)> {
        let blocks = self.sessions.iter().flat_map(|session| {
            let blocks = session.streams.iter().flat_map(|stream| &stream.blocks);
            blocks.filter(|block| block.header.records > 0).map(|block| {
                (
                    session.clock.wall_ns(block.header.first_ticks),
                    session.clock.wall_ns(block.header.last_ticks),
                )
            })
        });
        blocks.reduce(|(begin, end), (first, last)| (begin.min(first), end.max(last)))
    }

    /// A time since which there are at least `n` records (control records counted too), as late as the block headers allow to say; `None`
    /// when all records are needed.
    pub fn last_records_since(&self, n: u64) -> Option<i64> {
        let blocks = self.sessions.iter().flat_map(|session| {
            let blocks = session.streams.iter().flat_map(|stream| &stream.blocks);
            blocks.map(|block| {
                (session.clock.wall_ns(block.header.first_ticks), u64::from(block.header.records))
            })
        });
        let mut blocks: Vec<(i64, u64)> = blocks.collect();
        blocks.sort_unstable_by(|a, b| b.cmp(a));
        let mut found = 0u64;
        for (first_ns, records) in blocks {
            found = found.saturating_add(records);
            if found >= n {
                return Some(first_ns);
            }
        }
        None
    }

    /// Whether a filter's beginning lies before `ns`.
    pub fn starts_before(&self, since: &Option<When>, ns: i64) -> bool {
        let (begin_ns, end_ns) = self.time_range().unwrap_or((0, 0));
        since.as_ref().is_none_or(|when| when.resolve(begin_ns, end_ns, &crate::time::local_zone()) < ns)
    }

    /// All records and the interpreted control records, in order of time: exact, up to the skew between clocks.
    pub fn events(&self) -> Events<'_> {
        Events::new(self, None)
    }

    /// Those that a filter selects. Blocks whose summary excludes them are not read.
    pub fn select(&self, filter: &Filter) -> Events<'_> {
        Events::new(self, Some(Selection::new(filter, self)))
    }

    fn source(&self, file: u32) -> Option<&Source> {
        self.sources.get(file as usize)
    }
}

/// The worst of some notes.
pub fn worst(notes: &[Note]) -> Verdict {
    notes.iter().map(|note| note.matter.verdict()).max().unwrap_or(Verdict::Intact)
}
