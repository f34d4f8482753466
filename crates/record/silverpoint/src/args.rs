//! The arguments of one tracepoint: `(&a, (&b, ()))`, so that one pair of implementations serves any number.

use std::marker::PhantomData;

use crate::sig::{Class, Sig, fixed_sum};
use crate::value::{Borrow, Known, Trace};
use crate::writer::Writer;

/// A tracepoint's arguments.
pub trait Args {
    /// Their types one after the other.
    const SIGNATURE: Sig;
    /// Their bytes, when those are the same for all values.
    const FIXED: Option<usize>;
    /// Their classes, first to last.
    const CLASSES: Classes;
    /// Whether `size` is what `write` writes, to the byte.
    const EXACT: Known<Self>;
    /// Bytes of the first ones up to the first whose size varies, or is not sure.
    const LEAD: usize;
    /// Tells signatures apart; never 0.
    const HASH: u32 = Self::SIGNATURE.hash();

    /// Bytes, at most.
    fn size(&self) -> usize;
    /// Bytes when everything that can be cut is cut.
    fn least(&self) -> usize;
    /// Writes them.
    fn write(&self, writer: &mut Writer<'_>);
    /// What `write` would write, where it lies in memory already.
    #[inline(always)]
    fn packed(&self) -> Option<&[u8]> {
        None
    }
    /// Writes those that are [`LEAD`](Self::LEAD).
    fn write_lead(&self, writer: &mut Writer<'_>);
    /// Writes those behind them.
    fn write_rest(&self, writer: &mut Writer<'_>);

    /// Whether the size of any is dear to know (see [`Trace::DEAR`]).
    const DEAR: bool;
    /// Whether any may be written only once (see [`Trace::ONCE`]).
    const ONCE: bool;
    /// Hands them on to a function that is not inlined: copies where that is cheap (see [`Trace::lend`]).
    fn lend<V: Borrower>(&self, borrower: V) -> V::Result;
}

/// Takes arguments that were lent.
pub trait Borrower {
    /// What it makes of them.
    type Result;
    /// Takes them.
    fn take<A: Args>(self, arguments: &A) -> Self::Result;
}

/// Puts an argument before those that come.
struct Before<'a, T: ?Sized, V>(&'a T, V);

impl<T: Trace + ?Sized, V: Borrower> Borrower for Before<'_, T, V> {
    type Result = V::Result;
    #[inline(always)]
    fn take<A: Args>(self, arguments: &A) -> V::Result {
        self.1.take(&(self.0, arguments))
    }
}

/// A list of classes as a constant.
pub struct Classes(Option<(Class, &'static Classes)>);

impl Classes {
    /// The class of an argument; the macro makes no placeholder without its argument.
    pub const fn at(&self, mut index: usize) -> Class {
        let mut list = self;
        loop {
            match list.0 {
                Some((class, _)) if index == 0 => return class,
                Some((_, rest)) => list = rest,
                None => return Class::Other,
            }
            index -= 1;
        }
    }
}

/// Goes on with the arguments after one that was lent.
struct And<'a, R, V>(&'a R, V);

impl<T: Trace + ?Sized, R: Args, V: Borrower> Borrow<T> for And<'_, R, V> {
    type Result = V::Result;
    #[inline(always)]
    fn take(self, value: &T) -> V::Result {
        self.0.lend(Before(value, self.1))
    }
}

impl Args for () {
    const SIGNATURE: Sig = Sig::List(&[]);
    const FIXED: Option<usize> = Some(0);
    const CLASSES: Classes = Classes(None);
    const EXACT: Known<Self> = Known::when(true);
    const LEAD: usize = 0;

    #[inline(always)]
    fn size(&self) -> usize {
        0
    }
    #[inline(always)]
    fn least(&self) -> usize {
        0
    }
    #[inline(always)]
    fn write(&self, _: &mut Writer<'_>) {}
    #[inline(always)]
    fn packed(&self) -> Option<&[u8]> {
        Some(&[])
    }
    #[inline(always)]
    fn write_lead(&self, _: &mut Writer<'_>) {}
    #[inline(always)]
    fn write_rest(&self, _: &mut Writer<'_>) {}

    const DEAR: bool = false;
    const ONCE: bool = false;
    #[inline(always)]
    fn lend<V: Borrower>(&self, borrower: V) -> V::Result {
        // Not `self`: its address is that of the whole.
        borrower.take(&())
    }
}

impl<A: Args> Args for &A {
    const SIGNATURE: Sig = A::SIGNATURE;
    const FIXED: Option<usize> = A::FIXED;
    const CLASSES: Classes = Classes(A::CLASSES.0);
    const EXACT: Known<Self> = Known::when(A::EXACT.is_so());
    const LEAD: usize = A::LEAD;

    #[inline(always)]
    fn size(&self) -> usize {
        (**self).size()
    }
    #[inline(always)]
    fn least(&self) -> usize {
        (**self).least()
    }
    #[inline(always)]
    fn write(&self, writer: &mut Writer<'_>) {
        (**self).write(writer);
    }
    #[inline(always)]
    fn packed(&self) -> Option<&[u8]> {
        (**self).packed()
    }
    #[inline(always)]
    fn write_lead(&self, writer: &mut Writer<'_>) {
        (**self).write_lead(writer);
    }
    #[inline(always)]
    fn write_rest(&self, writer: &mut Writer<'_>) {
        (**self).write_rest(writer);
    }

    const DEAR: bool = A::DEAR;
    const ONCE: bool = A::ONCE;
    #[inline(always)]
    fn lend<V: Borrower>(&self, borrower: V) -> V::Result {
        (**self).lend(borrower)
    }
}

/// Whether every value of the type takes the same number of bytes, and surely so.
const fn is_lead<T: Trace + ?Sized>() -> bool {
    T::FIXED.is_some() && T::EXACT.is_so()
}

impl<T: Trace + ?Sized, R: Args> Args for (&T, R) {
    const SIGNATURE: Sig = Sig::List(&[T::SIGNATURE, R::SIGNATURE]);
    const FIXED: Option<usize> = fixed_sum(&[T::FIXED, R::FIXED]);
    const CLASSES: Classes = Classes(Some((T::CLASS, &R::CLASSES)));
    const EXACT: Known<Self> = Known::when(T::EXACT.is_so() && R::EXACT.is_so());
    const LEAD: usize = match T::FIXED {
        Some(size) if is_lead::<T>() => size + R::LEAD,
        _ => 0,
    };

    #[inline(always)]
    fn size(&self) -> usize {
        self.0.trace_size() + self.1.size()
    }
    #[inline(always)]
    fn least(&self) -> usize {
        self.0.trace_least() + self.1.least()
    }
    #[inline(always)]
    fn write(&self, writer: &mut Writer<'_>) {
        if const { Self::LEAD == 0 } {
            self.0.trace_write(writer);
            return self.1.write(writer);
        }
        // SAFETY: these are of one size each, which is what they write.
        if let Some(before) = unsafe { writer.together(Self::LEAD) } {
            self.write_lead(writer);
            writer.apart(before);
            self.write_rest(writer);
        }
    }
    #[inline(always)]
    fn packed(&self) -> Option<&[u8]> {
        let is_one = const { T::PLAIN.is_so() && matches!(R::FIXED, Some(0)) && R::EXACT.is_so() };
        // SAFETY: the bytes of a plain type are those of its record, and nothing comes behind them.
        is_one.then(|| unsafe {
            std::slice::from_raw_parts(std::ptr::from_ref(self.0).cast::<u8>(), size_of_val(self.0))
        })
    }
    #[inline(always)]
    fn write_lead(&self, writer: &mut Writer<'_>) {
        if const { is_lead::<T>() } {
            self.0.trace_write(writer);
            self.1.write_lead(writer);
        }
    }
    #[inline(always)]
    fn write_rest(&self, writer: &mut Writer<'_>) {
        if const { is_lead::<T>() } {
            self.1.write_rest(writer);
        } else {
            self.write(writer);
        }
    }

    const DEAR: bool = T::DEAR || R::DEAR;
    const ONCE: bool = T::ONCE || R::ONCE;
    #[inline(always)]
    fn lend<V: Borrower>(&self, borrower: V) -> V::Result {
        self.0.lend(And(&self.1, borrower))
    }
}

/// The arguments' types before the arguments: inferred from what comes after. So a site is registered, and found to be off, without evaluating them.
pub struct Types<A>(PhantomData<A>);

impl<A> Types<A> {
    /// Of types that are not known yet.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(PhantomData)
    }

    /// Says that they are those of `arguments`.
    #[inline(always)]
    pub fn are(&self, _arguments: &A) {}
}
