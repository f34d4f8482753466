//! rings.json and rings/*.ring: images of slices of 2 KiB, as somebody finds them behind a dead program, or behind a hostile one.

use super::json::Json;
use super::records::{TICKS, record};
use super::value::{V, int, text};

const SLICE: usize = 2048;
const DATA_AT: usize = 256;
const CAPACITY: u64 = (SLICE - DATA_AT) as u64;

/// Sites that these rings know, beside the control records.
const SITES: [u32; 3] = [16, 17, 18];

/// What is read from an image: position, site, ticks, arguments with their tail.
type Read = (u64, u32, u64, Vec<u8>);

struct Case {
    name: &'static str,
    ring: Ring,
    /// Kind of the contradiction that ends the ring, and its position.
    error: Option<(&'static str, Option<u64>)>,
}

/// A slice as its owner fills it, without any check.
#[derive(Clone)]
struct Ring {
    state: u32,
    magic: u32,
    capacity: u32,
    data_at: u32,
    base: u64,
    committed: u64,
    oldest: u64,
    consumed: u64,
    data: Vec<u8>,
    /// What a reader must find.
    expected: Vec<Read>,
    count: u64,
}

impl Ring {
    /// A live ring whose stream starts at `base`.
    fn at(base: u64) -> Ring {
        Ring {
            state: 2,
            magic: 0x4752_5053,
            capacity: CAPACITY as u32,
            data_at: DATA_AT as u32,
            base,
            committed: base,
            oldest: base,
            consumed: base,
            data: vec![0xEE; CAPACITY as usize],
            expected: Vec::new(),
            count: 0,
        }
    }

    /// Stores bytes at a position, without committing them.
    fn store(&mut self, position: u64, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            self.data[((position + i as u64) % CAPACITY) as usize] = *byte;
        }
    }

    /// Commits a record of these arguments, with a pad before it when it would wrap.
    fn push(mut self, site: u32, args: &[V]) -> Ring {
        let bytes = record(site, TICKS + self.count, args);
        let room = CAPACITY - self.committed % CAPACITY;
        if (bytes.len() as u64) > room {
            let mut pad = (room as u32).to_le_bytes().to_vec();
            pad.extend_from_slice(&[0; 4]);
            self.store(self.committed, &pad);
            self.committed += room;
        }
        self.store(self.committed, &bytes);
        self.expected.push((self.committed, site, TICKS + self.count, bytes[16..].to_vec()));
        self.committed += bytes.len() as u64;
        self.count += 1;
        self
    }

    /// `count` records of 32 bytes.
    fn fill(self, count: usize) -> Ring {
        (0..count).fold(self, |ring, i| ring.push(17, &[int(i as i128), V::F64(i as f64 / 2.0)]))
    }

    /// Commits bytes as they are; nothing is expected of them.
    fn raw(mut self, bytes: &[u8]) -> Ring {
        self.store(self.committed, bytes);
        self.committed += bytes.len() as u64;
        self
    }

    fn change(mut self, change: impl FnOnce(&mut Ring)) -> Ring {
        change(&mut self);
        self
    }

    /// Nothing of it counts.
    fn nothing(self) -> Ring {
        self.change(|ring| ring.expected.clear())
    }

    fn image(&self) -> Vec<u8> {
        let mut out = vec![0; DATA_AT];
        let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.magic.to_le_bytes());
        put(4, &self.state.to_le_bytes());
        put(8, &4242_u32.to_le_bytes());
        put(12, &3_u32.to_le_bytes());
        put(16, &self.capacity.to_le_bytes());
        put(20, &self.data_at.to_le_bytes());
        put(32, &TICKS.to_le_bytes());
        put(40, b"worker");
        put(56, &self.base.to_le_bytes());
        put(64, &self.committed.to_le_bytes());
        put(72, &self.oldest.to_le_bytes());
        put(128, &self.consumed.to_le_bytes());
        out.extend_from_slice(&self.data);
        out
    }
}

/// rings.json and the images.
pub fn files() -> Vec<super::File> {
    let mut vectors = Vec::new();
    let mut files = Vec::new();
    for case in cases() {
        let file = format!("rings/{}.ring", case.name.replace(' ', "-"));
        let read = |(position, site, ticks, args): &Read| {
            Json::Object(vec![
                ("position", Json::int(position)),
                ("site", Json::int(site)),
                ("ticks", Json::int(ticks)),
                ("args", Json::hex(args)),
            ])
        };
        let mut fields = vec![
            ("name", Json::text(case.name)),
            ("file", Json::text(&file)),
            ("sites", Json::Array(SITES.iter().map(Json::int).collect())),
            ("records", Json::Array(case.ring.expected.iter().map(read).collect())),
            ("verdict", Json::text(case.error.map_or("ok", |(kind, _)| kind))),
        ];
        if let Some((_, Some(position))) = case.error {
            fields.push(("at", Json::int(position)));
        }
        vectors.push(Json::Object(fields));
        files.push((file, case.ring.image()));
    }
    files.push(("rings.json".into(), super::json::file(vectors)));
    files
}

fn cases() -> Vec<Case> {
    let mut all: Vec<Case> =
        good().into_iter().map(|(name, ring)| Case { name, ring, error: None }).collect();
    for (name, ring) in shapes() {
        all.push(Case { name, ring: ring.nothing(), error: Some(("shape", None)) });
    }
    for (name, ring, kind) in positions() {
        all.push(Case { name, ring: ring.nothing(), error: Some((kind, None)) });
    }
    for (name, ring, bytes, kind) in broken() {
        // Two records are given, then the ring ends.
        let ring = ring.fill(2);
        let at = ring.committed;
        all.push(Case {
            name,
            ring: ring.raw(&bytes).fill(1).change(|ring| {
                ring.expected.pop();
            }),
            error: Some((kind, Some(at))),
        });
    }
    all
}

fn good() -> Vec<(&'static str, Ring)> {
    let full = CAPACITY as usize / 32;
    // Far along, at a place in the middle of the data.
    let far = CAPACITY * 1_000_003 + 640;
    let wrapped = |ring: Ring| {
        // What was consumed is not expected.
        ring.change(|ring| {
            ring.consumed = ring.expected[50].0;
            ring.oldest = ring.consumed;
            ring.expected.drain(..50);
        })
    };
    vec![
        ("empty", Ring::at(0)),
        ("empty, far along", Ring::at(far)),
        ("one record", Ring::at(0).push(17, &[int(-7), V::F64(2.5)])),
        ("one record of every size", {
            (0..12).fold(Ring::at(far), |ring, i| ring.push(18, &[text(&"x".repeat(i))]))
        }),
        ("control records", {
            let ring = Ring::at(0).push(4, &[text("worker")]).push(16, &[]);
            ring.push(3, &[int(16), V::Int(8, TICKS.into())]).push(5, &[])
        }),
        ("reserved control record", Ring::at(0).push(9, &[int(1), int(2)]).push(16, &[])),
        ("full", Ring::at(0).fill(full)),
        ("full, in the middle", Ring::at(far).fill(full)),
        ("exactly to the end, then on", wrapped(Ring::at(0).fill(full + 8))),
        ("wrapped with a pad", wrapped(Ring::at(8).fill(full + 8))),
        ("wrapped with a pad of 8", {
            // 55 records of 32 bytes and one of 24 leave 8.
            let ring = Ring::at(0).fill(55).push(16, &[V::Int(8, 1)]).push(17, &[int(1), V::F64(0.5)]);
            wrapped(ring)
        }),
        ("largest record", Ring::at(0).push(18, &[text(&"y".repeat(CAPACITY as usize / 4 - 20))])),
        (
            "consumed in part",
            Ring::at(0).fill(10).change(|ring| {
                ring.consumed = ring.expected[4].0;
                ring.expected.drain(..4);
            }),
        ),
        ("all consumed", Ring::at(0).fill(10).change(|ring| ring.consumed = ring.committed).nothing()),
        (
            "overwritten",
            Ring::at(0).fill(3 * full).change(|ring| {
                // Somebody consumed long ago; the owner has passed him.
                ring.oldest = ring.expected[2 * full + 5].0;
                ring.consumed = 320;
                ring.expected.drain(..2 * full + 5);
            }),
        ),
        (
            "base after the other positions",
            Ring::at(CAPACITY * 7).fill(2).change(|ring| (ring.consumed, ring.oldest) = (64, 0)),
        ),
        (
            "torn record beyond committed",
            Ring::at(0).fill(3).change(|ring| {
                let torn = record(17, TICKS + 99, &[int(99), V::F64(9.9)]);
                ring.store(ring.committed, &torn[..20]);
            }),
        ),
        (
            "whole record beyond committed",
            Ring::at(0).fill(3).change(|ring| {
                let late = record(17, TICKS + 99, &[int(99), V::F64(9.9)]);
                ring.store(ring.committed, &late);
            }),
        ),
        ("retired", Ring::at(0).fill(3).change(|ring| ring.state = 3)),
        ("claiming", Ring::at(0).fill(3).change(|ring| ring.state = 1).nothing()),
        ("free", Ring::at(0).fill(3).change(|ring| ring.state = 0).nothing()),
        ("no magic", Ring::at(0).fill(3).change(|ring| ring.magic = 0).nothing()),
        ("smaller capacity than the slice", Ring::at(0).fill(2).change(|ring| ring.capacity = 64 * 16)),
    ]
}

fn shapes() -> Vec<(&'static str, Ring)> {
    let ring = |change: fn(&mut Ring)| Ring::at(0).fill(2).change(change);
    vec![
        ("capacity beyond the slice", ring(|ring| ring.capacity += 64)),
        ("capacity of all ones", ring(|ring| ring.capacity = u32::MAX)),
        ("capacity 0", ring(|ring| ring.capacity = 0)),
        ("capacity no multiple of 64", ring(|ring| ring.capacity -= 8)),
        ("data within the header", ring(|ring| ring.data_at = 128)),
        ("data beyond the slice", ring(|ring| ring.data_at = 2048)),
        ("data at all ones", ring(|ring| ring.data_at = u32::MAX)),
        ("data not aligned", ring(|ring| (ring.data_at, ring.capacity) = (260, 1024))),
    ]
}

fn positions() -> Vec<(&'static str, Ring, &'static str)> {
    let ring = |change: fn(&mut Ring)| Ring::at(0).fill(2).change(change);
    vec![
        ("farther apart than the capacity", ring(|ring| ring.committed = CAPACITY + 8), "positions"),
        ("committed at all ones", ring(|ring| ring.committed = !7), "positions"),
        ("consumed beyond committed", ring(|ring| ring.consumed = ring.committed + 8), "positions"),
        ("oldest beyond committed", ring(|ring| ring.oldest = ring.committed + 8), "positions"),
        ("base beyond committed", ring(|ring| ring.base = ring.committed + 8), "positions"),
        ("committed not aligned", ring(|ring| ring.committed += 4), "unaligned"),
        ("consumed not aligned", ring(|ring| ring.consumed = 4), "unaligned"),
        ("oldest not aligned", ring(|ring| ring.oldest = 33), "unaligned"),
    ]
}

/// Bytes that stand where the third record should.
fn broken() -> Vec<(&'static str, Ring, Vec<u8>, &'static str)> {
    let header = |size: u32, site: u32| {
        let mut bytes = record(site, TICKS, &[]);
        bytes[..4].copy_from_slice(&size.to_le_bytes());
        bytes
    };
    // 32 bytes are left before the end after two records.
    let near_end = Ring::at(CAPACITY - 96);
    vec![
        ("size 0", Ring::at(0), header(0, 16), "size"),
        ("size 8", Ring::at(0), header(8, 16), "size"),
        ("size no multiple of 8", Ring::at(0), header(20, 16), "size"),
        ("size more than a quarter", Ring::at(0), header(CAPACITY as u32 / 4 + 8, 16), "size"),
        ("size of all ones", Ring::at(0), header(0x00FF_FFFF, 16), "size"),
        ("pad of size 0", Ring::at(0), header(0, 0), "size"),
        ("size beyond committed", Ring::at(0), header(128, 16), "beyond"),
        ("record across the end", near_end.clone(), header(48, 16), "beyond"),
        ("pad across the end", near_end, header(40, 0), "beyond"),
        ("unknown site", Ring::at(0), header(16, 19), "site"),
        ("site of all ones", Ring::at(0), header(16, u32::MAX), "site"),
    ]
}
