//! One pass over a session: every ring's new bytes are checked and added to the batch.
//!
//! The header of a ring is read at most once a batch, so `consumed` in its header always states exactly what
//! is stored. A ring that contradicts the rules is read again, since a position may have been read torn. If
//! it still does, the ring is not read any more. It is emptied without being stored, so that its owner need
//! not wait for ever, and the file says which bytes are missing.

use std::time::{Duration, Instant};

use silverpoint_shm::observer::{Look, Slice};
use silverpoint_wire::block::{BlockHeader, BlockKind, site_bit};
use silverpoint_wire::compact::compact;
use silverpoint_wire::layout::block::{COMPACT, LATE, RAW};
use silverpoint_wire::layout::record::CONTEXT;
use silverpoint_wire::layout::ring::RETIRED;
use silverpoint_wire::record::RecordErrorKind;
use silverpoint_wire::slice::{RingError, RingHeader};

use crate::keep;
use crate::look::{Active, Judged, Looked, READ, judge};
use crate::session::Session;
use crate::sink::{PassError, Sink};
use crate::statement::Statement;
use crate::store;

/// Bytes of a block of records, but where one record is longer: damage costs the blocks that it touches.
const BLOCK: usize = 64 << 10;
/// A batch with so many bytes is stored.
const FLUSH: usize = 256 << 10;
/// Rings whose headers are read before their data are.
const GROUP: usize = 256;
/// Headers that are read in one pass.
const LOOKS: usize = 16 << 10;
/// As above while nothing comes and no doorbell rings. Many idle threads cost next to nothing, and a record
/// of one is stored a little later.
const IDLE_LOOKS: usize = 1 << 10;
/// Quiet rings are looked at so often.
const ALL_INTERVAL: Duration = Duration::from_secs(1);
/// Bytes that one pass stores, before other sessions have their turn and the heartbeat is seen: a thread may
/// leave many full rings behind.
const PASS: u64 = 32 << 20;
/// How often a contradiction must be seen before a ring is given up.
const STRIKES: u8 = 3;

/// Looks at all rings that may have changed, and stores what they hold.
pub(crate) fn drain(session: &mut Session, sink: &mut Sink) -> Result<Looked, PassError> {
    let doorbell = session.counters.doorbell;
    session.counters = session.observed.counters()?;
    session.beat()?;
    let is_called = session.counters.doorbell != doorbell || session.is_dead || !session.is_idle;
    let most = if is_called { LOOKS } else { IDLE_LOOKS };
    begin_sweep(session, sink)?;
    session.declared.declare_in_new_part(&session.observed, &mut session.rings, sink)?;
    let mut looked = Looked::default();
    let mut active = Vec::new();
    let (mut ring, mut looks) = (session.rings.sweep.next, 0);
    while ring < session.rings.len() && looks < most {
        let end = (ring + GROUP).min(session.rings.len());
        while ring < end {
            if std::mem::take(&mut session.rings[ring].is_ahead) {
                // Has been read before its turn, and may not be stored yet: a ring is read once a batch.
            } else if session.rings.sweep.all || !session.rings[ring].is_quiet {
                look(session, sink, ring, &mut looked, &mut active)?;
                looks += 1;
            }
            ring += 1;
        }
        if session.keeps_back() {
            for active in active.drain(..) {
                keep::look_through(session, &active, &mut looked)?;
            }
        } else if !active.is_empty() {
            older_first(session, sink, end, &mut looked, &mut active)?;
            session.declare(sink)?;
            session.declare_streams(sink, active.iter().map(|active: &Active| &active.ring));
            if !read_all(session, sink, &active, &mut looked)? {
                active.clear();
                break;
            }
            active.clear();
        }
    }
    let is_complete = ring >= session.rings.len();
    end_pass(session, &mut looked, if is_complete { 0 } else { ring });
    keep::tell_gone(session, sink, false)?;
    session.push_losses(sink, false)?;
    session.declared.push_anchor_if_due(&session.observed, sink);
    let is_whole = is_complete && !looked.is_unsettled && !session.rings.sweep.all_wanted;
    if is_whole {
        session.declared.push_watermark_if_due(&session.observed, &session.rings, sink);
    }
    store::flush(session, sink)?;
    if std::mem::take(&mut session.rings.has_emptied) && !session.keeps {
        let largest = session.observed.header().slab_bytes;
        for slice in session.rings.slices().iter().filter(|slice| slice.size == largest) {
            sink.stats.wakes += u64::from(session.observed.wake(*slice)?);
        }
    }
    if let Some(keep) = session.keep.as_mut().filter(|_| is_whole) {
        keep.is_writing = false;
    }
    if !session.keeps && !session.is_dead {
        let (observed, slabs) = (&session.observed, session.counters.slabs_next);
        looked.is_preparing = session.prepared.ahead(observed, slabs, looked.bytes)?;
        looked.is_preparing |= session.unused.give_back(observed, looked.bytes > 0)?;
    }
    Ok(looked)
}

/// Lists the rings again where necessary, and begins a sweep when none is under way.
fn begin_sweep(session: &mut Session, sink: &mut Sink) -> Result<(), PassError> {
    let is_listed = session.list(sink)?;
    let sweep = &mut session.rings.sweep;
    // A quiet ring says nothing before `streams_next` has grown, as producers are known to work; now and then it is looked at all the same.
    sweep.all_wanted |= is_listed || sweep.all_at.is_none_or(|at| at.elapsed() >= ALL_INTERVAL);
    if sweep.next == 0 {
        sweep.all = std::mem::take(&mut sweep.all_wanted);
        sweep.ticks = session.observed.ticks_now();
        sweep.has_found = false;
        if sweep.all {
            sweep.all_at = Some(Instant::now());
        }
    }
    Ok(())
}

/// Notes how far the sweep has come: the next ring, or 0 at its end.
fn end_pass(session: &mut Session, looked: &mut Looked, next: usize) {
    let sweep = &mut session.rings.sweep;
    sweep.next = next;
    let has_found = looked.bytes > 0 || looked.is_unsettled;
    sweep.has_found |= has_found;
    // Idle from the end of a sweep that found nothing until something is found.
    session.is_idle = !has_found && (session.is_idle || (next == 0 && !sweep.has_found));
    if next == 0 && session.is_dead {
        looked.is_final = sweep.all && !sweep.has_found && !sweep.all_wanted;
        sweep.all_wanted = true;
    }
}

/// Reads a ring's header; what it has goes to `active`.
fn look(
    session: &mut Session,
    sink: &mut Sink,
    ring: usize,
    looked: &mut Looked,
    active: &mut Vec<Active>,
) -> Result<(), PassError> {
    let slice = session.rings.slices()[ring];
    let header = match session.observed.look(slice)? {
        Look::Ring(header) => header,
        look => {
            session.rings[ring].is_quiet = look == Look::Free;
            return Ok(());
        }
    };
    if let Err(error) = session.note_header(ring, &header) {
        strike(session, sink, ring, &header, &error, looked);
        return Ok(());
    }
    if session.is_taken {
        return Ok(());
    }
    match header.valid_range(slice.size as usize) {
        Ok((from, to)) => {
            if session.rings[ring].is_broken {
                return pass_over(session, sink, ring, &header, looked);
            }
            let expected = session.rings[ring].stored;
            let from = from.max(expected);
            let seen = if session.keeps_back() { session.rings[ring].kept.scanned().max(from) } else { from };
            if seen == to
                && from < to
                && expected == from
                && session.keeps_back()
                && !keep::is_pressed(&header)
            {
                // All of it is kept back.
                session.is_retired(ring, header.state == RETIRED);
                session.rings[ring].strikes = 0;
                return Ok(());
            }
            if from < to || expected < from {
                let fullness = to.saturating_sub(seen) * 256 / u64::from(header.capacity);
                looked.fullest = looked.fullest.max(fullness as u32);
                active.push(Active { ring, header, expected, from, to });
                return Ok(());
            }
            // Drained. A claimer looks whether `consumed` has reached `committed`.
            if header.consumed != to && !session.keeps {
                session.observed.set_consumed(slice, to)?;
            }
            let state = &mut session.rings[ring];
            state.strikes = 0;
            let was_quiet = state.is_quiet;
            state.is_quiet = header.state == RETIRED && !state.has_news;
            if !was_quiet && state.is_quiet && slice.size == session.observed.header().slab_bytes {
                session.rings.has_emptied = true;
                session.unused.add(slice, header.stream);
            }
        }
        Err(error) => strike(session, sink, ring, &header, &error, looked),
    }
    Ok(())
}

/// Puts the records of a thread in its earlier ring before those in its later one. Between the reads of the
/// two rings, the thread may have filled the first and moved to the second. So the first is read once more,
/// when nothing can be added to it any more. The rings from `end` on have their turn later in this pass.
fn older_first(
    session: &mut Session,
    sink: &mut Sink,
    end: usize,
    looked: &mut Looked,
    active: &mut Vec<Active>,
) -> Result<(), PassError> {
    let (mut next, mut again) = (0, Vec::new());
    while let Some(one) = active.get(next) {
        let (ring, previous) = (one.ring, one.header.previous);
        let is_new = one.expected == one.header.base && !again.contains(&ring);
        if is_new
            && session.rings.is_unseen(previous)
            && !std::mem::replace(&mut session.rings[ring].has_waited, true)
        {
            // The one before may be where nobody has looked yet: both have their turn in the next pass. Once: a number may be any.
            active.remove(next);
            looked.is_unsettled = true;
            continue;
        }
        next += 1;
        let Some(ring) = session.rings.unfinished_ring_of(previous) else { continue };
        if again.contains(&ring) {
            continue;
        }
        again.push(ring);
        // At most once a batch.
        if sink.releases.iter().any(|(slice, _)| slice.at == session.rings.slices()[ring].at) {
            store::flush(session, sink)?;
        }
        if let Some(seen) = active.iter().position(|seen| seen.ring == ring) {
            active.remove(seen);
            next -= usize::from(seen < next);
        }
        look(session, sink, ring, looked, active)?;
        session.rings[ring].is_ahead = ring >= end;
    }
    active.sort_by_key(|one| one.header.stream);
    Ok(())
}

/// Reads rings one after the other. False: enough is stored for one pass, and the rest waits for the next.
fn read_all(
    session: &mut Session,
    sink: &mut Sink,
    active: &[Active],
    looked: &mut Looked,
) -> Result<bool, PassError> {
    let largest = session.observed.header().slab_bytes;
    for (n, one) in active.iter().enumerate() {
        if looked.bytes >= PASS {
            for left in &active[n..] {
                session.rings[left.ring].is_ahead = false;
            }
            looked.is_unsettled = true;
            return Ok(false);
        }
        read(session, sink, one, looked)?;
        // A thread that waits at its last ring goes on in the first one that is empty.
        let is_left = one.header.state == RETIRED && session.rings.slices()[one.ring].size == largest;
        if is_left && !session.keeps && session.rings[one.ring].stored == one.to {
            store::flush(session, sink)?;
            for later in active[n..].iter().filter(|later| later.header.state != RETIRED) {
                let slice = session.rings.slices()[later.ring];
                if slice.size == largest {
                    sink.stats.wakes += u64::from(session.observed.wake(slice)?);
                }
            }
        }
    }
    Ok(true)
}

/// Copies, judges and stores what a ring had when its header was read.
fn read(
    session: &mut Session,
    sink: &mut Sink,
    active: &Active,
    looked: &mut Looked,
) -> Result<(), PassError> {
    let slice = session.rings.slices()[active.ring];
    let number = session.number;
    let stream = active.header.stream;
    let expected = active.expected;
    let mut from = active.from;
    let mut piece = BLOCK;
    // A batch before this ring's may have ended the segment.
    session.declare(sink)?;
    keep::begin_write(session, sink, active.ring);
    // What was overwritten before anybody came.
    if expected < from {
        push_gap(session, sink, stream, expected, from);
        session.rings[active.ring].statement = None;
        session.overwritten_bytes += from - expected;
        session.rings[active.ring].stored = from;
        sink.releases.push((slice, from));
        looked.bytes += from - expected;
    }
    while from < active.to {
        // The segment may have ended with the last batch.
        session.declare(sink)?;
        let len = ((active.to - from) as usize).min(piece);
        let mut slot = sink.batch.reserve(len);
        if let Err(error) =
            session.observed.read_data(slice, &active.header, from, sink.batch.payload_mut(&slot))
        {
            sink.batch.cancel(slot);
            return Err(error.into());
        }
        let Some(oldest) = session.observed.revalidate(slice, &active.header)? else {
            // Claimed by another thread meanwhile, which only happens to what nobody was collecting when it was decided.
            sink.batch.cancel(slot);
            push_gap(session, sink, stream, from, active.to);
            session.overwritten_bytes += active.to - from;
            looked.is_unsettled = true;
            return store::flush(session, sink);
        };
        if oldest > from && session.onlooked_since.is_some() && session.observed.is_collected()? {
            // Not overwritten, as far as one can tell, but stored by somebody else.
            sink.batch.cancel(slot);
            session.is_taken = true;
            return store::flush(session, sink);
        }
        if oldest > from {
            let lost = oldest - from;
            if lost >= len as u64 || lost % 8 != 0 {
                // All of it was overtaken: the next look begins where the producer has come to.
                sink.batch.cancel(slot);
                looked.is_unsettled = true;
                return store::flush(session, sink);
            }
            sink.batch.drop_front(&mut slot, lost as usize);
            slot = sink
                .batch
                .insert_before(slot, |batch| batch.push(BlockKind::GAP, number, stream, &gap(from, oldest)));
            session.overwritten_bytes += lost;
            session.rings[active.ring].statement = None;
            sink.stats.gap_bytes += lost;
            from = oldest;
        }
        let capacity = active.header.capacity;
        let mut judged = judge(&session.declared.sites, sink.batch.payload(&slot), from, capacity);
        if let Some(RingError::Record(_, RecordErrorKind::Site(_))) = judged.error {
            // Registered since the table was last read, which the counters then say.
            session.counters = session.observed.counters()?;
            let (observed, counters) = (&session.observed, &session.counters);
            session.declared.sites.load(observed, counters)?;
            slot = sink.batch.insert_before(slot, |batch| session.declared.sites.push(batch, number));
            judged = judge(&session.declared.sites, sink.batch.payload(&slot), from, capacity);
            if session.declared.sites.faults != session.reported_sites {
                session.reported_sites = session.declared.sites.faults;
                let text = format!("{} sites have invalid descriptions", session.declared.sites.faults);
                sink.messages.say(Some(session.name()), text.clone());
                slot = sink
                    .batch
                    .insert_before(slot, |batch| batch.push(BlockKind::NOTE, number, 0, text.as_bytes()));
            }
        }
        let summary = judged.summary;
        // The last record of a part of a ring may go beyond the part.
        let goes_beyond = from + (len as u64) < active.to
            && matches!(
                judged.error,
                Some(RingError::Record(_, RecordErrorKind::Beyond(_) | RecordErrorKind::Truncated))
            );
        if goes_beyond && summary.bytes == 0 && piece < READ {
            sink.batch.cancel(slot);
            piece = READ;
            continue;
        }
        piece = BLOCK;
        let is_cut = goes_beyond && summary.bytes > 0;
        let end = from + summary.bytes as u64;
        if summary.bytes > 0 {
            if summary.control && summary.sites & site_bit(CONTEXT) != 0 {
                let raw = &sink.batch.payload(&slot)[..summary.bytes];
                if let Some(statement) = Statement::last_in(raw, from) {
                    session.rings[active.ring].statement = statement;
                }
            }
            store(session, sink, slot, stream, from, &judged);
            sink.releases.push((slice, end));
            session.rings[active.ring].stored = end;
            session.rings[active.ring].strikes = 0;
            looked.bytes += summary.bytes as u64;
        } else {
            sink.batch.cancel(slot);
        }
        if let Some(error) = judged.error.filter(|_| !is_cut) {
            // What came before it is stored; the next look begins with it.
            if summary.bytes == 0 {
                strike(session, sink, active.ring, &active.header, &error, looked);
            }
            looked.is_unsettled = true;
            break;
        }
        from = end;
        // What follows in the ring comes into the same batch: its header was read once.
        if sink.batch.len() >= if from < active.to { READ } else { FLUSH } {
            store::flush(session, sink)?;
            sink.rotate_if_due();
        }
    }
    Ok(())
}

/// Completes the block of a judged copy.
fn store(
    session: &Session,
    sink: &mut Sink,
    slot: crate::trace::Slot,
    stream: u32,
    from: u64,
    judged: &Judged,
) {
    let summary = &judged.summary;
    let is_late = summary.records > 0 && summary.first_ticks < session.declared.watermark;
    let mut header = BlockHeader {
        session: session.number,
        stream,
        ring_begin: from,
        ring_end: from + summary.bytes as u64,
        first_ticks: summary.first_ticks,
        last_ticks: summary.last_ticks,
        records: summary.records,
        levels: judged.levels,
        sites: summary.sites,
        raw_size: summary.bytes as u32,
        flags: if is_late { LATE } else { 0 },
        ..BlockHeader::new(BlockKind::RECORDS, &[])
    };
    let Sink { batch, compact: small, compressor, compressed, .. } = sink;
    let raw = &batch.payload(&slot)[..summary.bytes];
    let mut payload = raw;
    if let Some(signatures) = session.declared.sites.signatures() {
        small.clear();
        if compact(raw, signatures, small).is_ok() && small.len() < raw.len() {
            header.encoding = COMPACT;
            payload = small;
        }
    }
    match compressor.compress(payload, compressed) {
        0 if header.encoding == RAW => batch.finish(slot, header, summary.bytes),
        0 => batch.finish_with(slot, header, small),
        bit => {
            header.encoding |= bit;
            batch.finish_with(slot, header, compressed);
        }
    }
}

/// Counts a contradiction; gives the ring up when it stays.
fn strike(
    session: &mut Session,
    sink: &mut Sink,
    ring: usize,
    header: &RingHeader,
    error: &dyn std::fmt::Display,
    looked: &mut Looked,
) {
    let state = &mut session.rings[ring];
    if state.is_broken {
        return;
    }
    looked.is_unsettled = true;
    state.strikes += 1;
    if state.strikes < STRIKES {
        return;
    }
    state.is_broken = true;
    let Slice { at, size } = session.rings.slices()[ring];
    let text = format!(
        "the ring of thread {} (stream {}, {size} bytes at offset {at} of the ring file) is not read any more: {error}",
        header.owner_tid, header.stream
    );
    sink.stats.broken_rings += 1;
    if session.broken_rings.len() < 1000 {
        session.broken_rings.push(text.clone());
    }
    sink.note(session.who(), header.stream, &text);
}

/// Empties a ring that was given up.
fn pass_over(
    session: &mut Session,
    sink: &mut Sink,
    ring: usize,
    header: &RingHeader,
    looked: &mut Looked,
) -> Result<(), PassError> {
    let from = session.rings[ring].stored;
    if from < header.committed {
        session.declare(sink)?;
        session.declare_streams(sink, std::iter::once(&ring));
        push_gap(session, sink, header.stream, from, header.committed);
        session.broken_bytes += header.committed - from;
        sink.releases.push((session.rings.slices()[ring], header.committed));
        session.rings[ring].stored = header.committed;
        looked.bytes += header.committed - from;
    }
    Ok(())
}

fn push_gap(session: &Session, sink: &mut Sink, stream: u32, from: u64, to: u64) {
    sink.batch.push(BlockKind::GAP, session.number, stream, &gap(from, to));
    sink.stats.gap_bytes += to - from;
}

fn gap(from: u64, to: u64) -> [u8; 16] {
    let mut payload = [0; 16];
    payload[..8].copy_from_slice(&from.to_le_bytes());
    payload[8..].copy_from_slice(&to.to_le_bytes());
    payload
}
