//! Values of the language and its library.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::source::cut;
use crate::{Error, Integer, Put, Sink, Source, Take};

type Read<T> = Result<T, Error>;

/// Bytes: base64 in JSON, where a `Vec<u8>` is an array of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bytes(pub Vec<u8>);

/// A UUID, its bytes in the order in which it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uuid(pub [u8; 16]);

macro_rules! integers {
    ($($type:ty: $wide:ident, $take:ident($($bound:expr),*));* $(;)?) => {$(
        impl Put for $type {
            #[inline]
            fn put<S: Sink>(&self, sink: &mut S) {
                sink.$wide(*self as $wide);
            }
        }

        impl Take for $type {
            #[inline]
            fn take<S: Source>(source: &mut S) -> Read<Self> {
                // Within the bounds, the type holds it.
                source.$take($($bound as $wide),*).map(|value| value as $type)
            }
        }
    )*};
}

integers! {
    i8: i64, i64(i8::MIN, i8::MAX);
    i16: i64, i64(i16::MIN, i16::MAX);
    i32: i64, i64(i32::MIN, i32::MAX);
    i64: i64, i64(i64::MIN, i64::MAX);
    isize: i64, i64(isize::MIN, isize::MAX);
    u8: u64, u64(u8::MAX);
    u16: u64, u64(u16::MAX);
    u32: u64, u64(u32::MAX);
    u64: u64, u64(u64::MAX);
    usize: u64, u64(usize::MAX);
}

impl Put for i128 {
    fn put<S: Sink>(&self, sink: &mut S) {
        sink.i128(*self);
    }
}

impl Put for u128 {
    fn put<S: Sink>(&self, sink: &mut S) {
        sink.u128(*self);
    }
}

/// An integer of 128 bits that fits.
fn wide<S: Source, T>(source: &mut S, fits: impl FnOnce(Integer) -> Option<T>) -> Read<T> {
    let at = source.position()?;
    let found = source.integer()?;
    fits(found).ok_or_else(|| source.unexpected(at, "an integer of 128 bits"))
}

impl Take for i128 {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        wide(source, |value| match value {
            Integer::Negative(value) => Some(value),
            Integer::Positive(value) => i128::try_from(value).ok(),
        })
    }
}

impl Take for u128 {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        wide(source, |value| match value {
            Integer::Negative(_) => None,
            Integer::Positive(value) => Some(value),
        })
    }
}

macro_rules! plain {
    ($($type:ty, $name:ident);* $(;)?) => {$(
        impl Put for $type {
            #[inline]
            fn put<S: Sink>(&self, sink: &mut S) {
                sink.$name(*self);
            }
        }

        impl Take for $type {
            #[inline]
            fn take<S: Source>(source: &mut S) -> Read<Self> {
                source.$name()
            }
        }
    )*};
}

plain! { bool, bool; f32, f32; f64, f64 }

impl Put for () {
    fn put<S: Sink>(&self, sink: &mut S) {
        sink.null();
    }
}

impl Take for () {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        let at = source.position()?;
        if source.null()? { Ok(()) } else { Err(source.unexpected(at, "null")) }
    }
}

impl Put for char {
    fn put<S: Sink>(&self, sink: &mut S) {
        sink.text(self.encode_utf8(&mut [0; 4]));
    }
}

impl Take for char {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        let at = source.position()?;
        let is_text = matches!(source.kind()?, crate::Kind::Text | crate::Kind::Time);
        if is_text {
            let mut chars = source.text()?.chars();
            if let (Some(c), None) = (chars.next(), chars.next()) {
                return Ok(c);
            }
        }
        Err(source.unexpected(at, "one character"))
    }
}

macro_rules! put_texts {
    ($($type:ty),*) => {$(
        impl Put for $type {
            #[inline]
            fn put<S: Sink>(&self, sink: &mut S) {
                sink.text(self);
            }

            fn key(&self) -> Option<&str> {
                Some(self)
            }

            const IS_TEXT: bool = true;
        }
    )*};
}

put_texts!(str, String, Box<str>, Rc<str>, Arc<str>, Cow<'static, str>);

macro_rules! take_texts {
    ($($type:ty),*) => {$(
        impl Take for $type {
            #[inline]
            fn take<S: Source>(source: &mut S) -> Read<Self> {
                source.text().map(|text| text.to_owned().into())
            }

            fn from_key(key: &str) -> Option<Self> {
                Some(key.to_owned().into())
            }

            const IS_TEXT: bool = true;
        }
    )*};
}

take_texts!(String, Box<str>, Rc<str>, Arc<str>, Cow<'static, str>);

impl Put for Bytes {
    fn put<S: Sink>(&self, sink: &mut S) {
        sink.bytes(&self.0);
    }
}

impl Take for Bytes {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        source.bytes().map(Self)
    }
}

impl Put for Uuid {
    fn put<S: Sink>(&self, sink: &mut S) {
        sink.uuid(self.0);
    }
}

impl Take for Uuid {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        source.uuid().map(Self)
    }
}

/// Nanoseconds; more than an i64 holds are its greatest.
impl Put for Duration {
    fn put<S: Sink>(&self, sink: &mut S) {
        sink.i64(i64::try_from(self.as_nanos()).unwrap_or(i64::MAX));
    }
}

/// One below zero is refused: the library has none.
impl Take for Duration {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        let nanoseconds = source.i64(0, i64::MAX)?;
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}

impl Put for SystemTime {
    fn put<S: Sink>(&self, sink: &mut S) {
        match self.duration_since(UNIX_EPOCH) {
            Ok(since) => {
                sink.time(i64::try_from(since.as_secs()).unwrap_or(i64::MAX), since.subsec_nanos());
            }
            Err(before) => {
                let (seconds, nanoseconds) = (before.duration().as_secs(), before.duration().subsec_nanos());
                let seconds = i64::try_from(seconds).map_or(i64::MIN + 1, |seconds| -seconds);
                match nanoseconds {
                    0 => sink.time(seconds, 0),
                    _ => sink.time(seconds - 1, 1_000_000_000 - nanoseconds),
                }
            }
        }
    }
}

impl Take for SystemTime {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        let at = source.position()?;
        let (seconds, nanoseconds) = source.time()?;
        let whole = Duration::from_secs(seconds.unsigned_abs());
        let second = match seconds {
            0.. => UNIX_EPOCH.checked_add(whole),
            _ => UNIX_EPOCH.checked_sub(whole),
        };
        let time = second.and_then(|second| second.checked_add(Duration::from_nanos(nanoseconds.into())));
        time.ok_or_else(|| source.unexpected(at, "a date-time that this system can hold"))
    }
}

impl<T: Put> Put for Option<T> {
    #[inline]
    fn put<S: Sink>(&self, sink: &mut S) {
        match self {
            Some(value) => value.put(sink),
            None => sink.null(),
        }
    }
}

impl<T: Take> Take for Option<T> {
    #[inline]
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        if source.null()? { Ok(None) } else { T::take(source).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

macro_rules! pointers {
    ($($type:ty),*) => {$(
        impl<T: Put + ?Sized> Put for $type {
            #[inline]
            fn put<S: Sink>(&self, sink: &mut S) {
                (**self).put(sink);
            }

            fn key(&self) -> Option<&str> {
                (**self).key()
            }

            const IS_TEXT: bool = T::IS_TEXT;
        }
    )*};
}

pointers!(&T, &mut T);

macro_rules! boxes {
    ($($type:ident),*) => {$(
        impl<T: Put> Put for $type<T> {
            #[inline]
            fn put<S: Sink>(&self, sink: &mut S) {
                (**self).put(sink);
            }
        }

        impl<T: Take> Take for $type<T> {
            #[inline]
            fn take<S: Source>(source: &mut S) -> Read<Self> {
                T::take(source).map($type::new)
            }

            fn absent() -> Option<Self> {
                T::absent().map($type::new)
            }
        }
    )*};
}

boxes!(Box, Rc, Arc);

fn put_all<'v, S: Sink, T: Put + 'v>(sink: &mut S, len: usize, values: impl Iterator<Item = &'v T>) {
    sink.begin_array(Some(len));
    for value in values {
        sink.element();
        value.put(sink);
    }
    sink.end_array();
}

/// Calls with each element.
fn take_all<S: Source, T: Take>(source: &mut S, mut put: impl FnMut(T)) -> Read<()> {
    source.begin_array()?;
    let mut at = 0;
    while source.next_element()? {
        put(T::take(source).map_err(|error| error.in_element(at))?);
        at += 1;
    }
    Ok(())
}

impl<T: Put> Put for [T] {
    fn put<S: Sink>(&self, sink: &mut S) {
        put_all(sink, self.len(), self.iter());
    }
}

impl<T: Put, const N: usize> Put for [T; N] {
    fn put<S: Sink>(&self, sink: &mut S) {
        put_all(sink, N, self.iter());
    }
}

impl<T: Take, const N: usize> Take for [T; N] {
    fn take<S: Source>(source: &mut S) -> Read<Self> {
        let from = source.position()?;
        if source.kind()? != crate::Kind::Array {
            return Err(source.unexpected(from, &format!("an array of {N}")));
        }
        let mut values = Vec::with_capacity(N.min(1024));
        source.begin_array()?;
        while source.next_element()? {
            if values.len() == N {
                let found = format!("an array of more than {N}");
                return Err(source.error(from, found, format!("an array of {N}")));
            }
            values.push(T::take(source).map_err(|error| error.in_element(values.len()))?);
        }
        let len = values.len();
        values
            .try_into()
            .map_err(|_| source.error(from, format!("an array of {len}"), format!("an array of {N}")))
    }
}

macro_rules! collections {
    ($($type:ident<T: $($bound:ident +)* $(, $hasher:ident)?>, $add:ident);* $(;)?) => {$(
        impl<T: Put $(, $hasher)?> Put for $type<T $(, $hasher)?> {
            fn put<Out: Sink>(&self, sink: &mut Out) {
                put_all(sink, self.len(), self.iter());
            }
        }

        impl<T: Take $(+ $bound)* $(, $hasher: BuildHasher + Default)?> Take for $type<T $(, $hasher)?> {
            fn take<In: Source>(source: &mut In) -> Read<Self> {
                let mut all = Self::default();
                take_all(source, |value| {
                    all.$add(value);
                })?;
                Ok(all)
            }
        }
    )*};
}

collections! {
    Vec<T: >, push;
    VecDeque<T: >, push_back;
    BTreeSet<T: Ord +>, insert;
    HashSet<T: Eq + Hash +, H>, insert;
}

fn put_map<'v, S: Sink, K: Put + 'v, V: Put + 'v>(
    sink: &mut S,
    len: usize,
    pairs: impl Iterator<Item = (&'v K, &'v V)>,
) {
    if K::IS_TEXT {
        sink.begin_object(Some(len));
        for (key, value) in pairs {
            sink.member(key.key().unwrap_or(""));
            value.put(sink);
        }
        return sink.end_object();
    }
    sink.begin_array(Some(len));
    for (key, value) in pairs {
        sink.element();
        (key, value).put(sink);
    }
    sink.end_array();
}

/// Calls with each pair; false: the key came before.
fn take_map<S: Source, K: Take, V: Take>(source: &mut S, mut put: impl FnMut(K, V) -> bool) -> Read<()> {
    let repeated = |source: &S, at| source.error(at, "a key again".to_owned(), "each key once".to_owned());
    if K::IS_TEXT {
        source.begin_object()?;
        while let Some(name) = source.next_member()? {
            // Of a long name, errors tell the beginning.
            let told = cut(name).to_owned();
            let Some(key) = K::from_key(name) else {
                return Err(source.unexpected(source.name_position(), "text"));
            };
            let value = V::take(source).map_err(|error| error.in_member(&told))?;
            if !put(key, value) {
                return Err(repeated(source, source.name_position()));
            }
        }
        return Ok(());
    }
    source.begin_array()?;
    let mut at = 0;
    while source.next_element()? {
        let from = source.position()?;
        let (key, value) = <(K, V)>::take(source).map_err(|error| error.in_element(at))?;
        if !put(key, value) {
            return Err(repeated(source, from).in_element(at));
        }
        at += 1;
    }
    Ok(())
}

macro_rules! maps {
    ($($type:ident<K: $($bound:ident +)* $(, $hasher:ident)?>);* $(;)?) => {$(
        impl<K: Put, V: Put $(, $hasher)?> Put for $type<K, V $(, $hasher)?> {
            fn put<Out: Sink>(&self, sink: &mut Out) {
                put_map(sink, self.len(), self.iter());
            }
        }

        impl<K: Take $(+ $bound)*, V: Take $(, $hasher: BuildHasher + Default)?> Take for $type<K, V $(, $hasher)?> {
            fn take<In: Source>(source: &mut In) -> Read<Self> {
                let mut all = Self::default();
                take_map(source, |key, value| all.insert(key, value).is_none())?;
                Ok(all)
            }
        }
    )*};
}

maps! {
    BTreeMap<K: Ord +>;
    HashMap<K: Eq + Hash +, H>;
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $at:tt),+);* $(;)?) => {$(
        impl<$($name: Put),+> Put for ($($name,)+) {
            fn put<Out: Sink>(&self, sink: &mut Out) {
                sink.begin_array(Some($count));
                $(sink.element(); self.$at.put(sink);)+
                sink.end_array();
            }
        }

        impl<$($name: Take),+> Take for ($($name,)+) {
            fn take<In: Source>(source: &mut In) -> Read<Self> {
                let from = source.position()?;
                if source.kind()? != crate::Kind::Array {
                    return Err(source.unexpected(from, concat!("an array of ", $count)));
                }
                source.begin_array()?;
                let all = ($({
                    if !source.next_element()? {
                        let (found, expected) = (concat!("an array of ", $at), concat!("an array of ", $count));
                        return Err(source.error(from, found.into(), expected.into()));
                    }
                    <$name as Take>::take(source).map_err(|error| error.in_element($at))?
                },)+);
                if source.next_element()? {
                    let (found, expected) = (concat!("an array of more than ", $count), concat!("an array of ", $count));
                    return Err(source.error(from, found.into(), expected.into()));
                }
                Ok(all)
            }
        }
    )*};
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
    7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
