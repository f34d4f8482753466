//! Output to the rings of Silverpoint. Each kind of call and name is a site of the category `atrace::TAG`. So
//! directives, readers and converters treat them as spans, async spans, counters and instants of their own. System
//! tracers get each as an event, too, if the program is asked to feed one.

use std::cell::{Cell, RefCell};

use silverpoint::dynamic::{
    self, Arguments, Description, Encoder, Here, Later, Published, Recorded, Registered, Wanted,
};

use crate::tag::Tag;

/// Level of all records: info. ATrace has no levels, only tags, so that the directive `info` must not leave
/// some of a tag's kinds out.
pub(crate) const LEVEL: u8 = 2;

/// What a site is (spec/wire.md, section 7), and its arguments.
pub(crate) struct Kind {
    number: u8,
    names: &'static str,
    signature: &'static str,
}

pub(crate) static SPAN: Kind = Kind { number: 3, names: "", signature: "" };
pub(crate) static ASYNC_BEGIN: Kind = Kind { number: 6, names: "id\n", signature: "L" };
pub(crate) static TRACK_BEGIN: Kind = Kind { number: 6, names: "id\nname\n", signature: "Ls" };
pub(crate) static ASYNC_END: Kind = Kind { number: 7, names: "id\n", signature: "L" };
pub(crate) static INSTANT: Kind = Kind { number: 5, names: "", signature: "" };
pub(crate) static TRACK_INSTANT: Kind = Kind { number: 5, names: "track\n", signature: "s" };
pub(crate) static COUNTER: Kind = Kind { number: 4, names: "value\n", signature: "l" };

/// What tells names apart: kind, tag and length, and the first and the last bytes. Of names of up to [`SHORT`] bytes that is everything.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    what: u64,
    first: u64,
    last: u64,
}

/// Bytes of a name that a key has whole.
const SHORT: usize = 16;

impl Key {
    #[inline(always)]
    fn new(kind: &Kind, tag: Tag, name: &str) -> Self {
        let bytes = name.as_bytes();
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
        let (first, last) = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => (word(first), word(last)),
            _ => match (bytes.first_chunk(), bytes.last_chunk()) {
                (Some(first), Some(last)) => (half(first), half(last)),
                _ => (0, bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))),
            },
        };
        // Numbers tell kinds apart, but for those of tracks, which have a further text. (Tags have 28 bits, names that are sites 13 of length.)
        let kind = u64::from(kind.number) << 4 | kind.signature.len() as u64;
        Self { what: kind << 48 | tag.bits() << 16 ^ bytes.len() as u64, first, last }
    }

    #[inline(always)]
    fn place(self) -> usize {
        let mixed = (self.first.rotate_left(23) ^ self.last ^ self.what).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (64 - PLACES.trailing_zeros())) as usize
    }
}

/// A name of one kind and tag.
struct Named {
    key: Key,
    name: Box<str>,
    site: Registered,
}

impl Named {
    #[inline(always)]
    fn is(&self, key: Key, name: &str) -> bool {
        self.key == key && (name.len() <= SHORT || *self.name == *name)
    }
}

/// Names that are sites: a power of two. Records of others have their name as an argument.
const PLACES: usize = 1 << 12;
const PROBES: usize = 16;
/// Bytes of a name that a site may have.
const LONGEST: usize = 4096;

static TABLE: [Published<Named>; PLACES] = [const { Published::new() }; PLACES];

fn describe<R>(
    kind: &Kind,
    tag: Tag,
    name: &str,
    more: (&str, &str),
    give: impl FnOnce(&Description<'_>) -> R,
) -> R {
    give(&Description {
        kind: kind.number,
        level: LEVEL,
        line: 0,
        language: 2,
        category: tag.category(),
        file: "",
        function: "",
        names: &|give| [kind.names, more.0].iter().for_each(|part| give(part.as_bytes())),
        template: &|give| give(name.as_bytes()),
        signature: &|give| [kind.signature, more.1].iter().for_each(|part| give(part.as_bytes())),
    })
}

/// The site of a name. `None`: there are too many.
#[inline(always)]
fn named(kind: &Kind, tag: Tag, name: &str) -> Option<Registered> {
    let key = Key::new(kind, tag, name);
    if let Some(known) = TABLE[key.place()].get() {
        if known.is(key, name) {
            return Some(known.site);
        }
    }
    named_elsewhere(kind, tag, name)
}

/// One that is new, or not where it is looked for first. (Its key is made once more: so nobody else has it in memory.)
#[inline(never)]
fn named_elsewhere(kind: &Kind, tag: Tag, name: &str) -> Option<Registered> {
    let key = Key::new(kind, tag, name);
    let mut places = (0..PROBES).map(|probe| &TABLE[(key.place() + probe) % PLACES]);
    let known = places.find_map(|place| match place.get() {
        Some(known) if known.is(key, name) => Some(Ok(known.site)),
        Some(_) => None,
        None => Some(Err(())),
    })?;
    known.ok().or_else(|| new_name(kind, tag, name, key))
}

/// `None`: there are too many names already, or this thread is preparing something. Then the name is an argument.
#[cold]
fn new_name(kind: &Kind, tag: Tag, name: &str, key: Key) -> Option<Registered> {
    let make = || {
        let site = describe(kind, tag, name, ("", ""), dynamic::register_variety);
        (site.id != 0).then(|| Named { key, name: name.into(), site })
    };
    dynamic::prepare(|| {
        for probe in 0..PROBES {
            let known = TABLE[(key.place() + probe) % PLACES].get_or_try(make)?;
            if known.is(key, name) {
                return Some(known.site);
            }
        }
        None
    })
    .flatten()
}

/// Records one call whose arguments beside the name have 64 bits each. Gives site, with [`TRACED`] where a system
/// tracer may have it, and ticks; zeros when nothing was recorded.
#[inline(always)]
pub(crate) fn record_words<const N: usize>(
    kind: &'static Kind,
    tag: Tag,
    name: &str,
    words: [u64; N],
) -> (u32, u64) {
    // What needs calls is elsewhere: so nothing is saved and brought back for them.
    if name.len() > SHORT {
        return words_otherwise(kind, tag, name, words);
    }
    let key = Key::new(kind, tag, name);
    let Some(known) = TABLE[key.place()].get().filter(|known| known.key == key) else {
        return words_otherwise(kind, tag, name, words);
    };
    words_of(known.site, words)
}

/// Of a long name, or one that is not where it is looked for first.
#[inline(never)]
fn words_otherwise<const N: usize>(kind: &'static Kind, tag: Tag, name: &str, words: [u64; N]) -> (u32, u64) {
    let site = if name.len() <= LONGEST { named(kind, tag, name) } else { None };
    match site {
        Some(site) => words_of(site, words),
        None => unnamed(kind, tag, name, &|encoder| words.iter().for_each(|word| encoder.u64(*word))),
    }
}

#[inline(always)]
fn words_of<const N: usize>(site: Registered, words: [u64; N]) -> (u32, u64) {
    if !dynamic::wanted(&site).by_ring_alone() {
        return give_words(site, words);
    }
    words_for_ring(site, words)
}

#[inline(always)]
fn words_for_ring<const N: usize>(site: Registered, words: [u64; N]) -> (u32, u64) {
    if site.id == 0 {
        return without_site();
    }
    match dynamic::record_words_at_once(Here::find(), site.id, words) {
        Ok(ticks) => (site.id, ticks),
        Err(later) => words_later(site.id, later, words),
    }
}

/// (Apart: so the arguments of others are in no memory.)
#[cold]
#[inline(never)]
fn give_words<const N: usize>(site: Registered, words: [u64; N]) -> (u32, u64) {
    if dynamic::wanted(&site).of_site(site.id).by_ring_alone() {
        return words_for_ring(site, words);
    }
    give(site, &|encoder| words.iter().for_each(|word| encoder.u64(*word)))
}

#[cold]
#[inline(never)]
fn words_later<const N: usize>(site: u32, later: Later, words: [u64; N]) -> (u32, u64) {
    match later.record_words(LEVEL, site, &words) {
        0 => (0, 0),
        ticks => (site, ticks),
    }
}

/// There was no room for another site.
#[cold]
#[inline(never)]
fn without_site() -> (u32, u64) {
    dynamic::lose_without_site();
    (0, 0)
}

/// As [`record_words`], of other arguments.
#[inline(always)]
pub(crate) fn record(kind: &Kind, tag: Tag, name: &str, fill: impl Fn(&mut Encoder<'_>)) -> (u32, u64) {
    let site = if name.len() <= LONGEST { named(kind, tag, name) } else { None };
    let Some(site) = site else { return unnamed(kind, tag, name, &fill) };
    if !dynamic::wanted(&site).of_site(site.id).by_ring_alone() {
        return give(site, &fill);
    }
    made(site.id, fill)
}

/// Ends what was begun by [`ASYNC_BEGIN`], whether it would be begun still or not: in the ring only if that has the
/// begin.
pub(crate) fn end_async(tag: Tag, name: &str, id: u64, is_in_ring: bool) {
    let fill = |encoder: &mut Encoder<'_>| encoder.u64(id);
    let site = if name.len() <= LONGEST { named(&ASYNC_END, tag, name) } else { None };
    let made_of = |site: Registered, fill: &dyn Fn(&mut Encoder<'_>)| {
        let wanted = Wanted::by(is_in_ring, dynamic::wanted(&site).by_tracer()).of_site(site.id);
        let _ = if wanted.by_ring_alone() { made(site.id, fill) } else { given(site.id, wanted, fill) };
    };
    match site {
        Some(site) => made_of(site, &fill),
        None => with_name(name, &fill, |fill| made_of(unnamed_site(&ASYNC_END, tag), fill)),
    }
}

/// The site of names that are not remembered.
#[cold]
fn unnamed_site(kind: &Kind, tag: Tag) -> Registered {
    describe(kind, tag, "atrace", ("atrace.name\n", "s"), dynamic::register)
}

/// One whose name is not remembered.
#[cold]
fn unnamed(kind: &Kind, tag: Tag, name: &str, fill: &dyn Fn(&mut Encoder<'_>)) -> (u32, u64) {
    let site = unnamed_site(kind, tag);
    with_name(name, fill, |fill| {
        if dynamic::wanted(&site).by_ring_alone() { made(site.id, fill) } else { give(site, fill) }
    })
}

/// The name is the last argument.
#[cold]
fn with_name<R>(
    name: &str,
    fill: &dyn Fn(&mut Encoder<'_>),
    record: impl FnOnce(&dyn Fn(&mut Encoder<'_>)) -> R,
) -> R {
    record(&|encoder: &mut Encoder<'_>| {
        fill(encoder);
        encoder.text(name);
    })
}

/// As [`made`], where the ring does not want it, or not it alone.
#[cold]
#[inline(never)]
fn give(site: Registered, fill: &dyn Fn(&mut Encoder<'_>)) -> (u32, u64) {
    let wanted = dynamic::wanted(&site);
    if wanted.by_nobody() {
        return (0, 0);
    }
    if site.id == 0 {
        return if wanted.by_ring() { without_site() } else { (0, 0) };
    }
    if !wanted.by_ring() && !dynamic::tracer_wants(site.id) {
        return (0, 0);
    }
    given(site.id, wanted, fill)
}

#[cold]
fn given(id: u32, wanted: Wanted, fill: &dyn Fn(&mut Encoder<'_>)) -> (u32, u64) {
    let mut arguments = Arguments::new();
    arguments.encode(fill);
    let given = arguments.give(LEVEL, id, None, wanted);
    let mark = if given.is_recorded { TRACED } else { TRACED | UNRECORDED };
    (id | mark, given.ticks)
}

#[inline(always)]
fn made(id: u32, fill: impl Fn(&mut Encoder<'_>)) -> (u32, u64) {
    if id == 0 {
        return without_site();
    }
    match dynamic::record(LEVEL, |encoder| {
        fill(encoder);
        Some(id)
    }) {
        Recorded::At { ticks } => (id, ticks),
        _ => (0, 0),
    }
}

/// Begins of one thread that have not ended: site and ticks, zeros of those that are not in the ring.
struct Open {
    depth: Cell<usize>,
    /// The outermost.
    near: [Cell<(u32, u64)>; NEAR],
}

/// Begins that are kept without an allocation.
const NEAR: usize = 32;
/// Begins that one thread may leave open; the ends of further ones are lost, and counted.
const MOST_OPEN: usize = 10_000;

/// In a begin's site: something else is to be done at its end.
const UNUSUAL: u32 = 1 << 31;
/// It was also written to the kernel, so its end must be, too.
const TOLD: u32 = UNUSUAL | 1 << 30;
/// A system tracer may have it; it is not in the ring. (Ids of sites are smaller than these.)
const TRACED: u32 = UNUSUAL | 1 << 29;
const UNRECORDED: u32 = 1 << 28;
const MARKS: u32 = TOLD | TRACED | UNRECORDED;

/// Whether the ring has what was recorded.
pub(crate) fn is_in_ring((site, ticks): (u32, u64)) -> bool {
    ticks != 0 && site & UNRECORDED == 0
}

thread_local! {
    static OPEN: Open = const { Open { depth: Cell::new(0), near: [const { Cell::new((0, 0)) }; NEAR] } };
    /// Those within [`NEAR`] others.
    static FAR: RefCell<Vec<(u32, u64)>> = const { RefCell::new(Vec::new()) };
}

/// Begins a span of the calling thread.
#[inline(always)]
pub(crate) fn begin(tag: Tag, name: &str) {
    open(record_words(&SPAN, tag, name, []));
}

/// Notes a begin that was written to the kernel.
#[inline(always)]
pub(crate) fn open_marked((site, ticks): (u32, u64)) {
    open((site | TOLD, ticks));
}

/// Notes a begin: of a span that is not in the ring, too, so that its end ends nothing else.
#[inline(always)]
fn open(begun: (u32, u64)) {
    OPEN.with(|open| {
        let depth = open.depth.get();
        open.depth.set(depth + 1);
        match open.near.get(depth) {
            Some(place) => place.set(begun),
            None => open_far(depth, begun),
        }
    });
}

#[cold]
#[inline(never)]
fn open_far(depth: usize, begun: (u32, u64)) {
    let keep = |far: &RefCell<Vec<(u32, u64)>>| {
        // Room first, while nothing is borrowed: the program's allocator may come here again.
        let wanted = depth - NEAR + 1;
        if far.borrow().capacity() < wanted {
            dynamic::prepare(|| make_room(far, wanted))?;
        }
        let mut far = far.borrow_mut();
        far.resize(depth - NEAR, (0, 0));
        far.push(begun);
        Some(())
    };
    let is_kept = depth < MOST_OPEN && FAR.try_with(keep).is_ok_and(|kept| kept.is_some());
    if !is_kept && begun.0 & !MARKS != 0 {
        dynamic::lose_other();
    }
}

fn make_room(far: &RefCell<Vec<(u32, u64)>>, wanted: usize) {
    let mut larger = Vec::with_capacity(2 * wanted);
    larger.extend_from_slice(&far.borrow());
    let smaller = far.replace(larger);
    drop(smaller);
}

/// Ends the last where it was begun, even if tags were switched since. False: nothing is known of the last.
#[inline(always)]
pub(crate) fn end() -> bool {
    OPEN.with(|open| {
        let Some(depth) = open.depth.get().checked_sub(1) else { return false };
        let (site, begun) = match open.near.get(depth) {
            Some(place) => place.get(),
            None => end_far(depth),
        };
        open.depth.set(depth);
        // (One comparison: neither nothing nor unusual.)
        if site as i32 <= 0 {
            return end_otherwise(site, begun, depth);
        }
        end_span(site, begun);
        true
    })
}

#[inline(always)]
fn end_span(site: u32, begun: u64) {
    if let Err(later) = dynamic::end_span_at_once(Here::find(), site, begun) {
        let _ = later.end_span(LEVEL, site, begun);
    }
}

/// For one that was written to the kernel, that a system tracer may have, or that is not in the ring.
#[inline(never)]
fn end_otherwise(site: u32, begun: u64, depth: usize) -> bool {
    if site & TOLD == TOLD {
        crate::kernel::end();
    }
    let id = site & !MARKS;
    if site & TRACED == TRACED {
        let _ = dynamic::give_end(LEVEL, id, begun, Wanted::by(site & UNRECORDED == 0, true));
    } else if id != 0 {
        end_span(id, begun);
    }
    depth < MOST_OPEN
}

#[cold]
#[inline(never)]
fn end_far(depth: usize) -> (u32, u64) {
    let last = FAR.try_with(|far| {
        let mut far = far.borrow_mut();
        far.truncate(depth - NEAR + 1);
        if far.len() > depth - NEAR { far.pop() } else { None }
    });
    last.ok().flatten().unwrap_or((0, 0))
}
