//! CBOR that is in memory.
//!
//! Heads are read by `silverpoint-wire` rather than by `minicbor`, with which the orders of `examples/speed.rs` took 1.35 times as many instructions. Tags that
//! are passed over, bignums, and errors with places and findings would remain.

use silverpoint_wire::cbor::{self, Head, INDEFINITE};
use silverpoint_wire::json;

use crate::copy::BIGNUM_MAX;
use crate::json_source::{DEPTH_MAX, uuid};
use crate::source::cut;
use crate::{Error, Integer, Kind, Source, time};

type Read<T> = Result<T, Error>;

/// Reads from a slice.
#[derive(Debug)]
pub struct CborSource<'c> {
    cbor: &'c [u8],
    at: usize,
    /// Of each open container, the items that are still to come; `None`: up to its mark of the end.
    open: Vec<Option<u64>>,
    name_at: usize,
}

impl<'c> CborSource<'c> {
    /// From the first byte.
    pub fn new(cbor: &'c [u8]) -> Self {
        Self { cbor, at: 0, open: Vec::new(), name_at: 0 }
    }

    /// Whether another item comes: what follows may be read as one.
    pub fn has_more(&self) -> bool {
        self.at < self.cbor.len()
    }

    /// Nothing is left.
    ///
    /// # Errors
    /// Something is.
    pub fn finish(&mut self) -> Read<()> {
        match self.cbor.get(self.at) {
            None => Ok(()),
            Some(byte) => {
                Err(self.error(self.at, format!("the byte 0x{byte:02x}"), "the end of the input".into()))
            }
        }
    }

    /// What stands at an offset is broken.
    #[cold]
    fn broken(&self, offset: usize, expected: &str) -> Error {
        let found = match self.cbor.get(offset) {
            None => "the end of the input".to_owned(),
            Some(byte) => format!("the byte 0x{byte:02x}"),
        };
        self.error(offset, found, expected.to_owned())
    }

    /// The head at an offset, and where it ends.
    #[inline]
    fn head_at(&self, at: usize) -> Read<(Head, usize)> {
        match cbor::head_at(self.cbor, at) {
            // Texts and bytes in pieces are not read.
            Ok((Head { major: 2 | 3, info: INDEFINITE, .. }, _)) => Err(self.broken(at, "a value")),
            Ok(found) => Ok(found),
            Err(at) => Err(self.broken(at, "a value")),
        }
    }

    /// The head of the next item behind its tags, where it begins and ends, and the last tag.
    #[inline]
    fn next(&self) -> Read<(Head, usize, usize, Option<u64>)> {
        let (mut from, mut tag) = (self.at, None);
        loop {
            let (head, end) = self.head_at(from)?;
            if head.major != 6 {
                return Ok((head, from, end, tag));
            }
            tag = Some(head.number);
            from = end;
        }
    }

    #[cold]
    fn wrong<T>(&self, expected: &str) -> Read<T> {
        Err(self.unexpected(self.at, expected))
    }

    /// Bytes behind a head.
    #[inline]
    fn content(&self, head: Head, end: usize) -> Read<&'c [u8]> {
        let len = usize::try_from(head.number).unwrap_or(usize::MAX);
        let content = end.checked_add(len).and_then(|to| self.cbor.get(end..to));
        content.ok_or_else(|| self.broken(self.cbor.len(), "a value"))
    }

    /// A text and where it ends; `None`: something else comes.
    #[inline]
    fn text_at(&self, head: Head, end: usize) -> Read<Option<(&'c str, usize)>> {
        if head.major != 3 {
            return Ok(None);
        }
        let content = self.content(head, end)?;
        match std::str::from_utf8(content) {
            Ok(text) => Ok(Some((text, end + content.len()))),
            Err(error) => Err(self.broken(end + error.valid_up_to(), "UTF-8")),
        }
    }

    /// A number as an integer, and where it ends.
    #[inline]
    fn integer_at(&self) -> Read<Option<(Integer, usize)>> {
        let (head, _, end, tag) = self.next()?;
        Ok(match (head.major, tag) {
            (0, _) => Some((Integer::Positive(head.number.into()), end)),
            (1, _) => Some((Integer::Negative(-1 - i128::from(head.number)), end)),
            (2, Some(tag @ (2 | 3))) => {
                let content = self.content(head, end)?;
                let zeros = content.iter().take_while(|byte| **byte == 0).count();
                if content.len() - zeros > 16 {
                    return Ok(None);
                }
                let value = content.iter().fold(0_u128, |sum, byte| sum << 8 | u128::from(*byte));
                let value = match tag {
                    2 => Some(Integer::Positive(value)),
                    _ => i128::try_from(value).ok().map(|value| Integer::Negative(-1 - value)),
                };
                value.map(|value| (value, end + content.len()))
            }
            _ => None,
        })
    }

    /// A float, and where it ends.
    #[inline]
    fn float_at(&self) -> Read<Option<(f64, usize)>> {
        let (head, _, end, _) = self.next()?;
        Ok(match (head.major, head.info) {
            (7, 25) => Some((half(head.number as u16), end)),
            (7, 26) => Some((f32::from_bits(head.number as u32).into(), end)),
            (7, 27) => Some((f64::from_bits(head.number), end)),
            _ => None,
        })
    }

    /// A container begins.
    #[inline]
    fn begin(&mut self, major: u8, expected: &str) -> Read<Option<usize>> {
        let (head, from, end, _) = self.next()?;
        if head.major != major {
            return self.wrong(expected);
        }
        if self.open.len() == DEPTH_MAX {
            return Err(self.error(from, "a deeper level".into(), "at most 128 levels".into()));
        }
        self.at = end;
        let left = (head.info != 31).then_some(head.number);
        self.open.push(left);
        // Each item is a byte at least.
        let room = (self.cbor.len() - end) / if major == 5 { 2 } else { 1 };
        Ok(left.and_then(|len| usize::try_from(len).ok()).filter(|len| *len <= room))
    }

    /// Whether all keys of the map that comes next are texts: then it is an object.
    fn has_text_keys(&self) -> Read<bool> {
        let mut ahead = CborSource { at: self.at, ..CborSource::new(self.cbor) };
        ahead.begin_pairs()?;
        while ahead.next_pair()? {
            if ahead.next()?.0.major != 3 {
                return Ok(false);
            }
            ahead.skip()?;
            ahead.skip()?;
        }
        Ok(true)
    }

    #[inline]
    fn goes_on(&mut self) -> bool {
        let goes_on = match self.open.last_mut() {
            Some(Some(0)) | None => false,
            Some(Some(left)) => {
                *left -= 1;
                true
            }
            Some(None) => {
                let is_end = self.cbor.get(self.at) == Some(&0xFF);
                self.at += usize::from(is_end);
                !is_end
            }
        };
        if !goes_on {
            self.open.pop();
        }
        goes_on
    }

    /// What begins at an offset, for people.
    fn told(&self, offset: usize) -> String {
        let ahead = CborSource { at: offset, ..CborSource::new(self.cbor) };
        let Ok((head, _, end, tag)) = ahead.next() else {
            return match self.cbor.get(offset) {
                Some(byte) => format!("the byte 0x{byte:02x}"),
                None => "the end of the input".into(),
            };
        };
        let number = |number: &str| format!("the number {}", cut(number));
        if let Ok(Some((integer, _))) = ahead.integer_at() {
            return number(&match integer {
                Integer::Negative(value) => value.to_string(),
                Integer::Positive(value) => value.to_string(),
            });
        }
        if let Ok(Some((float, _))) = ahead.float_at() {
            return match float.is_finite() {
                true => number(&zmij::Buffer::new().format_finite(float).replace('+', "")),
                false => number(if float.is_nan() {
                    "nan"
                } else if float > 0.0 {
                    "inf"
                } else {
                    "-inf"
                }),
            };
        }
        match (head.major, head.number) {
            (2, _) if matches!(tag, Some(2 | 3)) => "a bignum".into(),
            (2, _) => "bytes".into(),
            (3, _) => match ahead.text_at(head, end) {
                Ok(Some((text, _))) => {
                    let mut told = String::from("the text ");
                    json::push_string(&mut told, cut(text));
                    told
                }
                _ => "a text".into(),
            },
            (4, _) => "an array".into(),
            (5, _) => "an object".into(),
            (7, 20) => "false".into(),
            (7, 21) => "true".into(),
            (7, 22 | 23) => "null".into(),
            _ => format!("the byte 0x{:02x}", self.cbor[offset]),
        }
    }
}

/// A float of 16 bits.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3FF));
    let value = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -value } else { value }
}

impl Source for CborSource<'_> {
    fn kind(&mut self) -> Read<Kind> {
        let (head, from, end, tag) = self.next()?;
        Ok(match (head.major, head.info) {
            (0 | 1, _) => Kind::Integer,
            (2, _) => match tag {
                Some(2 | 3) => Kind::Integer,
                Some(37) if head.number == 16 => Kind::Uuid,
                _ => Kind::Bytes,
            },
            (3, _) => match self.text_at(head, end)? {
                Some((text, _)) if tag == Some(0) && time::parse(text).is_some() => Kind::Time,
                _ => Kind::Text,
            },
            (4, _) => Kind::Array,
            (5, _) => match self.has_text_keys()? {
                true => Kind::Object,
                false => Kind::Pairs,
            },
            (7, 20 | 21) => Kind::Bool,
            (7, 22 | 23) => Kind::Null,
            (7, 25..=27) => Kind::Float,
            _ => return Err(self.broken(from, "a value")),
        })
    }

    #[inline]
    fn null(&mut self) -> Read<bool> {
        match self.cbor.get(self.at) {
            Some(0xF6 | 0xF7) => {
                self.at += 1;
                Ok(true)
            }
            Some(0xC0..=0xDF) => {
                let (head, _, end, _) = self.next()?;
                let is_null = head.major == 7 && matches!(head.info, 22 | 23);
                if is_null {
                    self.at = end;
                }
                Ok(is_null)
            }
            _ => Ok(false),
        }
    }

    #[inline]
    fn bool(&mut self) -> Read<bool> {
        let (head, _, end, _) = self.next()?;
        if head.major != 7 || !matches!(head.info, 20 | 21) {
            return self.wrong("true or false");
        }
        self.at = end;
        Ok(head.info == 21)
    }

    #[inline]
    fn i64(&mut self, least: i64, greatest: i64) -> Read<i64> {
        if let Some((value, end)) = self.integer_at()? {
            let value = match value {
                Integer::Negative(value) => i64::try_from(value).ok(),
                Integer::Positive(value) => i64::try_from(value).ok(),
            };
            if let Some(value) = value.filter(|value| (least..=greatest).contains(value)) {
                self.at = end;
                return Ok(value);
            }
        }
        self.wrong(&format!("an integer from {least} to {greatest}"))
    }

    #[inline]
    fn u64(&mut self, greatest: u64) -> Read<u64> {
        if let Some((Integer::Positive(value), end)) = self.integer_at()? {
            if value <= greatest.into() {
                self.at = end;
                return Ok(value as u64);
            }
        }
        self.wrong(&format!("an integer from 0 to {greatest}"))
    }

    fn integer(&mut self) -> Read<Integer> {
        match self.integer_at()? {
            Some((value, end)) => {
                self.at = end;
                Ok(value)
            }
            None => self.wrong("an integer of 128 bits"),
        }
    }

    #[inline]
    fn f64(&mut self) -> Read<f64> {
        if let Some((value, end)) = self.float_at()? {
            self.at = end;
            return Ok(value);
        }
        if let Some((value, end)) = self.integer_at()? {
            self.at = end;
            return Ok(match value {
                Integer::Negative(value) => value as f64,
                Integer::Positive(value) => value as f64,
            });
        }
        if self.null()? {
            return Ok(f64::NAN);
        }
        let (head, _, end, _) = self.next()?;
        let text = self.text_at(head, end)?;
        let special = text.and_then(|(text, end)| match text {
            "nan" => Some((f64::NAN, end)),
            "inf" => Some((f64::INFINITY, end)),
            "-inf" => Some((f64::NEG_INFINITY, end)),
            _ => None,
        });
        let Some((value, end)) = special else { return self.wrong("a number") };
        self.at = end;
        Ok(value)
    }

    #[inline]
    fn text(&mut self) -> Read<&str> {
        let (head, _, end, _) = self.next()?;
        match self.text_at(head, end)? {
            Some((text, end)) => {
                self.at = end;
                Ok(text)
            }
            None => self.wrong("text"),
        }
    }

    fn bytes(&mut self) -> Read<Vec<u8>> {
        let (head, _, end, _) = self.next()?;
        if head.major != 2 {
            return self.wrong("bytes");
        }
        let content = self.content(head, end)?;
        self.at = end + content.len();
        Ok(content.to_vec())
    }

    fn uuid(&mut self) -> Read<[u8; 16]> {
        let (head, _, end, _) = self.next()?;
        let (found, len) = match head.major {
            2 => {
                let content = self.content(head, end)?;
                (content.try_into().ok(), content.len())
            }
            _ => match self.text_at(head, end)? {
                Some((text, _)) => (uuid(text), text.len()),
                None => (None, 0),
            },
        };
        let Some(found) = found else { return self.wrong("a UUID") };
        self.at = end + len;
        Ok(found)
    }

    fn time(&mut self) -> Read<(i64, u32)> {
        let (head, _, end, _) = self.next()?;
        let found = self.text_at(head, end)?.and_then(|(text, end)| Some((time::parse(text)?, end)));
        let Some((found, end)) = found else { return self.wrong("a date-time of RFC 3339") };
        self.at = end;
        Ok(found)
    }

    #[inline]
    fn begin_array(&mut self) -> Read<Option<usize>> {
        self.begin(4, "an array")
    }

    #[inline]
    fn next_element(&mut self) -> Read<bool> {
        Ok(self.goes_on())
    }

    #[inline]
    fn begin_object(&mut self) -> Read<Option<usize>> {
        self.begin(5, "an object")
    }

    #[inline]
    fn next_member(&mut self) -> Read<Option<&str>> {
        if !self.goes_on() {
            return Ok(None);
        }
        self.name_at = self.at;
        self.text().map(Some)
    }

    fn begin_pairs(&mut self) -> Read<Option<usize>> {
        self.begin(5, "an object")
    }

    fn next_pair(&mut self) -> Read<bool> {
        Ok(self.goes_on())
    }

    fn skip(&mut self) -> Read<()> {
        let (head, from, end, _) = self.next()?;
        match (head.major, head.info) {
            (2, _) => self.at = end + self.content(head, end)?.len(),
            (3, _) => {
                self.text()?;
            }
            (4, _) => {
                self.begin_array()?;
                let mut at = 0;
                while self.next_element()? {
                    self.skip().map_err(|error| error.in_element(at))?;
                    at += 1;
                }
            }
            (5, _) => {
                self.begin_pairs()?;
                while self.next_pair()? {
                    self.name_at = self.at;
                    let (key, _, end, _) = self.next()?;
                    if self.text_at(key, end)?.is_some() {
                        self.text()?;
                        self.skip_member()?;
                    } else {
                        self.skip()?;
                        self.skip()?;
                    }
                }
            }
            (7, 0..20 | 24) => return Err(self.broken(from, "a value")),
            _ => self.at = end,
        }
        Ok(())
    }

    fn skip_member(&mut self) -> Read<()> {
        let mut name = CborSource { at: self.name_at, ..CborSource::new(self.cbor) };
        self.skip().map_err(|error| error.in_member(name.text().unwrap_or("")))
    }

    fn item(&mut self) -> Read<Option<&[u8]>> {
        let from = self.at;
        self.skip()?;
        Ok(self.cbor.get(from..self.at))
    }

    fn is_single(&mut self) -> Read<bool> {
        let (head, ..) = self.next()?;
        Ok(head.major == 7 && matches!(head.info, 25 | 26))
    }

    fn bignum(&mut self) -> Read<Option<(bool, &[u8])>> {
        let (head, _, end, tag) = self.next()?;
        if head.major != 2 || !matches!(tag, Some(2 | 3)) {
            return Ok(None);
        }
        let content = self.content(head, end)?;
        let zeros = content.iter().take_while(|byte| **byte == 0).count();
        let bytes = &content[zeros..];
        let is_negative = tag == Some(3);
        let is_small = bytes.len() < 16 || bytes.len() == 16 && (!is_negative || bytes[0] < 0x80);
        if is_small || bytes.len() > BIGNUM_MAX {
            return Ok(None);
        }
        self.at = end + content.len();
        Ok(Some((is_negative, bytes)))
    }

    fn position(&mut self) -> Read<usize> {
        Ok(self.at)
    }

    fn name_position(&self) -> usize {
        self.name_at
    }

    fn end_position(&self) -> usize {
        self.at
    }

    #[cold]
    fn error(&self, offset: usize, found: String, expected: String) -> Error {
        Error::new(offset, 0, 0, found, expected)
    }

    #[cold]
    fn unexpected(&self, offset: usize, expected: &str) -> Error {
        self.error(offset, self.told(offset), expected.to_owned())
    }
}
