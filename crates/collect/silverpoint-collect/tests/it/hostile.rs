//! Producers that are broken or mean: they cost their own ring or session and one message, never the collector, its memory, or its time.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use silverpoint_collect::{Collector, Message};
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::record;
use silverpoint_wire::layout::ring::{self, at as ring_at};
use silverpoint_wire::level::Level;

use crate::fake::{Fake, FakeRing, put32, put64, site};
use crate::scratch::Scratch;
use crate::told::{read, read_of_hostile};

/// Passes that a hostile session gets, and how long they may take altogether.
const PASSES: usize = 6;
const PATIENCE: Duration = Duration::from_secs(300);
/// What a hostile session may add to the collector's memory.
const BLOAT: u64 = 96 << 20;

/// Memory of this process in bytes, at its highest.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Set for a child that runs one test.
const ALONE: &str = "SP_HOSTILE_ALONE";

/// Whether no other test uses this process's memory. If not, the calling test runs in a child of its own, and has nothing more to do here.
fn alone() -> bool {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    // (With `--test-threads=1` tests run one by one in the main thread.)
    if std::env::var_os(ALONE).is_some() || test == "main" {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    // (What it skips, it says there.)
    command.args([test, "--exact"]).env(ALONE, "1").stderr(Stdio::inherit());
    let child = command.output().unwrap();
    let out = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && out.contains("1 passed"), "{out}");
    false
}

/// A good session beside the one under test: its records are stored in any case.
struct Witness {
    fake: Fake,
    id: u32,
    ring: FakeRing,
    written: u64,
}

impl Witness {
    fn new(scratch: &Scratch) -> Self {
        let mut fake = Fake::new(&scratch.root(), 9000);
        let id = fake.register(&site("{}", Level::Info, ""));
        let slab = fake.slab(14);
        let ring = fake.ring(slab, 1);
        Self { fake, id, ring, written: 0 }
    }

    fn speak(&mut self) {
        self.ring.put(self.id, self.written);
        self.written += 1;
    }
}

/// Runs a collector over the contents of the root. Gives its messages; the trace must be whole, the witness
/// complete, time and memory bounded.
fn survive(scratch: &Scratch, witness: &mut Witness) -> Vec<Message> {
    survive_with(scratch, witness, || {})
}

fn survive_with(scratch: &Scratch, witness: &mut Witness, mut between: impl FnMut()) -> Vec<Message> {
    let (start, peak) = (Instant::now(), peak_bytes());
    let mut collector = Collector::new(scratch.config()).unwrap();
    let mut messages = Vec::new();
    for _ in 0..PASSES {
        witness.speak();
        collector.pass();
        between();
        messages.extend(collector.take_messages());
    }
    collector.let_go();
    messages.extend(collector.take_messages());
    collector.leave();
    assert!(start.elapsed() < PATIENCE, "it took {:?}", start.elapsed());
    let bloat = peak_bytes().saturating_sub(peak);
    assert!(bloat < BLOAT, "{bloat} bytes more");
    let trace = read_of_hostile(&scratch.trace());
    assert!(trace.values(&witness.fake.session_id, 1).into_iter().eq(0..witness.written), "the witness");
    messages
}

/// One hostile session made by `spoil`; there must be exactly one message about it, with these words.
fn refused(name: &str, words: &str, spoil: impl FnOnce(&mut Fake, &Scratch)) {
    let scratch = Scratch::new(&format!("hostile-{name}"));
    let mut witness = Witness::new(&scratch);
    let mut fake = Fake::new(&scratch.root(), 1);
    spoil(&mut fake, &scratch);
    let messages = survive(&scratch, &mut witness);
    assert_eq!(messages.len(), 1, "{name}: {messages:?}");
    assert!(messages[0].text.contains(words), "{name}: {messages:?}");
}

#[test]
fn what_is_no_session_is_refused_with_one_precise_message() {
    if !alone() {
        return;
    }
    let control = |fake: &Fake| fake.path.join("control");
    refused("link", "link", |fake, scratch| {
        let moved = scratch.path().join("moved");
        fs::rename(control(fake), &moved).unwrap();
        symlink(&moved, control(fake)).unwrap();
    });
    refused("linked-directory", "link", |fake, scratch| {
        let moved = scratch.path().join("moved");
        fs::rename(&fake.path, &moved).unwrap();
        symlink(&moved, &fake.path).unwrap();
    });
    refused("names", "2 names", |fake, scratch| {
        fs::hard_link(fake.path.join("rings"), scratch.path().join("second")).unwrap();
    });
    refused("fifo", "no regular file", |fake, _| {
        fs::remove_file(fake.path.join("owner")).unwrap();
        assert!(Command::new("mkfifo").arg(fake.path.join("owner")).status().unwrap().success());
        fs::set_permissions(fake.path.join("owner"), fs::Permissions::from_mode(0o600)).unwrap();
    });
    refused("directory", "no regular file", |fake, _| {
        fs::remove_file(fake.path.join("rings")).unwrap();
        fs::create_dir(fake.path.join("rings")).unwrap();
    });
    refused("open-door", "mode 755", |fake, _| {
        fs::set_permissions(&fake.path, fs::Permissions::from_mode(0o755)).unwrap();
    });
    refused("open-file", "mode 644", |fake, _| {
        fs::set_permissions(control(fake), fs::Permissions::from_mode(0o644)).unwrap();
    });
    refused("short", "shorter than 4096", |fake, _| fake.control.set_len(1000).unwrap());
    refused("cut", "control_size", |fake, _| fake.control.set_len(8192).unwrap());
    refused("magic", "magic", |fake, _| fake.control.write_all_at(b"WRONG", 0).unwrap());
    refused("version", "version is 2", |fake, _| fake.control.write_all_at(&[2, 0], 8).unwrap());
    refused("rings", "rings_size", |fake, _| fake.rings.set_len(4096).unwrap());
}

#[test]
fn strangers_are_refused() {
    if !alone() {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        silverpoint_tests::skipped!("only root can make a stranger's file");
        return;
    }
    let stranger = |path: &std::path::Path| std::os::unix::fs::chown(path, Some(12_345), None).unwrap();
    refused("stranger", "user 12345", |fake, _| stranger(&fake.path));
    for file in ["control", "rings", "owner", "collector"] {
        refused("stranger-file", "user 12345", |fake, _| stranger(&fake.path.join(file)));
    }
}

#[test]
fn huge_counts_in_the_header_are_refused_or_bounded() {
    if !alone() {
        return;
    }
    for (field, size) in [
        (at::CONTROL_SIZE, 8),
        (at::RINGS_SIZE, 8),
        (at::SLAB_BYTES, 4),
        (at::SLAB_COUNT, 4),
        (at::SLABS_AT, 8),
        (at::DIRECTIVES_AT, 8),
        (at::DIRECTIVES_CAP, 4),
        (at::SITES_CAP, 4),
        (at::SITES_AT, 8),
        (at::STATES_AT, 8),
        (at::ANCHORS_CAP, 4),
        (at::ANCHORS_AT, 8),
        (at::DESCS_AT, 8),
        (at::DESCS_SIZE, 8),
        (at::PROCESS_AT, 8),
        (at::PROCESS_SIZE, 4),
        (at::RING_HEADER_SIZE, 4),
        (at::RING_FIELDS + 10, 2),
    ] {
        for value in [0xFF, 0x7F] {
            let scratch = Scratch::new("hostile-header");
            let mut witness = Witness::new(&scratch);
            let fake = Fake::new(&scratch.root(), 1);
            let mut bytes = vec![0xFF; size];
            bytes[size - 1] = value;
            fake.control.write_all_at(&bytes, field as u64).unwrap();
            let messages = survive(&scratch, &mut witness);
            // The texts are read up to a bound, for any size.
            let is_bounded = [at::PROCESS_SIZE, at::DIRECTIVES_CAP].contains(&field);
            assert!(messages.len() == 1 || is_bounded, "field at {field}: {messages:?}");
        }
    }
}

#[test]
fn sparse_files_of_terabytes_cost_nothing() {
    if !alone() {
        return;
    }
    let scratch = Scratch::new("hostile-sparse");
    let mut witness = Witness::new(&scratch);
    let fake = Fake::new(&scratch.root(), 1);
    // As much as a header may say, all of it claimed, all of it holes.
    fake.rings.set_len(64 << 30).unwrap();
    put64(&fake.control, at::RINGS_SIZE as u64, 64 << 30);
    fake.control.set_len(1 << 30).unwrap();
    put64(&fake.control, at::CONTROL_SIZE as u64, 1 << 30);
    put32(&fake.control, at::SLAB_COUNT as u64, 1 << 20);
    put64(&fake.control, at::SLABS_AT as u64, 512 << 20);
    put32(&fake.control, at::SLABS_NEXT as u64, u32::MAX);
    put32(&fake.control, at::SITES_CAP as u64, 8 << 20);
    put64(&fake.control, at::SITES_AT as u64, 16 << 20);
    put64(&fake.control, at::STATES_AT as u64, 600 << 20);
    put32(&fake.control, at::SITES_NEXT as u64, u32::MAX);
    for slab in 0..4096u64 {
        fake.control.write_all_at(&[11, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], (512 << 20) + 16 * slab).unwrap();
    }
    let messages = survive(&scratch, &mut witness);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].text.contains("more than 131072 rings"), "{messages:?}");
}

/// A ring with 40 records that `spoil` breaks at a known record. What comes before it is stored, the collector goes on, and says so once.
fn broken_ring(name: &str, kept: u64, words: &str, spoil: impl FnOnce(&mut FakeRing)) {
    let scratch = Scratch::new(&format!("broken-{name}"));
    let mut witness = Witness::new(&scratch);
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let (mut ring, mut good) = (fake.ring(slab, 1), fake.ring(slab, 2));
    (0..40).for_each(|value| ring.put(id, value));
    (0..40).for_each(|value| good.put(id, value));
    spoil(&mut ring);
    let messages = survive(&scratch, &mut witness);
    assert_eq!(messages.len(), 1, "{name}: {messages:?}");
    assert!(
        messages[0].text.contains(words) && messages[0].text.contains("any more: "),
        "{name}: {messages:?}"
    );
    let trace = read(&scratch.trace());
    assert!(trace.values(&fake.session_id, 1).into_iter().eq(0..kept), "{name}: what came before");
    assert!(trace.values(&fake.session_id, 2).into_iter().eq(0..40), "{name}: the ring beside it");
    assert_eq!(trace.notes.len(), 1, "{name}: {:?}", trace.notes);
}

#[test]
fn a_broken_ring_costs_itself_and_one_message() {
    if !alone() {
        return;
    }
    let tenth = 10 * 24;
    let word = |size: u32| size.to_le_bytes();
    broken_ring("size-0", 10, "impossible size 0", |ring| ring.poke(tenth, &word(0)));
    broken_ring("size-8", 10, "impossible size 8", |ring| ring.poke(tenth, &word(8)));
    broken_ring("size-odd", 10, "impossible size 25", |ring| ring.poke(tenth, &word(25)));
    broken_ring("size-beyond", 39, "ends beyond", |ring| ring.poke(39 * 24, &word(440)));
    broken_ring("size-over-a-quarter", 10, "impossible size", |ring| ring.poke(tenth, &word(456)));
    broken_ring("size-huge", 10, "impossible size", |ring| ring.poke(tenth, &word(record::SIZE_MASK & !7)));
    broken_ring("site", 10, "site", |ring| ring.poke(tenth + 4, &word(500)));
    broken_ring("site-huge", 10, "site", |ring| ring.poke(tenth + 4, &word(u32::MAX)));
    broken_ring("unaligned", 0, "not a multiple of 8", |ring| ring.set(ring_at::COMMITTED, ring.head - 3));
    broken_ring("far", 0, "make no sense", |ring| ring.set(ring_at::COMMITTED, ring.head + (1 << 40)));
    broken_ring("back", 0, "make no sense", |ring| ring.set(ring_at::BASE, ring.head + 8));
    broken_ring("oldest", 0, "make no sense", |ring| ring.set(ring_at::OLDEST, u64::MAX - 7));
    broken_ring("capacity", 0, "do not fit", |ring| ring.set32(ring_at::CAPACITY, 1 << 30));
    broken_ring("capacity-0", 0, "do not fit", |ring| ring.set32(ring_at::CAPACITY, 0));
    broken_ring("data", 0, "do not fit", |ring| ring.set32(ring_at::DATA_AT, u32::MAX));
    broken_ring("data-low", 0, "do not fit", |ring| ring.set32(ring_at::DATA_AT, 8));
}

#[test]
fn a_stream_is_in_one_ring_and_stored_once() {
    if !alone() {
        return;
    }
    let scratch = Scratch::new("same-stream");
    let mut witness = Witness::new(&scratch);
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let (mut good, mut copy) = (fake.ring(slab, 1), fake.ring(slab, 2));
    (0..20).for_each(|value| good.put(id, value));
    (0..30).for_each(|value| copy.put(id, value));
    copy.set32(ring_at::STREAM, good.stream);
    let good_at = good.at;
    let mut pass = 0;
    let messages = survive_with(&scratch, &mut witness, || {
        pass += 1;
        if pass == 4 {
            // Somebody takes back what was released, and begins an old stream again.
            put64(&fake.rings, good_at + ring_at::CONSUMED as u64, 0);
        }
    });
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].text.contains("in another ring too"), "{messages:?}");
    assert!(read(&scratch.trace()).values(&fake.session_id, 1).into_iter().eq(0..20));
}

#[test]
fn a_producer_with_a_broken_ring_need_not_wait_for_ever() {
    let scratch = Scratch::new("broken-waits");
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    (0..40).for_each(|value| ring.put(id, value));
    ring.poke(0, &[0; 4]);
    let mut collector = Collector::new(scratch.config()).unwrap();
    for value in 0..500 {
        ring.put(id, value);
        collector.pass();
    }
    let stats = collector.leave();
    assert_eq!(stats.broken_rings, 1);
    let trace = read(&scratch.trace());
    let mut missing: Vec<_> = trace.gaps.iter().map(|(_, _, begin, end)| (*begin, *end)).collect();
    missing.dedup_by(|next, before| {
        if before.1 == next.0 {
            before.1 = next.1;
            true
        } else {
            false
        }
    });
    assert_eq!(missing, [(0, ring.head)], "the file says what is missing");
}

#[test]
fn files_that_are_cut_under_the_reader_cost_the_session() {
    if !alone() {
        return;
    }
    for (file, to) in [("rings", 4096), ("rings", 0), ("control", 0), ("control", 4096), ("control", 30_000)]
    {
        let scratch = Scratch::new("cut");
        let mut witness = Witness::new(&scratch);
        let mut fake = Fake::new(&scratch.root(), 1);
        let id = fake.register(&site("{}", Level::Info, ""));
        let slab = fake.slab(14);
        let mut rings = [fake.ring(slab, 1), fake.ring(slab, 2)];
        let path = fake.path.join(file);
        let mut pass = 0;
        let messages = survive_with(&scratch, &mut witness, || {
            pass += 1;
            if pass == 2 {
                fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(to).unwrap();
                put32(&fake.control, at::SITES_NEXT as u64, 200);
                put32(&fake.control, at::STREAMS_NEXT as u64, 5);
                for ring in &mut rings {
                    ring.head = 0;
                    let _ = File::options().write(true).open(&path);
                }
            }
            if pass > 2 && file == "control" {
                // A record of a site that lies where the table is no more.
                rings[0].put_bytes(id + 150, 1, &[0; 8], Duration::ZERO);
            }
        });
        assert!(messages.len() <= 2, "{file} cut to {to}: {messages:?}");
        assert!(!messages.is_empty(), "{file} cut to {to}");
    }
}

#[test]
fn hostile_site_tables_are_bounded() {
    if !alone() {
        return;
    }
    let scratch = Scratch::new("sites");
    let mut witness = Witness::new(&scratch);
    let mut fake = Fake::new(&scratch.root(), 1);
    let long = "x".repeat(60_000);
    let id = fake.register(&site(&long, Level::Info, ""));
    // All entries name the same long description: together far more than the region.
    let entry = {
        let mut entry = [0; 32];
        fake.control.read_exact_at(&mut entry, 24_576).unwrap();
        entry
    };
    for number in 1..1024 {
        fake.control.write_all_at(&entry, 24_576 + 32 * number).unwrap();
    }
    // And some that name nonsense.
    for (number, at_units) in [(3, u32::MAX), (4, 65_535), (5, 1)] {
        put32(&fake.control, 24_576 + 32 * number + 8, at_units);
    }
    put32(&fake.control, at::SITES_NEXT as u64, u32::MAX);
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    for value in 0..100 {
        ring.put(id + value as u32 * 10, value);
    }
    let messages = survive(&scratch, &mut witness);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].text.contains("invalid descriptions"), "{messages:?}");
    assert!(fs::metadata(scratch.trace()).unwrap().len() < 20 << 20);
}

#[test]
fn ten_thousand_names_that_are_no_sessions_do_not_hold_up_the_others() {
    let scratch = Scratch::new("names");
    let mut witness = Witness::new(&scratch);
    for pid in 0..10_000 {
        fs::create_dir(scratch.root().join(format!("{pid}-1-0"))).unwrap();
    }
    let mut collector = Collector::new(scratch.config()).unwrap();
    let start = Instant::now();
    for _ in 0..PASSES {
        witness.speak();
        collector.pass();
    }
    assert!(collector.take_messages().len() <= 1001);
    assert!(start.elapsed() < PATIENCE);
    collector.leave();
    assert!(read(&scratch.trace()).values(&witness.fake.session_id, 1).into_iter().eq(0..PASSES as u64));
}

/// What a random hostile session is made of.
#[derive(Clone, Debug)]
struct Chaos {
    control: Vec<(usize, Vec<u8>)>,
    rings: Vec<(usize, Vec<u8>)>,
    data: Vec<u8>,
    later: Vec<(usize, u64)>,
    cut: Option<(bool, u64)>,
}

fn chaos() -> impl Strategy<Value = Chaos> {
    let bytes =
        || prop_oneof![prop::collection::vec(any::<u8>(), 1..9), Just(vec![0xFF; 8]), Just(vec![0; 8])];
    // The words that change, the tables, the ring headers of the first slices.
    let control =
        prop_oneof![512usize..800, 4096..4224usize, 24_576..25_600usize, 57_344..58_400usize, 0..4096usize];
    let ring = prop_oneof![0usize..256, 2048..2304usize, 0..8192usize];
    (
        prop::collection::vec((control, bytes()), 0..8),
        prop::collection::vec((ring, bytes()), 0..12),
        prop::collection::vec(any::<u8>(), 0..2048),
        prop::collection::vec((0usize..256, any::<u64>()), 0..6),
        prop::option::of((any::<bool>(), 0u64..600_000)),
    )
        .prop_map(|(control, rings, data, later, cut)| Chaos { control, rings, data, later, cut })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    fn random_sessions(chaos in chaos()) {
        let scratch = Scratch::new("chaos");
        let mut witness = Witness::new(&scratch);
        let mut fake = Fake::new(&scratch.root(), 1);
        let id = fake.register(&site("{}", Level::Info, ""));
        let slab = fake.slab(11);
        let mut all: Vec<FakeRing> = (0..4).map(|tid| fake.ring(slab, tid)).collect();
        for ring in &mut all {
            (0..30).for_each(|value| ring.put(id, value));
        }
        all[3].poke(0, &chaos.data[..chaos.data.len().min(1700)]);
        for (at, bytes) in &chaos.control {
            fake.control.write_all_at(bytes, *at as u64).unwrap();
        }
        for (at, bytes) in &chaos.rings {
            fake.rings.write_all_at(bytes, *at as u64).unwrap();
        }
        let mut later = chaos.later.iter();
        let mut cut = chaos.cut;
        survive_with(&scratch, &mut witness, || {
            if let Some((at, value)) = later.next() {
                put64(&fake.rings, *at as u64 & !7, *value & !7);
            } else if let Some((control, len)) = cut.take() {
                if control { fake.control.set_len(len).unwrap() } else { fake.rings.set_len(len).unwrap() }
            }
        });
    }
}

#[test]
fn random_sessions_never_hurt_the_collector() {
    if alone() {
        random_sessions();
    }
}

/// Changes a session's files without end: words, rings, tables and sizes, in no order. Counts what it has done.
fn rage(fake: &Fake, mut seed: u64, changes: &AtomicU64, is_over: &AtomicBool) {
    let mut below = |limit: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % limit
    };
    let [control, rings] = [&fake.control, &fake.rings].map(|file| file.metadata().unwrap().len());
    while !is_over.load(Ordering::Relaxed) {
        let (file, size) = if below(2) == 0 { (&fake.control, control) } else { (&fake.rings, rings) };
        match below(16) {
            0 => file.set_len(below(size)).unwrap(),
            1..5 => file.set_len(size).unwrap(),
            // The words that change, the tables, the headers of the first rings.
            choice => {
                let at = [512 + below(300), below(8192), 24_576 + below(1024), below(size - 8)];
                let value = [0, u64::MAX, below(1 << 31) & !7, below(64)];
                let bytes = value[below(4) as usize].to_le_bytes();
                file.write_all_at(&bytes[..choice as usize % 8 + 1], at[below(4) as usize]).unwrap();
            }
        }
        changes.fetch_add(1, Ordering::Relaxed);
    }
}

/// What others are tested with comes between the passes; this comes in the middle of them, between any two looks of the collector.
#[test]
fn files_that_change_and_are_cut_during_a_pass_never_hurt_the_collector() {
    if !alone() {
        return;
    }
    let mut during = 0;
    for round in 0..40 {
        let scratch = Scratch::new("rage");
        let mut witness = Witness::new(&scratch);
        let mut fake = Fake::new(&scratch.root(), 1);
        let id = fake.register(&site("{}", Level::Info, ""));
        let slab = fake.slab(11);
        let mut all: Vec<FakeRing> = (0..4).map(|tid| fake.ring(slab, tid)).collect();
        for ring in &mut all {
            (0..30).for_each(|value| ring.put(id, value));
        }
        let (changes, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| rage(&fake, round, &changes, &is_over));
            let messages = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut before = changes.load(Ordering::Relaxed);
                survive_with(&scratch, &mut witness, || {
                    let now = changes.load(Ordering::Relaxed);
                    during += now - before;
                    before = now;
                })
            }));
            is_over.store(true, Ordering::Relaxed);
            let messages = messages.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            assert!(messages.len() <= 2 * PASSES, "round {round}: {messages:?}");
        });
    }
    assert!(during > 1000, "it changed {during} things in the meantime");
}

#[test]
fn slabs_with_impossible_slices_are_passed_over() {
    if !alone() {
        return;
    }
    let scratch = Scratch::new("slabs");
    let mut witness = Witness::new(&scratch);
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    for shift in [1, 12, 31, 32, 200] {
        let slab = fake.slab(shift);
        put32(&fake.control, 4096 + 16 * u64::from(slab) + 4, u32::MAX);
    }
    let slab = fake.slab(11);
    let mut ring = fake.ring(slab, 1);
    ring.put(id, 4);
    let messages = survive(&scratch, &mut witness);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].text.contains("slab 0"), "{messages:?}");
    assert_eq!(read(&scratch.trace()).values(&fake.session_id, 1), [4]);
    assert_eq!(ring.get(ring_at::STATE) as u32, ring::LIVE);
}
