//! Each value is read once, and the thread goes on recording, no matter what the value's code does. Sites
//! made at run time leave room for others.

use log::kv::{self, Key, Source, Value, VisitSource};

use crate::ways::{self, Acting};
use silverpoint_tests::folder_in_memory;

use crate::{is_child, reader, start};

fn every_way_out(name: &str, record: &dyn Fn(&Acting<'_>)) {
    if is_child(name) {
        silverpoint_log::init();
        return ways::all(record, || log::info!(value = ""; ""));
    }
    let root = folder_in_memory();
    let mut running = start(name, "info", &root);
    let parent = crate::collect(root.path(), &mut running);
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(parent.losses(), [0, 0, 0, 0, 0, 0, 0, ways::LOST]);
    let children: Vec<_> =
        reader::sessions(root.path()).into_iter().filter(|session| session.name != parent.name).collect();
    let [child] = &children[..] else { panic!("{} children", children.len()) };
    assert_eq!(child.losses(), [0; 8]);
    let lengths = |session: &reader::Session| -> Vec<usize> {
        session
            .records()
            .iter()
            .filter(|record| record.what == "{}" && !record.truncated)
            .map(|record| length(&record.args))
            .collect()
    };
    let (found, wanted) = (lengths(&parent), ways::lengths());
    let differs = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
    assert_eq!(
        (differs.map(|at| &found[at..][..3]), found.len()),
        (None, wanted.len()),
        "in order and whole"
    );
    assert_eq!(parent.records().iter().filter(|record| record.truncated).count(), 3);
    assert_eq!(lengths(child), [40, 50]);
}

/// Of the last argument: `"xx"` or `<2000>`.
fn length(shown: &str) -> usize {
    let shown = shown.rsplit(", ").next().unwrap();
    match shown.strip_prefix('<') {
        Some(number) => number.trim_end_matches('>').parse().unwrap(),
        None => shown.len() - 2,
    }
}

#[test]
fn out_of_a_text() {
    every_way_out("once::out_of_a_text", &|value| log::info!("{value}"));
}

#[test]
fn out_of_a_value() {
    every_way_out("once::out_of_a_value", &|value| log::info!(value:% = value; ""));
}

#[test]
fn out_of_a_value_by_debug() {
    every_way_out("once::out_of_a_value_by_debug", &|value| log::info!(value:? = value; ""));
}

/// A key that is made while the program runs, and its value.
struct One<'a>(&'a str, u64);

impl Source for One<'_> {
    fn visit<'kvs>(&'kvs self, visitor: &mut dyn VisitSource<'kvs>) -> Result<(), kv::Error> {
        visitor.visit_pair(Key::from_str(self.0), Value::from(self.1))
    }
}

fn with_key(key: &str, number: u64) {
    let pair = One(key, number);
    let args = format_args!("seen");
    let mut record = log::Record::builder();
    record
        .level(log::Level::Info)
        .target("keys")
        .file(Some("made.rs"))
        .line(Some(1))
        .args(args)
        .key_values(&pair);
    log::logger().log(&record.build());
}

const MADE: u64 = 40_000;

#[test]
fn keys_and_targets_of_any_number_leave_room_for_others() {
    let name = "once::keys_and_targets_of_any_number_leave_room_for_others";
    let Some(session) = crate::recorded(name, "info,off=off") else {
        silverpoint_log::init();
        for n in 0..MADE {
            with_key(&format!("user-{n}"), n);
            log::info!(target: &format!("connection::{n}"), n; "opened");
            log::info!(target: &format!("off::{n}"), "not heard");
        }
        log::error!("the end");
        log::error!(code = 7; "the end with a field");
        return;
    };
    let records = session.records();
    assert_eq!(records.len() as u64, 2 * MADE + 2);
    let categories =
        |category: &str| session.sites.values().filter(|site| site.category.starts_with(category)).count();
    assert!(categories("connection::") <= 2 * 64 && categories("keys") <= 300 && session.sites.len() < 1000);
    // Each record says all that it was given, wherever it says it.
    assert!(records.iter().any(|record| record.args == r#""the end""#));
    assert!(records.iter().any(|record| record.args == r#""the end with a field", 7"#));
    let last = format!("connection::{}", MADE - 1);
    assert!(records.iter().any(|record| record.args.contains(&last)), "{last}");
    let last = format!("user-{}", MADE - 1);
    assert!(records.iter().any(|record| record.args.contains(&last)), "{last}");
}

/// Keys whose shapes had the same hash, and keys that were cut elsewhere.
#[test]
fn no_key_is_taken_for_another() {
    let name = "once::no_key_is_taken_for_another";
    let Some(session) = crate::recorded(name, "info") else {
        silverpoint_log::init();
        with_key("x-header-35294", 1);
        with_key("x-header-88450", 2);
        let pairs = [("a", 1_u64), ("b", 2)];
        let args = format_args!("two");
        let mut record = log::Record::builder();
        record
            .level(log::Level::Info)
            .target("keys")
            .file(Some("made.rs"))
            .line(Some(1))
            .args(args)
            .key_values(&pairs);
        log::logger().log(&record.build());
        with_key("a\0Lb", 3);
        return with_key("two\nlines", 4);
    };
    let mut names: Vec<(String, String)> = session
        .records()
        .into_iter()
        .map(|record| {
            let site = &session.sites[&record.site];
            (site.names.clone(), record.args)
        })
        .collect();
    names.sort();
    let wanted = [
        ("\na\0Lb\n", "\"seen\", 3"),
        ("\na\nb\n", "\"two\", 1, 2"),
        ("\ntwolines\n", "\"seen\", 4"),
        ("\nx-header-35294\n", "\"seen\", 1"),
        ("\nx-header-88450\n", "\"seen\", 2"),
    ];
    assert_eq!(names, wanted.map(|(names, args)| (names.to_owned(), args.to_owned())));
}
