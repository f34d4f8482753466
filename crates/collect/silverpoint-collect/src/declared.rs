//! What the trace file must know of a session beside its records, and how much of that it has. These are
//! descriptions of the session, its sites and its streams, anchors, watermarks and losses.
//!
//! Each segment of a file can be read by itself. So everything is described again where a segment begins, and
//! totals are reported again.

use std::time::{Duration, Instant};

use silverpoint_shm::observer::{Counters, ObserveError, ObservedSession};
use silverpoint_wire::block::{BlockKind, LossInfo, SessionInfo, StreamInfo, push_anchor, push_position};
use silverpoint_wire::layout::CAUSES;
use silverpoint_wire::repetition::Repetition;

use crate::config::Encoding;
use crate::ring::RingState;
use crate::rings::Rings;
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

/// One session, as the file knows it.
#[derive(Debug)]
pub(crate) struct Declared {
    /// The session's number in the file.
    number: u32,
    pub(crate) sites: SiteBook,
    /// The watermark in force in the file.
    pub(crate) watermark: u64,
    /// Payload of the *session* block.
    info: Vec<u8>,
    /// The epoch of the file in which everything was described; 0: none.
    epoch: u64,
    /// Of this session since it was last described.
    repetition: Repetition,
    /// Streams that were described once: they may be gone when everything is described again.
    described_once: Vec<StreamInfo>,
    /// The part of the file in which the session was described; 0: none.
    part: u64,
    session_losses: [u64; CAUSES],
    /// Totals of streams that are gone, which the file does not have.
    gone: Vec<LossInfo>,
    /// They stand in an earlier part or segment only.
    retell: bool,
    watermark_at: Option<Instant>,
    anchor_at: Option<Instant>,
    losses_at: Option<Instant>,
    /// [`SLACK`] in ticks; 0 until the rate of the clock is known.
    slack_ticks: u64,
}

impl Declared {
    /// Nothing is in the file yet.
    pub(crate) fn nothing(
        observed: &ObservedSession,
        number: u32,
        encoding: Encoding,
    ) -> Result<Self, ObserveError> {
        let header = observed.header();
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
        Ok(Self {
            number,
            sites: SiteBook::new(encoding),
            watermark: 0,
            info: payload,
            epoch: 0,
            repetition: Repetition::default(),
            described_once: Vec::new(),
            part: 0,
            session_losses: [0; CAUSES],
            gone: Vec::new(),
            retell: false,
            watermark_at: None,
            anchor_at: None,
            losses_at: None,
            slack_ticks: 0,
        })
    }

    /// A batch of the session is in the file.
    pub(crate) fn has_stored(&mut self, batch: &Batch) {
        self.repetition.add_all(batch.kinds());
    }

    /// Makes sure that the file's current segment has all dictionaries but new streams.
    pub(crate) fn declare(
        &mut self,
        observed: &ObservedSession,
        rings: &mut Rings,
        sink: &mut Sink,
    ) -> Result<(), ObserveError> {
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
        let streams = rings.iter().filter(|ring| ring.is_declared).map(|ring| ring.stream);
        let mut streams: Vec<StreamInfo> = streams.chain(self.described_once.drain(..)).collect();
        streams.sort_by_key(|info| info.stream);
        streams.dedup_by_key(|info| info.stream);
        push_all(batch, BlockKind::STREAMS, self.number, streams.iter(), |out, info| info.encode(out));
        self.push_anchors(observed, batch)?;
        self.repetition.restart();
        if self.part != sink.trace.part() {
            self.part = sink.trace.part();
            if self.part > 1 {
                let streams = rings.iter().filter(|ring| ring.is_declared);
                push_all(batch, BlockKind::POSITIONS, self.number, streams, |out, ring| {
                    push_position(out, ring.stream.stream, ring.kept.told_to(ring.stored));
                });
                for ring in rings.iter().filter(|ring| ring.is_declared) {
                    if let Some(statement) = &ring.statement {
                        statement.push(batch, self.number, ring.stream.stream);
                    }
                }
            }
        }
        // Totals again: only the last counts.
        self.report_losses_again(rings);
        Ok(())
    }

    /// A part that was begun meanwhile gets the dictionaries of a session that is in the part before, also when it has nothing to say.
    pub(crate) fn declare_in_new_part(
        &mut self,
        observed: &ObservedSession,
        rings: &mut Rings,
        sink: &mut Sink,
    ) -> Result<(), ObserveError> {
        if self.part != 0 && self.part != sink.trace.part() {
            self.declare(observed, rings, sink)
        } else {
            Ok(())
        }
    }

    /// Writes new streams.
    pub(crate) fn declare_streams<'a>(
        &mut self,
        rings: &mut Rings,
        batch: &mut Batch,
        which: impl Iterator<Item = &'a usize>,
    ) {
        let mut payload = Vec::new();
        for ring in which {
            let ring = &mut rings[*ring];
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
    fn push_anchors(&mut self, observed: &ObservedSession, batch: &mut Batch) -> Result<(), ObserveError> {
        let mut anchors = observed.anchors()?;
        anchors.extend(observed.anchor_now());
        anchors.sort_unstable_by_key(|anchor| anchor.ticks);
        push_all(batch, BlockKind::ANCHORS, self.number, anchors.iter(), |out, anchor| {
            push_anchor(out, anchor)
        });
        self.anchor_at = Some(Instant::now());
        Ok(())
    }

    /// An anchor, when the last is old and records were stored since.
    pub(crate) fn push_anchor_if_due(&mut self, observed: &ObservedSession, sink: &mut Sink) {
        let is_due = self.epoch == sink.trace.epoch()
            && self.anchor_at.is_some_and(|at| {
                at.elapsed() >= ANCHOR_INTERVAL && sink.records_at.is_some_and(|records| records > at)
            });
        if is_due {
            if let Some(anchor) = observed.anchor_now() {
                let mut payload = Vec::new();
                push_anchor(&mut payload, &anchor);
                sink.batch.push(BlockKind::ANCHORS, self.number, 0, &payload);
                self.anchor_at = Some(Instant::now());
            }
        }
    }

    /// A watermark: everything that was committed when the look at all rings began is in the file. Written as long as records of any session
    /// were stored after the last: a reader waits for the slowest.
    pub(crate) fn push_watermark_if_due(
        &mut self,
        observed: &ObservedSession,
        rings: &Rings,
        sink: &mut Sink,
    ) {
        let Some(ticks) = rings.sweep.ticks.filter(|_| self.epoch == sink.trace.epoch()) else { return };
        let Some(records_at) = sink.records_at else { return };
        let is_due =
            self.watermark_at.is_none_or(|at| at.elapsed() >= WATERMARK_INTERVAL && at < records_at + SLACK);
        if !is_due {
            return;
        }
        if self.slack_ticks == 0 {
            self.slack_ticks =
                (u128::from(observed.ticks_per_second()) * SLACK.as_nanos() / 1_000_000_000) as u64;
            if self.slack_ticks == 0 {
                return;
            }
        }
        // What is kept back may follow: a watermark must not lie beyond it.
        let kept_since = rings.iter().filter_map(|ring| ring.kept.first_ticks()).min().unwrap_or(u64::MAX);
        self.push_watermark(sink, ticks.saturating_sub(self.slack_ticks).min(kept_since));
    }

    pub(crate) fn push_watermark(&mut self, sink: &mut Sink, ticks: u64) {
        if ticks > self.watermark {
            self.watermark = ticks;
            sink.batch.push(BlockKind::WATERMARK, self.number, 0, &ticks.to_le_bytes());
        }
        self.watermark_at = Some(Instant::now());
    }

    /// Reports losses and stalls that the file does not have.
    pub(crate) fn push_losses(
        &mut self,
        observed: &ObservedSession,
        counters: &Counters,
        rings: &mut Rings,
        sink: &mut Sink,
        when: Report,
    ) -> Result<(), ObserveError> {
        if !when.now && self.losses_at.is_some_and(|at| at.elapsed() < ANCHOR_INTERVAL) {
            return Ok(());
        }
        let mut changed = self.gone.clone();
        let session_losses = greatest(&counters.session_losses, &self.session_losses);
        if self.retell || session_losses != self.session_losses {
            changed.push(LossInfo { losses: session_losses, ..LossInfo::default() });
        }
        let mut told = Vec::new();
        let mut news = Vec::new();
        for (ring, slice) in rings.slices().iter().enumerate() {
            let state = &rings[ring];
            if !state.has_news {
                continue;
            }
            let Some(header) = observed.ring(*slice)? else { continue };
            if header.stream != state.stream.stream {
                continue;
            }
            let (losses, stalls) = (greatest(&header.losses, &state.losses), header.stalls.max(state.stalls));
            let stall_ns = header.stall_ns.max(state.stall_ns);
            changed.push(LossInfo { stream: header.stream, losses, stalls, stall_ns });
            news.push((ring, losses, stalls, stall_ns));
            if when.is_released {
                told.push((*slice, header.losses.iter().fold(0u64, |sum, loss| sum.wrapping_add(*loss))));
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        self.declare(observed, rings, sink)?;
        self.declare_streams(rings, &mut sink.batch, news.iter().map(|(ring, ..)| ring));
        for (ring, losses, stalls, stall_ns) in news {
            let state = &mut rings[ring];
            (state.losses, state.stalls, state.stall_ns) = (losses, stalls, stall_ns);
            (state.has_news, state.retell) = (false, false);
        }
        (self.session_losses, self.retell) = (session_losses, false);
        self.gone.clear();
        self.losses_at = Some(Instant::now());
        push_all(&mut sink.batch, BlockKind::LOSSES, self.number, changed.iter(), |out, info| {
            info.encode(out)
        });
        sink.told.append(&mut told);
        Ok(())
    }

    /// Another stream is in a ring. What the file does not have of the one before is reported with the next losses.
    pub(crate) fn is_gone(&mut self, ring: &RingState) {
        let (stalls, stall_ns) = ring.seen_stalls;
        if ring.is_declared && stalls > ring.stalls {
            self.gone.push(LossInfo { stream: ring.stream.stream, losses: ring.losses, stalls, stall_ns });
        }
    }

    /// All losses and stalls are news, as if none of them stood in the file.
    pub(crate) fn report_losses_again(&mut self, rings: &mut Rings) {
        self.retell = self.session_losses != [0; CAUSES];
        for ring in rings.iter_mut() {
            // A quiet one is looked at once more, for what it lost.
            ring.retell = ring.losses != [0; CAUSES] || ring.stalls != 0;
            ring.is_quiet &= !ring.retell;
        }
        self.losses_at = None;
    }

    /// Losses by cause of the session and of all streams that are still in their rings.
    pub(crate) fn total_losses(&self, rings: &Rings) -> [u64; CAUSES] {
        let mut total = self.session_losses;
        for ring in rings.iter() {
            for (sum, loss) in total.iter_mut().zip(ring.losses) {
                *sum = sum.saturating_add(loss);
            }
        }
        total
    }

    /// What closes a session: the anchors once more, the losses, and that nothing follows.
    pub(crate) fn push_end(
        &mut self,
        observed: &ObservedSession,
        counters: &Counters,
        rings: &mut Rings,
        sink: &mut Sink,
        is_released: bool,
    ) -> Result<(), ObserveError> {
        let mut repetition = self.repetition;
        repetition.add_all(sink.batch.kinds());
        // (Not by the epoch: the last records may have begun one, in which nothing is described yet.)
        if repetition.is_due_at_end() && self.part == sink.trace.part() {
            // Once more: what is damaged where it began is found here.
            sink.trace.repeat_about();
            self.epoch = 0;
            self.declare(observed, rings, sink)?;
        }
        self.push_losses(observed, counters, rings, sink, Report { now: true, is_released })?;
        if self.epoch == sink.trace.epoch() {
            self.push_anchors(observed, &mut sink.batch)?;
            self.push_watermark(sink, u64::MAX);
        }
        Ok(())
    }
}

/// How losses are reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    /// Also when the last report is young.
    pub(crate) now: bool,
    /// Rings learn that theirs are stored, so that another thread may begin there.
    pub(crate) is_released: bool,
}

/// The greater of each.
pub(crate) fn greatest(seen: &[u64; CAUSES], known: &[u64; CAUSES]) -> [u64; CAUSES] {
    std::array::from_fn(|cause| seen[cause].max(known[cause]))
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
