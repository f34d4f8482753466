//! A trace: all files that were opened together, with the index of each.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use silverpoint_wire::about::{PART, SPLIT, TRIMMED};
use silverpoint_wire::process;
use silverpoint_wire::version::FormatVersion;

use crate::Site;
use crate::extents::Extents;
use crate::left_out::{LeftOut, holds_only_statements};
use crate::scan::{self, BlockRef, Resume};
use crate::session::{Session, loss_causes};
use crate::source::Source;
use crate::verdict::{Matter, Note, Unknown, Verdict};

/// One trace: all files that were opened together, indexed.
#[derive(Debug)]
pub struct Trace {
    /// In the order of opening.
    pub files: Vec<TraceFile>,
    /// Sessions in the order in which they were found.
    pub sessions: Vec<Session>,
    /// Sites of all sessions; a session finds its own by [`Session::site_number`].
    pub sites: Vec<Site>,
    /// What the index alone shows to be missing: recomputed from the states of the files and the sessions.
    notes: Vec<Note>,
    sources: Vec<Source>,
    states: Vec<FileState>,
    /// Made when it is needed; the next indexing drops it.
    extents: OnceLock<Extents>,
    /// Numbers of sessions by their ids: the same id in several files is the same session.
    by_id: HashMap<[u8; 16], usize>,
}

/// How far a file has been indexed.
#[derive(Debug, Default)]
struct FileState {
    resume: Resume,
    /// The file's own numbers of sessions at its end, as numbers of the trace.
    numbers: HashMap<u32, usize>,
    /// All sessions that it has something of, by their numbers in the trace.
    sessions: BTreeSet<usize>,
    matters: Vec<Matter>,
    cut: Option<Matter>,
    /// Blocks, and sites, of kinds that have no meaning here.
    unknown: (u64, u64),
    /// Nothing more of the file can be read: it has another version.
    refused: Option<Matter>,
    /// It has been closed: no more of it is needed.
    released: bool,
    /// Its index said where its blocks are.
    is_by_index: bool,
    /// Where they really are, by their numbers, once one has not been found where the index says.
    places: OnceLock<HashMap<u64, u64>>,
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
    /// Reason of the *end* block that is its last: 1 closed (another collector may go on in it), 2 rotated.
    pub end: Option<u32>,
}

impl TraceFile {
    /// Which records the file was trimmed to, as text: others are left out deliberately. `None`: it was not.
    pub fn trimmed(&self) -> Option<&str> {
        process::value(&self.about, TRIMMED)
    }

    /// By what the trace was split of which the file is a part, as text. `None`: it was not.
    pub fn split(&self) -> Option<&str> {
        process::value(&self.about, SPLIT)
    }

    /// Its number among the parts of its trace, from 1.
    pub fn part(&self) -> u64 {
        process::value(&self.about, PART).and_then(|part| part.parse().ok()).unwrap_or(1)
    }

    /// The version of the format that it states, when that is later than what this program knows.
    pub(crate) fn newer_version(&self) -> Option<FormatVersion> {
        let version: FormatVersion = process::value(&self.about, "format")?.parse().ok()?;
        version.is_newer().then_some(version)
    }
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
    /// Opens and indexes files, exactly these. See [`with_parts`](crate::with_parts) for rotated ones.
    ///
    /// # Errors
    /// A file that cannot be opened or read. [`Trace::notes`] reports what is wrong *within* a file.
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
        let mut trace = Self::empty();
        for source in sources {
            trace.index_source(source)?;
        }
        trace.finish();
        Ok(trace)
    }

    /// One without files.
    pub(crate) fn empty() -> Self {
        Self {
            files: Vec::new(),
            sessions: Vec::new(),
            sites: Vec::new(),
            notes: Vec::new(),
            sources: Vec::new(),
            states: Vec::new(),
            extents: OnceLock::new(),
            by_id: HashMap::new(),
        }
    }

    /// Numbers of the sessions that a file has something of, in no order.
    pub fn sessions_in(&self, file: usize) -> impl Iterator<Item = usize> {
        self.states.get(file).into_iter().flat_map(|state| state.sessions.iter().copied())
    }

    /// Adds a file; [`Trace::finish`] must follow.
    pub(crate) fn index_source(&mut self, source: Source) -> Result<(), OpenError> {
        self.files.push(TraceFile {
            path: source.path.clone(),
            bytes: 0,
            blocks: 0,
            about: Vec::new(),
            end: None,
        });
        self.states.push(FileState::default());
        self.sources.push(source);
        self.index(self.sources.len() - 1).map(|_| ())
    }

    /// Indexes a file, or what it has grown by; true when there was something. [`Trace::finish`] must follow.
    pub(crate) fn index(&mut self, file: usize) -> Result<bool, OpenError> {
        if self.states[file].refused.is_some() || self.states[file].released {
            return Ok(false);
        }
        self.extents = OnceLock::new();
        let (source, state, about) = (&self.sources[file], &mut self.states[file], &mut self.files[file]);
        let id = |number: &usize| Some(self.sessions[*number].info.as_ref()?.session_id);
        let known = state.numbers.iter().filter_map(|(local, number)| Some((*local, id(number)?))).collect();
        let found = scan::scan(source, file as u32, state.resume, &known)
            .map_err(|error| OpenError { path: source.path.clone(), error })?;
        state.refused = found.refused;
        state.is_by_index |= found.is_by_index;
        state.unknown.0 += found.unknown.0;
        state.unknown.1 += found.unknown.1;
        let news = found.blocks > 0 || !found.matters.is_empty();
        state.resume = found.resume;
        state.matters.extend(found.matters);
        state
            .matters
            .extend(found.notes.into_iter().map(|text| Matter::Collector { whose: String::new(), text }));
        state.cut = found.cut;
        about.bytes = found.bytes;
        about.blocks += found.blocks;
        if found.blocks > 0 {
            about.end = found.end;
        }
        if about.about.is_empty() {
            about.about = found.about;
        }
        for session in found.sessions {
            let sessions = &mut self.sessions;
            let mut new = || {
                sessions.push(Session::new());
                sessions.len() - 1
            };
            let known = state.numbers.get(&session.local).filter(|_| !session.is_other);
            let number = match (known, &session.info) {
                (Some(known), _) => *known,
                (None, Some(info)) => *self.by_id.entry(info.session_id).or_insert_with(new),
                // Without a description it is a session of its own.
                (None, None) => new(),
            };
            state.numbers.insert(session.local, number);
            state.sessions.insert(number);
            self.sessions[number].add(file as u32, session, &mut self.sites);
        }
        Ok(news)
    }

    /// Closes a file of which no more is needed.
    pub(crate) fn release(&mut self, file: usize) {
        if !std::mem::replace(&mut self.states[file].released, true) {
            self.sources[file] = Source::from_bytes(&self.sources[file].path, Vec::new());
        }
    }

    /// Reopens a file that was closed: it has grown since.
    pub(crate) fn take_up(&mut self, file: usize, source: Source) {
        self.states[file].released = false;
        self.sources[file] = source;
    }

    /// Whether a file was ended, and nothing follows its end: its writer has left, and no other has continued
    /// it.
    pub(crate) fn has_ended(&self, file: usize) -> bool {
        let (state, about) = (&self.states[file], &self.files[file]);
        about.end.is_some() && state.resume.offset() >= about.bytes
    }

    pub(crate) fn is_released(&self, file: usize) -> bool {
        self.states[file].released
    }

    /// Clocks, orders and notes, after indexing. All sessions of one boot share one step from monotonic to wall time, so that setting the wall clock
    /// moves none of them against another.
    pub(crate) fn finish(&mut self) {
        self.extents = OnceLock::new();
        let mut boots: HashMap<[u8; 16], i128> = HashMap::new();
        let left_out: Vec<LeftOut> = self.files.iter().map(|file| LeftOut::of(&file.about)).collect();
        let is_any_left_out = left_out.iter().any(|left_out| *left_out != LeftOut::Nothing);
        for session in &mut self.sessions {
            let boot = session.info.as_ref().map(|info| info.boot_id).filter(|boot| *boot != [0; 16]);
            let step = boot.map(|boot| {
                *boots.entry(boot).or_insert_with(|| session.wall_minus_monotonic().unwrap_or(0))
            });
            session.finish(step);
            if is_any_left_out {
                session.mark(|file| left_out.get(file as usize).copied().unwrap_or_default());
            }
        }
        self.notes.clear();
        for (file, state) in self.files.iter().zip(&self.states) {
            let matters = match file.blocks {
                0 => std::slice::from_ref(&Matter::NotATraceFile),
                _ => &state.matters,
            };
            let cut = state.cut.iter().filter(|_| file.blocks > 0).chain(&state.refused);
            let note = |matter: &Matter| Note { file: file.path.clone(), matter: matter.clone() };
            self.notes.extend(matters.iter().chain(cut).map(note));
            for (what, count) in [(Unknown::Blocks, state.unknown.0), (Unknown::Sites, state.unknown.1)] {
                if count > 0 {
                    let version = file.newer_version();
                    self.notes.push(note(&Matter::Unknown { version, what, count }));
                }
            }
        }
        self.note_losses();
        self.note_trimmed();
    }

    /// Reports the first two files that were trimmed to different selections and overlap.
    fn note_trimmed(&mut self) {
        for session in &self.sessions {
            let holding = session.holding().map(|(_, stream)| stream);
            for stream in holding.filter(|stream| stream.left_out == LeftOut::Anything) {
                let mut before: Option<&BlockRef> = None;
                for block in &stream.blocks {
                    let overlapped = before.filter(|before| block.header.ring_begin < before.header.ring_end);
                    let file = overlapped.and_then(|before| self.files.get(before.file as usize));
                    let file = file.filter(|file| file.trimmed().is_some());
                    if let (Some(file), Some(other)) = (file, self.files.get(block.file as usize)) {
                        if file.trimmed() != other.trimmed() {
                            let matter = Matter::TrimmedTwice {
                                whose: session.stream_label(stream),
                                other: other.path.clone(),
                            };
                            self.notes.push(Note { file: file.path.clone(), matter });
                            return;
                        }
                    }
                    if before.is_none_or(|before| block.header.ring_end > before.header.ring_end) {
                        before = Some(block);
                    }
                }
            }
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
            for stream in session.gapped() {
                let lost = stream.gaps.iter().filter(|gap| gap.forgotten.is_none());
                let bytes = lost.fold(0u64, |sum, gap| sum.saturating_add(gap.bytes()));
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

    /// Whether some file cannot become readable by growing. It states a version of the format that this
    /// program cannot read, or it contains no block, not even the beginning of one. Such files are not worth
    /// following.
    pub fn is_foreign(&self) -> bool {
        let mut files = self.files.iter().zip(&self.states);
        files.any(|(file, state)| {
            let is_no_trace = file.bytes > 0 && file.blocks == 0 && state.cut.is_none();
            state.refused.is_some() || is_no_trace
        })
    }

    /// What the index shows to be missing. Reading the records may find more: see [`Events::notes`](crate::Events::notes).
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The worst that the notes so far allow.
    pub fn verdict(&self) -> Verdict {
        worst(&self.notes)
    }

    pub(crate) fn extents(&self) -> &Extents {
        self.extents.get_or_init(|| Extents::of(self))
    }

    /// Records in all blocks, as their headers state.
    pub fn records_stated(&self) -> u64 {
        self.extents().records
    }

    /// Wall time of the first and the last record, by the block headers; `None` without records. Blocks that hold nothing but names of threads count
    /// only where there are no others: a trimmed file has names from before its first record.
    pub fn time_range(&self) -> Option<(i64, i64)> {
        let range = |of_names: bool| {
            let blocks = self.sessions.iter().flat_map(|session| {
                let blocks = session.holding().flat_map(|(_, stream)| &stream.blocks);
                let blocks = blocks.map(|block| &block.header).filter(|header| header.records > 0);
                blocks.filter(move |header| holds_only_statements(header) == of_names).map(|header| {
                    (session.clock.wall_ns(header.first_ticks), session.clock.wall_ns(header.last_ticks))
                })
            });
            blocks.reduce(|(begin, end), (first, last)| (begin.min(first), end.max(last)))
        };
        range(false).or_else(|| range(true))
    }

    /// A time since which there are at least `n` records (control records counted too), as late as the block
    /// headers can show. `None` when all records are needed.
    pub fn last_records_since(&self, n: u64) -> Option<i64> {
        let blocks = self.sessions.iter().flat_map(|session| {
            let blocks = session.holding().flat_map(|(_, stream)| &stream.blocks);
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

    /// The place of a block that is not where the index of its file says: blocks may have been moved.
    pub(crate) fn elsewhere(&self, block: &BlockRef) -> Option<u64> {
        let state = self.states.get(block.file as usize).filter(|state| state.is_by_index)?;
        let source = self.source(block.file)?;
        let places = state.places.get_or_init(|| scan::places(source).unwrap_or_default());
        places.get(&block.header.sequence).copied().filter(|at| *at != block.at)
    }

    pub(crate) fn source(&self, file: u32) -> Option<&Source> {
        self.sources.get(file as usize)
    }
}

/// The worst of some notes.
pub fn worst(notes: &[Note]) -> Verdict {
    notes.iter().map(|note| note.matter.verdict()).max().unwrap_or(Verdict::Intact)
}
