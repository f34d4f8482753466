//! Boxes and other owners, options, results, tuples, ranges.

use std::borrow::Cow;
use std::ops;
use std::rc::Rc;
use std::sync::Arc;

use super::{Known, Trace, transparent};
use crate::sig::{Class, Sig, fixed_sum};
use crate::writer::Writer;

transparent! {
    [T: Trace + ?Sized] Box<T> as T, self => &**self;
    [T: Trace + ?Sized] Rc<T> as T, self => &**self;
    [T: Trace + ?Sized] Arc<T> as T, self => &**self;
    [T: Trace + ?Sized] &mut T as T, self => &**self;
    [T: Trace + ToOwned + ?Sized] Cow<'_, T> as T, self => &**self;
    [T: Trace] std::cmp::Reverse<T> as T, self => &self.0;
    [T: Trace + ?Sized] std::mem::ManuallyDrop<T> as T, self => &**self;
}

impl<T: Trace> Trace for Option<T> {
    const SIGNATURE: Sig = Sig::List(&[Sig::Text("?"), T::SIGNATURE]);
    const FIXED: Option<usize> = None;
    const CLASS: Class = T::CLASS;
    const EXACT: Known<Self> = Known::when(T::EXACT.is_so());

    #[inline(always)]
    fn size(&self) -> usize {
        1 + self.as_ref().map_or(0, Trace::size)
    }
    #[inline(always)]
    fn least(&self) -> usize {
        1 + self.as_ref().map_or(0, Trace::least)
    }
    #[inline(always)]
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            None => 0u8.write(writer),
            Some(value) => {
                1u8.write(writer);
                value.write(writer);
            }
        }
    }
}

/// A variant of two records, `Ok` and `Err`.
impl<T: Trace, E: Trace> Trace for Result<T, E> {
    const SIGNATURE: Sig = Sig::List(&[
        Sig::Text("/<Ok|0:"),
        T::SIGNATURE,
        Sig::Text(",><Err|0:"),
        E::SIGNATURE,
        Sig::Text(",>|"),
    ]);
    const FIXED: Option<usize> = None;

    fn size(&self) -> usize {
        1 + self.as_ref().map_or_else(Trace::size, Trace::size)
    }
    fn least(&self) -> usize {
        1 + self.as_ref().map_or_else(Trace::least, Trace::least)
    }
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Ok(value) => {
                0u8.write(writer);
                value.write(writer);
            }
            Err(error) => {
                1u8.write(writer);
                error.write(writer);
            }
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),*))*) => {$(
        impl<$($name: Trace),*> Trace for ($($name,)*) {
            const SIGNATURE: Sig = Sig::List(&[Sig::Text("("), $($name::SIGNATURE,)* Sig::Text(")")]);
            const FIXED: Option<usize> = fixed_sum(&[$($name::FIXED),*]);
            const EXACT: Known<Self> = Known::when(true $(&& $name::EXACT.is_so())*);
            #[inline(always)]
            fn size(&self) -> usize {
                0 $(+ self.$at.size())*
            }
            #[inline(always)]
            fn least(&self) -> usize {
                0 $(+ self.$at.least())*
            }
            #[inline(always)]
            #[allow(unused_variables)]
            fn write(&self, writer: &mut Writer<'_>) {
                $(self.$at.write(writer);)*
            }
        }
    )*};
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}

macro_rules! ranges {
    ($($kind:ident, $name:literal, $self:ident => $start:expr, $end:expr;)*) => {$(
        impl<T: Trace> Trace for ops::$kind<T> {
            const SIGNATURE: Sig = Sig::List(&[
                Sig::Text("<"), Sig::Name($name), Sig::Text("|start:"), T::SIGNATURE, Sig::Text(",end:"), T::SIGNATURE, Sig::Text(",>"),
            ]);
            const FIXED: Option<usize> = fixed_sum(&[T::FIXED, T::FIXED]);
            #[inline(always)]
            fn size(&$self) -> usize {
                $start.size() + $end.size()
            }
            #[inline(always)]
            fn least(&$self) -> usize {
                $start.least() + $end.least()
            }
            #[inline(always)]
            fn write(&$self, writer: &mut Writer<'_>) {
                $start.write(writer);
                $end.write(writer);
            }
        }
    )*};
}

ranges! {
    Range, "Range", self => self.start, self.end;
    RangeInclusive, "RangeInclusive", self => self.start(), self.end();
}
