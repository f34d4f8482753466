//! Sites that are known by where they are: of facades that give target, file, line and level with each record, and no place for a static.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use silverpoint_shm::owner::{self, Description, Registered};

use crate::shapes::Shapes;

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
    /// Sites of texts with fields, by their names and types.
    with_fields: Shapes,
}

/// Places that are remembered: a power of two. Records of others are looked up among all sites each time.
const PLACES: usize = 1 << 13;
/// Entries that are looked at.
const PROBES: usize = 32;

static TABLE: [OnceLock<Box<Located>>; PLACES] = [const { OnceLock::new() }; PLACES];

/// What a directive is asked: it has no argument.
const NOTHING: owner::Pieces<'static> = &|_| {};

impl Place<'_> {
    /// Of some bytes of the texts alone: whoever is found is compared.
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

    fn register(&self, names: &str, signature: &str) -> u32 {
        let signature = |give: &mut dyn FnMut(&[u8])| give(signature.as_bytes());
        self.describe(&|give| give(names.as_bytes()), &|give| give(b"{}"), &signature, owner::register).id
    }

    fn located(&self) -> Box<Located> {
        Box::new(Located {
            level: self.level,
            line: self.line,
            target: self.target.into(),
            file: self.file.into(),
            asked: self.describe(NOTHING, NOTHING, NOTHING, owner::register),
            text: AtomicU32::new(0),
            with_fields: Shapes::new(),
        })
    }
}

/// What is known of a place. `None`: too many are known.
pub fn located(place: &Place<'_>) -> Option<&'static Located> {
    let mut at = (place.hash() >> (64 - PLACES.trailing_zeros())) as usize;
    for _ in 0..PROBES {
        let known = TABLE[at].get_or_init(|| place.located());
        if known.is(place) {
            return Some(known);
        }
        at = (at + 1) % PLACES;
    }
    None
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

    /// Whether it records now. One load.
    pub fn is_on(&self) -> bool {
        self.asked.state.load(Ordering::Relaxed) & 1 != 0
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

    /// The site of a text with fields, whose shape has this hash (not 0), when it is known.
    #[inline]
    pub fn with_fields(&self, shape: u32) -> Option<u32> {
        self.with_fields.find(shape)
    }

    /// Makes it known: names (one line an argument, the text's empty) and signature. 0: there is no room for it.
    #[cold]
    pub fn learn(&self, shape: u32, names: &str, signature: &str) -> u32 {
        let id = self.place().register(names, signature);
        self.with_fields.add(shape, id);
        id
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
