//! Slices: finding rings, copying their bytes, releasing them.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{Ordering, fence};

use silverpoint_wire::bytes::u32_at;
use silverpoint_wire::layout::control::{SLAB_ENTRY, at};
use silverpoint_wire::layout::ring::{self, at as ring_at};
use silverpoint_wire::slice::RingHeader;

use super::error::{ObserveError, ObserveErrorKind};
use super::session::{ObservedSession, read_exact};

/// A slice that holds a ring, as it was when it was looked at.
#[derive(Clone, Copy, Debug)]
pub struct RingRef {
    /// Offset of the slice in the ring file.
    pub offset: u64,
    /// Size of the slice.
    pub size: usize,
    /// Its header; not validated beyond magic and state.
    pub header: RingHeader,
}

impl ObservedSession {
    /// All rings that hold or held a stream and are not free, in the order of their slices. Work is bounded by the size of the ring file.
    pub fn rings(&self, out: &mut Vec<RingRef>) -> Result<(), ObserveError> {
        out.clear();
        let header = self.header();
        let slabs = self.control_u32(at::SLABS_NEXT)?.min(header.slab_count);
        let mut directory = vec![0; slabs as usize * SLAB_ENTRY];
        self.read_control(&mut directory, header.slabs_at)?;
        let slab_bytes = header.slab_bytes as usize;
        for (slab, entry) in directory.chunks_exact(SLAB_ENTRY).enumerate() {
            let shift = u32_at(entry, 0).unwrap_or(0);
            let claimed = u32_at(entry, 4).unwrap_or(0) as usize;
            let size = 1_usize.checked_shl(shift).unwrap_or(0);
            if size < ring::SLICE_SIZES[0] || size > slab_bytes {
                continue;
            }
            for slice in 0..claimed.min(slab_bytes / size) {
                let offset = (slab * slab_bytes + slice * size) as u64;
                let ring = self.ring_at(offset, size)?;
                if ring.header.is_in_use() {
                    out.push(ring);
                }
            }
        }
        Ok(())
    }

    /// The ring at this offset, read anew.
    pub fn ring_at(&self, offset: u64, size: usize) -> Result<RingRef, ObserveError> {
        let mut bytes = [0; ring::HEADER_SIZE];
        self.read_rings(&mut bytes, offset)?;
        // The data that are read after this are at least as new as these positions (pairs with the producer's release store).
        fence(Ordering::Acquire);
        let header =
            RingHeader::decode(&bytes).ok_or_else(|| self.fail("rings", ObserveErrorKind::Shrunk(offset)))?;
        Ok(RingRef { offset, size, header })
    }

    /// Copies the bytes of positions [from, to) into `buffer`, whose length is to − from. The range must have been validated
    /// ([`RingHeader::valid_range`]).
    pub fn read_ring(&self, ring: &RingRef, from: u64, buffer: &mut [u8]) -> Result<(), ObserveError> {
        let capacity = u64::from(ring.header.capacity);
        let data = ring.offset + u64::from(ring.header.data_at);
        let start = from % capacity;
        let first = buffer.len().min((capacity - start) as usize);
        let (head, tail) = buffer.split_at_mut(first);
        self.read_rings(head, data + start)?;
        if !tail.is_empty() {
            self.read_rings(tail, data)?;
        }
        Ok(())
    }

    /// After a copy: where the producer's overwriting has come to, and whether the ring still holds the same stream. What lies before the first must
    /// be discarded; without the second, everything.
    pub fn overtaken(&self, ring: &RingRef) -> Result<(u64, bool), ObserveError> {
        fence(Ordering::Acquire);
        let now = self.ring_at(ring.offset, ring.size)?.header;
        Ok((now.oldest.max(now.base), now.stream == ring.header.stream && now.is_in_use()))
    }

    /// Tells the producer that everything before `position` is stored, and wakes it if it waits for room.
    pub fn release(&self, ring: &RingRef, position: u64) -> Result<(), ObserveError> {
        self.write_rings(&position.to_le_bytes(), ring.offset + ring_at::CONSUMED as u64)?;
        // The producer stores `waiting`, then looks at `consumed`; here it is the other way round: one of both sees the other.
        fence(Ordering::SeqCst);
        let mut word = [0; 4];
        self.read_rings(&mut word, ring.offset + ring_at::WAITING as u64)?;
        if u32::from_le_bytes(word) != 0 {
            self.wake(ring)?;
        }
        Ok(())
    }

    /// Wakes the producer of a ring.
    pub fn wake(&self, ring: &RingRef) -> Result<(), ObserveError> {
        let offset = ring.offset + ring_at::WAKE as u64;
        let mut word = [0; 4];
        self.read_rings(&mut word, offset)?;
        self.write_rings(&u32::from_le_bytes(word).wrapping_add(1).to_le_bytes(), offset)?;
        self.rings_map.wake(offset);
        Ok(())
    }

    fn read_rings(&self, buffer: &mut [u8], offset: u64) -> Result<(), ObserveError> {
        read_exact(&self.rings, &self.path().join("rings"), buffer, offset)
    }

    fn write_rings(&self, bytes: &[u8], offset: u64) -> Result<(), ObserveError> {
        self.rings.write_all_at(bytes, offset).map_err(|e| self.fail("rings", ObserveErrorKind::Io(e)))
    }
}
