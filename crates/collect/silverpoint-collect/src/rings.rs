//! The table of a session's rings: where they are, what is known of each, and the look at all of them.

use std::collections::HashMap;
use std::ops::{Index, IndexMut};

use silverpoint_shm::observer::{Counters, MAX_RINGS, ObserveError, ObservedSession, Slice};
use silverpoint_wire::block::StreamInfo;
use silverpoint_wire::slice::RingHeader;

use crate::ring::{RingState, Sweep};

/// All rings of one session, by their place in its ring file.
#[derive(Debug, Default)]
pub(crate) struct Rings {
    /// Ascending.
    slices: Vec<Slice>,
    /// One a slice.
    states: Vec<RingState>,
    /// Which slice each stream is in, by its offset.
    owners: HashMap<u32, u64>,
    /// Counters at which the slices were listed: (streams_next, slabs_next).
    listed: Option<(u32, u32)>,
    /// A ring that its thread has left has nothing any more: another thread, which waits, may take it.
    pub(crate) has_emptied: bool,
    /// The look at all rings that is under way.
    pub(crate) sweep: Sweep,
}

/// What [`Rings::list`] has done.
pub(crate) enum Listing {
    /// No slice was claimed since.
    Unchanged,
    /// The slices were listed again, and every ring must be looked at. What is wrong with them, if anything is.
    Anew(Option<String>),
}

impl Rings {
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn slices(&self) -> &[Slice] {
        &self.slices
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &RingState> {
        self.states.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut RingState> {
        self.states.iter_mut()
    }

    /// The ring at an offset of the ring file.
    pub(crate) fn at(&self, offset: u64) -> Option<usize> {
        self.slices.binary_search_by_key(&offset, |slice| slice.at).ok()
    }

    /// Lists the slices again when more were claimed.
    pub(crate) fn list(
        &mut self,
        observed: &ObservedSession,
        counters: &Counters,
    ) -> Result<Listing, ObserveError> {
        let now = (counters.streams_next, counters.slabs_next);
        if self.listed == Some(now) {
            return Ok(Listing::Unchanged);
        }
        let mut slices = Vec::new();
        let mut fault = None;
        observed.slices(counters.slabs_next, &mut slices, |found| {
            fault.get_or_insert(found);
        })?;
        let fault = match fault {
            Some(fault) => Some(fault.to_string()),
            None if slices.len() == MAX_RINGS => {
                Some(format!("it has more than {MAX_RINGS} rings; those beyond are not read"))
            }
            None => None,
        };
        // Both lists ascend: what was known keeps its place.
        let mut states = Vec::with_capacity(slices.len());
        let mut known = self.slices.iter().zip(std::mem::take(&mut self.states)).peekable();
        for slice in &slices {
            while known.next_if(|(before, _)| before.at < slice.at).is_some() {}
            states.push(
                known
                    .next_if(|(before, _)| **before == *slice)
                    .map_or_else(RingState::default, |(_, state)| state),
            );
        }
        drop(known);
        (self.slices, self.states, self.listed) = (slices, states, Some(now));
        Ok(Listing::Anew(fault))
    }

    /// Notes which stream a ring's header names. Gives what was known of the ring when another stream was in
    /// it: the ring starts again.
    ///
    /// # Errors
    /// The ring contradicts itself or another one.
    pub(crate) fn begin_stream(
        &mut self,
        ring: usize,
        header: &RingHeader,
    ) -> Result<Option<RingState>, String> {
        let at = self.slices[ring].at;
        let (before, now) = (self.states[ring].stream.stream, header.stream);
        let mut gone = None;
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
            gone = Some(std::mem::take(&mut self.states[ring]));
        }
        self.states[ring].stream = StreamInfo {
            stream: header.stream,
            tid: header.owner_tid,
            lane: header.lane,
            copy: header.copy,
            previous: header.previous,
            claimed_ticks: header.claimed_ticks,
            base: header.base,
            name: header.name,
        };
        Ok(gone)
    }

    /// Whether a stream may be in a ring that was not looked at since it began there.
    pub(crate) fn is_unseen(&self, stream: u32) -> bool {
        stream != 0 && !self.owners.contains_key(&stream)
    }

    /// The ring that a stream is in, unless nothing can come from it any more.
    pub(crate) fn unfinished_ring_of(&self, stream: u32) -> Option<usize> {
        let ring = self.at(*self.owners.get(&stream)?)?;
        (!self.states[ring].is_quiet).then_some(ring)
    }
}

impl Index<usize> for Rings {
    type Output = RingState;

    fn index(&self, ring: usize) -> &RingState {
        &self.states[ring]
    }
}

impl IndexMut<usize> for Rings {
    fn index_mut(&mut self, ring: usize) -> &mut RingState {
        &mut self.states[ring]
    }
}
