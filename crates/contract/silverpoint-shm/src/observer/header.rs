//! The control file's header: read once, checked against itself and the files' sizes (spec/wire.md, section 3.1).

use silverpoint_wire::bytes::{array, u16_at, u32_at, u64_at};
use silverpoint_wire::layout::{self, control, control::at, ring};

use super::ObserveError;

/// The largest size of a session's file; the header cannot raise it.
const MAX_FILE: u64 = 64 << 30;
/// Most sites that a collector reads; further ones are ignored.
const MAX_SITES: u32 = 1 << 18;
/// Directive text that is read or written.
const MAX_DIRECTIVES: u32 = 1 << 20;
/// Process text that is read.
const MAX_PROCESS: u32 = 64 << 10;
/// Largest header of a ring.
const MAX_RING_HEADER: u32 = 1024;

/// The session's own description. Offsets and counts have been checked: every region lies within its file,
/// and every count is bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ControlHeader {
    pub version_minor: u16,
    /// Bit 0: a collector is expected; bit 1: recording was demanded by the environment.
    pub flags: u32,
    pub pid: u32,
    pub start_time: u64,
    pub boot_id: [u8; 16],
    pub uid: u32,
    pub pid_ns: u32,
    pub created_wall_ns: u64,
    pub session_id: [u8; 16],
    pub clock_source: u32,
    pub parent_pid: u32,
    pub ticks_per_second: u64,
    pub control_size: u64,
    pub rings_size: u64,
    pub slab_bytes: u32,
    pub slab_count: u32,
    pub slabs_at: u64,
    pub directives_at: u64,
    /// At most 1 MiB.
    pub directives_cap: u32,
    /// At most 262,144.
    pub sites_cap: u32,
    pub sites_at: u64,
    pub states_at: u64,
    pub anchors_cap: u32,
    pub anchors_at: u64,
    pub descs_at: u64,
    pub descs_size: u64,
    pub process_at: u64,
    /// At most 64 KiB.
    pub process_size: u32,
    /// At most 1 KiB.
    pub ring_header_size: u32,
    pub(super) fields: RingFields,
}

/// Offsets in a ring's header, in the order of `ring_fields`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RingFields {
    pub(super) state: usize,
    pub(super) owner_tid: usize,
    pub(super) capacity: usize,
    pub(super) data_at: usize,
    pub(super) stream: usize,
    pub(super) committed: usize,
    pub(super) oldest: usize,
    pub(super) waiting: usize,
    pub(super) consumed: usize,
    pub(super) wake: usize,
    pub(super) losses: usize,
    pub(super) name: usize,
}

impl ControlHeader {
    /// Reads the first 4096 bytes of a control file, given the sizes of both files.
    pub(super) fn decode(bytes: &[u8], control_len: u64, rings_len: u64) -> Result<Self, ObserveError> {
        const WHAT: &str = "control header";
        let refuse = |why: &str| Err(ObserveError::refused(WHAT, why));
        if bytes.len() < control::HEADER_SIZE {
            return refuse("it is shorter than 4096 bytes");
        }
        if bytes[..8] != control::MAGIC {
            return refuse("the magic is missing");
        }
        let [u16_field, u32_field] =
            [|b, at| u16_at(b, at).map_or(0, u32::from), |b, at| u32_at(b, at).unwrap_or(0)];
        let u64_field = |at| u64_at(bytes, at).unwrap_or(0);
        let major = u16_field(bytes, at::VERSION_MAJOR);
        if major != u32::from(layout::VERSION_MAJOR) {
            return Err(ObserveError::refused(WHAT, format!("its version is {major}, this program knows 1")));
        }
        let field = |index: usize| u16_field(bytes, at::RING_FIELDS + 2 * index) as usize;
        let header = Self {
            version_minor: u16_at(bytes, at::VERSION_MINOR).unwrap_or(0),
            flags: u32_field(bytes, at::FLAGS),
            pid: u32_field(bytes, at::PID),
            start_time: u64_field(at::START_TIME),
            boot_id: array(bytes, at::BOOT_ID).unwrap_or_default(),
            uid: u32_field(bytes, at::UID),
            pid_ns: u32_field(bytes, at::PID_NS),
            created_wall_ns: u64_field(at::CREATED_WALL_NS),
            session_id: array(bytes, at::SESSION_ID).unwrap_or_default(),
            clock_source: u32_field(bytes, at::CLOCK_SOURCE),
            parent_pid: u32_field(bytes, at::PARENT_PID),
            ticks_per_second: u64_field(at::TICKS_PER_SECOND),
            control_size: u64_field(at::CONTROL_SIZE),
            rings_size: u64_field(at::RINGS_SIZE),
            slab_bytes: u32_field(bytes, at::SLAB_BYTES),
            slab_count: u32_field(bytes, at::SLAB_COUNT),
            slabs_at: u64_field(at::SLABS_AT),
            directives_at: u64_field(at::DIRECTIVES_AT),
            directives_cap: u32_field(bytes, at::DIRECTIVES_CAP).min(MAX_DIRECTIVES),
            sites_cap: u32_field(bytes, at::SITES_CAP).min(MAX_SITES),
            sites_at: u64_field(at::SITES_AT),
            states_at: u64_field(at::STATES_AT),
            anchors_cap: u32_field(bytes, at::ANCHORS_CAP),
            anchors_at: u64_field(at::ANCHORS_AT),
            descs_at: u64_field(at::DESCS_AT),
            descs_size: u64_field(at::DESCS_SIZE),
            process_at: u64_field(at::PROCESS_AT),
            process_size: u32_field(bytes, at::PROCESS_SIZE).min(MAX_PROCESS),
            ring_header_size: u32_field(bytes, at::RING_HEADER_SIZE),
            fields: RingFields {
                state: field(0),
                owner_tid: field(1),
                capacity: field(2),
                data_at: field(3),
                stream: field(4),
                committed: field(5),
                oldest: field(6),
                waiting: field(7),
                consumed: field(8),
                wake: field(9),
                losses: field(10),
                name: field(11),
            },
        };
        header.check(control_len, rings_len)?;
        Ok(header)
    }

    fn check(&self, control_len: u64, rings_len: u64) -> Result<(), ObserveError> {
        let refuse = |why: String| Err(ObserveError::refused("control header", why));
        if self.control_size > control_len || self.control_size > MAX_FILE {
            return refuse(format!(
                "control_size {} exceeds the file's {control_len} bytes",
                self.control_size
            ));
        }
        if self.rings_size > rings_len || self.rings_size > MAX_FILE {
            return refuse(format!("rings_size {} exceeds the file's {rings_len} bytes", self.rings_size));
        }
        let slab_sizes = ring::SLAB_MIN as u32..=ring::SLAB_MAX as u32;
        if !self.slab_bytes.is_power_of_two() || !slab_sizes.contains(&self.slab_bytes) {
            return refuse(format!("slab_bytes {} is no power of two from 64 KiB to 1 MiB", self.slab_bytes));
        }
        if u64::from(self.slab_count) * u64::from(self.slab_bytes) > self.rings_size {
            return refuse(format!("{} slabs do not fit the ring file", self.slab_count));
        }
        // Atomic words need their alignment; the header itself is no place for a table.
        let regions = [
            ("slabs_at", self.slabs_at, u64::from(self.slab_count) * control::SLAB_ENTRY as u64, 4),
            ("directives_at", self.directives_at, self.directives_cap.into(), 1),
            ("sites_at", self.sites_at, u64::from(self.sites_cap) * layout::site_entry::SIZE as u64, 8),
            ("states_at", self.states_at, self.sites_cap.into(), 1),
            ("anchors_at", self.anchors_at, u64::from(self.anchors_cap) * control::ANCHOR_ENTRY as u64, 8),
            ("descs_at", self.descs_at, self.descs_size, 8),
            ("process_at", self.process_at, self.process_size.into(), 1),
        ];
        for (name, at, size, align) in regions {
            let fits = at.checked_add(size).is_some_and(|end| end <= self.control_size);
            if !fits || at % align != 0 || (size > 0 && at < control::HEADER_SIZE as u64) {
                return refuse(format!("{name} {at} with {size} bytes does not lie in the control file"));
            }
        }
        let size = self.ring_header_size;
        if !(ring::HEADER_SIZE as u32..=MAX_RING_HEADER).contains(&size) || size % 64 != 0 {
            return refuse(format!("ring_header_size {size} is no multiple of 64 from 256 to 1024"));
        }
        let f = &self.fields;
        let words =
            [f.state, f.owner_tid, f.capacity, f.data_at, f.stream, f.waiting, f.wake].map(|at| (at, 4, 4));
        let wides =
            [(f.committed, 8, 8), (f.oldest, 8, 8), (f.consumed, 8, 8), (f.losses, 64, 8), (f.name, 16, 1)];
        for (at, len, align) in words.into_iter().chain(wides) {
            if at % align != 0 || at + len > size as usize {
                return refuse(format!("a ring field at {at} does not lie in the ring's header"));
            }
        }
        Ok(())
    }
}
