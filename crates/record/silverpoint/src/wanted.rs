//! Who wants what is recorded at a dynamic site: the ring, a system tracer, both or none (spec/wire.md, section 3.7).

use std::sync::atomic::Ordering;

use crate::platform::owner::{self, Event, Registered};
use silverpoint_wire::layout::state;

use crate::dynamic::{Arguments, Encoder, Recorded};
use crate::words::span_end;

/// Who may want the records of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted(u8);

impl Wanted {
    /// Of the ring, and of a system tracer.
    #[inline]
    pub const fn by(ring: bool, tracer: bool) -> Self {
        Self(if ring { state::RING } else { 0 } | if tracer { state::PROBED } else { 0 })
    }

    /// Nobody wants them.
    #[inline(always)]
    pub const fn by_nobody(self) -> bool {
        self.0 & (state::RING | state::PROBED) == 0
    }

    /// The ring wants them, and no tracer is asked for: as in nearly all programs.
    #[inline(always)]
    pub const fn by_ring_alone(self) -> bool {
        self.0 == state::RING
    }

    /// The same of one site among several. The ring alone wants what the one tracer that is asked for does not: neither the site's event
    /// nor that of its end. A span that begins so has none of these events.
    #[inline(always)]
    pub fn of_site(self, site: u32) -> Self {
        if self.by_ring_alone() { self } else { self.of_site_beside(site) }
    }

    #[cold]
    #[inline(never)]
    fn of_site_beside(self, site: u32) -> Self {
        if self.by_ring() && owner::is_unwanted(site) { Self::by(true, false) } else { self }
    }

    /// The ring wants them.
    #[inline(always)]
    pub const fn by_ring(self) -> bool {
        self.0 & state::RING != 0
    }

    /// A tracer is asked for, which may want them ([`tracer_wants`]).
    #[inline(always)]
    pub const fn by_tracer(self) -> bool {
        self.0 & state::PROBED != 0
    }
}

/// Who may want the records of a registered site now. One load.
#[inline(always)]
pub fn wanted(site: &Registered) -> Wanted {
    Wanted(site.state.load(Ordering::Relaxed))
}

/// Whether a system tracer wants the event of a site now, or that of its end. The first call for a new site
/// gives false: its event is made meanwhile.
#[cold]
pub fn tracer_wants(site: u32) -> bool {
    owner::traced(site).is_wanted()
}

/// What became of a record that a tracer might want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// When, in the session's ticks; never 0 while there is a session.
    pub ticks: u64,
    /// It is in the ring.
    pub is_recorded: bool,
}

impl Arguments {
    /// Gives them to a system tracer that wants the event of `site`. Then it records them, if the ring wants
    /// them. `before` is another argument in front of them, a number of 64 bits.
    #[cold]
    #[inline(never)]
    pub fn give(&mut self, level: u8, site: u32, before: Option<u64>, wanted: Wanted) -> Given {
        let begun = owner::now();
        let event = wanted.by_tracer().then(|| owner::traced(site).event).flatten();
        if let Some(event) = event.filter(|event| event.is_wanted()) {
            // Before the record, which may have to wait for room.
            let is_cut = self.is_cut();
            if let Some(bytes) = self.bytes_behind(before) {
                event.write(bytes, is_cut, Self::give as *const ());
            }
        }
        let recorded = match before {
            _ if !wanted.by_ring() => None,
            Some(number) => Some(self.record_behind(level, site, number)),
            None => Some(self.record(level, site)),
        };
        let given = match recorded {
            Some(Recorded::At { ticks }) => Given { ticks, is_recorded: true },
            _ => Given { ticks: begun, is_recorded: false },
        };
        if let Some(event) = event {
            event.begun(given.ticks);
        }
        given
    }
}

/// As [`dynamic::record_short`](crate::dynamic::record_short), of what a tracer might want.
#[cold]
#[inline(never)]
pub fn give_short(level: u8, site: u32, wanted: Wanted, fill: &mut dyn FnMut(&mut Encoder<'_>)) -> Given {
    let mut arguments = Arguments::new();
    arguments.encode_at(owner::now(), fill);
    arguments.give(level, site, None, wanted)
}

/// The end of the calling thread's span that began with [`Arguments::give`] or [`give_short`] at `begun`.
/// A tracer gets its duration. Gives the ticks of the end.
#[cold]
#[inline(never)]
pub fn give_end(level: u8, site: u32, begun: u64, wanted: Wanted) -> u64 {
    let now = owner::now();
    if wanted.by_tracer() {
        if let Some(event) = owner::traced(site).event.map(Event::end).filter(|end| end.is_wanted()) {
            let duration = owner::ticks_to_ns(now.saturating_sub(begun));
            event.write_end(duration, begun, give_end as *const ());
        }
    }
    if !wanted.by_ring() {
        return now;
    }
    match span_end(level, site, begun) {
        0 => now,
        ended => ended,
    }
}
