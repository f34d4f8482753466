//! The trace file, and what is about to be written to it.

use std::io;
use std::time::{Duration, Instant};

use silverpoint_shm::observer::{ObserveError, SessionName, Slice};
use silverpoint_wire::block::BlockKind;
use silverpoint_wire::compression::Compressor;

use crate::stats::{Messages, Stats};
use crate::trace::{Batch, TraceFile};

/// After a rotation that failed.
const ROTATION_PAUSE: Duration = Duration::from_secs(1);

/// Between two looks whether the trace file is where it was.
const PLACE_INTERVAL: Duration = Duration::from_millis(500);

/// What ends a pass early.
#[derive(Debug)]
pub(crate) enum PassError {
    /// The trace file cannot be written: nothing was released, all is tried again.
    Sink(io::Error),
    /// The session cannot be read any more.
    Session(ObserveError),
}

impl From<ObserveError> for PassError {
    fn from(error: ObserveError) -> Self {
        Self::Session(error)
    }
}

/// The trace file, what is about to be written to it, and what may be released afterwards.
#[derive(Debug)]
pub(crate) struct Sink {
    pub(crate) trace: TraceFile,
    pub(crate) batch: Batch,
    /// Rings of the session whose batch it is, with the positions through which the batch has them.
    pub(crate) releases: Vec<(Slice, u64)>,
    /// Rings whose losses the batch tells, with their sums.
    pub(crate) told: Vec<(Slice, u64)>,
    /// For compact payloads.
    pub(crate) compact: Vec<u8>,
    pub(crate) compressor: Compressor,
    /// For compressed payloads.
    pub(crate) compressed: Vec<u8>,
    pub(crate) stats: Stats,
    pub(crate) messages: Messages,
    /// When records were last stored.
    pub(crate) records_at: Option<Instant>,
    /// After a rotation that failed.
    no_rotation_before: Option<Instant>,
    place_checked: Option<Instant>,
    is_displacement_told: bool,
    /// The trace file was removed, and no other can be made.
    is_homeless: bool,
}

impl Sink {
    pub(crate) fn new(trace: TraceFile) -> Self {
        let mut batch = Batch::new();
        batch.restart(trace.next_sequence());
        let compressor = Compressor::new(trace.compression());
        Self {
            trace,
            batch,
            releases: Vec::new(),
            told: Vec::new(),
            compact: Vec::new(),
            compressor,
            compressed: Vec::new(),
            stats: Stats::default(),
            messages: Messages::default(),
            records_at: None,
            no_rotation_before: None,
            place_checked: None,
            is_displacement_told: false,
            is_homeless: false,
        }
    }

    /// Forgets what was about to be written.
    pub(crate) fn clear(&mut self) {
        self.batch.restart(self.trace.next_sequence());
        self.releases.clear();
        self.told.clear();
    }

    /// Begins a new part between two batches, so that an intent and its batch never belong to different files. Where that fails, the current part goes on.
    pub(crate) fn rotate_if_due(&mut self) {
        let is_waiting = self.no_rotation_before.is_some_and(|until| Instant::now() < until);
        if !self.batch.is_empty() || is_waiting || !self.trace.is_rotation_due() {
            return;
        }
        match self.trace.rotate() {
            Ok(()) => {
                self.clear();
                self.tell_unsynced();
                self.no_rotation_before = None;
                self.stats.rotations += 1;
                self.stats.parts_deleted += self.trace.enforce_quota();
            }
            Err(error) => {
                if self.no_rotation_before.is_none() {
                    let text = format!(
                        "{}: no new part can be started: {error}; the current one continues",
                        self.trace.path().display()
                    );
                    self.messages.say(None, text);
                }
                self.no_rotation_before = Some(Instant::now() + ROTATION_PAUSE);
            }
        }
    }

    /// Looks now and then whether the trace file is still where it was. When somebody has moved or removed it, a new part begins in its place.
    ///
    /// # Errors
    /// It was removed, and no new part can be begun: what was written now would be lost.
    pub(crate) fn check_place(&mut self) -> io::Result<()> {
        let is_due = self.is_homeless || self.place_checked.is_none_or(|at| at.elapsed() >= PLACE_INTERVAL);
        if !self.batch.is_empty() || !is_due {
            return Ok(());
        }
        self.place_checked = Some(Instant::now());
        self.is_homeless = false;
        if !self.trace.is_displaced() {
            return Ok(());
        }
        let path = self.trace.path().display().to_string();
        match self.trace.begin_again() {
            Ok(()) => {
                self.clear();
                self.tell_unsynced();
                self.stats.rotations += 1;
                self.messages
                    .say(None, format!("{path}: it was moved or removed; a new part begins in its place"));
            }
            Err(error) if self.trace.is_removed() => {
                self.is_homeless = true;
                let records = self.trace.removed_records();
                let text = format!(
                    "it was removed with {records} records in it, and no new part can be started in its place: {error}"
                );
                return Err(io::Error::new(error.kind(), text));
            }
            Err(error) if !self.is_displacement_told => {
                let text = format!(
                    "{path}: it was moved or removed, and no new part can be started in its place: {error}"
                );
                self.messages.say(None, text);
                self.is_displacement_told = true;
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn tell_unsynced(&mut self) {
        if let Some(error) = self.trace.take_unsynced() {
            let path = self.trace.path().display();
            self.messages.say(
                None,
                format!(
                    "{path}: the part that has ended may not survive a loss of power: syncing it: {error}"
                ),
            );
        }
    }

    /// Puts a remark into the file and among the messages.
    pub(crate) fn note(&mut self, session: Option<(SessionName, u32)>, stream: u32, text: &str) {
        self.batch.push(BlockKind::NOTE, session.map_or(0, |(_, number)| number), stream, text.as_bytes());
        self.messages.say(session.map(|(name, _)| name), text);
    }

    /// Stores remarks that concern no session. An error is that of the file; the remark is lost then.
    pub(crate) fn flush_notes(&mut self) -> io::Result<()> {
        let result = if self.batch.is_empty() { Ok(()) } else { self.trace.append(&self.batch) };
        self.clear();
        result
    }
}
