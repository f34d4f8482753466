//! Events for the kernel's user_events, of tracepoints in C++, C and Rust. A decoder that knows nothing of Silverpoint reads their bytes.

mod across;
mod atrace;
mod etl;
mod etw;
mod fed;
mod generate;
mod judge;
mod quiet;
mod returns;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use silverpoint_wire::level::{Kind, Level};

use crate::harness::built;
use generate::Source;
use judge::{Decoded, Dialect, decode, expected, numbered, same};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A source of this test's folder, compiled.
fn compiled(name: &str, source: &str, options: &str) -> PathBuf {
    let strict = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"];
    let sources = format!("-I{}", root().join("cpp/src").display());
    let file = file(source);
    let words: Vec<&str> = strict.into_iter().chain(options.split(' ')).chain([&*sources, &*file]).collect();
    built(name, "g++", &words)
}

/// The path of a file of this test's folder.
fn file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/user_events").join(name).to_str().unwrap().to_owned()
}

/// What an event is made of.
struct Case {
    kind: Kind,
    level: Level,
    category: String,
    template: String,
    names: Vec<String>,
    signature: String,
    arguments: Vec<u8>,
    scopes: Vec<u8>,
    is_cut: bool,
}

impl Case {
    fn new(signature: impl Into<String>, arguments: impl Into<Vec<u8>>) -> Case {
        Case {
            kind: Kind::Event,
            level: Level::Info,
            category: "shop::orders".to_owned(),
            template: "sold".to_owned(),
            names: Vec::new(),
            signature: signature.into(),
            arguments: arguments.into(),
            scopes: Vec::new(),
            is_cut: false,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "-".to_owned() } else { bytes.iter().map(|byte| format!("{byte:02x}")).collect() }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect()
}

/// The event of each, and that of the end of a span; `None`: it has none.
fn events_of(cases: &[Case]) -> Vec<[Option<Decoded>; 2]> {
    let (found, said) = events_and_messages(cases);
    assert_eq!(said, "");
    found
}

/// The same, and what the library says on standard error.
fn events_and_messages(cases: &[Case]) -> (Vec<[Option<Decoded>; 2]>, String) {
    let (found, said) = encoded(&compiled("encode", "encode.cpp", CHECKED), cases);
    let event = |bytes: Vec<u8>| {
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        decode(std::str::from_utf8(&bytes[..line]).unwrap(), &bytes[line + 1..])
    };
    (found.into_iter().map(|pair| pair.map(|found| found.map(event))).collect(), said)
}

const CHECKED: &str = "-O0 -fsanitize=undefined -fno-sanitize-recover";

/// The bytes that a program prints for each (`cases.hpp`), and what it says on standard error.
fn encoded(program: &Path, cases: &[Case]) -> (Vec<[Option<Vec<u8>>; 2]>, String) {
    let mut lines = String::new();
    for case in cases {
        // As in a description.
        let names: String = case.names.iter().map(|name| format!("{name}\n")).collect();
        let parts: [&[u8]; 8] = [
            &[case.kind as u8, case.level as u8],
            case.category.as_bytes(),
            case.template.as_bytes(),
            names.as_bytes(),
            case.signature.as_bytes(),
            &case.arguments,
            &case.scopes,
            &[u8::from(case.is_cut)],
        ];
        lines.push_str(&parts.map(hex).join(" "));
        lines.push('\n');
    }
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let event = |word: &str| (word != "-").then(|| bytes_of(word));
    let pair = |line: &str| {
        let mut words = line.split_whitespace().map(event);
        [words.next().unwrap(), words.next().unwrap()]
    };
    let found: Vec<_> = text.lines().map(pair).collect();
    assert_eq!(found.len(), cases.len());
    (found, String::from_utf8(output.stderr).unwrap())
}

/// Each event has the fields that the JSON of its record asks for.
fn judge(cases: &[Case]) {
    for (case, found) in cases.iter().zip(events_of(cases)) {
        let names: Vec<&str> = case.names.iter().map(String::as_str).collect();
        let wanted = Value::from(expected(Dialect::EventHeader, &case.signature, &names, &case.arguments));
        let found = found[0].as_ref().unwrap_or_else(|| panic!("{} has no event", case.signature));
        let fields = Value::from(found.fields.clone());
        assert!(
            same(&fields, &wanted),
            "{} {}\n  found {fields}\n wanted {wanted}",
            case.signature,
            hex(&case.arguments)
        );
        assert_eq!(found.tag, 0, "{}", case.signature);
    }
}

fn cases_of_the_vectors() -> Vec<Case> {
    let path = root().join("spec/vectors/values.json");
    let vectors: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let text = |vector: &Value, key: &str| vector[key].as_str().unwrap().to_owned();
    // JSON of one object cannot have equal keys, and bytes that are not CBOR have no notation in common.
    let left_out = ["map of numbers, equal keys kept", "any, not CBOR"];
    let mut vectors = vectors;
    vectors.retain(|vector| vector["verdict"] == "ok" && !left_out.contains(&&*text(vector, "name")));
    let case = |vector: &Value| Case::new(text(vector, "signature"), bytes_of(&text(vector, "hex")));
    let cases: Vec<Case> = vectors.iter().map(case).collect();
    assert!(cases.len() > 150, "{}", cases.len());
    cases
}

fn generated_cases(seed: u64, count: usize) -> Vec<Case> {
    let mut source = Source::new(seed);
    let mut cases = Vec::new();
    for number in 0..count {
        let types: Vec<_> = (0..1 + source.below(3)).map(|_| source.kind(number % 5)).collect();
        let mut arguments = Vec::new();
        types.iter().for_each(|of| source.value(of, &mut arguments));
        let mut case = Case::new(types.iter().map(ToString::to_string).collect::<String>(), arguments);
        if source.below(2) == 0 {
            let names =
                ["id", "i % 100", "%41;b", "\u{fc}\u{1F600}", "id", "id_present", "id_label", "tab\there"];
            case.names = types.iter().map(|_| names[source.below(names.len())].to_owned()).collect();
        }
        cases.push(case);
    }
    cases
}

#[test]
fn every_value_of_the_vectors_is_as_in_json() {
    judge(&cases_of_the_vectors());
}

#[test]
fn every_generated_value_is_as_in_json() {
    judge(&generated_cases(27, 4000));
}

#[test]
fn names_levels_and_keywords_follow_the_convention() {
    let mut cases = Vec::new();
    for level in [Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Fatal] {
        cases.push(Case { level, ..Case::new("i", [1, 0, 0, 0]) });
    }
    let odd = [
        ("", "silverpoint"),
        ("7 odd-\u{fc}.name", "_7_odd____name"),
        (&*"long".repeat(100), &"long".repeat(50)),
    ];
    for (category, _) in odd {
        cases.push(Case { category: category.to_owned(), ..Case::new("", []) });
    }
    let templates = [
        ("order {} at {:.2f}", "order {} at {:.2f}"),
        ("a;b\nc\0d\u{fc}", "a,b c d\u{fc}"),
        ("", "#odd \u{fc},file.cpp:17"),
        (&*"\u{4e16}".repeat(300), &"\u{4e16}".repeat(160)),
    ];
    for (template, _) in templates {
        cases.push(Case { template: template.to_owned(), ..Case::new("i", [1, 0, 0, 0]) });
    }
    // Fields of one name, and one that is too long.
    let names = ["n".repeat(300), "n".repeat(300), "\u{4e16}".repeat(100)];
    cases.push(Case { names: names.to_vec(), ..Case::new("AAA", [1, 2, 3]) });
    let found: Vec<Decoded> = events_of(&cases).into_iter().map(|[event, _]| event.unwrap()).collect();

    assert_eq!(found[..6].iter().map(|event| event.level).collect::<Vec<_>>(), [5, 5, 4, 3, 2, 1]);
    assert!(found.iter().all(|event| event.keyword == 1 && event.opcode == 0 && event.activity.is_none()));
    assert_eq!(found[0].provider, "shop__orders");
    for (event, (_, provider)) in found[6..].iter().zip(odd) {
        assert_eq!(event.provider, provider);
    }
    for (event, (_, name)) in found[9..].iter().zip(templates) {
        assert_eq!(event.name, name);
    }
    let names: Vec<&str> = found[13].fields.iter().map(|field| field[0].as_str().unwrap()).collect();
    assert_eq!(names, ["n".repeat(180), format!("{}_2", "n".repeat(180)), "\u{4e16}".repeat(60)]);
}

#[test]
fn spans_are_activities() {
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
    let found = events_of(&kinds.map(span));
    let events: Vec<&Decoded> = found.iter().map(|pair| pair[0].as_ref().unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| &*event.name).collect();
    assert_eq!(
        names,
        [
            "sell_entry",
            "sell_begin",
            "sell",
            "sell_end",
            "sell_begin",
            "sell_step",
            "sell_end",
            "sell",
            "sell"
        ]
    );
    assert_eq!(events.iter().map(|event| event.opcode).collect::<Vec<_>>(), [1, 1, 0, 2, 0, 0, 0, 0, 0]);
    assert_eq!(events.iter().map(|event| event.keyword).collect::<Vec<_>>(), [2, 2, 2, 2, 2, 2, 2, 1, 1]);

    // The end of a span has the id of its begin.
    let end = found[0][1].as_ref().unwrap();
    assert_eq!((&*end.name, end.opcode, end.keyword), ("sell_exit", 2, 2));
    assert_eq!(end.fields, [json!(["duration_ns", "u64", "#12345"])]);
    assert!(end.activity.is_some() && end.activity == events[0].activity);
    // An async span has its own id, with the process's.
    let activity = events[1].activity.unwrap();
    assert_eq!((&activity[4..8], &activity[8..]), (&[0; 4][..], &id[..]));
    assert!(activity[..4] != [0; 4] && activity != events[0].activity.unwrap());
    assert!(events[2..4].iter().all(|event| event.activity == Some(activity)));
    assert!(events[4..].iter().all(|event| event.activity.is_none()));
    assert!(found[1..].iter().all(|pair| pair[1].is_none()));
}

#[test]
fn fields_of_scopes_are_one_field() {
    // request: 7, user: "outer", then user: "inner".
    let scopes = b"\x67request\x07\x64user\x65outer\x64user\x65inner".to_vec();
    let with = Case { scopes, names: vec!["context".to_owned()], ..Case::new("A", [5]) };
    let found = events_of(&[with]);
    let context = numbered(r#"{"request": 7, "user": "inner"}"#);
    let wanted = [json!(["context", "u8", "#5"]), json!(["context_2", "json?", context])];
    assert_eq!(found[0][0].as_ref().unwrap().fields, wanted);
}

/// The bytes of a text or sequence.
fn counted(count: usize, bytes: &[u8]) -> Vec<u8> {
    [&(count as u32).to_le_bytes()[..], bytes].concat()
}

#[test]
fn what_is_too_long_is_cut_and_marked() {
    let text = "\u{4e16}".repeat(30_000);
    let numbers: Vec<u8> = (0..70_000u32).flat_map(|number| number.to_le_bytes()).collect();
    let texts: Vec<u8> = std::iter::repeat_n(counted(5, b"words"), 20_000).flatten().collect();
    let list = counted(40_000, &[counted(1, b"x"), counted(0, b"")].concat().repeat(20_000));
    let all = [
        counted(text.len(), text.as_bytes()),
        counted(70_000, &numbers),
        counted(20_000, &texts),
        7u64.to_le_bytes().to_vec(),
        counted(3, b"end"),
    ]
    .concat();
    let cases = [
        Case::new("sL", [counted(text.len(), text.as_bytes()), 7u64.to_le_bytes().to_vec()].concat()),
        Case::new("[IL", [counted(70_000, &numbers), 7u64.to_le_bytes().to_vec()].concat()),
        Case::new("[sL", [counted(20_000, &texts), 7u64.to_le_bytes().to_vec()].concat()),
        Case::new("#70000:AL", [&numbers[..70_000], &7u64.to_le_bytes()[..]].concat()),
        Case::new("y", counted(200_000, &numbers[..200_000])),
        Case::new("[[s", counted(1, &list)),
        Case::new("s[I[sLs", all),
        // 65,535 elements are the most of an array.
        Case::new("[A", counted(65_400, &numbers[..65_400])),
        Case { is_cut: true, ..Case::new("i", [1, 0, 0, 0]) },
    ];
    let found: Vec<Decoded> = events_of(&cases).into_iter().map(|[event, _]| event.unwrap()).collect();
    let value = |event: usize, field: usize| found[event].fields[field][2].clone();
    let seven = Value::from("#7");

    let kept = value(0, 0);
    let kept = kept.as_str().unwrap();
    assert!(text.starts_with(kept) && (65_300..65_500).contains(&kept.len()), "{}", kept.len());
    assert_eq!(value(0, 1), seven);
    let wanted: Vec<Value> = (0..70_000u32).map(|number| Value::from(format!("#{number}"))).collect();
    let kept = value(1, 0);
    let kept = kept.as_array().unwrap();
    assert!(wanted.starts_with(kept) && (16_300..16_384).contains(&kept.len()), "{}", kept.len());
    assert_eq!(value(1, 1), seven);
    let kept = value(2, 0);
    let (last, whole) = kept.as_array().unwrap().split_last().unwrap();
    assert!(whole.iter().all(|text| text == "words") && "words".starts_with(last.as_str().unwrap()));
    assert!((9_300..9_363).contains(&whole.len()), "{}", whole.len());
    assert_eq!(value(2, 1), seven);
    let kept = value(3, 0);
    assert!((65_300..65_500).contains(&kept.as_array().unwrap().len()));
    assert_eq!((&found[3].fields[0][1], value(3, 1)), (&Value::from("u8[]"), seven.clone()));
    let kept = value(4, 0);
    assert!(hex(&numbers).starts_with(kept.as_str().unwrap()) && kept.as_str().unwrap().len() > 2 * 65_300);
    // The first takes the room but for a part of a character; the others are there.
    assert_eq!((value(6, 1), value(6, 3)), (json!([]), seven));
    assert!(value(6, 2) == json!([]) || value(6, 2) == json!([""]));
    assert!("end".starts_with(value(6, 4).as_str().unwrap()));
    assert_ne!(value(6, 4), "end");
    assert_eq!(value(7, 0).as_array().unwrap().len(), 65_400);
    let marks: Vec<u16> = found.iter().map(|event| event.tag).collect();
    assert_eq!(marks, [1, 1, 1, 1, 1, 1, 1, 0, 1]);
}

#[test]
fn what_no_event_can_have_has_none() {
    let wide = "<R|".to_owned() + &"x:b,".repeat(127) + ">";
    let long = vec!["n".repeat(180); 200];
    let cases = [
        // More fields than an event has; more names than its metadata has room for; more that cannot be cut.
        Case::new("b".repeat(200) + &wide + &wide, vec![1; 454]),
        Case {
            names: long,
            ..Case::new(
                "<R|".to_owned()
                    + &("n".repeat(180) + ":b,").repeat(120)
                    + ">"
                    + &wide.replace("x:", &format!("{}:", "y".repeat(180)))
                    + &"b".repeat(150),
                vec![1; 397],
            )
        },
        Case::new("#4096:A".repeat(16), vec![1; 16 * 4096]),
        // The most of each, or nearly.
        Case::new("b".repeat(143) + &wide + &wide, vec![1; 397]),
        Case::new("#4096:A".repeat(15), vec![1; 15 * 4096]),
    ];
    let (found, said) = events_and_messages(&cases);
    let has_event = found.iter().map(|pair| pair[0].is_some()).collect::<Vec<_>>();
    assert_eq!(has_event, [false, false, false, true, true]);
    // One message, with the place of the first.
    let begin = "silverpoint: SILVERPOINT_PROBES=user_events: src/odd \u{fc};file.cpp:17 has no event: ";
    assert!(said.starts_with(begin) && said.lines().count() == 1, "{said}");
    judge(&cases[3..]);
}
