//! The mapped control file: where everything is in it, checked once, and typed access to its words.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::at;
use crate::{memory, sys};

/// What a control header says about places and sizes; constant as long as the session lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    pub(crate) control_size: u64,
    pub(crate) rings_size: u64,
    pub(crate) slab_bytes: u32,
    pub(crate) slab_count: u32,
    pub(crate) slabs_at: u64,
    pub(crate) directives_at: u64,
    pub(crate) directives_cap: u32,
    pub(crate) sites_cap: u32,
    pub(crate) sites_at: u64,
    pub(crate) states_at: u64,
    pub(crate) index_at: u64,
    pub(crate) index_cap: u32,
    pub(crate) anchors_cap: u32,
    pub(crate) anchors_at: u64,
    pub(crate) descs_at: u64,
    pub(crate) descs_size: u64,
    pub(crate) process_at: u64,
    pub(crate) process_size: u32,
    pub(crate) ring_header_size: u32,
    pub(crate) ring_fields: [u16; 12],
}

const SITES_CAP: u32 = 32_768;
const INDEX_CAP: u32 = 65_536;
const ANCHORS_CAP: u32 = 64;
const DIRECTIVES_CAP: u32 = 16_384;
const DESCS_SIZE: u64 = 8 << 20;
/// Longest process text; a longer command line is cut.
pub(crate) const PROCESS_CAP: usize = 4096;
/// The largest size of a session's file; the header cannot raise it: a bound on what is mapped when joining.
const MAX_FILE: u64 = 64 << 30;

impl Layout {
    /// A new session's: rings of `rings_size` bytes (rounded to slabs), everything sparse.
    pub(crate) fn new(rings_size: u64) -> Self {
        let (slab_bytes, slab_count) = memory::slabs_of(rings_size);
        let (slab_bytes, slab_count) = (u64::from(slab_bytes), u64::from(slab_count));
        let page = sys::page_size() as u64;
        let mut next = at::control::HEADER_SIZE as u64;
        let mut place = |bytes: u64, align: u64| {
            let place = next.next_multiple_of(align);
            next = place + bytes;
            place
        };
        // What is always needed stands together at the start; each sparse table begins at a page.
        let anchors_at = place(u64::from(ANCHORS_CAP) * at::control::ANCHOR_ENTRY as u64, 64);
        let slabs_at = place(slab_count * at::control::SLAB_ENTRY as u64, 64);
        let process_at = place(PROCESS_CAP as u64, 64);
        let directives_at = place(u64::from(DIRECTIVES_CAP), page);
        let states_at = place(u64::from(SITES_CAP), page);
        let index_at = place(u64::from(INDEX_CAP) * 4, page);
        let sites_at = place(u64::from(SITES_CAP) * at::site_entry::SIZE as u64, page);
        let descs_at = place(DESCS_SIZE, page);
        Self {
            control_size: next.next_multiple_of(page),
            rings_size: slab_count * slab_bytes,
            slab_bytes: slab_bytes as u32,
            slab_count: slab_count as u32,
            slabs_at,
            directives_at,
            directives_cap: DIRECTIVES_CAP,
            sites_cap: SITES_CAP,
            sites_at,
            states_at,
            index_at,
            index_cap: INDEX_CAP,
            anchors_cap: ANCHORS_CAP,
            anchors_at,
            descs_at,
            descs_size: DESCS_SIZE,
            process_at,
            process_size: 0,
            ring_header_size: at::ring::HEADER_SIZE as u32,
            ring_fields: at::ring::FIELDS,
        }
    }

    /// Bytes at the start that a new session needs backed: everything before the directives.
    pub(crate) fn head_bytes(&self) -> usize {
        self.directives_at as usize
    }

    /// Writes it into a header.
    pub(crate) fn write(&self, header: &mut [u8]) {
        put32(header, at::header::HEADER_SIZE, at::control::HEADER_SIZE as u32);
        put64(header, at::header::CONTROL_SIZE, self.control_size);
        put64(header, at::header::RINGS_SIZE, self.rings_size);
        put32(header, at::header::SLAB_BYTES, self.slab_bytes);
        put32(header, at::header::SLAB_COUNT, self.slab_count);
        put64(header, at::header::SLABS_AT, self.slabs_at);
        put64(header, at::header::DIRECTIVES_AT, self.directives_at);
        put32(header, at::header::DIRECTIVES_CAP, self.directives_cap);
        put32(header, at::header::SITES_CAP, self.sites_cap);
        put64(header, at::header::SITES_AT, self.sites_at);
        put64(header, at::header::STATES_AT, self.states_at);
        put64(header, at::header::INDEX_AT, self.index_at);
        put32(header, at::header::INDEX_CAP, self.index_cap);
        put32(header, at::header::ANCHORS_CAP, self.anchors_cap);
        put64(header, at::header::ANCHORS_AT, self.anchors_at);
        put64(header, at::header::DESCS_AT, self.descs_at);
        put64(header, at::header::DESCS_SIZE, self.descs_size);
        put64(header, at::header::PROCESS_AT, self.process_at);
        put32(header, at::header::PROCESS_SIZE, self.process_size);
        put32(header, at::header::RING_HEADER_SIZE, self.ring_header_size);
        for (i, field) in self.ring_fields.iter().enumerate() {
            header[at::header::RING_FIELDS + 2 * i..][..2].copy_from_slice(&field.to_le_bytes());
        }
    }

    /// Reads it from a header of `control_len` bytes' file; `None` when it contradicts itself or the file.
    pub(crate) fn read(header: &[u8], control_len: u64, rings_len: u64) -> Option<Self> {
        if header.len() < at::HEADER_CONSTANT
            || header[..8] != at::control::MAGIC
            || get16(header, at::header::VERSION_MAJOR) != at::VERSION_MAJOR
        {
            return None;
        }
        let layout = Self {
            control_size: get64(header, at::header::CONTROL_SIZE),
            rings_size: get64(header, at::header::RINGS_SIZE),
            slab_bytes: get32(header, at::header::SLAB_BYTES),
            slab_count: get32(header, at::header::SLAB_COUNT),
            slabs_at: get64(header, at::header::SLABS_AT),
            directives_at: get64(header, at::header::DIRECTIVES_AT),
            directives_cap: get32(header, at::header::DIRECTIVES_CAP),
            sites_cap: get32(header, at::header::SITES_CAP),
            sites_at: get64(header, at::header::SITES_AT),
            states_at: get64(header, at::header::STATES_AT),
            index_at: get64(header, at::header::INDEX_AT),
            index_cap: get32(header, at::header::INDEX_CAP),
            anchors_cap: get32(header, at::header::ANCHORS_CAP),
            anchors_at: get64(header, at::header::ANCHORS_AT),
            descs_at: get64(header, at::header::DESCS_AT),
            descs_size: get64(header, at::header::DESCS_SIZE),
            process_at: get64(header, at::header::PROCESS_AT),
            process_size: get32(header, at::header::PROCESS_SIZE),
            ring_header_size: get32(header, at::header::RING_HEADER_SIZE),
            ring_fields: std::array::from_fn(|i| get16(header, at::header::RING_FIELDS + 2 * i)),
        };
        layout.is_consistent(control_len, rings_len).then_some(layout)
    }

    fn is_consistent(&self, control_len: u64, rings_len: u64) -> bool {
        let within = |place: u64, count: u64, bytes: u64, align: u64| {
            place % align == 0
                && count
                    .checked_mul(bytes)
                    .and_then(|size| place.checked_add(size))
                    .is_some_and(|end| end <= self.control_size)
        };
        self.control_size <= control_len
            && self.rings_size <= rings_len
            && self.control_size <= MAX_FILE
            && self.rings_size <= MAX_FILE
            && self.slab_bytes.is_power_of_two()
            && (64 << 10..=1 << 20).contains(&self.slab_bytes)
            && u64::from(self.slab_count) * u64::from(self.slab_bytes) <= self.rings_size
            && self.index_cap.is_power_of_two()
            && u64::from(self.index_cap) >= 2 * u64::from(self.sites_cap)
            && self.sites_cap > 0
            && self.anchors_cap > 0
            && within(self.slabs_at, self.slab_count.into(), at::control::SLAB_ENTRY as u64, 4)
            && within(self.directives_at, self.directives_cap.into(), 1, 1)
            && within(self.sites_at, self.sites_cap.into(), at::site_entry::SIZE as u64, 8)
            && within(self.states_at, self.sites_cap.into(), 1, 1)
            && within(self.index_at, self.index_cap.into(), 4, 4)
            && within(self.anchors_at, self.anchors_cap.into(), at::control::ANCHOR_ENTRY as u64, 8)
            && within(self.descs_at, self.descs_size, 1, 8)
            && within(self.process_at, self.process_size.into(), 1, 1)
            && (at::ring::HEADER_SIZE as u32..=1024).contains(&self.ring_header_size)
            && self.ring_header_size % 64 == 0
            && self
                .ring_fields
                .iter()
                .all(|field| u32::from(*field) + 64 <= self.ring_header_size && field % 4 == 0)
            && [5, 6, 8, 10].iter().all(|wide| self.ring_fields[*wide] % 8 == 0)
    }
}

pub(crate) fn get16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}
pub(crate) fn get32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
pub(crate) fn get64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
pub(crate) fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}
pub(crate) fn put64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// A mapping of a session's file, or a part of one: an address that stays mapped as long as the process
/// lives. (A fork's replacement is mapped over it.) Access is atomic, since other threads and processes use
/// the same bytes.
#[derive(Clone, Copy)]
pub(crate) struct Shared(*mut u8);

impl Shared {
    /// # Safety
    /// `address` is the start of a shared, writable mapping, aligned to a page. The mapping stays for as long
    /// as the value or a copy of it is used.
    pub(crate) unsafe fn new(address: *mut u8) -> Self {
        Self(address)
    }

    pub(crate) fn address(self) -> *mut u8 {
        self.0
    }

    /// # Safety
    /// `at` lies within the mapping.
    pub(crate) unsafe fn part(self, at: usize) -> Self {
        // SAFETY: by the caller.
        Self(unsafe { self.0.add(at) })
    }

    /// # Safety
    /// `at .. at + 1` lies within the mapping, backed by memory.
    pub(crate) unsafe fn u8(self, at: usize) -> &'static AtomicU8 {
        // SAFETY: by the caller; the mapping outlives the process's use of it.
        unsafe { &*self.0.add(at).cast() }
    }

    /// # Safety
    /// `at .. at + 2` lies within the mapping, backed by memory; `at` is a multiple of 2.
    pub(crate) unsafe fn u16(self, at: usize) -> &'static AtomicU16 {
        // SAFETY: by the caller.
        unsafe { &*self.0.add(at).cast() }
    }

    /// # Safety
    /// `at .. at + 4` lies within the mapping, backed by memory; `at` is a multiple of 4.
    #[inline]
    pub(crate) unsafe fn u32(self, at: usize) -> &'static AtomicU32 {
        // SAFETY: by the caller.
        unsafe { &*self.0.add(at).cast() }
    }

    /// # Safety
    /// `at .. at + 8` lies within the mapping, backed by memory; `at` is a multiple of 8.
    pub(crate) unsafe fn u64(self, at: usize) -> &'static AtomicU64 {
        // SAFETY: by the caller.
        unsafe { &*self.0.add(at).cast() }
    }

    /// Stores bytes, with no order.
    ///
    /// # Safety
    /// `at .. at + bytes.len()` lies within the mapping, backed by memory.
    pub(crate) unsafe fn write(self, at: usize, bytes: &[u8]) {
        for (i, byte) in bytes.iter().enumerate() {
            // SAFETY: by the caller.
            unsafe { self.u8(at + i) }.store(*byte, Ordering::Relaxed);
        }
    }

    /// Loads bytes, with no order.
    ///
    /// # Safety
    /// `at .. at + bytes.len()` lies within the mapping, backed by memory.
    pub(crate) unsafe fn read(self, at: usize, bytes: &mut [u8]) {
        for (i, byte) in bytes.iter_mut().enumerate() {
            // SAFETY: by the caller.
            *byte = unsafe { self.u8(at + i) }.load(Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header_of(layout: &Layout) -> Vec<u8> {
        let mut header = vec![0u8; at::control::HEADER_SIZE];
        header[..8].copy_from_slice(&at::control::MAGIC);
        header[at::header::VERSION_MAJOR] = at::VERSION_MAJOR as u8;
        layout.write(&mut header);
        header
    }

    #[test]
    fn a_layout_reads_back() {
        for rings in [64 << 10, 1 << 20, 5 << 20, 32 << 20, 1 << 30] {
            let layout = Layout::new(rings);
            assert!(layout.rings_size <= rings);
            assert_eq!(
                Layout::read(&header_of(&layout), layout.control_size, layout.rings_size),
                Some(layout)
            );
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let layout = Layout::new(32 << 20);
        let good = header_of(&layout);
        let judge = |header: &[u8]| Layout::read(header, layout.control_size, layout.rings_size);
        assert!(Layout::read(&good, layout.control_size - 1, layout.rings_size).is_none(), "file cut");
        assert!(Layout::read(&good[..100], layout.control_size, layout.rings_size).is_none(), "header cut");
        for field in [
            at::header::SLABS_AT,
            at::header::SITES_AT,
            at::header::STATES_AT,
            at::header::INDEX_AT,
            at::header::DESCS_AT,
            at::header::DESCS_SIZE,
        ] {
            for value in [u64::MAX, u64::MAX - 7, layout.control_size] {
                let mut bad = good.clone();
                put64(&mut bad, field, value);
                assert!(judge(&bad).is_none(), "field at {field}: {value:#x}");
            }
        }
        for (field, value) in [
            (at::header::SLAB_BYTES, 3 << 20),
            (at::header::INDEX_CAP, 1000),
            (at::header::SITES_CAP, u32::MAX),
        ] {
            let mut bad = good.clone();
            put32(&mut bad, field, value);
            assert!(judge(&bad).is_none(), "field at {field}: {value:#x}");
        }
    }
}
