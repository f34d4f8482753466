//! Key-values of a record, with their types.

use std::error::Error;
use std::fmt;

use log::Record;
use log::kv::{self, Key, Value, VisitSource, VisitValue};
use silverpoint::dynamic::{self, Arguments, Encoder, Located, Place, Wanted};

/// Pairs of a record that are recorded; a signature has no more than 255 arguments.
const MOST: usize = 250;

/// Puts pairs into a record, and notes their codes and names.
struct Encode<'e, 'w, 'n> {
    encoder: &'e mut Encoder<'w>,
    codes: &'e mut Codes,
    /// One name a line.
    names: &'e mut Encoder<'n>,
}

/// Codes of values, one after the other.
struct Codes {
    bytes: [u8; 2 * MOST + 1],
    len: usize,
    count: usize,
}

impl Codes {
    fn new() -> Self {
        Self { bytes: [0; 2 * MOST + 1], len: 0, count: 0 }
    }

    fn push(&mut self, code: &str) {
        self.bytes[self.len..][..code.len()].copy_from_slice(code.as_bytes());
        self.len += code.len();
        self.count += 1;
    }
}

/// Puts one value, and says its code.
struct One<'e, 'w>(&'e mut Encoder<'w>, &'static str);

macro_rules! values {
    ($($method:ident $kind:ty, $code:literal $put:ident;)*) => {$(
        fn $method(&mut self, value: $kind) -> Result<(), kv::Error> {
            self.0.$put(value);
            self.1 = $code;
            Ok(())
        }
    )*};
}

impl<'v> VisitValue<'v> for One<'_, '_> {
    values! {
        visit_u64 u64, "L" u64;
        visit_i64 i64, "l" i64;
        visit_u128 u128, "O" u128;
        visit_i128 i128, "o" i128;
        visit_f64 f64, "d" f64;
        visit_bool bool, "b" bool;
        visit_char char, "W" char;
        visit_str &str, "s" text;
        visit_error &(dyn Error + 'static), "[s" error;
        visit_borrowed_error &'v (dyn Error + 'static), "[s" error;
    }

    fn visit_any(&mut self, value: Value<'_>) -> Result<(), kv::Error> {
        self.0.formatted(format_args!("{value}"));
        self.1 = "s";
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        self.1 = "n";
        Ok(())
    }
}

impl<'kvs> VisitSource<'kvs> for Encode<'_, '_, '_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), kv::Error> {
        // (The text is the first.)
        if self.codes.count <= MOST {
            let mut one = One(self.encoder, "n");
            let outcome = value.visit(&mut one);
            self.codes.push(one.1);
            put_name(self.names, &key);
            outcome?;
        }
        Ok(())
    }
}

/// Notes what values are, and formats nothing.
struct Describe<'e, 'n> {
    codes: &'e mut Codes,
    names: &'e mut Encoder<'n>,
}

/// The code of one value.
struct Code(&'static str);

macro_rules! codes {
    ($($method:ident $kind:ty, $code:literal;)*) => {$(
        fn $method(&mut self, _: $kind) -> Result<(), kv::Error> {
            self.0 = $code;
            Ok(())
        }
    )*};
}

impl<'v> VisitValue<'v> for Code {
    codes! {
        visit_u64 u64, "L";
        visit_i64 i64, "l";
        visit_u128 u128, "O";
        visit_i128 i128, "o";
        visit_f64 f64, "d";
        visit_bool bool, "b";
        visit_char char, "W";
        visit_str &str, "s";
        visit_error &(dyn Error + 'static), "[s";
        visit_borrowed_error &'v (dyn Error + 'static), "[s";
        visit_any Value<'_>, "s";
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        self.0 = "n";
        Ok(())
    }
}

impl<'kvs> VisitSource<'kvs> for Describe<'_, '_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), kv::Error> {
        if self.codes.count <= MOST {
            let mut one = Code("n");
            let outcome = value.visit(&mut one);
            self.codes.push(one.0);
            put_name(self.names, &key);
            outcome?;
        }
        Ok(())
    }
}

/// Names are lines: one that has several is one all the same.
fn put_name(names: &mut Encoder<'_>, key: &Key<'_>) {
    key.as_str().split('\n').for_each(|part| names.raw(part.as_bytes()));
    names.raw(b"\n");
}

/// The site of a text with pairs of these codes and names; 0: it has none of its own.
fn site_of(located: Option<&Located>, codes: &Codes, names: &[u8]) -> u32 {
    let mut shape = Arguments::new();
    located.map_or(0, |located| {
        shape.encode_aside(|shape| {
            shape.raw(&codes.bytes[..codes.len]);
            shape.raw(names);
        });
        shape.bytes().map_or(0, |shape| located.with_fields(shape, codes.len))
    })
}

/// Whether a system tracer wants the event of such a record.
#[cold]
#[inline(never)]
fn tracer_wants(located: Option<&Located>, record: &Record<'_>) -> bool {
    let mut codes = Codes::new();
    let mut names = Arguments::new();
    names.encode_aside(|names| {
        codes.push("s");
        names.raw(b"\n");
        let _ = record.key_values().visit(&mut Describe { codes: &mut codes, names });
    });
    let site = match site_of(located, &codes, names.bytes().unwrap_or_default()) {
        0 => located.map_or(0, Located::general),
        site => site,
    };
    // Without one, the site of all other places decides.
    site == 0 || dynamic::tracer_wants(site)
}

/// Records a text with its pairs. Both are formatted once, for any room in the ring.
#[inline(never)]
pub(crate) fn record(located: Option<&Located>, place: &Place<'_>, wanted: Wanted, record: &Record<'_>) {
    if !wanted.by_ring() && !tracer_wants(located, record) {
        return;
    }
    let mut codes = Codes::new();
    let mut arguments = Arguments::new();
    let mut names = Arguments::new();
    names.encode_aside(|names| {
        arguments.encode(|encoder| {
            encoder.formatted(*record.args());
            codes.push("s");
            names.raw(b"\n");
            // A source that fails has given what it gave.
            let _ = record.key_values().visit(&mut Encode { encoder, codes: &mut codes, names });
        });
    });
    let names = names.bytes().unwrap_or_default();
    let site = site_of(located, &codes, names);
    if site != 0 || arguments.bytes().is_none() {
        if wanted.of_site(site).by_ring_alone() {
            let _ = arguments.record(place.level, site);
        } else {
            let _ = arguments.give(place.level, site, None, wanted);
        }
        return;
    }
    let codes = &codes.bytes[..codes.len];
    let named = |give: &mut dyn FnMut(&str, u8)| {
        // An error's code has two letters, of which the second is no code of its own here.
        let codes = codes.iter().enumerate().filter(|(at, _)| *at == 0 || codes[at - 1] != b'[');
        let names = std::str::from_utf8(names).unwrap_or_default();
        names.split('\n').zip(codes).for_each(|(name, (_, code))| give(name, *code));
    };
    let bytes = arguments.bytes().unwrap_or_default();
    let text = |encoder: &mut Encoder<'_>| encoder.text_of(bytes, &named, 0);
    let mut fields = |encoder: &mut Encoder<'_>| encoder.map_of(bytes, &named);
    match located.map_or(0, Located::general) {
        0 => _ = dynamic::record_elsewhere(place, wanted, text, Some(&mut fields)),
        site => {
            let mut whole = Arguments::new();
            whole.encode(|encoder| {
                text(encoder);
                fields(encoder);
            });
            let _ = whole.give(place.level, site, None, wanted);
        }
    }
}

/// Writes ` KEY=VALUE` for each pair of a record.
pub(crate) fn write(record: &Record<'_>, text: &mut dyn fmt::Write) -> fmt::Result {
    struct Pairs<'t>(&'t mut dyn fmt::Write);
    impl<'kvs> VisitSource<'kvs> for Pairs<'_> {
        fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), kv::Error> {
            Ok(write!(self.0, " {key}={value}")?)
        }
    }
    record.key_values().visit(&mut Pairs(text)).map_err(|_| fmt::Error)
}
