//! A forked child's own session.
//!
//! The child has its parent's mappings, and its sites hold ids and addresses of state bytes in them. So its
//! session is a copy of the parent's control file, mapped over it. Ids and addresses stay right, and the
//! decisions of the parent's collector about sites hold for the child until they are changed. Rings are not
//! copied: the parent's records are the parent's.
//!
//! The parent lives on and goes on registering sites while this copies. Only entries that were there before count, and every site that the child knows
//! is among them, since it was registered before the fork.

use std::sync::atomic::Ordering;

use super::at;
use super::control::{Layout, Shared};
use super::session::Session;

/// Whether another copy's session, in this same child, can stand in for the parent's: the same layout, and the sites that the parent had.
pub(crate) fn suits(parent: &Session, other: Shared, layout: &Layout) -> bool {
    let same = Layout { process_size: parent.layout.process_size, ..*layout };
    if same != parent.layout {
        return false;
    }
    let sites = sites_of(parent);
    // SAFETY: entries below `sites_next` of either session are backed, and both layouts have been checked; the header is always backed.
    unsafe {
        let other_sites = other.u32(at::header::SITES_NEXT).load(Ordering::Acquire).min(layout.sites_cap);
        (0..sites).all(|i| {
            let entry = layout.sites_at as usize + i as usize * at::site_entry::SIZE;
            let (mine, theirs) = (parent.control.part(entry), other.part(entry));
            mine.u32(at::site_entry::STAGE).load(Ordering::Acquire) < at::site_entry::COMPLETE
                || (i < other_sites
                    && mine.u64(at::site_entry::HASH).load(Ordering::Relaxed)
                        == theirs.u64(at::site_entry::HASH).load(Ordering::Relaxed))
        })
    }
}

fn sites_of(session: &Session) -> u32 {
    // SAFETY: the header is always backed.
    unsafe { session.control.u32(at::header::SITES_NEXT) }
        .load(Ordering::Acquire)
        .min(session.layout.sites_cap)
}

/// Copies what a child goes on with into its new control file, whose header stands but for what comes from the parent. `back` backs bytes of
/// the new file. False: no room.
pub(crate) fn copy_control(parent: &Session, child: Shared, back: impl Fn(usize, usize) -> bool) -> bool {
    let layout = &parent.layout;
    let sites = sites_of(parent) as usize;
    let old = parent.control;
    let place = |at: u64| at as usize;
    // SAFETY: the places come from a checked layout that both files have. Of the parent's file only bytes
    // that its counters mark as written, and so backed, are read. Of the child's only what `back` has backed
    // is touched.
    unsafe {
        let descs = (old.u32(at::header::DESCS_NEXT).load(Ordering::Acquire) as u64 * 8)
            .min(layout.descs_size)
            .min(old.u64(at::header::DESCS_RESERVED).load(Ordering::Acquire));
        let directives =
            old.u32(at::header::DIRECTIVES_LEN).load(Ordering::Acquire).min(layout.directives_cap) as usize;
        for (from, len) in [
            (place(layout.process_at), layout.process_size as usize),
            (place(layout.directives_at), directives),
            (place(layout.states_at), sites),
            (place(layout.sites_at), sites * at::site_entry::SIZE),
            (place(layout.descs_at), descs as usize),
        ] {
            if len > 0 && !back(from, len) {
                return false;
            }
            copy(old, child, from, len);
        }
        for word in [
            at::header::SITES_NEXT,
            at::header::DESCS_NEXT,
            at::header::DIRECTIVES_LEN,
            at::header::BLOCK_MAX_MS,
            at::header::PROBES_ASKED,
        ] {
            child.u32(word).store(old.u32(word).load(Ordering::Relaxed), Ordering::Relaxed);
        }
        child.u32(at::header::SITES_NEXT).store(sites as u32, Ordering::Relaxed);
        child.u32(at::header::DESCS_NEXT).store((descs / 8) as u32, Ordering::Relaxed);
        child.u64(at::header::DESCS_RESERVED).store(descs, Ordering::Relaxed);
        copy(old, child, at::header::POLICY, 8);
        // Even, and not the parent's: a writer of the parent's directives does not write the child's.
        let generation = old.u32(at::header::GENERATION).load(Ordering::Acquire).next_multiple_of(2);
        child.u32(at::header::GENERATION).store(generation, Ordering::Relaxed);
        let flags = old.u32(at::header::FLAGS).load(Ordering::Relaxed);
        child.u32(at::header::FLAGS).store(flags, Ordering::Relaxed);
        rebuild_index(layout, child, sites, back)
    }
}

/// # Safety
/// `at .. at + len` lies in both mappings, backed by memory.
unsafe fn copy(from: Shared, to: Shared, at: usize, len: usize) {
    let mut chunk = [0u8; 512];
    for offset in (0..len).step_by(chunk.len()) {
        let n = chunk.len().min(len - offset);
        // SAFETY: by the caller.
        unsafe {
            from.read(at + offset, &mut chunk[..n]);
            to.write(at + offset, &chunk[..n]);
        }
    }
}

/// The index of the parent is sparse and large; what it says follows from the entries. Events of system
/// tracers are the parent's.
///
/// # Safety
/// The entries below `sites` are backed in `child`, whose layout is `layout`.
unsafe fn rebuild_index(
    layout: &Layout,
    child: Shared,
    sites: usize,
    back: impl Fn(usize, usize) -> bool,
) -> bool {
    for i in 0..sites {
        // SAFETY: by the caller, and each slot is backed before it is touched.
        unsafe {
            let entry = child.part(layout.sites_at as usize + i * at::site_entry::SIZE);
            // An address in the parent's memory.
            entry.u64(at::site_entry::PROBE).store(0, Ordering::Relaxed);
            child.u8(layout.states_at as usize + i).fetch_and(!at::state::QUIET, Ordering::Relaxed);
            if entry.u32(at::site_entry::STAGE).load(Ordering::Relaxed) < at::site_entry::LOCATED {
                continue;
            }
            let mut slot =
                entry.u64(at::site_entry::HASH).load(Ordering::Relaxed) as u32 & (layout.index_cap - 1);
            loop {
                let place = layout.index_at as usize + slot as usize * 4;
                if !back(place, 4) {
                    return false;
                }
                let word = child.u32(place);
                if word.load(Ordering::Relaxed) == 0 {
                    word.store(i as u32 + 1, Ordering::Relaxed);
                    break;
                }
                slot = (slot + 1) & (layout.index_cap - 1);
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::alloc::{Layout as Memory, alloc_zeroed, dealloc};

    use super::*;

    #[test]
    fn a_child_has_no_events_of_its_parent() {
        let layout = Layout::new(1 << 20);
        let memory = Memory::from_size_align(layout.control_size as usize, 4096).unwrap();
        // SAFETY: the layout's places lie in the memory, which is zeroed, and freed at the end.
        unsafe {
            let file = alloc_zeroed(memory);
            let child = Shared::new(file);
            let stages = [at::site_entry::COMPLETE, at::site_entry::WRITING];
            let entry = |i: usize| child.part(layout.sites_at as usize + i * at::site_entry::SIZE);
            for (i, stage) in stages.into_iter().enumerate() {
                entry(i).u32(at::site_entry::STAGE).store(stage, Ordering::Relaxed);
                entry(i).u64(at::site_entry::HASH).store(7, Ordering::Relaxed);
                entry(i).u64(at::site_entry::PROBE).store(0x1234_5678, Ordering::Relaxed);
            }
            assert!(rebuild_index(&layout, child, stages.len(), |_, _| true));
            for i in 0..stages.len() {
                assert_eq!(entry(i).u64(at::site_entry::PROBE).load(Ordering::Relaxed), 0);
            }
            // Only what is located is found.
            let index = layout.index_at as usize;
            assert_eq!(child.u32(index + 7 * 4).load(Ordering::Relaxed), 1);
            assert_eq!(child.u32(index + 8 * 4).load(Ordering::Relaxed), 0);
            dealloc(file, memory);
        }
    }
}
