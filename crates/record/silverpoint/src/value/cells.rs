//! Cells, locks and what is set once: their value when it can be had at once. Nothing here waits, and nothing is forced.

use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::rc;
use std::sync::{self, LazyLock, Mutex, OnceLock, RwLock, TryLockError};

use super::{Known, Trace, transparent};
use crate::item::Item;
use crate::sig::{Class, Sig, fixed_sum};
use crate::writer::Writer;

/// The value inside, copied.
impl<T: Trace + Copy> Trace for Cell<T> {
    const SIGNATURE: Sig = T::SIGNATURE;
    const FIXED: Option<usize> = T::FIXED;
    const CLASS: Class = T::CLASS;
    const EXACT: Known<Self> = Known::when(T::EXACT.is_so());
    const ONCE: bool = T::ONCE;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        self.get().trace_size()
    }
    #[inline(always)]
    fn trace_least(&self) -> usize {
        self.get().trace_least()
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        self.get().trace_write(writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        self.get().trace_item(item);
    }
}

/// A variant: the value, or why it cannot be read now. The contents may change between the check of the size
/// and the copy. So where there is room the value is copied without a check. Where there is none, a value
/// that grew meanwhile costs only its record.
macro_rules! guarded {
    ($($kind:ident, $busy:literal, $names:expr, $self:ident => $look:expr;)*) => {$(
        impl<T: Trace + ?Sized> Trace for $kind<T> {
            const SIGNATURE: Sig = Sig::List(&[Sig::Text("/"), T::SIGNATURE, Sig::Text($busy)]);
            const FIXED: Option<usize> = None;
            const DEAR: bool = true;

            fn trace_size(&$self) -> usize {
                match $look {
                    Ok(value) => 1 + value.trace_size(),
                    Err(_) => 1,
                }
            }
            fn trace_least(&$self) -> usize {
                match $look {
                    Ok(value) => 1 + value.trace_least(),
                    Err(_) => 1,
                }
            }
            fn trace_write(&$self, writer: &mut Writer<'_>) {
                match $look {
                    Ok(value) => {
                        0u8.trace_write(writer);
                        value.trace_write(writer);
                    }
                    Err(index) => {
                        let index: u8 = index;
                        index.trace_write(writer);
                    }
                }
            }
            fn trace_item(&$self, item: &mut Item<'_>) {
                match $look {
                    Ok(value) => value.trace_item(item),
                    Err(index) => {
                        let index: u8 = index;
                        item.text($names[usize::from(index) - 1]);
                    }
                }
            }
        }
    )*};
}

/// The value of a poisoned lock is not given: the holder may have left it half done.
fn why<G>(error: TryLockError<G>) -> u8 {
    match error {
        TryLockError::WouldBlock => 1,
        TryLockError::Poisoned(_) => 2,
    }
}

guarded! {
    RefCell, "<borrowed|>|", ["<borrowed>"], self => self.try_borrow().map_err(|_| 1);
    Mutex, "<locked|><poisoned|>|", ["<locked>", "<poisoned>"], self => self.try_lock().map_err(why);
    RwLock, "<locked|><poisoned|>|", ["<locked>", "<poisoned>"], self => self.try_read().map_err(why);
}

/// Since Rust 1.94 lazy values have this function themselves, which comes before that of a trait.
#[allow(dead_code)] // Only older ones use it.
trait Lazy {
    type Value;

    /// The error of the compiler for a program that records one.
    const UNSEEN: () = panic!(
        "with Rust older than 1.94, a lazy value cannot be recorded: it cannot be read without initialising it"
    );

    fn get(_: &Self) -> Option<&Self::Value> {
        let () = Self::UNSEEN;
        None
    }
}

impl<T, F> Lazy for LazyCell<T, F> {
    type Value = T;
}

impl<T, F> Lazy for LazyLock<T, F> {
    type Value = T;
}

/// An optional: what was set or made already, or nothing. (Of a lazy value whose initialisation panicked, nothing.)
macro_rules! once {
    ($([$($generics:tt)*] $kind:ty;)*) => {$(
        #[allow(unstable_name_collisions, clippy::incompatible_msrv)] // See `Lazy`.
        impl<T: Trace, $($generics)*> Trace for $kind {
            const SIGNATURE: Sig = <Option<&T> as Trace>::SIGNATURE;
            const FIXED: Option<usize> = None;
            const CLASS: Class = T::CLASS;

            fn trace_size(&self) -> usize {
                <$kind>::get(self).trace_size()
            }
            fn trace_least(&self) -> usize {
                <$kind>::get(self).trace_least()
            }
            fn trace_write(&self, writer: &mut Writer<'_>) {
                <$kind>::get(self).trace_write(writer);
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                <$kind>::get(self).trace_item(item);
            }
        }
    )*};
}

once! {
    [] OnceCell<T>;
    [] OnceLock<T>;
    [F] LazyCell<T, F>;
    [F] LazyLock<T, F>;
}

/// Whether the value was still there. (Upgrade it to record the value.)
macro_rules! weak {
    ($($kind:ty;)*) => {$(
        impl<T: ?Sized> Trace for $kind {
            const SIGNATURE: Sig = bool::SIGNATURE;
            const FIXED: Option<usize> = fixed_sum(&[bool::FIXED]);
            const ONCE: bool = false;
            const CLASS: Class = Class::Boolean;

            fn trace_size(&self) -> usize {
                1
            }
            fn trace_write(&self, writer: &mut Writer<'_>) {
                (self.strong_count() > 0).trace_write(writer);
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                item.bool(self.strong_count() > 0);
            }
        }
    )*};
}

weak! {
    rc::Weak<T>;
    sync::Weak<T>;
}

transparent! {
    [P: std::ops::Deref<Target: Trace>] std::pin::Pin<P> as P::Target, self => &**self;
    [T: Trace + ?Sized] sync::MutexGuard<'_, T> as T, self => &**self;
    [T: Trace + ?Sized] sync::RwLockReadGuard<'_, T> as T, self => &**self;
    [T: Trace + ?Sized] sync::RwLockWriteGuard<'_, T> as T, self => &**self;
    [T: Trace + ?Sized] std::cell::Ref<'_, T> as T, self => &**self;
    [T: Trace + ?Sized] std::cell::RefMut<'_, T> as T, self => &**self;
}
