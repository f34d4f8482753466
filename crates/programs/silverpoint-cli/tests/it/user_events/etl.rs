//! Event Trace Logs that are made of records: their events are those that a tracepoint with the same arguments writes to ETW.
//! What is compared there holds here too: Microsoft's encoder, and the JSON of the record.

use std::io::{Cursor, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;
use silverpoint_convert::etl::EtlWriter;
use silverpoint_convert::{Record, Writer};
use silverpoint_tests::etl::{Event, events};
use silverpoint_trace::{Context, Site, What};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use super::etw::{conventions, decoded, events_of, scopes_and_cuts};
use super::judge::{Decoded, Dialect, expected, same};
use super::{Case, cases_of_the_vectors, counted, generated_cases, root};

/// Nanoseconds between two cases; the end of a span comes after half of them.
const STEP: u64 = 1000;

fn site(case: &Case) -> Site {
    Site::new(SiteDescription {
        kind: case.kind,
        level: case.level,
        flags: 0,
        line: 17,
        language: 1,
        category: case.category.clone(),
        file: "src/odd \u{fc};file.cpp".to_owned(),
        function: String::new(),
        names: case.names.iter().map(|name| format!("{name}\n")).collect(),
        template: case.template.clone(),
        signature: case.signature.clone(),
    })
}

fn log_of(cases: &[Case]) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let mut writer = EtlWriter::new(&mut out, "judged.etl").unwrap();
    for (number, case) in cases.iter().enumerate() {
        let site = site(case);
        // As readers have them: a map. (The one case that has scopes has three pairs.)
        let context = Context::from_item(&[b"\xA3", &*case.scopes].concat());
        let wall_ns = (number as u64 * STEP) as i64;
        let what =
            What::Record { site: &site, site_number: number, args: &case.arguments, truncated: case.is_cut };
        let record = Record {
            wall_ns,
            ticks: None,
            process: "judged",
            pid: 77,
            process_number: 0,
            tid: 88,
            thread: "",
            context: context.as_ref(),
            is_backtrace: false,
            what,
        };
        let is_there = writer.write(&record).is_ok();
        if is_there && case.kind == Kind::Span {
            let what = What::SpanEnd {
                site: Some(&site),
                site_number: Some(number),
                begin_ticks: 0,
                duration_ns: Some(12345),
            };
            let wall_ns = wall_ns + (STEP / 2) as i64;
            writer.write(&Record { wall_ns, context: None, what, ..record }).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    out.into_inner()
}

/// What a tracepoint gives to ETW of it (`etw.cpp`).
fn given(event: &Event<'_>) -> Vec<u8> {
    let none = [0; 16];
    let mut bytes = event.descriptor.to_vec();
    for id in [Some(event.activity).filter(|id| **id != none), event.item(1)] {
        bytes.push(id.is_some().into());
        bytes.extend_from_slice(id.unwrap_or(&none));
    }
    for (kind, part) in [(2_u32, event.item(12).unwrap()), (1, event.item(11).unwrap()), (0, event.payload)] {
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

/// The event of each, and that of the end of a span; `None`: it has none.
fn written(cases: &[Case]) -> Vec<[Option<Decoded>; 2]> {
    let log = log_of(cases);
    let mut found: Vec<_> = cases.iter().map(|_| [None, None]).collect();
    let all = events(&log);
    let begin = all[0].time;
    for event in &all {
        if event.name() == "silverpoint:process_name" {
            continue;
        }
        assert_eq!((event.pid, event.tid), (77, 88));
        let time = event.time - begin;
        let place = &mut found[(time / STEP) as usize][usize::from(!time.is_multiple_of(STEP))];
        assert!(place.replace(decoded(&given(event))).is_none());
    }
    found
}

/// How many have an event. Each is that of the tracepoint, and has the fields that the JSON of its record asks for.
fn judge(cases: &[Case]) -> usize {
    let mut events = 0;
    for ((case, made), live) in cases.iter().zip(written(cases)).zip(events_of(cases)) {
        for (number, (made, live)) in made.into_iter().zip(live).enumerate() {
            let (Some(made), Some(live)) = (&made, &live) else {
                assert!(made.is_none() && live.is_none(), "{}: one of them has no event", case.signature);
                continue;
            };
            let fields = Value::from(made.fields.clone());
            assert!(
                same(&fields, &Value::from(live.fields.clone())),
                "{}\n  written {fields}\n live {:?}",
                case.signature,
                live.fields
            );
            let head = |of: &Decoded| {
                let activity = (of.activity.is_some(), of.related.is_some());
                // Providers whose names differ in case are one.
                (
                    of.provider.to_lowercase(),
                    of.name.clone(),
                    of.level,
                    of.keyword,
                    of.opcode,
                    of.tag,
                    activity,
                )
            };
            assert_eq!(head(made), head(live));
            if number == 0 && made.tag == 0 && case.scopes.is_empty() {
                let wanted = wanted(case);
                assert!(same(&fields, &wanted), "{}\n  found {fields}\n wanted {wanted}", case.signature);
            }
            events += 1;
        }
    }
    events
}

/// What the JSON of a record asks for.
fn wanted(case: &Case) -> Value {
    let names: Vec<&str> = case.names.iter().map(String::as_str).collect();
    expected(Dialect::TraceLogging, &case.signature, &names, &case.arguments).into()
}

#[test]
fn every_value_of_the_vectors_is_as_the_tracepoint_writes_it() {
    let cases = cases_of_the_vectors();
    assert_eq!(judge(&cases), cases.len());
}

#[test]
fn every_generated_value_is_as_the_tracepoint_writes_it() {
    assert!(judge(&generated_cases(33, 2000)) > 1990);
}

#[test]
fn names_spans_scopes_and_cuts_are_as_the_tracepoint_has_them() {
    let id = 77u64.to_le_bytes();
    let span = |kind| Case { kind, template: "sell".to_owned(), ..Case::new("L", id) };
    let kinds = [
        Kind::Span,
        Kind::AsyncBegin,
        Kind::AsyncInstant,
        Kind::AsyncEnd,
        Kind::FlowBegin,
        Kind::FlowStep,
        Kind::FlowEnd,
        Kind::Counter,
        Kind::Instant,
    ];
    let spans = kinds.map(span);
    assert_eq!(judge(&spans), spans.len() + 1, "the span has an end");
    let names = conventions();
    assert_eq!(judge(&names), names.len());
    let cut = scopes_and_cuts();
    assert_eq!(judge(&cut), cut.len() - 1, "one has more fields than tools read");
}

/// What two parsers that know nothing of Silverpoint find of each event; `None` without them.
fn parsed(log: &[u8]) -> Option<Vec<Value>> {
    let Some(python) = std::env::var_os("SILVERPOINT_JUDGES").filter(|path| !path.is_empty()) else {
        silverpoint_tests::skipped!(
            "SILVERPOINT_JUDGES names no Python with parsers of Event Trace Logs (scripts/judges)"
        );
        return None;
    };
    let script = root().join("crates/read/silverpoint-convert/tests/judges/event_log.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg(log.len().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that ends before it has read everything says why.
    let _ = child.stdin.take().unwrap().write_all(log);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(said["events"].as_array().unwrap().clone())
}

/// A field as etl-parser shows it. `None`: it misreads such fields.
fn as_parsed(kind: &str, value: &Value) -> Option<Value> {
    let whole = |value: &Value| serde_json::from_str::<Value>(value.as_str()?.strip_prefix('#')?).ok();
    match (kind, value) {
        ("hex64" | "f32" | "json?", _) => None,
        ("bool8", value) => Some(u8::from(value.as_bool()?).into()),
        ("f64", value) => whole(value)?.as_f64().map(Value::from),
        // It takes the second byte of the length for the first of the text.
        ("text?", Value::String(text)) => {
            (text.is_ascii() && text.len() < 128).then(|| format!("\0{text}").into())
        }
        ("bytes?", Value::String(hex)) => Some(super::bytes_of(hex).into()),
        (kind, Value::Array(all)) => all
            .iter()
            .map(|one| as_parsed(kind.trim_end_matches("[]"), one))
            .collect::<Option<Vec<_>>>()
            .map(Value::from),
        (_, value) => whole(value),
    }
}

#[test]
fn two_parsers_find_every_field() {
    let mut cases = cases_of_the_vectors();
    cases.extend(generated_cases(34, 200));
    cases.push(Case { level: Level::Error, ..Case::new("s", counted(5, b"words")) });
    let log = log_of(&cases);
    let Some(said) = parsed(&log) else { return };
    let lines: Vec<&str> = said.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let ours = events(&log);
    assert_eq!(lines, ours.iter().map(Event::line).collect::<Vec<_>>());
    // What they have found is what is judged here; one also reads the fields.
    let mut compared = 0;
    for (event, said) in ours.iter().zip(&said).skip(1) {
        let found = decoded(&given(event));
        let case = &cases[((event.time - ours[0].time) / STEP) as usize];
        assert!(same(&Value::from(found.fields.clone()), &wanted(case)), "{}", case.signature);
        let shown = |field: &Value| {
            // It passes over other names, and all behind them.
            field[0].as_str().filter(|name| name.is_ascii())?;
            let value = as_parsed(field[1].as_str()?, &field[2])?;
            Some((field[0].as_str()?.to_owned(), value))
        };
        let fields: Option<serde_json::Map<String, Value>> = found.fields.iter().map(shown).collect();
        if let (Some(fields), Value::Object(parsed)) = (fields, &said["parsed"]) {
            assert_eq!(parsed["fields"], Value::from(fields), "{}", case.signature);
            assert_eq!(parsed["name"], found.name.as_str());
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} of {}", cases.len());
}
