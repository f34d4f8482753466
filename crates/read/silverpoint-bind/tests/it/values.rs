//! What vectors do not show.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use silverpoint_bind::{Any, Bind, JsonSink, Put, Take, Uuid, from_cbor, from_json, to_cbor, to_json};

fn there_and_back<T: Put + Take + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(&from_json::<T>(to_json(value).as_bytes()).unwrap(), value);
    assert_eq!(&from_cbor::<T>(&to_cbor(value)).unwrap(), value);
}

#[derive(Bind, Debug, PartialEq, Default)]
struct Tree<T> {
    #[trace(rename = "the \"value\"")]
    value: T,
    #[bind(default)]
    below: Vec<Tree<T>>,
    #[bind(skip)]
    cached: u32,
}

#[derive(Bind, Debug, PartialEq)]
struct Meters(f64);

#[derive(Bind, Debug, PartialEq)]
struct Both(i32, Option<String>);

#[derive(Bind, Debug, PartialEq)]
struct Nothing;

#[derive(Bind, Debug, PartialEq)]
enum Message {
    #[bind(rename = "quit")]
    Quit,
    Say(String),
    Move {
        by: Both,
    },
}

#[test]
fn types_of_all_forms_come_back() {
    let leaf = |value| Tree { value, below: Vec::new(), cached: 0 };
    let tree =
        Tree { value: 1_u8, below: vec![leaf(2), Tree { below: vec![leaf(4)], ..leaf(3) }], cached: 0 };
    there_and_back(&tree);
    assert!(to_json(&tree).starts_with(r#"{"the \"value\"":1,"below":["#));
    there_and_back(&Meters(1.5));
    assert_eq!(to_json(&Meters(1.5)), "1.5");
    there_and_back(&Both(-1, None));
    assert_eq!(to_json(&Both(-1, None)), "[-1,null]");
    there_and_back(&Nothing);
    for message in
        [Message::Quit, Message::Say("a\u{7F}".into()), Message::Move { by: Both(1, Some("".into())) }]
    {
        there_and_back(&message);
    }
    assert_eq!(to_json(&[Message::Quit]), r#"["quit"]"#);
    there_and_back(&HashMap::from([("a".to_owned(), vec![(1_u8, 'x')]), ("ü\n".to_owned(), Vec::new())]));
    there_and_back(&BTreeMap::from([(Some(1), Box::new(())), (None, Box::new(()))]));
    there_and_back(&Duration::from_nanos(i64::MAX as u64));
    there_and_back(&Uuid(*b"0123456789abcdef"));
    there_and_back(&(SystemTime::UNIX_EPOCH - Duration::new(62_000_000_000, 1)));
    there_and_back(&u128::MAX);
    there_and_back(&i128::MIN);
}

#[test]
fn floats_that_are_none() {
    let mut sink = JsonSink::new(String::new()).with_special_floats();
    vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY].put(&mut sink);
    let text = sink.into_text();
    assert_eq!(text, r#"["nan","inf","-inf"]"#);
    let back: Vec<f64> = from_json(text.as_bytes()).unwrap();
    assert!(back[0].is_nan() && back[1] == f64::INFINITY && back[2] == f64::NEG_INFINITY);
    assert_eq!(to_json(&[f64::NAN, f64::INFINITY]), "[null,null]");
    assert_eq!(to_cbor(&f64::NEG_INFINITY), [0xFA, 0xFF, 0x80, 0, 0]);
    assert_eq!(from_json::<f64>(b"1e999").unwrap(), f64::INFINITY);
}

#[test]
fn nesting_and_lengths_are_bounded() {
    let deep = "[".repeat(1_000_000);
    let error = from_json::<Any>(deep.as_bytes()).unwrap_err();
    assert_eq!(
        (error.offset(), error.found(), error.expected()),
        (128, "a deeper level", "at most 128 levels")
    );
    assert_eq!(
        from_json::<Tree<u8>>("{\"below\":[".repeat(100_000).as_bytes()).unwrap_err().found(),
        "a deeper level"
    );
    assert_eq!(from_json::<()>(deep.as_bytes()).unwrap_err().expected(), "null");
    assert_eq!(from_cbor::<Any>(&vec![0x81; 1_000_000]).unwrap_err().found(), "a deeper level");
    // Tags without an end.
    assert_eq!(from_cbor::<Any>(&vec![0xC0; 1_000_000]).unwrap_err().found(), "the end of the input");
    for major in [2_u8, 3, 4, 5] {
        let claim = [major << 5 | 27, 0, 0, 0, 1, 0, 0, 0, 0];
        assert_eq!(from_cbor::<Any>(&claim).unwrap_err().found(), "the end of the input");
        assert!(from_cbor::<Vec<u64>>(&claim).is_err());
        assert!(from_cbor::<String>(&claim).is_err());
    }
}

/// What a struct passes over is looked through like all else.
#[test]
fn what_is_unknown_must_be_well_formed() {
    #[derive(Bind, Debug)]
    struct Empty {}
    assert!(from_json::<Empty>(br#"{"a":[1,{"b":null}],"c":"\u00fc"}"#).is_ok());
    let error = from_json::<Empty>(b"{\"a\":[1,{\"b\":nul}]}").unwrap_err();
    assert_eq!((error.offset(), error.path(), error.found()), (16, ".a[1].b", "'}'"));
    assert!(from_json::<Empty>(br#"{"c":"\ud800"}"#).is_err());
    assert!(from_json::<Empty>(b"{\"c\":01}").is_err());
    assert!(from_json::<Empty>(b"{\"c\":\"\xFF\"}").is_err());
    assert!(from_json::<Empty>(b"{\"c\":1,}").is_err());
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Another reader and writer of JSON sees the same.
    #[test]
    fn serde_json_agrees(value in any_json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let any: Any = from_json(text.as_bytes()).unwrap();
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&to_json(&any)).unwrap(), serde_json::from_str::<serde_json::Value>(&text).unwrap());
            prop_assert_eq!(&from_cbor::<Any>(any.as_cbor()).unwrap(), &any);
        }
    }

    /// What it refuses is refused, and what it reads is read.
    #[test]
    fn damaged_json_is_refused_as_by_serde_json(value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = value.to_string().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        let theirs = serde_json::from_slice::<serde_json::Value>(&text);
        // It refuses floats that are too large, and takes U+007F as it is.
        if theirs.as_ref().err().is_none_or(|error| !error.to_string().contains("out of range")) {
            prop_assert_eq!(from_json::<Any>(&text).is_ok(), theirs.is_ok(), "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(any) = from_cbor::<Any>(&bytes) {
            prop_assert_eq!(from_cbor::<Any>(any.as_cbor()).unwrap(), any);
        }
        let _ = from_json::<Any>(&bytes);
        let _ = from_cbor::<Tree<Message>>(&bytes);
    }
}
