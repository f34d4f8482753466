//! values.json: arguments of every type, with the values at their edges.

use super::json::Json;
use super::value::{V, int, text, text16};

/// A case: name, signature, arguments.
pub struct Case {
    pub name: String,
    pub signature: String,
    pub args: Vec<V>,
}

/// All valid cases.
pub fn cases() -> Vec<Case> {
    let mut all = Cases(Vec::new());
    integers(&mut all);
    floats(&mut all);
    characters(&mut all);
    texts(&mut all);
    scalars(&mut all);
    containers(&mut all);
    named(&mut all);
    all.0
}

/// The vectors.
pub fn vectors() -> Vec<Json> {
    cases().iter().map(vector).chain(super::hostile_values::vectors()).collect()
}

fn vector(case: &Case) -> Json {
    let mut bytes = Vec::new();
    case.args.iter().for_each(|arg| arg.pack(&mut bytes));
    Json::Object(vec![
        ("name", Json::text(&case.name)),
        ("signature", Json::text(&case.signature)),
        ("hex", Json::hex(&bytes)),
        ("json", Json::Array(case.args.iter().map(V::json).collect())),
        ("verdict", Json::text("ok")),
    ])
}

struct Cases(Vec<Case>);

impl Cases {
    fn one(&mut self, name: &str, signature: &str, value: V) {
        self.many(name, signature, vec![value]);
    }

    fn many(&mut self, name: &str, signature: &str, args: Vec<V>) {
        self.0.push(Case { name: name.into(), signature: signature.into(), args });
    }
}

fn integers(all: &mut Cases) {
    for (code, size) in [("a", 1), ("h", 2), ("i", 4), ("l", 8), ("o", 16)] {
        let most = i128::MAX >> (128 - 8 * size);
        for (what, value) in [("min", -most - 1), ("max", most), ("0", 0), ("-1", -1), ("1", 1)] {
            all.one(&format!("i{} {what}", 8 * size), code, V::Int(size, value));
        }
    }
    for (code, size) in [("A", 1), ("H", 2), ("I", 4), ("L", 8)] {
        for (what, value) in
            [("max", (1_i128 << (8 * size)) - 1), ("0", 0), ("high bit", 1 << (8 * size - 1))]
        {
            all.one(&format!("u{} {what}", 8 * size), code, V::Int(size, value));
        }
    }
    for (what, value) in
        [("max", u128::MAX), ("0", 0), ("bytes in order", 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100)]
    {
        all.one(&format!("u128 {what}"), "O", V::U128(value));
    }
    for value in [(1_i128 << 53) - 1, 1 << 53, -(1 << 53)] {
        all.one(&format!("i64 {value} at the edge of f64"), "l", V::Int(8, value));
    }
}

fn floats(all: &mut Cases) {
    let edges = [
        ("0", 0.0),
        ("-0", -0.0),
        ("1.5", 1.5),
        ("inf", f64::INFINITY),
        ("-inf", f64::NEG_INFINITY),
        ("nan", f64::NAN),
    ];
    for (what, value) in edges {
        all.one(&format!("f32 {what}"), "f", V::F32(value as f32));
        all.one(&format!("f64 {what}"), "d", V::F64(value));
    }
    for (what, value) in [
        ("max", f32::MAX),
        ("least", f32::from_bits(1)),
        ("0.1", 0.1),
        ("nan with payload", f32::from_bits(0xFFC1_2345)),
    ] {
        all.one(&format!("f32 {what}"), "f", V::F32(value));
    }
    for (what, value) in [
        ("max", f64::MAX),
        ("least", f64::from_bits(1)),
        ("0.1", 0.1),
        ("signalling nan", f64::from_bits(0x7FF0_0000_0000_0001)),
    ] {
        all.one(&format!("f64 {what}"), "d", V::F64(value));
    }
}

fn characters(all: &mut Cases) {
    for (what, unit) in [("a", b'a'), ("zero", 0), ("del", 127), ("half of a character", 0xC3)] {
        all.one(&format!("char8 {what}"), "c", V::Char8(unit));
    }
    for (what, unit) in [("a", 0x61), ("euro", 0x20AC), ("surrogate", 0xD83D), ("last", 0xFFFF)] {
        all.one(&format!("char16 {what}"), "w", V::Char16(unit));
    }
    for (what, unit) in [
        ("a", 0x61),
        ("smile", 0x1F600),
        ("last", 0x10_FFFF),
        ("beyond", 0x11_0000),
        ("surrogate", 0xD800),
        ("all ones", u32::MAX),
    ] {
        all.one(&format!("char32 {what}"), "W", V::Char32(unit));
    }
}

fn texts(all: &mut Cases) {
    for (what, content) in [
        ("empty", ""),
        ("ASCII", "order 66"),
        ("non-ASCII", "Gr\u{fc}\u{df}e \u{2713} \u{1F600}"),
        ("controls", "a\0b\n\t\"\\\u{7f}"),
    ] {
        all.one(&format!("UTF-8 {what}"), "s", text(content));
        all.one(&format!("UTF-16 {what}"), "S", text16(content));
        all.one(&format!("UTF-32 {what}"), "Z", V::Text32(content.chars().map(u32::from).collect(), None));
    }
    let utf8: [(&str, &[u8]); 6] = [
        ("lone continuation", b"a\x80b"),
        ("cut character", b"a\xE2\x82"),
        ("overlong", b"\xC0\xAF"),
        ("surrogate", b"\xED\xA0\x80"),
        ("beyond the last", b"\xF4\x90\x80\x80"),
        ("never a byte", b"x\xFF\xFEy"),
    ];
    for (what, bytes) in utf8 {
        all.one(&format!("UTF-8 invalid: {what}"), "s", V::Text8(bytes.into(), None));
    }
    let utf16: [(&str, &[u16]); 3] =
        [("lone high", &[0x61, 0xD83D]), ("lone low", &[0xDE00, 0x61]), ("wrong order", &[0xDE00, 0xD83D])];
    for (what, units) in utf16 {
        all.one(&format!("UTF-16 invalid: {what}"), "S", V::Text16(units.into(), None));
    }
    for (what, unit) in [("surrogate", 0xD800), ("beyond", 0x11_0000), ("all ones", u32::MAX)] {
        all.one(&format!("UTF-32 invalid: {what}"), "Z", V::Text32(vec![0x61, unit, 0x62], None));
    }
    all.one("UTF-8 cut", "s", V::Text8(b"beginn".to_vec(), Some(1000)));
    all.one("UTF-8 cut within a character", "s", V::Text8(b"\xE2\x9C".to_vec(), Some(1)));
    all.one("UTF-8 cut to nothing", "s", V::Text8(Vec::new(), Some(7)));
    all.one("UTF-8 cut, saturated", "s", V::Text8(b"x".to_vec(), Some(u32::MAX)));
    all.one("UTF-16 cut", "S", V::Text16(vec![0x61, 0x20AC], Some(5)));
    all.one("UTF-32 cut", "Z", V::Text32(vec![0x61, 0x1F600], Some(5)));
    all.one("UTF-8 of 300 bytes", "s", text(&"0123456789".repeat(30)));
}

fn scalars(all: &mut Cases) {
    all.many("no arguments", "", Vec::new());
    all.one("null", "n", V::Null);
    all.one("false", "b", V::Bool(false));
    all.one("true", "b", V::Bool(true));
    for value in [0, 0xDEAD_BEEF, u64::MAX] {
        all.one(&format!("pointer {value:#x}"), "p", V::Pointer(value));
    }
    all.one("bytes, none", "y", V::Bytes(Vec::new(), None));
    all.one("bytes", "y", V::Bytes(vec![0, 1, 0x7F, 0x80, 0xFF], None));
    all.one("bytes cut", "y", V::Bytes(vec![1, 2], Some(4094)));
    all.one(
        "UUID in the order of its text",
        "u",
        V::Uuid(*b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"),
    );
    for ns in [0, 1_700_000_000_123_456_789, -1, i64::MIN, i64::MAX] {
        all.one(&format!("time {ns}"), "t", V::Time(ns));
        all.one(&format!("duration {ns}"), "T", V::Duration(ns));
    }
    // {"a": [1, -2.5, null]} as CBOR.
    all.one("any", "v", V::Any(b"\xA1\x61a\x83\x01\xF9\xC1\x00\xF6".to_vec()));
    all.one("any, not CBOR", "v", V::Any(b"\xFF\x1C".to_vec()));
    all.many("many arguments", "blsd", vec![V::Bool(true), V::Int(8, -5), text("x"), V::F64(2.5)]);
}

fn containers(all: &mut Cases) {
    let some = |value| V::Some(Box::new(value));
    all.one("optional, none", "?i", V::None);
    all.one("optional, some", "?i", some(int(-7)));
    all.one("optional of optional, some none", "??s", some(V::None));
    all.one("optional of null", "?n", some(V::Null));
    all.one("sequence, empty", "[i", V::List(Vec::new(), None));
    all.one("sequence", "[i", V::List(vec![int(1), int(-1), int(i32::MAX.into())], None));
    all.one("sequence of text", "[s", V::List(vec![text(""), text("b")], None));
    all.one("sequence cut", "[h", V::List(vec![V::Int(2, 1), V::Int(2, 2)], Some(998)));
    all.one("sequence of nothing", "[n", V::List(vec![V::Null; 3], None));
    all.one("set", "$A", V::Set(vec![V::Int(1, 3), V::Int(1, 9)], None));
    all.one("set cut", "$A", V::Set(vec![V::Int(1, 3)], Some(2)));
    all.one("array", "#3:H", V::Array(vec![V::Int(2, 1), V::Int(2, 2), V::Int(2, 65535)]));
    all.one("array of text", "#2:s", V::Array(vec![text("a"), text("bc")]));
    all.one("array of none", "#0:s", V::Array(Vec::new()));
    all.one("map, empty", "{si", V::Map(Vec::new()));
    all.one("map", "{si", V::Map(vec![(text("a"), int(1)), (text("b"), int(2))]));
    all.one(
        "map of numbers, equal keys kept",
        "{Ab",
        V::Map(vec![(V::Int(1, 1), V::Bool(true)), (V::Int(1, 1), V::Bool(false))]),
    );
    all.one("tuple, empty", "()", V::Tuple(Vec::new()));
    all.one("tuple", "(is)", V::Tuple(vec![int(1), text("x")]));
    let pair = |number, word| V::Tuple(vec![int(number), text(word)]);
    all.one("sequence of map of sequence", "[{s[(is)", {
        let map = V::Map(vec![
            (text("k"), V::List(vec![pair(1, "a"), pair(2, "")], None)),
            (text(""), V::List(Vec::new(), None)),
        ]);
        V::List(vec![map, V::Map(Vec::new())], None)
    });
    let deep = (0..31).fold(int(5), |value, _| V::List(vec![value], None));
    all.one("31 sequences deep", &format!("{}i", "[".repeat(31)), deep);
    all.one("variant, first", "/is|", V::Variant(0, Box::new(int(-1))));
    all.one("variant, second", "/is|", V::Variant(1, Box::new(text("x"))));
    all.one("variant, none", "/is|", V::NoVariant);
    all.one("variant of nothing, none", "/|", V::NoVariant);
    all.one("variant of optional", "/?A|", V::Variant(0, Box::new(V::None)));
}

fn named(all: &mut Cases) {
    let point = V::Record("Point", vec![("x", int(1)), ("y", int(-2))]);
    all.one("record", "<Point|x:i,y:i,>", point.clone());
    all.one("record, empty", "<Unit|>", V::Record("Unit", Vec::new()));
    all.one("record of records", "<Line|a:<Point|x:i,y:i,>,name:?s,>", {
        V::Record("Line", vec![("a", point), ("name", V::Some(Box::new(text("l"))))])
    });
    all.one("record with every character in its names", "<a%3Cb%3E|%C3%BC %25:A,:b,>", {
        V::Record("a<b>", vec![("\u{fc} %", V::Int(1, 1)), ("", V::Bool(true))])
    });
    let color = "eColor|A|0=Red,1=Gr%C3%BCn,7=a%2Cb%3D%3B,;";
    for (what, label, value) in [
        ("first", Some("Red"), 0),
        ("non-ASCII", Some("Gr\u{fc}n"), 1),
        ("escaped", Some("a,b=;"), 7),
        ("unknown", None, 3),
    ] {
        all.one(
            &format!("enumeration, {what}"),
            color,
            V::Enumeration("Color", label, Box::new(V::Int(1, value))),
        );
    }
    all.one("enumeration without labels", "eE|i|;", V::Enumeration("E", None, Box::new(int(-5))));
    all.one(
        "enumeration, negative label",
        "eE|h|-300=Least,;",
        V::Enumeration("E", Some("Least"), Box::new(V::Int(2, -300))),
    );
    all.one(
        "enumeration, least",
        "eE|l|-9223372036854775808=Min,;",
        V::Enumeration("E", Some("Min"), Box::new(V::Int(8, i64::MIN.into()))),
    );
    // 64 bits unsigned: labels and values are compared as two's complement, and are given so.
    all.one(
        "enumeration, u64 max",
        "eE|L|18446744073709551615=All,;",
        V::Enumeration("E", Some("All"), Box::new(V::Int(8, -1))),
    );
    all.one(
        "enumeration over bool",
        "eYes|b|0=No,1=Yes,;",
        V::Enumeration("Yes", Some("Yes"), Box::new(V::Bool(true))),
    );
    all.one("enumeration over char", "eC|c|97=A,;", V::Enumeration("C", Some("A"), Box::new(V::Char8(97))));
    all.one(
        "enumeration over char16",
        "eC|w|65535=Last,;",
        V::Enumeration("C", Some("Last"), Box::new(V::Char16(65535))),
    );
    all.one(
        "enumeration, first of equal labels",
        "eE|A|1=a,1=b,;",
        V::Enumeration("E", Some("a"), Box::new(V::Int(1, 1))),
    );
    let unit = |value| V::Meta("unit", "m/s", Box::new(value));
    all.one("metadata", "@unit=m/s;d", unit(V::F64(3.5)));
    all.one("metadata twice", "@unit=m/s;@hex=;I", unit(V::Meta("hex", "", Box::new(int(255)))));
    all.one(
        "metadata within a sequence",
        "[@unit=m/s;A",
        V::List(vec![unit(V::Int(1, 1)), unit(V::Int(1, 2))], None),
    );
}
