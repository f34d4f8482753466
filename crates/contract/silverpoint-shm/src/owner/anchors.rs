//! Clock anchors (spec/wire.md, section 3.5).

use std::sync::atomic::Ordering;

use super::at;
use super::remembered::Remembered;
use super::session::Session;
use crate::clock;

/// Between two anchors that cold paths make.
const INTERVAL_NS: u64 = 1_000_000_000;

/// Writes one now.
pub(crate) fn add(session: &Session) {
    let layout = &session.layout;
    let anchor = clock::anchor_now(session.source);
    // SAFETY: the header and the anchors are backed since the session was made; the entry lies among them.
    unsafe {
        let number =
            session.control.u32(at::header::ANCHORS_NEXT).fetch_add(1, Ordering::AcqRel) % layout.anchors_cap;
        let entry =
            session.control.part(layout.anchors_at as usize + number as usize * at::control::ANCHOR_ENTRY);
        let check = anchor.ticks ^ anchor.monotonic_ns ^ anchor.wall_ns ^ at::control::ANCHOR_CHECK;
        entry.u64(24).store(!check, Ordering::Release);
        entry.u64(0).store(anchor.ticks, Ordering::Release);
        entry.u64(8).store(anchor.monotonic_ns, Ordering::Release);
        entry.u64(16).store(anchor.wall_ns, Ordering::Release);
        entry.u64(24).store(check, Ordering::Release);
    }
}

/// Writes one when the last is a second old. Cheap: cold paths call it every time.
pub(crate) fn add_now_and_then(session: &Session, remembered: &Remembered) {
    let now = clock::coarse_ns();
    let last = remembered.last_anchor_ns.load(Ordering::Relaxed);
    if now.saturating_sub(last) >= INTERVAL_NS
        && remembered.last_anchor_ns.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    {
        add(session);
    }
}
