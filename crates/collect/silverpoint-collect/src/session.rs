//! One session in the hands of a collector, and what concerns several of its parts.
//!
//! ```text
//!  Session ─┬─ ObservedSession   the files, as an observer of the program sees them
//!           ├─ Rings             the table of its rings
//!           ├─ Keep              what is kept back, if anything is
//!           ├─ Declared          what the trace file has of it beside records
//!           ├─ Prepared          ring memory that is made ahead
//!           └─ Unused            ring memory that is given back
//! ```

use silverpoint_shm::observer::{Counters, Intent, ObserveError, ObservedSession, SavedMode, SessionName};
use silverpoint_wire::slice::RingHeader;

use crate::config::Encoding;
use crate::declared::{Declared, Report, greatest};
use crate::give_back::Unused;
use crate::keep::kept::Keep;
use crate::prepare::Prepared;
use crate::rings::{Listing, Rings};
use crate::sink::Sink;

/// A session that this collector has.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) observed: ObservedSession,
    pub(crate) rings: Rings,
    /// For a collector that keeps back.
    pub(crate) keep: Option<Keep>,
    pub(crate) declared: Declared,
    /// Ring memory that is made ahead.
    pub(crate) prepared: Prepared,
    /// Rings whose memory is to be given back.
    pub(crate) unused: Unused,
    /// Which root it is in.
    pub(crate) root: usize,
    /// Its number in the file.
    pub(crate) number: u32,
    /// As they were at the last look.
    pub(crate) counters: Counters,
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
    /// The mode to restore, of one that is attached.
    pub(crate) saved: Option<SavedMode>,
    pub(crate) is_sleeping: bool,
    heartbeat: u64,
    intent_sequence: u64,
    pub(crate) records: u64,
    pub(crate) overwritten_bytes: u64,
    pub(crate) broken_bytes: u64,
    pub(crate) broken_rings: Vec<String>,
    /// A fault of the slabs was reported.
    has_reported_slabs: bool,
    /// Faults of sites that were reported.
    pub(crate) reported_sites: u32,
}

impl Session {
    pub(crate) fn new(
        observed: ObservedSession,
        root: usize,
        number: u32,
        encoding: Encoding,
    ) -> Result<Self, ObserveError> {
        let declared = Declared::nothing(&observed, number, encoding)?;
        let counters = observed.counters()?;
        Ok(Self {
            rings: Rings::default(),
            keep: None,
            declared,
            prepared: Prepared::default(),
            unused: Unused::default(),
            root,
            number,
            counters,
            keeps: false,
            onlooked_since: None,
            is_taken: false,
            is_idle: false,
            is_dead: false,
            saved: None,
            is_sleeping: counters.collector_sleeping != 0,
            heartbeat: counters.heartbeat,
            intent_sequence: 0,
            records: 0,
            overwritten_bytes: 0,
            broken_bytes: 0,
            broken_rings: Vec::new(),
            has_reported_slabs: false,
            reported_sites: 0,
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
            self.rings.sweep.all_wanted = true;
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

    /// Lists the rings again when more were claimed. True when it did: then every ring must be looked at.
    pub(crate) fn list(&mut self, sink: &mut Sink) -> Result<bool, ObserveError> {
        let fault = match self.rings.list(&self.observed, &self.counters)? {
            Listing::Unchanged => return Ok(false),
            Listing::Anew(fault) => fault,
        };
        if let Some(fault) = fault.filter(|_| !std::mem::replace(&mut self.has_reported_slabs, true)) {
            sink.note(self.who(), 0, &fault);
        }
        Ok(true)
    }

    /// See [`Declared::declare`].
    pub(crate) fn declare(&mut self, sink: &mut Sink) -> Result<(), ObserveError> {
        self.declared.declare(&self.observed, &mut self.rings, sink)
    }

    /// See [`Declared::declare_streams`].
    pub(crate) fn declare_streams<'a>(&mut self, sink: &mut Sink, rings: impl Iterator<Item = &'a usize>) {
        self.declared.declare_streams(&mut self.rings, &mut sink.batch, rings);
    }

    /// See [`Declared::push_losses`].
    pub(crate) fn push_losses(&mut self, sink: &mut Sink, now: bool) -> Result<(), ObserveError> {
        let report = Report { now, is_released: !self.keeps };
        self.declared.push_losses(&self.observed, &self.counters, &mut self.rings, sink, report)
    }

    /// See [`Declared::push_end`].
    pub(crate) fn push_end(&mut self, sink: &mut Sink) -> Result<(), ObserveError> {
        self.declared.push_end(&self.observed, &self.counters, &mut self.rings, sink, !self.keeps)
    }

    /// What is known of a ring; it starts again when another stream is in it. Gives the error when that
    /// cannot be.
    pub(crate) fn note_header(&mut self, ring: usize, header: &RingHeader) -> Result<(), String> {
        let gone = self.rings.begin_stream(ring, header)?;
        let is_new = gone.is_some();
        if let Some(gone) = &gone {
            self.declared.is_gone(gone);
        }
        if let (Some(mut gone), Some(keep)) = (gone, &mut self.keep) {
            let size = self.rings.slices()[ring].size;
            keep.is_gone(&mut gone.kept, size.into(), gone.stream, gone.stored);
        }
        let state = &mut self.rings[ring];
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
        state.seen_stalls = (header.stalls, header.stall_ns);
        if let Some(keep) = self.keep.as_ref().filter(|_| is_new) {
            keep.recall(&mut state.kept, header, state.stored);
        }
        Ok(())
    }

    /// After a write that failed: the batch is not stored, and `consumed` in each ring is right. Losses that
    /// the batch reported are reported again.
    pub(crate) fn forget_batch(&mut self) {
        for ring in self.rings.iter_mut() {
            ring.stored = 0;
        }
        self.declared.report_losses_again(&mut self.rings);
        if let Some(keep) = &mut self.keep {
            keep.look_through_again(self.rings.iter_mut().map(|ring| &mut ring.kept));
        }
    }
}
