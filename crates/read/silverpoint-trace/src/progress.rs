//! How far a trace has been given, and the names of its threads there: reading continues from this.

use std::collections::HashMap;
use std::sync::Arc;

use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{CONTEXT, THREAD_NAME};
use silverpoint_wire::record::{Record, Records};

use super::blocks::BlockReader;
use super::event::thread_name;
use super::rooms::Rooms;
use super::scan::BlockRef;
use super::{Session, Stream, Trace};
use crate::Context;

/// Where reading stopped: [`Events::resume`](super::Events::resume) continues from this.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// By session and stream number: the ring position, and whether a record of the stream has been reached.
    /// Only for streams with blocks: before that, the begin of the first one is unknown.
    pub(super) positions: Positions,
    pub(super) names: Names,
    /// By session and stream number: the fields that hold at the position.
    pub(super) contexts: Contexts,
    pub(super) rooms: Rooms,
    /// Where streams stood that have moved since [`Events::take_moves`](super::Events::take_moves); `None`: that is not noted.
    pub(super) moved: Option<HashMap<StreamKey, Start>>,
}

/// Session and stream number.
pub(super) type StreamKey = (u32, u32);

/// Where a stream stood.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) position: u64,
    /// A record has been reached.
    pub(super) is_begun: bool,
    /// The fields that held there.
    pub(super) context: Option<Arc<Context>>,
}

/// What was given of a stream.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) stream: StreamKey,
    pub(super) from: Start,
    /// The position behind it.
    pub(super) to: u64,
}

impl Progress {
    /// What was given since [`Events::take_moves`](super::Events::take_moves).
    pub(super) fn moves(&self) -> Vec<Move> {
        let moved = self.moved.iter().flatten();
        let to = |stream: &StreamKey| self.positions.get(stream).map(|(to, _)| *to);
        let moves = moved
            .filter_map(|(stream, from)| Some(Move { stream: *stream, from: from.clone(), to: to(stream)? }));
        moves.filter(|moved| moved.from.position < moved.to).collect()
    }
}

/// By session and stream number: a position in the ring, and whether a record has been reached.
pub(super) type Positions = HashMap<StreamKey, (u64, bool)>;

/// Fields of records to come, by session and stream number; none where there is no entry.
pub(super) type Contexts = HashMap<StreamKey, Arc<Context>>;

/// Names of threads, by session and thread.
pub(super) type Names = Vec<Vec<Name>>;

/// The name of a thread now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    /// Since when, as far as that is known; 0: it is not.
    pub(super) ticks: u64,
}

impl Progress {
    /// Treats everything before a position of a stream as given. Its thread's name there is that of the last
    /// record before the position that gives one, otherwise that of the stream's description.
    ///
    /// Reads those blocks before the position that may hold such a record, from the last one backwards.
    pub(super) fn go_on_at(
        &mut self,
        trace: &Trace,
        number: usize,
        stream_number: u32,
        position: u64,
        reader: &mut BlockReader,
    ) {
        let Some(session) = trace.sessions.get(number) else { return };
        let mut is_named = false;
        if let Some(stream) = session.stream(stream_number) {
            if let Some(context) = context_before(trace, session, stream, position, reader) {
                self.contexts.insert((number as u32, stream_number), context);
            }
            let said = name_before(trace, session, stream, position, reader);
            is_named = said.is_some();
            let described = || {
                let info = stream.info?;
                let text = info.thread_name();
                (!text.is_empty()).then_some(Name { text, ticks: info.claimed_ticks })
            };
            self.names.resize(trace.sessions.len().max(self.names.len()), Vec::new());
            let names = &mut self.names[number];
            names.resize(session.threads.len().max(names.len()), Name::default());
            // Of a thread with several streams the latest name counts.
            if let Some(name) = said.or_else(described) {
                let known = names.get_mut(stream.thread);
                if let Some(known) = known.filter(|known| name.ticks >= known.ticks) {
                    *known = name;
                }
            }
        }
        // A stream that has not begun takes its name from its description when it does.
        self.positions.insert((number as u32, stream_number), (position, is_named));
    }
}

/// The name that the last record before a position gives.
fn name_before(
    trace: &Trace,
    session: &Session,
    stream: &Stream,
    position: u64,
    reader: &mut BlockReader,
) -> Option<Name> {
    last_before(trace, session, stream, position, reader, &|record| {
        let ticks = record.header.ticks;
        (record.header.site == THREAD_NAME)
            .then(|| thread_name(record).map(|text| Name { text, ticks }))
            .flatten()
    })
}

/// The fields that hold at a position.
fn context_before(
    trace: &Trace,
    session: &Session,
    stream: &Stream,
    position: u64,
    reader: &mut BlockReader,
) -> Option<Arc<Context>> {
    last_before(trace, session, stream, position, reader, &context_of).flatten()
}

/// What `find` finds in the last record before a position in which it finds something. Only control records are looked for.
fn last_before<T>(
    trace: &Trace,
    session: &Session,
    stream: &Stream,
    position: u64,
    reader: &mut BlockReader,
    find: &dyn Fn(&Record<'_>) -> Option<T>,
) -> Option<T> {
    let before = stream.blocks.iter().rev().filter(|block| block.header.ring_begin < position);
    before
        .filter(|block| may_state(&block.header))
        .find_map(|block| last_in(trace, session, block, position, reader, find))
}

/// The same in one block.
fn last_in<T>(
    trace: &Trace,
    session: &Session,
    block: &BlockRef,
    position: u64,
    reader: &mut BlockReader,
    find: &dyn Fn(&Record<'_>) -> Option<T>,
) -> Option<T> {
    let mut raw = Vec::new();
    // Errors in it were reported when its records were given.
    let _ = reader.read(trace, session, block, &mut raw);
    let end = usize::try_from(position.saturating_sub(block.header.ring_begin)).unwrap_or(usize::MAX);
    let records = Records::new(&raw).map_while(Result::ok).take_while(|record| record.offset < end);
    records.filter_map(|record| find(&record)).last()
}

/// What the last context in a block says, when there is one.
pub(super) fn last_context(
    trace: &Trace,
    session: &Session,
    block: &BlockRef,
    reader: &mut BlockReader,
) -> Option<Option<Arc<Context>>> {
    last_in(trace, session, block, u64::MAX, reader, &context_of)
}

/// The statement of a record about the fields of those after it; `None`: nothing.
pub(super) fn context_of(record: &Record<'_>) -> Option<Option<Arc<Context>>> {
    (record.header.site == CONTEXT).then(|| Context::read(record.args).map(Arc::new))
}

/// Whether a block may hold a statement about what follows: the thread's name, or fields.
fn may_state(header: &BlockHeader) -> bool {
    header.levels & LEVELS_CONTROL != 0 && header.sites & (site_bit(THREAD_NAME) | site_bit(CONTEXT)) != 0
}

/// Whether a block may hold a context.
pub(super) fn may_hold_context(header: &BlockHeader) -> bool {
    header.levels & LEVELS_CONTROL != 0 && header.sites & site_bit(CONTEXT) != 0
}
