//! All kinds of fields, as the reader sees them.

use std::error::Error;
use std::fmt;
use std::sync::OnceLock;

use tracing::callsite::Callsite;
use tracing::field::{Empty, FieldSet, Value};
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Span, debug, error, event, info, info_span, warn};

use crate::{both_ways, recorded};

#[derive(Debug)]
struct Lost(std::io::Error);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("order lost")
    }
}

impl Error for Lost {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn each_kind_of_field_is_recorded_with_its_type() {
    let name = "fields::each_kind_of_field_is_recorded_with_its_type";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let lost = Lost(std::io::Error::other("disk gone"));
            let cause: &(dyn Error + 'static) = &lost;
            event!(name: "kinds", Level::INFO, a = -7_i64, b = u64::MAX, c = i128::MIN, d = u128::MAX, e = 1.5, f = true, g = "text", h = &b"\x00\xFF"[..], i = ?Some(3), j = %'x', k = cause, l = 8_u8, m = Empty, n = Some(4_i32), o = None::<i32>);
            info!(user = 7, "connected to {}", "host");
            warn!("only a text {{}}");
            error!(target: "net", code = 5);
            debug!(never = 1);
        });
    };
    let kinds = session.args_of("kinds");
    let expected = format!(
        "-7, {}, {}, {}, 1.5, true, \"text\", bytes[0, 255]+0, \"Some(3)\", \"x\", [\"order lost\", \"disk gone\"], 8, 4",
        u64::MAX,
        i128::MIN,
        u128::MAX
    );
    assert_eq!(kinds, [expected.clone(), expected]);
    // The question whether it is on has no arguments, and the same name.
    let site =
        session.sites.values().find(|site| site.template == "kinds" && !site.names.is_empty()).unwrap();
    assert_eq!(site.signature, "lLoOdbsyss[sLl");
    assert_eq!(
        site.names.lines().collect::<Vec<_>>(),
        "a b c d e f g h i j k l n".split(' ').collect::<Vec<_>>()
    );
    assert_eq!((site.kind as u8, site.level as u8), (2, 2));
    let texts = session.args_of("{}");
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(texts.contains(&"\"connected to host\", 7".to_owned()), "{texts:?}");
    assert!(texts.contains(&"\"only a text {}\"".to_owned()), "{texts:?}");
    let text = session.sites.values().find(|site| site.names == "\nuser\n").unwrap();
    assert_eq!((text.signature.as_str(), text.kind as u8), ("sl", 0));
    assert!(text.file.ends_with("it/fields.rs") && text.line > 0, "{}:{}", text.file, text.line);
    assert_eq!(text.category, "it::fields");
    let net = session.sites.values().find(|site| site.category == "net" && !site.names.is_empty()).unwrap();
    assert_eq!((net.names.as_str(), net.template.as_str(), net.level as u8), ("code\n", "", 4));
    assert!(session.records().iter().all(|record| !record.args.contains("never")));
}

fn of_type(number: usize) {
    macro_rules! one {
        ($value:expr) => {
            event!(name: "changing", Level::INFO, value = $value as &dyn tracing::Value)
        };
    }
    let values: [&dyn tracing::Value; 10] = [
        &1_i64,
        &2_u64,
        &3.5,
        &true,
        &"five",
        &6_i128,
        &7_u128,
        &tracing::field::debug('8'),
        &Some(9_i64),
        &None::<i64>,
    ];
    one!(values[number % 10]);
}

#[test]
fn a_callsite_whose_types_change_has_a_site_for_each() {
    let name = "fields::a_callsite_whose_types_change_has_a_site_for_each";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| (0..30).for_each(of_type));
    };
    let once = ["1", "2", "3.5", "true", "\"five\"", "6", "7", "\"'8'\"", "9", ""];
    let all: Vec<&str> = once.iter().copied().cycle().take(60).collect();
    assert_eq!(session.args_of("changing"), all);
    let mut signatures: Vec<_> = session
        .sites
        .values()
        .filter(|site| site.template == "changing")
        .map(|site| site.signature.clone())
        .collect();
    signatures.sort();
    // Without fields: what stands for the callsite, and an event whose field is empty.
    assert_eq!(signatures, ["", "", "L", "O", "b", "d", "l", "o", "s"]);
}

#[test]
fn more_fields_than_any_macro_had_and_values_larger_than_any_ring() {
    let name = "fields::more_fields_than_any_macro_had_and_values_larger_than_any_ring";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            event!(name: "forty", Level::INFO, f00 = 0, f01 = 1, f02 = 2, f03 = 3, f04 = 4, f05 = 5, f06 = 6, f07 = 7, f08 = 8, f09 = 9, f10 = 10, f11 = 11, f12 = 12, f13 = 13, f14 = 14, f15 = 15, f16 = 16, f17 = 17, f18 = 18, f19 = 19, f20 = 20, f21 = 21, f22 = 22, f23 = 23, f24 = 24, f25 = 25, f26 = 26, f27 = 27, f28 = 28, f29 = 29, f30 = 30, f31 = 31, f32 = 32, f33 = 33, f34 = 34, f35 = 35, f36 = 36, f37 = 37, f38 = 38, f39 = 39);
            for size in [300, 5_000, 60_000] {
                event!(name: "long", Level::INFO, text = "x".repeat(size), formatted = %"y".repeat(size), after = 9);
            }
            event!(name: "huge", Level::INFO, before = 1, text = "ä".repeat(400_000), after = 9);
        });
    };
    let forty: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(session.args_of("forty"), [forty.join(", "), forty.join(", ")]);
    let long: Vec<String> = [300, 5_000, 60_000].map(|size| format!("<{size}>, <{size}>, 9")).into();
    assert_eq!(session.args_of("long"), [long.clone(), long].concat());
    let huge = session.records().into_iter().filter(|record| record.what == "huge").collect::<Vec<_>>();
    assert_eq!(huge.len(), 2);
    for record in huge {
        assert!(record.truncated);
        let (kept, missing) = record.args.strip_prefix("1, <").unwrap().split_once(">+").unwrap();
        let missing = missing.strip_suffix(", 9").unwrap();
        assert_eq!(
            kept.parse::<usize>().unwrap() + missing.parse::<usize>().unwrap(),
            800_000,
            "{}",
            record.args
        );
    }
}

#[test]
fn a_value_that_records_while_it_is_formatted_leaves_both_whole() {
    struct Talker;
    impl fmt::Debug for Talker {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            silverpoint::event!("inner", 2_u8);
            f.write_str("talker")
        }
    }
    let name = "fields::a_value_that_records_while_it_is_formatted_leaves_both_whole";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            for _ in 0..3 {
                event!(name: "outer", Level::INFO, who = ?Talker);
                let _span = info_span!("holds", who = ?Talker).entered();
            }
        });
    };
    assert_eq!(session.args_of("outer"), vec!["\"talker\""; 6]);
    assert_eq!(session.args_of("holds"), vec!["\"talker\""; 6]);
    assert!(session.args_of("inner").len() >= 12);
}

/// Metadata that is made while the program runs.
struct Made(OnceLock<Metadata<'static>>);

impl Callsite for Made {
    fn set_interest(&self, _: Interest) {}
    fn metadata(&self) -> &Metadata<'_> {
        self.0.get().expect("it is made before it is registered")
    }
}

/// Records a map as an event of this name, with a field for each key, and as a span.
fn record_map(name: &'static str, map: &[(String, u64)]) {
    let keys: Vec<&'static str> = map.iter().map(|(key, _)| &*key.clone().leak()).collect();
    let values: Vec<Option<&dyn Value>> = map.iter().map(|(_, value)| Some(value as &dyn Value)).collect();
    for is_event in [true, false] {
        let made: &'static Made = Box::leak(Box::new(Made(OnceLock::new())));
        let fields = FieldSet::new(keys.clone().leak(), tracing::callsite::Identifier(made));
        let kind = if is_event { Kind::EVENT } else { Kind::SPAN };
        let meta = Metadata::new(name, "maps", Level::INFO, None, None, None, fields, kind);
        assert!(made.0.set(meta).is_ok());
        tracing::callsite::register(made);
        let meta = made.0.get().unwrap();
        let values = meta.fields().value_set_all(&values);
        if is_event {
            Event::dispatch(meta, &values);
        } else {
            let _entered = Span::new(meta, &values).entered();
        }
    }
}

#[test]
fn maps_that_are_made_while_the_program_runs_are_recorded_up_to_what_a_signature_has() {
    let name = "fields::maps_that_are_made_while_the_program_runs_are_recorded_up_to_what_a_signature_has";
    const SIZES: [(&str, usize); 4] =
        [("33 keys", 33), ("64 keys", 64), ("250 keys", 250), ("300 keys", 300)];
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            for (name, size) in SIZES {
                let map: Vec<_> = (0..size).map(|n| (format!("key {n}"), n as u64)).collect();
                record_map(name, &map);
            }
        });
    };
    for (name, size) in SIZES {
        let kept = size.min(250);
        let values: Vec<String> = (0..kept).map(|n| n.to_string()).collect();
        // An event and a span, both ways; with so many fields it begins with an id.
        let found = session.args_of(name);
        let of_event = found.iter().filter(|args| **args == values.join(", "));
        let of_span = found.iter().filter(|args| {
            args.split_once(", ").is_some_and(|(id, rest)| id != "0" && rest == values.join(", "))
        });
        assert_eq!((of_event.count(), of_span.count()), (2, 2), "{found:?}");
        let names: Vec<String> = (0..kept).map(|n| format!("key {n}")).collect();
        let of_map = |kind: u8, before: &str| {
            session.sites.values().any(|site| {
                site.template == name
                    && site.kind as u8 == kind
                    && site.category == "maps"
                    && site.names == format!("{before}{}\n", names.join("\n"))
            })
        };
        assert!(of_map(2, "") && of_map(6, "span.id\n"), "{name}");
    }
}

#[test]
fn a_value_that_panics_while_it_is_formatted_harms_no_other_record() {
    struct Panics;
    impl fmt::Debug for Panics {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            std::panic::resume_unwind(Box::new(()))
        }
    }
    let name = "fields::a_value_that_panics_while_it_is_formatted_harms_no_other_record";
    let (Some(session), losses) = crate::recorded_with_losses(name, "info") else {
        let panics = |record: &dyn Fn()| {
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(record)).is_err());
        };
        return both_ways(|| {
            for n in 0..3 {
                let _outer = info_span!("outer", n).entered();
                panics(&|| event!(name: "lost", Level::INFO, before = 1, what = ?Panics));
                event!(name: "after an event", Level::INFO, n);
                panics(&|| drop(info_span!("never made", before = 1, what = ?Panics)));
                event!(name: "after a span", Level::INFO, n);
                let later = info_span!("later", what = Empty);
                panics(&|| {
                    later.record("what", tracing::field::debug(Panics));
                });
                later.in_scope(|| event!(name: "within", Level::INFO, n));
            }
        });
    };
    assert_eq!(losses, [0, 0, 0, 0, 0, 0, 0, 2 * 3 * 3], "each that unwound");
    let lines = crate::spans::tree(&session);
    for n in 0..3 {
        for line in ["outer/after an event", "outer/after a span"] {
            assert_eq!(
                lines.iter().filter(|known| **known == format!("{line}({n})")).count(),
                2,
                "{lines:?}"
            );
        }
        let within =
            |line: &&String| line.starts_with("outer/later/within") && line.ends_with(&format!("({n})"));
        assert_eq!(lines.iter().filter(within).count(), 2, "{lines:?}");
    }
    // Spans that were given a field later; and those around them, as they have an id. (A registry keeps for ever what is around a span that was never made.)
    assert_eq!(crate::spans::ends(&session).len(), 6 + 3);
    assert!(lines.iter().all(|line| !line.contains("lost") && !line.contains("never made")), "{lines:?}");
}

/// An only field that is a text has a way of its own. It is tested with short and long texts, and with values of other types in
/// between. One records something while it is formatted, and one unwinds.
#[test]
fn texts_alone_are_whole() {
    struct Records;
    impl fmt::Debug for Records {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            silverpoint::event!("within alone", 1_u8);
            f.write_str("around")
        }
    }
    struct Unwinds;
    impl fmt::Debug for Unwinds {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("begun")?;
            std::panic::resume_unwind(Box::new(()))
        }
    }
    fn alone(value: &dyn Value) {
        event!(name: "alone", Level::INFO, value);
    }
    const LENGTHS: [usize; 15] = [0, 1, 63, 64, 127, 128, 129, 227, 228, 229, 500, 504, 505, 5_000, 60_000];
    const HUGE: usize = 2_000_000;
    /// Longer ones are shown by their length.
    const SHOWN: usize = 100;
    let name = "fields::texts_alone_are_whole";
    let (Some(session), losses) = crate::recorded_with_losses(name, "info") else {
        return both_ways(|| {
            for length in LENGTHS {
                let text = "x".repeat(length);
                alone(&tracing::field::display(&text));
                alone(&text.as_str());
                alone(&(length as u64));
                // In two pieces.
                alone(&tracing::field::display(format_args!("{}{text}", '-')));
            }
            alone(&tracing::field::debug(Records));
            let unwound = std::panic::catch_unwind(|| alone(&tracing::field::debug(Unwinds)));
            assert!(unwound.is_err());
            alone(&tracing::field::display("y".repeat(HUGE)));
        });
    };
    assert_eq!(losses, [0, 0, 0, 0, 0, 0, 0, 2], "those that unwound");
    let shown = |text: String| match text.len() {
        0..=SHOWN => format!("{text:?}"),
        len => format!("<{len}>"),
    };
    let mut expected = Vec::new();
    for length in LENGTHS {
        let text = "x".repeat(length);
        expected.extend([
            shown(text.clone()),
            shown(text.clone()),
            length.to_string(),
            shown(format!("-{text}")),
        ]);
    }
    expected.push("\"around\"".into());
    assert_eq!(session.args_of("within alone"), ["1", "1"]);
    let args = session.args_of("alone");
    let count = expected.len() + 1;
    assert_eq!(args.len(), 2 * count);
    for half in args.chunks(count) {
        assert_eq!(half[..count - 1], expected);
        let (kept, missing) = half[count - 1].strip_prefix('<').unwrap().split_once(">+").unwrap();
        assert_eq!(kept.parse::<usize>().unwrap() + missing.parse::<usize>().unwrap(), HUGE);
    }
}

/// A few fields have a way of their own. It is tested with empty fields and fields of another type now and
/// then, and through rings that are full many times.
#[test]
fn numbers_of_each_count_are_whole() {
    const ROUNDS: i64 = 300;
    macro_rules! all {
        ($value:ident: $($event:literal, $span:literal: $($field:ident = $number:expr),*;)*) => {$(
            event!(name: $event, Level::INFO, $($field = $number),*);
            let _span = info_span!($span, $($field = $number),*).entered();
        )*};
    }
    let name = "fields::numbers_of_each_count_are_whole";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            for n in 0..ROUNDS {
                let (unsigned, float) = (n as u64 + (1 << 63), n as f64 + 0.5);
                let some = (n % 3 != 0).then_some(n);
                let flag = (n % 2 != 0).then_some(true);
                all! { n:
                    "e1", "s1": a = n;
                    "e2", "s2": a = n, b = unsigned;
                    "e3", "s3": a = n, b = unsigned, c = float;
                    "e5", "s5": a = n, b = unsigned, c = float, d = -n, e = n;
                    "e6", "s6": a = n, b = unsigned, c = float, d = -n, e = n, f = n;
                    "e7", "s7": a = n, b = unsigned, c = float, d = -n, e = n, f = n, g = n;
                    "e some", "s some": a = n, b = some, c = float;
                    "e flag", "s flag": a = n, b = n % 2 == 0, c = float;
                    "e flags", "s flags": a = n, b = flag, c = flag;
                }
            }
        });
    };
    let line = |n: i64, count: usize| {
        let unsigned = (n as u64 + (1 << 63)).to_string();
        let all = [
            n.to_string(),
            unsigned,
            format!("{}.5", n),
            (-n).to_string(),
            n.to_string(),
            n.to_string(),
            n.to_string(),
        ];
        all[..count].join(", ")
    };
    let twice = |each: &dyn Fn(i64) -> String| (0..ROUNDS).chain(0..ROUNDS).map(each).collect::<Vec<_>>();
    for count in [1, 2, 3, 5, 6, 7] {
        let expected = twice(&|n| line(n, count));
        assert_eq!(session.args_of(&format!("e{count}")), expected);
        assert_eq!(session.args_of(&format!("s{count}")), expected);
    }
    let some = twice(&|n| if n % 3 == 0 { format!("{n}, {n}.5") } else { format!("{n}, {n}, {n}.5") });
    let flag = twice(&|n| format!("{n}, {}, {n}.5", n % 2 == 0));
    let flags = twice(&|n| if n % 2 == 0 { n.to_string() } else { format!("{n}, true, true") });
    for (what, expected) in [("some", some), ("flag", flag), ("flags", flags)] {
        assert_eq!(session.args_of(&format!("e {what}")), expected);
        assert_eq!(session.args_of(&format!("s {what}")), expected);
    }
}

/// What formats a field makes spans, enters some of them, and keeps another for later.
#[test]
fn a_value_that_makes_spans_while_it_is_formatted_leaves_all_whole() {
    use std::cell::RefCell;

    thread_local! {
        static LATER: RefCell<Vec<tracing::Span>> = const { RefCell::new(Vec::new()) };
    }
    struct Maker;
    impl fmt::Debug for Maker {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            info_span!("made", number = 7).in_scope(|| silverpoint::event!("within", 1_u8));
            LATER.with(|later| later.borrow_mut().push(info_span!("later", number = 8)));
            f.write_str("maker")
        }
    }
    let name = "fields::a_value_that_makes_spans_while_it_is_formatted_leaves_all_whole";
    let Some(session) = recorded(name, "info") else {
        // (A dispatcher of a scope gets nothing from within itself; the program's does.)
        silverpoint_tracing::init();
        for _ in 0..3 {
            info_span!("holds", who = ?Maker).in_scope(|| silverpoint::event!("held", 2_u8));
        }
        return LATER.take().into_iter().for_each(|span| span.in_scope(|| silverpoint::event!("kept", 3_u8)));
    };
    let lines = crate::spans::tree(&session);
    let count = |end: &str| lines.iter().filter(|line| line.ends_with(end)).count();
    assert_eq!(count("holds(\"maker\")"), 3, "{lines:?}");
    assert_eq!(count("holds/held(2)"), 3, "{lines:?}");
    let (made, within) = (count("made(7)"), count("made/within(1)"));
    // (Formatted once more where its site is found only then.)
    assert!(made >= 3 && within == made, "{lines:?}");
    assert_eq!(count("later/kept(3)"), made, "{lines:?}");
    assert_eq!(crate::spans::ends(&session).len(), made, "each that was kept: {lines:?}");
}

/// Code that formats a field records by `tracing` itself: the program's own dispatcher gets it, and each
/// record is whole.
fn record_within() {
    struct Talker(u32);
    impl fmt::Debug for Talker {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            event!(name: "said", Level::INFO, depth = self.0, text = "while it is formatted");
            if self.0 > 0 {
                event!(name: "outer", Level::INFO, before = 1, who = ?Talker(self.0 - 1), after = self.0);
            }
            write!(f, "talker {}", self.0)
        }
    }
    for _ in 0..3 {
        event!(name: "outer", Level::INFO, before = 1, who = ?Talker(2), after = 9);
        let span = info_span!("holds", who = ?Talker(0), later = Empty).entered();
        span.record("later", tracing::field::debug(Talker(0)));
    }
}

fn check_within(session: &crate::reader::Session) {
    let (outer, said) = (session.args_of("outer"), session.args_of("said"));
    let count = |all: &[String], args: &str| all.iter().filter(|found| *found == args).count();
    assert_eq!(count(&outer, "1, \"talker 2\", 9"), 3, "{outer:?}");
    // (Formatted once more where its site is found only then, or there was no room for it.)
    assert!(
        count(&outer, "1, \"talker 1\", 2") >= 3 && count(&outer, "1, \"talker 0\", 1") >= 3,
        "{outer:?}"
    );
    let known = ["talker 2\", 9", "talker 1\", 2", "talker 0\", 1"].map(|end| format!("1, \"{end}"));
    assert!(outer.iter().all(|args| known.contains(args)), "{outer:?}");
    for depth in 0..3 {
        assert!(count(&said, &format!("{depth}, \"while it is formatted\"")) >= 3, "{said:?}");
    }
    let lines = crate::spans::tree(session);
    let of = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert!(of("holds(\"talker 0\")") >= 1, "{lines:?}");
    assert_eq!(crate::spans::ends(session).len(), 3);
}

#[test]
fn a_value_that_logs_while_it_is_formatted_leaves_all_whole() {
    let name = "fields::a_value_that_logs_while_it_is_formatted_leaves_all_whole";
    let Some(session) = recorded(name, "info") else {
        silverpoint_tracing::init();
        return record_within();
    };
    check_within(&session);
}

#[test]
fn a_value_that_logs_while_it_is_formatted_leaves_all_whole_by_a_layer_too() {
    let name = "fields::a_value_that_logs_while_it_is_formatted_leaves_all_whole_by_a_layer_too";
    let Some(session) = recorded(name, "info") else {
        use tracing_subscriber::prelude::*;
        tracing_subscriber::registry().with(silverpoint_tracing::layer()).init();
        return record_within();
    };
    check_within(&session);
}
