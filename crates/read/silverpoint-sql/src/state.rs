//! What all tables of a database share: the trace, and the notes of reading it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use silverpoint_trace::{Events, Note, Trace, Verdict};

/// See the module.
pub(crate) struct State {
    pub(crate) trace: Trace,
    /// By session, then by place of the stream: the offset that turns a place in its ring into a unique
    /// number.
    bases: Vec<Vec<u64>>,
    told: Mutex<Told>,
    blocks_read: AtomicU64,
}

/// The notes of the scan that found most.
#[derive(Default)]
struct Told {
    notes: Vec<Note>,
    verdict: Option<Verdict>,
}

/// Records begin at multiples of this.
const ALIGNMENT: u64 = 8;

impl State {
    pub(crate) fn new(trace: Trace) -> Self {
        let mut base = 1u64;
        let bases = trace.sessions.iter().map(|session| {
            let bases = session.streams.iter().map(|stream| {
                let (begin, end) = stream.extent();
                let here = base.wrapping_sub(begin / ALIGNMENT);
                base = base.wrapping_add(end.saturating_sub(begin) / ALIGNMENT + 1);
                here
            });
            bases.collect()
        });
        let bases = bases.collect();
        Self { trace, bases, told: Mutex::default(), blocks_read: AtomicU64::new(0) }
    }

    /// The number of the record at which events stand: the same in every scan, positive, and of no other record.
    pub(crate) fn id(&self, events: &Events<'_>) -> i64 {
        let Some((session, stream, position)) = events.position() else { return 0 };
        let base = self.bases.get(session).and_then(|bases| bases.get(stream)).copied().unwrap_or(0);
        (base.wrapping_add(position / ALIGNMENT) & i64::MAX as u64) as i64
    }

    /// Takes up what a scan has found, when it ends or is given up.
    pub(crate) fn scanned(&self, events: &Events<'_>) {
        self.blocks_read.fetch_add(events.blocks_read(), Ordering::Relaxed);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if events.notes().len() > told.notes.len() {
            told.notes = events.notes().to_vec();
        }
        told.verdict = told.verdict.max(Some(events.verdict()));
    }

    /// What is missing, as far as anybody has looked.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        self.trace.notes().iter().chain(&told.notes).cloned().collect()
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.verdict.map_or(self.trace.verdict(), |verdict| verdict.max(self.trace.verdict()))
    }

    /// Blocks of records that all scans have read.
    pub(crate) fn blocks_read(&self) -> u64 {
        self.blocks_read.load(Ordering::Relaxed)
    }
}
