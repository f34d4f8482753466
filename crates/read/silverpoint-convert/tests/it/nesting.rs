//! Spans that end in another order than they began, in formats whose ends name nothing; and very many within each other.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use crate::support::{convert, with_reader};

/// Begins and ends of spans in one thread: time, letter of the span, whether it ends.
fn lines(steps: &[(u64, char, bool)]) -> String {
    let mut out = String::new();
    for (time, name, is_end) in steps {
        let kind =
            if *is_end { r#""kind":"span_end","duration_ns":1"# } else { r#""kind":"span","args":{}"# };
        let _ = writeln!(
            out,
            r#"{{"time":"2026-01-01T00:00:00.{time:09}Z","process":"p","pid":1,"tid":1,"category":"c","file":"f","line":1,"template":"{name}",{kind}}}"#
        );
    }
    out
}

/// What viewers make of begins and ends: how long each span was open, all its parts together. Each end must be that of the innermost.
fn open_for(format: &str, records: &str) -> HashMap<String, u64> {
    let text = String::from_utf8(convert("jsonl", records.as_bytes(), format).unwrap()).unwrap();
    let events: Vec<(bool, Option<String>, u64)> = match format {
        "chrome" => {
            let value: Value = serde_json::from_str(&text).unwrap();
            let events = value["traceEvents"].as_array().unwrap().iter();
            let events = events.filter(|event| matches!(event["ph"].as_str(), Some("B" | "E")));
            // A float holds whole microseconds since 1970, no nanoseconds.
            let ns = |event: &Value| event["ts"].as_f64().unwrap().round() as u64 % 1_000_000 * 1000;
            let name = |event: &Value| event["name"].as_str().map(str::to_owned);
            events.map(|event| (event["ph"] == "E", name(event), ns(event))).collect()
        }
        _ => {
            let lines = text.lines().filter_map(|line| {
                let (head, message) = line.split_once(": tracing_mark_write: ")?;
                let us: u64 = head.rsplit_once('.')?.1.parse().ok()?;
                let mut parts = message.split('|');
                let letter = parts.next()?;
                let name = parts.nth(1).map(str::to_owned);
                matches!(letter, "B" | "E").then(|| (letter == "E", name, us * 1000))
            });
            lines.collect()
        }
    };
    let (mut stack, mut total): (Vec<(String, u64)>, HashMap<String, u64>) = Default::default();
    for (is_end, name, ns) in events {
        if is_end {
            let (begun, from) = stack.pop().unwrap();
            assert!(name.is_none_or(|name| name == begun), "{text}");
            *total.entry(begun).or_default() += ns - from;
        } else {
            stack.push((name.unwrap(), ns));
        }
    }
    assert!(stack.is_empty(), "{text}");
    total
}

#[test]
fn ends_of_spans_that_overlap_are_those_of_their_begins() {
    const US: u64 = 1000;
    for (steps, expected) in [
        (
            &[(40, 'x', false), (45, 'y', false), (50, 'x', true), (60, 'y', true)][..],
            &[('x', 10), ('y', 15)][..],
        ),
        (&[(10, 'x', false), (20, 'y', false), (30, 'y', true), (40, 'x', true)], &[('x', 30), ('y', 10)]),
        (
            &[
                (10, 'x', false),
                (20, 'y', false),
                (30, 'z', false),
                (40, 'x', true),
                (50, 'y', true),
                (60, 'x', false),
                (70, 'z', true),
                (90, 'x', true),
            ],
            &[('x', 60), ('y', 30), ('z', 40)],
        ),
        (
            &[
                (10, 'x', false),
                (20, 'x', false),
                (30, 'y', false),
                (40, 'x', true),
                (50, 'x', true),
                (60, 'y', true),
            ],
            &[('x', 60), ('y', 30)],
        ),
    ] {
        let steps: Vec<_> = steps.iter().map(|(time, name, is_end)| (time * US, *name, *is_end)).collect();
        for format in ["chrome", "systrace"] {
            let found = open_for(format, &lines(&steps));
            let expected: HashMap<String, u64> =
                expected.iter().map(|(name, us)| (name.to_string(), us * US)).collect();
            assert_eq!(found, expected, "{format} {steps:?}");
        }
    }
}

/// The packets of Perfetto have as many begins as ends, and one more of each for each part.
#[test]
fn perfetto_begins_again_what_goes_on() {
    let nested = lines(&[(10, 'x', false), (20, 'y', false), (30, 'y', true), (40, 'x', true)]);
    let overlapping = lines(&[(10, 'x', false), (20, 'y', false), (30, 'x', true), (40, 'y', true)]);
    let sizes = [nested, overlapping].map(|text| {
        let bytes = convert("jsonl", text.as_bytes(), "perfetto").unwrap();
        (bytes.len(), bytes.windows(9).any(|nine| nine == b"continued"))
    });
    assert!(!sizes[0].1 && sizes[1].1 && sizes[1].0 > sizes[0].0, "{sizes:?}");
}

/// An end with an unknown begin ends no other span.
#[test]
fn an_end_without_a_begin_is_a_moment_within_others() {
    let text = lines(&[(10_000, 'x', false), (20_000, 'y', true), (40_000, 'x', true)]);
    assert_eq!(open_for("chrome", &text), HashMap::from([("x".to_owned(), 30_000)]));
    let chrome = String::from_utf8(convert("jsonl", text.as_bytes(), "chrome").unwrap()).unwrap();
    assert!(chrome.contains(r#""ph":"i","name":"y done""#), "{chrome}");
}

/// As many events as records, and some: a thousand spans that end in the order of their begins are no million of events.
#[test]
fn spans_that_end_in_the_order_of_their_begins_are_bounded() {
    let many = 2000;
    let mut text = String::new();
    for end in [false, true] {
        for n in 0..many {
            let kind =
                if end { r#""kind":"span_end","duration_ns":1"# } else { r#""kind":"span","args":{}"# };
            let _ = writeln!(
                text,
                r#"{{"time":"2026-01-01T00:00:00Z","tid":1,"line":{n},"template":"s{n}",{kind}}}"#
            );
        }
    }
    for format in ["chrome", "systrace"] {
        let out = String::from_utf8(convert("jsonl", text.as_bytes(), format).unwrap()).unwrap();
        let lines = out.lines().count();
        assert!((2 * many..70 * many).contains(&lines), "{format}: {lines}");
        assert!(out.contains("s0 done"), "{format}");
    }
}

/// What each costs does not grow with how many are open: else this takes minutes. More than are kept open in OTLP.
#[test]
fn very_many_nested_spans_become_as_many() {
    let nested = |many: usize| {
        let mut text = String::new();
        for n in 0..2 * many {
            let kind =
                if n < many { r#""kind":"span","args":{}"# } else { r#""kind":"span_end","duration_ns":1"# };
            let _ = writeln!(
                text,
                r#"{{"time":"2026-01-01T00:00:00.{n:09}Z","tid":1,"line":1,"template":"deep",{kind}}}"#
            );
        }
        text
    };
    let many = 70_000;
    let out = String::from_utf8(otlp(&nested(many))).unwrap();
    assert!(out.matches("\"startTimeUnixNano\"").count() >= many);
    let many = 10_000;
    for format in ["chrome", "systrace", "perfetto"] {
        assert!(convert("jsonl", nested(many).as_bytes(), format).unwrap().len() > 2 * many, "{format}");
    }
}

fn otlp(text: &str) -> Vec<u8> {
    let out = crate::support::Shared::default();
    with_reader("jsonl", text.as_bytes(), |reader| {
        let mut writer = silverpoint_convert::otlp::json_lines(out.clone());
        silverpoint_convert::copy::<crate::support::Failed>(reader, &mut *writer, |e| Err(e.into())).unwrap();
    });
    out.bytes()
}

#[test]
fn records_without_a_text_begin_with_no_blank() {
    let text = concat!(
        r#"{"time":"2026-01-01T00:00:00Z","user":"ada","n":1}"#,
        "\n",
        r#"{"time":"2026-01-01T00:00:00Z","msg":"","user":"ada"}"#,
        "\n",
        r#"{"time":"2026-01-01T00:00:00Z","kind":"event","template":"","args":{"a":1}}"#,
        "\n",
        r#"{"time":"2026-01-01T00:00:00Z","kind":"async_begin","template":"","args":{"id":1}}"#,
        "\n",
        r#"{"time":"2026-01-01T00:00:00Z","msg":" indented","user":"ada"}"#,
        "\n",
    );
    let lines = String::from_utf8(convert("jsonl", text.as_bytes(), "jsonl").unwrap()).unwrap();
    let messages: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["message"].as_str().unwrap_or("").to_owned())
        .collect();
    assert_eq!(messages, ["user=ada n=1", "user=ada", "a=1", "begin id=1", " indented user=ada"]);
    for format in ["chrome", "systrace"] {
        let out = String::from_utf8(convert("jsonl", text.as_bytes(), format).unwrap()).unwrap();
        assert!(out.contains("user=ada n=1") && !out.contains(" user=ada n=1"), "{format}: {out}");
    }
    let out = String::from_utf8(otlp(text)).unwrap();
    assert!(out.contains(r#""stringValue":"user=ada n=1""#), "{out}");
}
