//! Values of every type as text and as JSON, by template and signature.

use std::fmt::Write;

use silverpoint_render::Renderer;
use silverpoint_render::json::{JsonVisitor, Stack};
use silverpoint_trace::Site;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;
use silverpoint_wire::value::walk;

use crate::builder::{log, text};

/// The text of a log record.
fn render(template: &str, signature: &str, args: &[u8]) -> String {
    render_site(log(Level::Info, "", 1, template, signature), args)
}

fn render_site(description: SiteDescription, args: &[u8]) -> String {
    let mut out = String::new();
    let _ = Renderer::new().message(&mut out, &Site::new(description), args);
    out
}

/// The JSON of the only argument.
fn json(signature: &str, args: &[u8]) -> String {
    let (mut out, mut stack) = (String::new(), Stack::default());
    let types = silverpoint_wire::signature::parse(signature).unwrap();
    let walked = walk(&types[0], args, 0, &mut JsonVisitor::new(&mut out, &mut stack));
    assert_eq!(walked, Ok(args.len()), "{signature}");
    serde_json::from_str::<serde_json::Value>(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    out
}

/// Bytes one after the other.
fn bytes(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn n(count: u32) -> [u8; 4] {
    count.to_le_bytes()
}

/// A length with the mark of a cut, and how much is missing.
fn cut(count: u32, missing: u32) -> Vec<u8> {
    [(count | 1 << 31).to_le_bytes(), missing.to_le_bytes()].concat()
}

#[test]
fn every_type() {
    let uuid: Vec<u8> = (0..16).collect();
    let utf16: Vec<u8> = "hé𝄞".encode_utf16().flat_map(u16::to_le_bytes).chain([0x00, 0xD8]).collect();
    let utf32: Vec<u8> = ['x' as u32, 0x1F980, 0xD800].into_iter().flat_map(u32::to_le_bytes).collect();
    let table: Vec<(&str, Vec<u8>)> = vec![
        ("n", vec![]),
        ("b", vec![1]),
        ("a", vec![0x80]),
        ("A", vec![0xFF]),
        ("h", vec![0, 0x80]),
        ("H", vec![0xFF, 0xFF]),
        ("i", (-5i32).to_le_bytes().into()),
        ("I", n(u32::MAX).into()),
        ("l", i64::MIN.to_le_bytes().into()),
        ("L", u64::MAX.to_le_bytes().into()),
        ("o", i128::MIN.to_le_bytes().into()),
        ("O", u128::MAX.to_le_bytes().into()),
        ("f", 0.1f32.to_le_bytes().into()),
        ("d", 0.1f64.to_le_bytes().into()),
        ("d", 1e30f64.to_le_bytes().into()),
        ("d", f64::NAN.to_le_bytes().into()),
        ("d", f64::NEG_INFINITY.to_le_bytes().into()),
        ("c", vec![b'c']),
        ("c", vec![0xE9]),
        ("w", 0x20ACu16.to_le_bytes().into()),
        ("w", 0xD800u16.to_le_bytes().into()),
        ("W", 0x1F980u32.to_le_bytes().into()),
        ("p", 0xDEAD_BEEFu64.to_le_bytes().into()),
        ("s", text("a \"b\"\n\x1b[31m")),
        ("s", bytes(&[&n(3), b"a\xFFb"])),
        ("s", bytes(&[&cut(3, 40), b"abc"])),
        ("S", bytes(&[&n(5), &utf16])),
        ("Z", bytes(&[&n(3), &utf32])),
        ("y", bytes(&[&n(3), &[0, 0xAB, 0xFF]])),
        ("y", bytes(&[&cut(1, 9), &[1]])),
        ("u", uuid),
        ("t", 1_795_201_331_123_456_789i64.to_le_bytes().into()),
        ("T", 1_234_500i64.to_le_bytes().into()),
        ("?i", vec![0]),
        ("?i", vec![1, 7, 0, 0, 0]),
        ("[i", bytes(&[&n(2), &n(1), &n(2)])),
        ("[i", bytes(&[&cut(2, 7), &n(1), &n(2)])),
        ("[i", bytes(&[&cut(0, 7)])),
        ("[s", bytes(&[&n(2), &text("a"), &text("b\"\n")])),
        ("$A", bytes(&[&n(2), &[1, 2]])),
        ("#3:A", vec![1, 2, 3]),
        ("#0:n", vec![]),
        ("{sI", bytes(&[&n(2), &text("a"), &n(1), &text("b"), &n(2)])),
        ("{Is", bytes(&[&n(1), &n(7), &text("x")])),
        ("{(AA)A", bytes(&[&n(1), &[1, 2, 3]])),
        ("(Is)", bytes(&[&n(1), &text("x")])),
        ("<Point|x:i,y:i,>", bytes(&[&n(1), &n(2)])),
        ("<a%20b|c%3A:<|>,d:c,>", vec![b'x']),
        ("eColour|A|0=red,1=green,;", vec![1]),
        ("eColour|a|0=red,-1=none,;", vec![0xFF]),
        ("eColour|A|0=red,;", vec![9]),
        ("/is|", bytes(&[&[1], &text("x")])),
        ("/is|", vec![255]),
        ("@unit=ms;I", n(5).into()),
        ("@hex=;I", n(255).into()),
        ("@hex=;[I", bytes(&[&n(2), &n(255), &n(1)])),
        ("@hex=;y", bytes(&[&n(2), &[0xAB, 1]])),
        ("<R|a:@hex=;?I,b:I,>", bytes(&[&[0], &n(255)])),
        ("[@unit=ms;I", bytes(&[&n(2), &n(5), &n(6)])),
        ("@unit=ms;[I", bytes(&[&n(2), &n(5), &n(6)])),
        ("@unit=ms;?I", vec![0]),
        ("@unit=m%1B;@hex=;I", n(255).into()),
        ("<R|a:@unit=km;(@unit=m;A@hex=;A),b:A,>", vec![5, 16, 17]),
        ("{@unit=s;A@unit=m;A", bytes(&[&n(2), &[1, 2, 3, 4]])),
        ("@secret=;n", vec![]),
        ("@secret=;s", text("password")),
        ("@unit=ms;@secret=;I", n(5).into()),
        ("@secret=;@unit=ms;I", n(5).into()),
        ("<R|a:A,b:@secret=;{s[s,c:A,>", bytes(&[&[1], &n(1), &text("k"), &n(1), &text("v"), &[2]])),
        ("{@secret=;sA", bytes(&[&n(1), &text("k"), &[1]])),
        ("[@secret=;?s", bytes(&[&n(2), &[0, 1], &text("x")])),
        ("@secret=;v", bytes(&[&n(3), &[0x82, 0x01, 0x02]])),
        ("@flags=1%3Dr%2C2%3Dw%2C4%3Dx;eMode|A|;", vec![5]),
        ("@flags=1%3Dr%2C2%3Dw%2C4%3Dx;eMode|A|;", vec![0x83]),
        ("@flags=1%3Dr%2C2%3Dw%2C4%3Dx;eMode|A|;", vec![0x80]),
        ("@flags=1%3Dr%2C2%3Dw%2C3%3Drw;eMode|A|;", vec![0]),
        ("@flags=0%3Dnone%2C3%3Drw%2C1%3Dr%2C2%3Dw;[A", bytes(&[&n(2), &[3, 0]])),
        ("[@flags=0%3Dnone%2C3%3Drw%2C1%3Dr;A", bytes(&[&n(3), &[3, 0, 1]])),
        ("[@flags=nothing;A", bytes(&[&n(1), &[3]])),
        ("([{s?[f@hex=;A)", bytes(&[&n(1), &n(1), &text("k"), &[1], &n(1), &1.5f32.to_le_bytes(), &[16]])),
    ];
    let mut shown = String::new();
    for (signature, args) in &table {
        let _ =
            writeln!(shown, "{signature:24} {:40} {}", render("{}", signature, args), json(signature, args));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn items_of_cbor() {
    let table: &[(&str, &[u8])] = &[
        ("unsigned", &[0x18, 0xFF]),
        ("negative", &[0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        ("half", &[0xF9, 0x3E, 0x00]),
        ("half subnormal", &[0xF9, 0x00, 0x01]),
        ("half infinity", &[0xF9, 0xFC, 0x00]),
        ("double", &[0xFB, 0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A]),
        ("text", &[0x63, b'a', b'"', b'b']),
        ("text in chunks", &[0x7F, 0x61, b'a', 0x61, b'b', 0xFF]),
        ("bytes", &[0x42, 1, 2]),
        ("array", &[0x83, 1, 0x80, 0xF6]),
        ("array without length", &[0x9F, 1, 0x9F, 0xFF, 0xFF]),
        ("map", &[0xA2, 0x61, b'a', 0xF5, 0x01, 0xA0]),
        ("map with a container as key", &[0xA1, 0x82, 1, 2, 3]),
        ("simple", &[0xF7]),
        ("tagged", &[0xC0, 0x61, b'x']),
        ("time", &[0xC1, 0x01]),
        ("time with a fraction", &[0xC1, 0xFB, 0x41, 0xD9, 0x54, 0xFC, 0x40, 0x07, 0xDF, 0x3B]),
        ("time before 1970", &[0xC1, 0xFB, 0xBF, 0xF8, 0, 0, 0, 0, 0, 0]),
        ("time, too late", &[0xC1, 0xFB, 0x42, 0x20, 0, 0, 0, 0, 0, 0]),
        ("time, not a number", &[0xC1, 0xFB, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]),
        ("128 bits", &[0xC2, 0x50, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("128 bits, negative", &[0xC3, 0x50, 0x7F, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("128 bits, few bytes", &[0xC3, 0x41, 0]),
        ("128 bits, too negative", &[0xC3, 0x50, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ("136 bits", &[0xC2, 0x51, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (
            "with a unit",
            &[0xDA, 0x53, 0x50, 0x6D, 0x64, 0x82, 0x67, b'u', b'n', b'i', b't', b'=', b'm', b's', 12],
        ),
        (
            "with a unit, and a list in hexadecimal",
            &[
                0x83, 1, 0xDA, 0x53, 0x50, 0x6D, 0x64, 0x82, 0x66, b'u', b'n', b'i', b't', b'=', b'm', 2,
                0xDA, 0x53, 0x50, 0x6D, 0x64, 0x82, 0x64, b'h', b'e', b'x', b'=', 0x82, 0x18, 0xFF, 16,
            ],
        ),
        (
            "metadata in a map",
            &[
                0xA2, 1, 0xDA, 0x53, 0x50, 0x6D, 0x64, 0x82, 0x66, b'u', b'n', b'i', b't', b'=', b'm', 0x9F,
                2, 0xFF, 3, 4,
            ],
        ),
        ("metadata of another shape", &[0xDA, 0x53, 0x50, 0x6D, 0x64, 0x83, 0x61, b'a', 1, 2]),
        ("metadata without a key", &[0xDA, 0x53, 0x50, 0x6D, 0x64, 0x82, 0x61, b'a', 1]),
        (
            "metadata of nothing",
            &[0xDA, 0x53, 0x50, 0x6D, 0x64, 0x82, 0x66, b'u', b'n', b'i', b't', b'=', b'm'],
        ),
        ("malformed", &[0x62, b'a']),
        ("two items", &[1, 2]),
        ("empty", &[]),
        ("too deep", &[0x81; 100]),
        ("longer than the item", &[0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        ("break alone", &[0xFF]),
    ];
    let mut shown = String::new();
    for (name, item) in table {
        let args = bytes(&[&n(item.len() as u32), item]);
        let _ = writeln!(shown, "{name:28} {:44} {}", render("{}", "v", &args), json("v", &args));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn specifications_reach_arguments_and_elements() {
    let point = bytes(&[&n(1), &(-2i32).to_le_bytes()]);
    let list = bytes(&[&n(2), &1.0f64.to_le_bytes(), &2.5f64.to_le_bytes()]);
    for (template, signature, args, expected) in [
        ("{:>6}|", "s", text("ab"), "    ab|"),
        ("{:*^7.2}|", "s", text("abc"), "**ab***|"),
        ("{:#06x}", "I", n(255).to_vec(), "0x00ff"),
        ("{:.1f}", "[d", list.clone(), "[1.0, 2.5]"),
        ("{:+}", "<P|x:i,y:i,>", point, "P{x: +1, y: -2}"),
        ("{:>5}|", "?I", vec![0], " none|"),
        ("{:>5}|", "?I", bytes(&[&[1], &n(7)]), "    7|"),
        ("{:8}|", "eE|A|1=one,;", vec![1], "one     |"),
        ("{:d}", "eE|A|1=one,;", vec![1], "1"),
        ("{1} {0}", "IA", bytes(&[&n(7), &[9]]), "9 7"),
        ("{0} {0}", "I", n(7).to_vec(), "7 7"),
        ("{:?}", "s", text("a\"b"), "\"a\\\"b\""),
        ("{{}} {}", "I", n(7).to_vec(), "{} 7"),
        ("line\nend {}\t", "I", n(7).to_vec(), "line\\nend 7\\t"),
        ("{} {} {}", "II", bytes(&[&n(1), &n(2)]), "1 2 <no argument>"),
        ("nothing", "II", bytes(&[&n(1), &n(2)]), "nothing 1 2"),
        ("{unclosed", "I", n(7).to_vec(), "{unclosed 7"),
        ("{} {}", "Is", bytes(&[&n(7), &n(9)]), "7 <damaged>"),
        ("{}", "[", n(7).to_vec(), "<no argument>"),
    ] {
        assert_eq!(render(template, signature, &args), expected, "{template} {signature}");
    }
}

#[test]
fn structured_kinds() {
    let site = |kind, names: &str, template: &str, signature: &str| SiteDescription {
        kind,
        names: names.into(),
        ..log(Level::Info, "", 1, template, signature)
    };
    let args = bytes(&[&n(7), &text("a=b"), &text("plain")]);
    let event = site(Kind::Event, "id\nuser\nhost\n", "order.filled", "Iss");
    assert_eq!(render_site(event, &args), "order.filled id=7 user=\"a=b\" host=plain");
    let unnamed = site(Kind::Instant, "", "tick", "Is");
    assert_eq!(render_site(unnamed, &bytes(&[&n(7), &text("")])), "tick 7 \"\"");
    let counter = site(Kind::Counter, "", "queue {length}", "d");
    assert_eq!(render_site(counter, &2.5f64.to_le_bytes()), "queue {length} = 2.5");
    let with_unit = site(Kind::Counter, "", "latency", "@unit=m%25;d");
    assert_eq!(render_site(with_unit, &2.5f64.to_le_bytes()), "latency = 2.5 m%");
    let stream = site(Kind::Stream, "", "pos {} {}", "sI");
    assert_eq!(render_site(stream, &bytes(&[&text("a b"), &n(1)])), "pos a b 1");
    // An array without a length: "pos", [1, "a"], 2.5, "a b".
    let item = b"\x9f\x63pos\x82\x01\x61a\xfb\x40\x04\0\0\0\0\0\0\x63a b\xff";
    let pieces = bytes(&[&n(item.len() as u32), item]);
    assert_eq!(render_site(site(Kind::Stream, "", "", "v"), &pieces), "pos [1, \"a\"] 2.5 a b");
    assert_eq!(render_site(site(Kind::Log, "", "{}", "v"), &pieces), "[\"pos\", [1, \"a\"], 2.5, \"a b\"]");
    let named = site(Kind::Log, "user\nid\n", "login of {user}", "sI");
    assert_eq!(render_site(named, &bytes(&[&text("bob"), &n(1)])), "login of bob id=1");
    let id = 7u64.to_le_bytes();
    for (kind, expected) in [
        (Kind::AsyncBegin, "fetch begin id=7"),
        (Kind::AsyncEnd, "fetch end id=7"),
        (Kind::AsyncInstant, "fetch id=7"),
        (Kind::FlowBegin, "fetch flow begin id=7"),
        (Kind::FlowStep, "fetch flow step id=7"),
        (Kind::FlowEnd, "fetch flow end id=7"),
    ] {
        assert_eq!(render_site(site(kind, "id\n", "fetch", "L"), &id), expected);
    }
    let link = site(Kind::Link, "from\nto\n", "link", "LL");
    assert_eq!(render_site(link, &[id, id].concat()), "link from=7 to=7");
    let wrong = site(Kind::Log, "user\n", "{nobody}", "s");
    assert_eq!(render_site(wrong, &text("bob")), "{nobody} user=bob");
}

/// Text and JSON of a record with any bytes: no panic, one line, valid JSON.
mod hostile {
    use super::*;
    use proptest::prelude::*;

    fn signature() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(
            "n b a h i l o A H I L O f d c w W p s S Z y u t T v eE|A|1=x,; @hex=;I <|>"
                .split(' ')
                .collect::<Vec<_>>(),
        );
        leaf.prop_map(str::to_owned).prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|t| format!("?{t}")),
                inner.clone().prop_map(|t| format!("[{t}")),
                inner.clone().prop_map(|t| format!("${t}")),
                (0u32..5, inner.clone()).prop_map(|(n, t)| format!("#{n}:{t}")),
                (inner.clone(), inner.clone()).prop_map(|(k, v)| format!("{{{k}{v}")),
                prop::collection::vec(inner.clone(), 0..4).prop_map(|ts| format!("({})", ts.concat())),
                prop::collection::vec(inner.clone(), 0..4).prop_map(|ts| format!("/{}|", ts.concat())),
                (inner.clone(), inner).prop_map(|(a, b)| format!("<R|a:{a},b:{b},>")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_of_any_type(
            signature in signature(),
            args in prop::collection::vec(prop_oneof![4 => Just(0u8), 2 => 1u8..4, 1 => any::<u8>()], 0..60),
            template in prop::sample::select(vec!["{}", "{:>9.3}", "{:#x}", "{:010.2e}", "{:?}", "{:c}", "{:+a}"]),
        ) {
            let line = render(template, &signature, &args);
            prop_assert!(!line.chars().any(char::is_control), "{line:?}");
            let types = silverpoint_wire::signature::parse(&signature).unwrap();
            // A value that can be read to its end is one JSON value.
            let (mut out, mut stack) = (String::new(), Stack::default());
            if walk(&types[0], &args, 0, &mut JsonVisitor::new(&mut out, &mut stack)).is_ok() {
                serde_json::from_str::<serde_json::Value>(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
            }
        }
    }
}

#[test]
fn metadata_and_specifications() {
    assert_eq!(render("{:>8}|", "@unit=ms;I", &n(5)), "       5 ms|", "the width is the value's");
    assert_eq!(render("{:d}|", "@hex=;I", &n(255)), "255|", "the specification is stronger");
    assert_eq!(render("{:>5}|{:d}", "@flags=1%3Da;A@flags=1%3Da;A", &[1, 1]), "    a|1");
    assert_eq!(render("{1} {0}", "@unit=ms;AA", &[5, 6]), "6 5 ms", "out of order");
    assert_eq!(render("{:>12}", "@secret=;s", &text("password")), "<secret>");
    // A secret stays one where the arguments are damaged, and in all places where arguments are shown.
    assert_eq!(render("{}", "@secret=;(ss)", &text("password")), "<damaged>");
    let event = SiteDescription { kind: Kind::Event, ..log(Level::Info, "", 1, "login", "sA@secret=;s") };
    let shown = render_site(event, &bytes(&[&text("joe"), &[1], &text("password")]));
    assert!(shown.contains("joe") && shown.ends_with("<secret>") && !shown.contains("password"), "{shown}");
}
