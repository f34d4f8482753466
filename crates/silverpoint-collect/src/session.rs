//! What the collector knows of one session, and what the file must know before its records.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use silverpoint_shm::observer::{
    ControlHeader, Counters, Intent, MAX_RINGS, ObserveError, ObservedSession, SavedMode, SessionName, Slice,
};
use silverpoint_wire::block::{BlockKind, LossInfo, SessionInfo, StreamInfo, push_anchor, push_position};
use silverpoint_wire::layout::CAUSES;
use silverpoint_wire::repetition::Repetition;
use silverpoint_wire::slice::RingHeader;

use crate::config::Encoding;
use crate::keep::Keep;
use crate::prepare::Prepared;
use crate::ring::{RingState, Sweep};
use crate::sink::Sink;
use crate::sites::SiteBook;
use crate::trace::Batch;

/// A watermark lies so far in the past: a thread may be put aside between reading the clock and committing. What is later still is marked *late*.
const SLACK: Duration = Duration::from_millis(20);
/// Between two watermarks of a session.
const WATERMARK_INTERVAL: Duration = Duration::from_millis(100);
/// Between two anchors, and between two reports of losses.
const ANCHOR_INTERVAL: Duration = Duration::from_secs(1);
/// Streams, positions or losses in one block.
const ENTRIES: usize = 4096;

/// The greater of each.
fn greatest(seen: &[u64; CAUSES], known: &[u64; CAUSES]) -> [u64; CAUSES] {
    std::array::from_fn(|cause| seen[cause].max(known[cause]))
}

/// A session that this collector has.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) observed: ObservedSession,
    /// Which root it is in.
    pub(crate) root: usize,
    /// Its number in the file.
    pub(crate) number: u32,
    /// Nothing is released: for a recovery that leaves the session as it is.
    pub(crate) keeps: bool,
    /// When an onlooker began to copy, in the session's clock.
    pub(crate) onlooked_since: Option<u64>,
    /// A collector has released what the onlooker had not copied yet: from there on only the collector's file is whole.
    pub(crate) is_taken: bool,
    /// The last sweep has found nothing, and nothing was found since.
    pub(crate) is_idle: bool,
    /// Its processes are gone; set by [`Session::has_died`].
    pub(crate) is_dead: bool,
    pub(crate) saved: Option<SavedMode>,
    /// For a collector that keeps back.
    pub(crate) keep: Option<Keep>,
    /// Up to where its last collector, which kept back, had stored each stream.
    pub(crate) stored_before: Option<HashMap<u32, u64>>,
    pub(crate) sites: SiteBook,
    pub(crate) slices: Vec<Slice>,
    /// One a slice.
    pub(crate) rings: Vec<RingState>,
    /// Which slice each stream is in, by its offset.
    owners: HashMap<u32, u64>,
    pub(crate) counters: Counters,
    /// Counters at which `slices` were listed: (streams_next, slabs_next).
    pub(crate) listed: Option<(u32, u32)>,
    /// The look at all rings that is under way.
    pub(crate) sweep: Sweep,
    pub(crate) is_sleeping: bool,
    pub(crate) heartbeat: u64,
    pub(crate) records: u64,
    pub(crate) overwritten_bytes: u64,
    pub(crate) broken_bytes: u64,
    pub(crate) broken_rings: Vec<String>,
    /// The watermark in force in the file.
    pub(crate) watermark: u64,
    /// What has been reported once: (slab faults, site faults).
    pub(crate) said: (bool, u32),
    pub(crate) prepared: Prepared,
    info: Vec<u8>,
    epoch: u64,
    /// Of this session since it was last described.
    pub(crate) repetition: Repetition,
    /// Streams that were described once: they may be gone when everything is described again.
    described_once: Vec<StreamInfo>,
    part_epoch: u64,
    intent_sequence: u64,
    session_losses: [u64; CAUSES],
    /// They stand in an earlier part or segment only.
    retell: bool,
    watermark_at: Option<Instant>,
    anchor_at: Option<Instant>,
    losses_at: Option<Instant>,
    /// [`SLACK`] in ticks; 0 until the rate of the clock is known.
    slack_ticks: u64,
}

impl Session {
    pub(crate) fn new(
        observed: ObservedSession,
        root: usize,
        number: u32,
        encoding: Encoding,
    ) -> Result<Self, ObserveError> {
        let header: &ControlHeader = observed.header();
        let info = SessionInfo {
            session_id: header.session_id,
            clock_source: header.clock_source,
            pid: header.pid,
            start_time: header.start_time,
            ticks_per_second: observed.ticks_per_second(),
            boot_id: header.boot_id,
            uid: header.uid,
            process: observed.process_text()?,
        };
        let mut payload = Vec::new();
        info.encode(&mut payload);
        let counters = observed.counters()?;
        Ok(Self {
            root,
            number,
            keeps: false,
            onlooked_since: None,
            is_taken: false,
            is_dead: false,
            is_idle: false,
            saved: None,
            keep: None,
            stored_before: None,
            sites: SiteBook::new(encoding),
            slices: Vec::new(),
            rings: Vec::new(),
            owners: HashMap::new(),
            counters,
            listed: None,
            sweep: Sweep::default(),
            is_sleeping: counters.collector_sleeping != 0,
            heartbeat: counters.heartbeat,
            records: 0,
            overwritten_bytes: 0,
            broken_bytes: 0,
            broken_rings: Vec::new(),
            watermark: 0,
            said: (false, 0),
            prepared: Prepared::default(),
            info: payload,
            epoch: 0,
            repetition: Repetition::default(),
            described_once: Vec::new(),
            part_epoch: 0,
            intent_sequence: 0,
            session_losses: [0; CAUSES],
            retell: false,
            watermark_at: None,
            anchor_at: None,
            losses_at: None,
            slack_ticks: 0,
            observed,
        })
    }

    pub(crate) fn name(&self) -> SessionName {
        self.observed.name()
    }

    /// For [`Sink::note`].
    pub(crate) fn who(&self) -> Option<(SessionName, u32)> {
        Some((self.name(), self.number))
    }

    pub(crate) fn write_intent(&mut self, intent: &Intent) -> Result<(), ObserveError> {
        if self.keeps {
            return Ok(());
        }
        self.intent_sequence += 2;
        self.observed.write_intent(intent, self.intent_sequence)
    }

    /// What it has now is all that it will ever have; a look at every ring is due.
    pub(crate) fn has_died(&mut self) {
        if !self.is_dead {
            self.is_dead = true;
            self.sweep.all_wanted = true;
        }
    }

    /// Tells producers that the collector is there.
    pub(crate) fn beat(&mut self) -> Result<(), ObserveError> {
        if self.keeps {
            return Ok(());
        }
        self.heartbeat = self.heartbeat.wrapping_add(1);
        self.observed.set_heartbeat(self.heartbeat)
    }

    /// Lists the slices again when more were claimed. True when it did: then every ring must be looked at.
    pub(crate) fn list(&mut self, sink: &mut Sink) -> Result<bool, ObserveError> {
        let now = (self.counters.streams_next, self.counters.slabs_next);
        if self.listed == Some(now) {
            return Ok(false);
        }
        let mut slices = Vec::new();
        let mut fault = None;
        self.observed.slices(self.counters.slabs_next, &mut slices, |found| {
            fault.get_or_insert(found);
        })?;
        let fault = match fault {
            Some(fault) => Some(fault.to_string()),
            None if slices.len() == MAX_RINGS => {
                Some(format!("it has more than {MAX_RINGS} rings; those beyond are not read"))
            }
            None => None,
        };
        if let Some(fault) = fault.filter(|_| !self.said.0) {
            self.said.0 = true;
            sink.note(self.who(), 0, &fault);
        }
        // Both lists ascend: what was known keeps its place.
        let mut rings = Vec::with_capacity(slices.len());
        let mut known = self.slices.iter().zip(std::mem::take(&mut self.rings)).peekable();
        for slice in &slices {
            while known.next_if(|(before, _)| before.at < slice.at).is_some() {}
            rings.push(
                known
                    .next_if(|(before, _)| **before == *slice)
                    .map_or_else(RingState::default, |(_, ring)| ring),
            );
        }
        drop(known);
        (self.slices, self.rings, self.listed) = (slices, rings, Some(now));
        Ok(true)
    }

    /// Makes sure that the file's current segment has all dictionaries but new streams.
    pub(crate) fn declare(&mut self, sink: &mut Sink) -> Result<(), ObserveError> {
        let epoch = sink.trace.epoch();
        if self.epoch == epoch {
            return Ok(());
        }
        self.epoch = epoch;
        let batch = &mut sink.batch;
        if let Some(text) = sink.trace.about_due() {
            batch.push(BlockKind::FILE, 0, 0, text.as_bytes());
        }
        batch.push(BlockKind::SESSION, self.number, 0, &self.info);
        self.sites.begin_segment();
        self.sites.push(batch, self.number);
        let streams = self.rings.iter().filter(|ring| ring.is_declared).map(|ring| ring.stream);
        let mut streams: Vec<StreamInfo> = streams.chain(self.described_once.drain(..)).collect();
        streams.sort_by_key(|info| info.stream);
        streams.dedup_by_key(|info| info.stream);
        push_all(batch, BlockKind::STREAMS, self.number, streams.iter(), |out, info| info.encode(out));
        self.push_anchors(batch)?;
        self.repetition.restart();
        if self.part_epoch != sink.trace.part() {
            self.part_epoch = sink.trace.part();
            if self.part_epoch > 1 {
                let streams = self.rings.iter().filter(|ring| ring.is_declared);
                push_all(batch, BlockKind::POSITIONS, self.number, streams, |out, ring| {
                    push_position(out, ring.stream.stream, ring.kept.told_to(ring.stored));
                });
                for ring in self.rings.iter().filter(|ring| ring.is_declared) {
                    if let Some(statement) = &ring.statement {
                        statement.push(batch, self.number, ring.stream.stream);
                    }
                }
            }
        }
        // Totals again: only the last counts.
        self.tell_losses_again();
        Ok(())
    }

    /// All losses and stalls are news, as if none of them stood in the file.
    fn tell_losses_again(&mut self) {
        self.retell = self.session_losses != [0; CAUSES];
        for ring in &mut self.rings {
            // A quiet one is looked at once more, for what it lost.
            ring.retell = ring.losses != [0; CAUSES] || ring.stalls != 0;
            ring.is_quiet &= !ring.retell;
        }
        self.losses_at = None;
    }

    /// A part that was begun meanwhile gets the dictionaries of a session that is in the part before, also when it has nothing to say.
    pub(crate) fn declare_in_new_part(&mut self, sink: &mut Sink) -> Result<(), ObserveError> {
        if self.part_epoch != 0 && self.part_epoch != sink.trace.part() { self.declare(sink) } else { Ok(()) }
    }

    /// Writes new streams.
    pub(crate) fn declare_streams<'a>(&mut self, batch: &mut Batch, rings: impl Iterator<Item = &'a usize>) {
        let mut payload = Vec::new();
        for ring in rings {
            let ring = &mut self.rings[*ring];
            if !ring.is_declared {
                ring.is_declared = true;
                ring.stream.encode(&mut payload);
                self.described_once.push(ring.stream);
            }
        }
        if !payload.is_empty() {
            batch.push(BlockKind::STREAMS, self.number, 0, &payload);
        }
    }

    /// All anchors that the program has made, and one of now.
    fn push_anchors(&mut self, batch: &mut Batch) -> Result<(), ObserveError> {
        let mut anchors = self.observed.anchors()?;
        anchors.extend(self.observed.anchor_now());
        anchors.sort_unstable_by_key(|anchor| anchor.ticks);
        push_all(batch, BlockKind::ANCHORS, self.number, anchors.iter(), |out, anchor| {
            push_anchor(out, anchor)
        });
        self.anchor_at = Some(Instant::now());
        Ok(())
    }

    /// An anchor, when the last is old and records were stored since.
    pub(crate) fn push_anchor_if_due(&mut self, sink: &mut Sink) {
        let is_due = self.epoch == sink.trace.epoch()
            && self.anchor_at.is_some_and(|at| {
                at.elapsed() >= ANCHOR_INTERVAL && sink.records_at.is_some_and(|records| records > at)
            });
        if is_due {
            if let Some(anchor) = self.observed.anchor_now() {
                let mut payload = Vec::new();
                push_anchor(&mut payload, &anchor);
                sink.batch.push(BlockKind::ANCHORS, self.number, 0, &payload);
                self.anchor_at = Some(Instant::now());
            }
        }
    }

    /// A watermark: everything that was committed before `ticks` (when a look at all rings began) is in the file. Written as long as records of any session
    /// were stored after the last: a reader waits for the slowest.
    pub(crate) fn push_watermark_if_due(&mut self, sink: &mut Sink, ticks: Option<u64>) {
        let Some(ticks) = ticks.filter(|_| self.epoch == sink.trace.epoch()) else { return };
        let Some(records_at) = sink.records_at else { return };
        let is_due =
            self.watermark_at.is_none_or(|at| at.elapsed() >= WATERMARK_INTERVAL && at < records_at + SLACK);
        if !is_due {
            return;
        }
        if self.slack_ticks == 0 {
            self.slack_ticks =
                (u128::from(self.observed.ticks_per_second()) * SLACK.as_nanos() / 1_000_000_000) as u64;
            if self.slack_ticks == 0 {
                return;
            }
        }
        // What is kept back may follow.
        let ticks = ticks.saturating_sub(self.slack_ticks).min(self.kept_since());
        self.push_watermark(sink, ticks);
    }

    /// The earliest time of what is kept back; a watermark must not lie beyond it.
    fn kept_since(&self) -> u64 {
        self.rings.iter().filter_map(|ring| ring.kept.first_ticks()).min().unwrap_or(u64::MAX)
    }

    pub(crate) fn push_watermark(&mut self, sink: &mut Sink, ticks: u64) {
        if ticks > self.watermark {
            self.watermark = ticks;
            sink.batch.push(BlockKind::WATERMARK, self.number, 0, &ticks.to_le_bytes());
        }
        self.watermark_at = Some(Instant::now());
    }

    /// Reports losses and stalls that the file does not have. `now`: also when the last report is young.
    pub(crate) fn push_losses(&mut self, sink: &mut Sink, now: bool) -> Result<(), ObserveError> {
        if !now && self.losses_at.is_some_and(|at| at.elapsed() < ANCHOR_INTERVAL) {
            return Ok(());
        }
        let mut changed = Vec::new();
        let session_losses = greatest(&self.counters.session_losses, &self.session_losses);
        if self.retell || session_losses != self.session_losses {
            changed.push(LossInfo { losses: session_losses, ..LossInfo::default() });
        }
        let mut told = Vec::new();
        let mut rings = Vec::new();
        for (ring, slice) in self.slices.iter().enumerate() {
            let state = &self.rings[ring];
            if !state.has_news {
                continue;
            }
            let Some(header) = self.observed.ring(*slice)? else { continue };
            if header.stream != state.stream.stream {
                continue;
            }
            let (losses, stalls) = (greatest(&header.losses, &state.losses), header.stalls.max(state.stalls));
            let stall_ns = header.stall_ns.max(state.stall_ns);
            changed.push(LossInfo { stream: header.stream, losses, stalls, stall_ns });
            rings.push((ring, losses, stalls, stall_ns));
            if !self.keeps {
                told.push((*slice, header.losses.iter().fold(0u64, |sum, loss| sum.wrapping_add(*loss))));
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        self.declare(sink)?;
        self.declare_streams(&mut sink.batch, rings.iter().map(|(ring, ..)| ring));
        for (ring, losses, stalls, stall_ns) in rings {
            let state = &mut self.rings[ring];
            (state.losses, state.stalls, state.stall_ns) = (losses, stalls, stall_ns);
            (state.has_news, state.retell) = (false, false);
        }
        (self.session_losses, self.retell) = (session_losses, false);
        self.losses_at = Some(Instant::now());
        push_all(&mut sink.batch, BlockKind::LOSSES, self.number, changed.iter(), |out, info| {
            info.encode(out)
        });
        sink.told.append(&mut told);
        Ok(())
    }

    /// Losses by cause of the session and of all streams that are still in their rings.
    pub(crate) fn total_losses(&self) -> [u64; CAUSES] {
        let mut total = self.session_losses;
        for ring in &self.rings {
            for (sum, loss) in total.iter_mut().zip(ring.losses) {
                *sum = sum.saturating_add(loss);
            }
        }
        total
    }

    /// What closes a session: the anchors once more, the losses, and that nothing follows.
    pub(crate) fn push_end(&mut self, sink: &mut Sink) -> Result<(), ObserveError> {
        let mut repetition = self.repetition;
        repetition.add_all(sink.batch.kinds());
        // (Not by the epoch: the last records may have begun one, in which nothing is described yet.)
        if repetition.is_due_at_end() && self.part_epoch == sink.trace.part() {
            // Once more: what is damaged where it began is found here.
            sink.trace.repeat_about();
            self.epoch = 0;
            self.declare(sink)?;
        }
        self.push_losses(sink, true)?;
        if self.epoch == sink.trace.epoch() {
            self.push_anchors(&mut sink.batch)?;
            self.push_watermark(sink, u64::MAX);
        }
        Ok(())
    }

    /// What is known of a ring; it starts again when another stream is in it. Gives the error when that
    /// cannot be.
    pub(crate) fn meet(&mut self, ring: usize, header: &RingHeader) -> Result<(), String> {
        let at = self.slices[ring].at;
        let state = &mut self.rings[ring];
        let (before, now) = (state.stream.stream, header.stream);
        if before != now || now == 0 {
            // "Stored through position p of stream s" must be true for ever.
            if now <= before {
                return Err(format!("its stream changed from {before} to {now}, and numbers only grow"));
            }
            if self.owners.get(&now).is_some_and(|other| *other != at) {
                return Err("its stream is in another ring too".into());
            }
            self.owners.remove(&before);
            self.owners.insert(now, at);
            let mut gone = std::mem::take(&mut self.rings[ring]);
            if let Some(keep) = &mut self.keep {
                keep.is_gone(&mut gone.kept, self.slices[ring].size.into(), gone.stream, gone.stored);
            }
        }
        let state = &mut self.rings[ring];
        state.stream = StreamInfo {
            stream: header.stream,
            tid: header.owner_tid,
            lane: header.lane,
            copy: header.copy,
            previous: header.previous,
            claimed_ticks: header.claimed_ticks,
            base: header.base,
            name: header.name,
        };
        let copied = if state.stored > 0 { state.stored } else { header.base };
        let is_seen_whole = |since: u64| state.stored > 0 || header.claimed_ticks > since;
        if header.consumed > copied && self.onlooked_since.is_some_and(is_seen_whole) {
            self.is_taken = true;
        }
        // Never back, no matter which process writes `consumed`; only data that could not be stored is read
        // again.
        state.stored = state.stored.max(header.consumed).max(header.base);
        let is_more = greatest(&header.losses, &state.losses) != state.losses || header.stalls > state.stalls;
        state.has_news = state.retell || is_more;
        if let Some(stored) = self.stored_before.as_ref().filter(|_| before != now) {
            let known = stored.get(&now).copied().unwrap_or(0).max(header.base);
            if known < state.stored {
                state.kept.has_forgotten_since(known);
            }
        }
        Ok(())
    }

    /// Whether a stream may be in a ring that was not looked at since it began there.
    pub(crate) fn is_unmet(&self, stream: u32) -> bool {
        stream != 0 && !self.owners.contains_key(&stream)
    }

    /// The ring that a stream is in, unless nothing can come from it any more.
    pub(crate) fn unfinished_ring_of(&self, stream: u32) -> Option<usize> {
        let at = *self.owners.get(&stream)?;
        let ring = self.slices.binary_search_by_key(&at, |slice| slice.at).ok()?;
        (!self.rings[ring].is_quiet).then_some(ring)
    }

    /// After a write that failed: the batch is not stored, and `consumed` in each ring is right. Losses that
    /// the batch reported are reported again.
    pub(crate) fn forget_batch(&mut self) {
        for ring in &mut self.rings {
            ring.stored = 0;
        }
        self.tell_losses_again();
        if let Some(keep) = &mut self.keep {
            keep.look_through_again(self.rings.iter_mut().map(|ring| &mut ring.kept));
        }
    }
}

/// Blocks of one kind with all these entries.
fn push_all<T>(
    batch: &mut Batch,
    kind: BlockKind,
    session: u32,
    entries: impl Iterator<Item = T>,
    encode: impl Fn(&mut Vec<u8>, T),
) {
    let mut payload = Vec::new();
    let mut count = 0;
    for entry in entries {
        encode(&mut payload, entry);
        count += 1;
        if count == ENTRIES {
            batch.push(kind, session, 0, &payload);
            payload.clear();
            count = 0;
        }
    }
    if count > 0 {
        batch.push(kind, session, 0, &payload);
    }
}
