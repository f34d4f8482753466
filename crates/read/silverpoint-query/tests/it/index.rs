//! The index: what is read with it is what is read without it, and only what is wanted is read.

use std::os::unix::fs::FileExt;

use proptest::prelude::*;
use silverpoint_query::filter::Filter;
use silverpoint_render::time::When;
use silverpoint_trace::{Matter, Trace, Verdict};
use silverpoint_wire::level::Level;

use crate::builder::{Builder, EPOCH_NS, log};
use crate::select::patchwork;
use crate::trace::{lines, open};

fn text(trace: &Trace) -> String {
    lines(trace, &mut trace.events())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_index_changes_nothing(
        steps in prop::collection::vec((1u32..4, 16u32..25, 0u64..50, any::<bool>()), 1..80),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let mut b = patchwork(&steps);
        let body = b.bytes.len();
        b.end_with_index();
        let plain = text(&open(&b.bytes[..body]));
        let indexed = open(&b.bytes);
        prop_assert_eq!(indexed.verdict(), Verdict::Intact);
        prop_assert_eq!(text(&indexed), plain.clone());
        // Damage in the last index or in the end block costs that block alone.
        let mut damaged = b.bytes.clone();
        let at = body + at.index(b.bytes.len() - body);
        damaged[at] ^= flip;
        prop_assert_eq!(text(&open(&damaged)), plain.clone());
        // A file that was cut has no end block.
        let cut = open(&b.bytes[..b.bytes.len() - 4]);
        prop_assert_eq!(text(&cut), plain);
    }
}

#[test]
fn an_index_of_another_file_is_not_believed() {
    let steps: Vec<_> = (0..40).map(|n| (1 + n % 3, 16 + n % 6, 1, n % 5 == 0)).collect();
    let mut b = patchwork(&steps);
    let plain = text(&open(&b.bytes));
    b.end_with_index();
    // A block more in front: every offset is wrong, and every checksum right.
    let mut other = Builder::new().bytes;
    other.extend_from_slice(&b.bytes);
    let trace = open(&other);
    assert_eq!(text(&trace), plain);
    // A chain of indexes that leads to itself.
    for previous in [8, other.len() as u64 - 112, u64::MAX] {
        let mut looped = patchwork(&steps);
        looped.block(silverpoint_wire::block::BlockKind::INDEX, 0, 0, &previous.to_le_bytes());
        let at = looped.bytes.len() as u64 - 104;
        looped.block(silverpoint_wire::block::BlockKind::END, 0, 0, &silverpoint_wire::block::end(1, at));
        assert_eq!(text(&open(&looped.bytes)), plain);
    }
}

/// Ten gigabytes, of which only the headers and a few blocks are there.
#[test]
fn a_stretch_of_a_huge_file_is_all_that_is_read() {
    const SIZE: u32 = 1 << 20;
    const BLOCKS: u64 = 10 << 10;
    let named = tempfile::NamedTempFile::with_prefix("silverpoint-huge-").unwrap();
    let file = named.as_file();
    for with_index in [true, false] {
        let mut b = Builder::new();
        b.session(1, "/bin/huge", 1);
        b.site(1, 16, &log(Level::Info, "net", 1, "{}", "L"));
        b.stream(1, 1, 7, "worker");
        let flush = |b: &mut Builder, hole: u64| {
            file.write_all_at(&b.bytes, b.written).unwrap();
            b.written += b.bytes.len() as u64 + hole;
            b.bytes.clear();
        };
        for n in 0..BLOCKS {
            let ticks = n * 1_000_000;
            if n % 1000 == 500 {
                (0..100).for_each(|n| b.record(1, 1, 16, ticks + n * 10, &n.to_le_bytes()));
                b.flush(1, 1, false);
                flush(&mut b, 0);
            } else {
                b.hollow(1, 1, (ticks, ticks + 999_999), SIZE);
                flush(&mut b, u64::from(SIZE));
            }
            if n % 64 == 63 {
                b.index();
            }
        }
        if with_index {
            b.end_with_index()
        } else {
            b.end()
        }
        flush(&mut b, 0);
        file.set_len(b.written).unwrap();
        assert!(b.written > 10_000_000_000);
        let trace = Trace::open(&[named.path()]).unwrap();
        assert_eq!(trace.verdict(), Verdict::Intact);
        let at = |ticks: u64| Some(When::Absolute((EPOCH_NS + ticks) as i64));
        let filter = Filter { since: at(7_500_000_200), until: at(7_500_000_400), ..Filter::default() };
        let mut events = trace.select(&filter);
        let mut ticks = Vec::new();
        while let Some(event) = events.next() {
            ticks.push(event.ticks);
        }
        assert_eq!(ticks, (20..=40).map(|n| 7_500_000_000 + n * 10).collect::<Vec<u64>>());
        // Any other block, if read, would have been found damaged.
        assert_eq!(events.verdict(), Verdict::Intact);
        let counted = trace.count(&filter);
        assert_eq!((counted.events, counted.blocks, counted.skipped_blocks), (21, 1, BLOCKS - 1));
        let all = trace.count(&Filter { since: at(10_230_000_000), ..Filter::default() });
        assert!(all.notes.iter().any(|note| matches!(note.matter, Matter::BadBlock { .. })));
    }
}
