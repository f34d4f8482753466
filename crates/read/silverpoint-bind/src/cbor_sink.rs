//! CBOR: definite lengths, shortest heads.
//!
//! Heads are made by `silverpoint-wire` rather than by `minicbor`, with which the orders of `examples/speed.rs` took 2.2 times as many instructions.

use silverpoint_wire::cbor;

use crate::{Sink, time};

/// Appends to bytes.
#[derive(Debug, Default)]
pub struct CborSink {
    out: Vec<u8>,
    open: Vec<Open>,
}

/// A container.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Where its head is to stand, of one whose length was not known.
    hole: Option<usize>,
    count: u64,
}

impl CborSink {
    /// Behind what stands there.
    pub fn new(out: Vec<u8>) -> Self {
        Self { out, open: Vec::new() }
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// What has been written so far; removing it makes room for more.
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    #[inline]
    fn head(&mut self, major: u8, number: u64) {
        cbor::push_head(&mut self.out, major, number);
    }

    #[inline]
    fn begin(&mut self, major: u8, len: Option<usize>) {
        let hole = match len {
            Some(len) => {
                self.head(major, len as u64);
                None
            }
            None => Some(self.out.len()),
        };
        self.open.push(Open { hole, count: 0 });
    }

    #[inline]
    fn count(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.count += 1;
        }
    }

    /// Puts the head before what has come.
    #[inline]
    fn end(&mut self, major: u8) {
        if let Some(Open { hole: Some(hole), count }) = self.open.pop() {
            let (head, len) = cbor::head(major, count);
            self.out.splice(hole..hole, head[..len].iter().copied());
        }
    }
}

/// Whether the shortest digits of a float and of the same number in 64 bits are the same. If not, JSON that is made of the
/// float is another number for who reads 64 bits: of 123456792 it has `123456790.0`.
#[inline]
fn has_same_digits(narrow: f32, value: f64) -> bool {
    let magnitude = value.abs();
    // No decimal with fewer digits lies within half a step of these.
    let is_short =
        |scale: f64, most: f64| magnitude <= most && (magnitude * scale).trunc() == magnitude * scale;
    is_short(1.0, 16_777_216.0) || is_short(16.0, 1024.0) || reads_back(narrow, value)
}

#[cold]
fn reads_back(narrow: f32, value: f64) -> bool {
    narrow.is_infinite() || zmij::Buffer::new().format_finite(narrow).parse() == Ok(value)
}

impl Sink for CborSink {
    #[inline]
    fn null(&mut self) {
        self.out.push(0xF6);
    }

    #[inline]
    fn bool(&mut self, value: bool) {
        self.out.push(0xF4 | u8::from(value));
    }

    #[inline]
    fn i64(&mut self, value: i64) {
        match u64::try_from(value) {
            Ok(value) => self.head(0, value),
            Err(_) => self.head(1, !(value as u64)),
        }
    }

    #[inline]
    fn u64(&mut self, value: u64) {
        self.head(0, value);
    }

    fn i128(&mut self, value: i128) {
        cbor::push_i128(&mut self.out, value);
    }

    fn u128(&mut self, value: u128) {
        cbor::push_u128(&mut self.out, value);
    }

    #[inline]
    fn f32(&mut self, value: f32) {
        let bits = if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() };
        self.out.push(0xFA);
        self.out.extend_from_slice(&bits.to_be_bytes());
    }

    #[inline]
    fn f64(&mut self, value: f64) {
        let narrow = value as f32;
        if value.is_nan() || (f64::from(narrow) == value && has_same_digits(narrow, value)) {
            return self.f32(narrow);
        }
        self.out.push(0xFB);
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.head(3, text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.head(2, bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn uuid(&mut self, uuid: [u8; 16]) {
        self.head(6, 37);
        self.bytes(&uuid);
    }

    fn time(&mut self, seconds: i64, nanoseconds: u32) {
        let mut text = String::new();
        time::push(&mut text, seconds, nanoseconds);
        self.head(6, 0);
        self.text(&text);
    }

    fn takes_items(&self) -> bool {
        true
    }

    fn item(&mut self, item: &[u8]) {
        self.out.extend_from_slice(item);
    }

    #[inline]
    fn begin_array(&mut self, len: Option<usize>) {
        self.begin(4, len);
    }

    #[inline]
    fn element(&mut self) {
        self.count();
    }

    #[inline]
    fn end_array(&mut self) {
        self.end(4);
    }

    #[inline]
    fn begin_object(&mut self, len: Option<usize>) {
        self.begin(5, len);
    }

    #[inline]
    fn member(&mut self, name: &str) {
        self.count();
        self.text(name);
    }

    #[inline]
    fn end_object(&mut self) {
        self.end(5);
    }
}
