//! Records that were packed elsewhere: a replay, a bridge from something else that traces.

use std::sync::atomic::Ordering;

use silverpoint_wire::layout::record::{HEADER_SIZE, SIZE_MAX, SPAN_END, TRUNCATED};
use silverpoint_wire::record::RecordHeader;

use super::at;
use super::cause::Cause;
use super::sites::Registered;
use super::thread::{Reservation, reserve, reserve_slowly};

/// Records data that is packed already in the calling thread's ring, for a site that is on. Gives the
/// record's time in the session's clock. `None`: the site is off, or the record was lost, which is counted.
///
/// `args` must match the site's signature: readers check that, this does not. Level as of [`reserve_slowly`].
pub fn record_packed(site: Registered, level: u8, args: &[u8], is_truncated: bool) -> Option<u64> {
    if site.id == 0 || site.state.load(Ordering::Relaxed) & at::state::RING == 0 {
        return None;
    }
    put(site.id, level, if is_truncated { TRUNCATED } else { 0 }, args)
}

/// Records the end of a span that [`record_packed`] began at this time.
pub fn end_span(site: Registered, level: u8, begun: u64) -> Option<u64> {
    let mut args = [0; 12];
    args[..4].copy_from_slice(&site.id.to_le_bytes());
    args[4..].copy_from_slice(&begun.to_le_bytes());
    put(SPAN_END, level, 0, &args)
}

fn put(id: u32, level: u8, flags: u32, args: &[u8]) -> Option<u64> {
    let size = (HEADER_SIZE + args.len()).next_multiple_of(8).min(SIZE_MAX);
    let room: Reservation = match reserve(size) {
        Ok(room) => room,
        Err(owned) => reserve_slowly(size, level, owned)?,
    };
    if room.room() < size || size < HEADER_SIZE + args.len() {
        room.lose(Cause::TooLarge);
        return None;
    }
    let ticks = room.ticks();
    let header = RecordHeader { size: size as u32, flags, site: id, ticks }.encode();
    // SAFETY: `size` bytes at `at` are reserved for this record; header, arguments and the zeros behind them are as many.
    unsafe {
        let at = room.at();
        at.copy_from_nonoverlapping(header.as_ptr(), HEADER_SIZE);
        at.add(HEADER_SIZE).copy_from_nonoverlapping(args.as_ptr(), args.len());
        let used = HEADER_SIZE + args.len();
        at.add(used).write_bytes(0, size - used);
        room.commit(size);
    }
    Some(ticks)
}
