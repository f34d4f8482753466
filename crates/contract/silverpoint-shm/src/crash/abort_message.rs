//! The text that glibc prints before it aborts the program: a failed `assert`, a broken heap, an overrun buffer.
//!
//! glibc keeps it for debuggers, in a variable that is no public symbol. So the variable may be missing, as in
//! other C libraries, and what it points to is copied as memory that may not be there.

use std::ffi::{c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicU64, Ordering};

use super::record::Words;
use super::stack::{peek, peek_some};

/// Address of the variable; 0: there is none.
static VARIABLE: AtomicU64 = AtomicU64::new(0);
/// The message that was recorded last. A program that survives its abort may abort again without one.
static RECORDED: AtomicU64 = AtomicU64::new(0);

/// Looks the variable up. Not in a signal handler.
pub(super) fn find() {
    type Find = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    // SAFETY: the names end with zero; a function of this name has this type.
    let found = unsafe {
        // Not linked: other C libraries have none.
        let find = libc::dlsym(libc::RTLD_DEFAULT, c"dlvsym".as_ptr());
        if find.is_null() {
            return;
        }
        let find = transmute::<*mut c_void, Find>(find);
        find(libc::RTLD_DEFAULT, c"__abort_msg".as_ptr(), c"GLIBC_PRIVATE".as_ptr())
    };
    VARIABLE.store(found as u64, Ordering::Release);
}

/// Adds the message behind `before`; false: there is none, and nothing is added. Async-signal-safe.
pub(super) fn push<const N: usize>(text: &mut Words<N>, before: &str) -> bool {
    let mut copy = [0; 4096];
    let Some(message) = read(VARIABLE.load(Ordering::Acquire), &mut copy) else { return false };
    text.push(before);
    text.push_ends(message);
    true
}

/// The message to which the variable at this address leads, unless it was read before.
fn read(variable: u64, copy: &mut [u8; 4096]) -> Option<&[u8]> {
    let (mut at, mut total) = ([0; 8], [0; 4]);
    if variable == 0 || !peek(variable, &mut at) {
        return None;
    }
    let at = u64::from_ne_bytes(at);
    if at == 0 || RECORDED.swap(at, Ordering::Relaxed) == at || !peek(at, &mut total) {
        return None;
    }
    // As in glibc: all bytes, of this length too. Then the text, which ends with zero.
    let most = u32::from_ne_bytes(total).checked_sub(4)? as usize;
    let most = most.min(copy.len());
    let len = peek_some(at + 4, &mut copy[..most]);
    let text = copy[..len].split(|byte| *byte == 0).next()?.trim_ascii_end();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")] // An emulator of user space has no process_vm_readv.
mod tests {
    use super::*;

    /// What is read of a message of these bytes.
    fn message(bytes: &[u8]) -> Option<Vec<u8>> {
        let at = bytes.as_ptr() as u64;
        RECORDED.store(0, Ordering::Relaxed);
        let mut copy = [0; 4096];
        read(&raw const at as u64, &mut copy).map(<[u8]>::to_vec)
    }

    fn with_length(length: u32, text: &[u8]) -> Vec<u8> {
        [&length.to_ne_bytes(), text].concat()
    }

    /// In one test: all share the mark of the last one.
    #[test]
    fn only_what_is_there_is_read() {
        assert_eq!(message(&with_length(12, b"text\n\0\0\0\0")).as_deref(), Some(&b"text"[..]));
        // Shorter than the text, longer than its memory, without an end, empty, and less than its own length.
        assert_eq!(message(&with_length(6, b"text\0")).as_deref(), Some(&b"te"[..]));
        assert_eq!(message(&with_length(u32::MAX, b"text\0")).as_deref(), Some(&b"text"[..]));
        assert_eq!(message(&with_length(u32::MAX, &[b'x'; 5000])).map(|text| text.len()), Some(4096));
        for nothing in [with_length(12, b"\n\0"), with_length(4, b"text\0"), with_length(3, b"text\0")] {
            assert_eq!(message(&nothing), None);
        }
        // The same message again is not another abort's.
        let again = with_length(12, b"text\0");
        assert!(message(&again).is_some());
        let at = again.as_ptr() as u64;
        assert_eq!(read(&raw const at as u64, &mut [0; 4096]), None);
        // Pointers to nowhere: of the variable, and of the message.
        let mut copy = [0; 4096];
        for nowhere in [0, 16, u64::MAX] {
            assert_eq!(read(nowhere, &mut copy), None);
            assert_eq!(read(&raw const nowhere as u64, &mut copy), None);
        }
    }

    #[test]
    fn this_c_library_has_the_variable() {
        find();
        let has = VARIABLE.load(Ordering::Acquire) != 0;
        assert_eq!(has, cfg!(target_env = "gnu"));
    }
}
