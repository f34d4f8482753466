//! Files: rotation, quota, durability, and a disk that is full or says no.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use silverpoint_collect::{AttachMode, Backtrace, Collector, Config, Existing, Fsync, OutputConfig};
use silverpoint_wire::block::{BlockKind, site_bit};
use silverpoint_wire::layout::collector_state;
use silverpoint_wire::layout::control::at;
use silverpoint_wire::layout::record::CONTEXT;
use silverpoint_wire::layout::ring::at as ring_at;
use silverpoint_wire::level::Level;
use silverpoint_wire::scan::{Found, Scanner};

use crate::fake::{Fake, FakeRing, site};
use crate::refusal::refuse;
use crate::scratch::{Scratch, wait_until};
use crate::told::{parts, read, read_alone};

fn one_ring(scratch: &Scratch, pid: u32, shift: u32) -> (Fake, u32, FakeRing) {
    let mut fake = Fake::new(&scratch.root(), pid);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(shift);
    let ring = fake.ring(slab, 1);
    (fake, id, ring)
}

fn fill(collector: &mut Collector, ring: &mut FakeRing, id: u32, values: std::ops::Range<u64>) {
    for value in values {
        ring.put(id, value);
        if value % 300 == 0 {
            collector.pass();
        }
    }
    collector.pass();
}

#[test]
fn parts_by_size_stand_alone_and_name_each_other() {
    let scratch = Scratch::new("rotate");
    let (fake, id, mut ring) = one_ring(&scratch, 1, 14);
    // A session that says nothing after the first part.
    let (quiet, quiet_id, mut quiet_ring) = one_ring(&scratch, 2, 14);
    quiet_ring.put(quiet_id, 5);
    let mut config = scratch.config();
    config.output.rotate_bytes = Some(64 << 10);
    let mut collector = Collector::new(config).unwrap();
    fill(&mut collector, &mut ring, id, 0..10_000);
    let stats = collector.leave();
    let parts = parts(&scratch.trace());
    assert_eq!(parts.len() as u64, stats.rotations + 1);
    assert!(parts.len() >= 3, "{parts:?}");
    let trace = read(&scratch.trace());
    assert!(trace.values(&fake.session_id, 1).into_iter().eq(0..10_000));
    assert_eq!(trace.values(&quiet.session_id, 1), [5]);
    for (index, part) in parts.iter().enumerate() {
        let alone = read_alone(part);
        assert!(alone.about[0].contains(&format!("part={}\n", index + 1)), "{}", alone.about[0]);
        assert!(index == 0 || alone.about[0].contains(&format!("previous=trace.{index}.silver\n")));
        assert_eq!(alone.sessions.len(), 2, "{}: both sessions are declared", part.display());
        let (kinds, last) = (&alone.kinds[0], *alone.kinds[0].last().unwrap());
        assert_eq!((kinds[0], last), (1, 9), "{kinds:?}");
        if index > 0 {
            // File, session, sites, streams, anchors, positions: before any record.
            assert_eq!(kinds[..6], [1, 2, 3, 4, 6, 10], "{}", part.display());
        }
        let mode = fs::metadata(part).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// The last records of a session could make its descriptions due. No records followed, and the end of the session did not repeat them.
#[test]
fn descriptions_come_again_at_the_end_when_the_last_records_made_them_due() {
    // A pass has 7,296 bytes: with the 36th there are 256 KiB.
    for passes in 33..40 {
        let scratch = Scratch::new("repeated");
        let (mut fake, id, mut ring) = one_ring(&scratch, 1, 14);
        let mut collector = Collector::new(scratch.config()).unwrap();
        fill(&mut collector, &mut ring, id, 1..passes * 300 + 1);
        fake.die();
        wait_until("the session is gone", || {
            collector.pass();
            !fake.is_there()
        });
        collector.leave();
        let kinds = read_alone(&scratch.trace()).kinds.concat();
        let last = |kind: u8| kinds.iter().rposition(|other| *other == kind);
        let (sites, records) = (last(BlockKind::SITES.0), last(BlockKind::RECORDS.0));
        assert!(records.is_some() && sites > records, "{passes} passes: {kinds:?}");
    }
}

#[test]
fn parts_begin_with_the_fields_that_are_open() {
    let scratch = Scratch::new("rotate-context");
    let (_fake, id, mut ring) = one_ring(&scratch, 1, 14);
    let mut config = scratch.config();
    config.output.rotate_bytes = Some(64 << 10);
    let mut collector = Collector::new(config).unwrap();
    let context = |ring: &mut FakeRing, item: &[u8]| {
        let args = [&(item.len() as u32).to_le_bytes()[..], item].concat();
        let position = ring.get(ring_at::COMMITTED);
        assert!(ring.put_bytes(CONTEXT, 7, &args, Duration::from_secs(1)));
        position
    };
    context(&mut ring, b"\xBF\x61a\x01\xFF");
    let position = context(&mut ring, b"\xBF\x61a\x02\xFF");
    fill(&mut collector, &mut ring, id, 0..6_000);
    let open = parts(&scratch.trace()).len();
    context(&mut ring, b"\xBF\xFF");
    fill(&mut collector, &mut ring, id, 6_000..12_000);
    let stats = collector.leave();
    let parts = parts(&scratch.trace());
    assert!(open >= 2 && parts.len() >= open + 2, "{open} of {}", parts.len());
    assert_eq!(stats.records, 12_003, "what is repeated is not counted");
    for (index, part) in parts.iter().enumerate() {
        let bytes = fs::read(part).unwrap();
        let mut scanner = Scanner::new(bytes.as_slice(), 0, true);
        let mut repeated = Vec::new();
        while let Ok(Some(Found::Block { header, .. })) = scanner.next() {
            if header.kind == BlockKind::RECORDS && header.sites == site_bit(CONTEXT) {
                repeated.push((header, scanner.payload().to_vec()));
            }
        }
        if index == 0 || index >= open {
            assert_eq!(repeated, [], "{}", part.display());
            continue;
        }
        let [(header, payload)] = &repeated[..] else { panic!("{repeated:?}") };
        assert_eq!((header.ring_begin, header.ring_end, header.records), (position, position + 32, 1));
        assert_eq!(&payload[16..25], b"\x05\0\0\0\xBF\x61a\x02\xFF");
    }
}

#[test]
fn a_whole_file_has_the_name_at_every_moment() {
    let scratch = Scratch::new("rotate-name");
    let (_fake, id, mut ring) = one_ring(&scratch, 1, 14);
    let mut config = scratch.config();
    config.output.rotate_bytes = Some(64 << 10);
    let mut collector = Collector::new(config).unwrap();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let looks = std::thread::scope(|scope| {
        let looker = scope.spawn(|| {
            let mut looks = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let mut start = [0; 128];
                let file = fs::File::open(scratch.trace()).expect("there is a file of that name");
                file.read_exact_at(&mut start, 0).expect("with the beginning of a part");
                assert!(start.starts_with(&silverpoint_wire::layout::block::SYNC));
                looks += 1;
            }
            looks
        });
        fill(&mut collector, &mut ring, id, 0..660_000);
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        looker.join().unwrap()
    });
    assert!(looks > 100);
    assert!(collector.leave().rotations > 200);
    let left: Vec<_> = fs::read_dir(scratch.trace().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("next")), "{left:?}");
}

#[test]
fn the_oldest_parts_go_when_the_quota_is_used_up() {
    let scratch = Scratch::new("quota");
    let (fake, id, mut ring) = one_ring(&scratch, 1, 14);
    fs::write(scratch.path().join("trace.1.silver"), "not a trace: not ours to delete").unwrap();
    let mut config = scratch.config();
    config.output.rotate_bytes = Some(64 << 10);
    config.output.quota_bytes = Some(200 << 10);
    let mut collector = Collector::new(config).unwrap();
    fill(&mut collector, &mut ring, id, 0..30_000);
    let stats = collector.leave();
    assert!(stats.parts_deleted >= 5, "{stats:?}");
    let total: u64 = parts(&scratch.trace()).iter().map(|part| fs::metadata(part).unwrap().len()).sum();
    assert!(total <= (200 + 80) << 10, "{total} bytes");
    assert!(scratch.path().join("trace.1.silver").exists());
    fs::remove_file(scratch.path().join("trace.1.silver")).unwrap();
    // What is left is the end, without a hole.
    let values = read(&scratch.trace()).values(&fake.session_id, 1);
    assert!(values.iter().copied().eq(values[0]..30_000));
}

/// A reader may remove a part that it has read. The next one must not get its name, or a logger's spool would
/// grow without end.
#[test]
fn parts_keep_their_numbers_when_those_before_are_removed() {
    let scratch = Scratch::new("removed-parts");
    let (_fake, id, mut ring) = one_ring(&scratch, 1, 14);
    let mut highest = 0;
    for round in 0..3 {
        let mut config = scratch.config();
        config.output.existing = Existing::Continue;
        config.output.rotate_bytes = Some(64 << 10);
        let mut collector = Collector::new(config).unwrap();
        fill(&mut collector, &mut ring, id, round * 10_000..(round + 1) * 10_000);
        collector.leave();
        let all = parts(&scratch.trace());
        let (newest, rotated) = all.split_last().unwrap();
        assert!(rotated.len() >= 2, "{all:?}");
        for part in rotated {
            highest += 1;
            assert_eq!(part.file_name().unwrap().to_str().unwrap(), format!("trace.{highest}.silver"));
            let alone = read_alone(part);
            assert!(alone.about[0].contains(&format!("part={highest}\n")), "{}", alone.about[0]);
            fs::remove_file(part).unwrap();
        }
        let about = &read_alone(newest).about[0];
        assert!(about.contains(&format!("part={}\n", highest + 1)), "{about}");
    }
}

#[test]
fn a_quota_alone_makes_parts_too() {
    let scratch = Scratch::new("quota-alone");
    let (_fake, id, mut ring) = one_ring(&scratch, 1, 14);
    let mut config = scratch.config();
    config.output.quota_bytes = Some(400 << 10);
    let mut collector = Collector::new(config).unwrap();
    fill(&mut collector, &mut ring, id, 0..40_000);
    assert!(collector.leave().parts_deleted >= 4);
    let total: u64 = parts(&scratch.trace()).iter().map(|part| fs::metadata(part).unwrap().len()).sum();
    assert!(total <= 520 << 10, "{total} bytes");
}

#[test]
fn parts_by_age() {
    let scratch = Scratch::new("age");
    let (_fake, id, mut ring) = one_ring(&scratch, 1, 14);
    let mut config = scratch.config();
    config.output.rotate_after = Some(Duration::from_millis(30));
    let mut collector = Collector::new(config).unwrap();
    for value in 0..3 {
        ring.put(id, value);
        collector.pass();
        std::thread::sleep(Duration::from_millis(40));
        collector.pass();
        // Nothing came: nothing is rotated away.
        std::thread::sleep(Duration::from_millis(40));
        collector.pass();
    }
    assert_eq!(collector.leave().rotations, 3);
}

#[test]
fn every_durability_policy_stores_the_same() {
    for fsync in [Fsync::Never, Fsync::OnClose, Fsync::Every(Duration::from_millis(1)), Fsync::EachBatch] {
        let scratch = Scratch::new("fsync");
        let (fake, id, mut ring) = one_ring(&scratch, 1, 14);
        let mut config = scratch.config();
        config.output.fsync = fsync;
        config.output.rotate_bytes = Some(64 << 10);
        let mut collector = Collector::new(config).unwrap();
        fill(&mut collector, &mut ring, id, 0..3000);
        collector.leave();
        assert!(read(&scratch.trace()).values(&fake.session_id, 1).into_iter().eq(0..3000), "{fsync:?}");
    }
}

/// A file cannot be made durable. A caller that asked for it gets the error, and with a policy that makes
/// producers wait nothing is released. Others are not affected.
#[test]
fn a_disk_that_cannot_be_synced_is_noticed_by_those_who_sync() {
    for fsync in [Fsync::Never, Fsync::OnClose, Fsync::Every(Duration::ZERO), Fsync::EachBatch] {
        let scratch = Scratch::new("fsync-refused");
        let (fake, id, mut ring) = one_ring(&scratch, 1, 14);
        let mut config = scratch.config();
        config.output.fsync = fsync;
        let seen = std::thread::scope(|scope| {
            let refused = scope.spawn(|| {
                let mut collector = Collector::new(config).unwrap();
                ring.put(id, 0);
                collector.pass();
                assert!(collector.take_messages().is_empty(), "{fsync:?}");
                let released = ring.get(ring_at::CONSUMED);
                assert_eq!(released, ring.head, "{fsync:?}");
                if !refuse(libc::SYS_fdatasync, None) {
                    return None;
                }
                (1..100).for_each(|value| ring.put(id, value));
                collector.pass();
                let (released, messages) =
                    (ring.get(ring_at::CONSUMED) - released, collector.take_messages());
                collector.let_go();
                let closed = collector.close().map_err(|error| error.to_string());
                match &closed {
                    Ok(()) => assert_eq!(fsync, Fsync::Never),
                    Err(error) => assert!(
                        fsync != Fsync::Never
                            && error.contains("loss of power")
                            && error.contains("Input/output error"),
                        "{fsync:?}: {error}"
                    ),
                }
                Some((released, messages))
            });
            refused.join().unwrap()
        });
        let Some((released, messages)) = seen else {
            eprintln!("SKIPPED: this system has no filters of system calls");
            return;
        };
        let stored = read(&scratch.trace()).values(&fake.session_id, 1);
        let is_told = matches!(fsync, Fsync::Every(_) | Fsync::EachBatch);
        assert_eq!(messages.len(), usize::from(is_told), "{fsync:?}: {messages:?}");
        assert!(messages.iter().all(|told| told.text.contains("Input/output error")), "{messages:?}");
        if fsync == Fsync::EachBatch {
            assert_eq!((released, stored), (0, vec![0]), "nothing that may not be durable is released");
        } else {
            assert!(released > 0 && stored.into_iter().eq(0..100), "{fsync:?}: {released} bytes");
        }
    }
}

/// A small file system, or why there is none.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn new(scratch: &Scratch, bytes: u32) -> Option<Self> {
        let path = scratch.path().join("disk");
        fs::create_dir(&path).unwrap();
        let status = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes},mode=0700"), "tmpfs"])
            .arg(&path)
            .status();
        if status.is_ok_and(|status| status.success()) {
            return Some(Self(path));
        }
        silverpoint_tests::skipped!("a full disk needs the right to mount a small tmpfs");
        None
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Passes until the collector can write again.
fn resume(collector: &mut Collector) {
    let start = std::time::Instant::now();
    while collector.pass().is_failing {
        assert!(start.elapsed() < Duration::from_secs(300), "it does not resume");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_full_disk_releases_nothing_and_collection_resumes_by_itself() {
    let scratch = Scratch::new("full");
    let Some(disk) = SmallDisk::new(&scratch, 256 << 10) else { return };
    let (fake, id, mut ring) = one_ring(&scratch, 1, 16);
    let ballast = disk.path().join("ballast");
    let mut config = scratch.config();
    config.output = OutputConfig::new(disk.path().join("trace.silver"));
    let mut collector = Collector::new(config).unwrap();
    fill(&mut collector, &mut ring, id, 0..100);
    fs::write(&ballast, vec![1; 200 << 10]).unwrap();
    // 40 KiB of records, while there are less than 50 left for all: until it is full.
    let mut value = 100;
    let mut pass = collector.pass();
    while !pass.is_failing {
        for _ in 0..500 {
            ring.put(id, value);
            value += 1;
        }
        pass = collector.pass();
        assert!(value < 20_000, "the disk does not fill");
    }
    let released = ring.get(ring_at::CONSUMED);
    assert!(released < ring.head);
    assert_eq!(fake.control32(at::COLLECTOR_STATE), collector_state::SINK_FULL);
    let messages = collector.take_messages();
    assert_eq!(messages.len(), 1, "one clear message: {messages:?}");
    assert!(messages[0].text.contains("No space left"), "{messages:?}");
    // It stays so, and the heartbeat goes on; what is in the file is whole.
    let beat = fake.control32(at::HEARTBEAT);
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(60));
        assert!(collector.pass().is_failing);
    }
    assert!(fake.control32(at::HEARTBEAT) >= beat + 5);
    assert_eq!(ring.get(ring_at::CONSUMED), released, "nothing is released that is not stored");
    let trace = read(&disk.path().join("trace.silver"));
    let stored = trace.values(&fake.session_id, 1);
    assert!(stored.iter().copied().eq(0..stored.len() as u64));
    // Room.
    fs::remove_file(&ballast).unwrap();
    resume(&mut collector);
    assert_eq!(fake.control32(at::COLLECTOR_STATE), collector_state::COLLECTING);
    assert_eq!(ring.get(ring_at::CONSUMED), ring.head);
    fill(&mut collector, &mut ring, id, value..value + 100);
    let stats = collector.leave();
    assert!(stats.sink_full_ms >= 250 && stats.write_errors >= 2, "{stats:?}");
    let trace = read(&disk.path().join("trace.silver"));
    assert!(trace.values(&fake.session_id, 1).into_iter().eq(0..value + 100));
    assert_eq!(trace.notes.iter().filter(|note| note.starts_with("resumed")).count(), 1, "{:?}", trace.notes);
}

/// The collector looks at 256 rings at a time. What it reads before its turn, for the order of a thread's records, is no more stored than anything else of the batch.
#[test]
fn a_ring_that_was_read_before_its_turn_is_released_when_it_is_stored() {
    let scratch = Scratch::new("ahead-full");
    let Some(disk) = SmallDisk::new(&scratch, 512 << 10) else { return };
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slabs: Vec<_> = (0..20).map(|_| fake.slab(11)).collect();
    let mut rings: Vec<_> = (0..300).map(|tid| fake.ring(slabs[tid / 15], tid as u32)).collect();
    let mut older = rings.pop().unwrap();
    let mut config = scratch.config();
    config.output = OutputConfig::new(disk.path().join("trace.silver"));
    let mut collector = Collector::new(config).unwrap();
    older.put(id, 0);
    collector.pass();
    assert_eq!(older.get(ring_at::CONSUMED), older.head);
    let stored = older.head;
    // It goes on, and then in a slice that comes before; others have more than the file's last page takes.
    older.put(id, 1);
    older.retire();
    let mut newer = fake.claim(rings[0].at, rings[0].size, 299);
    newer.set32(ring_at::PREVIOUS, older.stream);
    newer.put(id, 2);
    for ring in &mut rings[1..20] {
        (0..40).for_each(|value| ring.put(id, value));
    }
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 1 << 20]).unwrap_err();
    assert!(collector.pass().is_failing);
    assert_eq!(older.get(ring_at::CONSUMED), stored);
    fs::remove_file(&ballast).unwrap();
    resume(&mut collector);
    collector.pass();
    assert_eq!(older.get(ring_at::CONSUMED), older.head);
    collector.leave();
    let trace = read(&disk.path().join("trace.silver"));
    assert_eq!(trace.values(&fake.session_id, older.stream), [0, 1]);
    assert_eq!(trace.values(&fake.session_id, newer.stream), [2]);
    assert!(
        rings[1..20].iter().all(|ring| trace.values(&fake.session_id, ring.stream).into_iter().eq(0..40))
    );
}

#[test]
fn losses_that_a_full_disk_did_not_take_are_told_when_there_is_room() {
    let scratch = Scratch::new("losses-full");
    let Some(disk) = SmallDisk::new(&scratch, 512 << 10) else { return };
    let mut fake = Fake::new(&scratch.root(), 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slabs: Vec<_> = (0..14).map(|_| fake.slab(11)).collect();
    let mut rings: Vec<_> = (0..200).map(|tid| fake.ring(slabs[tid / 15], tid as u32)).collect();
    rings.iter_mut().for_each(|ring| ring.put(id, 0));
    let mut config = scratch.config();
    config.output = OutputConfig::new(disk.path().join("trace.silver"));
    let mut collector = Collector::new(config).unwrap();
    collector.pass();
    // There is nothing to store but the account of the losses: more than the file's last page takes.
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 1 << 20]).unwrap_err();
    rings.iter().for_each(|ring| ring.set(ring_at::LOSSES, 3));
    wait_until("the account is due", || collector.pass().is_failing);
    assert!(rings.iter().all(|ring| ring.get(ring_at::CONSUMED) == ring.head));
    fs::remove_file(&ballast).unwrap();
    fake.die();
    resume(&mut collector);
    wait_until("the session is gone", || {
        collector.pass();
        !fake.is_there()
    });
    collector.leave();
    let trace = read(&disk.path().join("trace.silver"));
    let told = rings.iter().map(|ring| trace.losses[&(fake.session_id, ring.stream)].losses[0]);
    assert_eq!(told.sum::<u64>(), 600);
}

#[test]
fn what_is_kept_back_waits_for_room_on_a_full_disk() {
    let scratch = Scratch::new("kept-full");
    let Some(disk) = SmallDisk::new(&scratch, 256 << 10) else { return };
    let (fake, id, mut ring) = one_ring(&scratch, 1, 16);
    let mut config = scratch.config();
    config.output = OutputConfig::new(disk.path().join("trace.silver"));
    config.backtrace = Some(Backtrace { bytes: 16 << 10, trigger: None });
    let mut collector = Collector::new(config).unwrap();
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 1 << 20]).unwrap_err();
    // Nothing is to be written yet: what is too much is forgotten, and nobody misses the room.
    for value in 0..5000 {
        ring.put(id, value);
        if value % 100 == 0 {
            assert!(!collector.pass().is_failing);
        }
    }
    collector.write_kept_back();
    assert!(collector.pass().is_failing);
    let released = ring.get(ring_at::CONSUMED);
    assert!(0 < released && released < ring.head);
    assert_eq!(fake.control32(at::COLLECTOR_STATE), collector_state::SINK_FULL);
    (5000..5010).for_each(|value| ring.put(id, value));
    collector.pass();
    assert_eq!(ring.get(ring_at::CONSUMED), released, "nothing more is forgotten");
    fs::remove_file(&ballast).unwrap();
    resume(&mut collector);
    wait_until("it is written", || {
        collector.pass();
        !collector.is_writing_kept_back()
    });
    assert_eq!(ring.get(ring_at::CONSUMED), ring.head);
    let forgotten = collector.leave().forgotten;
    let values = read(&disk.path().join("trace.silver")).values(&fake.session_id, 1);
    assert!(values.len() > 500 && values.iter().copied().eq(values[0]..5010), "{} records", values.len());
    let (gaps, records, has_more) = crate::backtrace::gaps(&disk.path().join("trace.silver"));
    assert_eq!((gaps.len(), records, has_more), (1, values[0], false), "each is reported once: {gaps:?}");
    assert!(forgotten >= records);
}

#[test]
fn a_rotation_that_finds_no_room_leaves_the_part_as_it_was() {
    let scratch = Scratch::new("rotate-full");
    // Full by inodes: the current part can grow, a new one cannot be made.
    let Some(disk) = SmallDisk::new(&scratch, 4 << 20) else { return };
    let remount = |inodes: u32| {
        let options = format!("remount,nr_inodes={inodes}");
        let status = std::process::Command::new("mount").args(["-o", &options]).arg(disk.path()).status();
        assert!(status.unwrap().success());
    };
    let (fake, id, mut ring) = one_ring(&scratch, 1, 14);
    let mut config = scratch.config();
    config.output = OutputConfig::new(disk.path().join("trace.silver"));
    config.output.rotate_bytes = Some(64 << 10);
    let mut collector = Collector::new(config).unwrap();
    remount(2);
    fill(&mut collector, &mut ring, id, 0..5000);
    assert_eq!(parts(&disk.path().join("trace.silver")).len(), 1);
    let messages = collector.take_messages();
    assert!(messages.len() == 1 && messages[0].text.contains("no new part"), "{messages:?}");
    remount(100);
    std::thread::sleep(Duration::from_millis(1100));
    fill(&mut collector, &mut ring, id, 5000..8000);
    assert!(collector.leave().rotations >= 1);
    assert!(read(&disk.path().join("trace.silver")).values(&fake.session_id, 1).into_iter().eq(0..8000));
}

/// The attempt that failed once took with it what the file says of the session's time: what came late was not marked.
#[test]
fn an_attachment_that_found_no_room_knows_the_watermark_when_it_is_repeated() {
    let scratch = Scratch::new("attach-full");
    // The sessions are there: what the mode was does not find room beside them.
    let Some(disk) = SmallDisk::new(&scratch, 4 << 20) else { return };
    let root = disk.path().join("root");
    fs::DirBuilder::new().mode(0o700).create(&root).unwrap();
    let mut fake = Fake::new(&root, 1);
    let id = fake.register(&site("{}", Level::Info, ""));
    let slab = fake.slab(14);
    let mut ring = fake.ring(slab, 1);
    let mut collector = Collector::new(Config::new(&root, scratch.output())).unwrap();
    ring.put(id, 0);
    wait_until("a watermark", || {
        collector.pass();
        read(&scratch.trace()).watermarks.contains_key(&fake.session_id)
    });
    collector.leave();
    let mark = *read(&scratch.trace()).watermarks[&fake.session_id].last().unwrap();

    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![1; 8 << 20]).unwrap_err();
    let mut config = Config::new(&root, scratch.output());
    config.output.existing = Existing::Continue;
    config.attach = Some(AttachMode { directives: Some("trace".into()), ..AttachMode::default() });
    let mut collector = Collector::new(config).unwrap();
    assert_eq!(collector.pass().sessions, 0);
    let messages = collector.take_messages();
    assert!(messages.len() == 1 && messages[0].text.contains("No space left"), "{messages:?}");
    fs::remove_file(&ballast).unwrap();
    assert!(ring.put_bytes(id, mark - 1, &1u64.to_le_bytes(), Duration::ZERO));
    wait_until("the attachment", || collector.pass().sessions == 1);
    collector.leave();
    let trace = read(&scratch.trace());
    assert_eq!(trace.values(&fake.session_id, 1), [0, 1]);
    assert_eq!(trace.late_blocks, 1);
}
