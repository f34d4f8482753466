//! Other versions of the format (docs/format-versions.md): files that are kept of every version, and what later versions may bring.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use silverpoint_query::filter::Filter;
use silverpoint_render::json;
use silverpoint_trace::{Follow, Matter, Source, Trace, Unknown, Verdict, What, worst};
use silverpoint_wire::block::{BlockHeader, BlockKind, push_site};
use silverpoint_wire::layout::block::HEADER_SIZE;
use silverpoint_wire::level::Level;
use silverpoint_wire::site::fnv1a64;
use silverpoint_wire::version::FormatVersion;

use crate::builder::{Builder, EPOCH_NS, log, text};
use crate::trace::{lines, open};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/versions")
}

/// Folders of versions, with the version of each.
fn versions() -> Vec<(FormatVersion, PathBuf)> {
    let entries = fs::read_dir(kept()).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: PathBuf| Some((path.file_name()?.to_str()?.parse().ok()?, path));
    entries.filter_map(named).collect()
}

/// Everything that was reported of an old file is still reported; there may be more.
fn still_says(now: &Value, then: &Value) -> bool {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            then.iter().all(|(key, then)| now.get(key).is_some_and(|now| still_says(now, then)))
        }
        (Value::Array(now), Value::Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| still_says(now, then))
        }
        _ => now == then,
    }
}

#[test]
fn the_current_version_has_its_files() {
    let current = FormatVersion::CURRENT;
    let found = versions();
    assert!(
        found.iter().any(|(version, _)| *version == current),
        "no files of version {current} are kept: run scripts/make-kept-traces {current}"
    );
    assert!(found.iter().all(|(version, _)| *version <= current), "{found:?}");
}

#[test]
fn files_of_every_version_read_as_they_did() {
    for (version, folder) in versions() {
        let verdicts = fs::read_to_string(folder.join("verdicts.txt")).unwrap();
        let mut named = Vec::new();
        for line in verdicts.lines() {
            let (name, code) = line.split_once(' ').unwrap();
            named.push(name.to_owned());
            let path = folder.join(name);
            let trace = Trace::open(&[&path]).unwrap();
            let stated = trace.files[0].about.iter().find(|(key, _)| key == "format").unwrap();
            assert_eq!(stated.1, version.to_string(), "{}", path.display());
            let mut writer = json::Writer::new(json::Options::default(), &trace);
            let (mut out, mut events) = (String::new(), trace.events());
            while let Some(event) = events.next() {
                if event.is_shown() {
                    writer.line(&mut out, &event);
                }
            }
            assert_eq!(events.verdict().exit_code().to_string(), code, "{}", path.display());
            let expected = fs::read_to_string(path.with_extension("jsonl")).unwrap();
            assert_eq!(out.lines().count(), expected.lines().count(), "{}", path.display());
            for (number, (now, then)) in out.lines().zip(expected.lines()).enumerate() {
                let value = |line: &str| serde_json::from_str::<Value>(line).unwrap();
                let place = format!("{}: line {}", path.display(), number + 1);
                assert!(still_says(&value(now), &value(then)), "{place}:\nnow  {now}\nthen {then}");
            }
        }
        // None may be forgotten in the list.
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let mut there: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|is| is == "silver")).collect();
        there.sort();
        named.sort();
        assert_eq!(there, named.iter().map(|name| folder.join(name)).collect::<Vec<_>>());
        assert!(there.len() >= 8, "{}", folder.display());
    }
}

/// A block whose header has `extra` bytes more than this version knows.
fn block_with_longer_header(bytes: &mut Vec<u8>, header: &BlockHeader, payload: &[u8], extra: usize) {
    let own = BlockHeader { stored_size: payload.len() as u32, ..*header };
    let mut head = own.encode();
    let size = (HEADER_SIZE + extra) as u16;
    head[8..10].copy_from_slice(&size.to_le_bytes());
    let crc = crc32c(&head[..92]);
    head[92..].copy_from_slice(&crc.to_le_bytes());
    bytes.extend_from_slice(&head);
    bytes.resize(bytes.len() + extra, 0xA5);
    bytes.extend_from_slice(payload);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

/// Bit by bit: the checksum of headers, for headers that the library would not write.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg()))
    })
}

/// A file as version 1.7 might write it.
fn of_a_later_minor_version() -> Vec<u8> {
    let mut b = Builder::default();
    b.block(BlockKind::FILE, 0, 0, b"format=1.7\nwriter=later\nweather=fine\nx-own=1\n");
    b.session(1, "/bin/later", 1);
    b.block(BlockKind(77), 1, 0, b"a reserved kind");
    b.block(BlockKind(200), 0, 0, b"a private kind");
    b.site(1, 16, &log(Level::Info, "", 1, "known {}", "@weather=fine;@x-own=1;L"));
    // A site of kind 99; the other one's argument has metadata that this version does not know.
    let (mut description, mut payload) = (Vec::new(), Vec::new());
    log(Level::Info, "", 2, "kind 99 {}", "L").encode(&mut description);
    description[16] = 99;
    let hash = fnv1a64(&description[16..]);
    description[8..16].copy_from_slice(&hash.to_le_bytes());
    push_site(&mut payload, 17, &description);
    b.block(BlockKind::SITES, 1, 0, &payload);
    b.stream(1, 1, 1, "main");
    b.record(1, 1, 16, 1, &1u64.to_le_bytes());
    b.record(1, 1, 9, 2, &text("a control record to come"));
    b.record(1, 1, 17, 3, &3u64.to_le_bytes());
    b.record(1, 1, 15, 4, &[]);
    b.record(1, 1, 16, 5, &5u64.to_le_bytes());
    b.flush(1, 1, false);
    // Every header of the file 24 bytes longer.
    let mut longer = Vec::new();
    let mut at = 0;
    while at < b.bytes.len() {
        let header = BlockHeader::decode(&b.bytes[at..]).unwrap();
        let payload = &b.bytes[at + HEADER_SIZE..][..header.stored_size as usize];
        block_with_longer_header(&mut longer, &header, payload, 24);
        at += header.block_size() as usize;
    }
    longer
}

#[test]
fn a_later_minor_version_is_read_and_what_is_new_is_counted() {
    let trace = open(&of_a_later_minor_version());
    let mut events = trace.events();
    let (mut known, mut unknown) = (Vec::new(), 0);
    while let Some(event) = events.next() {
        match event.what {
            What::Record { args, .. } => known.push(args[0]),
            What::Unknown { site_id, .. } => unknown += u32::from(site_id == 17),
            _ => {}
        }
    }
    assert_eq!((known, unknown), (vec![1, 5], 1));
    assert_eq!(events.verdict(), Verdict::Intact, "{:?}", trace.notes());
    let later = Some(FormatVersion { major: 1, minor: 7 });
    let told: Vec<_> = trace.notes().iter().chain(events.notes()).map(|note| note.matter.clone()).collect();
    let passed_over = |what, count| Matter::Unknown { version: later, what, count };
    assert_eq!(
        told,
        [passed_over(Unknown::Blocks, 2), passed_over(Unknown::Sites, 1), passed_over(Unknown::Controls, 2)]
    );
    assert_eq!(
        trace.notes()[0].to_string(),
        "t.silver: 2 blocks of kinds that this program does not know, skipped \
         (the file has version 1.7 of the format, this program knows 1.0)"
    );
    assert_eq!(trace.count(&Filter::default()).events, 3);
    let text = lines(&trace, &mut trace.events());
    assert_eq!(
        text.lines().filter(|line| line.contains("known 1") || line.contains("known 5")).count(),
        2,
        "{text}"
    );
    assert_eq!(trace.time_range().map(|(first, _)| first as u64), Some(EPOCH_NS + 1));
}

#[test]
fn a_later_minor_version_that_brings_nothing_new_is_read_without_a_word() {
    let mut b = Builder::default();
    b.block(BlockKind::FILE, 0, 0, b"format=1.9\n");
    b.session(1, "/bin/later", 1);
    let trace = open(&b.bytes);
    assert_eq!(trace.notes(), []);
}

fn of_version(version: &str) -> Builder {
    let mut b = Builder::default();
    b.block(BlockKind::FILE, 0, 0, format!("format={version}\nwriter=other\n").as_bytes());
    b.session(1, "/bin/other", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
    b.stream(1, 1, 1, "");
    b.record(1, 1, 16, 1, &1u64.to_le_bytes());
    b.flush(1, 1, false);
    b
}

#[test]
fn another_major_version_is_refused_with_its_number() {
    for (version, shown) in [("2.0", "2.0"), ("0.9", "0.9"), ("new\\x1B", "new\\x1b"), ("1", "1")] {
        let mut b = of_version(version);
        b.end_with_index();
        for bytes in [b.bytes.clone(), b.bytes[..b.bytes.len() - 1].to_vec()] {
            let trace = open(&bytes);
            assert_eq!(trace.verdict(), Verdict::NotATraceFile, "{version}");
            assert!(trace.sessions.is_empty() && trace.is_foreign(), "{version}");
            assert!(trace.events().next().is_none());
            let note = trace.notes()[0].to_string();
            let expected = format!(
                "t.silver: it has version {shown} of the format, stated at byte 0; \
                 this program reads 1.x: use a silverpoint of that version"
            );
            assert_eq!(note.to_lowercase(), expected.to_lowercase());
        }
    }
    // A hostile text is not repeated at length.
    let trace = open(&of_version(&"9".repeat(100_000)).bytes);
    assert!(trace.notes()[0].to_string().len() < 300);
}

#[test]
fn another_major_version_behind_a_known_one_is_left_out_and_said() {
    let mut bytes = of_version("1.0").bytes;
    let offset = bytes.len() as u64;
    bytes.extend_from_slice(&of_version("3.2").bytes);
    let trace = open(&bytes);
    assert_eq!(trace.verdict(), Verdict::NotATraceFile);
    let refused = Matter::OtherFormat { offset, version: "3.2".into() };
    assert!(trace.notes().iter().any(|note| note.matter == refused), "{:?}", trace.notes());
    assert_eq!(trace.count(&Filter::default()).events, 1, "what comes before it is given");
}

#[test]
fn a_file_of_another_major_version_among_others_spoils_none_of_them() {
    let source = |name: &str, version| Source::from_bytes(Path::new(name), of_version(version).bytes);
    let trace = Trace::from_sources(vec![source("a.silver", "1.0"), source("b.silver", "2.0")]).unwrap();
    assert_eq!(trace.count(&Filter::default()).events, 1);
    assert_eq!(worst(trace.notes()), Verdict::NotATraceFile);
}

#[test]
fn another_major_version_is_not_followed_into() {
    struct Nobody;
    impl silverpoint_trace::Watcher for Nobody {
        fn begin(&mut self, _: &Trace) {}
        fn event(&mut self, event: &silverpoint_trace::Event<'_>) -> bool {
            panic!("{event:?}")
        }
    }
    let folder = tempfile::TempDir::with_prefix("silverpoint-versions-").unwrap();
    let path = folder.path().join("other.silver");
    fs::write(&path, of_version("2.0").bytes).unwrap();
    let mut follow = Follow::open(std::slice::from_ref(&path), &Filter::default()).unwrap();
    let mut more = of_version("2.0").bytes;
    more.extend_from_slice(&of_version("2.0").bytes);
    let first = follow.poll(&mut Nobody).unwrap();
    fs::write(&path, more).unwrap();
    let second = follow.poll(&mut Nobody).unwrap();
    assert!(
        matches!(first[..], [ref note] if matches!(note.matter, Matter::OtherFormat { .. })),
        "{first:?}"
    );
    assert_eq!(second, []);
}
