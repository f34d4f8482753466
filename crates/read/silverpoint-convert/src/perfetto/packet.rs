//! Fields of `TracePacket`, its kind of timestamps, and the one sequence that all packets are of.

/// In `Trace`.
pub(crate) const PACKET: u32 = 1;
pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
pub(crate) const TIMESTAMP: u32 = 8;
pub(crate) const SEQUENCE: u32 = 10;
pub(crate) const TRACK_EVENT: u32 = 11;
pub(crate) const INTERNED_DATA: u32 = 12;
pub(crate) const SEQUENCE_FLAGS: u32 = 13;
pub(crate) const TRACK_DESCRIPTOR: u32 = 60;

pub(crate) const THE_SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`, `SEQ_NEEDS_INCREMENTAL_STATE`.
pub(crate) const BEGINS: u64 = 1;
pub(crate) const NEEDS: u64 = 2;
/// `BUILTIN_CLOCK_REALTIME`, `BUILTIN_CLOCK_BOOTTIME`.
pub(crate) const REALTIME: u64 = 1;
pub(crate) const BOOTTIME: u64 = 6;
