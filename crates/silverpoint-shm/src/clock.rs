//! Ticks: what the hot path reads, and how they relate to time.

use std::time::Duration;

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

/// CLOCK_MONOTONIC, in nanoseconds.
pub fn monotonic_ns() -> u64 {
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

/// One instant on the three clocks: the tightest of a few readings.
pub(crate) struct Instant {
    pub(crate) ticks: u64,
    pub(crate) monotonic_ns: u64,
    pub(crate) wall_ns: u64,
}

impl Instant {
    pub(crate) fn now(source: Source) -> Self {
        let mut best = Self { ticks: 0, monotonic_ns: 0, wall_ns: 0 };
        let mut width = u64::MAX;
        for _ in 0..4 {
            let before = source.now();
            let monotonic_ns = monotonic_ns();
            let wall_ns = wall_ns();
            let after = source.now();
            if after.wrapping_sub(before) < width {
                width = after.wrapping_sub(before);
                // The middle of the readings: between the two clocks.
                best = Self { ticks: before.wrapping_add(width / 2), monotonic_ns, wall_ns };
            }
        }
        best
    }
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
    use super::*;

    #[test]
    fn clocks_go_forward_together() {
        let source = Source::of_this_machine();
        let a = Instant::now(source);
        std::thread::sleep(Duration::from_millis(2));
        let b = Instant::now(source);
        assert!(b.ticks > a.ticks && b.monotonic_ns >= a.monotonic_ns + 2_000_000);
        let frequency = source.ticks_per_second();
        if frequency != 0 {
            let expected = (b.monotonic_ns - a.monotonic_ns) as u128 * u128::from(frequency) / 1_000_000_000;
            let seen = u128::from(b.ticks - a.ticks);
            assert!(seen.abs_diff(expected) < expected / 10, "{seen} ticks, {expected} expected");
        }
    }
}
