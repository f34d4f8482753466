//! The ring core over a heap buffer against a simple model: what Miri can run, and many random histories.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Machine, Platform, Producer, Room, Shared};

struct Ring {
    /// Cells: the producer writes through a pointer while the ring is looked at.
    data: Vec<UnsafeCell<u8>>,
    committed: AtomicU64,
    oldest: AtomicU64,
    consumed: AtomicU64,
    waiting: AtomicU32,
    wake: AtomicU32,
}

impl Ring {
    fn new(capacity: usize, base: u64) -> Self {
        let word = || AtomicU64::new(base);
        let (waiting, wake) = (AtomicU32::new(0), AtomicU32::new(0));
        Self {
            data: std::iter::repeat_with(|| UnsafeCell::new(0xEE)).take(capacity).collect(),
            committed: word(),
            oldest: word(),
            consumed: word(),
            waiting,
            wake,
        }
    }

    fn producer(&self, base: u64) -> Producer<Machine> {
        let producer = Producer::new(std::ptr::null_mut());
        let shared = Shared {
            committed: &self.committed,
            oldest: &self.oldest,
            consumed: &self.consumed,
            waiting: &self.waiting,
            wake: &self.wake,
        };
        // SAFETY: the tests keep the ring in its place as long as the producer.
        unsafe { producer.attach(shared, self.data.as_ptr().cast_mut().cast(), self.data.len(), base) };
        producer
    }
}

/// SplitMix64: the same histories at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

/// Writes a record whose words all carry its number.
fn put(producer: &Producer<Machine>, size: usize, number: u64) {
    for at in (0..size).step_by(8) {
        let word = if at == 0 { size as u64 | 1 << 32 } else { number };
        // SAFETY: room for `size` bytes was made at the producer's position.
        unsafe { Machine::put(producer.here(), producer.position() + at as u64, word) };
    }
    producer.commit(producer.position(), size);
}

/// Reads [from, committed) as a reader would: sizes and numbers of the records.
fn read(ring: &Ring, producer: &Producer<Machine>, from: u64) -> Vec<(usize, u64)> {
    let capacity = ring.data.len() as u64;
    let word = |position: u64| {
        // SAFETY: within the data; read through the pointer that the producer writes through.
        unsafe { producer.data().add((position % capacity) as usize).cast::<u64>().read_unaligned() }
    };
    let (mut at, end) = (from, ring.committed.load(Ordering::Acquire));
    let mut found = Vec::new();
    while at < end {
        let first = word(at);
        let size = first & 0xFF_FFFF;
        assert!(size >= 8 && size % 8 == 0 && at + size <= end, "size {size} at {at} of {end}");
        if first >> 32 != 0 {
            let number = word(at + 8);
            assert!((16..size).step_by(8).all(|k| word(at + k) == number), "record {number} at {at} is torn");
            assert!((at % capacity) + size <= capacity, "record {number} wraps");
            found.push((size as usize, number));
        } else {
            assert_eq!((at + size) % capacity, 0, "a pad goes to the end of the data");
        }
        at += size;
    }
    found
}

/// Hot and cold path together, as a tracepoint has them.
fn reserve(producer: &Producer<Machine>, size: usize, overwrite: bool) -> bool {
    producer.fits(size) || matches!(producer.make_room(size, overwrite), Room::Ready { .. })
}

const HISTORIES: u64 = if cfg!(miri) { 3 } else { 300 };
const STEPS: u64 = if cfg!(miri) { 150 } else { 2000 };

#[test]
fn what_is_consumed_is_what_was_recorded() {
    for seed in 0..HISTORIES {
        let mut random = Random(seed);
        let capacity = 64 * (1 + random.below(40)) as usize;
        let base = 8 * random.below(1000);
        let ring = Ring::new(capacity, base);
        let producer = ring.producer(base);
        let mut expected = VecDeque::new();
        for number in 0..STEPS {
            let most = capacity as u64 / 4 / 8;
            let size = 8 * (2 + random.below(most - 1)) as usize;
            if reserve(&producer, size, false) {
                put(&producer, size, number);
                expected.push_back((size, number));
            } else {
                assert!(
                    producer.used() + size as u64 + capacity as u64 / 4 > capacity as u64,
                    "full only when it is"
                );
            }
            if random.below(4) == 0 {
                let from = ring.consumed.load(Ordering::Relaxed);
                for found in read(&ring, &producer, from) {
                    assert_eq!(Some(found), expected.pop_front(), "seed {seed}");
                }
                assert!(expected.is_empty());
                ring.consumed.store(ring.committed.load(Ordering::Relaxed), Ordering::Release);
            }
        }
    }
}

#[test]
fn what_is_kept_of_a_flight_is_its_end() {
    for seed in 0..HISTORIES {
        let mut random = Random(seed);
        let capacity = 64 * (2 + random.below(40)) as usize;
        let base = 8 * random.below(1000);
        let ring = Ring::new(capacity, base);
        let producer = ring.producer(base);
        let mut bytes = 0;
        for number in 0..STEPS {
            let most = capacity as u64 / 4 / 8;
            let size = 8 * (2 + random.below(most - 1)) as usize;
            assert!(reserve(&producer, size, true), "overwriting always has room");
            put(&producer, size, number);
            bytes += size;
            if random.below(8) != 0 {
                continue;
            }
            let oldest = ring.oldest.load(Ordering::Relaxed).max(base);
            let kept = read(&ring, &producer, oldest);
            let first = number + 1 - kept.len() as u64;
            assert!(
                kept.iter().map(|record| record.1).eq(first..=number),
                "seed {seed}: the latest, without a gap"
            );
            let kept_bytes = ring.committed.load(Ordering::Relaxed) - oldest;
            // Forgotten are at most the eighth to come, a record that begins before it, and one that ends beyond it.
            assert!(
                kept_bytes as usize + capacity * 5 / 8 >= capacity.min(bytes),
                "seed {seed}: {kept_bytes} of {capacity}"
            );
        }
    }
}

#[test]
fn policies_may_change_at_any_time() {
    for seed in 0..HISTORIES {
        let mut random = Random(seed);
        let capacity = 64 * (2 + random.below(20)) as usize;
        let ring = Ring::new(capacity, 0);
        let producer = ring.producer(0);
        let mut recorded = 0;
        for _ in 0..STEPS {
            let most = capacity as u64 / 4 / 8;
            let size = 8 * (2 + random.below(most - 1)) as usize;
            if reserve(&producer, size, random.below(3) == 0) {
                put(&producer, size, recorded);
                recorded += 1;
            }
            let committed = ring.committed.load(Ordering::Relaxed);
            if ring.consumed.load(Ordering::Relaxed) > committed {
                ring.consumed.store(committed, Ordering::Release); // the lie below had its chance
            }
            let from = ring.oldest.load(Ordering::Relaxed).max(ring.consumed.load(Ordering::Relaxed));
            assert!(from <= committed && committed - from <= capacity as u64);
            let kept = read(&ring, &producer, from);
            assert!(
                kept.iter().map(|record| record.1).eq(recorded - kept.len() as u64..recorded),
                "seed {seed}"
            );
            match random.below(10) {
                0 => ring.consumed.store(committed, Ordering::Release),
                // A word that lies makes the producer overrun what is claimed to be stored, never itself.
                1 => ring.consumed.store(committed + 8 * random.below(1 << 40), Ordering::Release),
                2 => ring.consumed.store(from, Ordering::Release),
                _ => {}
            }
        }
    }
}

#[test]
fn the_hot_path_takes_no_record_that_is_larger_than_any() {
    let capacity = 2048;
    for is_overwritten in [false, true] {
        let ring = Ring::new(capacity, 0);
        let producer = ring.producer(0);
        producer.set_overwritten(is_overwritten);
        for number in 0..100 {
            assert!(reserve(&producer, 48, true));
            put(&producer, 48, number);
            assert!(!producer.fits(capacity / 4 + 8), "at position {}", producer.position());
        }
    }
}

#[test]
fn a_lane_that_was_wiped_has_no_ring() {
    // SAFETY: all zero is documented to be a lane without a ring.
    let producer: Producer<Machine> = unsafe { std::mem::zeroed() };
    assert!(!producer.has_ring());
    assert!(!producer.fits(8));
    assert_eq!(producer.ready().load(Ordering::Relaxed), super::BUSY);
    assert_eq!((producer.used(), producer.capacity(), producer.has_room(0)), (0, 0, true));
}

/// What the memory of a ring's data is: the first bytes are there, others when they are made, up to a limit.
struct Memory {
    there: Vec<bool>,
    left: usize,
}

impl Memory {
    /// What `owner::paged` does with pages, here with pieces of 64 bytes. Whether the record may be written.
    fn make(&mut self, producer: &Producer<Machine>, size: usize) -> bool {
        while let Some(missing) = producer.missing(size) {
            let to = missing.end.next_multiple_of(64).min(self.there.len());
            let pieces = missing.start / 64..to / 64;
            if self.left < pieces.len() {
                producer.refuse_memory();
                return false;
            }
            self.left -= pieces.len();
            self.there[missing.start..to].fill(true);
            let is_whole = producer.reaches_memory(to);
            assert!(!is_whole || self.there.iter().all(|is_there| *is_there));
        }
        true
    }
}

#[test]
fn records_lie_where_memory_is_and_laps_end_where_none_is() {
    let (mut refused, mut whole) = (0, 0);
    for seed in 0..HISTORIES {
        let mut random = Random(seed);
        let capacity = 64 * (20 + random.below(60)) as usize;
        let base = 8 * random.below(1000);
        let ring = Ring::new(capacity, base);
        let producer = ring.producer(base);
        // Those that there is memory for at the beginning: the first ones, and where the stream begins.
        let first = 8 * 64;
        let begin = (base as usize % capacity + 1).next_multiple_of(64);
        let mut memory = Memory { there: vec![false; capacity], left: random.below(100) as usize };
        memory.there[..first].fill(true);
        memory.there[begin - 64..begin].fill(true);
        producer.set_there(begin.max(if begin <= first { first } else { 0 }), first);
        let mut expected = VecDeque::new();
        let overwrites = random.below(2) == 0;
        for number in 0..STEPS {
            let size = 8 * (2 + random.below(producer.usable() as u64 / 4 / 8 - 1)) as usize;
            if !producer.fits(size) {
                let overwrite = overwrites && random.below(2) == 0;
                if !memory.make(&producer, size) || producer.make_room(size, overwrite) == Room::Full {
                    continue;
                }
            }
            let at = (producer.position() % capacity as u64) as usize;
            assert!(memory.there[at..at + size].iter().all(|is_there| *is_there), "seed {seed}: at {at}");
            put(&producer, size, number);
            expected.push_back((size, number));
            // The pad that may follow is written there.
            let after = (at + size) % capacity;
            assert!(after == 0 || memory.there[after], "seed {seed}: after {after}");
            if random.below(4) == 0 {
                let from = ring.consumed.load(Ordering::Relaxed).max(ring.oldest.load(Ordering::Relaxed));
                let found = read(&ring, &producer, from);
                assert!(expected.len() >= found.len());
                expected.drain(..expected.len() - found.len());
                assert!(found.into_iter().eq(expected.drain(..)), "seed {seed}");
                ring.consumed.store(ring.committed.load(Ordering::Relaxed), Ordering::Release);
            }
        }
        refused += u32::from(producer.usable() < capacity);
        whole += u32::from(memory.there.iter().all(|is_there| *is_there));
    }
    assert!(cfg!(miri) || (refused > 20 && whole > 20), "both happen: {refused}, {whole}");
}
