//! Whether a tracer is attached to any probe of the program.

use std::arch::global_asm;
use std::sync::atomic::{AtomicU16, Ordering};

/// Mark in a state byte, where nobody stores it: a tracer is attached.
pub(crate) const ATTACHED: u8 = 1 << 5;

/// The largest page of a system. The section begins a page: lld maps the page at the end of relocated data
/// twice, both times writable. The kernel counts in the first of them, which the program does not read.
const PAGE: usize = if cfg!(target_arch = "x86_64") { 4096 } else { 65536 };

global_asm!(
    ".pushsection .probes,\"awG\",\"progbits\",silverpoint_usdt_semaphore,comdat",
    ".balign {page}",
    ".weak silverpoint_usdt_semaphore",
    ".hidden silverpoint_usdt_semaphore",
    ".type silverpoint_usdt_semaphore,\"object\"",
    ".size silverpoint_usdt_semaphore,2",
    "silverpoint_usdt_semaphore: .2byte 0",
    ".popsection",
    page = const PAGE,
);

unsafe extern "C" {
    /// Not 0 while a tracer is attached to a probe of this program or shared library: the kernel and tracers
    /// count it up and down. Only in its section do they find it.
    static silverpoint_usdt_semaphore: AtomicU16;
}

/// Whether a tracer is attached now. One load.
#[inline(always)]
pub(crate) fn is_attached() -> bool {
    // SAFETY: defined above, and never unmapped before the code that reads it.
    unsafe { silverpoint_usdt_semaphore.load(Ordering::Relaxed) != 0 }
}

/// The state of a site, with the mark while a tracer is attached.
#[inline(always)]
pub(crate) fn marked(state: u8) -> u8 {
    if is_attached() { state | ATTACHED } else { state }
}
