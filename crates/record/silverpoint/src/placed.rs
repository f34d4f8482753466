//! What stands for a placeholder of a text: `error!("{}", error)`.
//!
//! A value that can be recorded is recorded with its type, any other as its text. Which it is, is found by the order in which the compiler tries methods: those of more references first.

use std::fmt;

use crate::value::Trace;

/// The value of a placeholder.
#[derive(Debug)]
pub struct Placed<'a, T: ?Sized>(pub &'a T);

/// The value of a placeholder that says `?`.
#[derive(Debug)]
pub struct PlacedDebug<'a, T: ?Sized>(pub &'a T);

/// It is recorded with its type.
pub trait ByTrace<'a, T: ?Sized> {
    /// What is recorded.
    fn __placed(self) -> &'a T;
}

/// Its text is recorded.
pub trait ByFormat<'a> {
    /// What is recorded.
    type Text: ?Sized;
    /// The same.
    fn __placed(self) -> &'a Self::Text;
}

/// It cannot be recorded: the compiler says why.
pub trait ByNothing<'a, T: ?Sized> {
    /// Never called.
    fn __placed(self) -> &'a T
    where
        T: Trace;
}

/// A value as its `Display` text.
#[repr(transparent)]
pub struct Shown<T: ?Sized>(T);

/// A value as its `Debug` text.
#[repr(transparent)]
pub struct ShownDebug<T: ?Sized>(T);

macro_rules! placed {
    ($($placed:ident $shown:ident $format:ident;)*) => {$(
        impl<'a, T: Trace + ?Sized> ByTrace<'a, T> for &&&$placed<'a, T> {
            #[inline(always)]
            fn __placed(self) -> &'a T {
                self.0
            }
        }

        impl<'a, T: fmt::$format + ?Sized> ByFormat<'a> for &&$placed<'a, T> {
            type Text = $shown<T>;

            #[inline(always)]
            fn __placed(self) -> &'a $shown<T> {
                let value: *const T = self.0;
                // SAFETY: the same in memory, by `repr(transparent)`, and lent for as long.
                unsafe { &*(value as *const $shown<T>) }
            }
        }

        impl<'a, T: ?Sized> ByNothing<'a, T> for &$placed<'a, T> {
            fn __placed(self) -> &'a T
            where
                T: Trace,
            {
                self.0
            }
        }

        impl<T: fmt::$format + ?Sized> fmt::Debug for $shown<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

placed! {
    Placed Shown Display;
    PlacedDebug ShownDebug Debug;
}

/// A field that is to be recorded with its type: where it cannot be, the compiler shows which it is.
#[inline(always)]
pub const fn is_trace<T: Trace + ?Sized>(value: &T) -> &T {
    value
}
