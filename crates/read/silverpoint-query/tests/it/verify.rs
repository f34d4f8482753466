//! Verifying: what is in order is called so, and every mistake is found where it is.

use std::path::Path;

use silverpoint_trace::verify::{Depth, Finding, Severity, Verified, verify};
use silverpoint_trace::{Source, Verdict};
use silverpoint_wire::block::{BlockHeader, BlockKind, Index, LossInfo, push_block};
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log, text};
use crate::trace::{finished, open};

fn look(bytes: &[u8], depth: Depth) -> (Verified, Vec<Finding>) {
    let source = Source::from_bytes(Path::new("t.silver"), bytes.to_vec());
    let mut findings = Vec::new();
    let found = verify(&source, depth, |finding| findings.push(finding)).unwrap();
    (found, findings)
}

/// The one fault of a file.
fn fault(bytes: &[u8]) -> String {
    let (_, findings) = look(bytes, Depth::Whole);
    let faults: Vec<_> = findings.iter().filter(|finding| finding.severity > Severity::Remark).collect();
    assert_eq!(faults.len(), 1, "{findings:?}");
    faults[0].what.clone()
}

fn begun() -> Builder {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "{}", "s"));
    b.stream(1, 1, 1, "");
    b
}

/// Changes the header of the last block and makes its checksum right again.
fn change_last(bytes: &mut [u8], change: impl FnOnce(&mut BlockHeader)) {
    let mut at = 0;
    loop {
        let mut header = BlockHeader::decode(&bytes[at..]).unwrap();
        let next = at + header.block_size() as usize;
        if next >= bytes.len() {
            change(&mut header);
            bytes[at..at + 96].copy_from_slice(&header.encode());
            return;
        }
        at = next;
    }
}

#[test]
fn a_whole_file_is_in_order() {
    let bytes = finished();
    for depth in [Depth::Checksums, Depth::Whole] {
        let (found, findings) = look(&bytes, depth);
        assert_eq!((found.verdict(), found.faults), (Verdict::Intact, 0), "{findings:?}");
        assert_eq!(found.bytes, bytes.len() as u64);
    }
    let mut b = begun();
    b.record(1, 1, 16, 5, &text("one"));
    b.flush(1, 1, true);
    b.end_with_index();
    assert_eq!(look(&b.bytes, Depth::Whole), (look(&b.bytes, Depth::Checksums).0, Vec::new()));
}

#[test]
fn no_changed_byte_stays_unseen() {
    let bytes = finished();
    let mut at = 0;
    while at < bytes.len() {
        let header = BlockHeader::decode(&bytes[at..]).unwrap();
        // The zero bytes behind a payload belong to nothing.
        let end = at + usize::from(header.header_size) + header.stored_size as usize;
        for place in at..end {
            let mut changed = bytes.clone();
            changed[place] ^= 0x10;
            for depth in [Depth::Checksums, Depth::Whole] {
                let (found, findings) = look(&changed, depth);
                assert!(found.faults > 0, "byte {place}: {findings:?}");
            }
        }
        at += header.block_size() as usize;
    }
}

#[test]
fn a_cut_file_is_told_as_one_at_every_byte() {
    let bytes = finished();
    // Zero bytes that fill the last block may be missing.
    for end in 1..bytes.len() - 7 {
        let (found, findings) = look(&bytes[..end], Depth::Whole);
        assert!(!findings.is_empty(), "{end}");
        let first = BlockHeader::decode(&bytes).unwrap();
        let whole = usize::from(first.header_size) + first.stored_size as usize;
        if end >= whole {
            assert!(found.verdict() <= Verdict::Cut, "{end}: {findings:?}");
        }
    }
}

#[test]
fn summaries_that_state_less_than_there_is() {
    let mut b = begun();
    b.record(1, 1, 16, 5_000, &text("one"));
    b.flush(1, 1, false);
    type Change = fn(&mut BlockHeader);
    let changes: [(&str, Change); 5] = [
        ("records", |header| header.records = 0),
        ("levels", |header| header.levels = 0),
        ("sites", |header| header.sites = 0),
        ("times", |header| header.first_ticks = 5_001),
        ("times", |header| header.last_ticks = 4_999),
    ];
    for (what, change) in changes {
        let mut bytes = b.bytes.clone();
        change_last(&mut bytes, change);
        assert_eq!(
            fault(&bytes),
            format!("session 1, stream 1: its summary states less than there is: {what}")
        );
        assert_eq!(look(&bytes, Depth::Checksums).0.faults, 0, "checksums are right");
    }
}

#[test]
fn ring_positions_that_contradict_the_payload() {
    let mut b = begun();
    b.record(1, 1, 16, 5_000, &text("one"));
    b.flush(1, 1, false);
    change_last(&mut b.bytes, |header| header.ring_end += 8);
    assert!(fault(&b.bytes).contains("bytes for ring positions"));
}

#[test]
fn bytes_of_the_ring_that_are_elsewhere_and_duplicates_are_remarks() {
    let mut b = begun();
    b.record(1, 1, 16, 5_000, &text("one"));
    b.flush(1, 1, false);
    b.skip_ring(1, 1, 64);
    b.record(1, 1, 16, 6_000, &text("two"));
    b.flush(1, 1, false);
    let (found, findings) = look(&b.bytes, Depth::Whole);
    assert_eq!((found.verdict(), found.records), (Verdict::Intact, 2));
    assert!(findings.iter().any(|f| f.what.contains("64 bytes of the ring before it")), "{findings:?}");
}

#[test]
fn totals_of_losses_that_fall() {
    let loss = |stream: u32, program: u64, stall_ns: u64| {
        let mut loss = LossInfo { stream, stall_ns, ..LossInfo::default() };
        loss.losses[0] = program;
        loss
    };
    let mut b = begun();
    b.losses(1, &loss(1, 5, 7));
    b.losses(1, &loss(0, 2, 0));
    b.losses(1, &loss(1, 5, 7));
    b.losses(1, &loss(1, 6, 8));
    assert_eq!(look(&b.bytes, Depth::Whole).0.faults, 0);
    for falling in [loss(1, 5, 8), loss(1, 6, 7), loss(0, 1, 0)] {
        b.losses(1, &falling);
        let stream = falling.stream;
        assert_eq!(
            fault(&b.bytes),
            format!("session 1, stream {stream}: its totals of losses or waits are less than before")
        );
        let trace = open(&b.bytes);
        assert_eq!(trace.sessions[0].streams[0].loss.losses[0], 6, "the greatest counts");
        b = begun();
        b.losses(1, &loss(0, 2, 0));
        b.losses(1, &loss(1, 6, 8));
    }
}

#[test]
fn what_nobody_describes() {
    let mut b = begun();
    b.record(1, 1, 99, 5_000, &text("one"));
    b.flush(1, 1, false);
    assert_eq!(fault(&b.bytes), "session 1, stream 1: no description before it of site 99");
    let mut b = begun();
    b.record(1, 7, 16, 5_000, &text("one"));
    b.flush(1, 7, false);
    assert_eq!(fault(&b.bytes), "session 1, stream 7: no description before it of its stream");
}

#[test]
fn arguments_that_do_not_follow_the_signature() {
    let mut b = begun();
    // A text of 200 bytes of which eight are there.
    let mut args = 200_u32.to_le_bytes().to_vec();
    args.extend_from_slice(&[65; 8]);
    b.record(1, 1, 16, 5_000, &args);
    b.flush(1, 1, false);
    assert!(fault(&b.bytes).starts_with("session 1, stream 1: the record of site 16 at 0:"));
}

#[test]
fn an_index_that_lies() {
    let mut b = begun();
    b.record(1, 1, 16, 5_000, &text("one"));
    b.flush(1, 1, false);
    let mut payload = Vec::new();
    Index { previous: 0, headers: b.bytes[..96].to_vec() }.encode(&mut payload);
    b.block(BlockKind::INDEX, 0, 0, &payload);
    assert_eq!(fault(&b.bytes), "the index does not agree with the blocks before it");
}

#[test]
fn a_block_out_of_its_turn() {
    let mut bytes = finished();
    push_block(&mut bytes, &BlockHeader::new(BlockKind::NOTE, b"again"), b"again");
    assert!(fault(&bytes).starts_with("block 0 stands where block"));
}
