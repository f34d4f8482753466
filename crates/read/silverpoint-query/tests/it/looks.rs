//! The looks of lines: as Qt's debug stream, by Qt's patterns, in short.

use silverpoint_render::text::{self, Look, Pattern};
use silverpoint_trace::Trace;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::builder::{Builder, log, text as packed};
use crate::trace::open;

fn n(count: u32) -> Vec<u8> {
    count.to_le_bytes().to_vec()
}

/// A record each of several sites.
fn trace() -> Trace {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/indexer", 4312);
    b.stream(1, 1, 4312, "main");
    let stream = |category: &str, line, template: &str, signature: &str| SiteDescription {
        kind: Kind::Stream,
        ..log(Level::Debug, category, line, template, signature)
    };
    let list = |elements: u32| {
        let mut args = n(elements);
        (1..=elements).for_each(|element| args.extend(n(element)));
        args
    };
    let records: Vec<(SiteDescription, Vec<u8>)> = vec![
        (stream("net", 1, "Got message {}", "s"), packed("Hel\"lo")),
        (stream("", 2, "pos {} {}", "<QPoint|x:i,y:i,>d"), {
            [n(1), n(2), std::f64::consts::PI.to_le_bytes().into()].concat()
        }),
        (stream("default", 3, "{} {}", "[s{sI"), {
            let texts = [n(2), packed("a"), packed("b c")].concat();
            [texts, n(2), packed("k"), n(7), packed("l"), n(8)].concat()
        }),
        (stream("", 4, "{} {} {} {}", "eQt%3A%3AColor|A|1=red,;cby"), {
            [vec![1, b'x', 1], n(2), vec![b'a', 0xFF]].concat()
        }),
        (stream("", 5, "{} {}", "ut"), {
            [(0..16).collect(), 1_795_201_331_123_456_789i64.to_le_bytes().to_vec()].concat()
        }),
        (log(Level::Warn, "net", 6, "printf of {} and {}", "s[I"), [packed("text"), list(6)].concat()),
        (
            SiteDescription {
                kind: Kind::Event,
                names: "path\nbytes\n".into(),
                ..log(Level::Error, "io", 7, "file.closed", "sL")
            },
            [packed(&"long ".repeat(20)), 12u64.to_le_bytes().to_vec()].concat(),
        ),
        (
            SiteDescription {
                names: "number\nuser\n".into(),
                ..log(Level::Info, "net", 8, "with fields {number}", "IA")
            },
            [n(3), vec![4]].concat(),
        ),
    ];
    for (number, (site, args)) in records.iter().enumerate() {
        b.site(1, 16 + number as u32, site);
        b.record(1, 1, 16 + number as u32, 1_000 + number as u64 * 1_000_000, args);
    }
    b.flush(1, 1, false);
    b.end();
    open(&b.bytes)
}

fn shown(options: &text::Options) -> Vec<String> {
    let trace = trace();
    let options = text::Options { zone: jiff::tz::TimeZone::UTC, ..options.clone() };
    let mut writer = text::Writer::new(&options, &trace);
    let (mut out, mut events) = (String::new(), trace.events());
    while let Some(event) = events.next() {
        writer.line(&mut out, &event);
    }
    out.lines().map(str::to_owned).collect()
}

fn looking(look: Look) -> Vec<String> {
    shown(&text::Options::default().looking(look))
}

fn by(pattern: &str, look: Look) -> Vec<String> {
    let pattern = Some(Pattern::parse(pattern).unwrap());
    shown(&text::Options { pattern, ..text::Options::default().looking(look) })
}

#[test]
fn lines_as_qdebug_writes_them() {
    let long = "long ".repeat(20);
    assert_eq!(
        looking(Look::QDebug),
        [
            r#"Got message "Hel\"lo""#,
            "pos QPoint(1,2) 3.14159",
            r#"("a", "b c") (("k", 7)("l", 8))"#,
            r#"Qt::Color::red 'x' true "a\xFF""#,
            "QUuid({00010203-0405-0607-0809-0a0b0c0d0e0f}) QDateTime(2026-11-20 19:02:11.123 UTC Qt::UTC)",
            "printf of text and (1, 2, 3, 4, 5, 6)",
            &format!("file.closed path=\"{long}\" bytes=12"),
            "with fields 3 user=4",
        ]
    );
}

#[test]
fn qts_default_pattern_shows_a_category_that_is_one() {
    let lines = looking(Look::Qt);
    assert_eq!(lines[0], r#"net: Got message "Hel\"lo""#);
    assert_eq!(lines[1], "pos QPoint(1,2) 3.14159");
    // Qt's word for none.
    assert_eq!(lines[2], r#"("a", "b c") (("k", 7)("l", 8))"#);
    assert_eq!(by("%{if-category}%{category}: %{endif}%{message}", Look::Qt), lines);
}

#[test]
fn patterns_of_qt_choose_by_level() {
    let pattern = "[%{if-debug}D%{endif}%{if-warning}W%{endif}%{if-critical}C%{endif}] %{type} %{category} %{appname}(%{pid}) %{threadid} %{line} 100%";
    let lines = by(pattern, Look::Text);
    assert_eq!(lines[0], "[D] debug net indexer(4312) 4312 1 100%");
    assert_eq!(lines[1], "[D] debug default indexer(4312) 4312 2 100%");
    assert_eq!(lines[5], "[W] warning net indexer(4312) 4312 6 100%");
    assert_eq!(lines[6], "[C] critical io indexer(4312) 4312 7 100%");
    assert_eq!(lines[7], "[] info net indexer(4312) 4312 8 100%");
    // The message is that of the look, for every syntax of the pattern.
    assert_eq!(by("%{message}", Look::Text)[2], r#"["a", "b c"] {"k": 7, "l": 8}"#);
    assert_eq!(by("{message}", Look::QDebug)[2], r#"("a", "b c") (("k", 7)("l", 8))"#);
    let times = by("%{time HH:mm:ss.zzz}|%{time process}", Look::Text);
    let (first, last) = (&times[0], &times[7]);
    assert_eq!(first.len(), "00:00:00.000|+0.000".len(), "{first}");
    assert!(first.ends_with("|+0.000") && last.ends_with("|+0.007"), "{last}");
}

#[test]
fn summaries_are_short() {
    let lines: Vec<String> = looking(Look::Summary).iter().map(|line| line[13..].to_owned()).collect();
    assert_eq!(lines[0], "D net: Got message Hel\"lo");
    assert_eq!(lines[1], "D pos QPoint{x: 1, y: 2} 3.14159");
    assert_eq!(lines[5], "W net: printf of text and [1, 2, 3, 4, …(+2)]");
    let path = &"long ".repeat(20)[..60];
    assert_eq!(lines[6], format!("E io: file.closed path=\"{path}\"…(+40) bytes=12"));
}

#[test]
fn the_message_comes_in_parts_too() {
    let lines = by("{text}|{fields}", Look::Text);
    assert_eq!(lines[7], "with fields 3| user=4");
    assert_eq!(lines[5], "printf of text and [1, 2, 3, 4, 5, 6]|");
    assert!(lines[6].starts_with("file.closed| path=\"long "), "{}", lines[6]);
}
