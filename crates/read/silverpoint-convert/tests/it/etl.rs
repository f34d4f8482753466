//! Event Trace Logs: where each byte lies, what does not fit, what was lost, and two parsers that know nothing of Silverpoint. `silverpoint-cli` has the tests of every type
//! (`tests/it/user_events`).

use std::fmt::Write as _;
use std::io::Cursor;

use proptest::prelude::*;
use serde_json::Value;
use silverpoint_convert::etl::EtlWriter;
use silverpoint_convert::{Record, WriteError, Writer, copy};
use silverpoint_tests::etl::{Event, events, number, read};
use silverpoint_trace::{Site, What};
use silverpoint_wire::layout::crash;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::generated::description;
use crate::judges::ask;
use crate::support::{Failed, with_reader};

/// The file of what `write` writes.
fn file(write: impl FnOnce(&mut dyn Writer)) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let mut writer = EtlWriter::new(&mut out, "app.etl").unwrap();
    write(&mut writer);
    drop(writer);
    out.into_inner()
}

fn converted(from: &str, bytes: &[u8]) -> Vec<u8> {
    file(|writer| {
        with_reader(from, bytes, |reader| {
            copy::<Failed>(reader, writer, |error| Err(error.into())).unwrap();
        });
    })
}

/// Writes records, of which some may be refused; gives why.
fn refused(lines: &str) -> (Vec<u8>, Vec<String>) {
    let mut said = Vec::new();
    let file = file(|writer| {
        with_reader("jsonl", lines.as_bytes(), |reader| {
            while reader.advance().unwrap() {
                match writer.write(&reader.record().unwrap()) {
                    Ok(()) => {}
                    Err(WriteError::CannotHold(why)) => said.push(why),
                    Err(error) => panic!("{error}"),
                }
            }
            writer.finish().unwrap();
        });
    });
    (file, said)
}

/// A record of a thread in the second 11; `what` are the other members.
fn line(ns: u64, tid: u32, what: &str) -> String {
    format!(
        "{{\"time\":\"2026-11-20T19:02:11.{ns:09}Z\",\"level\":\"info\",\"process\":\"app\",\"pid\":40,\"tid\":{tid},\"thread\":\"t{tid}\",{what}}}\n"
    )
}

fn event(template: &str, signature: &str, args: &str) -> String {
    format!(
        "\"kind\":\"event\",\"category\":\"net::tcp\",\"file\":\"a.cpp\",\"line\":88,\"template\":\"{template}\",\"signature\":\"{signature}\",\"args\":{args}"
    )
}

/// Without those that name a process or a thread.
fn own(file: &[u8]) -> Vec<Event<'_>> {
    let mut all = events(file);
    all.retain(|event| {
        !event.name().starts_with("silverpoint:process_name") && event.name() != "silverpoint:thread_name"
    });
    all
}

/// The header's fields, behind the 32 bytes before them.
fn header(file: &[u8]) -> &[u8] {
    &read(file).0[32..]
}

fn lost(file: &[u8]) -> u64 {
    number(header(file), 0x30, 4)
}

/// 2026-11-20T19:02:11 in Windows's time.
const SECOND: u64 = (11_644_473_600 + 1_795_201_331) * 10_000_000;
/// What the clock says at the first record.
const BEGIN: u64 = 4_500_000_000_000_000;

#[test]
fn each_byte_lies_where_windows_has_it() {
    let file = converted("jsonl", line(123, 41, &event("sold", "is", "[-2,\"x\"]")).as_bytes());
    let (record, buffers) = read(&file);
    assert_eq!(record[..4], [2, 0, 2, 0xC0], "version 2, SYSTEM64");
    assert_eq!((number(record, 4, 2), record.len()), (352, 352), "size");
    assert_eq!(record[6..16], [0; 10], "type, group, thread, process");
    assert_eq!(number(record, 0x10, 8), BEGIN);
    let header = header(&file);
    let long = |at| number(header, at, 4);
    assert_eq!([long(0), long(4), long(8), long(0xC)], [0x1_0000, 0x0501_000A, 19045, 1]);
    assert_eq!(number(header, 0x10, 8), SECOND + 2, "the end is not before the last event");
    assert_eq!([long(0x18), long(0x1C), long(0x20), long(0x24)], [156_250, 0, 1, 2]);
    assert_eq!([long(0x28), long(0x2C), long(0x30), long(0x34)], [1, 8, 0, 1000]);
    assert_eq!(header[0x38..0xF8], [0; 0xC0], "names' addresses, time zone");
    let before = BEGIN / 100;
    let times = [0xF8, 0x100, 0x108].map(|at| number(header, at, 8));
    assert_eq!(times, [SECOND + 1 - before, 1_000_000_000, SECOND + 1], "boot, steps a second, start");
    assert_eq!([long(0x110), long(0x114)], [1, 0], "performance counter, lost buffers");
    let names: Vec<u16> = header[0x118..].chunks(2).map(|unit| number(unit, 0, 2) as u16).collect();
    assert!(String::from_utf16(&names).unwrap().starts_with("silverpoint\0app.etl\0"));

    assert_eq!(buffers.len(), 1);
    assert_eq!((buffers[0].flags, buffers[0].processor, buffers[0].time), (0x20, 0, BEGIN + 23));
    let events = buffers[0].events();
    let names: Vec<String> = events.iter().map(Event::name).collect();
    assert_eq!(names, ["silverpoint:process_name", "silverpoint:thread_name", "net::tcp:sold"]);
    let event = &events[2];
    assert_eq!((event.pid, event.tid, event.time), (40, 41, BEGIN + 23));
    // Of its name, by Python's hashlib.
    let id = [0xC1, 0xC4, 0x82, 0xA5, 0x5A, 0x2A, 0x4F, 0x58, 0x53, 0xCA, 0xEA, 0x43, 0x62, 0xF4, 0xA4, 0x95];
    assert_eq!(event.provider, id);
    // Id, version, channel, level, opcode, task; a record, and a bit of its category.
    assert_eq!(event.descriptor[..8], [0, 0, 0, 11, 4, 0, 0, 0]);
    let keyword = number(event.descriptor, 8, 8);
    assert_eq!((keyword & 3, keyword.count_ones()), (1, 2));
    assert_eq!(event.activity, [0; 16]);
    let items: Vec<u16> = event.items.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(items, [11, 12]);
    assert_eq!(event.item(11).unwrap(), b"\x1E\0\0net::tcp:sold\0arg0\0\x07arg1\0\x97\x23");
    assert_eq!(event.item(12).unwrap(), b"\x12\0Silverpoint-net\0");
    assert_eq!(event.payload, b"\xFE\xFF\xFF\xFF\x01\0x");
}

#[test]
fn a_trace_without_records_is_a_header() {
    let file = converted("jsonl", b"");
    let (_, buffers) = read(&file);
    assert!(buffers.is_empty() && file.len() == 64 << 10);
    let epoch = 11_644_473_600 * 10_000_000;
    assert_eq!([0x10, 0x108].map(|at| number(header(&file), at, 8)), [epoch; 2]);
}

#[test]
fn spans_have_activities_with_those_around_them() {
    let what = |kind: &str, template: &str, rest: &str| {
        format!(
            "\"kind\":\"{kind}\",\"category\":\"net\",\"file\":\"a.cpp\",\"line\":7,\"template\":\"{template}\",{rest}"
        )
    };
    let span = |template| what("span", template, "\"signature\":\"\",\"args\":[]");
    let end = |template| what("span_end", template, "\"signature\":\"\",\"duration_ns\":5");
    let id = "\"signature\":\"L\",\"args\":[77]";
    let lines = [
        line(1, 1, &span("outer")),
        line(2, 1, &span("inner")),
        line(3, 2, &span("other")),
        line(4, 1, &what("log", "in {}", "\"signature\":\"i\",\"args\":[1]")),
        line(5, 1, &what("async_begin", "read", id)),
        line(6, 1, &end("outer")),
        line(7, 1, &what("async_instant", "read", id)),
        line(8, 1, &end("inner")),
        line(9, 2, &end("other")),
        line(10, 1, &end("inner")),
        line(11, 1, &what("async_end", "read", id)),
        // It ends in another thread.
        line(12, 1, &span("moved")),
        line(20_012, 2, &what("span_end", "moved", "\"signature\":\"\",\"duration_ns\":20000")),
    ];
    let file = converted("jsonl", lines.concat().as_bytes());
    let seen: Vec<String> = own(&file)
        .iter()
        .map(|event| {
            let id = |bytes: &[u8]| format!("{}.{}", number(bytes, 4, 4), number(bytes, 8, 8));
            let around = event.item(1).map_or("-".to_owned(), id);
            format!("{} {} {} {around}", event.name(), event.descriptor[5], id(event.activity))
        })
        .collect();
    let wanted = [
        "net:outer_entry 1 1.1 -",
        "net:inner_entry 1 1.2 1.1",
        "net:other_entry 1 2.3 -",
        "net:in {} 0 1.2 -",
        "net:read_begin 1 0.77 1.2",
        "net:outer_exit 2 1.1 -",
        "net:read 0 0.77 -",
        "net:inner_exit 2 1.2 -",
        "net:other_exit 2 2.3 -",
        // Its begin is not known.
        "net:inner_exit 2 0.0 -",
        "net:read_end 2 0.77 -",
        "net:moved_entry 1 1.4 -",
        "net:moved_exit 2 1.4 -",
    ];
    assert_eq!(seen, wanted);
    assert!(own(&file).iter().all(|event| event.activity == [0; 16] || number(event.activity, 0, 4) == 40));
}

#[test]
fn an_end_that_names_its_begin_ends_those_within_whose_ends_may_be_lost() {
    let span = |kind: &str, name: &str, rest: &str| {
        let what = format!("\"kind\":\"{kind}\",\"category\":\"\",\"template\":\"{name}\"");
        format!("{what},\"signature\":\"\",{rest}")
    };
    let lines = [
        line(1000, 1, &span("span", "outer", "\"args\":[]")),
        line(1001, 1, "\"kind\":\"loss\",\"cause\":\"full\",\"count\":3,\"span_ns\":1"),
        line(1002, 1, &span("span", "kept", "\"args\":[]")),
        line(1003, 1, "\"kind\":\"loss\",\"cause\":\"full\",\"count\":3,\"span_ns\":1"),
        line(9000, 1, &span("span_end", "outer", "\"duration_ns\":8000")),
        line(9001, 1, &event("alone", "", "[]")),
    ];
    let file = converted("jsonl", lines.concat().as_bytes());
    assert_eq!(own(&file).last().unwrap().activity, [0; 16]);
}

#[test]
fn losses_are_counted_and_are_events() {
    let lines = [
        line(1, 1, "\"kind\":\"loss\",\"cause\":\"full\",\"count\":3,\"span_ns\":10"),
        line(2, 1, &event("sold", "", "[]")),
        line(3, 1, "\"kind\":\"loss\",\"cause\":\"full\",\"count\":5000000000,\"span_ns\":1"),
        line(4, 1, "\"kind\":\"unknown\",\"site\":77,\"raw\":\"0102\""),
        line(5, 1, "\"kind\":\"stall\",\"cause\":\"full\",\"duration_ns\":9"),
    ];
    let file = converted("jsonl", lines[..2].concat().as_bytes());
    assert_eq!(lost(&file), 3);
    assert_eq!(read(&file).1[0].flags, 0x22, "events lost, processor's index");
    let loss = &own(&file)[0];
    assert_eq!((loss.name().as_str(), loss.descriptor[4]), ("silverpoint:loss", 3));
    assert_eq!(loss.payload, [&b"\x04\0full\x03"[..], &[0; 7], b"\x0A", &[0; 7]].concat());
    // The header has 32 bits for them.
    let file = converted("jsonl", lines.concat().as_bytes());
    assert_eq!(lost(&file), u64::from(u32::MAX));
    let names: Vec<String> = own(&file)[3..].iter().map(Event::name).collect();
    assert_eq!(names, ["silverpoint:unknown", "silverpoint:stall"]);
    assert_eq!(own(&file)[3].payload, b"\x4D\0\0\0\x02\0\x01\x02");
}

#[test]
fn what_is_too_large_is_cut_or_refused_and_counted() {
    let text = "\u{4e16}".repeat(60_000);
    let wide =
        |count: usize| event("wide", &"b".repeat(count), &format!("[{}]", vec!["true"; count].join(",")));
    let lines = [
        line(1, 1, &event("long", "sA", &format!("[\"{text}\",7]"))),
        line(2, 1, &wide(127)),
        line(3, 1, &wide(128)),
        line(4, 1, &event("after", "", "[]")),
    ];
    let (file, said) = refused(&lines.concat());
    let why = "a.cpp:88: an event of ETW holds at most 127 fields, and 64,000 bytes of names and values of fixed size";
    assert_eq!(said, [why]);
    assert_eq!(lost(&file), 1);
    let found = own(&file);
    let names: Vec<String> = found.iter().map(Event::name).collect();
    assert_eq!(names, ["net::tcp:long", "net::tcp:wide", "net::tcp:after"]);
    let tags: Vec<u8> = found.iter().map(|event| event.item(11).unwrap()[2]).collect();
    assert_eq!(tags, [1, 0, 0], "the mark of what is cut");
    let size = number(found[0].payload, 0, 2) as usize;
    let kept = std::str::from_utf8(&found[0].payload[2..2 + size]).unwrap();
    assert!(text.starts_with(kept) && (63_800..64_000).contains(&size), "{size}");
    assert_eq!(found[0].payload[2 + size..], [7]);
}

#[test]
fn many_threads_fill_many_buffers() {
    let mut lines = String::new();
    for n in 0..6000_u64 {
        lines += &line(
            n * 1000,
            (n % 40) as u32 + 1,
            &event("step", "Ls", &format!("[{n},\"{}\"]", "x".repeat(90))),
        );
    }
    let file = converted("jsonl", lines.as_bytes());
    let (_, buffers) = read(&file);
    assert!(buffers.len() > 10, "{}", buffers.len());
    assert!(buffers.windows(2).all(|two| two[0].time <= two[1].events()[0].time));
    assert!(buffers.iter().all(|buffer| buffer.processor == 0));
    let seen: Vec<(u64, u32, u64)> =
        own(&file).iter().map(|event| (number(event.payload, 0, 8), event.tid, event.time)).collect();
    let wanted: Vec<_> = (0..6000).map(|n| (n, (n % 40) as u32 + 1, BEGIN + n * 1000)).collect();
    assert_eq!(seen, wanted);
    assert_eq!(events(&file).len(), 6000 + 40 + 1, "each thread, and the process, once named");
}

#[test]
fn records_out_of_order_are_those_of_other_processors() {
    let at = |ns: u64| line(ns, 1, &event("at {}", "L", &format!("[{ns}]")));
    let lines: String = [5000, 900, 7000, 1000, 300, 8000].map(at).concat();
    let file = converted("jsonl", lines.as_bytes());
    let (_, buffers) = read(&file);
    let seen: Vec<Vec<u64>> = buffers
        .iter()
        .map(|buffer| {
            let times: Vec<u64> = buffer.events().iter().map(|event| event.time).collect();
            assert!(times.is_sorted());
            let events = buffer.events().into_iter().filter(|event| event.name() == "net::tcp:at {}");
            events.map(|event| number(event.payload, 0, 8)).collect()
        })
        .collect();
    assert_eq!(seen, [vec![5000, 7000, 8000], vec![900, 1000], vec![300]]);
    assert_eq!(buffers.iter().map(|buffer| buffer.processor).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(number(header(&file), 0xC, 4), 3, "processors");
    // The file begins with the earliest: at 300 ns.
    assert_eq!(number(header(&file), 0x108, 8), SECOND + 3);
    assert_eq!(number(read(&file).0, 0x10, 8), BEGIN - 4700);

    // More than there may be processors.
    let lines: String = (0..70).rev().map(|n| at(n * 100)).collect();
    let (file, said) = refused(&lines);
    assert!(said.len() == 6 && said[0].contains("in no order of time, more than 64 times over"), "{said:?}");
    assert_eq!((lost(&file), own(&file).len()), (6, 64));
    // Long before the first.
    let old = at(0).replace("2026-11-20", "2026-09-20");
    let (file, said) = refused(&[at(5), old, at(6)].concat());
    assert_eq!(said, ["an event log holds no record from 52 days before its first one"]);
    assert_eq!((lost(&file), own(&file).len()), (1, 2));
}

#[test]
fn what_is_secret_is_not_shown() {
    let lines = line(1, 1, &event("login", "s@secret=;s[@secret=;I", "[\"ada\",\"hidden\",[7,8]]"));
    let file = converted("jsonl", lines.as_bytes());
    let json = "[\"<secret>\",\"<secret>\"]";
    let wanted = [b"\x03\0ada\x08\0<secret>".as_slice(), &[json.len() as u8, 0], json.as_bytes()].concat();
    assert_eq!(own(&file)[0].payload, wanted);
}

/// A log of a crash, and its stack.
fn crashed(frames: u32) -> (Vec<u8>, Vec<u8>) {
    let text = [1, 0, 0, 0, b'x'];
    let number = [5, 0, 0, 0];
    let stack: Vec<u8> = (1..=u64::from(frames)).flat_map(|frame| (frame << 20).to_le_bytes()).collect();
    // After the codes neither an address nor a sender.
    let head = [&text[..], &text, &text, &number, &text, &number, &text, &[0, 0], &number, &text].concat();
    let args = [&head[..], &frames.to_le_bytes(), &stack, &[0; 4]].concat();
    let site = Site::new(SiteDescription {
        kind: Kind::Event,
        level: Level::Fatal,
        flags: 0,
        line: 1,
        language: 1,
        category: crash::CATEGORY.into(),
        file: "a.cpp".into(),
        function: String::new(),
        names: crash::NAMES.into(),
        template: "crash".into(),
        signature: crash::SIGNATURE.into(),
    });
    assert!(site.is_crash());
    let what = What::Record { site: &site, site_number: 0, args: &args, truncated: false };
    let record = Record {
        wall_ns: 0,
        ticks: None,
        process: "app",
        pid: 40,
        process_number: 0,
        tid: 5,
        thread: "",
        context: None,
        is_backtrace: false,
        what,
    };
    let file = file(|writer| {
        writer.write(&record).unwrap();
        writer.finish().unwrap();
    });
    (file, stack)
}

#[test]
fn the_stack_of_a_crash_is_that_of_its_event() {
    for frames in [3, 100] {
        let (file, stack) = crashed(frames);
        let kept = &stack[..stack.len().min(8 * 64)];
        assert_eq!(own(&file)[0].item(6).unwrap(), [&[0; 8], kept].concat());
    }
}

#[test]
fn times_before_1970_are_those_of_windows_too() {
    for (year, seconds) in [("1969", -31_536_000_i64 + 27_975_731), ("1700", -8_520_336_000 + 27_975_731)] {
        let text = line(0, 1, &event("sold", "", "[]")).replace("2026", year);
        let file = converted("jsonl", text.as_bytes());
        let start = number(header(&file), 0x108, 8);
        assert_eq!(i64::try_from(start).unwrap(), (11_644_473_600 + seconds) * 10_000_000, "{year}");
    }
}

#[test]
fn two_parsers_read_what_is_written() {
    let mut all = vec![converted("jsonl", b""), crashed(100).0];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/files");
    for name in ["every-type.raw.silver", "two-sessions.raw.silver", "control-records.raw.silver"] {
        all.push(converted("silver", &std::fs::read(root.join(name)).unwrap()));
    }
    let mut lines = String::new();
    for n in (0..400_u64).map(|n| n ^ 7) {
        let what = event("step", "Lds", &format!("[{n},{n}.5,\"{}\"]", "x".repeat(90)));
        lines += &line(n * 1000, (n % 5) as u32 + 1, &what);
    }
    lines += &line(900_000_000, 1, "\"kind\":\"loss\",\"cause\":\"full\",\"count\":3,\"span_ns\":10");
    all.push(converted("jsonl", lines.as_bytes()));

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges/event_log.py");
    let sizes: Vec<String> = all.iter().map(|file| file.len().to_string()).collect();
    let words: Vec<&str> = std::iter::once(script).chain(sizes.iter().map(String::as_str)).collect();
    let Some(said) = ask("python3", &words, &all.concat()) else { return };
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), all.len());
    for (file, said) in all.iter().zip(&said) {
        let found = said["events"].as_array().unwrap();
        let lines: Vec<&str> = found.iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(lines, events(file).iter().map(Event::line).collect::<Vec<_>>());
        let head = header(file);
        for (key, at, size) in [
            ("buffers", 0x24, 4),
            ("processors", 0xC, 4),
            ("lost", 0x30, 4),
            ("pointer", 0x2C, 4),
            ("start", 0x108, 8),
            ("end", 0x10, 8),
            ("boot", 0xF8, 8),
            ("frequency", 0x100, 8),
            ("clock", 0x110, 4),
        ] {
            assert_eq!(said["header"][key], number(head, at, size), "{key}");
        }
        let names = (&said["header"]["logger"], &said["header"]["file"]);
        assert_eq!(names, (&"silverpoint".into(), &"app.etl".into()));
        // In Windows's time, which one of them computes with doubles.
        for (event, said) in events(file).iter().zip(found) {
            let wanted = number(head, 0xF8, 8) + event.time / 100;
            assert!(said["file_time"].as_u64().unwrap().abs_diff(wanted) <= 1, "{said}");
        }
    }
    assert_eq!((&said[5]["header"]["processors"], &said[5]["header"]["lost"]), (&8.into(), &3.into()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, rng_seed: proptest::test_runner::RngSeed::Fixed(5), failure_persistence: None, ..ProptestConfig::default() })]

    /// Of any site and bytes an event comes, which a strict reader reads, or a refusal.
    #[test]
    fn any_bytes_are_an_event_or_refused(
        records in prop::collection::vec((description(), prop::collection::vec(any::<u8>(), 0..64), any::<bool>(), any::<i64>()), 1..5),
    ) {
        let sites: Vec<(Site, Vec<u8>)> = records
            .iter()
            .map(|((site, args), other, is_own, _)| (Site::new(site.clone()), if *is_own { args } else { other }.clone()))
            .collect();
        let mut held = 0;
        let file = file(|writer| {
            for (number, ((site, args), (_, _, _, wall_ns))) in sites.iter().zip(&records).enumerate() {
                let what = What::Record { site, site_number: number, args, truncated: false };
                let record = Record {
                    wall_ns: *wall_ns,
                    ticks: None,
                    process: "a b",
                    pid: 7,
                    process_number: 0,
                    tid: 4,
                    thread: "t",
                    context: None,
                    is_backtrace: false,
                    what,
                };
                match writer.write(&record) {
                    Ok(()) => held += 1,
                    Err(WriteError::CannotHold(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            writer.finish().unwrap();
        });
        prop_assert_eq!(own(&file).len(), held);
        let mut seen = String::new();
        own(&file).iter().for_each(|event| write!(seen, "{}", event.line()).unwrap());
        prop_assert!(!seen.is_empty() || held == 0);
    }
}
