//! Events for ETW. Each is read into fields, which are judged by the JSON of its record. Microsoft's own encoder makes
//! an event of the same fields, and its bytes must be equal.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use silverpoint_render::json::{push_f32, push_f64};
use silverpoint_wire::level::{Kind, Level};
use tracelogging_dynamic::{Channel, EventBuilder, Guid, Level as EventLevel, Opcode, OutType, Provider};

use super::judge::{Decoded, Dialect, expected, float, number, numbered, same, try_numbered, uuid};
use super::{CHECKED, Case, cases_of_the_vectors, compiled, counted, encoded, generated_cases, hex};

pub(super) fn program() -> PathBuf {
    compiled("etw", "etw.cpp", CHECKED)
}

/// What is left to read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, size: usize) -> &'a [u8] {
        let (found, rest) = self.0.split_at(size);
        self.0 = rest;
        found
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    fn short(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    fn long(&mut self) -> usize {
        u32::from_le_bytes(self.array()) as usize
    }

    fn counted(&mut self) -> &'a [u8] {
        let size = self.short();
        self.take(size.into())
    }

    fn text(&mut self) -> &'a str {
        let size = self.0.iter().position(|byte| *byte == 0).expect("an end");
        let found = std::str::from_utf8(self.take(size)).unwrap();
        self.take(1);
        found
    }
}

/// Reads an event, and has it made again.
pub(super) fn decoded(bytes: &[u8]) -> Decoded {
    let mut bytes = Bytes(bytes);
    let mut descriptor = Bytes(bytes.take(16));
    let (id, version, channel) = (descriptor.short(), descriptor.byte(), descriptor.byte());
    let (level, opcode, task) = (descriptor.byte(), descriptor.byte(), descriptor.short());
    let keyword = u64::from_le_bytes(descriptor.array());
    let mut activity = || {
        let is_there = bytes.byte() != 0;
        let id = bytes.array();
        is_there.then_some(id)
    };
    let (activity, related) = (activity(), activity());
    let mut part = |kind| {
        assert_eq!(bytes.long(), kind);
        let size = bytes.long();
        bytes.take(size)
    };
    let (provider, metadata, data) = (part(2), part(1), part(0));
    assert!(bytes.0.is_empty());

    let mut traits = Bytes(provider);
    assert_eq!(usize::from(traits.short()), provider.len());
    let provider = traits.text().to_owned();
    assert!(traits.0.is_empty());

    let mut meta = Bytes(metadata);
    assert_eq!(usize::from(meta.short()), metadata.len());
    let tag = meta.byte();
    let name = meta.text();
    let mut again = EventBuilder::new();
    // The upper 7 of a tag's 28 bits are its first byte.
    again.reset(name, EventLevel::from_int(level), keyword, u32::from(tag) << 21);
    again.opcode(Opcode::from_int(opcode));
    let mut reader = Reader { meta, data: Bytes(data), again };
    let mut fields = Vec::new();
    while !reader.meta.0.is_empty() {
        fields.push(reader.field());
    }
    assert!(reader.data.0.is_empty(), "bytes behind the last field");
    let mut again = reader.again;
    // It stores the size.
    again.write(&Provider::new("Silverpoint", &Provider::options()), None, None);
    let descriptor = format!(
        "EventDescriptor {{ id: {id}, version: {version}, channel: {:?}, level: {:?}, opcode: {:?}, task: {task}, \
         keyword: {keyword} }}",
        Channel::from_int(channel),
        EventLevel::from_int(level),
        Opcode::from_int(opcode)
    );
    let wanted = format!("EventBuilder {{ meta: {metadata:?}, data: {data:?}, descriptor: {descriptor} }}");
    let again = format!("{again:?}");
    assert!(again == wanted, "  found {wanted}\n wanted {again}");
    let name = name.to_owned();
    Decoded { provider, name, level, keyword, opcode, tag: tag.into(), activity, related, fields }
}

struct Reader<'a> {
    meta: Bytes<'a>,
    data: Bytes<'a>,
    again: EventBuilder,
}

impl Reader<'_> {
    fn field(&mut self) -> Value {
        let name = self.meta.text();
        let kind = self.meta.byte();
        let out = if kind & 0x80 == 0 { 0 } else { self.meta.byte() };
        assert!(out & 0x80 == 0 && kind & 0x20 == 0, "{name}");
        let (is_array, out_type) = (kind & 0x40 != 0, OutType::from_int(out));
        if kind & 0x1F == 24 {
            assert!(!is_array);
            self.again.add_struct(name, out, 0);
            let fields: Vec<Value> = (0..out).map(|_| self.field()).collect();
            return json!([name, "struct", fields]);
        }
        let count = if is_array { self.data.short() } else { 1 };
        macro_rules! values {
            ($take:expr, $one:ident, $many:ident, $show:expr) => {{
                let values: Vec<_> = (0..count).map(|_| $take(&mut self.data)).collect();
                if is_array {
                    self.again.$many(name, &values, out_type, 0);
                } else {
                    self.again.$one(name, values[0].to_owned(), out_type, 0);
                }
                values.iter().map($show).collect::<Vec<Value>>()
            }};
        }
        macro_rules! numbers {
            ($kind:ty, $one:ident, $many:ident) => {
                values!(|data: &mut Bytes<'_>| <$kind>::from_le_bytes(data.array()), $one, $many, |value| {
                    if out == 3 { Value::from(*value != 0) } else { number(value) }
                })
            };
        }
        macro_rules! floats {
            ($kind:ty, $one:ident, $many:ident, $push:ident) => {
                values!(|data: &mut Bytes<'_>| <$kind>::from_le_bytes(data.array()), $one, $many, |value| {
                    float(|text| $push(text, *value))
                })
            };
        }
        let unsigned = match out {
            3 => "bool",
            4 => "hex",
            _ => "u",
        };
        let (shown, values) = match kind & 0x1F {
            3 => ("i8".to_owned(), numbers!(i8, add_i8, add_i8_sequence)),
            4 => (format!("{unsigned}8"), numbers!(u8, add_u8, add_u8_sequence)),
            5 => ("i16".to_owned(), numbers!(i16, add_i16, add_i16_sequence)),
            6 => (format!("{unsigned}16"), numbers!(u16, add_u16, add_u16_sequence)),
            7 => ("i32".to_owned(), numbers!(i32, add_i32, add_i32_sequence)),
            8 => ("u32".to_owned(), numbers!(u32, add_u32, add_u32_sequence)),
            9 => ("i64".to_owned(), numbers!(i64, add_i64, add_i64_sequence)),
            10 => ("u64".to_owned(), numbers!(u64, add_u64, add_u64_sequence)),
            11 => ("f32".to_owned(), floats!(f32, add_f32, add_f32_sequence, push_f32)),
            12 => ("f64".to_owned(), floats!(f64, add_f64, add_f64_sequence, push_f64)),
            20 => ("hex32".to_owned(), numbers!(u32, add_hex32, add_hex32_sequence)),
            21 => ("hex64".to_owned(), numbers!(u64, add_hex64, add_hex64_sequence)),
            14 => {
                assert!(!is_array && out == 0);
                let bytes = self.data.counted();
                self.again.add_binary(name, bytes, out_type, 0);
                let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                ("bytes?".to_owned(), vec![Value::from(text)])
            }
            15 => {
                let all: Vec<Guid> = (0..count).map(|_| Guid::from_bytes_le(&self.data.array())).collect();
                if is_array {
                    self.again.add_guid_sequence(name, &all, out_type, 0);
                } else {
                    self.again.add_guid(name, &all[0], out_type, 0);
                }
                ("uuid128".to_owned(), all.iter().map(|of| uuid(&of.to_bytes_be())).collect())
            }
            23 => {
                let all: Vec<&[u8]> = (0..count).map(|_| self.data.counted()).collect();
                if is_array {
                    self.again.add_str8_sequence(name, &all, out_type, 0);
                } else {
                    self.again.add_str8(name, all[0], out_type, 0);
                }
                let kind = match out {
                    35 => "text?",
                    12 => "json?",
                    other => panic!("out-type {other}"),
                };
                let show = |bytes: &&[u8]| {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    // JSON that was cut is none.
                    if out == 12 {
                        try_numbered(&text).unwrap_or(Value::from(text))
                    } else {
                        Value::from(text)
                    }
                };
                (kind.to_owned(), all.iter().map(show).collect())
            }
            other => panic!("in-type {other}"),
        };
        if is_array { json!([name, format!("{shown}[]"), values]) } else { json!([name, shown, values[0]]) }
    }
}

pub(super) fn events_of(cases: &[Case]) -> Vec<[Option<Decoded>; 2]> {
    let (found, said) = encoded(&program(), cases);
    // The first that has more fields, and no other.
    let larger = "silverpoint: SILVERPOINT_PROBES=etw: src/odd \u{fc};file.cpp:17 has no event: its names and fixed \
                  fields need more than 64000 bytes or 128 fields; so may others\n";
    let is_larger = found.iter().any(|[event, _]| event.is_none());
    assert_eq!(said, if is_larger { larger } else { "" });
    found.into_iter().map(|pair| pair.map(|bytes| bytes.as_deref().map(decoded))).collect()
}

/// With those of structures.
fn count_of(fields: &[Value]) -> usize {
    fields.iter().map(|of| 1 + if of[1] == "struct" { count_of(of[2].as_array().unwrap()) } else { 0 }).sum()
}

/// How many have an event. Each of these has the fields that the JSON of its record asks for.
fn judge(cases: &[Case]) -> usize {
    let mut events = 0;
    for (case, found) in cases.iter().zip(events_of(cases)) {
        let names: Vec<&str> = case.names.iter().map(String::as_str).collect();
        let wanted = expected(Dialect::TraceLogging, &case.signature, &names, &case.arguments);
        // With the fields of scopes there are at most 128.
        let [Some(found), None] = found else {
            assert!(count_of(&wanted) > 127, "{} has no event", case.signature);
            continue;
        };
        let (found, wanted) = (Value::from(found.fields), Value::from(wanted));
        assert!(
            same(&found, &wanted),
            "{} {}\n  found {found}\n wanted {wanted}",
            case.signature,
            hex(&case.arguments)
        );
        events += 1;
    }
    events
}

#[test]
fn every_value_of_the_vectors_is_as_microsofts_encoder_has_it() {
    let cases = cases_of_the_vectors();
    assert_eq!(judge(&cases), cases.len());
}

#[test]
fn every_generated_value_is_as_microsofts_encoder_has_it() {
    let cases = generated_cases(32, 2000);
    assert!(judge(&cases) > 1990);
}

#[test]
fn ids_of_providers_are_those_of_their_names() {
    // Also where the hash needs another block.
    let long = "Company.Product-Component_7".repeat(3);
    let mut names: Vec<&str> = vec!["Silverpoint", "MyProvider", "x"];
    names.extend((15..26).map(|size| &long[..size]));
    names.extend((40..60).map(|size| &long[..size]));
    let output = Command::new(program()).args(&names).output().unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    let wanted: Vec<String> = names.iter().map(|name| hex(Guid::from_name(name).as_bytes_raw())).collect();
    assert_eq!(found.lines().collect::<Vec<_>>(), wanted);
}

/// Of all levels, and with odd names.
pub(super) fn conventions() -> Vec<Case> {
    let mut cases = Vec::new();
    for level in [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Fatal] {
        cases.push(Case { level, ..Case::new("i", [1, 0, 0, 0]) });
    }
    for (category, template) in [
        ("", "order {} at {:.2f}"),
        ("net", "a;b\nc\0d\u{fc}"),
        ("net", ""),
        (&*"\u{4e16}".repeat(300), "sold"),
        ("Shop.x", "sold"),
        ("a:b c-7/d", "sold"),
        ("::x", "sold"),
    ] {
        let (category, template) = (category.to_owned(), template.to_owned());
        cases.push(Case { category, template, ..Case::new("", []) });
    }
    cases
}

#[test]
fn names_levels_and_keywords_follow_the_convention() {
    let cases = conventions();
    let found: Vec<Decoded> = events_of(&cases).into_iter().map(|[event, _]| event.unwrap()).collect();
    assert_eq!(found[..6].iter().map(|event| event.level).collect::<Vec<_>>(), [5, 5, 4, 3, 2, 1]);
    assert!(found.iter().all(|event| event.activity.is_none()));
    let providers: Vec<&str> = found[5..].iter().map(|event| &*event.provider).collect();
    let cut = format!("Silverpoint-{}", "_".repeat(60));
    // (Names that differ in case have one id.)
    let wanted = [
        "Silverpoint-shop",
        "Silverpoint",
        "Silverpoint-net",
        "Silverpoint-net",
        &cut,
        "Silverpoint-shop",
        "Silverpoint-a_b_c_7",
        "Silverpoint",
    ];
    assert_eq!(providers, wanted);
    let names: Vec<&str> = found[5..].iter().map(|event| &*event.name).collect();
    let long = format!("{}:sold", "\u{4e16}".repeat(33));
    let wanted = [
        "shop::orders:sold",
        "silverpoint:order {} at {:.2f}",
        "net:a,b c d\u{fc}",
        "net:#odd \u{fc},file.cpp:17",
        &long,
        "Shop.x:sold",
        "a:b c-7/d:sold",
        "::x:sold",
    ];
    assert_eq!(names, wanted);
    // A record, and the bit of the category: FNV-1a of its bytes.
    let fnv = |text: &str| {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
    };
    for (event, case) in found.iter().zip(&cases) {
        assert_eq!(event.keyword, 1 | 1 << (2 + fnv(&case.category) % 46), "{}", case.category);
    }
    assert_ne!(found[0].keyword, found[7].keyword);
}

#[test]
fn spans_are_activities() {
    let id = 77u64.to_le_bytes();
    let span = |kind| Case { kind, template: "sell".to_owned(), ..Case::new("L", id) };
    let found = events_of(&[Kind::Span, Kind::AsyncBegin, Kind::AsyncEnd, Kind::Counter].map(span));
    let seen = |event: &Decoded| (event.name.clone(), event.opcode, event.keyword & 3);
    let events: Vec<&Decoded> = found.iter().flatten().flatten().collect();
    let wanted = [("entry", 1, 2), ("exit", 2, 2), ("begin", 1, 2), ("end", 2, 2)];
    for (event, (ending, opcode, keyword)) in events.iter().zip(wanted) {
        assert_eq!(seen(event), (format!("shop::orders:sell_{ending}"), opcode, keyword));
    }
    assert_eq!(seen(events[4]), ("shop::orders:sell".to_owned(), 0, 1));
    assert_eq!(events[1].fields, [json!(["duration_ns", "u64", "#12345"])]);
    assert!(events[0].activity.is_some() && events[0].activity == events[1].activity);
    assert!(events[2].activity == events[3].activity && events[2].activity != events[0].activity);
    assert_eq!(events[2].activity.unwrap()[8..], id);
    assert!(events.iter().all(|event| event.related.is_none()) && events[4].activity.is_none());
}

/// A text that is too long.
fn long_text() -> String {
    "\u{4e16}".repeat(30_000)
}

/// With fields of scopes, marked as cut, and too large in each way.
pub(super) fn scopes_and_cuts() -> Vec<Case> {
    // request: 7, user: "outer", then user: "inner".
    let scopes = b"\x67request\x07\x64user\x65outer\x64user\x65inner".to_vec();
    let text = long_text();
    let numbers: Vec<u8> = (0..70_000u32).flat_map(|number| number.to_le_bytes()).collect();
    vec![
        Case { scopes, names: vec!["context".to_owned()], ..Case::new("A", [5]) },
        Case { is_cut: true, ..Case::new("i", [1, 0, 0, 0]) },
        Case::new("sA", [counted(text.len(), text.as_bytes()), vec![7]].concat()),
        Case::new("[IA", [counted(70_000, &numbers), vec![7]].concat()),
        Case::new("#70000:AA", [&numbers[..70_000], &[7]].concat()),
        Case::new("b".repeat(127), vec![1; 127]),
        Case::new("b".repeat(128), vec![1; 128]),
    ]
}

#[test]
fn fields_of_scopes_and_what_is_cut() {
    let (cases, text) = (scopes_and_cuts(), long_text());
    let mut found = events_of(&cases).into_iter().map(|[event, _]| event).collect::<Vec<_>>();
    assert!(found.pop().unwrap().is_none(), "more fields than tools read");
    let found: Vec<Decoded> = found.into_iter().map(Option::unwrap).collect();
    let context = numbered(r#"{"request": 7, "user": "inner"}"#);
    assert_eq!(found[0].fields, [json!(["context", "u8", "#5"]), json!(["context_2", "json?", context])]);
    assert_eq!(found.iter().map(|event| event.tag).collect::<Vec<_>>(), [0, 1, 1, 1, 1, 0]);
    let kept = found[2].fields[0][2].as_str().unwrap();
    assert!(text.starts_with(kept) && (63_800..64_000).contains(&kept.len()), "{}", kept.len());
    let kept = found[3].fields[0][2].as_array().unwrap();
    let wanted = |number| Value::from(format!("#{number}"));
    assert!(kept.iter().enumerate().all(|(number, value)| *value == wanted(number)));
    assert!((15_900..16_000).contains(&kept.len()), "{}", kept.len());
    assert!((63_800..64_000).contains(&found[4].fields[0][2].as_array().unwrap().len()));
    assert!(found[2..5].iter().all(|event| event.fields[1] == json!(["arg1", "u8", "#7"])));
}
