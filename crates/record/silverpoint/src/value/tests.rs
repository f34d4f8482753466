//! The vectors of packed values (`spec/vectors/values.json`): what this frontend can produce, it produces byte for byte. And what happens when there is
//! less room than values want.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::args::Args;
use crate::scratch::Scratch;
use crate::writer::Writer;
use crate::{Bytes, Trace};

/// Signature and bytes.
fn encode(args: &impl Args) -> (String, Vec<u8>) {
    fn signature<A: Args>(_: &A) -> String {
        let mut text = Vec::new();
        A::SIGNATURE.each(&mut |piece| text.extend_from_slice(piece));
        String::from_utf8(text).unwrap()
    }
    let mut room = vec![0xEE; args.size() + 64];
    let start = room.as_mut_ptr();
    // SAFETY: the room is the test's, and larger than the values say they are.
    let (len, overrun) = unsafe {
        let mut writer = Writer::whole(start, start.add(args.size()), true, false);
        args.write(&mut writer);
        (writer.position() as usize - start as usize, writer.has_overrun())
    };
    assert!(!overrun && len <= args.size());
    assert!(room[args.size()..].iter().all(|byte| *byte == 0xEE), "nothing is written beyond the room");
    room.truncate(len);
    (signature(args), room)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Vectors(HashMap<String, (String, String)>);

impl Vectors {
    fn load() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/values.json");
        let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let text = |vector: &serde_json::Value, key: &str| vector[key].as_str().unwrap().to_owned();
        let good = all.as_array().unwrap().iter().filter(|vector| vector["verdict"] == "ok");
        Self(
            good.map(|vector| (text(vector, "name"), (text(vector, "signature"), text(vector, "hex"))))
                .collect(),
        )
    }

    fn check(&self, name: &str, args: &impl Args) {
        let (signature, bytes) = self.0.get(name).unwrap_or_else(|| panic!("no vector `{name}`"));
        let (own_signature, own_bytes) = encode(args);
        assert_eq!((&own_signature, &hex(&own_bytes)), (signature, bytes), "{name}");
    }
}

#[derive(Trace)]
#[trace(crate = crate)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Trace)]
#[trace(crate = crate)]
struct Unit;

#[derive(Trace)]
#[trace(crate = crate)]
struct Line {
    a: Point,
    name: Option<&'static str>,
}

mod odd {
    #[derive(crate::Trace)]
    #[trace(crate = crate, rename = "a<b>")]
    pub struct Odd {
        #[trace(rename = "ü %")]
        pub first: u8,
        #[trace(rename = "")]
        pub second: bool,
    }
}

#[derive(Trace)]
#[trace(crate = crate)]
#[allow(dead_code)]
enum Color {
    Red,
    #[trace(rename = "Grün")]
    Green,
    #[trace(rename = "a,b=;")]
    Third = 7,
}

#[derive(Trace)]
#[trace(crate = crate)]
#[repr(i16)]
enum E {
    Least = -300,
}

#[test]
fn vectors_are_produced_byte_for_byte() {
    let vectors = Vectors::load();
    let mut count = 0;
    macro_rules! check {
        ($($name:literal: $($value:expr),*;)*) => {$(
            #[allow(unused_parens)]
            vectors.check($name, &cons!($($value),*));
            count += 1;
        )*};
    }
    macro_rules! cons {
        () => { () };
        ($first:expr $(, $rest:expr)*) => { (&$first, cons!($($rest),*)) };
    }
    let epoch_plus = |ns: u64| UNIX_EPOCH + Duration::from_nanos(ns);
    let utf8 = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    check! {
        "i8 min": i8::MIN; "i8 max": i8::MAX; "i8 0": 0i8; "i8 -1": -1i8; "i8 1": 1i8;
        "i16 min": i16::MIN; "i16 max": i16::MAX; "i16 0": 0i16; "i16 -1": -1i16; "i16 1": 1i16;
        "i32 min": i32::MIN; "i32 max": i32::MAX; "i32 0": 0i32; "i32 -1": -1i32; "i32 1": 1i32;
        "i64 min": i64::MIN; "i64 max": i64::MAX; "i64 0": 0i64; "i64 -1": -1isize; "i64 1": 1isize;
        "i128 min": i128::MIN; "i128 max": i128::MAX; "i128 0": 0i128; "i128 -1": -1i128; "i128 1": 1i128;
        "u8 max": u8::MAX; "u8 0": 0u8; "u8 high bit": 128u8;
        "u16 max": u16::MAX; "u16 0": 0u16; "u16 high bit": 0x8000u16;
        "u32 max": u32::MAX; "u32 0": 0u32; "u32 high bit": 1u32 << 31;
        "u64 max": u64::MAX; "u64 0": 0usize; "u64 high bit": 1u64 << 63;
        "u128 max": u128::MAX; "u128 0": 0u128; "u128 bytes in order": 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100_u128;
        "i64 9007199254740991 at the edge of f64": 9_007_199_254_740_991i64;
        "f32 0": 0f32; "f64 0": 0f64; "f32 -0": -0f32; "f64 -0": -0f64; "f32 1.5": 1.5f32; "f64 1.5": 1.5f64;
        "f32 inf": f32::INFINITY; "f64 inf": f64::INFINITY; "f32 -inf": f32::NEG_INFINITY; "f64 -inf": f64::NEG_INFINITY;
        "f32 nan": f32::from_bits(0x7fc0_0000); "f64 nan": f64::from_bits(0x7ff8_0000_0000_0000);
        "f32 max": f32::MAX; "f32 least": f32::from_bits(1); "f32 0.1": 0.1f32; "f32 nan with payload": f32::from_bits(0xffc1_2345);
        "f64 max": f64::MAX; "f64 least": f64::from_bits(1); "f64 0.1": 0.1f64;
        "f64 signalling nan": f64::from_bits(0x7ff0_0000_0000_0001);
        "char32 a": 'a'; "char32 smile": '\u{1F600}'; "char32 last": char::MAX;
        "UTF-8 empty": ""; "UTF-8 ASCII": "order 66"; "UTF-8 non-ASCII": String::from("Grüße ✓ 😀");
        "UTF-8 controls": "a\0b\n\t\"\\\x7f";
        "UTF-8 invalid: lone continuation": utf8(b"a\x80b");
        "UTF-8 invalid: cut character": utf8(b"a\xe2\x82");
        "UTF-8 invalid: overlong": utf8(b"\xc0\xaf");
        "UTF-8 invalid: surrogate": utf8(b"\xed\xa0\x80");
        "UTF-8 invalid: beyond the last": utf8(b"\xf4\x90\x80\x80");
        "UTF-8 invalid: never a byte": c"x\xff\xfey";
        "UTF-8 of 300 bytes": "0123456789".repeat(30);
        "no arguments": ;
        "false": false; "true": true;
        "pointer 0x0": std::ptr::null::<u8>(); "pointer 0xdeadbeef": 0xdead_beef as *mut u32;
        "pointer 0xffffffffffffffff": usize::MAX as *const ();
        "bytes, none": Bytes(b""); "bytes": Bytes(b"\x00\x01\x7f\x80\xff");
        "time 0": UNIX_EPOCH; "time 1700000000123456789": epoch_plus(1_700_000_000_123_456_789);
        "time -1": UNIX_EPOCH - Duration::from_nanos(1);
        "time -9223372036854775808": UNIX_EPOCH - Duration::from_nanos(1 << 63);
        "time 9223372036854775807": epoch_plus(i64::MAX as u64);
        "duration 0": Duration::ZERO; "duration 1700000000123456789": Duration::from_nanos(1_700_000_000_123_456_789);
        "duration 9223372036854775807": Duration::from_nanos(i64::MAX as u64);
        "many arguments": true, -5i64, "x", 2.5f64;
        "optional, none": None::<i32>; "optional, some": Some(-7i32); "optional of optional, some none": Some(None::<&str>);
        "sequence, empty": Vec::<i32>::new(); "sequence": [1i32, -1, i32::MAX][..]; "sequence of text": vec!["", "b"];
        "set": BTreeSet::from([3u8, 9]);
        "array": [1u16, 2, 65535]; "array of text": ["a", "bc"]; "array of none": [""; 0];
        "map, empty": BTreeMap::<&str, i32>::new(); "map": BTreeMap::from([("a", 1i32), ("b", 2)]);
        "tuple, empty": (); "tuple": (1i32, "x");
        "record": Point { x: 1, y: -2 }; "record, empty": Unit;
        "record of records": Line { a: Point { x: 1, y: -2 }, name: Some("l") };
        "record with every character in its names": odd::Odd { first: 1, second: true };
        "enumeration, first": Color::Red; "enumeration, non-ASCII": Color::Green; "enumeration, escaped": Color::Third;
        "enumeration, negative label": E::Least;
    }
    assert!(count > 100);
}

/// Encodes into `room` bytes, as far as that goes: what was written, and whether something was cut.
fn cut(args: &impl Args, room: usize) -> Option<(Vec<u8>, bool)> {
    let slack = room.checked_sub(args.least())?;
    let mut bytes = vec![0xEE; room + 64];
    let start = bytes.as_mut_ptr();
    // SAFETY: the room is the test's.
    let (len, was_cut) = unsafe {
        let mut writer = Writer::cutting(start, start.add(room), slack);
        args.write(&mut writer);
        assert!(!writer.has_overrun(), "{room}");
        (writer.position() as usize - start as usize, writer.was_cut())
    };
    assert!(bytes[room..].iter().all(|byte| *byte == 0xEE), "nothing is written beyond the room");
    bytes.truncate(len);
    Some((bytes, was_cut))
}

#[test]
fn cut_values_fit_any_room_that_holds_their_least() {
    let text = "Grüße ✓ 😀, and so on";
    let map = BTreeMap::from([(1u8, "one"), (2, "a longer text")]);
    let numbers = vec![7u64; 5];
    let set = BTreeSet::from([1u16, 2, 3, 4]);
    let args = (&text, (&5u8, (&numbers, (&map, (&Some(text), (&set, (&[1u8, 2], ())))))));
    let whole = encode(&args).1;
    let types = silverpoint_wire::signature::parse(&encode(&args).0).unwrap();
    let mut before = 0;
    for room in 0..whole.len() + 10 {
        let Some((bytes, was_cut)) = cut(&args, room) else {
            assert!(room < Args::least(&args));
            continue;
        };
        assert!(room >= Args::least(&args));
        // After any cut, it decodes to the end.
        let mut at = 0;
        for kind in &types {
            at = silverpoint_wire::value::skip(kind, &bytes, at)
                .unwrap_or_else(|error| panic!("{room}: {error}"));
        }
        assert_eq!(at, bytes.len(), "{room}");
        assert_eq!(was_cut, bytes != whole, "{room}");
        assert!(bytes.len() + 16 >= before, "more room holds more");
        before = bytes.len();
    }
    assert_eq!(cut(&args, whole.len()), Some((whole, false)));
}

#[test]
fn items_fit_any_room_that_holds_their_least() {
    #[derive(Trace)]
    #[trace(crate = crate, recursive)]
    struct Node {
        name: String,
        below: Vec<Node>,
    }
    let node = |name: &str, below| Node { name: name.into(), below };
    let leaves = |n| (0..n).map(|_| node("a leaf with a name", Vec::new())).collect();
    let tree = node("root", vec![node("twig", leaves(100)), node(&"long ".repeat(200), leaves(3))]);
    let args = (&tree, (&5u8, (&"text", (&tree, ()))));
    let (signature, whole) = encode(&args);
    assert_eq!(signature, "vAsv");
    let types = silverpoint_wire::signature::parse(&signature).unwrap();
    let mut smaller = std::collections::BTreeSet::new();
    for room in (Args::least(&args)..whole.len() + 10).step_by(7) {
        let (bytes, was_cut) = cut(&args, room).unwrap();
        let mut at = 0;
        for (i, kind) in types.iter().enumerate() {
            let start = at;
            at = silverpoint_wire::value::skip(kind, &bytes, at).unwrap();
            if i == 0 {
                smaller.insert(at - start);
            }
        }
        assert_eq!((at, was_cut), (bytes.len(), bytes != whole), "{room}");
    }
    assert_eq!(smaller.len(), 5, "whole, three smaller ones, and a mark: {smaller:?}");
    assert_eq!(smaller.first(), Some(&8));
}

#[test]
fn texts_are_not_cut_within_a_character() {
    let text = "aé✓😀";
    for room in 8..14 {
        let (bytes, _) = cut(&(&text, ()), room).unwrap();
        let len = u32::from_le_bytes(bytes[..4].try_into().unwrap());
        let missing = u32::from_le_bytes(bytes[4..8].try_into().unwrap());
        if len >> 31 != 0 {
            let kept = std::str::from_utf8(&bytes[8..]).unwrap();
            assert!(text.starts_with(kept) && kept.len() + missing as usize == text.len(), "{room}: {kept}");
            assert_eq!(len & !(1 << 31), kept.len() as u32);
        }
    }
    // Bytes that are no text are cut anywhere.
    let (bytes, was_cut) = cut(&(&OsStr::from_bytes(&[0x80; 20]), ()), 15).unwrap();
    assert!(was_cut && bytes.len() == 15);
}

#[test]
fn a_wrong_size_costs_the_record_only() {
    struct Liar;
    impl Trace for Liar {
        const SIGNATURE: crate::sig::Sig = crate::sig::Sig::Text("L");
        const FIXED: Option<usize> = Some(2);
        fn trace_size(&self) -> usize {
            2
        }
        fn trace_write(&self, writer: &mut Writer<'_>) {
            7u64.trace_write(writer);
            "a text".trace_write(writer);
        }
    }
    let mut room = [0xEE; 32];
    let start = room.as_mut_ptr();
    // SAFETY: the room is the test's.
    unsafe {
        let mut writer = Writer::whole(start, start.add(2), true, true);
        Args::write(&(&Liar, ()), &mut writer);
        assert!(writer.has_overrun());
    }
    assert_eq!(room, [0xEE; 32]);
    let known = <(&Liar, ()) as Args>::EXACT.is_so();
    assert!(!known, "only this crate's own types are known to be right");
}

#[test]
fn what_is_checked_together_stays_in_the_room() {
    fn check(args: &impl Args) {
        let size = args.size();
        for room in 0..size + 8 {
            let mut bytes = vec![0xEE; size + 16];
            let start = bytes.as_mut_ptr();
            // SAFETY: the bytes are the test's.
            let (len, overrun) = unsafe {
                let mut writer = Writer::whole(start, start.add(room), true, false);
                args.write(&mut writer);
                (writer.position() as usize - start as usize, writer.has_overrun())
            };
            assert!(bytes[room..].iter().all(|byte| *byte == 0xEE), "{room} of {size}");
            assert_eq!(overrun, room < size, "{room} of {size}");
            assert!(overrun || len == size, "{len} of {size}");
        }
    }
    let texts: BTreeMap<&str, i32> = [("", 1), ("beta", 2), ("a key of more bytes than sixteen", 3)].into();
    let nested: BTreeMap<u8, Vec<String>> =
        [(1, vec!["one".to_owned()]), (2, vec![]), (3, vec![String::new(); 3])].into();
    check(&(&1i32, (&2.5f64, (&texts, (&3u64, ())))));
    check(&(&1i32, (&(), (&nested, (&"a text", (&4u16, ()))))));
    check(&(&(), (&texts, (&(), ()))));
    check(&(&"", (&1u8, (&texts, ()))));
}

#[test]
fn what_is_checked_together_goes_on_in_the_pages_of_a_scratch() {
    fn check(args: &impl Args) {
        let mut scratch = Scratch::new();
        let mut writer = Writer::into_scratch(&mut scratch, args.least());
        args.write(&mut writer);
        let (len, has_overrun) = (writer.used(), writer.has_overrun());
        assert!(!has_overrun);
        // SAFETY: so many were written.
        assert_eq!(unsafe { scratch.bytes(len) }, encode(args).1);
    }
    let numbers: [u64; 200] = std::array::from_fn(|i| i as u64);
    check(&(&[1.5f32; 126], ()));
    check(&(&[1.5f32; 127], ()));
    check(&(&1u8, (&numbers, (&2u8, ()))));
    check(&(&"text", (&numbers, (&[2u8; 500], ()))));
}

#[test]
fn short_copies_are_copies() {
    let source: Vec<u8> = (0..=255).collect();
    for len in 0..=crate::copy::COPY_MAX {
        let mut room = vec![0xEE; len + 20];
        let start = room.as_mut_ptr();
        // SAFETY: the room is the test's.
        unsafe {
            let mut writer = Writer::whole(start, start.add(len), true, true);
            writer.raw(&source[..len]);
            assert!(!writer.has_overrun());
        }
        assert_eq!(&room[..len], &source[..len]);
        assert!(room[len..].iter().all(|byte| *byte == 0xEE), "{len}");
    }
}

#[test]
fn times_saturate() {
    let far = SystemTime::UNIX_EPOCH + Duration::from_secs(400 * 366 * 86_400);
    assert_eq!(encode(&(&far, ())).1, i64::MAX.to_le_bytes());
    assert_eq!(encode(&(&Duration::MAX, ())).1, i64::MAX.to_le_bytes());
}
