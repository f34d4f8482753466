//! One living session, drained into a file.

use silverpoint_collect::{Collector, Encoding};
use silverpoint_wire::block::{BlockHeader, BlockKind, Index};
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::ring::at as ring_at;
use silverpoint_wire::level::Level;

use crate::fake::{Fake, put32, site};
use crate::scratch::Scratch;
use crate::told::{self, read};

#[test]
fn records_of_a_living_session_are_stored_and_released() {
    let scratch = Scratch::new("spine");
    let mut fake = Fake::new(&scratch.root(), 10);
    let info = fake.register(&site("value {}", Level::Info, "net"));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 77);
    for value in 0..20 {
        ring.put(info, value);
    }
    let mut collector = Collector::new(scratch.config()).unwrap();
    let pass = collector.pass();
    assert_eq!((pass.sessions, pass.bytes, pass.is_failing), (1, ring.head, false));
    assert_eq!(ring.get(ring_at::CONSUMED), ring.head, "released");
    assert_eq!(fake.control32(at::COLLECTOR_PID), std::process::id());
    assert_eq!(fake.control32(at::COLLECTOR_STATE), 1);
    // Read while it is being written.
    let trace = read(&scratch.trace());
    assert_eq!(trace.values(&fake.session_id, ring.stream), (0..20).collect::<Vec<_>>());
    assert!(!trace.anchors[&fake.session_id].is_empty());

    // A site that is registered later, a ring that wraps.
    let warn = fake.register(&site("later {}", Level::Warn, "net::tcp"));
    for value in 20..500 {
        ring.put(if value % 2 == 0 { info } else { warn }, value);
        if value % 30 == 0 {
            collector.pass();
        }
    }
    collector.pass();
    let stats = collector.leave();
    assert_eq!(stats.records, 500);
    let trace = read(&scratch.trace());
    assert_eq!(trace.values(&fake.session_id, ring.stream), (0..500).collect::<Vec<_>>());
    assert!(trace.notes.is_empty(), "{:?}", trace.notes);
    assert!(fake.is_there(), "a living session stays");
    assert_eq!(fake.control32(at::COLLECTOR_PID), 0);
    let session = &trace.sessions[&fake.session_id];
    assert_eq!((session.pid, session.clock_source), (10, 3));
    assert!(String::from_utf8_lossy(&session.process).contains("cmdline=fake --test"));
}

#[test]
fn several_sessions_and_rings_share_a_file() {
    let scratch = Scratch::new("several");
    let mut fakes: Vec<Fake> = (0..5).map(|pid| Fake::new(&scratch.root(), 100 + pid)).collect();
    let mut rings = Vec::new();
    for fake in &mut fakes {
        let id = fake.register(&site("{}", Level::Debug, ""));
        let (small, large) = (fake.slab(11), fake.slab(16));
        for tid in 0..8 {
            rings.push((fake.session_id, id, fake.ring(if tid == 7 { large } else { small }, tid)));
        }
    }
    let mut collector = Collector::new(scratch.config()).unwrap();
    for value in 0..400 {
        for (_, id, ring) in &mut rings {
            ring.put(*id, value);
        }
        if value % 20 == 0 {
            collector.pass();
        }
    }
    collector.leave();
    let trace = read(&scratch.trace());
    assert_eq!(trace.records.len(), 40);
    for (session, _, ring) in &rings {
        assert_eq!(trace.values(session, ring.stream), (0..400).collect::<Vec<_>>());
    }
}

#[test]
fn compact_blocks_give_the_same_records() {
    let scratch = Scratch::new("compact");
    let mut fake = Fake::new(&scratch.root(), 10);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(16);
    let mut ring = fake.ring(slab, 1);
    for value in 0..1000 {
        ring.put(id, value * 3);
    }
    let mut config = scratch.config();
    config.output.encoding = Encoding::Compact;
    let mut collector = Collector::new(config).unwrap();
    collector.pass();
    let stats = collector.leave();
    let trace = read(&scratch.trace());
    assert_eq!(trace.values(&fake.session_id, ring.stream), (0..1000).map(|v| v * 3).collect::<Vec<_>>());
    assert_eq!(trace.encodings.into_iter().collect::<Vec<_>>(), [1]);
    assert!(stats.file_bytes < stats.ring_bytes / 2, "{stats:?}");
}

#[test]
fn compressed_blocks_give_the_same_records() {
    for (number, (text, bit)) in [("lz4", 0x10), ("zstd:3", 0x20)].into_iter().enumerate() {
        for encoding in [Encoding::Raw, Encoding::Compact] {
            let scratch = Scratch::new(&format!("compressed-{number}-{encoding:?}"));
            let mut fake = Fake::new(&scratch.root(), 10);
            let id = fake.register(&site("{}", Level::Info, ""));
            let slab = fake.slab(16);
            let mut ring = fake.ring(slab, 1);
            for value in 0..1000 {
                ring.put(id, value * value % 7);
            }
            let mut config = scratch.config();
            config.output.encoding = encoding;
            config.output.compression = text.parse().unwrap();
            let mut collector = Collector::new(config).unwrap();
            collector.pass();
            let stats = collector.leave();
            let trace = read(&scratch.trace());
            let expected: Vec<u64> = (0..1000).map(|value| value * value % 7).collect();
            assert_eq!(trace.values(&fake.session_id, ring.stream), expected);
            let encodings: Vec<u8> = trace.encodings.into_iter().collect();
            assert_eq!(encodings, [bit | u8::from(encoding == Encoding::Compact)]);
            assert!(trace.about[0].contains(&format!("compression={text}\n")), "{:?}", trace.about);
            assert!(stats.file_bytes < stats.ring_bytes / 2, "{stats:?}");
        }
    }
}

#[test]
fn every_part_that_is_closed_has_an_index_of_all_its_blocks() {
    let scratch = Scratch::new("index");
    let mut fake = Fake::new(&scratch.root(), 10);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(16);
    let mut ring = fake.ring(slab, 1);
    let mut config = scratch.config();
    config.output.rotate_bytes = Some(64 << 10);
    let mut collector = Collector::new(config).unwrap();
    for value in 0..10_000 {
        ring.put(id, value);
        if value % 100 == 0 {
            collector.pass();
        }
    }
    collector.pass();
    collector.leave();
    let parts = told::parts(&scratch.trace());
    assert!(parts.len() > 2);
    for part in parts {
        let bytes = std::fs::read(&part).unwrap();
        let end = &bytes[bytes.len() - 16..];
        let at = u64::from_le_bytes(end[8..].try_into().unwrap());
        let header = BlockHeader::decode(&bytes[at as usize..]).unwrap();
        assert_eq!(header.kind, BlockKind::INDEX);
        let payload = &bytes[at as usize + 96..][..header.stored_size as usize];
        let blocks = Index::blocks(payload, 0, at).expect("the index describes the file");
        assert!(blocks.iter().any(|(_, header)| header.kind == BlockKind::RECORDS));
        assert_eq!(at + header.block_size() + 112, bytes.len() as u64);
    }
}

#[test]
fn a_second_collector_leaves_the_session_alone() {
    let scratch = Scratch::new("second");
    let mut fake = Fake::new(&scratch.root(), 10);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.put(id, 1);
    let mut first = Collector::new(scratch.config()).unwrap();
    first.pass();
    let mut other = scratch.config();
    other.output.path = scratch.path().join("other.silver");
    let mut second = Collector::new(other).unwrap();
    assert_eq!(second.pass().sessions, 0);
    // Nor can it have the file.
    assert!(Collector::new(scratch.config()).is_err());
    drop(second);
    first.leave();
    let trace = told::read(&scratch.trace());
    assert_eq!(trace.values(&fake.session_id, 1), [1]);
}

/// A thread continues in a ring that comes earlier in the file than the one that it has left. Readers that
/// follow must not see the later records first.
#[test]
fn what_a_thread_recorded_before_it_went_on_in_another_ring_stands_first() {
    let scratch = Scratch::new("moved-on");
    let mut fake = Fake::new(&scratch.root(), 90);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut first = fake.ring(slab, 5);
    let mut second = fake.ring(slab, 5);
    second.set32(ring_at::PREVIOUS, first.stream);
    first.put(id, 0);
    first.retire();
    second.put(id, 1);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    // Into the ring that is drained.
    second.put(id, 2);
    second.retire();
    let mut third = fake.claim(first.at, first.size, 5);
    third.set32(ring_at::PREVIOUS, second.stream);
    third.put(id, 3);
    collector.pass();
    // Both claimed when the rings had been listed, the first of them where none was.
    let mut fourth = fake.ring(slab, 5);
    fourth.put(id, 4);
    fourth.retire();
    let mut fifth = fake.claim(second.at, second.size, 5);
    fifth.set32(ring_at::PREVIOUS, fourth.stream);
    fifth.put(id, 5);
    put32(&fake.control, at::STREAMS_NEXT as u64, third.stream);
    assert_eq!(collector.pass().bytes, 0, "the later one waits for the earlier");
    put32(&fake.control, at::STREAMS_NEXT as u64, fifth.stream);
    collector.pass();
    // One that names a stream before it which never begins.
    let mut sixth = fake.claim(fourth.at, fourth.size, 5);
    sixth.set32(ring_at::PREVIOUS, u32::MAX);
    sixth.put(id, 6);
    collector.pass();
    collector.pass();
    assert_eq!(collector.leave().records, 7);
    let order = told::record_streams(&scratch.trace());
    let streams = [&first, &second, &second, &third, &fourth, &fifth, &sixth].map(|ring| ring.stream);
    assert_eq!(order, streams);
}

/// The same where the one before lies so far behind that others are read meanwhile, and nobody has looked at it yet.
#[test]
fn a_ring_that_is_met_later_than_the_one_after_it_stands_first_all_the_same() {
    let scratch = Scratch::new("moved-on-far");
    let mut fake = Fake::new(&scratch.root(), 91);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slabs: Vec<_> = (0..20).map(|_| fake.slab(11)).collect();
    let mut rings: Vec<_> = (0..300).map(|tid| fake.ring(slabs[tid / 15], tid as u32)).collect();
    let mut older = rings.pop().unwrap();
    let mut newer = fake.claim(rings[0].at, rings[0].size, 299);
    newer.set32(ring_at::PREVIOUS, older.stream);
    older.put(id, 0);
    older.retire();
    newer.put(id, 1);
    let mut collector = Collector::new(scratch.config()).unwrap();
    collector.pass();
    collector.pass();
    assert_eq!(collector.leave().records, 2);
    assert_eq!(told::record_streams(&scratch.trace()), [older.stream, newer.stream]);
}
