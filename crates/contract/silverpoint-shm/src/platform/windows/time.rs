//! Clocks.

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::SystemInformation::GetSystemTimePreciseAsFileTime;

/// From 1601 to 1970, in 100 ns.
const TO_1970: u64 = 116_444_736_000_000_000;

/// The performance counter, in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    const SECOND: u64 = 1_000_000_000;
    let (mut frequency, mut count) = (0_i64, 0_i64);
    // SAFETY: both write one number.
    unsafe {
        QueryPerformanceFrequency(&raw mut frequency);
        QueryPerformanceCounter(&raw mut count);
    }
    let (frequency, count) = (frequency.max(1) as u64, count.max(0) as u64);
    count / frequency * SECOND + count % frequency * SECOND / frequency
}

/// Nanoseconds since 1970.
pub(crate) fn wall_ns() -> u64 {
    let mut time = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: it writes one time.
    unsafe { GetSystemTimePreciseAsFileTime(&raw mut time) };
    let since_1601 = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    since_1601.saturating_sub(TO_1970) * 100
}
