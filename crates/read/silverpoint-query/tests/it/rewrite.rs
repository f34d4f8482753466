//! Files made of files: the same records, in order by the judgement of `verify`.

use std::path::Path;

use proptest::prelude::*;
use silverpoint_trace::rewrite::{Options, Rewritten, rewrite};
use silverpoint_trace::verify::{Depth, Severity, verify};
use silverpoint_trace::{Source, Trace, Verdict};
use silverpoint_wire::block::{BlockHeader, BlockKind, LossInfo};
use silverpoint_wire::compression::Compression;
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::trace::{finished, json_lines, lines, open};

fn made(trace: &Trace, options: &Options) -> (Vec<u8>, Rewritten) {
    let mut bytes = Vec::new();
    let done = rewrite(trace, options, &mut bytes).unwrap();
    assert_eq!(done.bytes, bytes.len() as u64);
    (bytes, done)
}

fn mended(bytes: &[u8]) -> (Vec<u8>, Rewritten) {
    made(&open(bytes), &Options { mend: true, ..Options::default() })
}

/// Faults that `verify` finds.
pub fn faults(bytes: &[u8]) -> Vec<String> {
    let source = Source::from_bytes(Path::new("t.silver"), bytes.to_vec());
    let mut faults = Vec::new();
    verify(&source, Depth::Whole, |finding| {
        if finding.severity > Severity::Remark {
            faults.push(finding.to_string());
        }
    })
    .unwrap();
    faults
}

pub fn all(files: &[&[u8]]) -> Trace {
    let source = |bytes: &&[u8]| Source::from_bytes(Path::new("t.silver"), bytes.to_vec());
    Trace::from_sources(files.iter().map(source).collect()).unwrap()
}

fn shown(trace: &Trace) -> String {
    lines(trace, &mut trace.events())
}

/// A process with records at these ticks.
fn process(pid: u32, ticks: &[u64]) -> Builder {
    let mut b = Builder::new();
    b.session(pid, &format!("/bin/p{pid}"), pid);
    b.site(pid, 16, &log(Level::Info, "", pid, "{}", "s"));
    b.stream(pid, 1, pid, "main");
    for ticks in ticks {
        b.record(pid, 1, 16, *ticks, &text(&format!("{pid} at {ticks}")));
        b.flush(pid, 1, ticks % 2 == 0);
    }
    b.end();
    b
}

#[test]
fn the_same_records_in_every_encoding() {
    let bytes = finished();
    let trace = open(&bytes);
    let choices = [None, Some(Compression::None), Some(Compression::Lz4), Some(Compression::Zstd(3))];
    for compression in choices {
        for mend in [false, true] {
            let (made, done) = made(&trace, &Options { compression, mend, ..Options::default() });
            assert_eq!(faults(&made), [""; 0], "{compression:?}");
            let again = open(&made);
            assert_eq!(shown(&again), shown(&trace));
            assert_eq!(json_lines(&again, &mut again.events()), json_lines(&trace, &mut trace.events()));
            assert_eq!(again.count_records(), trace.count_records());
            assert_eq!((done.undecodable, done.notes.len()), (0, 0));
        }
    }
}

/// A file that states this compression, with a block for which levels make a difference.
fn stating(pid: u32, line: &str) -> Vec<u8> {
    let mut b = Builder::default();
    b.block(BlockKind::FILE, 0, 0, format!("format=1.0\n{line}part=1\n").as_bytes());
    b.session(pid, "/bin/x", pid);
    b.site(pid, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(pid, 1, 1, "");
    for n in 0..3000u64 {
        b.record(pid, 1, 16, n, &text(&format!("connected to {} of {}", n * n % 977, n * 31 % 101)));
    }
    b.flush_as(pid, 1, false, Compression::Zstd(3));
    b.end();
    b.bytes
}

/// The *file* block's text, and the sizes of the records blocks as stored.
fn sizes(bytes: &[u8]) -> (String, Vec<u32>) {
    let (mut at, mut about, mut sizes) = (0, String::new(), Vec::new());
    while at < bytes.len() {
        let header = BlockHeader::decode(&bytes[at..]).unwrap();
        let payload = &bytes[at + 96..][..header.stored_size as usize];
        match header.kind {
            BlockKind::FILE => about = String::from_utf8(payload.to_vec()).unwrap(),
            BlockKind::RECORDS => sizes.push(header.stored_size),
            _ => {}
        }
        at += header.block_size() as usize;
    }
    (about, sizes)
}

#[test]
fn zstd_keeps_the_level_that_its_file_states() {
    let at = |compression| {
        let (made, _) =
            made(&open(&stating(1, "")), &Options { compression: Some(compression), ..Options::default() });
        let (about, sizes) = sizes(&made);
        assert!(about.contains(&format!("compression={compression}\n")), "{about}");
        sizes[0]
    };
    let [one, nine, nineteen] = [1, 9, 19].map(|level| at(Compression::Zstd(level)));
    assert!(one != nine && nine > nineteen && one != nineteen, "{one} {nine} {nineteen}");
    for (line, size) in [
        ("", one),
        ("compression=zstd:1\n", one),
        ("compression=zstd:9\n", nine),
        ("compression=zstd:19\n", nineteen),
        // What is none, or of another kind: not known.
        ("compression=zstd:99\n", one),
        ("compression=lz4\n", one),
    ] {
        let (about, sizes) = sizes(&mended(&stating(1, line)).0);
        assert_eq!(sizes, [size], "{line}");
        assert_eq!(about.contains(line), !line.contains("99"), "{about}");
    }
    let files = [stating(1, "compression=zstd:9\n"), stating(2, "compression=zstd:19\n")];
    let (merged, _) = made(&all(&[&files[0], &files[1]]), &Options::default());
    let (about, mut found) = sizes(&merged);
    found.sort_unstable();
    assert_eq!(found, [nineteen, nine], "each at its own");
    assert!(!about.contains("compression="), "{about}");
}

#[test]
fn processes_are_merged_in_order_and_duplicates_dropped() {
    let (a, b) = (process(7, &[10_000, 30_000, 50_001]).bytes, process(8, &[20_000, 40_000]).bytes);
    let both = all(&[&a, &b]);
    let (merged, done) = made(&both, &Options::default());
    assert_eq!(faults(&merged), [""; 0]);
    assert_eq!(shown(&open(&merged)), shown(&both));
    assert_eq!((done.records, done.duplicates), (5, 0));
    let again = open(&merged);
    assert_eq!(again.sessions.len(), 2);
    let (twice, done) = made(&all(&[&a, &merged, &b]), &Options::default());
    assert_eq!((done.records, done.duplicates), (5, 5));
    assert_eq!(shown(&open(&twice)), shown(&both));
}

#[test]
fn losses_gaps_and_notes_are_carried_over() {
    let mut b = process(1, &[10_000]);
    let mut loss = LossInfo { stream: 1, stalls: 3, stall_ns: 9, ..LossInfo::default() };
    loss.losses[0] = 12;
    b.losses(1, &loss);
    let (begin, end) = b.skip_ring(1, 1, 64);
    let mut gap = begin.to_le_bytes().to_vec();
    gap.extend_from_slice(&end.to_le_bytes());
    b.block(BlockKind::GAP, 1, 1, &gap);
    b.block(BlockKind::NOTE, 1, 0, b"a word");
    b.record(1, 1, 16, 20_000, &text("later"));
    b.flush(1, 1, true);
    let trace = open(&b.bytes);
    let (made, _) = made(&trace, &Options::default());
    let again = open(&made);
    assert_eq!(again.notes(), trace.notes());
    assert_eq!(again.sessions[0].streams[0].loss, trace.sessions[0].streams[0].loss);
    assert_eq!(again.verdict(), Verdict::Lossy);
}

#[test]
fn records_that_nobody_explains_are_overwritten_and_the_range_stays() {
    let mut b = process(1, &[10_000]);
    b.record(1, 1, 99, 11_000, &text("of an unknown site"));
    b.record(1, 1, 16, 12_000, &[200, 0, 0, 0, 65, 65, 65, 65]);
    b.record(1, 1, 16, 13_000, &text("the last"));
    b.flush(1, 1, false);
    assert!(!faults(&b.bytes).is_empty());
    let (made, done) = mended(&b.bytes);
    assert_eq!((done.undecodable, done.records), (2, 2));
    assert_eq!(faults(&made), [""; 0]);
    let again = open(&made);
    let mut events = again.events();
    let objects = json_lines(&again, &mut events);
    assert_eq!(objects.len(), 2);
    assert!(events.notes().is_empty(), "no byte of the ring is missing: {:?}", events.notes());
}

#[test]
fn every_vector_is_mended() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/files"));
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let trace = open(&bytes);
        let (made, _) = mended(&bytes);
        assert_eq!(faults(&made), [""; 0], "{}", path.display());
        if trace.verdict() < Verdict::Damaged {
            assert_eq!(shown(&open(&made)), shown(&trace), "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// For any damage of a file: the new file shows what reading gives, and only a lost anchor or site
    /// remains a fault.
    #[test]
    fn damage_anywhere(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = finished();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        bytes.truncate(bytes.len() - end.index(bytes.len()) / 2);
        let (made, _) = mended(&bytes);
        let left: Vec<_> = faults(&made).into_iter().filter(|fault| !fault.contains("anchor")).collect();
        prop_assert_eq!(left, [""; 0]);
    }
}
