//! The exact merge: all streams of all sessions in order of time, with one open block a stream.
//!
//! Every stream has a cursor that stands before a record, or before a block whose header states its first
//! time. A heap orders the cursors by time. The first one is *current* and advances, without touching the
//! heap, as long as it stays before the second.
//!
//! **Order.** Within a session records are ordered by ticks. Between sessions they are ordered by a time that
//! never runs back: monotonic time plus one constant a boot. Where the boot is unknown, as on Windows, it is wall time
//! as it was set last. Equal ones are ordered by stream number, which
//! grows with time. Within a stream the order is that of the file.

mod advance;
mod arrive;
mod moves;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use silverpoint_wire::layout::record::{HEADER_SIZE, PAD};
use silverpoint_wire::record::{Record, RecordHeader};

use super::blocks::{BlockCursor, BlockReader, NextBlock};
use super::cursor::{Cursor, Key, State};
use super::event::{Event, What, interpret};
pub(super) use super::place::{Left, Place};
use super::progress::{Contexts, Move, Name, Names, Positions, Progress, Start, StreamKey};
use super::rooms::Rooms;
use super::selection::{Select, Selection};
use super::verdict::{Matter, Note, Unknown, Verdict};
use super::{Stream, Trace, worst};

/// Most notes that are kept; a file of nothing but broken blocks must not fill the memory.
pub(super) const NOTES_MAX: usize = 10_000;

/// Gives events in order of time. See [`Trace::events`].
pub struct Events<'t> {
    trace: &'t Trace,
    cursors: Vec<Cursor<'t>>,
    /// Every cursor but the current one and those at their end.
    waiting: BinaryHeap<Reverse<(Key, u32)>>,
    current: Option<u32>,
    /// The least key in `waiting`.
    limit: Option<Key>,
    /// Names of threads at the current time, by session and thread.
    names: Names,
    /// As of [`Progress`]: where each stream stood at the beginning, and its fields there.
    positions: Positions,
    contexts: Contexts,
    /// Events at and beyond this order time are not given yet.
    bound_ns: i64,
    /// When so many blocks have been read, no more is given for now.
    pause_at: u64,
    /// How many bytes are read and unpacked before that is now.
    bytes_max: u64,
    selection: Option<Selection>,
    reader: BlockReader,
    rooms: Rooms,
    open_bytes: usize,
    blocks_read: u64,
    notes: Vec<Note>,
    /// Control records that have no meaning here, and the file of the last one.
    unknown_controls: (u64, u32),
    /// For rewriting: blocks that cursors have left since the last call.
    left: Option<Vec<Left<'t>>>,
    /// Names of threads and contexts are given even if they are not selected.
    with_statements: bool,
    /// As of [`Progress`].
    moved: Option<HashMap<StreamKey, Start>>,
    /// The cursors that have a start.
    touched: Vec<u32>,
}

impl Trace {
    /// All records and the interpreted control records, in order of time: exact, up to the skew between clocks.
    pub fn events(&self) -> Events<'_> {
        Events::new(self, None)
    }

    /// Those that are selected. Blocks whose summary excludes them are not read.
    pub fn select(&self, wanted: &dyn Select) -> Events<'_> {
        Events::new(self, wanted.selection(self))
    }
}

impl<'t> Events<'t> {
    /// The next event; `None` at the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Event<'_>> {
        let index = self.next_index()?;
        Some(self.event(index))
    }

    /// The event that [`Events::next`] gave last, once more; `None` before the first and after the last.
    pub fn current(&self) -> Option<Event<'_>> {
        let cursor = &self.cursors[self.current? as usize];
        let State::Record { header: RecordHeader { ticks, .. }, .. } = cursor.state else { return None };
        let session = &self.trace.sessions[cursor.session as usize];
        let wall_ns = match cursor.wall.contains(ticks) {
            true => cursor.wall.wall_ns(ticks),
            false => session.clock.segment(ticks).wall_ns(ticks),
        };
        Some(self.at(cursor, ticks, wall_ns))
    }

    /// The origin of the last event that [`Events::next`] gave. It is the number of the session in the trace,
    /// the place of the stream in [`Session::streams`](super::Session::streams), and the position in its
    /// ring.
    pub fn position(&self) -> Option<(usize, usize, u64)> {
        let cursor = &self.cursors[self.current? as usize];
        let State::Record { block, at, .. } = &cursor.state else { return None };
        let position = block.block.header.ring_begin.saturating_add(*at as u64);
        Some((cursor.session as usize, cursor.stream as usize, position))
    }

    /// What was missing so far, beyond the notes in [`Trace::notes`]. Complete once [`Events::next`] has
    /// given `None`.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The verdict about the trace, as far as it has been read.
    pub fn verdict(&self) -> Verdict {
        worst(&self.notes).max(self.trace.verdict())
    }

    /// How many blocks of records have been read so far.
    pub fn blocks_read(&self) -> u64 {
        self.blocks_read
    }

    pub(super) fn new(trace: &'t Trace, selection: Option<Selection>) -> Self {
        Self::resume(trace, selection, Progress::default(), i64::MAX)
    }

    /// Goes on where [`Events::stop`] stopped, up to an order time.
    pub(super) fn resume(
        trace: &'t Trace,
        selection: Option<Selection>,
        progress: Progress,
        bound_ns: i64,
    ) -> Self {
        Self::within(trace, selection, progress, bound_ns, None)
    }

    /// The same, in each stream up to a position; streams without a position are left out.
    pub(super) fn within(
        trace: &'t Trace,
        selection: Option<Selection>,
        progress: Progress,
        bound_ns: i64,
        limits: Option<&Positions>,
    ) -> Self {
        let mut events = Self {
            trace,
            cursors: Vec::new(),
            waiting: BinaryHeap::new(),
            current: None,
            limit: None,
            names: progress.names,
            positions: progress.positions,
            contexts: progress.contexts,
            bound_ns,
            pause_at: u64::MAX,
            bytes_max: u64::MAX,
            selection,
            reader: BlockReader::default(),
            rooms: progress.rooms,
            open_bytes: 0,
            blocks_read: 0,
            notes: Vec::new(),
            unknown_controls: (0, 0),
            left: None,
            with_statements: false,
            moved: progress.moved,
            touched: Vec::new(),
        };
        events.names.resize(trace.sessions.len(), Vec::new());
        let known: Vec<usize> = events.names.iter().map(Vec::len).collect();
        for (names, session) in events.names.iter_mut().zip(&trace.sessions) {
            names.resize(session.threads.len(), Name::default());
        }
        match limits {
            Some(limits) => {
                for ((session, stream), (limit, _)) in limits {
                    let number = *session as usize;
                    let at = trace.sessions.get(number).and_then(|session| session.place(*stream));
                    if let Some(at) = at {
                        events.begin(number, at, *limit, known[number]);
                    }
                }
            }
            None => {
                for (number, session) in trace.sessions.iter().enumerate() {
                    for (at, stream) in session.holding() {
                        if !events.is_given(number, stream) {
                            events.begin(number, at, u64::MAX, known[number]);
                        }
                    }
                }
            }
        }
        events
    }

    /// Whether all that there is of a stream has been given, and noted: then it needs no cursor.
    fn is_given(&self, number: usize, stream: &Stream) -> bool {
        let name = (number as u32, stream.number);
        let is_noted = self.moved.as_ref().is_none_or(|moved| !moved.contains_key(&name));
        let is_before = |place: &(u64, bool)| stream.ends_before(place.0);
        is_noted && self.positions.get(&name).is_some_and(is_before)
    }

    /// Puts a cursor before the first block of a stream that is wanted. Names of so many threads of the session were known.
    fn begin(&mut self, number: usize, at: usize, limit: u64, known: usize) {
        let session = &self.trace.sessions[number];
        let stream = &session.streams[at];
        let tid = session.threads[stream.thread].tid;
        if let Some(selection) = &mut self.selection {
            if !selection.session(number) || !selection.tid(tid) {
                return;
            }
            if stream.thread < known {
                let name = &self.names[number][stream.thread];
                selection.thread_changed(number, stream.thread, tid, &name.text);
            }
        }
        let name = (number as u32, stream.number);
        let place = self.positions.get(&name);
        let index = self.cursors.len() as u32;
        let start = self.moved.as_mut().and_then(|moved| moved.remove(&name));
        if start.is_some() {
            self.touched.push(index);
        }
        self.cursors.push(Cursor {
            session: number as u32,
            stream: at as u32,
            limit,
            begun: place.is_some_and(|(_, begun)| *begun),
            blocks: place.map_or_else(|| BlockCursor::new(stream), |(at, _)| BlockCursor::from(stream, *at)),
            state: State::End,
            context: self.contexts.remove(&name),
            stated: None,
            start,
            order: session.order.segment(0),
            wall: session.clock.segment(0),
        });
        if self.next_block(index) {
            let key = self.key(index);
            self.waiting.push(Reverse((key, index)));
        }
    }

    /// For rewriting: names of threads and contexts are always given, even if not selected, and finished
    /// blocks are reported.
    pub(super) fn keep_statements(trace: &'t Trace, selection: Option<Selection>) -> Self {
        let selection = selection.map(Selection::with_contexts);
        Self { left: Some(Vec::new()), with_statements: true, ..Self::new(trace, selection) }
    }

    /// Gives names of threads and contexts even if they are not selected; the selection must have been made
    /// for that.
    pub(super) fn with_statements(mut self, is_wanted: bool) -> Self {
        self.with_statements = is_wanted;
        self
    }

    /// Reads at most about so many blocks, and one more of each stream, and gives `None` then.
    pub(super) fn pause_after(mut self, blocks: u64) -> Self {
        self.pause_at = blocks.saturating_add(self.cursors.len() as u64);
        self
    }

    /// Reads no further block once so many bytes have been read and unpacked, and gives `None` then.
    pub(super) fn pause_after_bytes(mut self, bytes: u64) -> Self {
        self.bytes_max = bytes;
        self
    }

    /// Streams of which something may come. To begin and to stop takes time for each.
    pub(super) fn streams(&self) -> u64 {
        self.cursors.len() as u64
    }

    /// Whether it was not the end that gave `None`.
    pub(super) fn is_paused(&self) -> bool {
        self.blocks_read >= self.pause_at && !self.waiting.is_empty()
    }

    /// The place of the next record that is wanted.
    pub(super) fn next_place(&mut self) -> Option<Place<'t>> {
        let index = self.next_index()?;
        let cursor = &mut self.cursors[index as usize];
        let State::Record { block, at, .. } = &cursor.state else { return None };
        let (NextBlock { block, skip, .. }, at) = (*block, *at);
        let session = &self.trace.sessions[cursor.session as usize];
        Some(Place {
            cursor: index,
            session: cursor.session as usize,
            thread: session.streams[cursor.stream as usize].thread,
            ns: cursor.key(session).ns,
            block,
            skip,
            at,
        })
    }

    /// The record at a place that was given out last.
    pub(super) fn record(&self, place: &Place<'_>) -> Option<Record<'_>> {
        self.cursors[place.cursor as usize].state.record()
    }

    /// Gives to `to` the blocks that cursors have left since the last call.
    pub(super) fn take_left(&mut self, to: &mut Vec<Left<'t>>) {
        to.clear();
        if let Some(left) = &mut self.left {
            to.append(left);
        }
    }

    /// Where every stream stands of which there is or was a block: behind what has been given.
    pub(super) fn stop(mut self) -> (Progress, Vec<Note>) {
        // The event that was given last is behind us.
        if let Some(index) = self.current.take() {
            self.step(index);
        }
        let (mut positions, mut contexts) = (self.positions, self.contexts);
        for index in 0..self.cursors.len() {
            // The block in which a context was stated may be forgotten with what has been given.
            Self::take_stated(self.trace, &mut self.reader, &mut self.cursors[index]);
        }
        for cursor in &mut self.cursors {
            let position = cursor.position();
            if let State::Record { block, raw, .. } = std::mem::replace(&mut cursor.state, State::End) {
                self.rooms.leave_open(block.block, raw);
            }
            let stream = &self.trace.sessions[cursor.session as usize].streams[cursor.stream as usize];
            let name = (cursor.session, stream.number);
            // Of a stream that was left out nothing is known: it begins where it is found.
            if cursor.limit > 0 {
                positions.insert(name, (position, cursor.begun));
            }
            if let Some(context) = cursor.context.take() {
                contexts.insert(name, context);
            }
            if let (Some(moved), Some(start)) = (&mut self.moved, cursor.start.take()) {
                moved.insert(name, start);
            }
        }
        let moved = self.moved;
        (Progress { positions, names: self.names, contexts, rooms: self.rooms, moved }, self.notes)
    }

    /// Names of threads now.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// The event that was given last counts as not given. To be followed by [`Events::stop`].
    pub(super) fn put_back(&mut self) {
        self.current = None;
    }

    /// The cursor that stands at the next record that is wanted.
    #[inline]
    fn next_index(&mut self) -> Option<u32> {
        loop {
            let Some(index) = self.advance() else {
                self.note_unknown();
                return None;
            };
            if self.bound_ns < i64::MAX && self.is_beyond_bound(index) {
                self.note_unknown();
                return None;
            }
            if self.arrive(index) {
                return Some(index);
            }
        }
    }

    /// Reports how many control records had no meaning here.
    fn note_unknown(&mut self) {
        let (count, file) = std::mem::take(&mut self.unknown_controls);
        if count > 0 {
            if let Some(file) = self.trace.files.get(file as usize) {
                let version = file.newer_version();
                let matter = Matter::Unknown { version, what: Unknown::Controls, count };
                self.notes.push(Note { file: file.path.clone(), matter });
            }
        }
    }

    /// Whether the record at which a cursor stands must wait. It and all others stay where they are.
    fn is_beyond_bound(&mut self, index: u32) -> bool {
        let key = self.key(index);
        if key.ns < self.bound_ns {
            return false;
        }
        self.waiting.push(Reverse((key, index)));
        self.current = None;
        true
    }

    /// Moves to the next record, of any stream.
    fn advance(&mut self) -> Option<u32> {
        if let Some(index) = self.current {
            if self.step(index) {
                // A single cursor has nothing to be compared with.
                if self.is_open(index) && self.limit.is_none_or(|limit| self.key(index) <= limit) {
                    return Some(index);
                }
                let key = self.key(index);
                self.waiting.push(Reverse((key, index)));
                self.give_back(index);
            }
            self.current = None;
        }
        loop {
            let Reverse((key, index)) = self.waiting.pop()?;
            if self.blocks_read >= self.pause_at && !self.is_open(index) {
                self.waiting.push(Reverse((key, index)));
                return None;
            }
            self.limit = self.waiting.peek().map(|Reverse((key, _))| *key);
            self.touch(index, false);
            if self.is_open(index) {
                self.current = Some(index);
                return Some(index);
            }
            if self.open(index) {
                let key = self.key(index);
                if self.limit.is_none_or(|limit| key <= limit) && self.is_open(index) {
                    self.current = Some(index);
                    return Some(index);
                }
                self.waiting.push(Reverse((key, index)));
            }
        }
    }

    /// The place in the order of what a cursor stands before.
    #[inline]
    fn key(&mut self, index: u32) -> Key {
        let cursor = &mut self.cursors[index as usize];
        cursor.key(&self.trace.sessions[cursor.session as usize])
    }

    fn is_open(&self, index: u32) -> bool {
        matches!(self.cursors[index as usize].state, State::Record { .. })
    }

    fn event(&mut self, index: u32) -> Event<'_> {
        let cursor = &mut self.cursors[index as usize];
        let ticks = if let State::Record { header, .. } = &cursor.state { header.ticks } else { 0 };
        let wall_ns = cursor.wall_ns(&self.trace.sessions[cursor.session as usize], ticks);
        self.at(&self.cursors[index as usize], ticks, wall_ns)
    }

    /// What stands where a cursor stands.
    #[inline]
    fn at<'a>(&'a self, cursor: &'a Cursor<'t>, ticks: u64, wall_ns: i64) -> Event<'a> {
        let session_number = cursor.session as usize;
        let session = &self.trace.sessions[session_number];
        let stream = &session.streams[cursor.stream as usize];
        let (mut file, mut position, mut bytes) = (0, 0, &[][..]);
        let what = match &cursor.state {
            State::Record { raw, at, block, header, .. } => {
                file = block.block.file as usize;
                position = block.block.header.ring_begin + *at as u64;
                bytes = &raw[*at..*at + header.size as usize];
                let record = Record { offset: 0, header: *header, args: &bytes[HEADER_SIZE..] };
                interpret(self.trace, session_number, &record)
            }
            _ => What::OtherControl { site_id: PAD },
        };
        Event {
            session,
            session_number,
            stream,
            tid: session.threads[stream.thread].tid,
            thread_name: &self.names[session_number][stream.thread].text,
            ticks,
            wall_ns,
            context: cursor.context.as_ref(),
            file,
            position,
            raw: bytes,
            is_backtrace: false,
            what,
        }
    }
}
