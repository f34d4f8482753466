//! The ring core under loom: every order of the atomic operations of producer and reader, within a bound on preemptions.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p silverpoint-shm --test loom`
#![cfg(loom)]

// The list of free slots of `silverpoint-tracing`, too, in this one build with loom.
mod atomics {
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
#[path = "../../../record/silverpoint-tracing/src/free.rs"]
mod free;

use std::sync::atomic::Ordering;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, AtomicU64, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use silverpoint_shm::ring::{
    BUSY, Platform, Producer, Room, Shared, Word32, Word64, look_at_memory, ring_doorbell,
};
use silverpoint_wire::layout::ring::{
    ADOPTION, CLAIMING, LIVE, PRESENT, RETIRED, RETURNED, RETURNING, STATE_MASK,
};

/// The smallest ring: an eighth is one word, a record at most two.
const CAPACITY: usize = 64;
const RECORD: usize = 16;

struct Loom;
struct U32(AtomicU32);
struct U64(AtomicU64);

impl Word32 for U32 {
    fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }
    fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
    }
    fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        self.0.fetch_add(value, order)
    }
}

impl Word64 for U64 {
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
}

loom::lazy_static! {
    static ref FUTEX: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}

impl Platform for Loom {
    type U32 = U32;
    type U64 = U64;
    /// The ring, and the lap.
    type Data = (*const Ring, u64);

    fn full_fence() {
        fence(Ordering::SeqCst);
    }

    fn at_lap(data: (*const Ring, u64), lap: u64) -> (*const Ring, u64) {
        (data.0, lap)
    }

    unsafe fn put((ring, lap): (*const Ring, u64), position: u64, word: u64) {
        // SAFETY: the test keeps the ring alive as long as its threads.
        unsafe { &*ring }.words[(position - lap) as usize / 8].store(word, Ordering::Relaxed);
    }

    unsafe fn enter(_: (*const Ring, u64), _: u64) -> u64 {
        u64::MAX
    }

    /// A futex without a timeout: a lost wake-up is a deadlock, which loom reports.
    fn wait(word: &U32, expected: u32, _: u64) {
        let guard = FUTEX.0.lock().unwrap();
        if word.load(Ordering::SeqCst) == expected {
            drop(FUTEX.1.wait(guard).unwrap());
        }
    }

    fn wake(_: &U32) {
        let _guard = FUTEX.0.lock().unwrap();
        FUTEX.1.notify_all();
    }
}

struct Ring {
    words: Vec<AtomicU64>,
    committed: U64,
    oldest: U64,
    consumed: U64,
    waiting: U32,
    wake: U32,
    doorbell: U32,
    sleeping: U32,
}

impl Ring {
    fn new(base: u64) -> Arc<Self> {
        let u32 = || U32(AtomicU32::new(0));
        let u64 = || U64(AtomicU64::new(base));
        let words = (0..CAPACITY / 8).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self {
            words,
            committed: u64(),
            oldest: u64(),
            consumed: u64(),
            waiting: u32(),
            wake: u32(),
            doorbell: u32(),
            sleeping: u32(),
        })
    }

    fn producer(&self, base: u64) -> Producer<Loom> {
        let producer = Producer::new((std::ptr::null(), 0));
        let shared = Shared {
            committed: &self.committed,
            oldest: &self.oldest,
            consumed: &self.consumed,
            waiting: &self.waiting,
            wake: &self.wake,
        };
        // SAFETY: the ring outlives the producer in every test, and the ring has no other.
        unsafe { producer.attach(shared, (std::ptr::from_ref(self), 0), CAPACITY, base) };
        assert_eq!(producer.ready().load(Ordering::Relaxed), BUSY);
        producer
    }

    fn word(&self, position: u64) -> u64 {
        self.words[(position % CAPACITY as u64) as usize / 8].load(Ordering::Relaxed)
    }
}

/// Writes record number `number` where there is room.
fn put(producer: &Producer<Loom>, number: u64) {
    // SAFETY: room has been made at the producer's position.
    unsafe {
        Loom::put(producer.here(), producer.position(), RECORD as u64 | 1 << 32);
        Loom::put(producer.here(), producer.position() + 8, number);
    }
    producer.commit(producer.position(), RECORD);
}

/// Takes what is whole from `consumed` on; gives the numbers.
fn consume(ring: &Ring, numbers: &mut Vec<u64>) {
    let end = ring.committed.load(Ordering::Acquire);
    let mut at = ring.consumed.load(Ordering::Relaxed);
    while at < end {
        let first = ring.word(at);
        if first >> 32 == 0 {
            at += first; // a pad
        } else {
            assert_eq!(first, RECORD as u64 | 1 << 32, "a torn record at {at}");
            numbers.push(ring.word(at + 8));
            at += RECORD as u64;
        }
    }
    assert_eq!(at, end, "a record ends where nothing is committed");
    ring.consumed.store(end, Ordering::Release);
    fence(Ordering::SeqCst);
    if ring.waiting.load(Ordering::Relaxed) == 1 {
        ring.wake.fetch_add(1, Ordering::Release);
        Loom::wake(&ring.wake);
    }
}

fn model(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(test);
}

/// Records arrive whole, once, in order, over the end of the data with its pad; the producer waits when it must, and is woken.
#[test]
fn transfer_with_wrap_pads_and_waiting() {
    model(2, || {
        // Begins one word into the data, so that records do not end where the data do.
        const BASE: u64 = 8;
        const RECORDS: u64 = 5;
        let ring = Ring::new(BASE);
        let producer = {
            let ring = ring.clone();
            thread::spawn(move || {
                let producer = ring.producer(BASE);
                for number in 0..RECORDS {
                    while producer.make_room(RECORD, false) == Room::Full {
                        producer.wait_for_room(RECORD, u64::MAX, || false);
                    }
                    put(&producer, number);
                }
            })
        };
        let mut numbers = Vec::new();
        while (numbers.len() as u64) < RECORDS {
            consume(&ring, &mut numbers);
            thread::yield_now();
        }
        producer.join().unwrap();
        assert!(numbers.iter().copied().eq(0..RECORDS), "{numbers:?}");
    });
}

/// Waiting alone: a full ring, a collector that comes once.
#[test]
fn a_waiting_producer_is_always_woken() {
    model(4, || {
        let ring = Ring::new(0);
        let producer = ring.producer(0);
        for number in 0..4 {
            assert!(matches!(producer.make_room(RECORD, false), Room::Ready { .. }));
            put(&producer, number);
        }
        assert_eq!(producer.make_room(RECORD, false), Room::Full);
        let collector = {
            let ring = ring.clone();
            thread::spawn(move || consume(&ring, &mut Vec::new()))
        };
        while producer.make_room(RECORD, false) == Room::Full {
            producer.wait_for_room(RECORD, u64::MAX, || false);
        }
        collector.join().unwrap();
    });
}

/// The producer waits at its last ring, which stays full. It goes on when the collector has emptied an earlier one.
#[test]
fn a_producer_that_waits_is_woken_for_an_emptied_ring() {
    model(4, || {
        let (first, last) = (Ring::new(0), Ring::new(0));
        let before = first.producer(0);
        assert!(matches!(before.make_room(RECORD, false), Room::Ready { .. }));
        put(&before, 0);
        let producer = last.producer(0);
        for number in 1..5 {
            assert!(matches!(producer.make_room(RECORD, false), Room::Ready { .. }));
            put(&producer, number);
        }
        assert_eq!(producer.make_room(RECORD, false), Room::Full);
        let collector = {
            let (first, last) = (first.clone(), last.clone());
            thread::spawn(move || {
                first.consumed.store(RECORD as u64, Ordering::Release);
                fence(Ordering::SeqCst);
                if last.waiting.load(Ordering::Relaxed) == 1 {
                    last.wake.fetch_add(1, Ordering::Release);
                    Loom::wake(&last.wake);
                }
            })
        };
        let is_empty = || first.consumed.load(Ordering::Acquire) == first.committed.load(Ordering::Acquire);
        while !is_empty() {
            producer.wait_for_room(RECORD, u64::MAX, is_empty);
        }
        collector.join().unwrap();
    });
}

/// A reader that copies while the producer overwrites: after the discard rule what is left is whole and right.
#[test]
fn overwriting_under_a_reader() {
    model(3, || {
        const RECORDS: u64 = 6;
        let ring = Ring::new(0);
        let producer = ring.producer(0);
        let write = move |producer: &Producer<Loom>, number| {
            assert!(
                matches!(producer.make_room(RECORD, true), Room::Ready { .. }),
                "overwriting always has room"
            );
            put(producer, number);
        };
        for number in 0..3 {
            write(&producer, number);
        }
        let reader = {
            let ring = ring.clone();
            thread::spawn(move || {
                let end = ring.committed.load(Ordering::Acquire);
                let begin = ring.oldest.load(Ordering::Acquire);
                let copy: Vec<u64> = (0..CAPACITY as u64 / 8).map(|i| ring.word(i * 8)).collect();
                fence(Ordering::SeqCst);
                let begin = begin.max(ring.oldest.load(Ordering::Relaxed));
                let mut at = begin;
                while at < end {
                    // Without pads here: record n stands at position 16 n.
                    let place = (at % CAPACITY as u64) as usize / 8;
                    assert_eq!(
                        (copy[place], copy[place + 1]),
                        (RECORD as u64 | 1 << 32, at / RECORD as u64),
                        "at {at}"
                    );
                    at += RECORD as u64;
                }
            })
        };
        for number in 3..RECORDS {
            write(&producer, number);
        }
        reader.join().unwrap();
    });
}

/// A collector that goes to sleep while a record is published is woken, or has seen the record.
#[test]
fn the_doorbell_is_always_heard() {
    model(4, || {
        let ring = Ring::new(0);
        let producer = {
            let ring = ring.clone();
            thread::spawn(move || {
                let producer = ring.producer(0);
                assert!(matches!(producer.make_room(RECORD, false), Room::Ready { .. }));
                put(&producer, 7);
                ring_doorbell::<Loom>(&ring.sleeping, &ring.doorbell);
            })
        };
        loop {
            let before = ring.doorbell.load(Ordering::Acquire);
            ring.sleeping.store(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            let seen = ring.committed.load(Ordering::Acquire) != 0;
            if !seen {
                Loom::wait(&ring.doorbell, before, u64::MAX);
            }
            ring.sleeping.store(0, Ordering::Relaxed);
            if seen {
                break;
            }
        }
        producer.join().unwrap();
    });
}

/// A retired slice, as its adopters and the collector that gives its memory back see it.
struct Retired {
    state: AtomicU32,
    returned: U32,
    /// loom reports two who use it at once: its owner, and the collector that makes a hole of it.
    memory: UnsafeCell<bool>,
}

impl Retired {
    /// Adopts it, records, and retires it again: when all of its memory was made, or earlier.
    fn adopt(&self, makes_all: bool) {
        let state = self.state.load(Ordering::Acquire);
        if state & STATE_MASK != RETIRED {
            return;
        }
        let count = (state & !STATE_MASK) + ADOPTION;
        let taken = self.state.compare_exchange(state, count | CLAIMING, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            return;
        }
        let memory = look_at_memory::<Loom>(&self.returned);
        if memory != RETURNING {
            self.memory.with_mut(|is_there| {
                // SAFETY: loom checks that nobody else uses it.
                let is_there = unsafe { &mut *is_there };
                assert_eq!(*is_there, memory == PRESENT);
            });
            self.state.store(count | LIVE, Ordering::Release);
            self.memory.with_mut(|is_there| {
                // SAFETY: loom checks that nobody else uses it.
                unsafe { *is_there |= makes_all };
            });
            if memory == RETURNED && makes_all {
                self.returned.store(PRESENT, Ordering::Relaxed);
            }
        }
        self.state.store(count | RETIRED, Ordering::Release);
    }

    /// As a collector: spec/wire.md, section 3.4.
    fn give_back(&self) {
        let before = self.state.load(Ordering::Acquire);
        if before & STATE_MASK != RETIRED || self.returned.load(Ordering::Acquire) == RETURNED {
            return;
        }
        self.returned.store(RETURNING, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.state.load(Ordering::Acquire) != before {
            self.returned.store(PRESENT, Ordering::Relaxed);
            return;
        }
        // SAFETY: loom checks that nobody else uses it.
        self.memory.with_mut(|is_there| unsafe { *is_there = false });
        self.returned.store(RETURNED, Ordering::Release);
    }
}

/// The memory of a retired slice is given back, or the slice is adopted: never both.
#[test]
fn memory_is_given_back_or_used() {
    model(3, || {
        let slice = Arc::new(Retired {
            state: AtomicU32::new(RETIRED),
            returned: U32(AtomicU32::new(PRESENT)),
            memory: UnsafeCell::new(true),
        });
        let adopters: [_; 2] = std::array::from_fn(|number| {
            let slice = Arc::clone(&slice);
            thread::spawn(move || slice.adopt(number == 0))
        });
        slice.give_back();
        slice.give_back();
        adopters.into_iter().for_each(|adopter| adopter.join().unwrap());
    });
}

/// Slots of the list.
struct Slots {
    free: free::Free,
    links: [AtomicU32; 3],
    /// Whether somebody has it.
    taken: [AtomicU32; 3],
}

impl Slots {
    fn take(&self) -> Option<u32> {
        let number = self.free.pop(|number| self.links.get(number as usize))?;
        assert_eq!(self.taken[number as usize].swap(1, Ordering::AcqRel), 0, "somebody has it");
        Some(number)
    }

    fn give(&self, number: u32) {
        assert_eq!(self.taken[number as usize].swap(0, Ordering::AcqRel), 1);
        self.free.push(number, |number| self.links.get(number as usize));
    }
}

#[test]
fn a_free_slot_is_one_threads_at_a_time_and_none_is_lost() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let slots = Arc::new(Slots {
            free: free::Free::new(AtomicU64::new(0)),
            links: std::array::from_fn(|_| AtomicU32::new(0)),
            taken: std::array::from_fn(|_| AtomicU32::new(1)),
        });
        (0..3).for_each(|number| slots.give(number));
        let other = Arc::clone(&slots);
        // Takes two and gives them back in the other order: the first thread has read the same state of the
        // list, although it has changed.
        let thread = thread::spawn(move || {
            let (first, second) = (other.take(), other.take());
            first.into_iter().chain(second).for_each(|number| other.give(number));
        });
        if let Some(number) = slots.take() {
            slots.give(number);
        }
        thread.join().unwrap();
        let mut all: Vec<_> = std::iter::from_fn(|| slots.take()).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}
