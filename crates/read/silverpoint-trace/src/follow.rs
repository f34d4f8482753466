//! Following files that grow: events are given as soon as nothing earlier can come.
//!
//! The collector writes watermarks: "nothing earlier than this follows, except in blocks marked late".
//! Records earlier than the least watermark of the sessions that are still being written are given in exact
//! order; late records when they come. A session that has brought nothing for a while does not hold up the
//! others: its collector is idle, or gone.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use silverpoint_wire::about::PART;
use silverpoint_wire::process;

use super::blocks::BlockReader;
use super::growing::Growing;
use super::held::Held;
use super::patience::Patience;
use super::progress::Progress;
use super::selection::{Everything, Select, Selection};
use super::told::Told;
use super::{Event, Note, OpenError, Session, Trace};

/// The receiver of the events of a followed trace.
pub trait Watcher {
    /// Events may come; sites and sessions may be new since the last time.
    fn begin(&mut self, trace: &Trace);
    /// An event. False: no more are wanted now.
    fn event(&mut self, event: &Event<'_>) -> bool;
    /// The same, for receivers that need the trace too.
    fn event_of(&mut self, _trace: &Trace, event: &Event<'_>) -> bool {
        self.event(event)
    }
    /// Asked before each event. True: the event is not given now, nor what follows it; the next call begins with it.
    fn holds_up(&mut self, _trace: &Trace, _event: &Event<'_>) -> bool {
        false
    }
}

/// Reads files that may still grow. See the module.
#[derive(Debug)]
pub struct Follow {
    growing: Growing,
    wanted: Box<dyn Select>,
    /// See [`Follow::give_statements`].
    has_statements: bool,
    progress: Progress,
    held: Held,
    patience: Patience,
    /// When anything grew last.
    grown: Instant,
    /// Whether everything there has been given since the last growth.
    drained: bool,
    /// Damage that has been reported.
    told: Told,
}

impl Follow {
    /// Opens files; each may be rotated away and replaced while it is followed.
    ///
    /// # Errors
    /// Files that cannot be opened or read.
    pub fn open(paths: &[PathBuf], wanted: &dyn Select) -> Result<Self, OpenError> {
        Ok(Self::new(Trace::open(paths)?, paths, wanted))
    }

    /// Follows a trace whose files have been opened already; the newest part of each trace has its name among `heads`.
    pub fn new(trace: Trace, heads: &[PathBuf], wanted: &dyn Select) -> Self {
        Self {
            wanted: wanted.absolute(&trace),
            has_statements: false,
            growing: Growing::new(trace, heads),
            progress: Progress::default(),
            held: Held::default(),
            patience: Patience::default(),
            grown: Instant::now(),
            drained: false,
            told: Told::default(),
        }
    }

    /// Follows nothing yet: see [`Follow::add`] and [`Follow::set_filter`].
    pub fn nothing() -> Self {
        Self::new(Trace::empty(), &[], &Everything)
    }

    /// Follows one more file, with the parts that belong to it; gives the number of its head (as many as there were before). A file that is
    /// followed already has its number.
    ///
    /// # Errors
    /// A file that cannot be opened or read.
    pub fn add(&mut self, path: &Path) -> Result<usize, OpenError> {
        let head = self.growing.add(path)?;
        self.has_grown();
        Ok(head)
    }

    /// The same for a file that a session names, no matter who runs it. Only a regular file is opened,
    /// because opening a pipe may block.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is no regular file.
    pub fn add_regular(&mut self, path: &Path) -> Result<usize, OpenError> {
        let head = self.growing.add_regular(path)?;
        self.has_grown();
        Ok(head)
    }

    fn has_grown(&mut self) {
        self.grown = Instant::now();
        self.drained = false;
    }

    /// The number of the head under which a file of the trace appeared.
    pub fn head_of(&self, file: usize) -> usize {
        self.growing.head_of(file)
    }

    /// What has been found so far.
    pub fn trace(&self) -> &Trace {
        &self.growing.trace
    }

    /// From now on gives only what another filter selects.
    pub fn set_filter(&mut self, wanted: &dyn Select) {
        self.wanted = wanted.absolute(&self.growing.trace);
    }

    /// From now on names of threads and contexts are always given, even if the filter excludes them. This is
    /// for callers that write records which must be readable without the others.
    pub fn give_statements(&mut self) {
        self.has_statements = true;
    }

    /// How long a session without new records holds up what lies beyond its watermark: a compromise between
    /// order among threads and delay. The default is a second.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience.time = patience;
    }

    /// How far each stream has been given: session id, number of the stream, ring position. For [`Follow::resume`].
    ///
    /// Streams that cannot be read again and cannot grow are left out. First, their sessions have ended, or a
    /// later part describes those without them. Second, all parts that had blocks of them were released
    /// ([`Follow::oldest_part`]) and have been removed. So their number is bounded by the streams in the
    /// existing parts.
    pub fn positions(&self) -> impl Iterator<Item = ([u8; 16], u32, u64)> {
        let id = |number: u32| {
            self.growing.trace.sessions.get(number as usize)?.info.as_ref().map(|info| info.session_id)
        };
        self.held.streams().filter_map(move |(session, stream)| {
            let (position, _) = self.progress.positions.get(&(session, stream))?;
            Some((id(session)?, stream, *position))
        })
    }

    /// Continues where another reader has stopped ([`Follow::positions`]): nothing before these positions is
    /// given. Streams that are not named are given completely.
    ///
    /// A thread has the name that it had there. It comes from the last record before the position that names
    /// it, otherwise from the description of its stream. (Files repeat descriptions, with the name of the
    /// moment.) When neither is in the existing files, its name is unknown until a record states it.
    pub fn resume(&mut self, positions: &[([u8; 16], u32, u64)]) {
        let trace = &self.growing.trace;
        let id = |session: &Session| session.info.as_ref().map(|info| info.session_id);
        let mut numbers = HashMap::new();
        for (number, session) in trace.sessions.iter().enumerate() {
            if let Some(id) = id(session) {
                numbers.entry(id).or_insert(number);
            }
        }
        let mut reader = BlockReader::default();
        for (id, stream, position) in positions {
            if let Some(number) = numbers.get(id) {
                self.progress.go_on_at(trace, *number, *stream, *position, &mut reader);
                self.held.add(*number as u32, *stream);
            }
        }
        for (number, session) in trace.sessions.iter().enumerate() {
            self.held.note(number as u32, session);
        }
        self.held.drop_unneeded(&self.growing);
    }

    /// The number of the oldest part that is still read: what has lower numbers may be removed. 0 when there is none, or files have no numbers.
    pub fn oldest_part(&self) -> u64 {
        let trace = &self.growing.trace;
        let kept = (0..trace.files.len()).find(|file| !trace.is_released(*file));
        let number = |file: usize| process::value(&trace.files[file].about, PART)?.parse().ok();
        kept.and_then(number).unwrap_or(0)
    }

    /// As [`Follow::poll`], but without waiting: everything that is in the files now is given. Later records
    /// may be earlier in time.
    ///
    /// # Errors
    /// As of [`Follow::poll`].
    pub fn poll_all(&mut self, watcher: &mut impl Watcher) -> Result<Vec<Note>, OpenError> {
        if self.growing.refresh()? {
            self.grown = Instant::now();
        }
        self.give(watcher, i64::MAX)
    }

    /// Reads what the files have grown by, and gives what can be given now. Returns the damage that was found
    /// since the last time.
    ///
    /// # Errors
    /// Files that cannot be read any more.
    pub fn poll(&mut self, watcher: &mut impl Watcher) -> Result<Vec<Note>, OpenError> {
        if self.growing.refresh()? {
            self.grown = Instant::now();
            self.drained = false;
        }
        if self.drained {
            return Ok(Vec::new());
        }
        let bound_ns = self.patience.bound_ns(&self.growing.trace);
        self.give(watcher, bound_ns)
    }

    fn give(&mut self, watcher: &mut impl Watcher, bound_ns: i64) -> Result<Vec<Note>, OpenError> {
        let trace = &mut self.growing.trace;
        watcher.begin(trace);
        let selection = self.wanted.selection(trace);
        let has_statements = self.has_statements;
        let selection = if has_statements { selection.map(Selection::with_contexts) } else { selection };
        let progress = std::mem::take(&mut self.progress);
        let shared: &Trace = trace;
        let mut events =
            super::Events::resume(shared, selection, progress, bound_ns).with_statements(has_statements);
        self.drained = bound_ns == i64::MAX;
        while let Some(event) = events.next() {
            if watcher.holds_up(shared, &event) {
                events.put_back();
                self.drained = false;
                break;
            }
            if !watcher.event_of(shared, &event) {
                self.drained = false;
                break;
            }
        }
        let (mut progress, mut notes) = events.stop();
        if self.drained {
            progress.rooms.rest();
        }
        for (number, session) in trace.sessions.iter_mut().enumerate() {
            let number = number as u32;
            self.held.note(number, session);
            session.forget_before(|stream| Some(progress.positions.get(&(number, stream))?.0));
        }
        self.progress = progress;
        self.told.take(&mut notes, trace);
        self.growing.release();
        if self.growing.notice_removed() {
            self.held.drop_unneeded(&self.growing);
        }
        Ok(notes)
    }

    /// Whether nothing can follow: the newest files have been closed and everything in them was given.
    pub fn is_finished(&self) -> bool {
        self.growing.is_closed() && self.is_drained()
    }

    /// Whether everything there was given, and nothing has come for a while.
    pub fn is_drained(&self) -> bool {
        self.drained && self.grown.elapsed() >= self.patience.time
    }
}
