//! Types that contain themselves.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

use silverpoint::{Bytes, Causes, Hex, Secret, Trace, event, unit};

use crate::{Role, Scene, Test, reader, side_by_side};

pub const TESTS: &[Test] = &[
    ("every_recursive_type_reads_back", every_type_reads_back),
    ("recursion_ends_at_the_depth", recursion_ends_at_the_depth),
    ("what_no_record_holds_is_made_smaller", what_no_record_holds_is_made_smaller),
];
pub const ROLES: &[Role] = &[("recursive_types", types), ("deep", deep), ("huge", huge)];

#[derive(Trace)]
#[trace(recursive)]
struct Node {
    name: String,
    children: Vec<Node>,
}

#[derive(Trace)]
#[trace(recursive)]
struct Link {
    number: u32,
    next: Option<Rc<RefCell<Link>>>,
}

#[derive(Trace)]
#[trace(recursive)]
enum Term {
    Number(f64),
    Sum { left: Box<Term>, right: Box<Term> },
    Call(#[trace(rename = "function")] &'static str, Vec<Self>),
    Nothing,
}

/// One contains the other: one of them says so, which is enough.
#[derive(Trace)]
#[trace(recursive)]
struct Folder {
    files: Vec<Entry>,
}

#[derive(Trace)]
enum Entry {
    File(u64),
    Folder(Folder),
}

#[derive(Trace)]
#[trace(recursive)]
struct Tree<T> {
    value: T,
    below: Vec<Tree<T>>,
}

/// A type without a derive: it says nothing of items.
struct ByHand;

impl Trace for ByHand {
    const SIGNATURE: silverpoint::Sig = silverpoint::Sig::Text("A");
    const FIXED: Option<usize> = Some(1);
    fn trace_size(&self) -> usize {
        1
    }
    fn trace_write(&self, writer: &mut silverpoint::Writer<'_>) {
        writer.bytes([7]);
    }
}

#[derive(Trace)]
enum Plain {
    First,
    #[trace(rename = "2nd")]
    Second,
}

/// Not recursive, but within one that is.
fn within<T>(value: T) -> Tree<T> {
    Tree { value, below: Vec::new() }
}

fn leaf(name: &str) -> Node {
    Node { name: name.into(), children: Vec::new() }
}

/// The value of a tree as an item.
macro_rules! inside {
    ($text:expr) => {
        format!("{{\"value\": {}, \"below\": []}}", $text)
    };
}

cases! { "recursive_types":
    "tree": Node { name: "root".into(), children: vec![leaf("a"), Node { name: "b".into(), children: vec![leaf("c")] }] } => "v"
        r#"{"name": "root", "children": [{"name": "a", "children": []}, {"name": "b", "children": [{"name": "c", "children": []}]}]}"#;
    "in a sequence": vec![leaf("a"), leaf("b")] => "[v"
        r#"[{"name": "a", "children": []}, {"name": "b", "children": []}]"#;
    "in a map": BTreeMap::from([(1u8, Some(leaf("a")))]) => "{A?v" r#"map{1, {"name": "a", "children": []}}"#;
    "enum": Term::Sum { left: Box::new(Term::Number(1.5)), right: Box::new(Term::Call("f", vec![Term::Nothing, Term::Number(2.0)])) } => "v"
        r#"{"Sum": {"left": {"Number": {"0": 1.5}}, "right": {"Call": {"function": "f", "1": ["Nothing", {"Number": {"0": 2.0}}]}}}}"#;
    "two types": Folder { files: vec![Entry::File(7), Entry::Folder(Folder { files: Vec::new() })] } => "v"
        r#"{"files": [{"File": {"0": 7}}, {"Folder": {"0": {"files": []}}}]}"#;
    "the other of two types": Entry::Folder(Folder { files: vec![Entry::File(7)] }) => "/<File|0:L,><Folder|0:v,>|"
        r#"#1 Folder{0: {"files": [{"File": {"0": 7}}]}}"#;
    "generic": Tree { value: -3i8, below: vec![within(4)] } => "v" r#"{"value": -3, "below": [{"value": 4, "below": []}]}"#;

    "numbers": within((u8::MAX, i64::MIN, u128::MAX, i128::MIN, 24u8, 256u16, 65_536u32, 1.5f32)) => "v"
        inside!("[255, -9223372036854775808, 2(h'ffffffffffffffffffffffffffffffff'), 3(h'7fffffffffffffffffffffffffffffff'), 24, 256, 65536, 1.5_f32]");
    "scalars": within((true, 'ä', 5usize, 0x10 as *const u8, std::sync::atomic::AtomicI8::new(-6))) => "v"
        inside!(r#"[true, "ä", 5, "0x10", -6]"#);
    "times": within((Duration::from_nanos(1500), UNIX_EPOCH + Duration::from_millis(2500))) => "v" inside!(r#"["1500 ns", 1(2.5)]"#);
    "texts": within(("a\u{e9}", std::path::Path::new("/tmp"), c"c", format_args!("{}-{}", 1, 2))) => "v" inside!(r#"["aé", "/tmp", "c", "1-2"]"#);
    "no UTF-8": within(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"a\xff\xfeb")) => "v" inside!("\"a\u{fffd}\u{fffd}b\"");
    "bytes": within(Bytes(&[1, 255])) => "v" inside!("h'01ff'");
    "containers": within((vec![1u8, 2], [3u8], VecDeque::from([4u8]), BTreeSet::from([5u8]), BTreeMap::from([("k", 6u8)]))) => "v"
        inside!(r#"[[1, 2], [3], [4], [5], {"k": 6}]"#);
    "optional": within((Some(1u8), None::<u8>, Ok::<u8, &str>(2), Err::<u8, &str>("no"))) => "v" inside!(r#"[1, null, {"Ok": 2}, {"Err": "no"}]"#);
    "ranges": within((1u8..2, 3u8.., ..=4u8, std::ops::Bound::<u8>::Unbounded, std::task::Poll::Ready(1u8))) => "v"
        inside!(r#"[{"start": 1, "end": 2}, {"start": 3}, {"end": 4}, "Unbounded", {"Ready": 1}]"#);
    "marks": within((Hex(16u8), unit!(2u8, "ms"), Secret("password"))) => "v" inside!(r#"[1397779812(["hex=", 16]), 1397779812(["unit=ms", 2]), 1397779812(["secret=", null])]"#);
    "error": within(Causes(&std::fmt::Error)) => "v"
        inside!(r#"["an error occurred when formatting an argument"]"#);
    "cells": within((std::cell::Cell::new(1u8), std::sync::Mutex::new(2u8), std::sync::OnceLock::<u8>::new(), std::rc::Weak::<u8>::new())) => "v"
        inside!("[1, 2, null, false]");
    "labels": within([Plain::First, Plain::Second]) => "v" inside!(r#"["First", "2nd"]"#);
    "by hand": within(ByHand) => "v" inside!(format!("{:?}", format!("<{}>", std::any::type_name::<ByHand>())));
    "nothing": within(((), std::marker::PhantomData::<u8>)) => "v" inside!("[[], null]");
}

fn deep() {
    // A ring.
    let first = Rc::new(RefCell::new(Link { number: 1, next: None }));
    let second = Rc::new(RefCell::new(Link { number: 2, next: Some(Rc::clone(&first)) }));
    first.borrow_mut().next = Some(second);
    event!("ring", first);
    let held = first.borrow_mut();
    event!("held", held.next);
    drop(held);
    // So many lists between the levels that there are too many lists.
    type Lists<T> = Vec<Vec<Vec<Vec<T>>>>;
    let mut tree: Tree<Lists<u8>> = within(vec![vec![vec![vec![0]]]]);
    for _ in 0..10 {
        tree = Tree { value: Vec::new(), below: vec![tree] };
    }
    event!("levels", tree);
    #[derive(Trace)]
    #[trace(recursive)]
    struct Wide {
        in_lists: Lists<Wide>,
    }
    let mut wide = Wide { in_lists: Vec::new() };
    for _ in 0..7 {
        wide = Wide { in_lists: vec![vec![vec![vec![wide]]]] };
    }
    event!("lists", wide);
}

fn recursion_ends_at_the_depth() {
    let scene = Scene::new();
    scene.run("deep", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let [ring] = &session.args_of("ring")[..] else { panic!() };
    assert_eq!(ring.matches("number").count(), 8);
    assert!(ring.ends_with(&format!("\"next\": \"…\"{}", "}".repeat(8))), "{ring}");
    let [held] = &session.args_of("held")[..] else { panic!() };
    assert_eq!(held, r##"#0 {"number": 2, "next": "<borrowed>"}"##);
    let [levels] = &session.args_of("levels")[..] else { panic!() };
    assert_eq!((levels.matches("value").count(), levels.matches("…").count()), (8, 1), "{levels}");
    // Each level is a map and four lists; 24 of them are the fifth level's map and three lists.
    let [lists] = &session.args_of("lists")[..] else { panic!() };
    assert_eq!((lists.matches("in_lists").count(), lists.matches('[').count()), (5, 19), "{lists}");
    assert!(lists.contains("[[[\"…\"]]]"), "{lists}");
    assert!(session.records().iter().all(|record| !record.truncated));
    assert_eq!(session.losses(), [0; 8]);
}

fn huge() {
    let name = "é".repeat(400);
    let mut tree = leaf("bottom");
    for _ in 0..3 {
        let mut children = vec![tree];
        children.extend((0..99).map(|_| leaf(&name)));
        tree = Node { name: name.clone(), children };
    }
    let many = Node { name: "many".into(), children: (0..100_000).map(|_| leaf("child")).collect() };
    let several = vec![many, leaf("b")];
    side_by_side(
        2 << 20,
        &[
            &|| event!("broad", tree, 1u8),
            &|| event!("many", several[0], 2u8),
            &|| event!("after text", "x".repeat(250_000), tree),
            &|| event!("several", several, 3u8),
            &|| event!("beside", vec![0u8; 300_000], tree, 4u8),
        ],
    );
}

fn what_no_record_holds_is_made_smaller() {
    let scene = Scene::new();
    scene.run("huge", &[("SILVERPOINT_FILTER", "info")]);
    let session = reader::only_session(scene.root());
    let one = |what: &str| {
        let found = session.records().into_iter().find(|record| record.what == what);
        found.unwrap_or_else(|| panic!("{what}: {:?}", session.losses()))
    };
    let broad = one("broad");
    assert!(!broad.truncated && broad.args.ends_with(", 1"), "240,000 bytes are no reason");
    assert_eq!(broad.args.matches("name").count(), 301);
    let many = one("many");
    assert!(
        many.truncated && many.args.ends_with(", \"…(+99936)\"]}, 2"),
        "{}",
        &many.args[many.args.len() - 60..]
    );
    assert_eq!(many.args.matches("child\"").count(), 64);
    let after = one("after text");
    assert!(after.truncated, "{}", after.bytes.len());
    let several = one("several");
    assert!(several.truncated && several.args.ends_with("{\"name\": \"b\", \"children\": []}], 3"));
    let beside = one("beside");
    assert!(beside.truncated && beside.args.ends_with(", \"…\", 4"));
    assert_eq!(session.losses(), [0; 8]);
}
