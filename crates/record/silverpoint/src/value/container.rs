//! Sequences, sets and maps.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

use super::{Known, Trace, transparent};
use crate::item::Item;
use crate::sig::{Class, Sig};
use crate::writer::Writer;

impl<T: Trace, const N: usize> Trace for [T; N] {
    const SIGNATURE: Sig = Sig::List(&[Sig::Text("#"), Sig::Number(N as i128), Sig::Text(":"), T::SIGNATURE]);
    const FIXED: Option<usize> = match T::FIXED {
        Some(size) => Some(size * N),
        None => None,
    };
    const CLASS: Class = T::CLASS;
    const PLAIN: Known<Self> = Known::when(T::PLAIN.is_so());
    const EXACT: Known<Self> = Known::when(T::EXACT.is_so());
    const ONCE: bool = T::ONCE;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        Self::FIXED.unwrap_or_else(|| self.iter().map(Trace::trace_size).sum())
    }
    #[inline(always)]
    fn trace_least(&self) -> usize {
        Self::FIXED.unwrap_or_else(|| self.iter().map(Trace::trace_least).sum())
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        elements(self, writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        item.list(self);
    }
}

impl<T: Trace> Trace for [T] {
    const SIGNATURE: Sig = Sig::List(&[Sig::Text("["), T::SIGNATURE]);
    const FIXED: Option<usize> = None;
    const CLASS: Class = T::CLASS;
    // Those without a size are bounded in their number, and then the size is only the most.
    const EXACT: Known<Self> = Known::when(T::EXACT.is_so() && !matches!(T::FIXED, Some(0)));
    const ONCE: bool = T::ONCE;

    #[inline(always)]
    fn trace_size(&self) -> usize {
        size_of_sequence(self.len(), self.iter())
    }
    #[inline(always)]
    fn trace_least(&self) -> usize {
        least_of_sequence(self.len(), self.iter())
    }
    #[inline(always)]
    fn trace_write(&self, writer: &mut Writer<'_>) {
        elements(&self[..begin_sequence::<T>(self.len(), writer)], writer);
    }
    fn trace_item(&self, item: &mut Item<'_>) {
        item.list(self);
    }
}

/// The elements without their number.
#[inline(always)]
fn elements<T: Trace>(elements: &[T], writer: &mut Writer<'_>) {
    if T::PLAIN.is_so() {
        // SAFETY: plain types are numbers and arrays of them: every byte is initialised, and in the order of the record.
        let bytes =
            unsafe { std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), size_of_val(elements)) };
        writer.raw(bytes);
    } else {
        elements.iter().for_each(|element| element.trace_write(writer));
    }
}

/// Number and elements. Elements of no size are bounded in their number: see [`Writer::sequence`].
#[inline(always)]
fn size_of_sequence<'a, T: Trace + 'a>(count: usize, elements: impl Iterator<Item = &'a T>) -> usize {
    match T::FIXED {
        Some(0) => 8,
        Some(size) => count.saturating_mul(size).saturating_add(4),
        None => 4 + elements.map(Trace::trace_size).sum::<usize>(),
    }
}

#[inline(always)]
fn least_of_sequence<'a, T: Trace + 'a>(count: usize, elements: impl Iterator<Item = &'a T>) -> usize {
    match T::FIXED {
        Some(0) => 8,
        Some(size) => count.saturating_mul(size).saturating_add(4).min(8),
        None => 4 + elements.map(Trace::trace_least).sum::<usize>(),
    }
}

/// Writes the number; gives how many elements are to follow. Only elements of one size can be cut.
#[inline(always)]
fn begin_sequence<T: Trace>(count: usize, writer: &mut Writer<'_>) -> usize {
    match T::FIXED {
        Some(size) => writer.sequence(count, size),
        None => {
            writer.length(count);
            count
        }
    }
}

fn write_sequence<'a, T: Trace + 'a>(
    count: usize,
    elements: impl Iterator<Item = &'a T>,
    writer: &mut Writer<'_>,
) {
    let kept = begin_sequence::<T>(count, writer);
    elements.take(kept).for_each(|element| element.trace_write(writer));
}

transparent! {
    [T: Trace] Vec<T> as [T], self => self.as_slice();
}

/// Sequences that are not one piece of memory.
macro_rules! sequences {
    ($($kind:ident;)*) => {$(
        impl<T: Trace> Trace for $kind<T> {
            const SIGNATURE: Sig = Sig::List(&[Sig::Text("["), T::SIGNATURE]);
            const FIXED: Option<usize> = None;
            const CLASS: Class = T::CLASS;
            const DEAR: bool = T::FIXED.is_none();
            const ONCE: bool = T::ONCE;
            fn trace_size(&self) -> usize {
                size_of_sequence(self.len(), self.iter())
            }
            fn trace_least(&self) -> usize {
                least_of_sequence(self.len(), self.iter())
            }
            fn trace_write(&self, writer: &mut Writer<'_>) {
                write_sequence(self.len(), self.iter(), writer);
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                item.list(self);
            }
        }
    )*};
}

sequences! {
    VecDeque;
    LinkedList;
    BinaryHeap;
}

/// Sets: number and elements.
macro_rules! sets {
    ($([$($generics:tt)*] $kind:ty;)*) => {$(
        impl<T: Trace, $($generics)*> Trace for $kind {
            const SIGNATURE: Sig = Sig::List(&[Sig::Text("$"), T::SIGNATURE]);
            const FIXED: Option<usize> = None;
            const CLASS: Class = T::CLASS;
            const DEAR: bool = T::FIXED.is_none();
            const ONCE: bool = T::ONCE;
            fn trace_size(&self) -> usize {
                size_of_sequence(self.len(), self.iter())
            }
            fn trace_least(&self) -> usize {
                least_of_sequence(self.len(), self.iter())
            }
            fn trace_write(&self, writer: &mut Writer<'_>) {
                write_sequence(self.len(), self.iter(), writer);
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                item.list(self);
            }
        }
    )*};
}

sets! {
    [S] HashSet<T, S>;
    [] BTreeSet<T>;
}

/// Maps: number, then key and value of each; never cut.
macro_rules! maps {
    ($([$($generics:tt)*] $kind:ty;)*) => {$(
        impl<K: Trace, V: Trace, $($generics)*> Trace for $kind {
            const SIGNATURE: Sig = Sig::List(&[Sig::Text("{"), K::SIGNATURE, V::SIGNATURE]);
            const FIXED: Option<usize> = None;
            const CLASS: Class = V::CLASS;
            const DEAR: bool = K::FIXED.is_none() || V::FIXED.is_none();
            const ONCE: bool = K::ONCE || V::ONCE;
            fn trace_size(&self) -> usize {
                4 + match (K::FIXED, V::FIXED) {
                    (Some(key), Some(value)) => (key + value) * self.len(),
                    _ => self.iter().map(|(key, value)| key.trace_size() + value.trace_size()).sum(),
                }
            }
            fn trace_least(&self) -> usize {
                4 + match (K::FIXED, V::FIXED) {
                    (Some(key), Some(value)) => (key + value) * self.len(),
                    _ => self.iter().map(|(key, value)| key.trace_least() + value.trace_least()).sum(),
                }
            }
            #[inline(always)]
            fn trace_write(&self, writer: &mut Writer<'_>) {
                writer.length(self.len());
                for (key, value) in self {
                    if const { K::EXACT.is_so() && V::EXACT.is_so() } {
                        // SAFETY: their sizes are what they write. (No two values in memory are so large that the sum overflows.)
                        let Some(before) = (unsafe { writer.together(key.trace_size() + value.trace_size()) }) else {
                            return;
                        };
                        key.trace_write(writer);
                        value.trace_write(writer);
                        writer.apart(before);
                    } else {
                        key.trace_write(writer);
                        value.trace_write(writer);
                    }
                }
            }
            fn trace_item(&self, item: &mut Item<'_>) {
                item.map(self);
            }
        }
    )*};
}

maps! {
    [S] HashMap<K, V, S>;
    [] BTreeMap<K, V>;
}
