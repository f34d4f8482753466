//! Keeping back: the last records stay in the rings until a bad record comes or they are requested
//! ([`Backtrace`](crate::Backtrace)).
//!
//! ```text
//!  a ring   …│ forgotten, overwritten │ kept back: judged, counted │ not yet seen │
//!         stored (= consumed)                                   scanned      committed
//! ```
//!
//! The collector reads new records, searches for bad ones, and stores nothing. It releases the oldest when
//! too much is kept back. It counts what it releases this way, and reports it in the file where that
//! continues. A bad record makes all sessions *write*: for one sweep everything is stored as without keeping
//! back.
//!
//! **Deaths.** Kept records lie in the program's memory file and nowhere else. A program that is killed
//! leaves them to the collector, which then writes them. A collector that is killed leaves them to the next
//! one. What both leave is found by a recovery. Only the dead collector knew how much was forgotten.

pub(crate) mod kept;

use std::time::Instant;

use silverpoint_shm::observer::{ObserveError, Slice};
use silverpoint_wire::block::{BlockKind, Forgotten, GapInfo, site_bit};
use silverpoint_wire::layout::record::CONTEXT;
use silverpoint_wire::layout::ring::RETIRED;
use silverpoint_wire::record::RecordErrorKind;
use silverpoint_wire::slice::{RingError, RingHeader, left_to_others};

use crate::look::{Active, Looked, READ, judge};
use crate::session::Session;
use crate::sink::{PassError, Sink};
use crate::statement::Statement;
use kept::{Keep, Piece, Untold};

/// What is forgotten at a time: an eighth of a ring, between these.
const LEAST_PIECE: u64 = 256;
const LARGEST_PIECE: u64 = 16 << 10;
/// Of a ring's room, in eighths: what is kept back while its thread uses it. The rest is the thread's, so that it waits for nobody; less than half, so that a
/// thread that dropped records begins again.
const KEPT_EIGHTHS: u64 = 3;
/// The same of a ring that can grow: more than half, so that it does.
const GROWING_EIGHTHS: u64 = 6;
/// Streams that are gone, whose forgotten records must still be reported.
const GONE_MAX: usize = 1024;
/// The part of the memory that a session may use, which rings that keep something back may take.
const RINGS_SHARE: u64 = 4;

impl Session {
    /// From the next pass on everything is stored, until all rings have had their turn.
    pub(crate) fn write_kept_back(&mut self) {
        let Some(keep) = &mut self.keep else { return };
        (keep.is_writing, keep.is_triggered) = (true, false);
        (self.rings.sweep.next, self.rings.sweep.all_wanted, self.is_idle) = (0, true, false);
    }

    /// Whether records stay in their rings now.
    pub(crate) fn keeps_back(&self) -> bool {
        self.keep.as_ref().is_some_and(|keep| !keep.is_writing)
    }

    /// A ring was looked at: whether its thread is gone.
    pub(crate) fn is_retired(&mut self, ring: usize, is_retired: bool) {
        let size = u64::from(self.rings.slices()[ring].size);
        let (Some(keep), kept) = (&mut self.keep, &mut self.rings[ring].kept) else { return };
        if kept.is_retired != is_retired && !kept.pieces.is_empty() {
            keep.occupied = if is_retired { keep.occupied + size } else { keep.occupied - size };
        }
        kept.is_retired = is_retired;
    }
}

/// Looks through what is new in a ring, in place of storing it.
pub(crate) fn look_through(
    session: &mut Session,
    active: &Active,
    looked: &mut Looked,
) -> Result<(), PassError> {
    let Some(keep) = &mut session.keep else { return Ok(()) };
    let mut buffer = std::mem::take(&mut keep.buffer);
    let result = new_pieces(session, active, looked, &mut buffer);
    if let Some(keep) = &mut session.keep {
        keep.buffer = buffer;
    }
    result?;
    Ok(shrink(session, active)?)
}

fn new_pieces(
    session: &mut Session,
    active: &Active,
    looked: &mut Looked,
    buffer: &mut Vec<u8>,
) -> Result<(), PassError> {
    let slice = session.rings.slices()[active.ring];
    session.is_retired(active.ring, active.header.state == RETIRED);
    forget_overwritten(session, active)?;
    let state = &session.rings[active.ring];
    let mut from = state.kept.scanned.max(state.stored).max(active.from);
    let capacity = active.header.capacity;
    // As released as it is now: to report overtaken records.
    let header = RingHeader { consumed: state.stored, ..active.header };
    let piece = (u64::from(capacity) / 8).clamp(LEAST_PIECE, LARGEST_PIECE);
    let mut size = piece;
    while from < active.to {
        let len = (active.to - from).min(size) as usize;
        buffer.resize(len, 0);
        session.observed.read_data(slice, &header, from, buffer)?;
        match session.observed.revalidate(slice, &header)? {
            Some(oldest) if oldest <= from => {}
            // The next look begins where the producer has come to.
            _ => {
                looked.is_unsettled = true;
                return Ok(());
            }
        }
        let mut judged = judge(&session.declared.sites, buffer, from, capacity);
        if let Some(RingError::Record(_, RecordErrorKind::Site(_))) = judged.error {
            // Registered since the table was last read.
            session.counters = session.observed.counters()?;
            let (observed, counters) = (&session.observed, &session.counters);
            session.declared.sites.load(observed, counters)?;
            judged = judge(&session.declared.sites, buffer, from, capacity);
        }
        let is_cut = from + (len as u64) < active.to
            && matches!(
                judged.error,
                Some(RingError::Record(_, RecordErrorKind::Beyond(_) | RecordErrorKind::Truncated))
            );
        let summary = judged.summary;
        if is_cut && summary.bytes == 0 && size < READ as u64 {
            size = (size * 4).min(READ as u64);
            continue;
        }
        size = piece;
        let Some(keep) = &mut session.keep else { return Ok(()) };
        let is_wrong = judged.error.is_some() && !(is_cut && summary.bytes > 0);
        if is_wrong || judged.levels & keep.trigger_bits != 0 {
            // The pass that stores handles a ring that contradicts the rules.
            keep.is_triggered = true;
            looked.is_unsettled = true;
        }
        let end = from + summary.bytes as u64;
        if summary.bytes > 0 {
            let has_statement = summary.control && summary.sites & site_bit(CONTEXT) != 0;
            let new = Piece {
                number: keep.next_piece,
                begin: from,
                end,
                records: summary.records.into(),
                first_ticks: if summary.records > 0 { summary.first_ticks } else { u64::MAX },
                born: Instant::now(),
                statement: if has_statement {
                    Statement::last_in(&buffer[..summary.bytes], from)
                } else {
                    None
                },
            };
            let state = &mut session.rings[active.ring];
            keep.add(&mut state.kept, slice.at, slice.size.into(), new, piece);
            state.kept.scanned = end;
            looked.bytes += summary.bytes as u64;
        }
        if is_wrong {
            return Ok(());
        }
        from = end;
    }
    Ok(())
}

/// Forgets the oldest piece of a ring, which the caller then releases.
fn forget(session: &mut Session, ring: usize) -> bool {
    let Some(keep) = &mut session.keep else { return false };
    let size = session.rings.slices()[ring].size;
    let state = &mut session.rings[ring];
    let begin = state.stored;
    let Some(piece) = keep.take(&mut state.kept, size.into()) else { return false };
    let untold =
        state.kept.untold.get_or_insert(Untold { begin, records: 0, has_more: false, has_statement: false });
    untold.records += piece.records;
    if let Some(statement) = piece.statement {
        untold.has_statement = true;
        state.statement = statement;
    }
    state.stored = piece.end;
    true
}

/// What the program has overwritten meanwhile (policy overwrite): the pieces that it touched are forgotten whole, and what nobody had seen is not counted.
fn forget_overwritten(session: &mut Session, active: &Active) -> Result<(), ObserveError> {
    let ring = active.ring;
    let before = session.rings[ring].stored;
    while session.rings[ring].stored < active.from && forget(session, ring) {}
    let state = &mut session.rings[ring];
    if state.stored < active.from {
        let begin = state.stored;
        let untold = Untold { begin, records: 0, has_more: true, has_statement: true };
        let untold = state.kept.untold.get_or_insert(untold);
        (untold.has_more, untold.has_statement) = (true, true);
        (state.stored, state.statement) = (active.from, None);
    }
    if session.rings[ring].stored != before { release(session, ring) } else { Ok(()) }
}

fn release(session: &Session, ring: usize) -> Result<(), ObserveError> {
    session.observed.set_consumed(session.rings.slices()[ring], session.rings[ring].stored)?;
    session.observed.wake(session.rings.slices()[ring]).map(drop)
}

/// How much of a ring's room may be kept back, in eighths. A thread whose ring is more than half full goes on in a larger one, as long as there are some and
/// memory is plenty. Where that has not helped it waits, and has the room at once; where it would not wait but drop, it always has it.
fn eighths(session: &Session, header: &RingHeader, slice: Slice) -> u64 {
    let limits = session.observed.header();
    let is_largest = slice.size >= limits.slab_bytes;
    let left = left_to_others(limits.slab_count, slice.size.saturating_mul(8));
    let is_scarce = session.counters.slabs_next >= limits.slab_count.saturating_sub(left);
    let may_drop = session.counters.policy.iter().take(6).any(|policy| *policy != 0);
    if is_largest || is_scarce || may_drop || is_pressed(header) { KEPT_EIGHTHS } else { GROWING_EIGHTHS }
}

/// Whether its thread needs room now.
pub(crate) fn is_pressed(header: &RingHeader) -> bool {
    let used = header.committed.saturating_sub(header.consumed.max(header.base));
    header.waiting != 0 || used > u64::from(header.capacity) / 8 * 7
}

/// Forgets what is too much: of this ring, and of all.
fn shrink(session: &mut Session, active: &Active) -> Result<(), ObserveError> {
    let is_over =
        |session: &Session| session.keep.as_ref().is_some_and(|keep| keep.bytes > keep.limits.bytes);
    let is_occupied = |session: &Session| {
        let rings = session.observed.header().rings_size / RINGS_SHARE;
        session.keep.as_ref().is_some_and(|keep| keep.occupied > rings)
    };
    // What is to be written anyway stays.
    if session.keep.as_ref().is_none_or(|keep| keep.is_triggered) {
        return Ok(());
    }
    let mut released = Vec::new();
    if active.header.state != RETIRED {
        let eighths = eighths(session, &active.header, session.rings.slices()[active.ring]);
        let most = u64::from(active.header.capacity) / 8 * eighths;
        while session.rings[active.ring].kept.bytes > most && forget(session, active.ring) {
            released.push(active.ring);
        }
    }
    while is_over(session) {
        let Some((at, number)) = session.keep.as_mut().and_then(|keep| keep.order.pop_front()) else { break };
        let Some(ring) = ring_of(session, at, number) else { continue };
        if forget(session, ring) {
            released.push(ring);
        }
    }
    // To forget something of a living thread's ring would give nobody its slice.
    while is_occupied(session) {
        let Some(keep) = &session.keep else { break };
        let of_retired = |(at, number): &(u64, u64)| {
            ring_of(session, *at, *number).filter(|ring| session.rings[*ring].kept.is_retired)
        };
        let Some((place, ring)) =
            keep.order.iter().enumerate().find_map(|(place, one)| of_retired(one).map(|ring| (place, ring)))
        else {
            break;
        };
        if let Some(keep) = &mut session.keep {
            keep.order.remove(place);
        }
        if forget(session, ring) {
            released.push(ring);
        }
    }
    released.sort_unstable();
    released.dedup();
    for ring in released {
        release(session, ring)?;
    }
    // Rings that forget by themselves leave names of pieces behind.
    if let Some(keep) = &mut session.keep {
        if keep.order.len() > 2 * keep.pieces + 1024 {
            let mut order = std::mem::take(&mut keep.order);
            order.retain(|(at, number)| ring_of(session, *at, *number).is_some());
            if let Some(keep) = &mut session.keep {
                keep.order = order;
            }
        }
    }
    Ok(())
}

/// The ring whose piece this is, if it is still there.
fn ring_of(session: &Session, at: u64, number: u64) -> Option<usize> {
    let ring = session.rings.at(at)?;
    let first = session.rings[ring].kept.pieces.front()?;
    (first.number <= number).then_some(ring)
}

/// Before a ring is stored: nothing of it is kept back any more, and the batch tells what was forgotten before.
pub(crate) fn begin_write(session: &mut Session, sink: &mut Sink, ring: usize) {
    let Some(keep) = &mut session.keep else { return };
    let size = session.rings.slices()[ring].size;
    let state = &mut session.rings[ring];
    while keep.take(&mut state.kept, size.into()).is_some() {}
    state.kept.scanned = 0;
    tell(session, sink, ring);
}

fn tell(session: &mut Session, sink: &mut Sink, ring: usize) {
    let number = session.number;
    let state = &mut session.rings[ring];
    let Some(untold) = state.kept.untold.take() else { return };
    if let Some(keep) = &mut session.keep {
        keep.told.push((ring, untold));
    }
    let (stream, end) = (state.stream.stream, state.stored);
    match state.statement.as_ref().filter(|_| untold.has_statement) {
        Some(statement) if statement.begin() >= untold.begin && statement.end() <= end => {
            push_gap(sink, number, stream, (untold.begin, statement.begin()), untold.forgotten());
            statement.push(&mut sink.batch, number, stream);
            let rest = Forgotten { keeps_fields: true, ..Forgotten::default() };
            push_gap(sink, number, stream, (statement.end(), end), rest);
        }
        _ => push_gap(sink, number, stream, (untold.begin, end), untold.forgotten()),
    }
}

fn push_gap(sink: &mut Sink, session: u32, stream: u32, (begin, end): (u64, u64), forgotten: Forgotten) {
    let mut payload = Vec::new();
    GapInfo { begin, end, forgotten: Some(forgotten) }.encode(&mut payload);
    sink.batch.push(BlockKind::GAP, session, stream, &payload);
    sink.stats.forgotten += forgotten.records;
}

/// Tells what was forgotten of streams that are gone: with the rest, or when they have become many.
pub(crate) fn tell_gone(session: &mut Session, sink: &mut Sink, now: bool) -> Result<(), ObserveError> {
    let is_due =
        |keep: &Keep| !keep.gone.is_empty() && (now || keep.is_writing || keep.gone.len() >= GONE_MAX);
    if !session.keep.as_ref().is_some_and(is_due) {
        return Ok(());
    }
    session.declare(sink)?;
    let Some(keep) = &mut session.keep else { return Ok(()) };
    let mut streams = Vec::new();
    keep.gone.iter().for_each(|(stream, ..)| stream.encode(&mut streams));
    sink.batch.push(BlockKind::STREAMS, session.number, 0, &streams);
    for (stream, untold, end) in &keep.gone {
        push_gap(sink, session.number, stream.stream, (untold.begin, *end), untold.forgotten());
    }
    keep.told_gone.append(&mut keep.gone);
    Ok(())
}

/// The session has ended, or is released: kept records are forgotten, and all forgotten ones are reported.
pub(crate) fn finish(session: &mut Session, sink: &mut Sink) -> Result<(), ObserveError> {
    if session.keep.is_none() {
        return Ok(());
    }
    tell_gone(session, sink, true)?;
    for ring in 0..session.rings.len() {
        let mut is_changed = false;
        while forget(session, ring) {
            is_changed = true;
        }
        if is_changed {
            release(session, ring)?;
        }
        if session.rings[ring].kept.untold.is_some() {
            session.declare(sink)?;
            session.declare_streams(sink, std::iter::once(&ring));
            tell(session, sink, ring);
        }
    }
    Ok(())
}
