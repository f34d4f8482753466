//! Values that carry their types themselves: one CBOR item (RFC 8949), of type `v` in a signature. For types that have no signature of finite length, and
//! for values whose types only they know.
//!
//! ```text
//!  value ──trace_item / Serialize──▶ Item ──▶ counted (how much room?), or written straight into the record
//! ```
//!
//! An item is bounded in every direction: levels, bytes, and so time. One that finds no room is made again smaller, with fewer levels, elements and
//! characters, as `BOUNDS` says; at last it is `…` alone.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use silverpoint_wire::bytes::floor_char_boundary;
use silverpoint_wire::cbor;

use crate::scratch::Scratch;
use crate::value::Trace;

/// Bytes of an item at most: no record holds more.
pub(crate) const MOST: usize = 1 << 18;
/// Bytes of the smallest with its length: that of [`MARK`].
pub(crate) const LEAST: usize = 8;
/// Elements that may be left out of one list: one that does not end costs time, not the thread.
const MOST_MISSING: u64 = 1 << 20;
/// The tag of an item with metadata: an array of the text `key=text` and the item.
const METADATA: u64 = 0x5350_6D64;
/// What stands for something that is left out.
const MARK: &str = "…";

/// What an item may have.
#[derive(Clone, Copy)]
struct Bounds {
    /// Levels of types that contain themselves.
    deeper: u8,
    /// Levels of lists and maps. Readers end at 32, tags included.
    levels: u8,
    /// Wrappers around a value that leave no trace in the item: what cannot be seen must end, too.
    #[cfg_attr(not(feature = "serde"), expect(dead_code))]
    wrappers: u8,
    /// Bytes of a text.
    text: usize,
    /// Elements of a list or a map.
    elements: usize,
}

/// From all of it to little.
const BOUNDS: [Bounds; 4] = [
    Bounds { deeper: 8, levels: 24, wrappers: 64, text: usize::MAX, elements: usize::MAX },
    Bounds { deeper: 8, levels: 24, wrappers: 64, text: 1024, elements: 64 },
    Bounds { deeper: 4, levels: 8, wrappers: 64, text: 128, elements: 16 },
    Bounds { deeper: 2, levels: 4, wrappers: 64, text: 32, elements: 4 },
];

/// Puts one value into an item.
pub(crate) type Fill<'f> = &'f dyn Fn(&mut Item<'_>);

/// Bytes of an item with its length.
pub(crate) fn size(fill: Fill<'_>) -> usize {
    let lens = BOUNDS.iter().filter_map(|bounds| Item::new(ptr::null_mut(), MOST, *bounds).filled(fill));
    lens.map(|len| 4 + len).next().map_or(LEAST, |size| size.max(LEAST))
}

/// What was written.
pub(crate) struct Written {
    pub(crate) len: usize,
    /// Without being made smaller.
    pub(crate) whole: bool,
}

/// Writes an item without its length, of at most `room` bytes. Of these `near` are at hand, and the others as
/// soon as the scratch has other memory. `None` when there is too little room for the least.
///
/// The value's code runs once, unless there is no room for the whole.
///
/// # Safety
/// `near` bytes at `at` may be written. A scratch that is given is the one that they are of.
pub(crate) unsafe fn write(
    at: *mut u8,
    room: usize,
    near: usize,
    scratch: *mut Scratch,
    fill: Fill<'_>,
) -> Option<Written> {
    // SAFETY: by the caller.
    let used = unsafe { scratch.as_mut() }.map_or(0, |scratch| at as usize - scratch.start() as usize);
    let mut touched = 0;
    let mut attempt = |bounds: Bounds, fill: Fill<'_>| {
        // SAFETY: by the caller.
        let (at, near) = match unsafe { scratch.as_mut() } {
            Some(scratch) => {
                (scratch.start().wrapping_add(used), scratch.end() as usize - scratch.start() as usize - used)
            }
            None => (at, near),
        };
        let mut item = Item::new(at, near.min(room), bounds);
        (item.scratch, item.most) = (scratch, room);
        let len = item.filled(fill);
        touched = item.touched.max(item.len).max(touched);
        len.map(|len| (len, item.at, !item.cut))
    };
    let found = (0..BOUNDS.len())
        .find_map(|i| attempt(BOUNDS[i], fill).map(|(len, at, whole)| (len, at, whole && i == 0)));
    let (len, at, whole) = match found {
        Some(found) => found,
        None => attempt(BOUNDS[0], &|item| item.text(MARK)).map(|(len, at, _)| (len, at, false))?,
    };
    // A record's tail is zero: what was written in vain is not to stand there.
    // SAFETY: `touched` bytes were written within the room, and `len` is not more.
    unsafe { ptr::write_bytes(at.add(len), 0, touched - len) };
    Some(Written { len, whole })
}

/// A place for one value with its type: see [`Trace::trace_item`].
pub struct Item<'a> {
    /// Null: bytes are only counted.
    at: *mut u8,
    len: usize,
    /// The most that `len` was.
    touched: usize,
    room: usize,
    /// Where more room is of, up to `most`; null: there is none.
    scratch: *mut Scratch,
    most: usize,
    full: bool,
    /// A text that is the whole item was cut.
    cut: bool,
    /// What may still be.
    bounds: Bounds,
    place: PhantomData<&'a mut [u8]>,
}

/// A list or a map that was begun: see [`Item::begin_list`].
#[must_use = "a list or map is ended by Item::end"]
pub struct Nest {
    /// It lies too deep, and is not there.
    absent: bool,
    map: bool,
    /// Elements that may still be.
    left: usize,
    /// Elements that were left out.
    missing: u64,
}

/// A state to return to.
#[cfg(feature = "serde")]
pub(crate) struct Checkpoint(usize, Bounds);

impl Item<'_> {
    fn new(at: *mut u8, room: usize, bounds: Bounds) -> Self {
        Self {
            at,
            len: 0,
            touched: 0,
            room,
            scratch: ptr::null_mut(),
            most: room,
            full: false,
            cut: false,
            bounds,
            place: PhantomData,
        }
    }

    /// Its bytes once it is filled, when it fits.
    fn filled(&mut self, fill: Fill<'_>) -> Option<usize> {
        fill(self);
        (!self.full).then_some(self.len)
    }

    /// Whether there was no room for something: everything that follows is in vain.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.full || (bytes.len() > self.room - self.len && !self.finds_room(bytes.len())) {
            self.full = true;
            return;
        }
        if !self.at.is_null() {
            // SAFETY: `room` bytes at `at` may be written, and `len + bytes.len()` is at most that.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.at.add(self.len), bytes.len()) };
        }
        self.len += bytes.len();
    }

    /// Whether there is room for `bytes` more now.
    #[cold]
    fn finds_room(&mut self, bytes: usize) -> bool {
        // SAFETY: the scratch outlives its writer, and nobody else uses it meanwhile.
        if let Some(scratch) = unsafe { self.scratch.as_mut() } {
            let before = self.at as usize - scratch.start() as usize;
            if scratch.widen(before + self.len) {
                self.at = scratch.start().wrapping_add(before);
                self.room = (scratch.end() as usize - self.at as usize).min(self.most);
            }
        }
        bytes <= self.room - self.len
    }

    /// Major type and number, in the shortest form.
    fn head(&mut self, major: u8, number: u64) {
        let (head, len) = cbor::head(major, number);
        self.put(&head[..len]);
    }

    /// Nothing.
    pub fn null(&mut self) {
        self.put(&[0xF6]);
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) {
        self.put(&[0xF4 | u8::from(value)]);
    }

    /// An integer.
    pub fn integer(&mut self, value: i128) {
        let (major, magnitude) = if value < 0 { (1, !value as u128) } else { (0, value as u128) };
        self.magnitude(major, magnitude);
    }

    /// An integer without a sign.
    pub fn unsigned(&mut self, value: u128) {
        self.magnitude(0, value);
    }

    fn magnitude(&mut self, major: u8, magnitude: u128) {
        match u64::try_from(magnitude) {
            Ok(number) => self.head(major, number),
            Err(_) => {
                self.head(6, 2 + u64::from(major));
                self.bytes(&magnitude.to_be_bytes());
            }
        }
    }

    /// A float of 32 bits.
    pub fn f32(&mut self, value: f32) {
        self.put(&[0xFA]);
        self.put(&value.to_bits().to_be_bytes());
    }

    /// A float of 64 bits.
    pub fn f64(&mut self, value: f64) {
        self.put(&[0xFB]);
        self.put(&value.to_bits().to_be_bytes());
    }

    /// Bytes. (They are never cut: where they do not fit, what holds them is made smaller.)
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.head(2, bytes.len() as u64);
        self.put(bytes);
    }

    /// An item that is whole already.
    pub(crate) fn whole(&mut self, item: &[u8]) {
        if item.is_empty() { self.null() } else { self.put(item) }
    }

    /// A UUID: tag 37.
    #[cfg(feature = "uuid")]
    pub(crate) fn uuid(&mut self, bytes: &[u8; 16]) {
        self.head(6, 37);
        self.bytes(bytes);
    }

    /// A point in time: seconds since 1970, tag 1.
    pub(crate) fn time(&mut self, ns: i64) {
        self.head(6, 1);
        self.f64(ns as f64 / 1e9);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        if text.len() <= self.bounds.text {
            self.head(3, text.len() as u64);
            return self.put(text.as_bytes());
        }
        let kept = &text[..floor_char_boundary(text, self.bounds.text)];
        self.head(3, (kept.len() + MARK.len()) as u64);
        self.put(kept.as_bytes());
        self.put(MARK.as_bytes());
    }

    /// A text of the system: invalid UTF-8 becomes U+FFFD.
    pub(crate) fn text_lossy(&mut self, text: &[u8]) {
        match std::str::from_utf8(text) {
            Ok(text) => self.text(text),
            Err(_) => {
                struct Lossy<'t>(&'t [u8]);
                impl fmt::Display for Lossy<'_> {
                    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        self.0.utf8_chunks().try_for_each(|chunk| {
                            f.write_str(chunk.valid())?;
                            f.write_str(if chunk.invalid().is_empty() { "" } else { "\u{FFFD}" })
                        })
                    }
                }
                self.formatted(format_args!("{}", Lossy(text)));
            }
        }
    }

    /// A text that is formatted into its place. Where there is no room for one that is the whole item, it is cut; nothing is formatted again.
    pub fn formatted(&mut self, text: fmt::Arguments<'_>) {
        struct Sink<'i, 'a> {
            item: &'i mut Item<'a>,
            left: usize,
            is_whole: bool,
            is_cut: bool,
        }
        impl fmt::Write for Sink<'_, '_> {
            // A cut text gives no error: not every Display implementation can handle one.
            fn write_str(&mut self, text: &str) -> fmt::Result {
                if self.is_cut || self.item.full {
                    return Ok(());
                }
                let mut kept = floor_char_boundary(text, self.left);
                let wanted = kept + MARK.len();
                if self.is_whole && wanted > self.item.room - self.item.len && !self.item.finds_room(wanted) {
                    kept = floor_char_boundary(
                        text,
                        (self.item.room - self.item.len).saturating_sub(MARK.len()),
                    );
                    self.item.cut |= kept < text.len();
                }
                self.item.put(&text.as_bytes()[..kept]);
                self.left -= kept;
                self.is_cut |= kept < text.len();
                Ok(())
            }
        }
        // The length is known at the end: it has four bytes in any case.
        let head = self.len;
        self.put(&[0x7A, 0, 0, 0, 0]);
        let start = self.len;
        let is_whole = head == 0 && !self.at.is_null() && !self.full;
        let mut sink = Sink { left: self.bounds.text, is_whole, is_cut: false, item: self };
        // An error of a Display implementation ends the text where it is.
        let _ = fmt::Write::write_fmt(&mut sink, text);
        if sink.is_cut {
            self.put(MARK.as_bytes());
        }
        if !self.full && !self.at.is_null() {
            let len = ((self.len - start) as u32).to_be_bytes();
            // SAFETY: the five bytes at `head` were written by `put`, within the room.
            unsafe { ptr::copy_nonoverlapping(len.as_ptr(), self.at.add(head + 1), 4) };
        }
    }

    /// Begins a list; its elements follow, each announced by [`next`](Self::next).
    pub fn begin_list(&mut self) -> Nest {
        self.begin(0x9F, false)
    }

    /// Begins a map; keys and values follow, each pair announced by [`next`](Self::next), or written by [`field`](Self::field).
    pub fn begin_map(&mut self) -> Nest {
        self.begin(0xBF, true)
    }

    fn begin(&mut self, head: u8, map: bool) -> Nest {
        let absent = self.bounds.levels == 0;
        if absent {
            self.text(MARK);
        } else {
            self.bounds.levels -= 1;
            self.put(&[head]);
        }
        Nest { absent, map, left: self.bounds.elements, missing: 0 }
    }

    /// Whether the next element, or key and value, is to be written; otherwise it is left out.
    pub fn next(&mut self, nest: &mut Nest) -> bool {
        if nest.absent || self.full {
            return false;
        }
        if nest.left == 0 {
            nest.missing += 1;
            self.full |= nest.missing > MOST_MISSING;
            return false;
        }
        nest.left -= 1;
        true
    }

    /// Ends a list or a map.
    pub fn end(&mut self, nest: Nest) {
        if nest.absent {
            return;
        }
        if nest.missing > 0 {
            self.formatted(format_args!("{MARK}(+{})", nest.missing));
            if nest.map {
                self.null();
            }
        }
        self.put(&[0xFF]);
        self.bounds.levels += 1;
    }

    /// A value with metadata of the signature's keys. (One level, as lists are; below the last it is left
    /// out.)
    pub fn marked<T: Trace + ?Sized>(&mut self, key: &str, text: &str, value: &T) {
        if self.bounds.levels == 0 {
            return value.trace_item(self);
        }
        self.bounds.levels -= 1;
        self.head(6, METADATA);
        self.head(4, 2);
        self.head(3, (key.len() + 1 + text.len()) as u64);
        for part in [key, "=", text] {
            self.put(part.as_bytes());
        }
        value.trace_item(self);
        self.bounds.levels += 1;
    }

    /// A list of values.
    pub fn list<'t, T: Trace + ?Sized + 't>(&mut self, elements: impl IntoIterator<Item = &'t T>) {
        let mut nest = self.begin_list();
        for element in elements {
            if self.next(&mut nest) {
                element.trace_item(self);
            } else if nest.absent || self.full {
                break;
            }
        }
        self.end(nest);
    }

    /// A map.
    pub fn map<'t, K: Trace + ?Sized + 't, V: Trace + ?Sized + 't>(
        &mut self,
        entries: impl IntoIterator<Item = (&'t K, &'t V)>,
    ) {
        let mut nest = self.begin_map();
        for (key, value) in entries {
            if self.next(&mut nest) {
                key.trace_item(self);
                value.trace_item(self);
            } else if nest.absent || self.full {
                break;
            }
        }
        self.end(nest);
    }

    /// A name and a value in a map.
    pub fn field<T: Trace + ?Sized>(&mut self, nest: &mut Nest, name: &str, value: &T) {
        if self.next(nest) {
            self.text(name);
            value.trace_item(self);
        }
    }

    /// A map of one name and one value: an alternative with what it holds.
    pub fn alternative<T: Trace + ?Sized>(&mut self, name: &str, value: &T) {
        let mut nest = self.begin_map();
        self.field(&mut nest, name, value);
        self.end(nest);
    }

    /// A value of a type that contains itself: `fill` puts it, unless it lies too deep.
    pub fn deeper(&mut self, fill: impl FnOnce(&mut Self)) {
        if self.bounds.deeper == 0 {
            return self.text(MARK);
        }
        self.bounds.deeper -= 1;
        fill(self);
        self.bounds.deeper += 1;
    }
}

#[cfg(feature = "serde")]
impl Item<'_> {
    /// Whether a wrapper may be followed; writes the mark otherwise. After it, [`unwrapped`](Self::unwrapped).
    pub(crate) fn wrapped(&mut self) -> bool {
        if self.bounds.wrappers == 0 {
            self.text(MARK);
            return false;
        }
        self.bounds.wrappers -= 1;
        true
    }

    pub(crate) fn unwrapped(&mut self) {
        self.bounds.wrappers += 1;
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.len, self.bounds)
    }

    /// Forgets what was put since.
    pub(crate) fn return_to(&mut self, checkpoint: Checkpoint) {
        self.touched = self.touched.max(self.len);
        Checkpoint(self.len, self.bounds) = checkpoint;
    }
}
