//! Records whose sites and types are known only when the program runs: what adapters of other facades (`tracing`, `log`, ATrace) are made of. Programs use the
//! macros, which know everything when they are compiled and cost less.
//!
//! ```
//! use silverpoint::dynamic::{self, Description, Recorded};
//!
//! let site = dynamic::register(&Description {
//!     kind: 2, // an event
//!     level: 2,
//!     line: 0,
//!     language: 2,
//!     category: "plugin",
//!     file: "",
//!     function: "",
//!     names: &|give| give(b"id\nname\n"),
//!     template: &|give| give(b"loaded"),
//!     signature: &|give| give(b"Ls"),
//! });
//! if dynamic::is_on(&site) {
//!     let made = dynamic::record(2, |encoder| {
//!         encoder.u64(7);
//!         encoder.text("codec");
//!         Some(site.id)
//!     });
//!     assert!(matches!(made, Recorded::At { .. }));
//! }
//! ```
//!
//! The arguments must match the signature of their site (spec/wire.md, section 10): a reader reports a record
//! that does not, and skips it. Nothing here allocates or takes a lock.

use std::error::Error;
use std::fmt;
use std::sync::atomic::Ordering;

pub use crate::atrace_call::AtraceCall;
pub use crate::few::{FewWords, PLACES, Places};
pub use crate::located::{Located, Place, located, record_elsewhere};
pub use crate::platform::lasting::Lasting;
use crate::platform::owner::{self, ALWAYS_FITS, Cause, Owned, Reservation};
pub use crate::platform::owner::{
    Description, Here, Pieces, Registered, feeds_tracer, lose_other, lose_without_site, most_verbose,
    process_id, register, register_question, register_variety, ticks_to_ns, would_record,
};
pub use crate::platform::probe::is_privileged;
pub use crate::platform::signal_mask::{with_all_blocked, without_sigpipe};
pub use crate::published::{PerProcess, Published, lose_nested, prepare};
pub use crate::replay::{Marks, Named};
pub use crate::shapes::{SHAPES, Shapes};
pub use crate::span::innermost_stretch;
pub use crate::span_step::SpanStep;
pub use crate::text_alone::TextAlone;
pub use crate::wanted::{Given, Wanted, give_end, give_short, tracer_wants, wanted};
pub use crate::watch::on_change;
pub use silverpoint_wire::bytes::floor_char_boundary;

use crate::header::{HEADER, Made, TRUNCATED, header};
use crate::item::Item;
use crate::scratch::{Scratch, Unfinished};
use crate::value::{Causes, Trace as _};
use crate::words::{
    FEW, few_words_at_once, span_end, span_end_at_once, span_end_later, words_at_once, words_later,
};
use crate::writer::{Long, Writer};

/// Bytes of zeros behind the arguments.
const TAIL: usize = 8;
/// Bytes that are left for arguments which cannot be cut, after a text that uses all the room.
const LEAST: usize = 4096;

/// Whether a registered site records now. One load.
#[inline(always)]
pub fn is_on(site: &Registered) -> bool {
    site.state.load(Ordering::Relaxed) & 1 != 0
}

/// Whether the program is built with USDT probes (feature `usdt`). Then a tracer may attach at any time, which nobody
/// reports: who caches what is off must ask [`is_usdt_attached`] at each message.
pub const HAS_USDT: bool = cfg!(usdt);

/// Whether a tracer is attached to any USDT probe of the program. One load; always false without the feature `usdt`.
#[inline(always)]
pub fn is_usdt_attached() -> bool {
    #[cfg(usdt)]
    let is_attached = crate::usdt::is_attached();
    #[cfg(not(usdt))]
    let is_attached = false;
    is_attached
}

/// Hits the USDT probe `silverpoint:message` (spec/usdt.md): for messages whose places have no probe of their own.
/// `write` makes the text; what it fails to write is left out. Does nothing without the feature `usdt`.
#[inline]
pub fn hit_usdt_message(place: &Place<'_>, write: &dyn Fn(&mut dyn fmt::Write) -> fmt::Result) {
    #[cfg(usdt)]
    crate::usdt::hit_message(place.level, place.target, (place.file, place.line), write);
    #[cfg(not(usdt))]
    let _ = (place, write);
}

/// Hits a USDT probe of spans of other facades (spec/usdt.md, Spans of tracing). As [`hit_usdt_message`].
#[inline]
pub fn hit_usdt_span(
    step: SpanStep,
    id: u64,
    place: &Place<'_>,
    write: &dyn Fn(&mut dyn fmt::Write) -> fmt::Result,
) {
    #[cfg(usdt)]
    crate::usdt::hit_span(step, id, (place.level, place.target), (place.file, place.line), write);
    #[cfg(not(usdt))]
    let _ = (step, id, place, write);
}

/// Hits the USDT probe of a call of ATrace (spec/usdt.md, ATrace). As [`hit_usdt_message`].
#[inline]
pub fn hit_usdt_atrace(call: AtraceCall, tag: u64, name: &str, number: i64, track: &str) {
    #[cfg(usdt)]
    crate::usdt::hit_atrace(call, tag, name, number, track);
    #[cfg(not(usdt))]
    let _ = (call, tag, name, number, track);
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is in the ring.
    At {
        /// When, in the session's ticks.
        ticks: u64,
    },
    /// `fill` gave no id: nothing was recorded.
    GivenUp,
    /// It was lost, and is counted.
    Lost,
}

/// Records: `fill` encodes the arguments and gives the id of their site; `None` gives the record up, and leaves nothing.
///
/// `fill` runs exactly once, before there is room for the record: it may record something itself, unwind (the
/// record is counted as lost) or fork. `level` (0 trace to 5 fatal) decides by the session's policy what
/// happens when the ring is full.
#[inline]
pub fn record(level: u8, fill: impl FnOnce(&mut Encoder<'_>) -> Option<u32>) -> Recorded {
    let mut arguments = Arguments::new();
    match arguments.encode(fill) {
        Some(site) => arguments.record(level, site),
        None => Recorded::GivenUp,
    }
}

/// The arguments of one record, put together before their site is known.
pub struct Arguments {
    scratch: Scratch,
    len: usize,
    is_cut: bool,
    is_lost: bool,
}

impl Arguments {
    /// None yet.
    #[allow(clippy::new_without_default)]
    #[inline(always)]
    pub fn new() -> Self {
        Self { scratch: Scratch::new(), len: 0, is_cut: false, is_lost: false }
    }

    /// Where they are put together.
    pub(crate) fn scratch(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    /// The only one of them is a text, which was put there.
    pub(crate) fn end_text(&mut self, text: &Long) {
        let writer = Writer::behind(&mut self.scratch, LEAST, text);
        (self.is_cut, self.is_lost) = (writer.was_cut(), writer.has_overrun());
        self.len = writer.position() as usize - self.scratch.start() as usize;
    }

    /// Encodes all of them. Where `fill` unwinds, a record is counted as lost.
    #[inline(always)]
    pub fn encode<R>(&mut self, fill: impl FnOnce(&mut Encoder<'_>) -> R) -> R {
        let unfinished = Unfinished;
        let result = self.encode_aside(fill);
        unfinished.finish();
        result
    }

    /// As [`Arguments::encode`], of what belongs to a record and is none: where `fill` unwinds, nothing is counted.
    #[inline(always)]
    pub fn encode_aside<R>(&mut self, fill: impl FnOnce(&mut Encoder<'_>) -> R) -> R {
        self.encode_timed(0, fill)
    }

    /// As [`Arguments::encode`], where the encoder says that it is `ticks`.
    pub(crate) fn encode_at<R>(&mut self, ticks: u64, fill: impl FnOnce(&mut Encoder<'_>) -> R) -> R {
        let unfinished = Unfinished;
        let result = self.encode_timed(ticks, fill);
        unfinished.finish();
        result
    }

    #[inline(always)]
    fn encode_timed<R>(&mut self, ticks: u64, fill: impl FnOnce(&mut Encoder<'_>) -> R) -> R {
        let mut encoder = Encoder { writer: Writer::into_scratch(&mut self.scratch, LEAST), ticks };
        let result = fill(&mut encoder);
        let writer = encoder.writer;
        (self.is_cut, self.is_lost) = (writer.was_cut(), writer.has_overrun());
        self.len = writer.position() as usize - self.scratch.start() as usize;
        result
    }

    /// Their bytes; `None` where a record cannot have them.
    #[inline]
    pub fn bytes(&mut self) -> Option<&[u8]> {
        // SAFETY: so many were written.
        (!self.is_lost).then(|| unsafe { self.scratch.bytes(self.len) })
    }

    /// The same behind a number, where there is one.
    pub(crate) fn bytes_behind(&mut self, before: Option<u64>) -> Option<&[u8]> {
        // SAFETY: so many were written.
        (!self.is_lost).then(|| unsafe { self.scratch.bytes_behind(before, self.len) })
    }

    /// Whether a value of them is cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Records them.
    #[inline(always)]
    pub fn record(&mut self, level: u8, site: u32) -> Recorded {
        self.put(level, site, None)
    }

    /// Records them behind another one, a number of 64 bits.
    pub fn record_behind(&mut self, level: u8, site: u32, number: u64) -> Recorded {
        self.put(level, site, Some(number))
    }

    #[inline(always)]
    fn put(&mut self, level: u8, site: u32, before: Option<u64>) -> Recorded {
        if self.is_lost {
            owner::lose(Cause::TooLarge);
            return Recorded::Lost;
        }
        // SAFETY: so many bytes were written. That they are the site's arguments readers check.
        match unsafe { self.scratch.record(level, site, before, self.len, self.is_cut) } {
            Made { ticks: 0, .. } => Recorded::Lost,
            Made { ticks, .. } => Recorded::At { ticks },
        }
    }
}

/// As [`record`], of arguments that have no more than [`SHORT`] bytes: they go straight into the ring, and `fill` runs nothing of the program's. A record with more is lost.
pub fn record_short(level: u8, site: u32, mut fill: impl FnMut(&mut Encoder<'_>)) -> Recorded {
    match record_short_at_once(site, &mut fill) {
        Ok(recorded) => recorded,
        Err(later) => later.record_short(level, site, &mut fill),
    }
}

/// As [`record_short`], where that takes a few instructions: always but now and then. Otherwise [`Later::record_short`] goes on with what this gives, in a function of its
/// own: so nothing that only that needs is made ready here.
#[inline(always)]
pub fn record_short_at_once(site: u32, fill: impl FnOnce(&mut Encoder<'_>)) -> Result<Recorded, Later> {
    let room = owner::reserve_rest(ALWAYS_FITS).map_err(Later)?;
    Ok(write(room, site, fill))
}

/// Bytes of the arguments of a short record.
pub const SHORT: usize = ALWAYS_FITS - HEADER - TAIL;

/// A record that needs more than a few instructions: of a thread that has no ring yet, or at a ring's quarter. Until it is made, the thread's other records go
/// into further rings.
#[must_use = "the thread's ring is kept for this record: `later.record(…)`"]
pub struct Later(Owned);

impl Later {
    pub(crate) fn new(owned: Owned) -> Self {
        Self(owned)
    }

    /// Makes none.
    #[cold]
    pub fn give_up(self) {
        self.0.give_up();
    }

    /// Makes it, as [`record_short`] would.
    #[cold]
    pub fn record_short(self, level: u8, site: u32, fill: &mut dyn FnMut(&mut Encoder<'_>)) -> Recorded {
        match owner::reserve_slowly(ALWAYS_FITS, level, self.0) {
            Some(room) => write(room, site, fill),
            None => Recorded::Lost,
        }
    }

    /// Makes it, as [`record_words`] would.
    #[cold]
    pub fn record_words(self, level: u8, site: u32, arguments: &[u64]) -> u64 {
        words_later(self.0, level, site, arguments)
    }

    /// Makes it, as [`end_span`] would.
    #[cold]
    pub fn end_span(self, level: u8, site: u32, begun: u64) -> u64 {
        span_end_later(self.0, level, site, begun)
    }
}

/// Writes a short record into its room.
#[inline(always)]
fn write(room: Reservation, site: u32, fill: impl FnOnce(&mut Encoder<'_>)) -> Recorded {
    let (start, ticks) = (room.at(), room.ticks());
    // SAFETY: as many bytes at `start` as there is room, at least a header and a tail, are reserved for this
    // record. The writer checks each store against the end, which leaves a tail.
    unsafe {
        let writer = Writer::whole(start.add(HEADER), start.add(room.room() - TAIL), true, false);
        let mut encoder = Encoder { writer, ticks };
        fill(&mut encoder);
        let writer = encoder.writer;
        if writer.has_overrun() {
            room.lose(Cause::TooLarge);
            return Recorded::Lost;
        }
        writer.position().cast::<u64>().write_unaligned(0);
        let end = (writer.position() as usize - start as usize).next_multiple_of(8);
        header(start, end, if writer.was_cut() { TRUNCATED } else { 0 }, site, ticks);
        room.commit_ahead(end);
    }
    Recorded::At { ticks }
}

/// As [`record`], where all arguments of the site have 64 bits (codes `l`, `L`, `d` and the like). Nothing is
/// checked while they are written, so this costs what a macro does. At most 30 of them. Gives the ticks, 0
/// when the record was lost.
#[inline(always)]
pub fn record_words<const N: usize>(level: u8, site: u32, arguments: [u64; N]) -> u64 {
    words_at_once(Here::find(), site, arguments)
        .unwrap_or_else(|owned| words_later(owned, level, site, &arguments))
}

/// As [`record_words`], where that takes a few instructions: always but now and then. Otherwise [`Later::record_words`] goes on with what this gives, in a function of its own.
#[inline(always)]
pub fn record_words_at_once<const N: usize>(
    here: Here,
    site: u32,
    arguments: [u64; N],
) -> Result<u64, Later> {
    words_at_once(here, site, arguments).map_err(Later)
}

/// Arguments of [`record_few_at_once`], at most.
pub const FEW_WORDS: usize = FEW;

/// As [`record_words_at_once`], of the first `count` arguments: a number that is known only when the program runs, which costs nothing more.
#[inline(always)]
pub fn record_few_at_once(site: u32, arguments: &[u64; FEW_WORDS], count: usize) -> Result<u64, Later> {
    few_words_at_once(site, arguments, count).map_err(Later)
}

/// Records the end of the calling thread's span that began with the record of `site` at `begun`. Gives the ticks of the end, 0 when it was lost.
pub fn end_span(level: u8, site: u32, begun: u64) -> u64 {
    span_end(level, site, begun)
}

/// As [`end_span`], where that takes a few instructions. Otherwise [`Later::end_span`] goes on with what this gives.
#[inline(always)]
pub fn end_span_at_once(here: Here, site: u32, begun: u64) -> Result<u64, Later> {
    span_end_at_once(here, site, begun).map_err(Later)
}

/// Takes the arguments of one record, each with the code of its type in a signature.
pub struct Encoder<'a> {
    writer: Writer<'a>,
    ticks: u64,
}

macro_rules! numbers {
    ($($name:ident $code:literal)*) => {$(
        #[doc = concat!("Code `", $code, "`.")]
        #[inline(always)]
        pub fn $name(&mut self, value: $name) {
            self.writer.bytes(value.to_le_bytes());
        }
    )*};
}

impl Encoder<'_> {
    /// When a short record is made, in the session's ticks; 0 of others, which are made when their arguments are known.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    numbers! { i32 "i" u32 "I" i64 "l" u64 "L" i128 "o" u128 "O" f32 "f" f64 "d" }

    /// Code `b`.
    #[inline(always)]
    pub fn bool(&mut self, value: bool) {
        self.writer.bytes([u8::from(value)]);
    }

    /// Code `W`.
    pub fn char(&mut self, value: char) {
        self.writer.bytes(u32::from(value).to_le_bytes());
    }

    /// Code `s`. Cut where no record holds it.
    #[inline(always)]
    pub fn text(&mut self, text: &str) {
        self.writer.text_once(text.as_bytes(), true);
    }

    /// Code `y`. Cut where no record holds it.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.writer.text_once(bytes, false);
    }

    /// Code `s`: formatted once. Cut where no record holds it.
    #[inline(always)]
    pub fn formatted(&mut self, text: fmt::Arguments<'_>) {
        self.writer.formatted(text);
    }

    /// Code `[s`: what an error says, then its causes, the nearest first.
    pub fn error(&mut self, error: &(dyn Error + '_)) {
        Causes(error).trace_write(&mut self.writer);
    }

    /// Code `v`: a value that carries its types itself.
    pub fn item(&mut self, fill: &dyn Fn(&mut Item<'_>)) {
        self.writer.item(fill);
    }

    /// Bytes of other arguments: [`Arguments::bytes`].
    #[inline(always)]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.writer.raw(bytes);
    }
}
