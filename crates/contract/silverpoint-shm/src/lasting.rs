//! References for constants.

use std::ptr::NonNull;

/// A reference to what lasts as long as the process. Unlike a plain one, it may stand in a constant and lead to what changes (Rust 1.85 refuses that).
pub struct Lasting<T: 'static>(NonNull<T>);

impl<T> Clone for Lasting<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Lasting<T> {}

impl<T> Lasting<T> {
    /// Refers to it.
    #[inline(always)]
    pub const fn new(to: &'static T) -> Self {
        // SAFETY: a reference is never null.
        Self(unsafe { NonNull::new_unchecked(std::ptr::from_ref(to).cast_mut()) })
    }

    /// As a plain reference.
    #[inline(always)]
    pub fn get(self) -> &'static T {
        // SAFETY: it was made of such a one.
        unsafe { self.0.as_ref() }
    }
}
