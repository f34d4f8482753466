//! Rings as the collector sees them: slabs, headers, data, and the words that it may write (spec/wire.md, sections 3.4 and 4).
//!
//! The order of one ring's batch:
//!
//! ```text
//!  ring()       header; `committed` a second time, the smaller counts
//!  read_data()  copy [from, committed)
//!  fence; revalidate()   stream, base and state as before? `oldest` now: what lies before it may have been overwritten during the copy
//!  … judge the copy, store it …
//!  set_consumed(); wake()
//! ```

use std::fmt;
use std::sync::atomic::{Ordering, fence};

use silverpoint_wire::bytes::{array, u16_at, u32_at, u64_at};
use silverpoint_wire::layout::control::{SLAB_ENTRY, SLAB_PREPARED};
use silverpoint_wire::layout::ring::{CLAIMING, FREE, MAGIC, SLICE_SIZES, STATE_MASK, at};
use silverpoint_wire::slice::RingHeader;

use super::files::{read_exact, read_u32, read_u64, write_all};
use super::session::{CONTROL, RINGS};
use super::{ObserveError, ObservedSession};
use crate::platform::room;

/// Most slices of one session that are read: a bound on memory. Further ones are ignored.
pub const MAX_RINGS: usize = 1 << 17;
/// Readings of a word until two agree.
const MAX_READINGS: usize = 8;
/// Largest header of a ring, as the control header's check admits.
const MAX_HEADER: usize = 1024;

/// A place where a ring is or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slice {
    /// Offset in the ring file.
    pub at: u64,
    /// Bytes, header included.
    pub size: u32,
}

/// What is in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing: it was never used, or was given back.
    Free,
    /// Somebody is making a ring of it.
    Claiming,
    /// A ring with contents, living or left.
    Ring(RingHeader),
}

/// An entry of the slab directory (spec/wire.md, section 3.4). Not judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Slab {
    pub shift: u32,
    pub next: u32,
    pub backed: u32,
    pub prepared: u32,
}

/// A slab that contradicts the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlabFault {
    /// Its number.
    pub slab: u32,
    /// log2 of its slices' size, as stated.
    pub shift: u32,
}

impl fmt::Display for SlabFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slab {} has slices of 2^{} bytes, which no ring has", self.slab, self.shift)
    }
}

impl ObservedSession {
    /// Puts all slices that were ever claimed into `slices` (cleared before), at most [`MAX_RINGS`]. `slabs_next` is the counter of that name.
    pub fn slices(
        &self,
        slabs_next: u32,
        slices: &mut Vec<Slice>,
        mut fault: impl FnMut(SlabFault),
    ) -> Result<(), ObserveError> {
        slices.clear();
        let header = &self.header;
        let slabs = slabs_next.min(header.slab_count);
        let mut chunk = [0; 256 * SLAB_ENTRY];
        let mut slab = 0;
        while slab < slabs && slices.len() < MAX_RINGS {
            let count = (slabs - slab).min(256) as usize;
            let entries = &mut chunk[..count * SLAB_ENTRY];
            read_exact(
                &self.control,
                CONTROL,
                entries,
                header.slabs_at + u64::from(slab) * SLAB_ENTRY as u64,
            )?;
            for entry in entries.chunks_exact(SLAB_ENTRY) {
                let shift = u32_at(entry, 0).unwrap_or(0);
                let next = u32_at(entry, 4).unwrap_or(0);
                let size = 1u32.checked_shl(shift).unwrap_or(0);
                let known = SLICE_SIZES.contains(&(size as usize)) || size == header.slab_bytes;
                if shift == 0 {
                    // Claimed by number, its size not yet written.
                } else if known && size <= header.slab_bytes {
                    let start = u64::from(slab) * u64::from(header.slab_bytes);
                    let count = next.min(header.slab_bytes >> shift).min((MAX_RINGS - slices.len()) as u32);
                    slices.extend(
                        (0..u64::from(count)).map(|i| Slice { at: start + i * u64::from(size), size }),
                    );
                } else {
                    fault(SlabFault { slab, shift });
                }
                slab += 1;
            }
        }
        Ok(())
    }

    /// The header of a ring; `None` when nothing was ever in the slice, or it is being claimed. Not judged: see [`RingHeader::valid_range`].
    pub fn ring(&self, slice: Slice) -> Result<Option<RingHeader>, ObserveError> {
        Ok(match self.look(slice)? {
            Look::Ring(header) => Some(header),
            Look::Free | Look::Claiming => None,
        })
    }

    /// As [`Self::ring`], and distinguishes free slices from those that are being claimed.
    pub fn look(&self, slice: Slice) -> Result<Look, ObserveError> {
        let mut look = self.read_header(slice)?;
        if let Look::Ring(header) = &mut look {
            if header.committed != header.consumed {
                let again = read_u64(&self.rings, RINGS, slice.at + self.header.fields.committed as u64)?;
                header.committed = header.committed.min(again);
            }
        }
        Ok(look)
    }

    fn read_header(&self, slice: Slice) -> Result<Look, ObserveError> {
        let mut bytes = [0; MAX_HEADER];
        let bytes = &mut bytes[..self.header.ring_header_size as usize];
        read_exact(&self.rings, RINGS, bytes, slice.at)?;
        Ok(match self.decode_header(bytes) {
            Some(header) if header.state == CLAIMING => Look::Claiming,
            Some(header) if header.magic == MAGIC && header.state != FREE => Look::Ring(header),
            // The magic is written last: with another state it is about to be there.
            Some(header) if header.state != FREE => Look::Claiming,
            _ => Look::Free,
        })
    }

    /// By the offsets of the session's own header.
    fn decode_header(&self, bytes: &[u8]) -> Option<RingHeader> {
        let fields = &self.header.fields;
        let mut losses = [0; silverpoint_wire::layout::CAUSES];
        for (cause, loss) in losses.iter_mut().enumerate() {
            *loss = u64_at(bytes, fields.losses + 8 * cause)?;
        }
        Some(RingHeader {
            magic: u32_at(bytes, at::MAGIC)?,
            state: u32_at(bytes, fields.state)? & STATE_MASK,
            owner_tid: u32_at(bytes, fields.owner_tid)?,
            stream: u32_at(bytes, fields.stream)?,
            capacity: u32_at(bytes, fields.capacity)?,
            data_at: u32_at(bytes, fields.data_at)?,
            lane: u16_at(bytes, at::LANE)?,
            copy: u16_at(bytes, at::COPY)?,
            previous: u32_at(bytes, at::PREVIOUS)?,
            claimed_ticks: u64_at(bytes, at::CLAIMED_TICKS)?,
            name: array(bytes, fields.name)?,
            base: u64_at(bytes, at::BASE)?,
            committed: u64_at(bytes, fields.committed)?,
            oldest: u64_at(bytes, fields.oldest)?,
            waiting: u32_at(bytes, fields.waiting)?,
            stalls: u64_at(bytes, at::STALLS)?,
            stall_ns: u64_at(bytes, at::STALL_NS)?,
            consumed: u64_at(bytes, fields.consumed)?,
            wake: u32_at(bytes, fields.wake)?,
            losses,
        })
    }

    /// Copies the bytes from position `from` on into the buffer, unwrapped. The header's shape must have been judged, and the range must lie within the
    /// capacity.
    pub fn read_data(
        &self,
        slice: Slice,
        header: &RingHeader,
        from: u64,
        buffer: &mut [u8],
    ) -> Result<(), ObserveError> {
        let data = slice.at + u64::from(header.data_at);
        let offset = from % u64::from(header.capacity.max(1));
        let first = buffer.len().min((u64::from(header.capacity) - offset) as usize);
        let (before, after) = buffer.split_at_mut(first);
        read_exact(&self.rings, RINGS, before, data + offset)?;
        read_exact(&self.rings, RINGS, after, data)
    }

    /// After a copy: the position before which it may have been overwritten meanwhile, if the slice still
    /// holds the same stream. It is `oldest`, or what another collector has released. `None`: the slice has
    /// been claimed for another stream, and the copy may contain anything.
    pub fn revalidate(&self, slice: Slice, header: &RingHeader) -> Result<Option<u64>, ObserveError> {
        let Some((oldest, consumed)) = self.positions_after_copy(slice, header)? else { return Ok(None) };
        Ok(Some(oldest.max(if consumed == header.consumed { 0 } else { consumed })))
    }

    /// After a copy: `oldest` and `consumed` as they are now, if the slice still holds the same stream. Bytes
    /// before `oldest` may have been overwritten meanwhile. So may bytes before `consumed`, as soon as the
    /// producer needs the room, and without notice.
    pub fn positions_after_copy(
        &self,
        slice: Slice,
        header: &RingHeader,
    ) -> Result<Option<(u64, u64)>, ObserveError> {
        // The bytes were read before `oldest` is: the producer moves `oldest`, fences, and overwrites then.
        fence(Ordering::SeqCst);
        let Look::Ring(now) = self.read_header(slice)? else { return Ok(None) };
        if now.stream != header.stream || now.base != header.base || now.capacity != header.capacity {
            return Ok(None);
        }
        let fields = &self.header.fields;
        let oldest = self.settled(slice, fields.oldest, header.oldest, now.oldest)?;
        // Readers that copy without collecting (a look, a recovery that keeps) share the ring with a
        // collector that releases.
        let consumed = self.settled(slice, fields.consumed, header.consumed, now.consumed)?;
        Ok(Some((oldest, consumed)))
    }

    /// A word that has changed since `before`, read until two readings agree: one may be torn.
    fn settled(&self, slice: Slice, field: usize, before: u64, now: u64) -> Result<u64, ObserveError> {
        let mut word = now;
        if word != before {
            for _ in 0..MAX_READINGS {
                let again = read_u64(&self.rings, RINGS, slice.at + field as u64)?;
                if again == word {
                    break;
                }
                word = again;
            }
        }
        Ok(word)
    }

    /// Releases everything before `position`. Only for what is stored elsewhere.
    pub fn set_consumed(&self, slice: Slice, position: u64) -> Result<(), ObserveError> {
        write_all(&self.rings, RINGS, &position.to_le_bytes(), slice.at + self.header.fields.consumed as u64)
    }

    /// Wakes the producer if it waits for room. True when it did. To be called after [`Self::set_consumed`].
    pub fn wake(&self, slice: Slice) -> Result<bool, ObserveError> {
        // `consumed` is visible before `waiting` is read: either the producer sees the room or this sees that it waits.
        fence(Ordering::SeqCst);
        if read_u32(&self.rings, RINGS, slice.at + self.header.fields.waiting as u64)? != 1 {
            return Ok(false);
        }
        let place = slice.at + self.header.fields.wake as u64;
        let word = read_u32(&self.rings, RINGS, place)?;
        write_all(&self.rings, RINGS, &word.wrapping_add(1).to_le_bytes(), place)?;
        if let Some(map) = self.rings_map() {
            map.wake(place, u32::MAX >> 1);
        }
        Ok(true)
    }

    /// Says how many of the stream's lost records the collector has recorded (see `told` in spec/wire.md, section 4).
    pub fn set_told(&self, slice: Slice, total: u64) -> Result<(), ObserveError> {
        write_all(&self.rings, RINGS, &total.to_le_bytes(), slice.at + at::TOLD as u64)
    }

    /// What [`Self::set_told`] has said.
    pub fn told(&self, slice: Slice) -> Result<u64, ObserveError> {
        read_u64(&self.rings, RINGS, slice.at + at::TOLD as u64)
    }

    /// Backs bytes of the ring file with memory, so that a producer that comes there need not wait for pages. False: there is no room, or the file system
    /// cannot.
    pub fn prepare(&self, at: u64, bytes: u64) -> bool {
        let end = at.saturating_add(bytes).min(self.header.rings_size);
        let has_room = room::is_plenty(&self.rings, end.saturating_sub(at));
        // A kernel before 5.14 can at least take them from the others' room.
        let take = || room::reserve(&self.rings, at, end - at);
        let make = || self.rings_map().and_then(|map| map.make_pages(at, end)).unwrap_or_else(take);
        has_room && at < end && make()
    }

    /// Entry of the slab directory. `None` beyond the directory.
    pub fn slab(&self, slab: u32) -> Result<Option<Slab>, ObserveError> {
        if slab >= self.header.slab_count {
            return Ok(None);
        }
        let mut entry = [0; SLAB_ENTRY];
        read_exact(&self.control, CONTROL, &mut entry, self.slab_at(slab))?;
        let word = |at| u32_at(&entry, at).unwrap_or(0);
        Ok(Some(Slab { shift: word(0), next: word(4), backed: word(8), prepared: word(SLAB_PREPARED) }))
    }

    /// Tells producers how far the slab is backed, after [`Self::prepare`] of everything before. They then
    /// store there without asking the system for memory. So the word is stored only where a page that is
    /// there stays: in a file system in memory. Nobody gives pages back while the session exists.
    pub fn set_prepared(&self, slab: u32, bytes: u32) -> Result<(), ObserveError> {
        if slab >= self.header.slab_count || !room::is_in_memory(&self.rings) {
            return Ok(());
        }
        write_all(&self.control, CONTROL, &bytes.to_le_bytes(), self.slab_at(slab) + SLAB_PREPARED as u64)
    }

    fn slab_at(&self, slab: u32) -> u64 {
        self.header.slabs_at + u64::from(slab) * SLAB_ENTRY as u64
    }
}
