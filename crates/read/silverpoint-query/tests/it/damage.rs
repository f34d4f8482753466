//! Files cut and damaged at every byte: what is intact is given, and the verdict says what happened.

use proptest::prelude::*;
use silverpoint_query::{filter::Filter, stats};
use silverpoint_trace::{Matter, Trace, Verdict, worst};
use silverpoint_wire::block::{BlockHeader, BlockKind};

use crate::builder::{Builder, log, text};
use crate::trace::{finished, json_lines, lines, open, sample};

/// Where each block begins, where what counts of it ends, where the next begins, and its header.
fn blocks(bytes: &[u8]) -> Vec<(usize, usize, usize, BlockHeader)> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let header = BlockHeader::decode(&bytes[at..]).unwrap();
        let end = at + usize::from(header.header_size) + header.stored_size as usize;
        blocks.push((at, end, at + header.block_size() as usize, header));
        at += header.block_size() as usize;
    }
    blocks
}

/// Records of the sample that cannot be read without a certain block. They are its own, or, for a site, those
/// in a compact block from the first of this site on.
fn lost_with(header: &BlockHeader) -> std::ops::RangeInclusive<u64> {
    if header.kind == BlockKind::SITES { 0..=1 } else { records(header)..=records(header) }
}

fn records(header: &BlockHeader) -> u64 {
    if header.kind == BlockKind::RECORDS { u64::from(header.records) } else { 0 }
}

/// Reads all; gives the number of records, control records included, and the verdict.
fn read(bytes: &[u8]) -> (u64, Verdict, Vec<Matter>) {
    let trace = open(bytes);
    let mut events = trace.events();
    let mut given = 0;
    while events.next().is_some() {
        given += 1;
    }
    let matters = trace.notes().iter().chain(events.notes()).map(|note| note.matter.clone()).collect();
    (given, events.verdict(), matters)
}

#[test]
fn cut_at_every_byte() {
    let whole = finished();
    let blocks = blocks(&whole);
    for len in 0..=whole.len() {
        let kept: Vec<_> = blocks.iter().filter(|(_, end, ..)| *end <= len).collect();
        let expected: u64 = kept.iter().map(|(.., header)| records(header)).sum();
        let (given, verdict, matters) = read(&whole[..len]);
        assert_eq!(given, expected, "cut at {len}");
        let at_boundary = kept.last().is_some_and(|(_, end, next, _)| (*end..=*next).contains(&len));
        let wanted = match (kept.len(), at_boundary) {
            (0, _) => Verdict::NotATraceFile,
            (_, true) => Verdict::Intact,
            _ => Verdict::Cut,
        };
        assert_eq!(verdict, wanted, "cut at {len}: {matters:?}");
        if verdict == Verdict::Cut {
            let next = kept.last().unwrap().2;
            let bytes = (len - next) as u64;
            assert_eq!(matters, [Matter::Cut { offset: next as u64, bytes }]);
        }
    }
}

#[test]
fn flipped_at_every_byte() {
    let whole = finished();
    let blocks = blocks(&whole);
    let total: u64 = blocks.iter().map(|(.., header)| records(header)).sum();
    for at in 0..whole.len() {
        for bit in [0x01, 0x80] {
            let mut flipped = whole.clone();
            flipped[at] ^= bit;
            let (_, end, _, header) = blocks.iter().find(|(_, _, next, _)| at < *next).unwrap();
            let (given, verdict, matters) = read(&flipped);
            if at >= *end {
                assert_eq!((given, verdict), (total, Verdict::Intact), "flip at {at} between blocks");
                continue;
            }
            assert!(lost_with(header).contains(&(total - given)), "flip at {at}: {matters:?}");
            assert_eq!(verdict, Verdict::Damaged, "flip at {at}: {matters:?}");
            let names_it = matters.iter().any(|matter| match matter {
                Matter::BadBlock { sequence, .. } => *sequence == header.sequence,
                Matter::MissingBlocks { first, last } => (*first..=*last).contains(&header.sequence),
                // The last block: what came there is unknown.
                Matter::Skipped { .. } => header.kind == BlockKind::END,
                _ => false,
            });
            assert!(names_it, "flip at {at}: {matters:?}");
        }
    }
}

#[test]
fn bytes_taken_out_cost_one_block() {
    let whole = finished();
    let blocks = blocks(&whole);
    let total: u64 = blocks.iter().map(|(.., header)| records(header)).sum();
    // Eight bytes out of the middle of a payload: the next block begins before the place that the header promises.
    for (begin, end, _, header) in blocks.iter().filter(|(.., header)| header.stored_size >= 16) {
        let at = (begin + usize::from(header.header_size) + 7) & !7;
        let mut shorter = whole.clone();
        shorter.drain(at..(at + 8).min(*end));
        let (given, verdict, matters) = read(&shorter);
        assert!(lost_with(header).contains(&(total - given)), "{matters:?}");
        assert_eq!(verdict, Verdict::Damaged);
    }
}

#[test]
fn text_behind_damage_is_told_and_the_rest_is_there() {
    let mut whole = finished();
    let blocks = blocks(&whole);
    let (begin, ..) = blocks.iter().find(|(.., h)| h.kind == BlockKind::RECORDS).unwrap();
    whole[begin + 100] ^= 1;
    let trace = open(&whole);
    let mut events = trace.events();
    let text = lines(&trace, &mut events);
    let notes: Vec<String> = trace.notes().iter().chain(events.notes()).map(ToString::to_string).collect();
    insta::assert_snapshot!(format!("{text}\n{}\n{}", notes.join("\n"), events.verdict()));
}

#[test]
fn sites_that_are_lost_leave_their_records() {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.stream(1, 1, 1, "");
    b.record(1, 1, 40, 5, &[0; 8]);
    b.flush(1, 1, false);
    let trace = open(&b.bytes);
    let objects = json_lines(&trace, &mut trace.events());
    assert_eq!(objects[0]["kind"], "unknown");
    assert_eq!(objects[0]["site"], 40);
    assert!(lines(&trace, &mut trace.events()).contains("id 40, 8 bytes"));
    assert_eq!(stats::collect(&trace, &Filter::default()).unknown, [1]);
}

#[test]
fn arguments_that_contradict_the_signature_are_marked() {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.site(1, 16, &log(silverpoint_wire::level::Level::Info, "", 1, "a {} b {1}", "is"));
    b.site(1, 17, &log(silverpoint_wire::level::Level::Info, "", 1, "a {} b {}", "is"));
    b.stream(1, 1, 1, "");
    let mut args = 7i32.to_le_bytes().to_vec();
    args.extend_from_slice(&1_000_000u32.to_le_bytes());
    b.record(1, 1, 17, 5, &args);
    b.flush(1, 1, false);
    let trace = open(&b.bytes);
    let objects = json_lines(&trace, &mut trace.events());
    assert_eq!(objects[0]["damaged"], true);
    assert_eq!(objects[0]["args"], serde_json::json!([7, null]));
    assert!(lines(&trace, &mut trace.events()).contains("a 7 b <damaged>"));
}

/// Reads everything in every way; nothing may panic, and statistics and events agree.
fn read_all(bytes: &[u8]) {
    let trace: Trace = open(bytes);
    let mut events = trace.events();
    let mut records = 0u64;
    while let Some(event) = events.next() {
        use silverpoint_trace::What;
        records += u64::from(matches!(event.what, What::Record { .. } | What::Unknown { .. }));
    }
    let verdict = events.verdict();
    lines(&trace, &mut trace.events());
    json_lines(&trace, &mut trace.events());
    let statistics = stats::collect(&trace, &Filter::default());
    assert_eq!(statistics.records, records);
    assert_eq!(worst(&statistics.notes), verdict);
    let mut out = String::new();
    stats::push_json(&mut out, &statistics, &trace);
    serde_json::from_str::<serde_json::Value>(&out).unwrap();
    stats::push_text(&mut out, &statistics, &trace, &stats::TextOptions { top: 3, ..Default::default() });
}

/// A valid block around any payload.
fn framed(parts: &[(u8, u8, Vec<u8>, [u64; 4])]) -> Vec<u8> {
    let mut bytes = sample().bytes;
    for (n, (kind, encoding, payload, [begin, first, session, stream])) in parts.iter().enumerate() {
        let header = BlockHeader {
            encoding: *encoding,
            sequence: 100 + n as u64,
            session: (*session % 3) as u32,
            stream: (*stream % 3) as u32,
            ring_begin: *begin,
            ring_end: begin.wrapping_add(payload.len() as u64),
            first_ticks: *first,
            last_ticks: first.wrapping_add(10),
            records: 2,
            levels: u32::MAX,
            sites: u64::MAX,
            raw_size: 4096,
            ..BlockHeader::new(BlockKind(*kind), payload)
        };
        silverpoint_wire::block::push_block(&mut bytes, &header, payload);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        read_all(&bytes);
    }

    #[test]
    fn random_changes_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        let mut bytes = finished();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        read_all(&bytes);
    }

    /// Checksums that agree around contents that make no sense: what a hostile writer would send.
    #[test]
    fn hostile_blocks_do_no_harm(
        parts in prop::collection::vec(
            (0u8..14, 0u8..3, prop::collection::vec(prop_oneof![Just(0u8), Just(16), Just(24), any::<u8>()], 0..200), any::<[u64; 4]>()),
            1..6,
        )
    ) {
        read_all(&framed(&parts));
    }

    /// Records with right headers and random arguments.
    #[test]
    fn hostile_arguments_do_no_harm(
        arguments in prop::collection::vec((16u32..22, prop::collection::vec(prop_oneof![Just(0u8), 1u8..8, any::<u8>()], 0..80)), 1..20),
        signature in "[nbahilAIfdcwWpsSZyutTv?\\[$({})/|]{0,12}",
    ) {
        let mut b = sample();
        b.site(1, 20, &log(silverpoint_wire::level::Level::Info, "x", 1, "{} {:>9.3} {2:#x}", &signature));
        b.site(1, 21, &log(silverpoint_wire::level::Level::Info, "x", 1, "{} {}", "{sv[{I?(sd)}"));
        for (n, (site, args)) in arguments.iter().enumerate() {
            b.record(1, 1, *site, 10_000 + n as u64, args);
        }
        b.flush(1, 1, false);
        read_all(&b.bytes);
    }

    #[test]
    fn texts_of_every_kind_become_valid_json(words in prop::collection::vec(".{0,20}", 1..5)) {
        let mut b = Builder::new();
        b.session(1, &words[0], 1);
        b.site(1, 16, &log(silverpoint_wire::level::Level::Info, &words[0], 1, "{}", "s"));
        b.stream(1, 1, 1, "");
        for (n, word) in words.iter().enumerate() {
            b.record(1, 1, 16, n as u64, &text(word));
        }
        b.flush(1, 1, true);
        let trace = open(&b.bytes);
        let objects = json_lines(&trace, &mut trace.events());
        for (object, word) in objects.iter().zip(&words) {
            prop_assert_eq!(object["args"][0].as_str(), Some(word.as_str()));
        }
        prop_assert_eq!(lines(&trace, &mut trace.events()).lines().count(), words.len());
    }
}
