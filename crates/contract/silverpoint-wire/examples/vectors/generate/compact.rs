//! Compact records by the text of spec/file.md section 3, along a value's signature.

use std::collections::HashMap;

use super::value::V;

/// One record to be written: site, ticks, arguments and, when the rule cannot restore it, its raw bytes.
pub struct Item<'a> {
    pub site: u32,
    pub ticks: u64,
    pub signature: &'a str,
    pub args: &'a [V],
    pub raw: &'a [u8],
}

/// The payload of a block of records.
pub fn payload(items: &[Item<'_>]) -> Vec<u8> {
    let first = items.iter().find(|item| item.site != 0).map_or(0, |item| item.ticks);
    let mut out = first.to_le_bytes().to_vec();
    let (mut site, mut ticks) = (0, first);
    let mut previous: HashMap<u32, Vec<i128>> = HashMap::new();
    for item in items {
        let pad = item.site == 0;
        let irregular = pad || item.args.iter().any(V::is_cut);
        let difference = zigzag(i128::from(item.site) - i128::from(site));
        varint(difference << 1 | u128::from(irregular), &mut out);
        site = item.site;
        if !pad {
            varint(zigzag(wrapped(i128::from(item.ticks) - i128::from(ticks), 8)), &mut out);
            ticks = item.ticks;
        }
        if irregular {
            varint(item.raw.len() as u128, &mut out);
            out.push(item.raw[3]);
            out.extend_from_slice(&item.raw[if pad { 8 } else { 16 }..]);
            continue;
        }
        let known = previous.entry(item.site).or_default();
        known.resize(item.args.len(), 0);
        let mut at = 0;
        for (arg, last) in item.args.iter().zip(known.iter_mut()) {
            let mut writer = Writer { signature: item.signature.as_bytes(), last: Some(last), out: &mut out };
            at = writer.value(at, arg);
        }
    }
    out
}

struct Writer<'a> {
    signature: &'a [u8],
    /// Of a top-level argument: the number that the difference refers to.
    last: Option<&'a mut i128>,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Writes a value of the type at `at`; gives the offset after the type.
    fn value(&mut self, at: usize, value: &V) -> usize {
        let end = type_end(self.signature, at);
        match (self.signature[at], value) {
            (b'h' | b'i' | b'l', V::Int(size, number)) => self.number(*number, *size, true),
            (b'H' | b'I' | b'L', V::Int(size, number)) => self.number(*number, *size, false),
            (_, V::Enumeration(_, _, number)) => {
                self.value(until(self.signature, at, b'|'), number);
            }
            (_, V::Meta(_, _, inner)) => {
                self.value(until(self.signature, at, b';'), inner);
            }
            (_, V::Text8(content, _) | V::Bytes(content, _) | V::Any(content)) => {
                self.counted(content.len(), value)
            }
            (_, V::Text16(content, _)) => self.counted(content.len(), value),
            (_, V::Text32(content, _)) => self.counted(content.len(), value),
            (_, V::Some(inner)) => {
                self.last = None;
                self.out.push(1);
                self.value(at + 1, inner);
            }
            (_, V::List(items, _) | V::Set(items, _)) => {
                self.last = None;
                varint(items.len() as u128, self.out);
                for item in items {
                    self.value(at + 1, item);
                }
            }
            (_, V::Array(items)) => {
                self.last = None;
                let element = until(self.signature, at, b':');
                for item in items {
                    self.value(element, item);
                }
            }
            (_, V::Map(pairs)) => {
                self.last = None;
                varint(pairs.len() as u128, self.out);
                for (key, value) in pairs {
                    let middle = self.value(at + 1, key);
                    self.value(middle, value);
                }
            }
            (_, V::Tuple(items)) => {
                self.last = None;
                items.iter().fold(at + 1, |at, item| self.value(at, item));
            }
            (_, V::Record(_, fields)) => {
                self.last = None;
                let first = until(self.signature, at, b'|');
                // A field's name before, a comma behind.
                fields
                    .iter()
                    .fold(first, |at, (_, value)| self.value(until(self.signature, at, b':'), value) + 1);
            }
            (_, V::Variant(index, inner)) => {
                self.last = None;
                self.out.push(*index);
                let alternative = (0..*index).fold(at + 1, |at, _| type_end(self.signature, at));
                self.value(alternative, inner);
            }
            (_, scalar) => scalar.pack(self.out),
        }
        end
    }

    fn number(&mut self, number: i128, size: usize, signed: bool) {
        let difference = match &mut self.last {
            Some(last) => number - std::mem::replace(*last, number),
            None => number,
        };
        let wrapped = wrapped(difference, size);
        varint(if signed { zigzag(wrapped) } else { (wrapped & ((1 << (8 * size)) - 1)) as u128 }, self.out);
    }

    /// The packed bytes with their length as a varint.
    fn counted(&mut self, len: usize, value: &V) {
        varint(len as u128, self.out);
        let mut packed = Vec::new();
        value.pack(&mut packed);
        self.out.extend_from_slice(&packed[4..]);
    }
}

/// The offset after the next `end` in a signature.
fn until(signature: &[u8], at: usize, end: u8) -> usize {
    at + signature[at..].iter().position(|byte| *byte == end).unwrap_or(0) + 1
}

/// The offset after the type at `at`.
fn type_end(signature: &[u8], at: usize) -> usize {
    let list = |mut at: usize, end: u8| {
        while signature[at] != end {
            at = type_end(signature, at);
        }
        at + 1
    };
    match signature[at] {
        b'?' | b'[' | b'$' => type_end(signature, at + 1),
        b'#' => type_end(signature, until(signature, at, b':')),
        b'@' => type_end(signature, until(signature, at, b';')),
        b'{' => type_end(signature, type_end(signature, at + 1)),
        b'(' => list(at + 1, b')'),
        b'/' => list(at + 1, b'|'),
        b'e' => until(signature, at, b';'),
        b'<' => {
            let mut at = until(signature, at, b'|');
            while signature[at] != b'>' {
                at = type_end(signature, until(signature, at, b':')) + 1;
            }
            at + 1
        }
        _ => at + 1,
    }
}

/// A difference within the width of its type, as a signed number.
fn wrapped(difference: i128, size: usize) -> i128 {
    let shift = 128 - 8 * size as u32;
    difference << shift >> shift
}

fn zigzag(number: i128) -> u128 {
    if number < 0 { (-number as u128) * 2 - 1 } else { number as u128 * 2 }
}

fn varint(mut number: u128, out: &mut Vec<u8>) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}
