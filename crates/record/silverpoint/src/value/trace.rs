//! What a value must say of itself to be recorded.

use std::marker::PhantomData;

use crate::item::Item;
use crate::sig::{Class, Sig};
use crate::writer::Writer;

/// A value that a tracepoint can record with its type. Derive it for own types: `#[derive(Trace)]`.
///
/// Implementing it by hand: the bytes that [`trace_write`](Trace::trace_write) writes must be what the signature says
/// (spec/wire.md, section 10). It is called once for a record, and no ring is held meanwhile: it may format, allocate or record something itself. A record that it leaves by a
/// panic is lost, and counted.
#[diagnostic::on_unimplemented(
    message = "a tracepoint cannot record a `{Self}` with its type",
    note = "derive it: `#[derive(silverpoint::Trace)]`, or record its text: `%value` (Display), `?value` (Debug); of `#[instrument]`: `skip(value)`, `fields(?value)`"
)]
pub trait Trace {
    /// The type's signature.
    const SIGNATURE: Sig;
    /// Bytes of every value, when all have the same number.
    const FIXED: Option<usize>;
    /// What placeholders' specifications fit.
    const CLASS: Class = Class::Other;
    /// Whether the bytes in memory are the bytes in the record: then slices are copied whole.
    #[doc(hidden)]
    const PLAIN: Known<Self> = Known::no();
    /// Whether `size` is what `write` writes, to the byte: then nothing is checked.
    #[doc(hidden)]
    const EXACT: Known<Self> = Known::no();

    /// Bytes that this value takes, at most.
    fn trace_size(&self) -> usize;

    /// Bytes that it takes when everything in it that can be cut is cut to nothing.
    #[inline(always)]
    fn trace_least(&self) -> usize {
        self.trace_size()
    }

    /// Writes the value.
    fn trace_write(&self, writer: &mut Writer<'_>);

    /// Puts the value into an item that carries its types itself: within types that contain themselves. Derived types do; for one that is implemented by hand
    /// and does not say how, it is the name of the type.
    fn trace_item(&self, item: &mut Item<'_>) {
        item.formatted(format_args!("<{}>", std::any::type_name::<Self>()));
    }

    /// Whether the size is expensive to compute, since it takes a walk over nodes. Such values are written
    /// without computing it as long as there is room.
    #[doc(hidden)]
    const DEAR: bool = false;

    /// Whether it may be written only once, since that runs code of the program, or may find another value
    /// the next time. Such records are built outside of the ring: no lane is held while that code runs.
    #[doc(hidden)]
    const ONCE: bool = true;

    /// Gives this value, or a copy of it. Numbers are copied. So a variable whose tracepoint may have to make
    /// a function call stays in its register on the path without one.
    #[doc(hidden)]
    #[inline(always)]
    fn lend<B: Borrow<Self>>(&self, borrower: B) -> B::Result {
        borrower.take(self)
    }
}

/// Takes a value that is lent. (A closure would do, were it sure to be inlined.)
#[doc(hidden)]
pub trait Borrow<T: ?Sized> {
    /// What it makes of it.
    type Result;
    /// Takes it.
    fn take(self, value: &T) -> Self::Result;
}

/// Something that is known of a type, and that memory safety rests on. Only this crate says yes, and a yes for one type is none for another.
#[doc(hidden)]
pub struct Known<T: ?Sized>(bool, PhantomData<*const T>);

impl<T: ?Sized> Known<T> {
    pub const fn no() -> Self {
        Self(false, PhantomData)
    }

    pub(crate) const fn when(yes: bool) -> Self {
        Self(yes, PhantomData)
    }

    pub(crate) const fn is_so(&self) -> bool {
        self.0
    }
}

impl<T: Trace + ?Sized> Trace for &T {
    const SIGNATURE: Sig = T::SIGNATURE;
    const FIXED: Option<usize> = T::FIXED;
    const CLASS: Class = T::CLASS;
    const EXACT: Known<Self> = Known::when(T::EXACT.is_so());
    const DEAR: bool = T::DEAR;
    const ONCE: bool = T::ONCE;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        (**self).trace_size()
    }
    #[inline(always)]
    fn trace_least(&self) -> usize {
        (**self).trace_least()
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        (**self).trace_write(writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        (**self).trace_item(item);
    }
}

/// Values that are recorded as what they point to or contain.
macro_rules! transparent {
    ($([$($generics:tt)*] $kind:ty as $inner:ty, $self:ident => $value:expr;)*) => {$(
        impl<$($generics)*> $crate::Trace for $kind {
            const SIGNATURE: $crate::sig::Sig = <$inner as $crate::Trace>::SIGNATURE;
            const FIXED: Option<usize> = <$inner as $crate::Trace>::FIXED;
            const CLASS: $crate::sig::Class = <$inner as $crate::Trace>::CLASS;
            const EXACT: $crate::value::Known<Self> =
                $crate::value::Known::when(<$inner as $crate::Trace>::EXACT.is_so());
            const DEAR: bool = <$inner as $crate::Trace>::DEAR;
            const ONCE: bool = <$inner as $crate::Trace>::ONCE;
            #[inline(always)]
            fn trace_size(&$self) -> usize {
                $crate::Trace::trace_size($value)
            }
            #[inline(always)]
            fn trace_least(&$self) -> usize {
                $crate::Trace::trace_least($value)
            }
            #[inline(always)]
            fn trace_write(&$self, writer: &mut $crate::Writer<'_>) {
                $crate::Trace::trace_write($value, writer);
            }
            fn trace_item(&$self, item: &mut $crate::Item<'_>) {
                $crate::Trace::trace_item($value, item);
            }
        }
    )*};
}
pub(crate) use transparent;
