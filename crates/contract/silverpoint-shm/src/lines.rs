//! Cache lines that are asked for before they are written.
//!
//! The collector has read a ring's lines in the last lap, and taking a line back from another core takes as long as five records. Asked for [`AHEAD`] bytes
//! before the records come there, it is back when it is needed.

/// How far ahead of the records their lines are asked for, in bytes.
pub(crate) const AHEAD: usize = 4096;
/// Bytes of a line, or of half of one.
pub(crate) const LINE: usize = 64;

/// Asks for the lines of `size` bytes from `at`, to be written soon. The address need not be valid.
#[inline(always)]
pub(crate) fn take(at: *const u8, size: usize) {
    take_one(at);
    if size > LINE {
        take_one(at.wrapping_add(LINE));
        let mut from = 2 * LINE;
        while from < size {
            take_one(at.wrapping_add(from));
            from += LINE;
        }
    }
}

#[inline(always)]
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn take_one(at: *const u8) {
    // SAFETY: a hint that never faults, for any address; processors without the extension do nothing.
    unsafe { std::arch::asm!("prefetchw [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags)) }
}

#[inline(always)]
#[cfg(all(target_arch = "aarch64", not(miri)))]
fn take_one(at: *const u8) {
    // SAFETY: a hint that never faults, for any address.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags))
    }
}

#[inline(always)]
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn take_one(_at: *const u8) {}
