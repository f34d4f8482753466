//! Whole trace files: order, text, JSON, damage.

use std::path::Path;

use silverpoint_render::{json, text, time::Style};
use silverpoint_trace::{Events, Source, Trace, Verdict};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::builder::{Builder, log, text as packed};

pub fn open(bytes: &[u8]) -> Trace {
    Trace::from_sources(vec![Source::from_bytes(Path::new("t.silver"), bytes.to_vec())]).unwrap()
}

pub fn lines(trace: &Trace, events: &mut Events<'_>) -> String {
    let options =
        text::Options { zone: jiff::tz::TimeZone::UTC, time: Style::TimeOfDay, ..text::Options::default() };
    let mut writer = text::Writer::new(&options, trace);
    let mut out = String::new();
    while let Some(event) = events.next() {
        writer.line(&mut out, &event);
    }
    out
}

pub fn json_lines(trace: &Trace, events: &mut Events<'_>) -> Vec<serde_json::Value> {
    let mut writer = json::Writer::new(json::Options::default(), trace);
    let mut out = String::new();
    while let Some(event) = events.next() {
        writer.line(&mut out, &event);
    }
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

pub fn named(
    kind: Kind,
    level: Level,
    line: u32,
    template: &str,
    names: &str,
    signature: &str,
) -> SiteDescription {
    SiteDescription { kind, names: names.into(), ..log(level, "index", line, template, signature) }
}

/// Two processes, three threads, every kind of site.
pub fn sample() -> Builder {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/indexer", 4312);
    b.session(2, "/opt/digest", 77);
    b.site(1, 16, &log(Level::Info, "net::tcp", 88, "order {} at {:.2f}", "id"));
    b.site(1, 17, &log(Level::Error, "", 7, "cannot open {}", "s"));
    b.site(1, 18, &named(Kind::Event, Level::Debug, 9, "file.indexed", "path\nbytes\n", "sL"));
    b.site(1, 19, &named(Kind::Span, Level::Info, 12, "scan", "dir\n", "s"));
    b.site(2, 16, &named(Kind::Counter, Level::Info, 3, "queue.length", "", "L"));
    b.site(2, 17, &named(Kind::Stream, Level::Warn, 4, "pos {} {}", "", "f[i"));
    b.stream(1, 1, 4312, "main");
    b.stream(1, 2, 4313, "");
    b.stream(2, 1, 77, "");
    let mut order = 7i32.to_le_bytes().to_vec();
    order.extend_from_slice(&std::f64::consts::PI.to_le_bytes());
    b.record(1, 1, 16, 1_000, &order);
    b.record(1, 1, 19, 2_000, &packed("/usr/include"));
    b.record(1, 1, 17, 5_000, &packed("bad\nname"));
    b.span_end(1, 1, 19, 2_000, 1_236_567);
    b.thread_name(1, 2, 1_500, "worker-2");
    let mut indexed = packed("a b.h");
    indexed.extend_from_slice(&4096u64.to_le_bytes());
    b.record(1, 2, 18, 3_000, &indexed);
    b.record(2, 1, 16, 2_500, &12u64.to_le_bytes());
    let mut position = 0.1f32.to_le_bytes().to_vec();
    position.extend_from_slice(&2u32.to_le_bytes());
    position.extend_from_slice(&1i32.to_le_bytes());
    position.extend_from_slice(&(-2i32).to_le_bytes());
    b.record(2, 1, 17, 4_000, &position);
    b
}

pub fn finished() -> Vec<u8> {
    let mut b = sample();
    b.flush(1, 2, true);
    b.flush(2, 1, false);
    b.flush(1, 1, false);
    b.end();
    b.bytes
}

#[test]
fn one_line_an_event_in_order_of_time() {
    let bytes = finished();
    let trace = open(&bytes);
    insta::assert_snapshot!(lines(&trace, &mut trace.events()));
    assert_eq!(trace.verdict(), Verdict::Intact);
}

#[test]
fn one_object_an_event() {
    let trace = open(&finished());
    let objects = json_lines(&trace, &mut trace.events());
    assert_eq!(objects.len(), 7);
    insta::assert_snapshot!(objects.iter().map(|o| o.to_string() + "\n").collect::<String>());
}

#[test]
fn lines_have_the_form_of_a_pattern() {
    let trace = open(&finished());
    let shown = |pattern: &str, colour: bool| {
        let pattern = Some(text::Pattern::parse(pattern).unwrap());
        let zone = jiff::tz::TimeZone::UTC;
        let options = text::Options { pattern, zone, colour, ..text::Options::default() };
        let mut writer = text::Writer::new(&options, &trace);
        let (mut out, mut events) = (String::new(), trace.events());
        while let Some(event) = events.next() {
            writer.line(&mut out, &event);
        }
        out
    };
    let all = shown(
        "{relative:.6} {l} {process:>8}[{pid}] {thread:.4} {category:<8}|{message}| {file}:{line}",
        false,
    );
    insta::assert_snapshot!(all);
    let red = shown("{level:<5}", true);
    assert!(
        red.contains("\u{1b}[31mERROR\u{1b}[0m\n") && red.contains("\u{1b}[32mINFO \u{1b}[0m\n"),
        "{red:?}"
    );
}
