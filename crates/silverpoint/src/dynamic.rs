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
//! The arguments must be what the signature of their site says (spec/wire.md, section 10): a reader reports a record that is not, and passes over it.
//! Nothing here allocates or takes a lock.

use std::error::Error;
use std::fmt;
use std::sync::atomic::Ordering;

pub use crate::located::{Located, Place, located};
pub use crate::shapes::Shapes;
pub use crate::span::innermost_stretch;
pub use crate::watch::on_change;
use silverpoint_shm::owner::{self, ALWAYS_FITS, Cause, Owned, Reservation};
pub use silverpoint_shm::owner::{
    Description, Registered, lose_other, lose_without_site, most_verbose, process_id, register, ticks_to_ns,
    would_record,
};
pub use silverpoint_shm::probe::is_privileged;
pub use silverpoint_shm::signal_mask::{with_all_blocked, without_sigpipe};

use crate::item::Item;
use crate::record::{
    FEW, HEADER, TRUNCATED, few_words_at_once, header, span_end, span_end_at_once, span_end_later,
    words_at_once, words_later,
};
use crate::value::Causes;
use crate::writer::{Writer, seldom};

/// Bytes of zeros behind the arguments.
const TAIL: usize = 8;
/// Sizes that are asked for one after the other, where there was no room at once.
const SIZES: [usize; 4] = [ALWAYS_FITS, 4 << 10, 32 << 10, 256 << 10];
/// Bytes of each text that are kept, where no ring can have the record whole.
const LIMITS: [usize; 6] = [usize::MAX, 32 << 10, 4 << 10, 256, 16, 0];

/// Whether a registered site records now. One load.
#[inline(always)]
pub fn is_on(site: &Registered) -> bool {
    site.state.load(Ordering::Relaxed) & 1 != 0
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
/// `fill` may be called several times, with less room or more: its encoding must be the same each time. `level` (0 trace to 5 fatal) decides by the session's
/// policy what happens when the ring is full.
#[inline(always)]
pub fn record<F: FnMut(&mut Encoder<'_>) -> Option<u32>>(level: u8, mut fill: F) -> Recorded {
    match record_at_once(&mut fill) {
        Ok(recorded) => recorded,
        Err(later) => later.record(level, &mut fill),
    }
}

/// As [`record`], where that takes a few instructions: always but now and then. Otherwise [`Later::record`] goes on with what this gives, in a function of its
/// own: so nothing that only that needs is made ready here.
#[inline(always)]
pub fn record_at_once(fill: impl FnOnce(&mut Encoder<'_>) -> Option<u32>) -> Result<Recorded, Later> {
    let room = owner::reserve_rest(HEADER + TAIL).map_err(Later)?;
    match write(&room, usize::MAX, fill) {
        Written::Whole(size) => {
            let ticks = room.ticks();
            // SAFETY: `size` bytes, a multiple of 8 and no more than there is room, were written as one record.
            unsafe { room.commit_ahead(size) };
            Ok(Recorded::At { ticks })
        }
        Written::Nothing => Ok(Recorded::GivenUp),
        Written::TooLittleRoom => {
            seldom();
            Err(Later(room.keep()))
        }
    }
}

/// A record that needs more than a few instructions: of a thread that has no ring yet, or at a ring's quarter. Until it is made, the thread's other records go
/// into further rings.
#[must_use = "the thread's ring is kept for this record: `later.record(…)`"]
pub struct Later(Owned);

impl Later {
    /// Makes it, as [`record`] would.
    #[cold]
    pub fn record(self, level: u8, fill: &mut dyn FnMut(&mut Encoder<'_>) -> Option<u32>) -> Recorded {
        slowly(level, self.0, fill)
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

enum Written {
    Whole(usize),
    Nothing,
    TooLittleRoom,
}

/// Writes a record into its room.
#[inline(always)]
fn write(room: &Reservation, limit: usize, fill: impl FnOnce(&mut Encoder<'_>) -> Option<u32>) -> Written {
    let start = room.at();
    // SAFETY: as many bytes at `start` as there is room, at least a header and a tail, are reserved for this record; the writer checks each store against
    // the end, which leaves a tail.
    unsafe {
        let writer = Writer::whole(start.add(HEADER), start.add(room.room() - TAIL), true, false);
        let mut encoder = Encoder { writer, limit, ticks: room.ticks() };
        let Some(id) = fill(&mut encoder) else { return Written::Nothing };
        let writer = encoder.writer;
        if writer.has_overrun() {
            return Written::TooLittleRoom;
        }
        writer.position().cast::<u64>().write_unaligned(0);
        let end = (writer.position() as usize - start as usize).next_multiple_of(8);
        header(start, end, if writer.was_cut() { TRUNCATED } else { 0 }, id, room.ticks());
        Written::Whole(end)
    }
}

#[cold]
#[inline(never)]
fn slowly(level: u8, owned: Owned, fill: &mut dyn FnMut(&mut Encoder<'_>) -> Option<u32>) -> Recorded {
    let mut owned = Some(owned);
    for (number, size) in SIZES.into_iter().enumerate() {
        let room = match owned.take().map_or_else(|| owner::reserve(size), Err) {
            Ok(room) => room,
            Err(owned) => match owner::reserve_slowly(size, level, owned) {
                Some(room) => room,
                None => return Recorded::Lost,
            },
        };
        if room.room() < HEADER + TAIL {
            room.lose(Cause::TooLarge);
            return Recorded::Lost;
        }
        let is_last = room.room() < size || number + 1 == SIZES.len();
        let limits = if is_last { &LIMITS[..] } else { &LIMITS[..1] };
        for limit in limits {
            match write(&room, *limit, &mut *fill) {
                Written::Whole(size) => {
                    let ticks = room.ticks();
                    // SAFETY: as in `record`.
                    unsafe { room.commit(size) };
                    return Recorded::At { ticks };
                }
                Written::Nothing => return Recorded::GivenUp,
                Written::TooLittleRoom => {}
            }
        }
        if is_last {
            room.lose(Cause::TooLarge);
            return Recorded::Lost;
        }
    }
    Recorded::Lost
}

/// As [`record`], where all arguments of the site have 64 bits (codes `l`, `L`, `d` and the like): nothing is checked while they are written, so this costs what a macro does. At most 30 of them. Gives
/// the ticks, 0 when the record was lost.
#[inline(always)]
pub fn record_words<const N: usize>(level: u8, site: u32, arguments: [u64; N]) -> u64 {
    words_at_once(site, arguments).unwrap_or_else(|owned| words_later(owned, level, site, &arguments))
}

/// As [`record_words`], where that takes a few instructions: always but now and then. Otherwise [`Later::record_words`] goes on with what this gives, in a function of its own.
#[inline(always)]
pub fn record_words_at_once<const N: usize>(site: u32, arguments: [u64; N]) -> Result<u64, Later> {
    words_at_once(site, arguments).map_err(Later)
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
pub fn end_span_at_once(site: u32, begun: u64) -> Result<u64, Later> {
    span_end_at_once(site, begun).map_err(Later)
}

/// Encodes arguments into memory of the caller's, to be put into a record later ([`Encoder::raw`]). Gives their bytes, or `None` when there is too little room.
pub fn encode(memory: &mut [u8], fill: impl FnOnce(&mut Encoder<'_>)) -> Option<usize> {
    let range = memory.as_mut_ptr_range();
    // SAFETY: the range is the caller's for as long as this function runs, and stores are checked.
    let writer = unsafe { Writer::whole(range.start, range.end, true, false) };
    let mut encoder = Encoder { writer, limit: usize::MAX, ticks: 0 };
    fill(&mut encoder);
    let used = encoder.writer.position() as usize - range.start as usize;
    (!encoder.writer.has_overrun()).then_some(used)
}

/// Takes the arguments of one record, each with the code of its type in a signature.
pub struct Encoder<'a> {
    writer: Writer<'a>,
    /// Bytes of a text that are kept.
    limit: usize,
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
    /// When the record is made, in the session's ticks; 0 in [`encode`].
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
        self.writer.limited(text.as_bytes(), self.limit, true);
    }

    /// Code `y`. Cut where no record holds it.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.writer.limited(bytes, self.limit, false);
    }

    /// Code `s`: formatted straight into the record.
    pub fn formatted(&mut self, text: fmt::Arguments<'_>) {
        self.writer.formatted_once(text, self.limit);
    }

    /// Code `[s`: what an error says, then its causes, the nearest first.
    pub fn error(&mut self, error: &(dyn Error + '_)) {
        let causes = Causes(error);
        let mut count = 0;
        causes.each(|_| count += 1);
        self.writer.length(count);
        let limit = self.limit;
        causes.each(|error| self.writer.formatted_once(format_args!("{error}"), limit));
    }

    /// Code `v`: a value that carries its types itself.
    pub fn item(&mut self, fill: &dyn Fn(&mut Item<'_>)) {
        self.writer.item_once(self.limit, fill);
    }

    /// Bytes that [`encode`] made.
    #[inline(always)]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.writer.raw(bytes);
    }
}
