//! Metadata of a value: that it is shown in hexadecimal, has a unit, or is secret. It is part of the
//! signature, and takes no byte in the record.

use super::{Known, Trace};
use crate::item::Item;
use crate::sig::{Class, Sig};
use crate::writer::Writer;

/// Integers, however deep in the value, are shown in hexadecimal: `info!("{}", Hex(&flags))`.
#[derive(Clone, Copy, Debug)]
pub struct Hex<T>(pub T);

/// A value of which nothing is recorded, not even its length: readers show `<secret>`. The place stays, so that a template can name it.
#[derive(Clone, Copy)]
pub struct Secret<T>(pub T);

impl<T> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<secret>")
    }
}

/// The name of a unit as a type, for [`Unit`]: made by [`unit!`](crate::unit).
pub trait UnitName {
    /// As it is shown behind the value.
    const NAME: &'static str;
}

/// A value with a unit, shown behind it: made by [`unit!`](crate::unit).
#[derive(Clone, Copy, Debug)]
pub struct Unit<U, T>(T, std::marker::PhantomData<U>);

impl<U: UnitName, T> Unit<U, T> {
    /// The value in this unit.
    pub fn new(value: T) -> Self {
        Self(value, std::marker::PhantomData)
    }
}

/// A value with its unit, a literal: `info!("took {}", unit!(ms, "ms"))`, `counter!("latency", unit!(ms, "ms"))`. The unit belongs to the site and costs
/// nothing in the record.
#[macro_export]
macro_rules! unit {
    ($value:expr, $unit:literal) => {{
        #[derive(Clone, Copy, Debug)]
        enum __Unit {}
        impl $crate::UnitName for __Unit {
            const NAME: &'static str = $unit;
        }
        $crate::Unit::<__Unit, _>::new($value)
    }};
}

macro_rules! marked {
    ($([$($generics:tt)*] $kind:ty, $mark:expr, $said:expr;)*) => {$(
        impl<$($generics)*> Trace for $kind {
            const SIGNATURE: Sig = Sig::List(&[$mark, T::SIGNATURE]);
            const FIXED: Option<usize> = T::FIXED;
            const CLASS: Class = T::CLASS;
            const EXACT: Known<Self> = Known::when(T::EXACT.is_so());
            const ONCE: bool = T::ONCE;
            const DEAR: bool = T::DEAR;

            #[inline(always)]
            fn trace_size(&self) -> usize {
                self.0.trace_size()
            }
            #[inline(always)]
            fn trace_least(&self) -> usize {
                self.0.trace_least()
            }
            #[inline(always)]
            fn trace_write(&self, writer: &mut Writer<'_>) {
                self.0.trace_write(writer);
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                let (key, text): (&str, &str) = $said;
                item.marked(key, text, &self.0);
            }
        }
    )*};
}

marked! {
    [T: Trace] Hex<T>, Sig::Text("@hex=;"), ("hex", "");
    [U: UnitName, T: Trace] Unit<U, T>, Sig::List(&[Sig::Text("@unit="), Sig::Name(U::NAME), Sig::Text(";")]), ("unit", U::NAME);
}

impl<T> Trace for Secret<T> {
    const SIGNATURE: Sig = Sig::Text("@secret=;n");
    const FIXED: Option<usize> = Some(0);
    const EXACT: Known<Self> = Known::when(true);
    const ONCE: bool = false;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        0
    }
    #[inline(always)]
    fn trace_write(&self, _: &mut Writer<'_>) {}
    fn trace_item(&self, item: &mut Item<'_>) {
        item.marked("secret", "", &std::marker::PhantomData::<T>);
    }
}
