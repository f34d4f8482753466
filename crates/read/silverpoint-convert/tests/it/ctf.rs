//! CTF, as Babeltrace reads it: the same records, with the same names, times and values. Without Babeltrace (Debian: babeltrace2, python3-bt2) the tests say so and are
//! passed over.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use silverpoint_convert::ctf::{Clock, CtfWriter};
use silverpoint_convert::{Reader, Record, WriteError, Writer};
use silverpoint_render::{ShowContext, time::TimeText};
use silverpoint_trace::{Site, What};
use silverpoint_wire::layout::CAUSE_NAMES;
use silverpoint_wire::layout::cause::FULL;
use silverpoint_wire::level::Level;
use silverpoint_wire::value::{Sequence, Text, Visitor, walk};
use tempfile::TempDir;

use crate::generated::description;
use crate::support::with_reader;

fn directory() -> TempDir {
    TempDir::with_prefix("silverpoint-ctf-").unwrap()
}

/// Messages that Babeltrace's library gives; `None` where it is not installed.
fn judged(directory: &TempDir) -> Option<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges/ctf.py");
    // Debian's own interpreter has Debian's packages.
    let asked = Command::new("/usr/bin/python3").arg(script).arg(directory.path()).output();
    let asked =
        asked.ok().filter(|asked| !String::from_utf8_lossy(&asked.stderr).contains("No module named 'bt2"));
    let Some(asked) = asked else {
        silverpoint_tests::skipped!("Babeltrace is not installed (Debian: babeltrace2, python3-bt2)");
        return None;
    };
    let error = String::from_utf8_lossy(&asked.stderr);
    assert!(asked.status.success(), "{error}");
    let out = String::from_utf8(asked.stdout).unwrap();
    Some(out.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Values as the page of formats says that CTF has them.
#[derive(Default)]
struct Expected {
    open: Vec<(Value, Option<String>)>,
    secrets: Vec<usize>,
    map: Vec<bool>,
    done: Option<Value>,
}

impl Expected {
    fn put(&mut self, value: Value) -> Result<(), String> {
        let mut value = value;
        while self.secrets.pop_if(|depth| *depth == self.open.len()).is_some() {
            value = json!("<secret>");
        }
        self.place(value)
    }

    fn place(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some((Value::Array(list), None)) if self.map.last() == Some(&true) => match list.last_mut() {
                Some(Value::Object(pair)) if pair.len() == 1 => {
                    pair.insert("value".into(), value);
                }
                _ => list.push(json!({ "key": value })),
            },
            Some((Value::Array(list), _)) => list.push(value),
            Some((Value::Object(object), name)) => {
                let name = match name.take() {
                    Some(name) => name,
                    None => object.len().to_string(),
                };
                object.insert(name, value);
            }
            Some(other) => return Err(format!("{other:?}")),
        }
        Ok(())
    }

    fn begin(&mut self, value: Value, is_map: bool) -> Result<(), String> {
        self.open.push((value, None));
        self.map.push(is_map);
        Ok(())
    }
}

fn bits(value: f64) -> Value {
    if value.is_nan() { json!("nan") } else { json!(format!("{:016x}", value.to_bits())) }
}

type Done = Result<(), String>;

impl Visitor for Expected {
    type Error = String;
    fn null(&mut self) -> Done {
        self.put(json!({}))
    }
    fn bool(&mut self, value: bool) -> Done {
        self.put(json!([value.to_string()]))
    }
    fn i64(&mut self, value: i64) -> Done {
        self.put(json!(value))
    }
    fn u64(&mut self, value: u64) -> Done {
        self.put(json!(value))
    }
    fn i128(&mut self, value: i128) -> Done {
        self.put(json!(value.to_string()))
    }
    fn u128(&mut self, value: u128) -> Done {
        self.put(json!(value.to_string()))
    }
    fn f32(&mut self, value: f32) -> Done {
        self.put(bits(value.into()))
    }
    fn f64(&mut self, value: f64) -> Done {
        self.put(bits(value))
    }
    fn char(&mut self, value: char) -> Done {
        self.put(json!(value.to_string().replace('\0', "\u{2400}")))
    }
    fn pointer(&mut self, value: u64) -> Done {
        self.put(json!(value))
    }
    fn text(&mut self, text: Text<'_>, _: u32) -> Done {
        self.put(json!(text.chars().collect::<String>().replace('\0', "\u{2400}")))
    }
    fn bytes(&mut self, bytes: &[u8], _: u32) -> Done {
        self.put(json!(bytes))
    }
    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        self.put(json!(parts.join("-")))
    }
    fn time(&mut self, unix_ns: i64) -> Done {
        let mut time = String::new();
        TimeText::rfc3339_utc().push(&mut time, unix_ns);
        self.put(json!(time))
    }
    fn duration(&mut self, ns: i64) -> Done {
        self.put(json!(ns))
    }
    fn any(&mut self, cbor: &[u8]) -> Done {
        let mut text = String::new();
        silverpoint_render::json::push_plain_item(&mut text, &mut Default::default(), cbor);
        self.put(json!(text))
    }
    fn none(&mut self) -> Done {
        self.put(json!({}))
    }
    fn begin_sequence(&mut self, kind: Sequence, _: u32, _: u32) -> Done {
        let value = if kind == Sequence::Tuple { json!({}) } else { json!([]) };
        self.begin(value, false)
    }
    fn begin_map(&mut self, _: u32) -> Done {
        self.begin(json!([]), true)
    }
    fn begin_record(&mut self, _: &str, _: usize) -> Done {
        self.begin(json!({}), false)
    }
    fn field(&mut self, name: &str) -> Done {
        let (object, next) = self.open.last_mut().unwrap();
        let wanted: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut name = wanted.clone();
        let mut number = 1;
        while object.get(&name).is_some() {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        *next = Some(name);
        Ok(())
    }
    fn end(&mut self) -> Done {
        let (value, _) = self.open.pop().unwrap();
        self.map.pop();
        self.put(value)
    }
    fn enumeration(&mut self, _: &str, label: Option<&str>, value: i64) -> Done {
        self.put(label.map_or(json!(value), |label| json!([label])))
    }
    fn meta(&mut self, key: &str, _: &str) -> Done {
        if key == "secret" {
            self.secrets.push(self.open.len());
        }
        Ok(())
    }
}

/// What a record is expected to be in CTF.
fn expected(record: &Record<'_>) -> Value {
    let literal = |text: String| -> String {
        text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect()
    };
    let name = |site: &Site| {
        let (category, template) = (&site.description.category, &site.description.template);
        let what = if template.is_empty() { site.place() } else { template.clone() };
        literal(if category.is_empty() { what } else { format!("{category}:{what}") })
    };
    let duration = |ns: Option<u64>| ns.map_or(json!({}), |ns| json!({ "duration_ns": ns }));
    let cause = |cause: u8| CAUSE_NAMES[usize::from(cause)];
    let mut level = Some(record.what.level());
    let (name, fields) = match record.what {
        What::Record { site, args, .. } => {
            let mut fields = Expected::default();
            fields.begin_record("", 0).unwrap();
            let mut at = 0;
            for (number, ty) in site.types.iter().enumerate() {
                let unnamed = format!("arg{number}");
                fields.field(site.names.get(number).unwrap_or(&unnamed)).unwrap();
                at = walk(ty, args, at, &mut fields).unwrap();
            }
            fields.end().unwrap();
            (name(site), fields.done.unwrap())
        }
        What::SpanEnd { site: Some(site), duration_ns, .. } => {
            level = Some(site.level());
            (format!("{}_end", name(site)), duration(duration_ns))
        }
        What::SpanEnd { duration_ns, .. } => ("silverpoint:span_end".into(), duration(duration_ns)),
        What::Loss { cause: why, count, span_ns } => {
            ("silverpoint:loss".into(), json!({ "cause": cause(why), "count": count, "span_ns": span_ns }))
        }
        What::Stall { cause: why, duration_ns } => {
            ("silverpoint:stall".into(), json!({ "cause": cause(why), "duration_ns": duration_ns }))
        }
        What::Unknown { site_id, args } => {
            level = None;
            ("silverpoint:unknown".into(), json!({ "site": site_id, "raw": args }))
        }
        _ => panic!("{record:?}"),
    };
    json!({
        "name": name,
        "time": record.wall_ns,
        "level": level.map(|level| match level {
            Level::Trace => 14,
            Level::Debug => 8,
            Level::Info => 6,
            Level::Warn => 4,
            Level::Error => 3,
            Level::Fatal => 2,
        }),
        "context": {
            "vpid": record.pid.cast_signed(),
            "vtid": record.tid.cast_signed(),
            "procname": record.process,
            "thread_name": record.thread.replace('\0', "\u{2400}"),
            "context": record.context.map_or("", |context| context.json()),
        },
        "fields": fields,
    })
}

fn write_all(directory: &TempDir, reader: &mut dyn Reader) -> Vec<Value> {
    let mut writer = CtfWriter::create(directory.path(), &Clock::realtime(None)).unwrap();
    let mut records = Vec::new();
    while reader.advance().unwrap() {
        let record = reader.record().unwrap();
        writer.write(&record).unwrap();
        records.push(expected(&record));
    }
    writer.finish().unwrap();
    records
}

/// The events among messages, without what is compared elsewhere.
fn events(messages: Vec<Value>) -> Vec<Value> {
    let mut events: Vec<Value> =
        messages.into_iter().filter(|message| message.get("name").is_some()).collect();
    for event in &mut events {
        let uri = event.as_object_mut().unwrap().remove("uri").unwrap();
        let own = event["name"].as_str().unwrap().starts_with("silverpoint:");
        assert!(own || uri.as_str().unwrap().starts_with("silverpoint:"), "{event} {uri}");
    }
    events
}

fn compare(found: &[Value], wanted: &[Value], what: &str) {
    for (number, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        // What no site describes has no level of its own.
        let mut found = found.clone();
        if wanted["level"].is_null() {
            found["level"] = Value::Null;
        }
        assert_eq!(&found, wanted, "{what}, record {number}");
    }
    assert_eq!(found.len(), wanted.len(), "{what}");
}

#[test]
fn babeltrace_reads_the_vectors() {
    for name in [
        "every-type.raw.silver",
        "two-sessions.raw.silver",
        "three-streams.compact.silver",
        "control-records.raw.silver",
        "late.raw.silver",
        "many-records.raw.silver",
    ] {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/files");
        let directory = directory();
        let bytes = fs::read(root.join(name)).unwrap();
        let wanted = with_reader("silver", &bytes, |reader| write_all(&directory, reader));
        assert!(!wanted.is_empty(), "{name}");
        if let Some(messages) = judged(&directory) {
            compare(&events(messages), &wanted, name);
        }
    }
}

#[test]
fn babeltrace_reads_generated_values_of_every_type() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let sites = proptest::collection::vec(description(), 200).new_tree(&mut runner).unwrap().current();
    let directory = directory();
    let mut writer = CtfWriter::create(directory.path(), &Clock::realtime(None)).unwrap();
    let mut wanted = Vec::new();
    for (number, (description, args)) in sites.into_iter().enumerate() {
        let site = Site::new(description);
        let what = What::Record { site: &site, site_number: number, args: &args, truncated: false };
        let record = record(1_000_000_000 + number as i64, what);
        writer.write(&record).unwrap();
        wanted.push(expected(&record));
    }
    writer.finish().unwrap();
    if let Some(messages) = judged(&directory) {
        compare(&events(messages), &wanted, "generated");
    }
}

fn record<'a>(wall_ns: i64, what: What<'a>) -> Record<'a> {
    Record {
        wall_ns,
        ticks: None,
        process: "generated",
        pid: 7,
        process_number: 0,
        tid: 8,
        thread: "worker",
        context: None,
        is_backtrace: false,
        what,
    }
}

fn site(signature: &str, names: &str) -> Site {
    use silverpoint_wire::level::Kind;
    use silverpoint_wire::site::SiteDescription;
    Site::new(SiteDescription {
        kind: Kind::Event,
        level: Level::Info,
        flags: 0,
        line: 1,
        language: 2,
        category: "c \"\\".into(),
        file: "a b.rs".into(),
        function: "f".into(),
        names: names.into(),
        template: "t\n\\é".into(),
        signature: signature.into(),
    })
}

/// Readers sort records that are in no order of time. Losses are counted between the records where they were.
/// Arguments that contradict their signature are there as bytes.
#[test]
fn disorder_losses_and_contradictions() {
    let site = site("ih", "a b\na?b\n");
    let directory = directory();
    let mut writer = CtfWriter::create(directory.path(), &Clock::realtime(None)).unwrap();
    let args = [7, 0, 0, 0, 9, 0, 0, 0];
    let good = What::Record { site: &site, site_number: 0, args: &args, truncated: false };
    let bad = What::Record { site: &site, site_number: 0, args: &args[..3], truncated: false };
    let loss = |count| What::Loss { cause: FULL as u8, count, span_ns: 10 };
    for (ns, what) in [(100, loss(2)), (200, good), (150, bad), (300, loss(3)), (120, good), (400, good)] {
        writer.write(&record(ns, what)).unwrap();
    }
    // One span's end with an unknown duration, and one with a known one.
    for duration_ns in [None, Some(5)] {
        let (site, site_number) = (Some(&site), Some(0));
        let what = What::SpanEnd { site, site_number, begin_ticks: 0, duration_ns };
        writer.write(&record(500, what)).unwrap();
    }
    writer.finish().unwrap();
    let Some(messages) = judged(&directory) else { return };
    let lost: Vec<(u64, u64, u64)> = messages
        .iter()
        .filter_map(|m| Some((m["discarded"].as_u64()?, m["from"].as_u64()?, m["to"].as_u64()?)))
        .collect();
    assert_eq!(lost, [(2, 90, 100), (3, 200, 300)]);
    let events = events(messages);
    let seen: Vec<_> =
        events.iter().map(|e| (e["time"].as_u64().unwrap(), e["name"].as_str().unwrap())).collect();
    let name = "c \"\\:t\n\\é";
    let end = &*format!("{name}_end");
    let unreadable = "silverpoint:unreadable";
    let loss = "silverpoint:loss";
    assert_eq!(
        seen,
        [
            (100, loss),
            (120, name),
            (150, unreadable),
            (200, name),
            (300, loss),
            (400, name),
            (500, end),
            (500, end)
        ]
    );
    assert_eq!((&events[6]["fields"], &events[7]["fields"]), (&json!({}), &json!({ "duration_ns": 5 })));
    assert_eq!(events[1]["fields"], json!({ "a_b": 7, "a_b_2": 9 }));
    assert_eq!(events[2]["fields"], json!({ "name": name, "raw": [7, 0, 0] }));
}

#[test]
fn what_cannot_be_held_is_refused() {
    let site = site("", "");
    let directory = directory();
    let mut writer = CtfWriter::create(directory.path(), &Clock::realtime(None)).unwrap();
    let what = What::Record { site: &site, site_number: 0, args: &[], truncated: false };
    let refused = |result| match result {
        Err(WriteError::CannotHold(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(writer.write(&record(-1, what))).contains("before 1970"));
    assert!(refused(writer.write(&record(i64::MAX, what))).contains("after 2262"));
    for ns in (1000 - 63..=1000).rev() {
        writer.write(&record(ns, what)).unwrap();
    }
    assert!(refused(writer.write(&record(1, what))).contains("no order of time"));
    for ns in [1000, i64::MAX - 1] {
        writer.write(&record(ns, what)).unwrap();
    }
    writer.finish().unwrap();
    if let Some(messages) = judged(&directory) {
        let times: Vec<u64> = events(messages).iter().map(|event| event["time"].as_u64().unwrap()).collect();
        assert_eq!(times, (1000 - 63..=1000).chain([1000, i64::MAX as u64 - 1]).collect::<Vec<u64>>());
    }
}

#[test]
fn an_empty_trace_is_one() {
    let directory = directory();
    CtfWriter::create(directory.path(), &Clock::realtime(None)).unwrap().finish().unwrap();
    if let Some(messages) = judged(&directory) {
        assert!(messages.is_empty());
    }
}
