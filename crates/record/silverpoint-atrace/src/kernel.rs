//! The kernel's output alone: for adapters that have a way of their own into the rings. What is not enabled by properties is not begun.

use std::sync::atomic::{AtomicI32, Ordering};

use silverpoint::dynamic;

use crate::message::{SHORT, Short, with_long};
use crate::{Tag, state};

/// Whether any of these tags goes to the kernel. A load and a comparison.
#[inline]
pub fn is_enabled(tag: Tag) -> bool {
    state::outputs(tag.bits()).marker()
}

/// As [`crate::begin`]. True: it was written to the kernel, and [`end`] must follow.
#[must_use = "who has begun has to end"]
pub fn begin(tag: Tag, name: &str) -> bool {
    let is_told = is_enabled(tag);
    if is_told {
        write(b'B', &[name], None);
    }
    is_told
}

/// Ends what the calling thread has begun last by [`begin`], whether its tag is enabled still or not.
pub fn end() {
    write(b'E', &[], None);
}

/// As [`crate::async_begin`]. True: it was written to the kernel, and [`async_end`] must follow.
#[must_use = "who has begun has to end"]
pub fn async_begin(tag: Tag, name: &str, cookie: i32) -> bool {
    let is_told = is_enabled(tag);
    if is_told {
        write(b'S', &[name], Some(cookie.into()));
    }
    is_told
}

/// Ends what was begun by [`async_begin`], whether its tag is enabled still or not.
pub fn async_end(name: &str, cookie: i32) {
    write(b'F', &[name], Some(cookie.into()));
}

/// As [`crate::instant`].
pub fn instant(tag: Tag, name: &str) {
    if is_enabled(tag) {
        write(b'I', &[name], None);
    }
}

/// A cookie for an interval that may end in another thread: a different one each time, for all callers.
#[inline]
pub fn new_cookie() -> i32 {
    static COOKIES: AtomicI32 = AtomicI32::new(1);
    COOKIES.fetch_add(1, Ordering::Relaxed)
}

/// One write(2); what the kernel does not take is gone, as on Android.
#[inline(never)]
pub(crate) fn write(letter: u8, names: &[&str], number: Option<i64>) {
    let Some(marker) = state::marker() else { return };
    let process = dynamic::process_id();
    if names.iter().map(|name| name.len()).sum::<usize>() <= SHORT {
        // (Filled where it lies: one that is returned would be copied.)
        let mut message = Short::empty();
        message.fill(letter, process, names, number);
        marker.write(&mut message);
    } else {
        with_long(|message| {
            message.fill(letter, process, names, number);
            marker.write(message);
        });
    }
}
