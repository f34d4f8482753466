//! Numbers, characters, pointers, times.

use std::num;
use std::sync::atomic;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Borrow, Known, Trace, transparent};
use crate::item::Item;
use crate::sig::{Class, Sig};
use crate::writer::Writer;

macro_rules! numbers {
    ($($kind:ty, $code:literal, $class:ident, $put:ident as $wide:ty;)*) => {$(
        impl Trace for $kind {
            const SIGNATURE: Sig = Sig::Text($code);
            const FIXED: Option<usize> = Some(size_of::<$kind>());
            const CLASS: Class = Class::$class;
            const PLAIN: Known<Self> = Known::when(cfg!(target_endian = "little"));
            const EXACT: Known<Self> = Known::when(true);
            const ONCE: bool = false;
            #[inline(always)]
            fn trace_size(&self) -> usize {
                size_of::<$kind>()
            }
            #[inline(always)]
            fn trace_write(&self, writer: &mut Writer<'_>) {
                writer.bytes(self.to_le_bytes());
            }
            #[inline(always)]
            fn lend<B: Borrow<Self>>(&self, borrower: B) -> B::Result {
                let copy = *self;
                borrower.take(&copy)
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                item.$put(<$wide>::from(*self));
            }
        }
    )*};
}

numbers! {
    u8, "A", Integer, unsigned as u128;
    u16, "H", Integer, unsigned as u128;
    u32, "I", Integer, unsigned as u128;
    u64, "L", Integer, unsigned as u128;
    u128, "O", Integer, unsigned as u128;
    i8, "a", Integer, integer as i128;
    i16, "h", Integer, integer as i128;
    i32, "i", Integer, integer as i128;
    i64, "l", Integer, integer as i128;
    i128, "o", Integer, integer as i128;
    f32, "f", Float, f32 as f32;
    f64, "d", Float, f64 as f64;
}

/// Values that are written as another one, made on the spot.
macro_rules! as_number {
    ($([$($generics:tt)*] $kind:ty as $inner:ty, $class:ident, $code:expr, $self:ident => $value:expr;)*) => {$(
        impl<$($generics)*> $crate::Trace for $kind {
            const SIGNATURE: $crate::sig::Sig = $code;
            const FIXED: Option<usize> = Some(size_of::<$inner>());
            const CLASS: $crate::sig::Class = $crate::sig::Class::$class;
            const EXACT: $crate::value::Known<Self> = $crate::value::Known::when(true);
            const ONCE: bool = false;
            #[inline(always)]
            fn trace_size(&$self) -> usize {
                size_of::<$inner>()
            }
            #[inline(always)]
            fn trace_write(&$self, writer: &mut $crate::Writer<'_>) {
                let value: $inner = $value;
                writer.bytes(value.to_le_bytes());
            }
            fn trace_item(&$self, item: &mut $crate::Item<'_>) {
                let value: $inner = $value;
                $crate::value::number_item(&<Self as $crate::Trace>::SIGNATURE, i128::from(value), item);
            }
        }
    )*};
}
#[cfg(any(feature = "chrono", feature = "time"))]
pub(super) use as_number;

as_number! {
    // 64 bits on every machine: a trace has one type for them.
    [] usize as u64, Integer, Sig::Text("L"), self => *self as u64;
    [] isize as i64, Integer, Sig::Text("l"), self => *self as i64;
    [] bool as u8, Boolean, Sig::Text("b"), self => u8::from(*self);
    [] char as u32, Character, Sig::Text("W"), self => u32::from(*self);
    [T: ?Sized] *const T as u64, Pointer, Sig::Text("p"), self => self.cast::<()>() as u64;
    [T: ?Sized] *mut T as u64, Pointer, Sig::Text("p"), self => self.cast::<()>() as u64;
    [T] std::ptr::NonNull<T> as u64, Pointer, Sig::Text("p"), self => self.as_ptr() as u64;
    [] Duration as i64, Other, Sig::Text("T"), self => i64::try_from(self.as_nanos()).unwrap_or(i64::MAX);
    [] SystemTime as i64, Other, Sig::Text("t"), self => since_epoch_ns(*self);
    [T] atomic::AtomicPtr<T> as u64, Pointer, Sig::Text("p"), self => self.load(atomic::Ordering::Relaxed) as u64;
    [] std::cmp::Ordering as i8, Enumeration, Sig::Text("eOrdering|a|-1=Less,0=Equal,1=Greater,;"), self => *self as i8;
    [] Instant as i64, Other, Sig::Text("@clock=monotonic;T"), self => since_boot_ns(*self);
    [R] fn() -> R as u64, Pointer, Sig::Text("p"), self => *self as usize as u64;
    [R, A] fn(A) -> R as u64, Pointer, Sig::Text("p"), self => *self as usize as u64;
    [R, A, B] fn(A, B) -> R as u64, Pointer, Sig::Text("p"), self => *self as usize as u64;
    [R, A, B, C] fn(A, B, C) -> R as u64, Pointer, Sig::Text("p"), self => *self as usize as u64;
    [] atomic::AtomicBool as u8, Boolean, Sig::Text("b"), self => u8::from(self.load(atomic::Ordering::Relaxed));
    [] atomic::AtomicU8 as u8, Integer, u8::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicU16 as u16, Integer, u16::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicU32 as u32, Integer, u32::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicU64 as u64, Integer, u64::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicUsize as u64, Integer, u64::SIGNATURE, self => self.load(atomic::Ordering::Relaxed) as u64;
    [] atomic::AtomicI8 as i8, Integer, i8::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicI16 as i16, Integer, i16::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicI32 as i32, Integer, i32::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicI64 as i64, Integer, i64::SIGNATURE, self => self.load(atomic::Ordering::Relaxed);
    [] atomic::AtomicIsize as i64, Integer, i64::SIGNATURE, self => self.load(atomic::Ordering::Relaxed) as i64;
}

transparent! {
    [] num::NonZeroU8 as u8, self => &self.get();
    [] num::NonZeroU16 as u16, self => &self.get();
    [] num::NonZeroU32 as u32, self => &self.get();
    [] num::NonZeroU64 as u64, self => &self.get();
    [] num::NonZeroU128 as u128, self => &self.get();
    [] num::NonZeroUsize as usize, self => &self.get();
    [] num::NonZeroI8 as i8, self => &self.get();
    [] num::NonZeroI16 as i16, self => &self.get();
    [] num::NonZeroI32 as i32, self => &self.get();
    [] num::NonZeroI64 as i64, self => &self.get();
    [] num::NonZeroI128 as i128, self => &self.get();
    [] num::NonZeroIsize as isize, self => &self.get();
    [T: Trace] num::Wrapping<T> as T, self => &self.0;
    [T: Trace] num::Saturating<T> as T, self => &self.0;
}

/// A number in an item, as what its type in signatures says.
pub(super) fn number_item(signature: &Sig, value: i128, item: &mut Item<'_>) {
    let Sig::Text(code) = signature else { return item.integer(value) };
    match code.as_bytes().last() {
        Some(b'b') => item.bool(value != 0),
        Some(b'W') => match u32::try_from(value).ok().and_then(char::from_u32) {
            Some(character) => item.text(character.encode_utf8(&mut [0; 4])),
            None => item.integer(value),
        },
        Some(b'p') => item.formatted(format_args!("{value:#x}")),
        Some(b'T') => item.formatted(format_args!("{value} ns")),
        Some(b't') => item.time(value as i64),
        _ => item.integer(value),
    }
}

/// Saturates beyond the years 1677 to 2262.
fn since_epoch_ns(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

/// Nanoseconds on CLOCK_MONOTONIC, which is what an `Instant` counts; the type does not tell, so that two looks at the clock are needed.
fn since_boot_ns(time: Instant) -> i64 {
    let (now, now_ns) = (Instant::now(), crate::platform::clock::monotonic_ns());
    let signed = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    let now_ns = i64::try_from(now_ns).unwrap_or(i64::MAX);
    match time.checked_duration_since(now) {
        Some(ahead) => now_ns.saturating_add(signed(ahead)),
        None => now_ns.saturating_sub(signed(now.duration_since(time))),
    }
}
