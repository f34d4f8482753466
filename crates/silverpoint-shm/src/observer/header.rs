//! The control header, checked.

use silverpoint_wire::bytes::{array, u16_at, u32_at, u64_at};
use silverpoint_wire::layout::control::{ANCHOR_ENTRY, HEADER_SIZE, MAGIC, SLAB_ENTRY, at};
use silverpoint_wire::layout::{VERSION_MAJOR, ring, site_entry};

use super::error::ObserveErrorKind;

/// Limits on what a header may state, so that nothing that it says can make a reader work or allocate without bound.
mod limit {
    pub(super) const SITES: u64 = 1 << 20;
    pub(super) const INDEX: u64 = 1 << 22;
    pub(super) const DIRECTIVES: u64 = 1 << 20;
    pub(super) const PROCESS: u64 = 1 << 16;
    pub(super) const ANCHORS: u64 = 1 << 12;
    pub(super) const RINGS: u64 = 1 << 36;
    pub(super) const SLABS: u64 = 1 << 16;
}

/// The parts of the control header that do not change. Every region lies within the file as it was when the session was opened.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Header {
    pub version_minor: u16,
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
    pub rings_size: u64,
    pub slab_bytes: u32,
    pub slab_count: u32,
    pub slabs_at: u64,
    pub directives_at: u64,
    pub directives_cap: u32,
    pub sites_cap: u32,
    pub sites_at: u64,
    pub states_at: u64,
    pub anchors_cap: u32,
    pub anchors_at: u64,
    pub descs_at: u64,
    pub descs_size: u64,
    pub process_at: u64,
    pub process_size: u32,
}

impl Header {
    /// Reads the first 4096 bytes of a control file of `file_size` bytes.
    pub(super) fn decode(bytes: &[u8; HEADER_SIZE], file_size: u64) -> Result<Header, ObserveErrorKind> {
        let u32_field = |at| u32_at(bytes, at).unwrap_or(0);
        let u64_field = |at| u64_at(bytes, at).unwrap_or(0);
        if bytes[..8] != MAGIC {
            return Err(ObserveErrorKind::Magic);
        }
        let major = u16_at(bytes, at::VERSION_MAJOR).unwrap_or(0);
        if major != VERSION_MAJOR {
            return Err(ObserveErrorKind::Version(major));
        }
        let header = Header {
            version_minor: u16_at(bytes, at::VERSION_MINOR).unwrap_or(0),
            flags: u32_field(at::FLAGS),
            pid: u32_field(at::PID),
            start_time: u64_field(at::START_TIME),
            boot_id: array(bytes, at::BOOT_ID).unwrap_or_default(),
            uid: u32_field(at::UID),
            pid_ns: u32_field(at::PID_NS),
            created_wall_ns: u64_field(at::CREATED_WALL_NS),
            session_id: array(bytes, at::SESSION_ID).unwrap_or_default(),
            clock_source: u32_field(at::CLOCK_SOURCE),
            parent_pid: u32_field(at::PARENT_PID),
            ticks_per_second: u64_field(at::TICKS_PER_SECOND),
            rings_size: u64_field(at::RINGS_SIZE),
            slab_bytes: u32_field(at::SLAB_BYTES),
            slab_count: u32_field(at::SLAB_COUNT),
            slabs_at: u64_field(at::SLABS_AT),
            directives_at: u64_field(at::DIRECTIVES_AT),
            directives_cap: u32_field(at::DIRECTIVES_CAP),
            sites_cap: u32_field(at::SITES_CAP),
            sites_at: u64_field(at::SITES_AT),
            states_at: u64_field(at::STATES_AT),
            anchors_cap: u32_field(at::ANCHORS_CAP),
            anchors_at: u64_field(at::ANCHORS_AT),
            descs_at: u64_field(at::DESCS_AT),
            descs_size: u64_field(at::DESCS_SIZE),
            process_at: u64_field(at::PROCESS_AT),
            process_size: u32_field(at::PROCESS_SIZE),
        };
        header.check(u32_field(at::INDEX_CAP), file_size)?;
        Ok(header)
    }

    fn check(&self, index_cap: u32, file_size: u64) -> Result<(), ObserveErrorKind> {
        let most = |field, value: u64, most| {
            if value <= most { Ok(()) } else { Err(ObserveErrorKind::Header(field, value)) }
        };
        most("sites_cap", self.sites_cap.into(), limit::SITES)?;
        most("index_cap", index_cap.into(), limit::INDEX)?;
        most("directives_cap", self.directives_cap.into(), limit::DIRECTIVES)?;
        most("process_size", self.process_size.into(), limit::PROCESS)?;
        most("anchors_cap", self.anchors_cap.into(), limit::ANCHORS)?;
        most("rings_size", self.rings_size, limit::RINGS)?;
        most("slab_count", self.slab_count.into(), limit::SLABS)?;
        let slab = self.slab_bytes as usize;
        if !slab.is_power_of_two() || !(ring::SLAB_MIN..=ring::SLAB_MAX).contains(&slab) {
            return Err(ObserveErrorKind::Header("slab_bytes", self.slab_bytes.into()));
        }
        if u64::from(self.slab_count) > self.rings_size / u64::from(self.slab_bytes) {
            return Err(ObserveErrorKind::Header("slab_count", self.slab_count.into()));
        }
        let sites = u64::from(self.sites_cap);
        let regions = [
            ("slabs_at", self.slabs_at, u64::from(self.slab_count) * SLAB_ENTRY as u64),
            ("directives_at", self.directives_at, self.directives_cap.into()),
            ("sites_at", self.sites_at, sites * site_entry::SIZE as u64),
            ("states_at", self.states_at, sites),
            ("anchors_at", self.anchors_at, u64::from(self.anchors_cap) * ANCHOR_ENTRY as u64),
            ("descs_at", self.descs_at, self.descs_size),
            ("process_at", self.process_at, self.process_size.into()),
        ];
        for (field, at, size) in regions {
            let fits = at >= HEADER_SIZE as u64 && at.checked_add(size).is_some_and(|end| end <= file_size);
            if size > 0 && !fits {
                return Err(ObserveErrorKind::Header(field, at));
            }
        }
        Ok(())
    }

    /// `session_id` as 32 hexadecimal digits.
    pub fn session_id_text(&self) -> String {
        self.session_id.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
