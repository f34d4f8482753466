//! Values of every kind, as tests expect them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, UNIX_EPOCH};

use silverpoint::{Bytes, Hex, Secret, Trace, event, unit};
use silverpoint_testing::{Capture, Value, is};

use crate::message_of;

#[derive(Trace)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Trace)]
enum Side {
    #[allow(dead_code)]
    Buy,
    Sell,
}

#[test]
fn as_they_are_written_in_tests() {
    let capture = Capture::start();
    let none: Option<u8> = None;
    event!("numbers", small = 1_u8, big = -5_i128 << 90, huge = u128::MAX, float = 0.1_f32, double = 2.0);
    event!("texts", text = "ü", letter = 'x', yes = true, none, some = Some(3));
    event!("times", took = Duration::from_millis(1500), at = UNIX_EPOCH + Duration::from_nanos(5));
    event!("lists", list = vec![1_u8, 2], pair = (1, "a"), bytes = Bytes(&[1, 2]), empty = Vec::<f64>::new());
    event!("own", point = Point { x: 1, y: -2 }, side = Side::Sell);
    event!("maps", map = BTreeMap::from([("a", true)]), set = BTreeSet::from([3, 5]));

    let numbers = capture.expect("numbers").with("small", 1).with("small", 1.0).with("big", -5_i128 << 90);
    numbers.with("huge", u128::MAX).with("float", 0.1).with("float", 0.1_f32).with("double", 2).once();
    capture.expect("numbers").with("small", true).never();
    capture.expect("numbers").with("small", "1").never();
    capture.expect("numbers").with("float", 0.2).never();
    capture.expect("numbers").with("huge", -1).never();

    let texts = capture.expect("texts").with("text", "ü").with("letter", 'x').with("letter", "x");
    texts.with("yes", true).with("none", None::<u8>).with("some", 3).with("some", Some(3)).once();
    capture.expect("texts").with("yes", 1).never();
    capture.expect("texts").with("none", 0).never();
    capture.expect("texts").with("some", None::<u8>).never();

    let times = capture.expect("times").with("took", Duration::from_millis(1500));
    times.with("at", UNIX_EPOCH + Duration::from_nanos(5)).once();
    capture.expect("times").with("took", Duration::from_millis(1501)).never();

    let lists =
        capture.expect("lists").with("list", [1, 2]).with("list", vec![1, 2]).with("bytes", b"\x01\x02");
    let lists =
        lists.with("empty", Vec::<f64>::new()).with("list", "[1, 2]").with("pair", "(1, \"a\")").once();
    assert_eq!(lists["pair"].as_slice().unwrap(), [Value::Integer(1), Value::Text("a".into())]);
    capture.expect("lists").with("list", [1]).never();
    capture.expect("lists").with("list", [2, 1]).never();

    let own = capture.expect("own").with("side", "Sell").with("point", "Point{x: 1, y: -2}");
    let own = own.with("point", is(|point| point.get("y").is_some_and(|y| *y == -2))).once();
    assert_eq!(own["point"].get("x").unwrap(), &Value::Integer(1));
    assert_eq!(own.field("point").unwrap().type_name(), "Point");
    capture.expect("own").with("side", "Buy").never();

    let maps = capture.expect("maps").with("set", [3, 5]).with("map", "{\"a\": true}").once();
    assert_eq!(*maps["map"].get("a").unwrap(), true);
}

#[test]
fn metadata() {
    let capture = Capture::start();
    event!("login", took = unit!(1.5, "ms"), flags = Hex(0x21_u8), password = Secret("hunter2"), plain = 7);
    let login = capture.expect("login").with("took", 1.5).with("took", "1.5 ms").with("flags", 0x21);
    let login = login.with("flags", "0x21").with("password", "<secret>").with("password", None::<u8>).once();
    assert_eq!(login.field("took").unwrap().unit(), Some("ms"));
    assert!(login.field("flags").unwrap().meta("hex").is_some());
    assert!(login.field("password").unwrap().is_secret() && login["password"].is_null());
    assert_eq!(
        (login.field("plain").unwrap().unit(), login.field("plain").unwrap().is_secret()),
        (None, false)
    );
    capture.expect("login").with("password", "hunter2").never();
    capture.expect("login").with("plain", "7").never();
    let message = message_of(capture.expect("login").with("took", "2 ms").with("password", "other"));
    assert!(message.contains("took is 1.5 ms, not \"2 ms\"\n"), "{message}");
    assert!(
        message.contains("password is <secret>, not \"other\"\n") && !message.contains("hunter2"),
        "{message}"
    );
}

#[test]
fn what_no_ring_can_have_whole() {
    let capture = Capture::start();
    let long = "x".repeat(1 << 20);
    event!("long", long);
    // Messages stay readable.
    let other = format!("{}y", "x".repeat(1000));
    let message = capture.expect("long").with("long", other).containing(&long).check_once().unwrap_err();
    assert!(message.len() < 5000, "{} bytes", message.len());
    assert!(message.contains("(from character 1000 on)\n"), "{message}");
    let record = capture.expect("long").once();
    assert!(record.is_truncated());
    let Value::Cut(kept, missing) = &record["long"] else { panic!("{:?}", record.value("long")) };
    assert_eq!(kept.as_str().unwrap().len() + *missing as usize, 1 << 20);
    assert!(capture.losses().is_none(), "{}", capture.losses());
}
