//! Parts of a trace. Each is read alone and is in order; one after the other they show what the trace shows,
//! and joined they are the trace.

use std::io;
use std::path::Path;

use proptest::prelude::*;
use silverpoint_trace::rewrite::{Limit, Options, PARTS_MAX, Parts, Rewritten, rewrite, split};
use silverpoint_trace::{Matter, Note, Trace, Verdict};
use silverpoint_wire::block::StreamInfo;
use silverpoint_wire::compression::Compression;
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::rewrite::{all, faults};
use crate::trace::{finished, json_lines, open};
use crate::trim::{long, random};

/// Keeps the parts in memory.
#[derive(Default)]
struct Kept(Vec<(Vec<u8>, Rewritten)>);

impl Parts for Kept {
    type File = Vec<u8>;

    fn begin(&mut self, number: u32) -> io::Result<Vec<u8>> {
        assert_eq!(number as usize, self.0.len() + 1);
        Ok(Vec::new())
    }

    fn end(&mut self, file: Vec<u8>, done: Rewritten) -> io::Result<()> {
        assert_eq!(done.bytes, file.len() as u64);
        self.0.push((file, done));
        Ok(())
    }
}

pub fn parts(
    trace: &Trace,
    limit: Limit,
    compression: Option<Compression>,
) -> io::Result<(Vec<Vec<u8>>, Vec<Note>)> {
    let options = Options { compression, split: "somehow".to_owned(), ..Options::default() };
    let mut kept = Kept::default();
    let notes = split(trace, limit, &options, &mut kept)?;
    Ok((kept.0.into_iter().map(|(bytes, _)| bytes).collect(), notes))
}

fn json(trace: &Trace) -> Vec<serde_json::Value> {
    json_lines(trace, &mut trace.events())
}

fn whole(trace: &Trace) -> (Vec<u8>, Rewritten) {
    let mut bytes = Vec::new();
    let done = rewrite(trace, &Options::default(), &mut bytes).unwrap();
    (bytes, done)
}

/// Splits, and checks everything that is true of any trace and any limit. Gives the parts.
fn check(bytes: &[u8], limit: Limit, compression: Option<Compression>, name: &str) -> Vec<Vec<u8>> {
    let trace = open(bytes);
    let mut events = trace.events();
    let expected = json_lines(&trace, &mut events);
    let context = format!("{name}: {limit:?} {compression:?}");
    let (parts, notes) =
        parts(&trace, limit, compression).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(notes, events.notes(), "{context}");
    let is_whole = faults(bytes).is_empty() && events.notes().is_empty();
    // One after the other.
    let mut shown = Vec::new();
    for (number, part) in (1..).zip(&parts) {
        let alone = open(part);
        let mut events = alone.events();
        shown.extend(json_lines(&alone, &mut events));
        assert!(alone.verdict() <= Verdict::Lossy, "{context}: {:?}", alone.notes());
        assert_eq!(alone.files[0].split(), Some("somehow"));
        assert!(alone.files[0].about.contains(&("part".to_owned(), number.to_string())), "{context}");
        if is_whole {
            assert_eq!(events.notes(), [], "{context}: part {number}");
            assert_eq!(faults(part), [""; 0], "{context}: part {number}");
        }
    }
    assert_eq!(shown, expected, "{context}");
    // Together, in any order.
    let mut files: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    for turn in 0..2 {
        let together = all(&files);
        let mut events = together.events();
        assert_eq!(json_lines(&together, &mut events), expected, "{context}: order {turn}");
        // As one file: not a byte of the rings is other.
        let (joined, done) = whole(&together);
        let joined = open(&joined);
        let mut events = joined.events();
        assert_eq!(json_lines(&joined, &mut events), expected, "{context}: joined {turn}");
        assert_eq!(joined.files[0].split(), None, "{context}");
        if is_whole {
            assert_eq!(events.notes(), [], "{context}: joined {turn}");
            assert_eq!(done.records, whole(&trace).1.records, "{context}: joined {turn}");
            // Blocks of unknown kinds are left out.
            let known = |note: &&Note| !matches!(note.matter, Matter::Unknown { .. });
            let told = |trace: &Trace| trace.notes().iter().filter(known).cloned().collect::<Vec<_>>();
            assert_eq!(told(&together), told(&trace), "{context}: joined {turn}");
            assert_eq!(together.count_records(), trace.count_records(), "{context}: joined {turn}");
        }
        files.reverse();
    }
    parts
}

const LIMITS: [Limit; 9] = [
    Limit::Parts(1),
    Limit::Parts(2),
    Limit::Parts(5),
    Limit::Parts(1_000),
    Limit::Every(1),
    Limit::Every(700),
    Limit::Every(1_000_000),
    Limit::Size(8_000),
    Limit::Size(64_000),
];

#[test]
fn every_vector_and_every_limit() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for limit in LIMITS {
            let is_too_small = parts(&open(&bytes), limit, None).is_err();
            if let (Limit::Size(_), true) = (limit, is_too_small) {
                continue;
            }
            check(&bytes, limit, None, &path.display().to_string());
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn a_trace_of_every_kind() {
    for limit in LIMITS {
        for compression in [None, Some(Compression::Lz4)] {
            check(&finished(), limit, compression, "every kind");
        }
    }
}

#[test]
fn parts_have_as_many_records_each_as_can_be() {
    let bytes = long(20, 7);
    for (wanted, records) in [(1, 4_000), (2, 2_000), (7, 571), (9_999, 1)] {
        let parts = check_few(&bytes, Limit::Parts(wanted));
        assert_eq!(parts.len(), (wanted as usize).min(4_000));
        for part in &parts {
            let here = open(part).count_records();
            assert!(here == records || here == records + 1, "{wanted}: {here}");
        }
    }
}

/// Splits, and checks the records alone.
fn check_few(bytes: &[u8], limit: Limit) -> Vec<Vec<u8>> {
    let trace = open(bytes);
    let (parts, _) = parts(&trace, limit, None).unwrap();
    let shown: Vec<_> = parts.iter().flat_map(|part| json(&open(part))).collect();
    assert_eq!(shown, json(&trace), "{limit:?}");
    parts
}

#[test]
fn parts_are_not_larger_than_was_asked_for_and_not_much_smaller() {
    let bytes = long(100, 3);
    for most in [10_000, 50_000, 100_000, 10_000_000] {
        for compression in [None, Some(Compression::Zstd(1))] {
            let parts = check(&bytes, Limit::Size(most), compression, "long");
            assert!(parts.iter().all(|part| part.len() as u64 <= most), "{most}");
            let (_, others) = parts.split_last().unwrap();
            assert!(others.iter().all(|part| part.len() as u64 > most / 2), "{most}: {:?}", sizes(&parts));
        }
    }
    let trace = open(&bytes);
    let refused = parts(&trace, Limit::Size(900), None).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
    let text = refused.to_string();
    let enough = text.split("a size of ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(parts(&trace, Limit::Size(enough), None).is_ok(), "{text}");
    assert!(parts(&trace, Limit::Size(enough - 1), None).is_err(), "{text}");
}

fn sizes(parts: &[Vec<u8>]) -> Vec<usize> {
    parts.iter().map(Vec::len).collect()
}

#[test]
fn a_record_that_is_larger_than_a_part_has_one_for_itself() {
    let mut b = Builder::new();
    b.session(1, "/bin/large", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(1, 1, 1, "main");
    for (ticks, size) in [(1, 10), (2, 30_000), (3, 10), (4, 10)] {
        b.record(1, 1, 16, ticks, &text(&"x".repeat(size)));
    }
    b.flush(1, 1, false);
    let parts = check(&b.bytes, Limit::Size(4_000), None, "large");
    assert_eq!(parts.iter().map(|part| open(part).count_records()).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn stretches_of_time_are_counted_from_the_first_record() {
    let mut b = Builder::new();
    b.session(1, "/bin/timed", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(1, 1, 1, "main");
    for ticks in [1_005, 1_006, 1_014, 1_015, 1_100, 1_104, 1_105, 1_115] {
        b.record(1, 1, 16, ticks, &text("x"));
    }
    b.flush(1, 1, true);
    b.end();
    let parts = check(&b.bytes, Limit::Every(10), None, "timed");
    assert_eq!(parts.iter().map(|part| open(part).count_records()).collect::<Vec<_>>(), [3, 1, 2, 1, 1]);
}

#[test]
fn too_many_parts_are_refused() {
    let mut b = Builder::new();
    b.session(1, "/bin/many", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(1, 1, 1, "main");
    for ticks in 0..=u64::from(PARTS_MAX) {
        b.record(1, 1, 16, 1_000 + ticks, &text("x"));
        if ticks % 8 == 0 {
            b.flush(1, 1, false);
        }
    }
    b.flush(1, 1, false);
    let error = parts(&open(&b.bytes), Limit::Every(1), None).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("9999"), "{error}");
}

/// A thread with two streams, the second claimed after the first; names change in the first.
fn renamed() -> Vec<u8> {
    let mut b = Builder::new();
    b.session(1, "/bin/renamed", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "{}", "s"));
    let mut streams = Vec::new();
    for (stream, lane, claimed_ticks, name) in [(1, 0, 900, b"first"), (2, 1, 1_000, b"first")] {
        let mut padded = [0; 16];
        padded[..5].copy_from_slice(name);
        StreamInfo { stream, tid: 1, lane, claimed_ticks, name: padded, ..StreamInfo::default() }
            .encode(&mut streams);
    }
    b.block(silverpoint_wire::block::BlockKind::STREAMS, 1, 0, &streams);
    for ticks in 0..60u64 {
        if ticks % 20 == 10 {
            b.thread_name(1, 1, 1_000 + ticks * 10, &format!("name {ticks}"));
        }
        b.record(1, 1 + (ticks & 1) as u32, 16, 1_001 + ticks * 10, &text(&ticks.to_string()));
        if ticks % 7 == 0 {
            b.flush(1, 1, true);
            b.flush(1, 2, false);
        }
    }
    b.flush(1, 1, true);
    b.flush(1, 2, false);
    b.end();
    b.bytes
}

#[test]
fn threads_are_called_as_they_were_in_every_part() {
    for limit in [Limit::Parts(2), Limit::Parts(3), Limit::Parts(20), Limit::Every(50), Limit::Every(333)] {
        let parts = check(&renamed(), limit, None, "renamed");
        let last = json(&open(parts.last().unwrap()));
        assert_eq!(last.last().unwrap()["thread"], "name 50", "{limit:?}");
        // Names from before do not count for a part's time.
        let trace = open(parts.last().unwrap());
        let (begin, _) = trace.time_range().unwrap();
        let (origin, _) = open(&renamed()).time_range().unwrap();
        assert!(begin > origin + 250, "{limit:?}");
    }
}

#[test]
fn a_part_that_is_mended_or_trimmed_stays_one() {
    let parts = check(&renamed(), Limit::Parts(3), None, "renamed");
    let third = open(&parts[2]);
    let mut mended = Vec::new();
    rewrite(&third, &Options { mend: true, ..Options::default() }, &mut mended).unwrap();
    let again = open(&mended);
    let mut events = again.events();
    assert_eq!(json_lines(&again, &mut events), json(&third));
    assert_eq!((events.notes(), again.files[0].split()), (&[][..], Some("somehow")));
    // The first and the last: what lies between is missed.
    let some = all(&[&parts[0], &parts[2]]);
    let mut events = some.events();
    while events.next().is_some() {}
    assert!(some.sessions.len() == 1 && some.verdict() <= Verdict::Lossy);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn any_trace_and_any_limit(
        steps in prop::collection::vec(any::<(u8, u8, u8)>(), 1..300),
        number in 1..20u32,
        size in 10_000..60_000u64,
        compression in prop::sample::select(vec![None, Some(Compression::None), Some(Compression::Zstd(1))]),
    ) {
        let bytes = random(&steps);
        for limit in [Limit::Parts(number), Limit::Size(size), Limit::Every(u64::from(number) * 300)] {
            let parts = check(&bytes, limit, compression, "any");
            if limit == Limit::Size(size) {
                prop_assert!(parts.iter().all(|part| part.len() as u64 <= size));
            }
        }
    }

    /// For any damage of a file: the parts show what reading shows.
    #[test]
    fn damage_anywhere(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        end in any::<prop::sample::Index>(),
        number in 1..5u32,
    ) {
        let mut bytes = finished();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        bytes.truncate(bytes.len() - end.index(bytes.len()) / 2);
        check_few(&bytes, Limit::Parts(number));
    }
}

#[test]
fn a_flipped_bit_in_bytes_all_over_every_vector_does_not_stop_it() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let mut made = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let mut bytes = std::fs::read(entry.unwrap().path()).unwrap();
        // Not every byte of the large ones: each vector begins at another one.
        let step = bytes.len() / 120 + 1;
        for at in (made % step..bytes.len()).step_by(step) {
            bytes[at] ^= 1 << (at % 8);
            let (files, _) = parts(&open(&bytes), Limit::Parts(2), None).unwrap();
            assert!((1..=2).contains(&files.len()), "byte {at}");
            bytes[at] ^= 1 << (at % 8);
            made += 1;
        }
    }
    assert!(made > 3_000, "{made}");
}
