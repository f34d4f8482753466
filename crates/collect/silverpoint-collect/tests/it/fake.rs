//! A producer that writes a session's files as the contract says, with plain writes: no map, no shared code with the frontends.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use silverpoint_shm::locks::{self, Lock};
use silverpoint_wire::layout::control::{self, at};
use silverpoint_wire::layout::ring::{self, at as ring_at};
use silverpoint_wire::layout::{clock_source, site_entry};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

const SLAB: u64 = 64 << 10;
const SLABS: u32 = 32;
const SLABS_AT: u64 = 4096;
const ANCHORS_AT: u64 = 8192;
const PROCESS_AT: u64 = 12_288;
const DIRECTIVES_AT: u64 = 16_384;
const STATES_AT: u64 = 20_480;
const SITES_AT: u64 = 24_576;
const SITES_CAP: u32 = 3072;
const DESCS_AT: u64 = SITES_AT + 32 * SITES_CAP as u64;
const DESCS_SIZE: u64 = 512 << 10;
const INDEX_AT: u64 = DESCS_AT + DESCS_SIZE;
const INDEX_CAP: u32 = 8192;
const CONTROL_SIZE: u64 = INDEX_AT + 4 * INDEX_CAP as u64;
const PROCESS: &str = "exe=/bin/fake\ncmdline=fake --test\nlanguage=none\n";

/// A session and its (only) process.
pub struct Fake {
    pub path: PathBuf,
    pub control: File,
    pub rings: File,
    pub session_id: [u8; 16],
    pub name: String,
    owner: Option<File>,
    sites: u32,
    descs: u64,
    slabs: u32,
    streams: u32,
}

/// A ring and its owner.
pub struct FakeRing {
    rings: File,
    control: File,
    pub at: u64,
    pub size: u64,
    pub capacity: u64,
    pub stream: u32,
    pub head: u64,
    /// What is overwritten instead of waiting.
    pub overwrites: bool,
    /// Positions where records begin, for moving `oldest`.
    starts: std::collections::VecDeque<u64>,
}

pub fn site(template: &str, level: Level, category: &str) -> SiteDescription {
    SiteDescription {
        kind: Kind::Log,
        level,
        flags: 0,
        line: 7,
        language: 1,
        category: category.into(),
        file: "src/fake.cpp".into(),
        function: "fake()".into(),
        names: String::new(),
        template: template.into(),
        signature: "L".into(),
    }
}

impl Fake {
    /// A living session in `root` with no sites and no rings.
    pub fn new(root: &Path, pid: u32) -> Self {
        let name = format!("{pid}-{}-0", 1000 + pid);
        let path = root.join(&name);
        let hidden = root.join(format!(".new-{pid}-1"));
        fs::DirBuilder::new().mode(0o700).create(&hidden).unwrap();
        let make = |file: &str, size: u64| {
            let mut options = OpenOptions::new();
            let file =
                options.read(true).write(true).create_new(true).mode(0o600).open(hidden.join(file)).unwrap();
            file.set_len(size).unwrap();
            file
        };
        let owner = make("owner", 4096);
        make("collector", 4096);
        let rings = make("rings", SLAB * u64::from(SLABS));
        let control = make("control", CONTROL_SIZE);
        assert!(locks::try_lock(owner.as_fd(), 0, Lock::Shared).unwrap());
        let mut session_id = [0xAB; 16];
        session_id[..4].copy_from_slice(&pid.to_le_bytes());
        control.write_all_at(&Self::header(pid, &session_id), 0).unwrap();
        control.write_all_at(PROCESS.as_bytes(), PROCESS_AT).unwrap();
        fs::rename(&hidden, &path).unwrap();
        Self {
            path,
            control,
            rings,
            session_id,
            name,
            owner: Some(owner),
            sites: 0,
            descs: 0,
            slabs: 0,
            streams: 0,
        }
    }

    /// A header as an honest producer writes it.
    pub fn header(pid: u32, session_id: &[u8; 16]) -> [u8; control::HEADER_SIZE] {
        let mut header = [0; control::HEADER_SIZE];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(at::MAGIC, &control::MAGIC);
        put(at::VERSION_MAJOR, &1u16.to_le_bytes());
        put(at::BOOT_ID, &boot_id());
        put(at::SESSION_ID, session_id);
        for (at, value) in [
            (at::HEADER_SIZE, 4096),
            (at::PID, pid),
            (at::CLOCK_SOURCE, clock_source::MONOTONIC),
            (at::SLAB_BYTES, SLAB as u32),
            (at::SLAB_COUNT, SLABS),
            (at::DIRECTIVES_CAP, 4096),
            (at::SITES_CAP, SITES_CAP),
            (at::INDEX_CAP, INDEX_CAP),
            (at::ANCHORS_CAP, 64),
            (at::PROCESS_SIZE, PROCESS.len() as u32),
            (at::RING_HEADER_SIZE, 256),
            (at::BLOCK_MAX_MS, 1000),
        ] {
            put(at, &value.to_le_bytes());
        }
        for (at, value) in [
            (at::START_TIME, u64::from(1000 + pid)),
            (at::TICKS_PER_SECOND, 1_000_000_000),
            (at::CONTROL_SIZE, CONTROL_SIZE),
            (at::RINGS_SIZE, SLAB * u64::from(SLABS)),
            (at::SLABS_AT, SLABS_AT),
            (at::DIRECTIVES_AT, DIRECTIVES_AT),
            (at::SITES_AT, SITES_AT),
            (at::STATES_AT, STATES_AT),
            (at::INDEX_AT, INDEX_AT),
            (at::ANCHORS_AT, ANCHORS_AT),
            (at::DESCS_AT, DESCS_AT),
            (at::DESCS_SIZE, DESCS_SIZE),
            (at::PROCESS_AT, PROCESS_AT),
        ] {
            put(at, &value.to_le_bytes());
        }
        for (index, field) in ring::FIELDS.iter().enumerate() {
            put(at::RING_FIELDS + 2 * index, &field.to_le_bytes());
        }
        header
    }

    /// Registers a site. Gives its id.
    pub fn register(&mut self, description: &SiteDescription) -> u32 {
        let mut bytes = Vec::new();
        description.encode(&mut bytes);
        self.control.write_all_at(&bytes, DESCS_AT + self.descs).unwrap();
        let entry = SITES_AT + 32 * u64::from(self.sites);
        let units = (self.descs / 8) as u32;
        put32(&self.control, entry + site_entry::LOCATION_AT as u64, units);
        put32(&self.control, entry + site_entry::BODY_AT as u64, units);
        put32(&self.control, entry + site_entry::STAGE as u64, site_entry::COMPLETE);
        self.descs += bytes.len() as u64;
        self.sites += 1;
        put32(&self.control, at::SITES_NEXT as u64, self.sites);
        site_entry::FIRST_ID + self.sites - 1
    }

    /// Claims a slab of slices of 2^`shift` bytes. Gives its number.
    pub fn slab(&mut self, shift: u32) -> u32 {
        let slab = self.slabs;
        self.slabs += 1;
        put32(&self.control, at::SLABS_NEXT as u64, self.slabs);
        put32(&self.control, SLABS_AT + 16 * u64::from(slab), shift);
        slab
    }

    /// Claims the next slice of a slab and makes a ring of it.
    pub fn ring(&mut self, slab: u32, tid: u32) -> FakeRing {
        let entry = SLABS_AT + 16 * u64::from(slab);
        let size = 1u64 << get32(&self.control, entry);
        let number = get32(&self.control, entry + 4);
        assert!(u64::from(number) < SLAB / size, "the slab is full");
        put32(&self.control, entry + 4, number + 1);
        put32(&self.control, entry + 8, SLAB as u32);
        self.claim(u64::from(slab) * SLAB + u64::from(number) * size, size, tid)
    }

    /// Begins a stream in a slice, as an adopter does.
    pub fn claim(&mut self, at: u64, size: u64, tid: u32) -> FakeRing {
        let word = |field: usize| at + field as u64;
        put32(&self.rings, word(ring_at::STATE), ring::CLAIMING);
        self.streams += 1;
        put32(&self.control, at::STREAMS_NEXT as u64, self.streams);
        let base = get64(&self.rings, word(ring_at::COMMITTED));
        let capacity = size - ring::HEADER_SIZE as u64;
        put32(&self.rings, word(ring_at::OWNER_TID), tid);
        put32(&self.rings, word(ring_at::STREAM), self.streams);
        put32(&self.rings, word(ring_at::CAPACITY), capacity as u32);
        put32(&self.rings, word(ring_at::DATA_AT), ring::HEADER_SIZE as u32);
        put64(&self.rings, word(ring_at::CLAIMED_TICKS), now());
        self.rings.write_all_at(b"worker\0\0\0\0\0\0\0\0\0\0", word(ring_at::NAME)).unwrap();
        for field in [ring_at::BASE, ring_at::OLDEST, ring_at::CONSUMED] {
            put64(&self.rings, word(field), base);
        }
        put64(&self.rings, word(ring_at::TOLD), 0);
        self.rings.write_all_at(&[0; 64], word(ring_at::LOSSES)).unwrap();
        put32(&self.rings, word(ring_at::STATE), ring::LIVE);
        put32(&self.rings, word(ring_at::MAGIC), ring::MAGIC);
        FakeRing {
            rings: self.rings.try_clone().unwrap(),
            control: self.control.try_clone().unwrap(),
            at,
            size,
            capacity,
            stream: self.streams,
            head: base,
            overwrites: false,
            starts: Default::default(),
        }
    }

    /// An anchor as the program makes it.
    pub fn anchor(&self, number: u32, ticks: u64, monotonic_ns: u64, wall_ns: u64) {
        let entry = ANCHORS_AT + 32 * u64::from(number);
        let check = ticks ^ monotonic_ns ^ wall_ns ^ control::ANCHOR_CHECK;
        for (index, value) in [ticks, monotonic_ns, wall_ns, check].into_iter().enumerate() {
            put64(&self.control, entry + 8 * index as u64, value);
        }
        put32(&self.control, at::ANCHORS_NEXT as u64, number + 1);
    }

    /// Writes directives and states as an earlier controller did.
    pub fn set_mode(&self, directives: &str, states: &[u8]) {
        self.control.write_all_at(directives.as_bytes(), DIRECTIVES_AT).unwrap();
        put32(&self.control, at::DIRECTIVES_LEN as u64, directives.len() as u32);
        self.control.write_all_at(states, STATES_AT).unwrap();
    }

    /// The state bytes of the first sites.
    pub fn states(&self, count: usize) -> Vec<u8> {
        let mut states = vec![0; count];
        self.control.read_exact_at(&mut states, STATES_AT).unwrap();
        states
    }

    /// The process dies.
    pub fn die(&mut self) {
        self.owner = None;
    }

    pub fn is_there(&self) -> bool {
        self.path.exists()
    }

    pub fn control32(&self, at: usize) -> u32 {
        get32(&self.control, at as u64)
    }
}

impl FakeRing {
    pub fn get(&self, field: usize) -> u64 {
        get64(&self.rings, self.at + field as u64)
    }

    pub fn set(&self, field: usize, value: u64) {
        put64(&self.rings, self.at + field as u64, value);
    }

    pub fn set32(&self, field: usize, value: u32) {
        put32(&self.rings, self.at + field as u64, value);
    }

    /// Bytes straight into the data, at a position.
    pub fn poke(&self, position: u64, bytes: &[u8]) {
        self.rings.write_all_at(bytes, self.at + 256 + position % self.capacity).unwrap();
    }

    /// Records one value; waits for room.
    pub fn put(&mut self, site: u32, value: u64) {
        let mut args = [0; 8];
        args.copy_from_slice(&value.to_le_bytes());
        assert!(
            self.put_bytes(site, now(), &args, Duration::from_secs(300)),
            "the collector made no room for {value}"
        );
    }

    /// Records any arguments. False when there is no room in time.
    pub fn put_bytes(&mut self, site: u32, ticks: u64, args: &[u8], patience: Duration) -> bool {
        let size = (16 + args.len()).next_multiple_of(8) as u64;
        let offset = self.head % self.capacity;
        let pad = if offset + size > self.capacity { self.capacity - offset } else { 0 };
        let end = self.head + pad + size;
        if !self.make_room(end, patience) {
            return false;
        }
        if pad > 0 {
            self.poke(self.head, &pad.to_le_bytes());
        }
        let start = self.head + pad;
        let mut record = Vec::with_capacity(size as usize);
        record.extend_from_slice(&(size as u32).to_le_bytes());
        record.extend_from_slice(&site.to_le_bytes());
        record.extend_from_slice(&ticks.to_le_bytes());
        record.extend_from_slice(args);
        record.resize(size as usize, 0);
        self.poke(start, &record);
        self.starts.push_back(start);
        self.head = end;
        fence(Ordering::SeqCst);
        self.set(ring_at::COMMITTED, end);
        true
    }

    fn make_room(&mut self, end: u64, patience: Duration) -> bool {
        let start = Instant::now();
        loop {
            let free = self.get(ring_at::CONSUMED).max(self.get(ring_at::OLDEST));
            if end <= free + self.capacity {
                self.set32(ring_at::WAITING, 0);
                return true;
            }
            if self.overwrites {
                let need = end - self.capacity;
                while self.starts.front().is_some_and(|start| *start < need) {
                    self.starts.pop_front();
                }
                self.set(ring_at::OLDEST, self.starts.front().copied().unwrap_or(self.head));
                fence(Ordering::SeqCst);
                continue;
            }
            self.set32(ring_at::WAITING, 1);
            self.ring_doorbell();
            if start.elapsed() > patience {
                return false;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    /// Without the wake-up, which needs a map: a sleeping collector notices by the word, at its next look.
    fn ring_doorbell(&self) {
        let bell = get32(&self.control, at::DOORBELL as u64);
        put32(&self.control, at::DOORBELL as u64, bell.wrapping_add(1));
    }

    /// The owner leaves it.
    pub fn retire(&self) {
        self.set32(ring_at::STATE, ring::RETIRED);
    }
}

/// CLOCK_MONOTONIC, the fake's clock.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub fn boot_id() -> [u8; 16] {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    u128::from_str_radix(&text.trim().replace('-', ""), 16).unwrap().to_be_bytes()
}

pub fn get32(file: &File, at: u64) -> u32 {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at).unwrap();
    u32::from_le_bytes(bytes)
}

pub fn get64(file: &File, at: u64) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, at).unwrap();
    u64::from_le_bytes(bytes)
}

pub fn put32(file: &File, at: u64, value: u32) {
    file.write_all_at(&value.to_le_bytes(), at).unwrap();
}

pub fn put64(file: &File, at: u64, value: u64) {
    file.write_all_at(&value.to_le_bytes(), at).unwrap();
}
