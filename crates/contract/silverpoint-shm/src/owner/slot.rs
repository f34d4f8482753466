//! The slot of a thread: its lanes and contexts.
//!
//! ```text
//!  PRODUCER (thread-local pointer) ──▶ EMPTY                    a thread before its first record
//!                              ──▶ lane 0 of its slot       afterwards; all zero in a forked child
//! ```

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::lane::{FREE_SLOT, LANES};
use super::local::{Local, MAX_THREADS, SLOTS_USED};
use crate::lasting::Lasting;
use crate::ring::{Machine, Producer};
use crate::sys;

/// Slots that a new thread examines for one of a dead thread before it takes an unused one: each is a call of
/// the kernel. At most a quarter as many slots of dead threads as living ones remain until they are found.
const LOOK_AT: u32 = 4;

pub(super) struct Empty(pub(super) Producer<Machine>);
// SAFETY: nothing writes to it: the hot path stops at `ready`, the cold path takes it for no lane.
unsafe impl Sync for Empty {}
/// The producer of no lane.
pub(super) static EMPTY: Empty = Empty(Producer::new(std::ptr::null_mut()));

thread_local! {
    /// Where the thread's next record goes.
    pub(super) static PRODUCER: Cell<Lasting<Producer<Machine>>> = const { Cell::new(Lasting::new(&EMPTY.0)) };
}

/// The slot that this thread has.
#[inline]
pub(crate) fn slot_of_mine(local: &'static Local) -> Option<usize> {
    local.slot_of(std::ptr::from_ref(PRODUCER.get().get()).cast())
}

/// This thread's slot.
pub(crate) fn slot(local: &'static Local) -> Option<usize> {
    let producer = PRODUCER.get().get();
    let tid = sys::thread_id();
    if let Some(slot) = local.slot_of(std::ptr::from_ref(producer).cast()) {
        let owner = &local.lane(slot, 0).tid;
        // Wiped: this is the thread that forked. Nobody else takes its slot, since slots of the parent are not given out again.
        if owner.load(Ordering::Relaxed) == 0 {
            owner.store(tid, Ordering::Relaxed);
        }
        return Some(slot);
    }
    let slot = claim_slot(local, tid)?;
    let lane = local.lane(slot, 0);
    if !std::ptr::eq(PRODUCER.get().get(), producer) {
        // A signal handler's record was quicker: the thread has a slot. It may be the same one, which was this thread's already.
        let mine = local.slot_of(std::ptr::from_ref(PRODUCER.get().get()).cast());
        if mine != Some(slot) {
            lane.tid.store(FREE_SLOT, Ordering::Release);
        }
        return mine;
    }
    PRODUCER.set(Lasting::new(&lane.producer));
    crate::crash::on_first_record();
    Some(slot)
}

fn claim_slot(local: &'static Local, tid: u32) -> Option<usize> {
    if let Some(slot) = dead_slot(local, tid, LOOK_AT) {
        return Some(slot);
    }
    if SLOTS_USED.load(Ordering::Relaxed) < MAX_THREADS as u32 {
        let slot = SLOTS_USED.fetch_add(1, Ordering::AcqRel);
        if slot < MAX_THREADS as u32 {
            local.lane(slot as usize, 0).tid.store(tid, Ordering::Release);
            return Some(slot as usize);
        }
    }
    dead_slot(local, tid, MAX_THREADS as u32)
}

/// Takes over the slot of a thread that is gone. Its rings stay where they are until they are adopted.
fn dead_slot(local: &'static Local, tid: u32, look_at: u32) -> Option<usize> {
    let used = SLOTS_USED.load(Ordering::Acquire).min(MAX_THREADS as u32);
    if used == 0 {
        return None;
    }
    let start = local.slots_cursor.fetch_add(look_at.min(used), Ordering::Relaxed);
    for k in 0..look_at.min(used) {
        let slot = (start.wrapping_add(k) % used) as usize;
        let owner = &local.lane(slot, 0).tid;
        let before = owner.load(Ordering::Acquire);
        let dead = before == FREE_SLOT || (before != 0 && (before == tid || !sys::thread_exists(before)));
        if dead && owner.compare_exchange(before, tid, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            for number in 0..LANES {
                local.lane(slot, number).reset();
            }
            local.contexts(slot).reset();
            return Some(slot);
        }
    }
    None
}
