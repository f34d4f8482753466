//! A hint for the compiler.

/// Says that it is seldom called: the compiler places what follows out of the way.
#[cold]
#[inline(always)]
pub(crate) fn seldom() {}
