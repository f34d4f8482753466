//! Ticks: what the hot path reads, and how they relate to time.
// (Sessions are made on Linux alone.)
#![cfg_attr(windows, allow(dead_code))]

use silverpoint_wire::clock::Anchor;

use crate::platform::time;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use crate::platform::time::coarse_ns;
pub(crate) use crate::platform::time::wall_ns;

/// Where a session's ticks come from (`clock_source` in the control header).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    /// The x86 time stamp counter, when it is invariant.
    Tsc = 1,
    /// AArch64 CNTVCT_EL0.
    Cntvct = 2,
    /// CLOCK_MONOTONIC in nanoseconds.
    Monotonic = 3,
}

impl Source {
    /// The best source of this machine.
    pub(crate) fn of_this_machine() -> Self {
        if cfg!(miri) {
            return Self::Monotonic;
        }
        #[cfg(target_arch = "x86_64")]
        if x86::tsc_is_invariant() {
            return Self::Tsc;
        }
        #[cfg(target_arch = "aarch64")]
        return Self::Cntvct;
        #[cfg(not(target_arch = "aarch64"))]
        Self::Monotonic
    }

    /// The source with this number, if this machine has it.
    pub(crate) fn from_wire(number: u32) -> Option<Self> {
        match number {
            1 if cfg!(target_arch = "x86_64") => Some(Self::Tsc),
            2 if cfg!(target_arch = "aarch64") => Some(Self::Cntvct),
            3 => Some(Self::Monotonic),
            _ => None,
        }
    }

    /// Whether [`counter`] is this source: then the hot path may read it.
    pub(crate) fn is_counter(self) -> bool {
        self != Self::Monotonic
    }

    /// Now.
    #[inline]
    pub(crate) fn now(self) -> u64 {
        if self.is_counter() { counter() } else { monotonic_ns() }
    }

    /// Ticks a second where the machine says it, else 0.
    pub(crate) fn ticks_per_second(self) -> u64 {
        match self {
            Self::Monotonic => 1_000_000_000,
            #[cfg(target_arch = "x86_64")]
            Self::Tsc => x86::tsc_frequency(),
            #[cfg(target_arch = "aarch64")]
            Self::Cntvct => {
                let frequency: u64;
                // SAFETY: reads a register that user mode may read.
                unsafe { std::arch::asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack)) };
                frequency
            }
            #[allow(unreachable_patterns)]
            _ => 0,
        }
    }
}

/// The hardware's counter; 0 where there is none (then every session's source is [`Source::Monotonic`]).
#[inline(always)]
pub fn counter() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has the instruction; where the system forbids it, so is the source.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        let ticks: u64;
        // SAFETY: reads a register that user mode may read.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        return ticks;
    }
    #[allow(unreachable_code)]
    0
}

/// CLOCK_MONOTONIC, in nanoseconds; on Windows the performance counter.
pub fn monotonic_ns() -> u64 {
    time::monotonic_ns()
}

/// This moment on the three clocks.
pub(crate) fn anchor_now(source: Source) -> Anchor {
    read_anchor(|| source.now(), monotonic_ns, wall_ns)
}

/// The tightest of a few readings. The first finds its code and data in no cache, and each may be interrupted: such a reading is wrong by a
/// microsecond or more. The other clocks are read around the monotonic one, so that their middle is its instant.
fn read_anchor(
    mut ticks: impl FnMut() -> u64,
    mut monotonic: impl FnMut() -> u64,
    mut wall: impl FnMut() -> u64,
) -> Anchor {
    let mut best: Option<(u64, Anchor)> = None;
    for _ in 0..4 {
        let (wall_ns, begin, monotonic_ns) = (wall(), ticks(), monotonic());
        let passed = ticks().wrapping_sub(begin);
        // If the wall clock was set in the middle, this is huge, or wraps around.
        let width = wall().wrapping_sub(wall_ns);
        if best.is_none_or(|(least, _)| width < least) {
            let half = if width < 1_000_000_000 { width / 2 } else { 0 };
            let ticks = begin.wrapping_add(passed / 2);
            best = Some((width, Anchor { ticks, monotonic_ns, wall_ns: wall_ns.saturating_add(half) }));
        }
    }
    best.map_or(Anchor { ticks: 0, monotonic_ns: 0, wall_ns: 0 }, |(_, best)| best)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__cpuid, CpuidResult};

    fn cpuid(leaf: u32) -> CpuidResult {
        // In Rust 1.85 it is an unsafe function.
        #[allow(unused_unsafe)]
        // SAFETY: every such processor has the instruction.
        unsafe {
            __cpuid(leaf)
        }
    }

    /// CPUID 0x8000_0007, EDX bit 8: constant rate, through all sleep states.
    pub(super) fn tsc_is_invariant() -> bool {
        cpuid(0x8000_0000).eax >= 0x8000_0007 && cpuid(0x8000_0007).edx & (1 << 8) != 0
    }

    /// What the processor (leaf 0x15) or the hypervisor (leaf 0x4000_0010) says; 0 when neither does.
    pub(super) fn tsc_frequency() -> u64 {
        if cpuid(0).eax >= 0x15 {
            let leaf = cpuid(0x15);
            if leaf.eax != 0 && leaf.ebx != 0 && leaf.ecx != 0 {
                return u64::from(leaf.ecx) * u64::from(leaf.ebx) / u64::from(leaf.eax);
            }
        }
        let under_hypervisor = cpuid(1).ecx & (1 << 31) != 0;
        if under_hypervisor && cpuid(0x4000_0000).eax >= 0x4000_0010 {
            return u64::from(cpuid(0x4000_0010).eax) * 1000;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A machine whose clocks go by one unit with each reading, and by the given number in the middle of some.
    #[test]
    fn an_interrupted_reading_is_not_taken() {
        // (Readings of all clocks, five to an instant.)
        for (interrupted, wanted) in [(vec![0, 1, 2], 3), (vec![1, 2, 3], 0), (vec![0, 2, 3], 1), (vec![], 0)]
        {
            for place in 1..5 {
                let (time, count) = (std::cell::Cell::new(1_000), std::cell::Cell::new(0));
                let read = || {
                    let at = count.replace(count.get() + 1);
                    let is_late = at % 5 == place && interrupted.contains(&(at / 5));
                    time.set(time.get() + if is_late { 5_000 } else { 10 });
                    time.get()
                };
                let instant = read_anchor(read, read, read);
                let late = interrupted.iter().filter(|reading| **reading < wanted).count() as u64;
                let expected = 1_000 + late * 4_990 + wanted * 50 + 30;
                let all = Anchor { ticks: expected, monotonic_ns: expected, wall_ns: expected };
                assert_eq!(instant, all, "{interrupted:?}, {place}");
            }
        }
    }

    #[test]
    fn a_wall_clock_that_is_set_between_its_readings_is_not_taken() {
        for step in [3_600_000_000_000_i64, -3_600_000_000_000] {
            let (time, count) = (std::cell::Cell::new(0_u64), std::cell::Cell::new(0));
            let read = || {
                time.set(time.get() + 10);
                time.get()
            };
            let wall = || {
                let set = count.replace(count.get() + 1) % 8 == 5;
                let set_by = if set { step } else { 0 };
                1_800_000_000_000_000_000_u64.wrapping_add(read()).wrapping_add_signed(set_by)
            };
            let instant = read_anchor(read, read, wall);
            assert_eq!(instant.wall_ns - instant.monotonic_ns, 1_800_000_000_000_000_000);
        }
    }

    #[test]
    fn clocks_go_forward_together() {
        let source = Source::of_this_machine();
        let a = anchor_now(source);
        std::thread::sleep(Duration::from_millis(2));
        let b = anchor_now(source);
        assert!(b.ticks > a.ticks && b.monotonic_ns >= a.monotonic_ns + 2_000_000);
        let frequency = source.ticks_per_second();
        if frequency != 0 {
            let expected = (b.monotonic_ns - a.monotonic_ns) as u128 * u128::from(frequency) / 1_000_000_000;
            let seen = u128::from(b.ticks - a.ticks);
            assert!(seen.abs_diff(expected) < expected / 10, "{seen} ticks, {expected} expected");
        }
    }
}
