//! Calls of ATrace whose name is an argument, because there were too many names or it was too long. Formats
//! whose events have names show that name.

use crate::judges::ask;
use crate::support::convert;

/// Kind, arguments before the name, their names, and values; whether an end follows.
const CALLS: &[(&str, &str, &str, &str, bool)] = &[
    ("span", "", "", "", true),
    ("instant", "", "", "", false),
    ("counter", "l", "value", "-3", false),
    ("async_begin", "L", "id", "7", false),
    ("async_end", "L", "id", "7", false),
    ("async_begin", "Ls", "id\\nname", "8,\"fetch\"", false),
];

/// JSON lines of them, each with another name.
fn lines() -> (String, Vec<String>) {
    let (mut lines, mut names) = (String::new(), Vec::new());
    let head = r#""process":"player","pid":42,"tid":43,"thread":"main","level":"info","category":"atrace::app","template":"atrace""#;
    let mut second = 0;
    let mut time = || {
        second += 1;
        format!("2026-01-02T03:04:{second:02}.5Z")
    };
    for (number, (kind, signature, given, values, ends)) in CALLS.iter().enumerate() {
        let name = format!("one of many {}", if *kind == "async_end" { number - 1 } else { number });
        let comma = if values.is_empty() { "" } else { "," };
        let newline = if given.is_empty() { "" } else { "\\n" };
        lines += &format!(
            "{{\"time\":\"{}\",{head},\"kind\":\"{kind}\",\"signature\":\"{signature}s\",\"names\":\"{given}{newline}atrace.name\\n\",\"args\":[{values}{comma}\"{name}\"]}}\n",
            time()
        );
        if *ends {
            let site = r#""signature":"s","names":"atrace.name\n""#;
            lines += &format!(
                "{{\"time\":\"{}\",{head},\"kind\":\"span_end\",{site},\"duration_ns\":1000}}\n",
                time()
            );
        }
        names.push(name);
    }
    (lines, names)
}

fn written(format: &str) -> (Vec<u8>, Vec<String>) {
    let (lines, names) = lines();
    (convert("jsonl", lines.as_bytes(), format).unwrap(), names)
}

/// A field of protobuf that is a text.
fn field(tag: &[u8], text: &str) -> Vec<u8> {
    [tag, &[text.len() as u8], text.as_bytes()].concat()
}

fn count(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|window| *window == part).count()
}

#[test]
fn events_of_perfetto_have_the_names_that_share_a_site() {
    let (trace, names) = written("perfetto");
    // `TrackEvent.name` is field 23, `TrackDescriptor.name` field 2.
    let event = |name: &str| count(&trace, &field(&[0xBA, 0x01], name));
    let track = |name: &str| count(&trace, &field(&[0x12], name));
    assert_eq!([event(&names[0]), event(&names[1]), event(&names[2])], [1, 1, 0]);
    assert_eq!([track(&names[2]), track(&names[3]), track(&names[5])], [1, 1, 1]);
    assert_eq!(event(&names[3]), 2, "begin and end");
    assert_eq!((event("fetch"), event(&names[5])), (1, 0), "on its track");
    assert_eq!(count(&trace, b"atrace.name"), 0, "a name is no argument");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges/perfetto_trace.py");
    let Some(out) = ask("python3", &[script], &trace) else { return };
    let shown: Vec<String> = out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|one| one["track"].is_string())
        .map(|event| format!("{} {} {}", event["type"], event["track"], event["name"]).replace('"', ""))
        .collect();
    let expected = [
        "begin main one of many 0",
        "end main null",
        "instant main one of many 1",
        "counter one of many 2 null",
        "begin one of many 3 one of many 3",
        "end one of many 3 one of many 3",
        "begin one of many 5 fetch",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn events_of_chrome_have_the_names_that_share_a_site() {
    let (text, names) = written("chrome");
    let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let events: Vec<_> =
        trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] != "M").collect();
    let shown: Vec<_> =
        events.iter().map(|event| (event["ph"].as_str().unwrap(), event["name"].as_str())).collect();
    let name = |number: usize| Some(names[number].as_str());
    // The end of a span of a shared site has no name: which it was is not known.
    let expected = [
        ("B", name(0)),
        ("E", Some("one of many 0")),
        ("i", name(1)),
        ("C", name(2)),
        ("b", name(3)),
        ("e", name(3)),
        ("b", name(5)),
    ];
    assert_eq!(shown, expected);
    assert!(events.iter().all(|event| event["args"].get("atrace.name").is_none()));
    assert_eq!(events[3]["args"], serde_json::json!({"value": -3}));
}

#[test]
fn spans_of_otlp_have_the_names_that_share_a_site() {
    let (text, names) = written("otlp");
    let text = String::from_utf8(text).unwrap();
    for number in [0, 3, 5] {
        assert_eq!(text.matches(&format!("\"name\":\"{}\"", names[number])).count(), 1, "{text}");
    }
    assert!(!text.contains("atrace.name"), "{text}");
}

#[test]
fn systrace_has_the_names_that_share_a_site() {
    let (text, _) = written("systrace");
    let text = String::from_utf8(text).unwrap();
    let found: Vec<_> =
        text.lines().filter_map(|line| line.split_once("_write: ")).map(|(_, message)| message).collect();
    let expected = [
        "B|42|one of many 0",
        "E|42",
        "I|42|one of many 1",
        "C|42|one of many 2|-3",
        "S|42|one of many 3|7",
        "F|42|one of many 3|7",
        "G|42|one of many 5|fetch|8",
    ];
    assert_eq!(found, expected);
}
