//! OTLP: what OpenTelemetry's own messages make of it, how records become spans, and what a collector answers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::Duration;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use silverpoint_convert::otlp::{Export, Patience, Sender, Signal, protobuf};
use silverpoint_convert::{Record, Writer, copy};
use silverpoint_render::time::TimeText;
use silverpoint_trace::{Context, Site, What};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;
use silverpoint_wire::value::{Sequence, Text, Visitor, walk};

use crate::generated::description;
use crate::judges::ask;
use crate::support::{Shared, with_reader, with_writer};

/// Requests of protocol buffers, as the judge wants them.
#[derive(Clone, Default)]
struct Collected(Rc<RefCell<String>>);

impl Export for Collected {
    fn export(&mut self, signal: Signal, request: &[u8], records: u64) -> io::Result<()> {
        assert!(records > 0);
        let mut lines = self.0.borrow_mut();
        lines.push_str(if signal == Signal::Logs { "logs " } else { "traces " });
        for byte in request {
            write!(lines, "{byte:02x}").unwrap();
        }
        lines.push('\n');
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Logs and spans, as OpenTelemetry's messages have them; `None` where they are not installed.
fn judged(lines: &str) -> Option<Vec<Value>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges/otlp.py");
    let out = ask("python3", &[script], lines.as_bytes())?;
    Some(out.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Writes in both encodings: as the judge wants them.
fn both(write: impl Fn(&mut dyn Writer)) -> (String, String) {
    let out = Shared::default();
    write(&mut *silverpoint_convert::otlp::json_lines(out.clone()));
    let collected = Collected::default();
    write(&mut *protobuf(collected.clone()));
    (String::from_utf8(out.bytes()).unwrap(), collected.0.take())
}

/// Values as the page of formats says that OTLP has them.
#[derive(Default)]
struct Expected {
    open: Vec<(Vec<Value>, &'static str, Option<Value>)>,
    secrets: Vec<usize>,
    done: Option<Value>,
}

impl Expected {
    fn put(&mut self, mut value: Value) -> Result<(), String> {
        while self.secrets.pop_if(|depth| *depth == self.open.len()).is_some() {
            value = json!({ "string": "<secret>" });
        }
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some((items, "array", _)) => items.push(value),
            Some((items, _, key)) => match key.take() {
                Some(key) => items.push(json!([key, value])),
                // Of a map.
                None => {
                    let text =
                        value.as_object().and_then(|value| value.values().next()).map(|value| match value {
                            Value::String(text) => text.clone(),
                            other => other.to_string(),
                        });
                    *key = Some(json!(text.unwrap_or("null".into())));
                }
            },
        }
        Ok(())
    }

    fn integer(&mut self, value: impl TryInto<i64> + ToString + Copy) -> Result<(), String> {
        let value = match value.try_into() {
            Ok(value) => json!({ "int": value }),
            Err(_) => json!({ "string": value.to_string() }),
        };
        self.put(value)
    }

    fn string(&mut self, text: impl Into<String>) -> Result<(), String> {
        self.put(json!({ "string": text.into() }))
    }
}

type Done = Result<(), String>;

impl Visitor for Expected {
    type Error = String;
    fn null(&mut self) -> Done {
        self.put(Value::Null)
    }
    fn bool(&mut self, value: bool) -> Done {
        self.put(json!({ "bool": value }))
    }
    fn i64(&mut self, value: i64) -> Done {
        self.integer(value)
    }
    fn u64(&mut self, value: u64) -> Done {
        self.integer(value)
    }
    fn i128(&mut self, value: i128) -> Done {
        self.integer(value)
    }
    fn u128(&mut self, value: u128) -> Done {
        self.integer(value)
    }
    fn f32(&mut self, value: f32) -> Done {
        self.f64(value.into())
    }
    fn f64(&mut self, value: f64) -> Done {
        let bits = if value.is_nan() { "nan".into() } else { format!("{:016x}", value.to_bits()) };
        self.put(json!({ "double": bits }))
    }
    fn char(&mut self, value: char) -> Done {
        self.string(value)
    }
    fn pointer(&mut self, value: u64) -> Done {
        self.string(format!("{value:#x}"))
    }
    fn text(&mut self, text: Text<'_>, _: u32) -> Done {
        self.string(text.chars().collect::<String>())
    }
    fn bytes(&mut self, bytes: &[u8], _: u32) -> Done {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.put(json!({ "bytes": hex }))
    }
    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        self.string([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
    }
    fn time(&mut self, unix_ns: i64) -> Done {
        let mut time = String::new();
        TimeText::rfc3339_utc().push(&mut time, unix_ns);
        self.string(time)
    }
    fn duration(&mut self, ns: i64) -> Done {
        self.integer(ns)
    }
    fn any(&mut self, cbor: &[u8]) -> Done {
        silverpoint_trace::cbor::visit(cbor, self).map_err(|error| format!("{error:?}"))
    }
    fn none(&mut self) -> Done {
        self.null()
    }
    fn begin_sequence(&mut self, _: Sequence, _: u32, _: u32) -> Done {
        self.open.push((Vec::new(), "array", None));
        Ok(())
    }
    fn begin_map(&mut self, _: u32) -> Done {
        self.open.push((Vec::new(), "kvlist", None));
        Ok(())
    }
    fn begin_record(&mut self, _: &str, _: usize) -> Done {
        self.begin_map(0)
    }
    fn field(&mut self, name: &str) -> Done {
        self.open.last_mut().unwrap().2 = Some(json!(name));
        Ok(())
    }
    fn end(&mut self) -> Done {
        let (items, kind, _) = self.open.pop().unwrap();
        self.put(json!({ kind: items }))
    }
    fn enumeration(&mut self, _: &str, label: Option<&str>, value: i64) -> Done {
        match label {
            Some(label) => self.string(label),
            None => self.integer(value),
        }
    }
    fn meta(&mut self, key: &str, _: &str) -> Done {
        if key == "secret" {
            self.secrets.push(self.open.len());
        }
        Ok(())
    }
}

/// The arguments of a record as attributes.
fn arguments(site: &Site, args: &[u8]) -> Vec<Value> {
    let mut at = 0;
    let mut attributes = Vec::new();
    for (number, ty) in site.types.iter().enumerate() {
        let mut expected = Expected::default();
        at = walk(ty, args, at, &mut expected).unwrap();
        let key = site.names.get(number).cloned().unwrap_or(number.to_string());
        attributes.push(json!([key, expected.done.unwrap()]));
    }
    attributes
}

fn record<'a>(wall_ns: i64, pid: u32, what: What<'a>) -> Record<'a> {
    Record {
        wall_ns,
        ticks: None,
        process: ["p0", "p1", "p2"][pid as usize],
        pid,
        process_number: pid as usize,
        tid: 8,
        thread: "worker",
        context: None,
        is_backtrace: false,
        what,
    }
}

#[test]
fn opentelemetry_reads_generated_values_of_every_type() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let sites = proptest::collection::vec(description(), 700).new_tree(&mut runner).unwrap().current();
    let sites: Vec<(Site, Vec<u8>)> = sites
        .into_iter()
        .map(|(description, args)| (Site::new(SiteDescription { kind: Kind::Log, ..description }), args))
        .collect();
    let (lines, binary) = both(|writer| {
        for (number, (site, args)) in sites.iter().enumerate() {
            let what = What::Record { site, site_number: number, args, truncated: number == 7 };
            writer.write(&record(number as i64, 1 + number as u32 % 2, what)).unwrap();
        }
        writer.finish().unwrap();
    });
    assert!(lines.lines().count() >= 2 && lines.lines().count() == binary.lines().count());
    let Some(found) = judged(&lines) else { return };
    assert_eq!(found, judged(&binary).unwrap());
    assert_eq!(found.len(), sites.len());
    for log in found {
        let number = log["time"].as_u64().unwrap() as usize;
        let (site, args) = &sites[number];
        let description = &site.description;
        assert_eq!(log["observed"], number as u64);
        assert_eq!(log["scope"], description.category);
        assert_eq!(log["severity"], [1, 5, 9, 13, 17, 21][description.level as usize]);
        assert_eq!(log["level"], description.level.name());
        assert_eq!(log["resource"][0], json!(["service.name", { "string": format!("p{}", 1 + number % 2) }]));
        assert_eq!(log["resource"][2], json!(["process.pid", { "int": 1 + number % 2 }]));
        let attributes = log["attributes"].as_array().unwrap();
        let has = |key: &str, value: Value| attributes.contains(&json!([key, value]));
        assert!(has("thread.id", json!({ "int": 8 })) && has("thread.name", json!({ "string": "worker" })));
        assert!(has("silverpoint.template", json!({ "string": description.template })), "{log}");
        assert!(description.line == 0 || has("code.line.number", json!({ "int": description.line })));
        assert_eq!(has("silverpoint.truncated", json!({ "bool": true })), number == 7);
        assert_eq!(attributes[attributes.len() - site.types.len()..], arguments(site, args), "{number}");
    }
}

#[test]
fn opentelemetry_reads_the_vectors() {
    for name in ["every-type.raw.silver", "control-records.raw.silver", "many-records.raw.silver"] {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/files");
        let bytes = fs::read(root.join(name)).unwrap();
        let (mut logs, mut begun) = (0, 0);
        with_reader("silver", &bytes, |reader| {
            while reader.advance().unwrap() {
                match reader.record().unwrap().what {
                    What::Record { site, .. } if site.kind() == Kind::Span => begun += 1,
                    What::SpanEnd { .. } => {}
                    _ => logs += 1,
                }
            }
        });
        let (lines, binary) = both(|writer| {
            with_reader("silver", &bytes, |reader| {
                copy::<crate::support::Failed>(reader, writer, |error| Err(error.into())).unwrap();
            });
        });
        let Some(found) = judged(&lines) else { return };
        assert_eq!(found, judged(&binary).unwrap(), "{name}");
        let spans = found.iter().filter(|item| item.get("span").is_some()).count();
        let events: usize = found.iter().filter_map(|item| item["events"].as_array()).map(Vec::len).sum();
        assert_eq!(found.len() - spans + events, logs, "{name}");
        assert!(spans >= begun && !found.is_empty(), "{name}");
    }
}

fn site(kind: Kind, template: &str, signature: &str) -> Site {
    Site::new(SiteDescription {
        kind,
        level: Level::Info,
        flags: 0,
        line: 3,
        language: 2,
        category: "net".into(),
        file: "a.rs".into(),
        function: "f".into(),
        names: if signature.is_empty() { String::new() } else { "id\n".into() },
        template: template.into(),
        signature: signature.into(),
    })
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn context() -> Context {
    let mut item = vec![0xA3];
    for (name, value) in [("trace_id", TRACE), ("span_id", SPAN), ("user", "ada")] {
        for text in [name, value] {
            item.extend([0x78, text.len() as u8]);
            item.extend(text.as_bytes());
        }
    }
    Context::from_item(&item).unwrap()
}

/// Logs and spans of lines, by name or body.
fn by_name(lines: &str) -> HashMap<String, Value> {
    let mut all = HashMap::new();
    for line in lines.lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        for (resources, scopes, items) in
            [("resourceLogs", "scopeLogs", "logRecords"), ("resourceSpans", "scopeSpans", "spans")]
        {
            for resource in request[resources].as_array().unwrap_or(&Vec::new()) {
                for scope in resource[scopes].as_array().unwrap() {
                    for item in scope[items].as_array().unwrap() {
                        let name = item["name"].as_str().or(item["body"]["stringValue"].as_str()).unwrap();
                        assert!(all.insert(name.to_owned(), item.clone()).is_none(), "{name} twice");
                    }
                }
            }
        }
    }
    all
}

#[test]
fn spans_have_parents_events_and_traces() {
    let outer = site(Kind::Span, "outer", "i");
    let inner = site(Kind::Span, "inner", "");
    let moment = site(Kind::Instant, "moment", "i");
    let said = site(Kind::Log, "said", "");
    let told = site(Kind::Log, "told", "");
    let begin = site(Kind::AsyncBegin, "fetch", "i");
    let amid = site(Kind::AsyncInstant, "fetch", "i");
    let end = site(Kind::AsyncEnd, "fetch", "i");
    let left = site(Kind::Span, "left", "");
    let context = context();
    let seven = [7, 0, 0, 0, 0, 0, 0, 0];
    let (lines, _) = both(|writer| {
        let mut now = 100;
        let mut write = |what, context: Option<&Context>, tid| {
            now += 100;
            let record = record(now, 1, what);
            writer.write(&Record { context, tid, ..record }).unwrap();
        };
        let at = |site, number, args| What::Record { site, site_number: number, args, truncated: false };
        let ends = |site, number| What::SpanEnd {
            site: Some(site),
            site_number: Some(number),
            begin_ticks: 0,
            duration_ns: Some(50),
        };
        write(at(&outer, 0, &seven), None, 8); // 200
        write(at(&inner, 1, &[]), None, 8);
        write(at(&moment, 2, &seven), None, 8); // 400
        write(at(&said, 3, &[]), None, 8);
        write(at(&told, 9, &[]), Some(&context), 99); // 600
        write(ends(&inner, 1), None, 8); // 700
        write(ends(&outer, 0), None, 8);
        write(at(&begin, 4, &seven), Some(&context), 8); // 900
        write(at(&amid, 5, &seven), None, 9);
        write(at(&end, 6, &seven), None, 10); // 1100
        write(at(&left, 7, &[]), None, 8);
        write(ends(&moment, 2), None, 11); // 1300: nobody has seen it begin
        writer.finish().unwrap();
    });
    let all = by_name(&lines);
    let (outer, inner, fetch, left) = (&all["outer"], &all["inner"], &all["fetch"], &all["left"]);
    assert_eq!((&outer["startTimeUnixNano"], &outer["endTimeUnixNano"]), (&json!("200"), &json!("800")));
    assert_eq!((&inner["startTimeUnixNano"], &inner["endTimeUnixNano"]), (&json!("300"), &json!("700")));
    assert!(
        outer.get("parentSpanId").is_none()
            && outer["attributes"].to_string().contains(r#"{"intValue":"7"}"#)
    );
    assert_eq!((&inner["parentSpanId"], &inner["traceId"]), (&outer["spanId"], &outer["traceId"]));
    assert_eq!(outer["traceId"].as_str().unwrap().len(), 32);
    assert_eq!(inner["events"][0]["name"], "moment");
    assert_eq!(inner["events"][0]["timeUnixNano"], "400");
    let (of_span, of_request) = (&all["said"], &all["told"]);
    assert_eq!((&of_span["spanId"], &of_span["traceId"]), (&inner["spanId"], &inner["traceId"]));
    assert_eq!((&of_request["traceId"], &of_request["spanId"]), (&json!(TRACE), &json!(SPAN)));
    assert!(
        of_request["attributes"]
            .to_string()
            .contains(r#"{"key":"context.user","value":{"stringValue":"ada"}}"#)
    );
    assert!(!of_request["attributes"].to_string().contains("trace_id"));
    assert_eq!((&fetch["traceId"], &fetch["parentSpanId"]), (&json!(TRACE), &json!(SPAN)));
    assert_eq!((&fetch["startTimeUnixNano"], &fetch["endTimeUnixNano"]), (&json!("900"), &json!("1100")));
    assert_eq!(fetch["events"][0]["timeUnixNano"], "1000");
    assert!(left["attributes"].to_string().contains("silverpoint.unfinished"));
    assert_eq!((&left["startTimeUnixNano"], &left["endTimeUnixNano"]), (&json!("1200"), &json!("1300")));
    let moment = &all["moment"];
    assert_eq!((&moment["startTimeUnixNano"], &moment["endTimeUnixNano"]), (&json!("1250"), &json!("1300")));
    assert_eq!(all.len(), 7);
}

/// A collector that gives these answers to one request each, and what it was asked: first lines and bodies.
struct Collector {
    address: String,
    thread: JoinHandle<Vec<(String, Vec<u8>)>>,
}

impl Collector {
    fn start(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let thread = std::thread::spawn(move || {
            let mut asked = Vec::new();
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream);
                let mut first = String::new();
                reader.read_line(&mut first).unwrap();
                let (mut len, mut is_protobuf) = (0, false);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    let line = line.trim_end().to_ascii_lowercase();
                    if line.is_empty() {
                        break;
                    }
                    is_protobuf |= line == "content-type: application/x-protobuf";
                    if let Some(length) = line.strip_prefix("content-length: ") {
                        len = length.parse().unwrap();
                    }
                }
                assert!(is_protobuf);
                let mut body = vec![0; len];
                reader.read_exact(&mut body).unwrap();
                asked.push((first.trim_end().to_owned(), body));
                reader.into_inner().write_all(&answer).unwrap();
            }
            asked
        });
        Self { address, thread }
    }
}

/// What `tracing` programs record later (`span.record("user", 7)`): the begin, twice fields, an instant of one's own, the end.
fn write_later_fields(writer: &mut dyn Writer) {
    let named = |kind, names: &str, signature| {
        Site::new(SiteDescription {
            names: names.into(),
            ..site(kind, "request", signature).description.clone()
        })
    };
    let sites = [
        named(Kind::AsyncBegin, "span.id\nnumber\n", "LL"),
        named(Kind::AsyncInstant, "span.id\nuser\nnumber\n", "LLL"),
        named(Kind::AsyncInstant, "id\nown\n", "LL"),
        named(Kind::AsyncEnd, "span.id\nbusy\n", "LL"),
    ];
    let records: [(usize, &[u64]); 5] =
        [(0, &[40, 7]), (1, &[40, 1, 7]), (2, &[40, 9]), (1, &[40, 2, 8]), (3, &[40, 5])];
    for (now, (number, words)) in (100..).zip(records) {
        let args: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let what = What::Record { site: &sites[number], site_number: number, args: &args, truncated: false };
        writer.write(&record(now, 1, what)).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn fields_that_a_span_got_later_were_no_attributes_of_it() {
    let (lines, _) = both(write_later_fields);
    let all = by_name(&lines);
    let attributes = all["request"]["attributes"].as_array().unwrap();
    let of = |key: &str| -> Vec<&str> {
        let all = attributes.iter().filter(|attribute| attribute["key"] == key);
        all.map(|attribute| attribute["value"]["intValue"].as_str().unwrap()).collect()
    };
    assert_eq!(
        (of("number"), of("user"), of("end.busy")),
        (vec!["8"], vec!["2"], vec!["5"]),
        "{attributes:?}"
    );
    let events = all["request"]["events"].as_array().unwrap();
    assert_eq!(events.len(), 1, "only the program's own instant: {events:?}");
    // Of the viewers of spans Chrome and Perfetto join the arguments of begin and end.
    let chrome = String::from_utf8(with_writer("chrome", false, write_later_fields)).unwrap();
    let chrome: Value = serde_json::from_str(&chrome).unwrap();
    let events = chrome["traceEvents"].as_array().unwrap();
    let end = events.iter().find(|event| event["ph"] == "e").unwrap();
    assert_eq!((&end["args"]["user"], &end["args"]["number"]), (&json!(2), &json!(8)), "{end}");
    assert!(end["args"].get("own").is_none(), "{end}");
}

fn answer(status: &str, more: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\nconnection: close\r\n{more}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

const PROTOBUF: &str = "content-type: application/x-protobuf\r\n";

fn patience() -> Patience {
    Patience {
        first: Duration::from_millis(1),
        longest: Duration::from_millis(20),
        attempts: 4,
        answer: Duration::from_secs(300),
    }
}

/// Sends a log and a span.
fn send(sender: Sender) -> Result<(), String> {
    let (said, work) = (site(Kind::Log, "said", ""), site(Kind::Span, "work", ""));
    let mut writer = protobuf(sender);
    for (number, site) in [&said, &work].into_iter().enumerate() {
        let what = What::Record { site, site_number: number, args: &[], truncated: false };
        writer.write(&record(100, 1, what)).map_err(|error| error.to_string())?;
    }
    writer.finish().map_err(|error| error.to_string())
}

#[test]
fn a_busy_collector_is_asked_again_and_what_it_refuses_is_told() {
    // Partial success: 3 refused, "too old".
    let partial = b"\x0a\x0b\x08\x03\x12\x07too old";
    let busy = answer("503 Service Unavailable", "retry-after: 0\r\n", b"");
    let later = answer("429 Too Many Requests", "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n", b"");
    let good = answer("200 OK", PROTOBUF, b"");
    let collector = Collector::start(vec![busy, later, answer("200 OK", PROTOBUF, partial), good]);
    let sender = Sender::new(&format!("{}/base/", collector.address), patience()).unwrap();
    let refused = sender.refused();
    send(sender).unwrap();
    assert_eq!(
        (refused.borrow().records, refused.borrow().messages.as_slice()),
        (3, &["too old".to_owned()][..])
    );
    let asked = collector.thread.join().unwrap();
    let lines: Vec<&str> = asked.iter().map(|(line, _)| line.as_str()).collect();
    let logs = "POST /base/v1/logs HTTP/1.1";
    assert_eq!(lines, [logs, logs, logs, "POST /base/v1/traces HTTP/1.1"]);
    assert!(asked[0].1 == asked[1].1 && asked[1].1 == asked[2].1);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let requests = format!("logs {}\ntraces {}\n", hex(&asked[2].1), hex(&asked[3].1));
    if let Some(found) = judged(&requests) {
        assert_eq!((&found[0]["body"], &found[1]["span"]), (&json!({ "string": "said" }), &json!("work")));
    }
}

#[test]
fn a_collector_that_takes_nothing_is_an_error_that_says_why() {
    let status = b"\x08\x03\x12\x0bnot allowed";
    let collector = Collector::start(vec![answer("403 Forbidden", PROTOBUF, status)]);
    let error = send(Sender::new(&collector.address, patience()).unwrap()).unwrap_err();
    let expected =
        format!("{}/v1/logs: 403 Forbidden: not allowed; 1 records were not taken", collector.address);
    assert_eq!(error, expected);
    collector.thread.join().unwrap();

    let busy = || answer("429 Too Many Requests", "", b"slow down\n");
    let collector = Collector::start((0..4).map(|_| busy()).collect());
    let error = send(Sender::new(&collector.address, patience()).unwrap()).unwrap_err();
    assert!(
        error.ends_with("429 Too Many Requests: slow down; 1 records were not taken, after 4 attempts"),
        "{error}"
    );
    assert_eq!(collector.thread.join().unwrap().len(), 4);

    // Nobody is there: a port of the system's that no test can be given.
    let address = "http://127.0.0.1:1";
    let error = send(Sender::new(address, patience()).unwrap()).unwrap_err();
    assert!(error.starts_with(&format!("{address}/v1/logs: ")) && error.contains("not taken"), "{error}");
}
