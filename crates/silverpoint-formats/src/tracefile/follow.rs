//! Following files that grow: events are given as soon as nothing earlier can come.
//!
//! The collector writes watermarks: "nothing earlier than this follows, except in blocks marked late". What is earlier than the least watermark
//! of the sessions that are still being written is given in exact order; late records when they come. When the files have not grown for a while,
//! whatever is there is given: the collector is idle, or gone.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::merge::Progress;
use super::parts::{self, PARTS_MAX};
use super::source::Source;
use super::{Event, Matter, Note, OpenError, Trace};
use crate::filter::{Filter, Selection};
use crate::time::When;

/// Without growth for so long, what lies beyond the watermarks is given too.
const IDLE: Duration = Duration::from_secs(1);

/// Reason of the *end* block of a file after which nothing follows.
const CLOSED: u32 = 1;

/// Who is given what a followed trace brings.
pub trait Watcher {
    /// Events may come; sites and sessions may be new since the last time.
    fn begin(&mut self, trace: &Trace);
    /// An event. False: no more are wanted now.
    fn event(&mut self, event: &Event<'_>) -> bool;
}

/// Reads files that may still grow. See the module.
pub struct Follow {
    trace: Trace,
    filter: Filter,
    progress: Progress,
    /// The path under which the newest part appears.
    head: PathBuf,
    /// Identity of the file that is read under that path.
    identity: Option<(u64, u64)>,
    grown: Instant,
    /// Whether everything there has been given since the last growth.
    drained: bool,
    /// Damage that has been told.
    told: Vec<Note>,
}

impl Follow {
    /// Opens files; the last one may be rotated away and replaced while it is followed.
    ///
    /// # Errors
    /// Files that cannot be opened or read.
    pub fn open(paths: &[PathBuf], filter: &Filter) -> Result<Self, OpenError> {
        Ok(Self::new(Trace::open(paths)?, paths, filter))
    }

    /// Follows a trace whose files, under these paths, have been opened already.
    pub fn new(trace: Trace, paths: &[PathBuf], filter: &Filter) -> Self {
        let mut filter = filter.clone();
        // Relative times are meant now, not at each later look.
        let (begin_ns, end_ns) = trace.time_range().unwrap_or((0, 0));
        let zone = filter.zone();
        for when in [&mut filter.since, &mut filter.until].into_iter().flatten() {
            *when = When::Absolute(when.resolve(begin_ns, end_ns, &zone));
        }
        let head = paths.last().cloned().unwrap_or_default();
        let identity = identity(&head).ok();
        Self {
            trace,
            filter,
            progress: Progress::default(),
            head,
            identity,
            grown: Instant::now(),
            drained: false,
            told: Vec::new(),
        }
    }

    /// Looks for what the files have grown by, and gives what can be given now. Returns the damage that was found since the last time.
    ///
    /// # Errors
    /// Files that cannot be read any more.
    pub fn poll(&mut self, watcher: &mut impl Watcher) -> Result<Vec<Note>, OpenError> {
        if self.refresh()? {
            self.grown = Instant::now();
            self.drained = false;
        }
        if self.drained {
            return Ok(Vec::new());
        }
        let bound_ns = if self.is_idle() { i64::MAX } else { self.bound_ns() };
        watcher.begin(&self.trace);
        let selection = (!self.filter.is_empty()).then(|| Selection::new(&self.filter, &self.trace));
        let progress = std::mem::take(&mut self.progress);
        let mut events = super::Events::resume(&self.trace, selection, progress, bound_ns);
        self.drained = bound_ns == i64::MAX;
        while let Some(event) = events.next() {
            if !watcher.event(&event) {
                self.drained = false;
                break;
            }
        }
        let (progress, mut notes) = events.stop();
        for (number, session) in self.trace.sessions.iter_mut().enumerate() {
            for stream in &mut session.streams {
                if let Some((position, _)) = progress.positions.get(&(number as u32, stream.number)) {
                    stream.forget_before(*position);
                }
            }
        }
        self.progress = progress;
        notes.extend(self.trace.notes().iter().filter(|note| is_lasting(note)).cloned());
        notes.retain(|note| !self.told.iter().any(|told| is_same(told, note)));
        self.told.extend_from_slice(&notes);
        Ok(notes)
    }

    /// Whether nothing can follow: the newest file has been closed and everything in it was given.
    pub fn is_finished(&self) -> bool {
        let closed = self.trace.files.last().is_some_and(|file| file.end == Some(CLOSED));
        closed && self.drained && self.is_idle()
    }

    fn is_idle(&self) -> bool {
        self.grown.elapsed() >= IDLE
    }

    /// Indexes what is new, and the next part when the path names another file now.
    fn refresh(&mut self) -> Result<bool, OpenError> {
        let mut news = false;
        for file in 0..self.trace.sources.len() {
            news |= self.trace.index(file)?;
        }
        if identity(&self.head).is_ok_and(|now| Some(now) != self.identity) {
            for part in self.new_parts()? {
                self.trace.index_source(part)?;
            }
            // What the part that was read so far had got between the look at it above and its rotation: nothing follows there now.
            for file in 0..self.trace.sources.len() {
                self.trace.index(file)?;
            }
            news = true;
        }
        if news {
            self.trace.finish();
        }
        Ok(news)
    }

    /// The parts that were begun since the last look, the oldest first: the one that has the name now, and those before it that were rotated
    /// away again meanwhile. A name once given to a rotated part stays its name, so the way back is safe while more are made.
    fn new_parts(&mut self) -> Result<Vec<Source>, OpenError> {
        let open = |path: &Path| {
            let fail = |error| OpenError { path: path.to_owned(), error };
            let source = Source::open(path).map_err(fail)?;
            let identity = source.identity().map_err(fail)?;
            Ok((source, identity))
        };
        let (newest, identity) = open(&self.head)?;
        let mut seen = HashSet::from([identity]);
        let mut parts = vec![newest];
        while parts.len() < PARTS_MAX
            && let Some(path) = parts.last().and_then(parts::before)
        {
            let (part, identity) = open(&path)?;
            if Some(identity) == self.identity || !seen.insert(identity) {
                break;
            }
            parts.push(part);
        }
        self.identity = Some(identity);
        parts.reverse();
        Ok(parts)
    }

    /// The least time, in the common order, that any session may still bring.
    fn bound_ns(&self) -> i64 {
        let bound = |session: &super::Session| match session.watermark {
            u64::MAX => i64::MAX,
            ticks => session.order.wall_ns(ticks),
        };
        self.trace.sessions.iter().map(bound).min().unwrap_or(i64::MAX)
    }
}

/// Whether a note stays true when the file grows.
fn is_lasting(note: &Note) -> bool {
    !matches!(
        note.matter,
        Matter::Cut { .. } | Matter::NotATraceFile | Matter::Lost { .. } | Matter::Gap { .. }
    )
}

/// Whether one says nothing new: counts of what was passed over grow with the file, and are told once.
fn is_same(told: &Note, note: &Note) -> bool {
    match (&told.matter, &note.matter) {
        (Matter::Unknown { what: told_what, .. }, Matter::Unknown { what, .. }) => {
            told_what == what && told.file == note.file
        }
        _ => told == note,
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}
