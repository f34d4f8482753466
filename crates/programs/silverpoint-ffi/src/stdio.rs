//! Standard output of a program in C or C++. `stdout` has a buffer, which is written when it is full, even in
//! the middle of a line.
//!
//! So lines of the logger are written while the stream is locked, at the end of a line, after its contents.
//! Where a stream's buffer cannot be examined (C libraries other than glibc), they bypass it.

/// Lets the logger's console know of the stream.
pub(crate) fn share() {
    #[cfg(target_env = "gnu")]
    silverpoint_logger::share_standard_output(glibc::at_end_of_line);
}

#[cfg(target_env = "gnu")]
mod glibc {
    use std::ffi::{c_char, c_int};

    use libc::FILE;
    use silverpoint_logger::Shared;

    unsafe extern "C" {
        static stdout: *mut FILE;
        fn ftrylockfile(stream: *mut FILE) -> c_int;
        fn funlockfile(stream: *mut FILE);
        fn fflush_unlocked(stream: *mut FILE) -> c_int;
        fn fileno_unlocked(stream: *mut FILE) -> c_int;
        fn __flbf(stream: *mut FILE) -> c_int;
    }

    /// How a `FILE` begins (`bits/types/struct_FILE.h`): macros of programs that were compiled long ago rely on it.
    #[repr(C)]
    struct Stream {
        _flags: c_int,
        _read: [*mut c_char; 3],
        write_base: *const u8,
        write_ptr: *const u8,
    }

    /// Unlocks it.
    struct Locked(*mut FILE);

    impl Drop for Locked {
        fn drop(&mut self) {
            // SAFETY: this thread has locked it, and it is a stream still.
            unsafe { funlockfile(self.0) };
        }
    }

    /// See [`silverpoint_logger::Share`]. Does not wait for the thread that has the stream.
    pub(super) fn at_end_of_line(write: &mut dyn FnMut()) -> Shared {
        // SAFETY: the library of C sets it before any thread but the first runs, and a program that changes it changes it to another stream.
        let stream = unsafe { stdout };
        // SAFETY: it is a stream, or null.
        if stream.is_null() || unsafe { ftrylockfile(stream) } != 0 {
            return if stream.is_null() { call(write) } else { Shared::Busy };
        }
        let locked = Locked(stream);
        // SAFETY: as above, and it is locked.
        if unsafe { fileno_unlocked(stream) } != libc::STDOUT_FILENO {
            return call(write);
        }
        // SAFETY: it is locked, so that nobody changes its buffer or what is in it.
        let pending = unsafe { pending(stream) };
        match pending.iter().rposition(|byte| *byte == b'\n') {
            _ if pending.is_empty() => {}
            Some(last) if last + 1 == pending.len() => {
                // SAFETY: as above. What cannot be written stays there, and its error is the program's to see.
                unsafe { fflush_unlocked(stream) };
            }
            // Whole lines of such a stream are out already: of this one nothing is.
            // SAFETY: as above.
            None if unsafe { __flbf(stream) } != 0 => {}
            _ => return Shared::WithinLine,
        }
        let called = call(write);
        drop(locked);
        called
    }

    fn call(write: &mut dyn FnMut()) -> Shared {
        write();
        Shared::Called
    }

    /// What was printed and is not out.
    ///
    /// # Safety
    /// It is a stream, and locked by this thread as long as the result is used.
    unsafe fn pending<'s>(stream: *mut FILE) -> &'s [u8] {
        // SAFETY: every `FILE` of glibc begins so, aligned as pointers are.
        let begin = unsafe { &*stream.cast::<Stream>() };
        if begin.write_base.is_null() || begin.write_ptr <= begin.write_base {
            return &[];
        }
        // SAFETY: both point into the stream's buffer, which is filled in between.
        unsafe {
            let len = begin.write_ptr.offset_from(begin.write_base);
            std::slice::from_raw_parts(begin.write_base, len.unsigned_abs())
        }
    }
}
