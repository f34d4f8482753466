//! Values, signatures, names, templates.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CString, OsString};
use std::num::{NonZeroU32, Saturating, Wrapping};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI16, AtomicUsize};
use std::time::{Duration, UNIX_EPOCH};

use silverpoint::{Bytes, Trace, counter, debug, event, info, instant, span, trace, warn};

use crate::{Role, Scene, Test, reader, side_by_side};

pub const TESTS: &[Test] = &[
    ("every_type_reads_back", every_type_reads_back),
    ("what_is_busy_is_said", what_is_busy_is_said),
    ("macros_have_many_forms", macros_have_many_forms),
    ("generic_functions_keep_types_apart", generic_functions_keep_types_apart),
    ("long_values_are_cut", long_values_are_cut),
    ("texts_that_change_while_they_are_formatted", texts_that_change),
];
pub const ROLES: &[Role] = &[
    ("types", types),
    ("busy", busy),
    ("forms", forms),
    ("generic", generic),
    ("long", long),
    ("changing", changing),
];

#[derive(Trace)]
struct Named {
    x: i32,
    #[trace(rename = "why not")]
    y: Option<&'static str>,
    #[trace(skip)]
    _hidden: *const u8,
    r#type: u8,
}

/// Values that somebody else holds: the tracepoint neither waits nor panics.
fn busy() {
    let cell = std::cell::RefCell::new(1u8);
    let lock = std::sync::Mutex::new(2u8);
    let poisoned = Arc::new(std::sync::RwLock::new(3u8));
    let guards = (cell.borrow_mut(), lock.lock().unwrap());
    event!("busy", cell, lock, guard = &guards.1);
    drop(guards);
    let held = Arc::clone(&poisoned);
    let ended = std::thread::spawn(move || {
        let _guard = held.write().unwrap();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(ended.join().is_err());
    event!("poisoned", poisoned, weak = Arc::downgrade(&poisoned));
    event!("free", cell, lock);
    // In a map and a sequence, as anywhere.
    event!("deep", all = vec![Some(&cell)], thread = std::thread::current().id());
    let before = std::time::Instant::now();
    event!("instants", before, later = before + Duration::from_secs(3600));
}

fn what_is_busy_is_said() {
    let scene = Scene::new();
    scene.run("busy", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.args_of("busy"), ["#1 borrowed{}, #1 locked{}, 2"]);
    assert_eq!(session.args_of("poisoned"), ["#2 poisoned{}, true"]);
    assert_eq!(session.args_of("free"), ["#0 1, #0 2"]);
    assert_eq!(session.site("deep").signature, "[?/A<borrowed|>|s");
    assert!(session.args_of("deep")[0].starts_with("[#0 1], \"ThreadId("), "{:?}", session.args_of("deep"));
    assert_eq!(session.site("instants").signature, "@clock=monotonic;T@clock=monotonic;T");
    let times = &session.args_of("instants")[0];
    let ns: Vec<i64> = times.split(", ").map(|time| time.trim_end_matches("ns").parse().unwrap()).collect();
    // Each look at the clock has its own error, which nobody bounds; a minute is beyond any.
    assert!((ns[1] - ns[0] - 3_600_000_000_000).abs() < 60_000_000_000, "{times}");
    assert!(ns[0] > 0);
}

#[derive(Trace)]
struct Pair(u8, (bool, char));

#[derive(Trace)]
struct Nothing;

#[derive(Debug)]
struct Inner;
#[derive(Debug)]
struct Outer(Inner);
impl std::fmt::Display for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no such order")
    }
}
impl std::fmt::Display for Outer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cannot load")
    }
}
impl std::error::Error for Inner {}
impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[derive(Trace)]
struct Wrapper<'a, T: ?Sized, const N: usize> {
    inner: &'a T,
    all: [u8; N],
}

#[derive(Trace, Clone, Copy)]
enum Side {
    Buy,
    Sell = 7,
}

#[derive(Trace)]
#[repr(i16)]
#[allow(dead_code)]
enum Low {
    Least = -300,
    Most,
}

#[derive(Trace)]
enum Shape {
    Empty,
    Circle { radius: f32 },
    Line(Pair, Side),
}

const HERE: &std::panic::Location<'_> = std::panic::Location::caller();

cases! { "types":
    "u8": 255u8 => "A" "255";
    "u16": u16::MAX => "H" "65535";
    "u32": u32::MAX => "I" "4294967295";
    "u64": u64::MAX => "L" "18446744073709551615";
    "u128": u128::MAX => "O" "340282366920938463463374607431768211455";
    "usize": 3usize => "L" "3";
    "i8": -1i8 => "a" "-1";
    "i16": i16::MIN => "h" "-32768";
    "i32": i32::MIN => "i" "-2147483648";
    "i64": i64::MIN => "l" "-9223372036854775808";
    "i128": i128::MIN => "o" "-170141183460469231731687303715884105728";
    "isize": -3isize => "l" "-3";
    "f32": 0.1f32 => "f" "0.1f";
    "f64": f64::NEG_INFINITY => "d" "-inf";
    "bool": true => "b" "true";
    "char": '\u{1F980}' => "W" "'\u{1F980}'";
    "unit": () => "()" "()";
    "str": "a\u{e9}\n" => "s" r#""aé\n""#;
    "String": String::from("owned") => "s" r#""owned""#;
    "Box<str>": Box::<str>::from("boxed") => "s" r#""boxed""#;
    "Cow": Cow::Borrowed("cow") => "s" r#""cow""#;
    "Arc": Arc::new([1u8, 2]) => "#2:A" "[1, 2]";
    "Rc<str>": Rc::<str>::from("rc") => "s" r#""rc""#;
    "&&T": &&5i8 => "a" "5";
    "pointer": 0x1000 as *const u8 => "p" "@1000";
    "NonNull": std::ptr::NonNull::<u64>::dangling() => "p" "@8";
    "Option": Some(1u8) => "?A" "1";
    "Option none": None::<Vec<u8>> => "?[A" "none";
    "Option nested": Some(Some("x")) => "??s" "\"x\"";
    "Result ok": Ok::<u8, String>(1) => "/<Ok|0:A,><Err|0:s,>|" "#0 Ok{0: 1}";
    "Result err": Err::<u8, String>("no".into()) => "/<Ok|0:A,><Err|0:s,>|" "#1 Err{0: \"no\"}";
    "tuple": (1u8, "b", (2.5f64,)) => "(As(d))" r#"(1, "b", (2.5))"#;
    "tuple of twelve": (1u8, 2u8, 3u8, 4u8, 5u8, 6u8, 7u8, 8u8, 9u8, 10u8, 11u8, 12u8)
        => "(AAAAAAAAAAAA)" "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)";
    "array": [1i32, -2] => "#2:i" "[1, -2]";
    "array of texts": ["a", "b"] => "#2:s" r#"["a", "b"]"#;
    "slice": &[1u16, 2][..] => "[H" "[1, 2]";
    "Vec": vec![vec![1u8], vec![]] => "[[A" "[[1], []]";
    "Vec of bools": vec![true, false] => "[b" "[true, false]";
    "Vec of units": vec![(), ()] => "[()" "[(), ()]";
    "VecDeque": VecDeque::from([1u8, 2]) => "[A" "[1, 2]";
    "LinkedList": LinkedList::from([1u8]) => "[A" "[1]";
    "BinaryHeap": BinaryHeap::from([1u8]) => "[A" "[1]";
    "HashMap": HashMap::from([("k", 1u8)]) => "{sA" r#"map{"k", 1}"#;
    "BTreeMap": BTreeMap::from([(1u8, vec!["v"]), (2, vec![])]) => "{A[s" r#"map{1, ["v"], 2, []}"#;
    "HashSet": HashSet::from([9u8]) => "$A" "{9}";
    "BTreeSet": BTreeSet::from(["a", "b"]) => "$s" r#"{"a", "b"}"#;
    "Cell": std::cell::Cell::new(-7i16) => "h" "-7";
    "RefCell": std::cell::RefCell::new(vec![1u8]) => "/[A<borrowed|>|" "#0 [1]";
    "Mutex": std::sync::Mutex::new(String::from("inside")) => "/s<locked|><poisoned|>|" "#0 \"inside\"";
    "RwLock": std::sync::RwLock::new(2u32) => "/I<locked|><poisoned|>|" "#0 2";
    "OnceCell": std::cell::OnceCell::<u8>::new() => "?A" "none";
    "OnceLock": std::sync::OnceLock::from(5u8) => "?A" "5";
    "LazyLock, untouched": std::sync::LazyLock::<u8>::new(|| panic!("forced")) => "?A" "none";
    "LazyLock": {
        let lazy = std::sync::LazyLock::<&str>::new(|| "made");
        std::sync::LazyLock::force(&lazy);
        lazy
    } => "?s" "\"made\"";
    "LazyCell, untouched": std::cell::LazyCell::<u8>::new(|| panic!("forced")) => "?A" "none";
    "LazyCell": {
        let lazy = std::cell::LazyCell::<u16>::new(|| 6);
        std::cell::LazyCell::force(&lazy);
        lazy
    } => "?H" "6";
    "Weak": std::sync::Weak::<u8>::new() => "b" "false";
    "Pin": Box::pin(3u8) => "A" "3";
    "AtomicPtr": std::sync::atomic::AtomicPtr::<u8>::new(std::ptr::null_mut()) => "p" "@0";
    "Ordering": std::cmp::Ordering::Less => "eOrdering|a|-1=Less,0=Equal,1=Greater,;" "Ordering::Less=-1";
    "RangeFrom": 2u8.. => "<RangeFrom|start:A,>" "RangeFrom{start: 2}";
    "RangeTo": ..3u8 => "<RangeTo|end:A,>" "RangeTo{end: 3}";
    "RangeToInclusive": ..=4u8 => "<RangeToInclusive|end:A,>" "RangeToInclusive{end: 4}";
    "RangeFull": .. => "<RangeFull|>" "RangeFull{}";
    "Bound": std::ops::Bound::Excluded(1u8)
        => "/<Included|0:A,><Excluded|0:A,><Unbounded|>|" "#1 Excluded{0: 1}";
    "Poll": std::task::Poll::<u8>::Pending => "/<Ready|0:A,><Pending|>|" "#1 Pending{}";
    "ControlFlow": std::ops::ControlFlow::<&str, u8>::Break("found")
        => "/<Continue|0:A,><Break|0:s,>|" "#1 Break{0: \"found\"}";
    "PhantomData": std::marker::PhantomData::<String> => "n" "null";
    "Layout": std::alloc::Layout::new::<u64>() => "<Layout|size:L,align:L,>" "Layout{size: 8, align: 8}";
    "ErrorKind": std::io::ErrorKind::NotFound => "s" "\"NotFound\"";
    "io::Error": std::io::Error::other("disk on fire") => "s" "\"disk on fire\"";
    "Causes": silverpoint::Causes(&Outer(Inner)) => "[s" r#"["cannot load", "no such order"]"#;
    "Box<dyn Error>": Box::<dyn std::error::Error>::from(Outer(Inner)) => "[s" r#"["cannot load", "no such order"]"#;
    "Arc<dyn Error>": Arc::new(Outer(Inner)) as Arc<dyn std::error::Error + Send + Sync> => "[s" r#"["cannot load", "no such order"]"#;
    "Result of a Box<dyn Error>": Err::<u8, Box<dyn std::error::Error + Send + Sync>>("no".into())
        => "/<Ok|0:A,><Err|0:[s,>|" "#1 Err{0: [\"no\"]}";
    "Location": HERE => "<Location|file:s,line:I,column:I,>"
        format!("Location{{file: {:?}, line: {}, column: {}}}", file!(), HERE.line(), HERE.column());
    "ExitStatus": <std::process::ExitStatus as std::os::unix::process::ExitStatusExt>::from_raw(256) => "s" "\"exit status: 1\"";
    "Hex": silverpoint::Hex(&[255u8, 16][..]) => "@hex=;[A" "[255, 16]";
    "Secret": silverpoint::Secret("password") => "@secret=;n" "null";
    "with a unit": silverpoint::unit!(2.5f64, "ms/%") => "@unit=ms/%25;d" "2.5";
    "Duration": Duration::from_micros(5) => "T" "5000ns";
    "Duration, too long": Duration::MAX => "T" "9223372036854775807ns";
    "SystemTime": UNIX_EPOCH + Duration::from_nanos(7) => "t" "t7";
    "SystemTime before": UNIX_EPOCH - Duration::from_nanos(7) => "t" "t-7";
    "Path": Path::new("/tmp") => "s" r#""/tmp""#;
    "OsString": OsString::from_vec(vec![b'a', 0xff]) => "s" "\"a\u{fffd}\"";
    "CString": CString::from(c"c") => "s" r#""c""#;
    "NonZero": NonZeroU32::new(4).unwrap() => "I" "4";
    "Wrapping": Wrapping(1i8) => "a" "1";
    "Saturating": Saturating(1u8) => "A" "1";
    "Range": 1u8..3 => "<Range|start:A,end:A,>" "Range{start: 1, end: 3}";
    "RangeInclusive": 1u8..=3 => "<RangeInclusive|start:A,end:A,>" "RangeInclusive{start: 1, end: 3}";
    "IpAddr": std::net::IpAddr::from([127, 0, 0, 1]) => "s" r#""127.0.0.1""#;
    "SocketAddr": std::net::SocketAddr::from(([0u16; 8], 80)) => "s" r#""[::]:80""#;
    "AtomicUsize": AtomicUsize::new(6) => "L" "6";
    "AtomicI16": AtomicI16::new(-6) => "h" "-6";
    "Arguments": format_args!("{}-{}", 1, 2) => "s" r#""1-2""#;
    "Bytes": Bytes(b"ab") => "y" "bytes[97, 98]+0";
    "record": Named { x: -1, y: Some("y"), _hidden: std::ptr::null(), r#type: 3 }
        => "<Named|x:i,why not:?s,type:A,>" r#"Named{x: -1, why not: "y", type: 3}"#;
    "tuple record": Pair(1, (true, 'z')) => "<Pair|0:A,1:(bW),>" "Pair{0: 1, 1: (true, 'z')}";
    "unit record": Nothing => "<Nothing|>" "Nothing{}";
    "generic record": Wrapper::<_, 2> { inner: "in", all: [1, 2] } => "<Wrapper|inner:s,all:#2:A,>" r#"Wrapper{inner: "in", all: [1, 2]}"#;
    "enumeration": Side::Sell => "eSide|A|0=Buy,7=Sell,;" "Side::Sell=7";
    "enumerations": [Side::Buy, Side::Sell] => "#2:eSide|A|0=Buy,7=Sell,;" "[Side::Buy=0, Side::Sell=7]";
    "negative enumeration": Low::Least => "eLow|h|-300=Least,-299=Most,;" "Low::Least=-300";
    "variant": [Shape::Empty, Shape::Circle { radius: 2.0 }, Shape::Line(Pair(1, (false, 'a')), Side::Buy)]
        => "#3:/<Empty|><Circle|radius:f,><Line|0:<Pair|0:A,1:(bW),>,1:eSide|A|0=Buy,7=Sell,;,>|"
        "[#0 Empty{}, #1 Circle{radius: 2f}, #2 Line{0: Pair{0: 1, 1: (false, 'a')}, 1: Side::Buy=0}]";
}

mod module {
    pub struct Pump;
    impl Pump {
        pub fn start(&self) {
            [1].iter().for_each(|n| super::info!("in a closure {n}"));
        }
    }
}

fn forms() {
    let (id, px, user, state) = (7u64, 1.5f64, "ada", Some(1));
    let evaluated = std::cell::Cell::new(0);
    let count = || evaluated.set(evaluated.get() + 1);
    info!("plain");
    info!("{{braces}} 100%");
    info!("order {} at {:.2}", id, px);
    info!("{1} before {0}, {1:>5}", id, px);
    info!("{user} has {id:x}");
    info!("{user} and {user}");
    info!("{what} named", what = id + 1);
    info!(user, id = id + 1, "fields before");
    info!("fields after", user = user, ok = true);
    info!(?state, %px, "shown");
    info!("shown: {} {}", ?state, %px);
    info!(user, ?state);
    info!(target: "net::tcp", "elsewhere {:?}", user);
    info!(a.b = 1u8, "quoted name" = 2u8, "dotted");
    event!("event", id, px, id as f64 / 2.0, name = user, ?state);
    counter!("queue", id);
    instant!("frame");
    trace!("off {}", {
        count();
        1
    });
    debug!(target: "values::deep", "on by its target {}", { count(); 1 });
    if user.is_empty() {
        warn!("not here");
    } else {
        warn!("brace-less is no question in Rust, expressions are");
    }
    let _outer = span!("outer", id);
    {
        let inner = span!("inner");
        assert!(inner.is_recorded());
    }
    match id {
        7 => info!("an arm"),
        _ => unreachable!(),
    }
    module::Pump.start();
    assert!(silverpoint::enabled!(Info) && !silverpoint::enabled!(Trace));
    assert!(!silverpoint::enabled!(target: "elsewhere", Debug));
    assert_eq!(evaluated.get(), 1, "arguments of what is off are not evaluated");
}

fn macros_have_many_forms() {
    let scene = Scene::new();
    scene.run("forms", &[("SILVERPOINT_FILTER", "info, it::values=debug, values::deep=debug")]);
    let session = reader::only_session(scene.root());
    let found: Vec<(String, String, String)> = session
        .records()
        .into_iter()
        .filter(|record| record.site >= 16)
        .map(|record| {
            let names = session.sites[&record.site].names.replace('\n', ",");
            (record.what, names, record.args)
        })
        .collect();
    let expected = [
        ("plain", "", ""),
        ("{{braces}} 100%", "", ""),
        ("order {} at {:.2f}", "id,px,", "7, 1.5"),
        ("{0} before {1}, {0:>5}", "px,id,", "1.5, 7"),
        ("{} has {:x}", "user,id,", "\"ada\", 7"),
        ("{0} and {0}", "user,", "\"ada\""),
        ("{} named", "what,", "8"),
        ("fields before", "user,id,", "\"ada\", 8"),
        ("fields after", "user,ok,", "\"ada\", true"),
        ("shown", "state,px,", "\"Some(1)\", \"1.5\""),
        ("shown: {} {}", "state,px,", "\"Some(1)\", \"1.5\""),
        ("", "user,state,", "\"ada\", \"Some(1)\""),
        ("elsewhere {:?}", "user,", "\"ada\""),
        ("dotted", "a.b,quoted name,", "1, 2"),
        ("event", "id,px,id as f64/2.0,name,state,", "7, 1.5, 3.5, \"ada\", \"Some(1)\""),
        ("queue", "id,", "7"),
        ("frame", "", ""),
        ("on by its target {}", "", "1"),
        ("brace-less is no question in Rust, expressions are", "", ""),
        ("outer", "id,", "7"),
        ("inner", "", ""),
        ("an arm", "", ""),
        ("in a closure {}", "n,", "1"),
    ];
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!((found.0.as_str(), found.1.as_str(), found.2.as_str()), *expected);
    }
    assert_eq!(found.len(), expected.len());
    let site = session.site("elsewhere {:?}");
    assert_eq!((site.category.as_str(), site.function.as_str()), ("net::tcp", "it::values::forms"));
    assert!(site.file.ends_with("tests/it/values.rs") && site.line > 0 && site.language == 2);
    assert_eq!(session.site("in a closure {}").function, "it::values::module::Pump::start");
    // Each span ended, the inner one first, and the end names begin and site.
    let ends = session.args_of("end");
    let begin = |name: &str| {
        let record = session.records().into_iter().find(|record| record.what == name).unwrap();
        format!("{}, {}", record.site, record.ticks)
    };
    assert_eq!(ends, [begin("inner"), begin("outer")]);
}

fn log_any<T: Trace>(value: T) {
    info!("any {}", value);
}

fn generic() {
    for _ in 0..3 {
        log_any(1u8);
        log_any("two");
        log_any(3.0f64);
        log_any(vec![4i32]);
        log_any((5u8, 6u8));
        log_any([7u64; 2]);
    }
}

fn generic_functions_keep_types_apart() {
    let scene = Scene::new();
    scene.run("generic", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let once = ["1", "\"two\"", "3", "[4]", "(5, 6)", "[7, 7]"];
    assert_eq!(session.args_of("any {}"), [once, once, once].concat());
    assert_eq!(session.sites.len(), 6, "each type is registered once");
}

fn long() {
    let text = &"\u{e9}".repeat(500_000);
    let numbers = &vec![7u64; 100_000];
    // Two threads: the largest ring has no room for all of it.
    side_by_side(
        2 << 20,
        &[
            &|| {
                event!("whole", text[..200_000], 1u8);
                event!("text", text, after = "kept");
                event!("numbers", numbers, text[..10]);
            },
            &|| {
                event!("two", text, numbers, 5u8);
                event!("units", vec![(); 100_000]);
                event!("displayed", %text, 1u8);
                event!("hopeless", numbers.iter().copied().enumerate().collect::<BTreeMap<_, _>>());
                event!("last", 1u8);
            },
        ],
    );
}

fn long_values_are_cut() {
    let scene = Scene::new();
    scene.run("long", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let last = |what: &str| {
        let record = session.records().into_iter().rfind(|record| record.what == what);
        record.map(|record| (record.truncated, record.args))
    };
    // A quarter of the largest ring, less headers: about 262,000 bytes.
    assert_eq!(last("whole"), Some((false, "<200000>, 1".into())));
    let (truncated, text) = last("text").unwrap();
    let (kept, missing) =
        text.strip_prefix('<').unwrap().strip_suffix(", \"kept\"").unwrap().split_once(">+").unwrap();
    let (kept, missing): (usize, usize) = (kept.parse().unwrap(), missing.parse().unwrap());
    assert!(
        truncated && kept + missing == 1_000_000 && kept % 2 == 0 && (261_000..262_144).contains(&kept),
        "{text}"
    );
    let (truncated, numbers) = last("numbers").unwrap();
    assert!(truncated && numbers.contains("[<32") && numbers.ends_with("], \"\"+10"), "{}", &numbers[..40]);
    let (truncated, two) = last("two").unwrap();
    assert!(truncated && two.ends_with(", [<0+100000> ], 5"), "{two}");
    let (truncated, units) = last("units").unwrap();
    assert!(truncated && units.starts_with("[<65536+34464> (), ()"));
    let (truncated, displayed) = last("displayed").unwrap();
    assert!(truncated && displayed.contains(">+") && displayed.ends_with(", 1"), "{displayed}");
    assert_eq!(last("hopeless"), None);
    assert_eq!(session.losses(), [0, 0, 0, 0, 0, 1, 0, 0], "too large, counted");
}

/// A text that is another one each time it is formatted.
struct Changing(std::cell::Cell<usize>, [usize; 4]);

impl std::fmt::Display for Changing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let call = self.0.replace(self.0.get() + 1);
        f.write_str(&"x".repeat(self.1[call.min(3)]))
    }
}

fn changing() {
    let show = |sizes| Changing(Default::default(), sizes);
    event!("first", %show([50, 3, 3, 3]), 1u8);
    let lost = std::panic::catch_unwind(|| {
        struct Bomb(std::cell::Cell<u32>);
        impl std::fmt::Display for Bomb {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.set(self.0.get() + 1);
                f.write_str("tick")?;
                panic!("the first time")
            }
        }
        event!("bomb", %Bomb(Default::default()));
    });
    assert!(lost.is_err());
    event!("after the panic", 5u8);
}

fn texts_that_change() {
    let scene = Scene::new();
    scene.run("changing", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let records: Vec<_> = session.records().into_iter().map(|r| (r.what, r.truncated, r.args)).collect();
    let expect = |what: &str, truncated, args: &str| {
        assert!(records.contains(&(what.to_owned(), truncated, args.to_owned())), "{what}: {records:?}");
    };
    expect("first", false, &format!("\"{}\", 1", "x".repeat(50)));
    assert_eq!(session.losses(), [0, 0, 0, 0, 0, 0, 0, 1], "the panic is counted");
    expect("after the panic", false, "5");
    assert!(records.iter().all(|r| r.0 != "bomb"));
    let lanes: Vec<u16> = session.streams.values().map(|stream| stream.header.lane).collect();
    assert_eq!(lanes, [0], "the panic gave the lane back");
}
