//! Strings of C.

use std::ffi::{CStr, c_char};

/// A string that a caller gave; `None` when it is null.
///
/// # Safety
/// `text` is null or ends with a zero byte.
pub(crate) unsafe fn given(text: *const c_char) -> Option<Result<String, std::str::Utf8Error>> {
    if text.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    Some(unsafe { CStr::from_ptr(text) }.to_str().map(str::to_owned))
}

/// Writes a string where a caller wants it, cut to the room there is (between characters), with a zero byte.
///
/// # Safety
/// `to` is null or has room for `size` bytes.
pub(crate) unsafe fn give(text: &str, to: *mut c_char, size: usize) {
    if to.is_null() || size == 0 {
        return;
    }
    // A zero byte within would end it early.
    let text: String = text.chars().filter(|c| *c != '\0').collect();
    let text = &text[..text.floor_char_boundary(size - 1)];
    // SAFETY: there is room for the text and a byte more.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast::<u8>(), text.len());
        to.add(text.len()).write(0);
    }
}
