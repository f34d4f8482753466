//! Copies of few bytes, without a call.

use std::ptr;

use crate::seldom::seldom;

/// Longest piece that [`copy`] takes.
pub(crate) const COPY_MAX: usize = 128;

/// 16 bytes, in one register where there are such.
#[cfg(target_arch = "x86_64")]
type Sixteen = std::arch::x86_64::__m128i;
#[cfg(target_arch = "aarch64")]
type Sixteen = std::arch::aarch64::uint8x16_t;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Sixteen = u128;

/// Copies: without a call where there are few bytes.
///
/// # Safety
/// `len` bytes at `from` and at `to`, not the same ones.
#[inline(always)]
pub(crate) unsafe fn copy_any(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by the caller.
    unsafe {
        if len <= COPY_MAX {
            copy(from, to, len);
        } else {
            ptr::copy_nonoverlapping(from, to, len);
        }
    }
}

/// A copy that makes no call and has no loop: most texts are short, and the call costs as much as their bytes.
///
/// # Safety
/// `len` bytes at `from` and at `to`, not the same ones; `len <= COPY_MAX`.
#[inline(always)]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    /// The first and the last T: together all, when there are between one and two of it. Both are read before one is written.
    #[inline(always)]
    unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
        let last = len - size_of::<T>();
        // SAFETY: by the caller, `len` is not less.
        unsafe {
            let head = from.cast::<T>().read_unaligned();
            let tail = from.add(last).cast::<T>().read_unaligned();
            to.cast::<T>().write_unaligned(head);
            to.add(last).cast::<T>().write_unaligned(tail);
        }
    }
    /// The same with two of T at each end. (Single values, for an array of them would be stored.)
    #[inline(always)]
    unsafe fn double_ends<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
        let last = len - 2 * size_of::<T>();
        // SAFETY: by the caller, `len` is not less.
        unsafe {
            let (head, tail) = (from.cast::<T>(), from.add(last).cast::<T>());
            let (first, second) = (head.read_unaligned(), head.add(1).read_unaligned());
            let (third, fourth) = (tail.read_unaligned(), tail.add(1).read_unaligned());
            let (head, tail) = (to.cast::<T>(), to.add(last).cast::<T>());
            head.write_unaligned(first);
            head.add(1).write_unaligned(second);
            tail.write_unaligned(third);
            tail.add(1).write_unaligned(fourth);
        }
    }
    debug_assert!(len <= COPY_MAX);
    // SAFETY: by the caller and the comparisons.
    unsafe {
        if len > 32 {
            if len > 64 {
                seldom();
                double_ends::<Sixteen>(from, to, 64);
                double_ends::<Sixteen>(from.add(len - 64), to.add(len - 64), 64);
            } else {
                double_ends::<Sixteen>(from, to, len);
            }
        } else if len >= 16 {
            ends::<Sixteen>(from, to, len);
        } else if len >= 8 {
            ends::<u64>(from, to, len);
        } else if len >= 4 {
            ends::<u32>(from, to, len);
        } else {
            for at in 0..len {
                *to.add(at) = *from.add(at);
            }
        }
    }
}
