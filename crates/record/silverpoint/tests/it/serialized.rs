//! Values recorded by `serde::Serialize`. Feature `serde`.

use std::collections::BTreeMap;

use serde::ser::{Error as _, SerializeMap, SerializeSeq, SerializeTuple};
use serde::{Serialize, Serializer};
use silverpoint::{Serde, Trace, event};

use crate::{Role, Scene, Test, reader, side_by_side};

pub const TESTS: &[Test] = &[
    ("every_serialized_type_reads_back", every_type_reads_back),
    ("serialized_values_are_bounded", serialized_values_are_bounded),
];
pub const ROLES: &[Role] = &[("serialized_types", types), ("serialized_bounds", bounds)];

#[derive(Serialize)]
struct Order {
    id: u64,
    #[serde(rename = "symbol")]
    name: &'static str,
    limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    side: Side,
}

#[derive(Serialize)]
enum Side {
    Buy,
    Iceberg { shown: u32 },
    Basket(u8, char),
    Market(Unit),
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
#[serde(tag = "kind")]
enum Tagged {
    Moved { to: (i8, i8) },
}

#[derive(Serialize)]
#[serde(transparent)]
struct Bytes<'a>(#[serde(serialize_with = "as_bytes")] &'a [u8]);

fn as_bytes<S: Serializer>(bytes: &&[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

#[derive(Serialize)]
struct Meters(f32);

#[derive(Serialize)]
struct Pair(u8, bool);

/// What a function makes of a serializer.
struct By<F>(F);

impl<F: Fn(Walk<'_>) -> Result<(), String>> Serialize for By<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        let mut failed = None;
        let outcome = (self.0)(Walk(std::cell::RefCell::new(&mut |number| {
            failed = list.serialize_element(&number).err();
            failed.is_none()
        })));
        match (failed, outcome) {
            (Some(error), _) => Err(error),
            (None, Err(message)) => Err(S::Error::custom(message)),
            (None, Ok(())) => list.end(),
        }
    }
}

/// Puts numbers into a list, and says whether that went well.
struct Walk<'w>(std::cell::RefCell<&'w mut dyn FnMut(u32) -> bool>);

impl Walk<'_> {
    fn put(&self, number: u32) -> bool {
        (self.0.borrow_mut())(number)
    }
}

/// A map that is put in a wrong way.
struct Odd;

impl Serialize for Odd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(17))?;
        map.serialize_value(&1)?;
        map.serialize_key("two")?;
        map.serialize_key("three")?;
        map.serialize_value(&3)?;
        map.serialize_key("four")?;
        map.end()
    }
}

/// A part that fails, deep within.
struct Failing(&'static str);

impl Serialize for Failing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pair = serializer.serialize_tuple(2)?;
        pair.serialize_element("first")?;
        Err(S::Error::custom(format_args!("lock {} is poisoned", self.0)))
    }
}

struct Shown;

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}-{}", 1, 2))
    }
}

#[derive(Trace)]
#[trace(recursive)]
struct Holder {
    config: Serde<Vec<Failing>>,
    after: Vec<Holder>,
}

cases! { "serialized_types":
    "struct": Serde(&Order { id: 7, name: "SPT", limit: Some(1.5), note: None, side: Side::Buy }) => "v"
        r#"{"id": 7, "symbol": "SPT", "limit": 1.5, "side": "Buy"}"#;
    "owned": Serde(Order { id: 8, name: "", limit: None, note: Some("n".into()), side: Side::Iceberg { shown: 5 } }) => "v"
        r#"{"id": 8, "symbol": "", "limit": null, "note": "n", "side": {"Iceberg": {"shown": 5}}}"#;
    "variants": Serde((Side::Basket(1, 'ä'), Side::Market(Unit))) => "v" r#"[{"Basket": [1, "ä"]}, {"Market": null}]"#;
    "tagged": Serde(Tagged::Moved { to: (-1, 1) }) => "v" r#"{"kind": "Moved", "to": [-1, 1]}"#;
    "numbers": Serde((i8::MIN, i16::MIN, i32::MIN, i64::MIN, u8::MAX, u16::MAX, u32::MAX, u64::MAX)) => "v"
        "[-128, -32768, -2147483648, -9223372036854775808, 255, 65535, 4294967295, 18446744073709551615]";
    "wide numbers": Serde((i128::MIN, u128::MAX, -5i128, 5u128)) => "v"
        "[3(h'7fffffffffffffffffffffffffffffff'), 2(h'ffffffffffffffffffffffffffffffff'), -5, 5]";
    "floats": Serde((0.5f32, -0.25f64, f64::INFINITY)) => "v" "[0.5_f32, -0.25, inf]";
    "scalars": Serde((true, false, 'x', "text", (), None::<u8>, Some(Some(3u8)))) => "v" r#"[true, false, "x", "text", null, null, 3]"#;
    "bytes": Serde(Bytes(&[0, 255])) => "v" "h'00ff'";
    "newtype": Serde((Meters(1.5), Pair(1, true), [1u8; 3])) => "v" "[1.5_f32, [1, true], [1, 1, 1]]";
    "map": Serde(BTreeMap::from([((1u8, "a"), vec![1u8]), ((2, "b"), vec![])])) => "v" r#"{[1, "a"]: [1], [2, "b"]: []}"#;
    "displayed": Serde(Shown) => "v" "\"1-2\"";
    "long text": Serde("x".repeat(70_000)) => "v" format!("{:?}", "x".repeat(70_000));
    "json": Serde(serde_json::json!({"a": [1, null, {"b": -2.5}]})) => "v" r#"{"a": [1, null, {"b": -2.5}]}"#;
    "in a sequence": vec![Serde(1u8), Serde(2)] => "[v" "[1, 2]";
    "odd map": Serde(Odd) => "v" r#"{null: 1, "two": null, "three": 3, "four": null}"#;
    "error": Serde(vec![Failing("orders")]) => "v" "\"<error: lock orders is poisoned>\"";
    "error in a sequence": vec![Serde(Ok::<u8, Failing>(1)), Serde(Err(Failing("x")))] => "[v"
        r#"[{"Ok": 1}, "<error: lock x is poisoned>"]"#;
    "long error": Serde(By(|_: Walk<'_>| Err("é".repeat(80)))) => "v" format!("\"<error: {}>\"", "é".repeat(47));
    "error within a recursive type": Holder { config: Serde(vec![Failing("y")]), after: vec![] } => "v"
        r#"{"config": "<error: lock y is poisoned>", "after": []}"#;
}

#[derive(Serialize)]
struct Chain(Option<Box<Chain>>);

#[derive(Serialize)]
struct Nested {
    below: Vec<Nested>,
}

fn bounds() {
    let mut chain = Chain(None);
    let mut nested = Nested { below: Vec::new() };
    for _ in 0..10_000 {
        chain = Chain(Some(Box::new(chain)));
        nested = Nested { below: vec![nested] };
    }
    side_by_side(
        256 << 10,
        &[
            &|| event!("chain", Serde(&chain), 1u8),
            &|| event!("nested", Serde(&nested), 2u8),
            &|| {
                event!(
                    "endless",
                    Serde(By(|walk: Walk<'_>| {
                        (0..).all(|n| walk.put(n));
                        Ok(())
                    })),
                    3u8
                );
            },
            &|| event!("many", Serde((0..100_000u32).collect::<Vec<_>>()), 4u8),
            &|| {
                let map: BTreeMap<u32, u32> = (0..100_000).map(|n| (n, n)).collect();
                event!("map", Serde(&map), 5u8);
            },
            &|| event!("text", Serde(("é".repeat(200_000), 1u8)), 6u8),
            &|| event!("bytes", Serde(Bytes(&vec![0; 300_000])), 7u8),
            &|| {
                // The same value is another one each time.
                let calls = std::cell::Cell::new(0);
                let changing = By(|walk: Walk<'_>| {
                    calls.set(calls.get() + 1);
                    (0..if calls.get() == 1 { 40_000 } else { 3 }).all(|n| walk.put(n));
                    Ok(())
                });
                event!("changing", Serde(&changing), 8u8);
            },
        ],
    );
    // What unwinds through it leaves nothing.
    let panicked = std::panic::catch_unwind(|| {
        event!("panic", Serde(By(|_: Walk<'_>| std::panic::resume_unwind(Box::new(())))));
    });
    assert!(panicked.is_err());
    event!("after the panic", 9u8);
    std::mem::forget((chain, nested)); // their destructors recurse as deep
}

fn serialized_values_are_bounded() {
    let scene = Scene::new();
    scene.run("serialized_bounds", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let one = |what: &str| {
        let found = session.records().into_iter().find(|record| record.what == what);
        let found = found.unwrap_or_else(|| panic!("{what}: {:?}", session.losses()));
        (found.truncated, found.args)
    };
    assert_eq!(one("chain"), (false, "\"…\", 1".into()));
    let (truncated, nested) = one("nested");
    assert_eq!((truncated, nested.matches("below").count()), (false, 12), "{nested}");
    assert!(nested.contains("[\"…\"]") && nested.ends_with(", 2"), "{nested}");
    // It ends for lack of room, after any attempt.
    assert_eq!(one("endless"), (true, "\"…\", 3".into()));
    let (truncated, many) = one("many");
    assert!(truncated && many.ends_with("62, 63, \"…(+99936)\"], 4"), "{}", &many[many.len() - 60..]);
    let (truncated, map) = one("map");
    assert!(truncated && map.ends_with("63: 63, \"…(+99936)\": null}, 5"), "{}", &map[map.len() - 60..]);
    let (truncated, text) = one("text");
    assert_eq!((truncated, text), (true, format!("[\"{}…\", 1], 6", "é".repeat(512))));
    assert_eq!(one("bytes"), (true, "\"…\", 7".into()));
    // It is looked at once.
    let (truncated, changing) = one("changing");
    assert!(!truncated && changing.starts_with("[0, 1, 2, 3") && changing.ends_with("39998, 39999], 8"));
    assert_eq!(one("after the panic"), (false, "9".into()));
    assert_eq!(session.losses(), [0, 0, 0, 0, 0, 0, 0, 1], "what unwound");
}
