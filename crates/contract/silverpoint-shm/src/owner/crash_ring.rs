//! The ring that is kept for the record of a crash (spec/crash.md): the state of the failing thread's own
//! rings does not matter.

use silverpoint_wire::layout::crash::{CATEGORY, NAMES, SIGNATURE};

use super::at;
use super::cause::Cause;
use super::control::Shared;
use super::lane::{lose_in_session, ring_doorbell};
use super::local;
use super::sites::{self, Description};
use super::slabs::{self, Claim, Slice};
use crate::sys;

/// The lane of such a ring.
const LANE: usize = 4;
/// Indices of the sizes that are tried: 16 KiB, then the smallest.
const SIZES: [usize; 2] = [1, 0];
/// Bytes of a record at most.
pub(crate) const RECORD_MAX: usize = 4096;

/// A slice in which nothing has begun.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    slice: *mut u8,
    size: usize,
}

impl Kept {
    fn claim(self, tid: u32, may_forget: bool) -> Claim {
        Claim { size: self.size, lane: LANE, tid, previous: 0, may_forget, may_begin_slab: true }
    }

    fn slice(self) -> Slice {
        // SAFETY: the address of a slice of the mapping, which stays.
        Slice(unsafe { Shared::new(self.slice) })
    }
}

/// Reserves one. `None`: no session, or no room.
pub(crate) fn reserve() -> Option<Kept> {
    let (session, local) = local::session()?;
    SIZES.into_iter().find_map(|size| {
        let kept = Kept { slice: std::ptr::null_mut(), size };
        let claim = kept.claim(sys::thread_id(), !session.is_collected());
        slabs::reserve(session, &local.remembered, &claim)
            .map(|slice| Kept { slice: slice.0.address(), size })
    })
}

/// Gives one back that was not needed.
pub(crate) fn give_back(kept: Kept) {
    if let Some(session) = local::existing() {
        slabs::give_back(session, kept.slice());
    }
}

/// Registers the site for a level; its id, 0 when there is none.
pub(crate) fn site(level: u8) -> u32 {
    let Some((session, local)) = local::session() else { return 0 };
    sites::register(
        session,
        &local.remembered,
        &Description {
            kind: 0,
            level,
            line: 0,
            language: 2,
            category: CATEGORY,
            file: "",
            function: "",
            names: &|give| give(NAMES.as_bytes()),
            template: &|give| give(b"{}"),
            signature: &|give| give(SIGNATURE.as_bytes()),
        },
        sites::Share::Whole,
    )
    .id
}

/// Begins a stream of the calling thread in a ring (the kept one, or another), and puts one record into it.
/// `fill` writes the arguments into the room that it is given. It returns their length, and whether something
/// was left out. False: no room, which is counted.
pub(crate) fn write(
    kept: Option<Kept>,
    level: u8,
    buffer: &mut [u8; RECORD_MAX],
    fill: impl FnOnce(&mut [u8]) -> (usize, bool),
) -> bool {
    let Some((session, _)) = local::session() else { return false };
    let Some(kept) = kept.or_else(reserve) else {
        lose_in_session(session, Cause::NoMemory);
        return false;
    };
    let id = site(level);
    let claim = kept.claim(sys::thread_id(), false);
    let Some(claimed) = slabs::begin_in(session, kept.slice(), &claim) else { return false };
    if id == 0 {
        lose_in_session(session, Cause::NoSite);
        return false;
    }
    let most = (claimed.capacity / 4 / 8 * 8).min(RECORD_MAX);
    let (used, is_cut) = fill(&mut buffer[16..most]);
    let size = (16 + used).next_multiple_of(8).min(most);
    buffer[(16 + used).min(size)..size].fill(0);
    let flags = if is_cut { at::record::TRUNCATED } else { 0 };
    buffer[..4].copy_from_slice(&(size as u32 | flags).to_le_bytes());
    buffer[4..8].copy_from_slice(&id.to_le_bytes());
    buffer[8..16].copy_from_slice(&session.source.now().to_le_bytes());
    let data = session.layout.ring_header_size as usize;
    let capacity = claimed.capacity as u64;
    let rest = capacity - claimed.base % capacity;
    let mut position = claimed.base;
    // SAFETY: the slice is this thread's alone, and positions are taken modulo its capacity; a record of a quarter of it fits behind a pad.
    unsafe {
        let shared = claimed.slice.0;
        if size as u64 > rest {
            shared.write(data + (position % capacity) as usize, &rest.to_le_bytes());
            position += rest;
        }
        shared.write(data + (position % capacity) as usize, &buffer[..size]);
    }
    claimed.slice.commit(session, position + size as u64);
    ring_doorbell(session);
    true
}
