//! Sites that are known by their place. They are for facades that give target, file, line and level with each
//! record, and have no static.

use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use crate::platform::owner::{self, Description, Registered};

use crate::dynamic::{Arguments, Encoder};
use crate::published::{Published, prepare};
use crate::shapes::Shapes;
use crate::wanted::{Given, Wanted, tracer_wants, wanted};

/// Where a record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// 0 trace to 5 fatal.
    pub level: u8,
    /// From 1; 0: not known.
    pub line: u32,
    /// The category.
    pub target: &'a str,
    /// Path as the compiler was given it; empty: not known.
    pub file: &'a str,
}

/// What is known of a place.
pub struct Located {
    level: u8,
    line: u32,
    target: Box<str>,
    file: Box<str>,
    asked: Registered,
    /// Site of a text without fields; 0: not yet.
    text: AtomicU32,
    /// Sites of texts with fields, by their codes and names.
    with_fields: Shapes<u8>,
    /// Site of texts whose fields are one argument; 0: not yet.
    general: AtomicU32,
}

/// Most targets with sites of their own at one line, or at all unknown lines together. So a program that
/// makes its targets while it runs leaves room for other lines.
const TARGETS: u16 = 64;
const TARGETS_NOWHERE: u16 = 1024;
/// How many each line has, by a hash of it: where two lines share a number they share their room.
static LINES: [AtomicU16; LINE_COUNT] = [const { AtomicU16::new(0) }; LINE_COUNT];
const LINE_COUNT: usize = 1 << 12;

/// Places that are remembered: a power of two. Records of others carry their place as arguments ([`record_elsewhere`]).
const PLACES: usize = 1 << 13;
/// Entries that are looked at.
const PROBES: usize = 32;

static TABLE: [Published<Located>; PLACES] = [const { Published::new() }; PLACES];

/// What a directive is asked: it has no argument.
const NOTHING: owner::Pieces<'static> = &|_| {};

impl Place<'_> {
    /// Of some bytes of the texts alone: a match is compared completely.
    fn hash(&self) -> u64 {
        let ends = |text: &str| {
            let bytes = text.as_bytes();
            let first =
                bytes.first_chunk::<8>().map_or(bytes.len() as u64, |first| u64::from_le_bytes(*first));
            let last = bytes.last_chunk::<8>().map_or(0, |last| u64::from_le_bytes(*last));
            first.rotate_left(17) ^ last ^ (bytes.len() as u64) << 56
        };
        let mut hash = u64::from(self.line) << 8 | u64::from(self.level);
        for part in [ends(self.target), ends(self.file)] {
            hash = (hash ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
        }
        hash.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn describe<R>(
        &self,
        names: owner::Pieces<'_>,
        template: owner::Pieces<'_>,
        signature: owner::Pieces<'_>,
        give: impl FnOnce(&Description<'_>) -> R,
    ) -> R {
        give(&Description {
            kind: 0,
            level: self.level,
            line: self.line,
            language: 2,
            category: self.target,
            file: self.file,
            function: "",
            names,
            template,
            signature,
        })
    }

    /// What the directives say of it now, whether it is known or not.
    pub fn would_record(&self) -> bool {
        self.describe(NOTHING, NOTHING, NOTHING, owner::would_record)
    }

    /// Who may want its records now, whether it is known or not.
    pub fn wanted(&self) -> Wanted {
        Wanted::by(self.would_record(), owner::feeds_tracer())
    }

    fn register(&self, names: &str, signature: &str) -> u32 {
        let signature = |give: &mut dyn FnMut(&[u8])| give(signature.as_bytes());
        self.describe(
            &|give| give(names.as_bytes()),
            &|give| give(b"{}"),
            &signature,
            owner::register_variety,
        )
        .id
    }

    /// `None`: there is no room for its sites.
    fn located(&self) -> Option<Located> {
        let nowhere = Place { target: "", ..*self };
        let line = &LINES[(nowhere.hash() >> (64 - LINE_COUNT.trailing_zeros())) as usize];
        let most = if self.file.is_empty() { TARGETS_NOWHERE } else { TARGETS };
        if line.fetch_add(1, Ordering::Relaxed) >= most {
            line.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let asked = self.describe(NOTHING, NOTHING, NOTHING, owner::register_variety);
        (asked.id != 0).then(|| Located {
            level: self.level,
            line: self.line,
            target: self.target.into(),
            file: self.file.into(),
            asked,
            text: AtomicU32::new(0),
            with_fields: Shapes::new(),
            general: AtomicU32::new(0),
        })
    }

    fn first(&self) -> usize {
        (self.hash() >> (64 - PLACES.trailing_zeros())) as usize
    }
}

/// What is known of a place. `None`: too many are known, or this thread is preparing something ([`prepare`]); then it is [elsewhere](record_elsewhere).
#[inline]
pub fn located(place: &Place<'_>) -> Option<&'static Located> {
    let first = place.first();
    for probe in 0..PROBES {
        match TABLE[(first + probe) % PLACES].get() {
            Some(known) if known.is(place) => return Some(known),
            Some(_) => {}
            None => return new_place(place, first),
        }
    }
    None
}

#[cold]
#[inline(never)]
fn new_place(place: &Place<'_>, first: usize) -> Option<&'static Located> {
    let find = || {
        for probe in 0..PROBES {
            let known = TABLE[(first + probe) % PLACES].get_or_try(|| place.located())?;
            if known.is(place) {
                return Some(known);
            }
        }
        None
    };
    prepare(find).flatten()
}

/// Names and codes of the place, as arguments.
const PLACE_NAMES: &str = "\nlog.target\nlog.file\nlog.line\n";
const PLACE_CODES: &str = "sssI";
/// The same with a map of fields.
const FIELDS_NAMES: &str = "\nlog.target\nlog.file\nlog.line\nfields\n";
const FIELDS_CODES: &str = "sssIv";

/// Records a text of a place, or with fields, that has no site of its own, since there are too many of them.
/// It uses one site for each level (category `log`), with the place as arguments, and the fields as a map, if
/// there are any. `text` and `fields` encode one argument each, and may run code of the program. They do so only if
/// somebody wants the record. `None`: it was lost, or nobody wants it.
#[cold]
pub fn record_elsewhere(
    place: &Place<'_>,
    wanted: Wanted,
    text: impl FnOnce(&mut Encoder<'_>),
    fields: Option<&mut dyn FnMut(&mut Encoder<'_>)>,
) -> Option<Given> {
    let (names, codes) = match fields {
        None => (PLACE_NAMES, PLACE_CODES),
        Some(_) => (FIELDS_NAMES, FIELDS_CODES),
    };
    let site = owner::register(&Description {
        kind: 0,
        level: place.level,
        line: 0,
        language: 2,
        category: "log",
        file: "",
        function: "",
        names: &|give| give(names.as_bytes()),
        template: &|give| give(b"{}"),
        signature: &|give| give(codes.as_bytes()),
    });
    if site.id == 0 {
        if wanted.by_ring() {
            owner::lose_without_site();
        }
        return None;
    }
    if !wanted.by_ring() && !tracer_wants(site.id) {
        return None;
    }
    let mut arguments = Arguments::new();
    arguments.encode(|encoder| {
        text(encoder);
        encoder.text(place.target);
        encoder.text(place.file);
        encoder.u32(place.line);
        if let Some(fields) = fields {
            fields(encoder);
        }
    });
    Some(arguments.give(place.level, site.id, None, wanted))
}

impl Located {
    fn is(&self, place: &Place<'_>) -> bool {
        self.line == place.line
            && self.level == place.level
            && *self.target == *place.target
            && *self.file == *place.file
    }

    fn place(&self) -> Place<'_> {
        Place { level: self.level, line: self.line, target: &self.target, file: &self.file }
    }

    /// Who may want its records now. One load.
    #[inline]
    pub fn wanted(&self) -> Wanted {
        wanted(&self.asked)
    }

    /// The site of a text (code `s`) without fields; 0: there is no room for it.
    pub fn text(&self) -> u32 {
        match self.text.load(Ordering::Relaxed) {
            0 => {
                let id = self.place().register("", "s");
                self.text.store(id, Ordering::Relaxed);
                id
            }
            id => id,
        }
    }

    /// The site of a text with fields of these codes, and names behind them (one line an argument, the text's empty). 0: there is no room for another.
    #[inline]
    pub fn with_fields(&self, shape: &[u8], codes: usize) -> u32 {
        self.with_fields.find(shape).unwrap_or_else(|| self.learn(shape, codes))
    }

    /// The site of a text and all its fields as one argument, a map (codes `s`, `v`). It is for those without
    /// a site of their own. 0: there is no room for it.
    #[cold]
    pub fn general(&self) -> u32 {
        match self.general.load(Ordering::Relaxed) {
            0 => {
                let id = self.place().register("\nfields\n", "sv");
                self.general.store(id, Ordering::Relaxed);
                id
            }
            id => id,
        }
    }

    #[cold]
    fn learn(&self, shape: &[u8], codes: usize) -> u32 {
        let learn = || {
            let (codes, names) = shape.split_at(codes);
            let (codes, names) = (std::str::from_utf8(codes).ok()?, std::str::from_utf8(names).ok()?);
            // What has found no room is asked for again: it is cheap to be refused.
            let id = Some(self.place().register(names, codes)).filter(|id| *id != 0)?;
            self.with_fields.add(shape, id)
        };
        if self.with_fields.has_room() { prepare(learn).flatten().unwrap_or(0) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_again_by_its_content() {
        let (target, file) = (String::from("net::tcp"), String::from("src/net/tcp.rs"));
        let place = Place { level: 2, line: 88, target: &target, file: &file };
        let first = located(&place).unwrap();
        let (target, file) = (target.clone(), file.clone());
        assert!(std::ptr::eq(first, located(&Place { target: &target, file: &file, ..place }).unwrap()));
        for other in [
            Place { line: 89, ..place },
            Place { level: 3, ..place },
            Place { target: "net::udp", ..place },
            Place { file: "src/net/udp.rs", ..place },
            Place { target: "", file: "", ..place },
        ] {
            assert!(!std::ptr::eq(first, located(&other).unwrap()), "{other:?}");
        }
    }
}
