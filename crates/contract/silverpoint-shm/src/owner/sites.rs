//! Registering sites: lock-free, without allocation, from signal handlers too (spec/wire.md, section 3.2).

use std::sync::atomic::{AtomicU8, Ordering, fence};

use silverpoint_wire::directive::{self, SiteFacts};
use silverpoint_wire::level::Level;
pub use silverpoint_wire::registration::{Description, Pieces};

use super::at;
use super::remembered::Remembered;
use super::session::Session;
use super::tracer_libraries;
use crate::{clock, sys};

/// A registered site.
#[derive(Clone, Copy)]
pub struct Registered {
    /// Id that its records carry; 0: there is no room for it, its records are lost (cause no_site).
    pub id: u32,
    /// Its state byte: in shared memory as long as the process lives. A site without an id has a byte that
    /// others share. Bit 0 says whether it would be on now, [`AGAIN`] that it is off and may find room later.
    pub state: &'static AtomicU8,
}

/// State of a site for which there was no memory, and which the directives have off. It is to be registered
/// again at its next execution. The value is that of sites that are not registered yet.
pub const AGAIN: u8 = 0x80;

/// State bytes of sites that are in no table.
static OFF: AtomicU8 = AtomicU8::new(0);
static ON: AtomicU8 = AtomicU8::new(1);
static LATER: AtomicU8 = AtomicU8::new(AGAIN);

impl Registered {
    /// Whether this is the state byte of a site that has found no room, and may yet find some.
    pub fn awaits_memory(state: *const AtomicU8) -> bool {
        std::ptr::eq(state, &ON) || std::ptr::eq(state, &LATER)
    }
}

/// What a site is without a session: off for ever.
pub(crate) static UNAVAILABLE: Registered = Registered { id: 0, state: &OFF };

const DESCRIPTION_HEADER: usize = at::site::FIXED_SIZE;
const MAX_DESCRIPTION: usize = at::site::SIZE_MAX;
/// Bytes of descriptions that are backed at a time.
const DESCS_STEP: u64 = 16 << 10;
/// After the kernel had no memory for a site.
const NO_MEMORY_PAUSE_NS: u64 = 1_000_000;
/// How often a changed generation makes a frontend evaluate again before it leaves the state to the writer that is at work.
const MAX_EVALUATIONS: usize = 16;

/// How much of the table a site may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// All of it.
    Whole,
    /// Up to the half: sites of names that are made while the program runs leave the other one to those that stand in its source.
    Variety,
}

/// Part of the table and of its descriptions that sites of [`Share::Variety`] leave free.
const LEFT_FREE: u32 = 2;

/// Whether a half of the table is taken.
fn is_half_full(session: &Session) -> bool {
    let layout = &session.layout;
    // SAFETY: the header is always backed.
    let (sites, descs) = unsafe {
        let next = |at| session.control.u32(at).load(Ordering::Relaxed);
        (next(at::header::SITES_NEXT), next(at::header::DESCS_NEXT))
    };
    sites >= layout.sites_cap / LEFT_FREE || u64::from(descs) * 8 >= layout.descs_size / u64::from(LEFT_FREE)
}

pub(crate) fn register(
    session: &Session,
    remembered: &Remembered,
    description: &Description<'_>,
    share: Share,
) -> Registered {
    register_with(session, remembered, description, share, 0)
}

/// A site of which nothing is recorded.
pub(crate) fn register_question(
    session: &Session,
    remembered: &Remembered,
    description: &Description<'_>,
) -> Registered {
    register_with(session, remembered, description, Share::Whole, at::site::QUESTION)
}

fn register_with(
    session: &Session,
    remembered: &Remembered,
    description: &Description<'_>,
    share: Share,
    flags: u16,
) -> Registered {
    // A site without an entry comes here at each of its records. If there was no memory just now, the kernel
    // is not asked again.
    let until = remembered.no_site_memory_until_ns.load(Ordering::Relaxed);
    if until != 0 && clock::monotonic_ns() < until {
        return without_room(session, description, &Want::Memory);
    }
    let Some(encoded) = Encoded::new(description, flags) else {
        return without_room(session, description, &Want::Room);
    };
    if let Some(entry) = find(session, remembered, &encoded) {
        return registered(session, entry);
    }
    if share == Share::Variety && is_half_full(session) {
        return without_room(session, description, &Want::Room);
    }
    match add(session, remembered, &encoded, description) {
        Ok(entry) => registered(session, entry),
        Err(want) => {
            if matches!(want, Want::Memory) {
                let until = clock::monotonic_ns() + NO_MEMORY_PAUSE_NS;
                remembered.no_site_memory_until_ns.store(until, Ordering::Relaxed);
            }
            without_room(session, description, &want)
        }
    }
}

/// Why a site has no entry.
enum Want {
    /// There is no memory now.
    Memory,
    /// There will never be room: the table or the descriptions are full, or it is too large.
    Room,
}

fn registered(session: &Session, entry: u32) -> Registered {
    // SAFETY: the entry is below sites_cap, and its state byte is backed since it was registered.
    let state = unsafe { session.control.u8(session.layout.states_at as usize + entry as usize) };
    Registered { id: entry + at::site_entry::FIRST_ID, state }
}

/// A site without an entry: its records are counted as lost as long as it would be on. One that is off may find memory later, but never room.
fn without_room(session: &Session, description: &Description<'_>, want: &Want) -> Registered {
    let state = match (is_on(session, description), want) {
        (true, _) => &ON,
        (false, Want::Memory) => &LATER,
        (false, Want::Room) => &OFF,
    };
    Registered { id: 0, state }
}

/// A description whose size and hash are known; its bytes are made each time they are needed.
struct Encoded<'a> {
    description: &'a Description<'a>,
    flags: u16,
    lens: [usize; 6],
    size: usize,
    hash: u64,
}

impl<'a> Encoded<'a> {
    fn new(description: &'a Description<'a>, flags: u16) -> Option<Self> {
        let count = |pieces: Pieces<'_>| {
            let mut len = 0;
            pieces(&mut |piece| len += piece.len());
            len
        };
        let lens = [
            description.category.len(),
            description.file.len(),
            description.function.len(),
            count(description.names),
            count(description.template),
            count(description.signature),
        ];
        let size = (DESCRIPTION_HEADER + lens.iter().sum::<usize>()).next_multiple_of(8);
        if size > MAX_DESCRIPTION || lens[..4].iter().any(|len| *len > usize::from(u16::MAX)) {
            return None;
        }
        let mut encoded = Self { description, flags, lens, size, hash: 0 };
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut skip = 16usize;
        encoded.pieces(&mut |piece| {
            let skipped = skip.min(piece.len());
            skip -= skipped;
            for byte in &piece[skipped..] {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        });
        encoded.hash = hash;
        Some(encoded)
    }

    /// All bytes, in order.
    fn pieces(&self, give: &mut dyn FnMut(&[u8])) {
        let d = self.description;
        let mut header = [0u8; DESCRIPTION_HEADER];
        header[0..4].copy_from_slice(&(self.size as u32).to_le_bytes());
        header[8..16].copy_from_slice(&self.hash.to_le_bytes());
        header[16] = d.kind;
        header[17] = d.level;
        header[18..20].copy_from_slice(&self.flags.to_le_bytes());
        header[20..24].copy_from_slice(&d.line.to_le_bytes());
        header[24..26].copy_from_slice(&d.language.to_le_bytes());
        for (i, len) in self.lens[..4].iter().enumerate() {
            header[28 + 2 * i..30 + 2 * i].copy_from_slice(&(*len as u16).to_le_bytes());
        }
        header[36..40].copy_from_slice(&(self.lens[4] as u32).to_le_bytes());
        header[40..44].copy_from_slice(&(self.lens[5] as u32).to_le_bytes());
        give(&header);
        give(d.category.as_bytes());
        give(d.file.as_bytes());
        give(d.function.as_bytes());
        (d.names)(give);
        (d.template)(give);
        (d.signature)(give);
        let len = DESCRIPTION_HEADER + self.lens.iter().sum::<usize>();
        give(&[0u8; 8][..self.size - len]);
    }

    /// Whether the bytes at `place` of the control file, which are backed, are these.
    fn is_at(&self, session: &Session, place: usize) -> bool {
        let mut same = true;
        let mut at = place;
        self.pieces(&mut |piece| {
            for byte in piece {
                // SAFETY: the caller has checked that `size` bytes at `place` lie in the descriptions, and the pieces are `size` bytes.
                same = same && unsafe { session.control.u8(at) }.load(Ordering::Relaxed) == *byte;
                at += 1;
            }
        });
        same
    }
}

/// The entry with the same bytes, if there is one.
fn find(session: &Session, remembered: &Remembered, encoded: &Encoded<'_>) -> Option<u32> {
    let layout = &session.layout;
    let mut slot = encoded.hash as u32 & (layout.index_cap - 1);
    for _ in 0..layout.index_cap {
        let place = layout.index_at as usize + slot as usize * 4;
        if !remembered.back_control(session, place, 4) {
            return None;
        }
        // SAFETY: within the index, and backed.
        let number = unsafe { session.control.u32(place) }.load(Ordering::Acquire);
        if number == 0 {
            return None;
        }
        let entry = number - 1;
        if entry < layout.sites_cap && is_same(session, remembered, entry, encoded) {
            return Some(entry);
        }
        slot = (slot + 1) & (layout.index_cap - 1);
    }
    None
}

fn is_same(session: &Session, remembered: &Remembered, entry: u32, encoded: &Encoded<'_>) -> bool {
    let layout = &session.layout;
    let place = layout.sites_at as usize + entry as usize * at::site_entry::SIZE;
    if !remembered.back_control(session, place, at::site_entry::SIZE) {
        return false;
    }
    // SAFETY: the entry lies in the table and is backed; the description is checked to lie in what is reserved, hence backed.
    unsafe {
        let site = session.control.part(place);
        if site.u32(at::site_entry::STAGE).load(Ordering::Acquire) != at::site_entry::COMPLETE
            || site.u64(at::site_entry::HASH).load(Ordering::Relaxed) != encoded.hash
        {
            return false;
        }
        let body = u64::from(site.u32(at::site_entry::BODY_AT).load(Ordering::Relaxed)) * 8;
        let reserved =
            session.control.u64(at::header::DESCS_RESERVED).load(Ordering::Acquire).min(layout.descs_size);
        body + encoded.size as u64 <= reserved
            && encoded.is_at(session, layout.descs_at as usize + body as usize)
    }
}

/// Appends the description of a site that is complete; nothing of another.
pub(super) fn describe(session: &Session, id: u32, out: &mut Vec<u8>) {
    let layout = &session.layout;
    let Some(entry) = id.checked_sub(at::site_entry::FIRST_ID).filter(|entry| *entry < layout.sites_cap)
    else {
        return;
    };
    // SAFETY: each id comes from an entry of the table, which is backed since. The description is checked to
    // lie in what is reserved, hence backed.
    unsafe {
        let site = session.control.part(layout.sites_at as usize + entry as usize * at::site_entry::SIZE);
        if site.u32(at::site_entry::STAGE).load(Ordering::Acquire) != at::site_entry::COMPLETE {
            return;
        }
        let body = u64::from(site.u32(at::site_entry::BODY_AT).load(Ordering::Relaxed)) * 8;
        let reserved =
            session.control.u64(at::header::DESCS_RESERVED).load(Ordering::Acquire).min(layout.descs_size);
        if body + DESCRIPTION_HEADER as u64 > reserved {
            return;
        }
        let from = layout.descs_at as usize + body as usize;
        let size = session.control.u32(from).load(Ordering::Relaxed);
        if size as usize > MAX_DESCRIPTION || body + u64::from(size) > reserved {
            return;
        }
        let begin = out.len();
        out.resize(begin + size as usize, 0);
        session.control.read(from, &mut out[begin..]);
    }
}

/// Claims an entry and fills it.
///
/// Entries below `sites_next` and bytes before `descs_next` are backed. Both counters pass something only by
/// compare-and-swap from it, after its backing, and never beyond the end. So an attempt that finds no room
/// takes none, no matter how often it is repeated. (A description is lost when another registration takes the
/// last entry, or the last backed one, in between.)
fn add(
    session: &Session,
    remembered: &Remembered,
    encoded: &Encoded<'_>,
    description: &Description<'_>,
) -> Result<u32, Want> {
    let layout = &session.layout;
    // SAFETY: the header is always backed.
    let sites_next = unsafe { session.control.u32(at::header::SITES_NEXT) };
    let place_of = |entry: u32| layout.sites_at as usize + entry as usize * at::site_entry::SIZE;
    let mut entry = sites_next.load(Ordering::Acquire);
    let mut described = None;
    let body = loop {
        if entry >= layout.sites_cap {
            return Err(Want::Room);
        }
        let state = layout.states_at as usize + entry as usize;
        if !remembered.back_control(session, place_of(entry), at::site_entry::SIZE)
            || !remembered.back_control(session, state, 1)
        {
            return Err(Want::Memory);
        }
        let body = match described {
            Some(body) => body,
            None => *described.insert(claim_description(session, encoded)?),
        };
        match sites_next.compare_exchange(entry, entry + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break body,
            Err(other) => entry = other,
        }
    };
    let place = place_of(entry);
    let mut to = layout.descs_at as usize + body as usize * 8;
    encoded.pieces(&mut |piece| {
        // SAFETY: `units` were claimed for exactly the bytes that the pieces have, and are backed.
        unsafe { session.control.write(to, piece) };
        to += piece.len();
    });
    // SAFETY: the entry lies in the table, is backed, and nobody else has its number.
    unsafe {
        let site = session.control.part(place);
        site.u32(at::site_entry::STAGE).store(at::site_entry::WRITING, Ordering::Relaxed);
        site.u32(at::site_entry::LOCATION_AT).store(body, Ordering::Relaxed);
        site.u32(at::site_entry::BODY_AT).store(body, Ordering::Relaxed);
        site.u64(at::site_entry::HASH).store(encoded.hash, Ordering::Relaxed);
        site.u32(at::site_entry::STAGE).store(at::site_entry::COMPLETE, Ordering::Release);
    }
    evaluate(session, entry, description);
    publish(session, remembered, entry, encoded.hash);
    // After the state is stored: a tracer's library that has refused the site clears its bit then.
    tracer_libraries::wake(session);
    Ok(entry)
}

/// Claims the bytes of a description, backed; where they are, in units of 8 bytes.
fn claim_description(session: &Session, encoded: &Encoded<'_>) -> Result<u32, Want> {
    // SAFETY: the header is always backed.
    let descs_next = unsafe { session.control.u32(at::header::DESCS_NEXT) };
    let room = (session.layout.descs_size / 8) as u32;
    let units = (encoded.size / 8) as u32;
    let mut body = descs_next.load(Ordering::Acquire);
    loop {
        let end = body.checked_add(units).filter(|end| *end <= room).ok_or(Want::Room)?;
        if !reserve_descriptions(session, u64::from(end) * 8) {
            return Err(Want::Memory);
        }
        match descs_next.compare_exchange(body, end, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Ok(body),
            Err(other) => body = other,
        }
    }
}

/// Ensures that the descriptions are backed up to `end`. It backs more than needed, to ask less often; where
/// little memory is left, only the needed pages.
fn reserve_descriptions(session: &Session, end: u64) -> bool {
    // SAFETY: the header is always backed.
    let reserved = unsafe { session.control.u64(at::header::DESCS_RESERVED) };
    let before = reserved.load(Ordering::Acquire);
    if end <= before {
        return true;
    }
    for step in [DESCS_STEP, sys::page_size() as u64] {
        let goal = end.next_multiple_of(step).min(session.layout.descs_size);
        if session.back_control((session.layout.descs_at + before) as usize, (goal - before) as usize) {
            reserved.fetch_max(goal, Ordering::AcqRel);
            return true;
        }
    }
    false
}

/// Enters it in the index; a full index only means that the site will not be found again.
fn publish(session: &Session, remembered: &Remembered, entry: u32, hash: u64) {
    let layout = &session.layout;
    let mut slot = hash as u32 & (layout.index_cap - 1);
    for _ in 0..layout.index_cap {
        let place = layout.index_at as usize + slot as usize * 4;
        if !remembered.back_control(session, place, 4) {
            return;
        }
        // SAFETY: within the index, and backed.
        let word = unsafe { session.control.u32(place) };
        if word.compare_exchange(0, entry + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return;
        }
        slot = (slot + 1) & (layout.index_cap - 1);
    }
}

/// Stores the state byte, again when the directives were changed meanwhile (spec/wire.md, section 8).
fn evaluate(session: &Session, entry: u32, description: &Description<'_>) {
    // SAFETY: the header is always backed; the state byte is backed by the caller.
    let (generation, state) = unsafe {
        (
            session.control.u32(at::header::GENERATION),
            session.control.u8(session.layout.states_at as usize + entry as usize),
        )
    };
    for _ in 0..MAX_EVALUATIONS {
        // Between storing `stage` and reading the generation: either the controller visits the entry, or this sees its generation.
        fence(Ordering::SeqCst);
        let before = generation.load(Ordering::Acquire);
        let ring = if is_on(session, description) { at::state::RING } else { 0 };
        state.store(ring | tracer_libraries::state_bit(session), Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if generation.load(Ordering::Acquire) == before {
            return;
        }
    }
}

/// What the directives say about a site, now.
pub(crate) fn is_on(session: &Session, description: &Description<'_>) -> bool {
    let facts = SiteFacts {
        level: Level::from_u8(description.level).unwrap_or(Level::Fatal),
        category: description.category,
        file: description.file,
        line: description.line,
        function: description.function,
    };
    with_directives(session, |text| directive::decide(text, &facts)).unwrap_or(false)
}

/// Lends the text of the directives; `None` when there is none.
pub(crate) fn with_directives<R>(session: &Session, take: impl FnOnce(&str) -> R) -> Option<R> {
    let layout = &session.layout;
    // SAFETY: the header is always backed.
    let len = unsafe { session.control.u32(at::header::DIRECTIVES_LEN) }
        .load(Ordering::Acquire)
        .min(layout.directives_cap) as usize;
    if len == 0 {
        return None;
    }
    let lend = |buffer: &mut [u8]| {
        // SAFETY: within the directives, backed since somebody wrote them. Copied because a controller may write them meanwhile.
        unsafe { session.control.read(layout.directives_at as usize, buffer) };
        std::str::from_utf8(buffer).ok().map(take)
    };
    let mut small = [0u8; 512];
    match small.get_mut(..len) {
        Some(buffer) => lend(buffer),
        // Rare and long: pages of its own, since this may be a signal handler on a small stack.
        None => sys::with_pages(len, lend).flatten(),
    }
}

#[cfg(test)]
mod tests {
    use silverpoint_wire::level::Kind;

    use super::*;

    /// The vectors of site descriptions (`spec/vectors/sites.json`): what this frontend can produce, it produces byte for byte.
    #[test]
    fn vectors_are_produced_byte_for_byte() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/sites.json");
        let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut count = 0;
        for vector in all.as_array().unwrap().iter().filter(|vector| vector["verdict"] == "ok") {
            let text = |key: &str| vector[key].as_str().unwrap_or_default();
            let number = |key: &str| vector[key].as_u64().unwrap_or_default();
            let kind = Kind::ALL.iter().position(|kind| kind.name() == text("kind"));
            let (Some(kind), Some(level)) =
                (kind, Level::ALL.iter().find(|level| level.name() == text("level")))
            else {
                continue; // numbers that only readers see
            };
            if number("flags") != 0 {
                continue; // streams, which Rust has not
            }
            let description = Description {
                kind: kind as u8,
                level: *level as u8,
                line: number("line") as u32,
                language: number("language") as u16,
                category: text("category"),
                file: text("file"),
                function: text("function"),
                names: &|give| {
                    text("names").lines().for_each(|name| {
                        give(name.as_bytes());
                        give(b"\n");
                    })
                },
                template: &|give| give(text("template").as_bytes()),
                signature: &|give| text("signature").bytes().for_each(|byte| give(&[byte])),
            };
            let encoded = Encoded::new(&description, 0).expect("within the limits");
            let mut hex = String::new();
            encoded.pieces(&mut |piece| piece.iter().for_each(|byte| hex += &format!("{byte:02x}")));
            assert_eq!(hex, text("hex"), "{}", text("name"));
            count += 1;
        }
        assert!(count >= 10, "{count} vectors");
    }

    #[test]
    fn what_exceeds_the_limits_has_no_description() {
        let long = "x".repeat(70_000);
        let with = |category: &str, template: &str| {
            let description = Description {
                kind: 0,
                level: 2,
                line: 1,
                language: 2,
                category,
                file: "",
                function: "",
                names: &|_| {},
                template: &|give| give(template.as_bytes()),
                signature: &|_| {},
            };
            Encoded::new(&description, 0).map(|encoded| encoded.size)
        };
        assert_eq!(with("", &long[..65_488]), Some(65_536));
        assert_eq!(with("", &long[..65_489]), None);
        assert_eq!(with(&long, ""), None);
    }
}
