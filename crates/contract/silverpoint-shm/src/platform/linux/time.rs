//! Clocks.

use std::time::Duration;

/// CLOCK_MONOTONIC, in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(rustix::time::clock_gettime(rustix::time::ClockId::Monotonic))
}

/// CLOCK_MONOTONIC as of the last timer tick: a few ns to read, up to 10 ms late.
pub(crate) fn coarse_ns() -> u64 {
    nanoseconds(rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse))
}

/// CLOCK_REALTIME.
pub(crate) fn wall_ns() -> u64 {
    nanoseconds(rustix::time::clock_gettime(rustix::time::ClockId::Realtime))
}

fn nanoseconds(time: rustix::time::Timespec) -> u64 {
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32).as_nanos() as u64
}
