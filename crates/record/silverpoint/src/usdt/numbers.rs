//! A tracepoint's arguments as numbers of 1 to 8 bytes (spec/usdt.md, Arguments).
//!
//! Their sizes are known when the program is compiled. Their values come from the arguments as they are encoded
//! for a record.

use silverpoint_wire::layout::signature::CUT;

use crate::sig::{Sig, decimal};

/// The most numbers that tools read of one probe.
pub(super) const MOST: usize = 12;

/// Bytes of a signature that are looked at. Twelve numbers come earlier, except behind very long types.
const SIGNATURE_MOST: usize = 1024;

/// A signature without the names in it, as one text.
pub(super) struct Signature {
    bytes: [u8; SIGNATURE_MOST],
    len: usize,
}

impl Signature {
    pub(super) const fn of(sig: &Sig) -> Self {
        let mut all = Self { bytes: [0; SIGNATURE_MOST], len: 0 };
        all.put(sig);
        all
    }

    const fn put(&mut self, sig: &Sig) {
        match sig {
            Sig::Text(text) => self.put_bytes(text.as_bytes()),
            Sig::Name(_) => {}
            Sig::Number(number) => self.put_bytes(decimal(*number).text()),
            Sig::List(parts) => {
                let mut i = 0;
                while i < parts.len() {
                    self.put(&parts[i]);
                    i += 1;
                }
            }
        }
    }

    const fn put_bytes(&mut self, bytes: &[u8]) {
        let mut i = 0;
        while i < bytes.len() && self.len < SIGNATURE_MOST {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
    }
}

/// Four bits of a number: whether it has a sign, then its size as a power of two.
pub(super) const fn size(bytes: usize, is_signed: bool) -> u64 {
    (bytes.trailing_zeros() as u64) << 1 | is_signed as u64
}

/// The numbers of a probe.
pub(super) struct Numbers {
    pub(super) values: [u64; MOST],
    pub(super) count: usize,
    /// Four bits each.
    pub(super) sizes: u64,
    /// Bits of those that are places in the encoded arguments.
    places: u16,
}

impl Numbers {
    const NONE: Self = Self { values: [0; MOST], count: 0, sizes: 0, places: 0 };

    /// Of a tracepoint: their sizes.
    pub(super) const fn of(signature: &Signature) -> Self {
        Walk::all(signature, &[], false)
    }
}

/// The values of the numbers, with addresses of what is encoded.
pub(super) fn in_registers(signature: &Signature, arguments: &[u8]) -> [u64; MOST] {
    let Numbers { mut values, places, .. } = Walk::all(signature, arguments, true);
    for (number, value) in values.iter_mut().enumerate() {
        if places >> number & 1 != 0 {
            *value = value.wrapping_add(arguments.as_ptr().addr() as u64);
        }
    }
    values
}

/// Goes through a signature and what is encoded by it. What is not there is zero: the bytes are this process's own.
struct Walk<'a> {
    signature: &'a [u8],
    at: usize,
    bytes: &'a [u8],
    from: usize,
    /// False: only the types are looked at.
    has_bytes: bool,
    /// What is passed over adds no numbers.
    is_muted: bool,
    numbers: Numbers,
}

impl<'a> Walk<'a> {
    const fn all(signature: &'a Signature, bytes: &'a [u8], has_bytes: bool) -> Numbers {
        let (text, _) = signature.bytes.split_at(signature.len);
        let mut walk = Walk {
            signature: text,
            at: 0,
            bytes,
            from: 0,
            has_bytes,
            is_muted: false,
            numbers: Numbers::NONE,
        };
        while walk.at < walk.signature.len() && walk.numbers.count < MOST {
            walk.one();
        }
        walk.numbers
    }

    const fn code_at(&self, at: usize) -> u8 {
        if at < self.signature.len() { self.signature[at] } else { 0 }
    }

    /// Behind the next such character.
    const fn behind(&self, mut at: usize, end: u8) -> usize {
        while at < self.signature.len() && self.signature[at] != end {
            at += 1;
        }
        at + 1
    }

    /// Takes bytes as a number.
    const fn read(&mut self, len: usize) -> u64 {
        if !self.has_bytes {
            return 0;
        }
        let mut word = 0;
        let mut i = len;
        while i > 0 {
            i -= 1;
            let at = self.from + i;
            word = word << 8 | if at < self.bytes.len() { self.bytes[at] as u64 } else { 0 };
        }
        self.from += len;
        word
    }

    const fn push(&mut self, value: u64, bytes: usize, is_signed: bool) {
        let count = self.numbers.count;
        if self.is_muted || count == MOST {
            return;
        }
        self.numbers.values[count] = value;
        self.numbers.sizes |= size(bytes, is_signed) << (4 * count);
        self.numbers.count += 1;
    }

    /// The address of what comes next.
    const fn push_place(&mut self) {
        let count = self.numbers.count;
        if !self.is_muted && count < MOST && self.has_bytes {
            self.numbers.places |= 1 << count;
        }
        self.push(if self.has_bytes { self.from as u64 } else { 0 }, 8, false);
    }

    /// Bytes and sign of a number's type, with metadata or labels; 0: it is another type.
    const fn number_at(&self, mut at: usize) -> (usize, bool) {
        loop {
            return match self.code_at(at) {
                b'@' => {
                    at = self.behind(at, b';');
                    continue;
                }
                b'e' => {
                    at = self.behind(at, b'|');
                    continue;
                }
                b'b' | b'A' | b'c' => (1, false),
                b'a' => (1, true),
                b'H' | b'w' => (2, false),
                b'h' => (2, true),
                b'I' | b'f' | b'W' => (4, false),
                b'i' => (4, true),
                b'L' | b'd' | b'p' => (8, false),
                b'l' | b't' | b'T' => (8, true),
                _ => (0, false),
            };
        }
    }

    const fn is_text_at(&self, mut at: usize) -> bool {
        while self.code_at(at) == b'@' {
            at = self.behind(at, b';');
        }
        matches!(self.code_at(at), b's' | b'S' | b'Z' | b'y')
    }

    /// How many elements follow.
    const fn length(&mut self) -> usize {
        let length = self.read(4);
        if length & CUT as u64 != 0 {
            self.from += 4;
        }
        (length & !(CUT as u64)) as usize
    }

    /// An address, and how many.
    const fn block(&mut self, unit: usize, counts_bytes: bool) {
        let count = self.length();
        self.push_place();
        self.push((count * if counts_bytes { unit } else { 1 }) as u64, 8, false);
        self.from += count * unit;
    }

    /// A value whose type is next.
    const fn one(&mut self) {
        let begin = self.at;
        let code = self.code_at(begin);
        self.at += 1;
        match code {
            b's' | b'y' => self.block(1, true),
            b'S' => self.block(2, true),
            b'Z' => self.block(4, true),
            b'o' | b'O' => {
                let (low, high) = (self.read(8), self.read(8));
                self.push(low, 8, false);
                self.push(high, 8, false);
            }
            b'u' => {
                self.push_place();
                self.from += 16;
            }
            b'v' => {
                let len = self.length();
                self.push_place();
                self.from += len;
            }
            b'?' => self.optional(),
            b'[' | b'$' => {
                let (unit, _) = self.number_at(self.at);
                if unit == 0 {
                    self.push_place();
                    let count = self.length();
                    self.pass_over(count, 1);
                } else {
                    self.block(unit, false);
                    self.pass_over(0, 1);
                }
            }
            b'#' => self.array(),
            b'{' => {
                self.push_place();
                let count = self.length();
                self.pass_over(count, 2);
            }
            b'/' => self.variant(),
            b'(' => {
                while self.at < self.signature.len() && self.code_at(self.at) != b')' {
                    self.one();
                }
                self.at += 1;
            }
            b'<' => {
                self.at = self.behind(self.at, b'|');
                while self.at < self.signature.len() && self.code_at(self.at) != b'>' {
                    self.at = self.behind(self.at, b':');
                    self.one();
                    self.at = self.behind(self.at, b',');
                }
                self.at += 1;
            }
            b'e' => {
                let (bytes, is_signed) = self.number_at(begin);
                let value = self.read(bytes);
                self.push(value, bytes, is_signed);
                self.at = self.behind(begin, b';');
            }
            b'@' => {
                self.at = self.behind(begin, b';');
                self.one();
            }
            _ => {
                let (bytes, is_signed) = self.number_at(begin);
                if bytes != 0 {
                    let value = self.read(bytes);
                    self.push(value, bytes, is_signed);
                }
            }
        }
    }

    /// Elements of these many types each, without numbers.
    const fn pass_over(&mut self, count: usize, types: usize) {
        let (begin, was_muted, had_bytes) = (self.at, self.is_muted, self.has_bytes);
        self.is_muted = true;
        let mut n = 0;
        while n < count && had_bytes && self.from < self.bytes.len() {
            let before = self.from;
            self.at = begin;
            self.several(types);
            // Of elements without bytes there may be very many.
            if self.from == before {
                break;
            }
            n += 1;
        }
        self.at = begin;
        self.has_bytes = false;
        self.several(types);
        self.is_muted = was_muted;
        self.has_bytes = had_bytes;
    }

    const fn several(&mut self, types: usize) {
        let mut n = 0;
        while n < types {
            self.one();
            n += 1;
        }
    }

    const fn optional(&mut self) {
        let (number, _) = self.number_at(self.at);
        let is_flat = number != 0 || self.is_text_at(self.at);
        if !is_flat {
            self.push_place();
        }
        let is_there = self.read(1) != 0;
        if is_flat {
            self.push(is_there as u64, 1, false);
        }
        let (was_muted, had_bytes) = (self.is_muted, self.has_bytes);
        self.is_muted = was_muted || !is_flat;
        self.has_bytes = had_bytes && is_there;
        self.one();
        self.is_muted = was_muted;
        self.has_bytes = had_bytes;
    }

    const fn array(&mut self) {
        let mut count = 0usize;
        while self.code_at(self.at).is_ascii_digit() {
            count = count.saturating_mul(10).saturating_add((self.code_at(self.at) - b'0') as usize);
            self.at += 1;
        }
        self.at += 1;
        let (unit, _) = self.number_at(self.at);
        self.push_place();
        if unit == 0 {
            return self.pass_over(count, 1);
        }
        self.push(count as u64, 8, false);
        self.from = self.from.saturating_add(count.saturating_mul(unit));
        self.pass_over(0, 1);
    }

    const fn variant(&mut self) {
        self.push_place();
        let (was_muted, had_bytes) = (self.is_muted, self.has_bytes);
        let chosen = self.read(1);
        self.is_muted = true;
        let mut number = 0;
        while self.at < self.signature.len() && self.code_at(self.at) != b'|' {
            self.has_bytes = had_bytes && number == chosen;
            self.one();
            number += 1;
        }
        self.at += 1;
        self.is_muted = was_muted;
        self.has_bytes = had_bytes;
    }
}
