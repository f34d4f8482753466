//! Boxes and other owners, options, results, tuples, ranges.

use std::borrow::Cow;
use std::ops;
use std::rc::Rc;
use std::sync::Arc;

use super::{Known, Trace, transparent};
use crate::item::Item;
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
    const ONCE: bool = T::ONCE;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        1 + self.as_ref().map_or(0, Trace::trace_size)
    }
    #[inline(always)]
    fn trace_least(&self) -> usize {
        1 + self.as_ref().map_or(0, Trace::trace_least)
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        match self {
            None => 0u8.trace_write(writer),
            Some(value) => {
                1u8.trace_write(writer);
                value.trace_write(writer);
            }
        }
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        match self {
            None => item.null(),
            Some(value) => value.trace_item(item),
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
    const ONCE: bool = T::ONCE || E::ONCE;

    fn trace_size(&self) -> usize {
        1 + self.as_ref().map_or_else(Trace::trace_size, Trace::trace_size)
    }
    fn trace_least(&self) -> usize {
        1 + self.as_ref().map_or_else(Trace::trace_least, Trace::trace_least)
    }
    fn trace_write(&self, writer: &mut Writer<'_>) {
        match self {
            Ok(value) => {
                0u8.trace_write(writer);
                value.trace_write(writer);
            }
            Err(error) => {
                1u8.trace_write(writer);
                error.trace_write(writer);
            }
        }
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        match self {
            Ok(value) => item.alternative("Ok", value),
            Err(error) => item.alternative("Err", error),
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),*))*) => {$(
        impl<$($name: Trace),*> Trace for ($($name,)*) {
            const SIGNATURE: Sig = Sig::List(&[Sig::Text("("), $($name::SIGNATURE,)* Sig::Text(")")]);
            const FIXED: Option<usize> = fixed_sum(&[$($name::FIXED),*]);
            const EXACT: Known<Self> = Known::when(true $(&& $name::EXACT.is_so())*);
            const ONCE: bool = false $(|| $name::ONCE)*;
            #[inline(always)]
            fn trace_size(&self) -> usize {
                0 $(+ self.$at.trace_size())*
            }
            #[inline(always)]
            fn trace_least(&self) -> usize {
                0 $(+ self.$at.trace_least())*
            }
            #[inline(always)]
            #[allow(unused_variables)]
            fn trace_write(&self, writer: &mut Writer<'_>) {
                $(self.$at.trace_write(writer);)*
            }
            #[allow(unused_mut)]
            fn trace_item(&self, item: &mut Item<'_>) {
                let mut nest = item.begin_list();
                $(if item.next(&mut nest) {
                    self.$at.trace_item(item);
                })*
                item.end(nest);
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
            const ONCE: bool = T::ONCE;
            #[inline(always)]
            fn trace_size(&$self) -> usize {
                $start.trace_size() + $end.trace_size()
            }
            #[inline(always)]
            fn trace_least(&$self) -> usize {
                $start.trace_least() + $end.trace_least()
            }
            #[inline(always)]
            fn trace_write(&$self, writer: &mut Writer<'_>) {
                $start.trace_write(writer);
                $end.trace_write(writer);
            }
            fn trace_item(&$self, item: &mut Item<'_>) {
                let mut nest = item.begin_map();
                item.field(&mut nest, "start", &$start);
                item.field(&mut nest, "end", &$end);
                item.end(nest);
            }
        }
    )*};
}

ranges! {
    Range, "Range", self => self.start, self.end;
    RangeInclusive, "RangeInclusive", self => self.start(), self.end();
}

/// Ranges with one end.
macro_rules! half_ranges {
    ($($kind:ident, $signature:literal, $end:ident;)*) => {$(
        impl<T: Trace> Trace for ops::$kind<T> {
            const SIGNATURE: Sig = Sig::List(&[Sig::Text($signature), T::SIGNATURE, Sig::Text(",>")]);
            const FIXED: Option<usize> = T::FIXED;
            const EXACT: Known<Self> = Known::when(T::EXACT.is_so());
            const ONCE: bool = T::ONCE;
            #[inline(always)]
            fn trace_size(&self) -> usize {
                self.$end.trace_size()
            }
            #[inline(always)]
            fn trace_least(&self) -> usize {
                self.$end.trace_least()
            }
            #[inline(always)]
            fn trace_write(&self, writer: &mut Writer<'_>) {
                self.$end.trace_write(writer);
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                item.alternative(stringify!($end), &self.$end);
            }
        }
    )*};
}

half_ranges! {
    RangeFrom, "<RangeFrom|start:", start;
    RangeTo, "<RangeTo|end:", end;
    RangeToInclusive, "<RangeToInclusive|end:", end;
}

/// Types of one value, or of none.
macro_rules! nothing {
    ($([$($generics:tt)*] $kind:ty, $signature:literal;)*) => {$(
        impl<$($generics)*> Trace for $kind {
            const SIGNATURE: Sig = Sig::Text($signature);
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
                item.null();
            }
        }
    )*};
}

nothing! {
    [] ops::RangeFull, "<RangeFull|>";
    [T: ?Sized] std::marker::PhantomData<T>, "n";
    [] std::marker::PhantomPinned, "n";
    [] std::convert::Infallible, "n";
}

/// Variants: the number of the alternative, then what it holds, if it holds something.
macro_rules! variants {
    ($([$($generics:ident),*] $kind:ty, $signature:expr, $names:expr, $self:ident => $match:expr;)*) => {$(
        impl<$($generics: Trace),*> Trace for $kind {
            const SIGNATURE: Sig = Sig::List(&$signature);
            const FIXED: Option<usize> = None;
            const ONCE: bool = false $(|| $generics::ONCE)*;
            fn trace_size(&$self) -> usize {
                1 + $match.1.map_or(0, |value| value.trace_size())
            }
            fn trace_least(&$self) -> usize {
                1 + $match.1.map_or(0, |value| value.trace_least())
            }
            fn trace_write(&$self, writer: &mut Writer<'_>) {
                let (index, value): (u8, _) = $match;
                index.trace_write(writer);
                if let Some(value) = value {
                    value.trace_write(writer);
                }
            }
            fn trace_item(&$self, item: &mut Item<'_>) {
                let (index, value): (u8, _) = $match;
                let name = $names[usize::from(index)];
                match value {
                    Some(value) => item.alternative(name, value),
                    None => item.text(name),
                }
            }
        }
    )*};
}

variants! {
    [T] std::task::Poll<T>, [Sig::Text("/<Ready|0:"), T::SIGNATURE, Sig::Text(",><Pending|>|")], ["Ready", "Pending"], self => match self {
        std::task::Poll::Ready(value) => (0, Some(value)),
        std::task::Poll::Pending => (1, None),
    };
    [T] ops::Bound<T>,
        [Sig::Text("/<Included|0:"), T::SIGNATURE, Sig::Text(",><Excluded|0:"), T::SIGNATURE, Sig::Text(",><Unbounded|>|")],
        ["Included", "Excluded", "Unbounded"],
        self => match self {
        ops::Bound::Included(value) => (0, Some(value)),
        ops::Bound::Excluded(value) => (1, Some(value)),
        ops::Bound::Unbounded => (2, None),
    };
}

impl<B: Trace, C: Trace> Trace for ops::ControlFlow<B, C> {
    const SIGNATURE: Sig = Sig::List(&[
        Sig::Text("/<Continue|0:"),
        C::SIGNATURE,
        Sig::Text(",><Break|0:"),
        B::SIGNATURE,
        Sig::Text(",>|"),
    ]);
    const FIXED: Option<usize> = None;
    const ONCE: bool = B::ONCE || C::ONCE;

    fn trace_size(&self) -> usize {
        match self {
            Self::Continue(value) => 1 + value.trace_size(),
            Self::Break(value) => 1 + value.trace_size(),
        }
    }
    fn trace_least(&self) -> usize {
        match self {
            Self::Continue(value) => 1 + value.trace_least(),
            Self::Break(value) => 1 + value.trace_least(),
        }
    }
    fn trace_write(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Continue(value) => {
                0u8.trace_write(writer);
                value.trace_write(writer);
            }
            Self::Break(value) => {
                1u8.trace_write(writer);
                value.trace_write(writer);
            }
        }
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        match self {
            Self::Continue(value) => item.alternative("Continue", value),
            Self::Break(value) => item.alternative("Break", value),
        }
    }
}

/// A record of size and alignment, in bytes.
impl Trace for std::alloc::Layout {
    const SIGNATURE: Sig = Sig::Text("<Layout|size:L,align:L,>");
    const FIXED: Option<usize> = Some(16);
    const EXACT: Known<Self> = Known::when(true);
    const ONCE: bool = false;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        16
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        std::alloc::Layout::size(self).trace_write(writer);
        self.align().trace_write(writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        let mut nest = item.begin_map();
        item.field(&mut nest, "size", &std::alloc::Layout::size(self));
        item.field(&mut nest, "align", &self.align());
        item.end(nest);
    }
}

/// A record of file, line and column.
impl Trace for std::panic::Location<'_> {
    const SIGNATURE: Sig = Sig::Text("<Location|file:s,line:I,column:I,>");
    const FIXED: Option<usize> = None;
    const EXACT: Known<Self> = Known::when(true);
    const ONCE: bool = false;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        self.file().trace_size() + 8
    }
    #[inline(always)]
    fn trace_least(&self) -> usize {
        self.file().trace_least() + 8
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        self.file().trace_write(writer);
        self.line().trace_write(writer);
        self.column().trace_write(writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        item.formatted(format_args!("{self}"));
    }
}
