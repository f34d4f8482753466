//! Continues a trace whose parts are removed once they are read: everything comes once, and unneeded state is
//! dropped.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use silverpoint_trace::{Event, Follow, Trace, Watcher, What};
use silverpoint_wire::block::{BlockKind, StreamInfo};
use silverpoint_wire::level::Level;
use tempfile::TempDir;

use crate::builder::{Builder, log};

/// Bytes of a record in its ring.
const RECORD: u64 = 24;

type Position = ([u8; 16], u32, u64);

/// Keeps the numbers that the records carry; takes only so many at once.
struct Seen {
    numbers: Vec<u64>,
    room: usize,
}

impl Watcher for Seen {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let What::Record { args, .. } = event.what {
            self.numbers.push(u64::from_le_bytes(args[..8].try_into().unwrap()));
            self.room -= 1;
        }
        self.room > 0
    }
}

/// A trace as a collector writes it: the dictionary of a part names the streams that are still in a ring.
struct Writer {
    directory: TempDir,
    b: Builder,
    part: u64,
    /// One a ring: its stream, and where that stands.
    rings: Vec<(u32, u64)>,
    streams: u32,
    records: u64,
}

impl Writer {
    fn new(rings: usize) -> Self {
        let directory = TempDir::with_prefix("silverpoint-removed-").unwrap();
        let rings: Vec<_> = (1..=rings as u32).map(|stream| (stream, 0)).collect();
        let streams = rings.len() as u32;
        let mut writer = Self { directory, b: Builder::new(), part: 1, rings, streams, records: 0 };
        writer.describe();
        writer
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("t.silver")
    }

    fn rotated(&self, part: u64) -> PathBuf {
        self.directory.path().join(format!("t.{part}.silver"))
    }

    fn describe(&mut self) {
        self.b.session(1, "/bin/p", 1);
        self.b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
        let mut payload = Vec::new();
        for (stream, _) in &self.rings {
            StreamInfo { stream: *stream, tid: *stream, ..StreamInfo::default() }.encode(&mut payload);
        }
        self.b.block(BlockKind::STREAMS, 1, 0, &payload);
    }

    fn save(&self) {
        fs::write(self.path(), &self.b.bytes).unwrap();
    }

    /// A record of the thread that has a ring.
    fn record(&mut self, ring: usize) {
        let (stream, at) = &mut self.rings[ring];
        self.records += 1;
        let number = self.records;
        self.b.record(1, *stream, 16, number * 10, &number.to_le_bytes());
        self.b.flush(1, *stream, number % 2 == 0);
        *at += RECORD;
        self.save();
    }

    /// The thread ends, and another one takes its ring.
    fn reuse(&mut self, ring: usize) {
        self.streams += 1;
        let (stream, at) = &mut self.rings[ring];
        *stream = self.streams;
        self.b.stream(1, *stream, *stream, "");
        self.b.skip_ring(1, *stream, *at);
        self.save();
    }

    fn rotate(&mut self) {
        self.b.block(BlockKind::END, 0, 0, &[2, 0, 0, 0, 0, 0, 0, 0]);
        self.save();
        let rotated = self.rotated(self.part);
        fs::rename(self.path(), &rotated).unwrap();
        self.part += 1;
        self.b = Builder::part(self.part, rotated.file_name().unwrap().to_str().unwrap());
        self.describe();
        for (stream, at) in &self.rings {
            self.b.skip_ring(1, *stream, *at);
        }
        self.save();
    }

    fn follow(&self, positions: &[Position]) -> Follow {
        let mut follow = Follow::nothing();
        follow.add(&self.path()).unwrap();
        follow.resume(positions);
        follow
    }

    /// Removes what a reader has given back, the newest first.
    fn remove_read(&self, follow: &Follow) {
        for part in (1..follow.oldest_part()).rev() {
            let _ = fs::remove_file(self.rotated(part));
        }
    }
}

/// Lets a reader go on, and gives what came.
fn read(follow: &mut Follow) -> Vec<u64> {
    let mut seen = Seen { numbers: Vec::new(), room: usize::MAX };
    assert_eq!(follow.poll_all(&mut seen).unwrap(), []);
    seen.numbers
}

fn streams(follow: &Follow) -> Vec<u32> {
    let mut streams: Vec<u32> = follow.positions().map(|(_, stream, _)| stream).collect();
    streams.sort_unstable();
    streams
}

#[test]
fn positions_of_threads_that_have_ended_do_not_pile_up() {
    let mut w = Writer::new(3);
    for ring in 0..3 {
        w.record(ring);
    }
    let mut follow = w.follow(&[]);
    assert_eq!(read(&mut follow), [1, 2, 3]);
    // Thread 1 ends; 4 takes its ring. Threads 2 and 3 live on, 3 says nothing more.
    w.reuse(0);
    w.rotate();
    w.record(0);
    w.record(1);
    assert_eq!(read(&mut follow), [4, 5]);
    assert_eq!(follow.oldest_part(), 2);
    assert_eq!(streams(&follow), [1, 2, 3, 4], "opening the trace now finds part 1");
    let positions: Vec<_> = follow.positions().collect();
    assert_eq!(read(&mut w.follow(&positions)), [0; 0]);
    w.remove_read(&follow);
    w.record(0);
    assert_eq!(read(&mut follow), [6]);
    assert_eq!(streams(&follow), [2, 3, 4], "more may come of 3, nothing of 1");
    let positions: Vec<_> = follow.positions().collect();
    let mut next = w.follow(&positions);
    assert_eq!(read(&mut next), [0; 0]);
    w.record(2);
    assert_eq!(read(&mut next), [7]);
}

#[test]
fn a_part_that_another_still_needs_keeps_its_positions() {
    let mut w = Writer::new(1);
    w.record(0);
    w.reuse(0);
    let mut follow = w.follow(&[]);
    assert_eq!(read(&mut follow), [1]);
    for number in 2..6 {
        w.rotate();
        w.record(0);
        assert_eq!(read(&mut follow), [number]);
    }
    assert_eq!(follow.oldest_part(), 5);
    assert_eq!(streams(&follow), [1, 2]);
    // The way back from the newest part ends where one is missing, but its predecessor can be opened by its name.
    fs::remove_file(w.rotated(3)).unwrap();
    w.record(0);
    assert_eq!(read(&mut follow), [6]);
    assert_eq!(streams(&follow), [1, 2]);
    let positions: Vec<_> = follow.positions().collect();
    let mut other = Follow::nothing();
    other.add(&w.rotated(1)).unwrap();
    other.resume(&positions);
    assert_eq!(read(&mut other), [0; 0]);
}

#[test]
fn a_session_that_has_ended_leaves_no_positions_behind() {
    let mut w = Writer::new(2);
    w.record(0);
    w.record(1);
    let mut follow = w.follow(&[]);
    assert_eq!(read(&mut follow), [1, 2]);
    w.b.block(BlockKind::WATERMARK, 1, 0, &u64::MAX.to_le_bytes());
    w.rotate();
    assert_eq!(read(&mut follow), [0; 0]);
    assert_eq!(streams(&follow), [1, 2]);
    w.remove_read(&follow);
    w.b.block(BlockKind::NOTE, 0, 0, b"anything");
    w.save();
    let mut seen = Seen { numbers: Vec::new(), room: usize::MAX };
    follow.poll_all(&mut seen).unwrap();
    assert_eq!(streams(&follow), [0; 0]);
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Record(usize),
    Reuse(usize),
    Rotate,
    /// The reader takes so many records at most.
    Read(usize),
    Remove,
    /// The reader dies; another goes on.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..3usize).prop_map(Step::Record),
        2 => (0..3usize).prop_map(Step::Reuse),
        1 => Just(Step::Rotate),
        4 => (1..8usize).prop_map(Step::Read),
        2 => Just(Step::Remove),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whenever readers die and parts are removed, each record comes once.
    #[test]
    fn any_succession(steps in prop::collection::vec(step(), 1..150)) {
        let mut w = Writer::new(3);
        w.save();
        let mut follow = w.follow(&[]);
        let mut seen = Vec::new();
        for step in steps.into_iter().chain([Step::Restart, Step::Read(1000)]) {
            match step {
                Step::Record(ring) => w.record(ring),
                Step::Reuse(ring) => w.reuse(ring),
                Step::Rotate => w.rotate(),
                Step::Read(room) => {
                    let mut some = Seen { numbers: Vec::new(), room };
                    prop_assert_eq!(follow.poll_all(&mut some).unwrap(), []);
                    seen.extend(some.numbers);
                }
                Step::Remove => w.remove_read(&follow),
                Step::Restart => {
                    let positions: Vec<_> = follow.positions().collect();
                    follow = w.follow(&positions);
                }
            }
        }
        seen.sort_unstable();
        prop_assert_eq!(seen, (1..=w.records).collect::<Vec<_>>());
    }
}
