//! JSON that is in memory.

use crate::source::cut;
use crate::{Error, Integer, Kind, Source, base64, time};

/// Containers within each other.
pub(crate) const DEPTH_MAX: usize = 128;

type Read<T> = Result<T, Error>;

/// Reads from a slice; texts without escapes are not copied.
#[derive(Debug)]
pub struct JsonSource<'j> {
    json: &'j [u8],
    at: usize,
    depth: usize,
    /// The innermost container has just begun.
    is_first: bool,
    name_at: usize,
    /// A text whose escapes are replaced.
    text: Vec<u8>,
}

impl<'j> JsonSource<'j> {
    /// From the first byte.
    pub fn new(json: &'j [u8]) -> Self {
        Self { json, at: 0, depth: 0, is_first: false, name_at: 0, text: Vec::new() }
    }

    /// Whether another value comes: what follows may be read as one.
    pub fn has_more(&mut self) -> bool {
        self.peek().is_some()
    }

    /// Only white space is left.
    ///
    /// # Errors
    /// Something else is.
    pub fn finish(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.broken("the end of the input")),
        }
    }

    /// The next byte that is no white space.
    #[inline(always)]
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.json.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// What stands here is broken.
    #[cold]
    fn broken(&self, expected: &str) -> Error {
        let found = match self.json.get(self.at) {
            None => "the end of the input".to_owned(),
            Some(byte @ 0x20..0x7F) => format!("'{}'", char::from(*byte)),
            Some(byte) => format!("the byte 0x{byte:02x}"),
        };
        self.error(self.at, found, expected.to_owned())
    }

    #[cold]
    fn wrong<T>(&mut self, expected: &str) -> Read<T> {
        self.peek();
        Err(self.unexpected(self.at, expected))
    }

    /// The digits of a number with its sign, fraction and exponent; whether it is an integer.
    #[inline]
    fn number(&mut self) -> Read<(&'j str, bool)> {
        let from = self.at;
        let digits = |source: &mut Self| {
            let first = source.at;
            while source.json.get(source.at).is_some_and(u8::is_ascii_digit) {
                source.at += 1;
            }
            if source.at == first { Err(source.broken("a value")) } else { Ok(first) }
        };
        if self.json.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let first = digits(self)?;
        if self.json[first] == b'0' && self.at > first + 1 {
            self.at = first + 1;
            return Err(self.broken("a value"));
        }
        let mut is_integer = true;
        if self.json.get(self.at) == Some(&b'.') {
            is_integer = false;
            self.at += 1;
            digits(self)?;
        }
        if let Some(b'e' | b'E') = self.json.get(self.at) {
            is_integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.json.get(self.at) {
                self.at += 1;
            }
            digits(self)?;
        }
        Ok((std::str::from_utf8(&self.json[from..self.at]).unwrap_or(""), is_integer))
    }

    /// An integer that is parsed as a type; the source stays where it is when it is none.
    #[inline]
    fn parsed<T: std::str::FromStr>(
        &mut self,
        expected: impl Fn() -> String,
        fits: impl Fn(&T) -> bool,
    ) -> Read<T> {
        let Some(b'-' | b'0'..=b'9') = self.peek() else { return self.wrong(&expected()) };
        let from = self.at;
        let (text, is_integer) = self.number()?;
        match text.parse() {
            Ok(value) if is_integer && fits(&value) => Ok(value),
            _ => {
                self.at = from;
                self.wrong(&expected())
            }
        }
    }

    /// Up to nineteen digits that end, without more: most integers.
    #[inline]
    fn short(&mut self) -> Option<i64> {
        self.peek()?;
        let (rest, is_negative) = match &self.json[self.at..] {
            [b'-', rest @ ..] => (rest, true),
            rest => (rest, false),
        };
        let mut value = 0_i64;
        let mut len = 0;
        while let Some(digit) = rest.get(len).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
        {
            if len == 18 {
                return None;
            }
            value = value * 10 + i64::from(digit);
            len += 1;
        }
        let is_whole = !matches!(rest.get(len), Some(b'.' | b'e' | b'E'));
        if len == 0 || (rest[0] == b'0' && len > 1) || !is_whole {
            return None;
        }
        self.at += len + usize::from(is_negative);
        Some(if is_negative { -value } else { value })
    }

    /// A string: as it stands, or in `text`. The opening quote comes next.
    #[inline]
    fn string(&mut self) -> Read<&str> {
        let from = self.at;
        self.at += 1;
        let start = self.at;
        self.run();
        if self.json.get(self.at) == Some(&b'"') {
            self.at += 1;
            return match std::str::from_utf8(&self.json[start..self.at - 1]) {
                Ok(text) => Ok(text),
                Err(error) => {
                    self.at = start + error.valid_up_to();
                    Err(self.broken("UTF-8"))
                }
            };
        }
        self.at = start;
        self.escaped(from)
    }

    /// Passes over what needs no looking at.
    #[inline]
    fn run(&mut self) {
        while let Some(eight) = self.json[self.at..].first_chunk() {
            const ONES: u64 = u64::MAX / 255;
            let word = u64::from_le_bytes(*eight);
            let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
            let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
            if (below(word, 0x20) | is(b'"') | is(b'\\')) & (ONES << 7) != 0 {
                break;
            }
            self.at += 8;
        }
        while self.json.get(self.at).is_some_and(|byte| *byte >= 0x20 && !matches!(byte, b'"' | b'\\')) {
            self.at += 1;
        }
    }

    #[cold]
    fn escaped(&mut self, from: usize) -> Read<&str> {
        self.text.clear();
        loop {
            let start = self.at;
            self.run();
            self.text.extend_from_slice(&self.json[start..self.at]);
            match self.json.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                _ => return Err(self.broken("'\"'")),
            }
        }
        self.at += 1;
        if std::str::from_utf8(&self.text).is_err() {
            // Escapes are UTF-8 by themselves: the fault is in the input.
            let raw = &self.json[from..self.at];
            self.at = from + std::str::from_utf8(raw).map_or_else(|error| error.valid_up_to(), str::len);
            return Err(self.broken("UTF-8"));
        }
        Ok(std::str::from_utf8(&self.text).unwrap_or(""))
    }

    fn escape(&mut self) -> Read<()> {
        let begin = self.at;
        self.at += 1;
        let plain = match self.json.get(self.at) {
            Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let mut code = self.hex()?;
                if (0xD800..0xDC00).contains(&code) && self.json[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    code = match low {
                        0xDC00..0xE000 => 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00)),
                        _ => 0xD800,
                    };
                }
                let Some(c) = char::from_u32(code) else {
                    return Err(self.error(begin, "half of a surrogate pair".into(), "a character".into()));
                };
                self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.broken("an escape: one of \"\\/bfnrtu")),
        };
        self.at += 1;
        self.text.push(plain);
        Ok(())
    }

    fn hex(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.json.get(self.at).and_then(|byte| char::from(*byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.broken("four hexadecimal digits")) };
            code = code << 4 | digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn word(&mut self, word: &str) -> Read<()> {
        for byte in word.bytes() {
            if self.json.get(self.at) != Some(&byte) {
                return Err(self.broken("a value"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn begin(&mut self, byte: u8, expected: &str) -> Read<Option<usize>> {
        if self.peek() != Some(byte) {
            return self.wrong(expected);
        }
        if self.depth == DEPTH_MAX {
            return Err(self.error(self.at, "a deeper level".into(), "at most 128 levels".into()));
        }
        self.depth += 1;
        self.at += 1;
        self.is_first = true;
        Ok(None)
    }

    /// Passes over the comma before another, or the end of a container: false.
    #[inline]
    fn goes_on(&mut self, end: u8, expected: &str) -> Read<bool> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            Some(b',') if !is_first => {
                self.at += 1;
                Ok(true)
            }
            Some(_) if is_first => Ok(true),
            _ => Err(self.broken(expected)),
        }
    }

    /// A text that is more than that, or an error about where it stands.
    fn of_text<T>(&mut self, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Read<T> {
        if self.peek() != Some(b'"') {
            return self.wrong(expected);
        }
        let from = self.at;
        match parse(self.string()?) {
            Some(value) => Ok(value),
            None => Err(self.unexpected(from, expected)),
        }
    }

    /// What begins at an offset, for people.
    fn told(&self, offset: usize) -> String {
        let mut ahead = JsonSource { at: offset, ..JsonSource::new(self.json) };
        match self.json.get(offset) {
            Some(b'n') => "null".into(),
            Some(b't') => "true".into(),
            Some(b'f') => "false".into(),
            Some(b'[') => "an array".into(),
            Some(b'{') => "an object".into(),
            Some(b'"') => match ahead.string() {
                Ok(text) => {
                    let mut told = String::from("the text ");
                    silverpoint_wire::json::push_string(&mut told, cut(text));
                    told
                }
                Err(_) => "a text".into(),
            },
            Some(b'-' | b'0'..=b'9') => match ahead.number() {
                Ok((number, _)) => format!("the number {}", cut(number)),
                Err(_) => "a number".into(),
            },
            Some(byte @ 0x20..0x7F) => format!("'{}'", char::from(*byte)),
            Some(byte) => format!("the byte 0x{byte:02x}"),
            None => "the end of the input".into(),
        }
    }
}

fn special(text: &str) -> Option<f64> {
    match text {
        "nan" => Some(f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// The sixteen bytes of a UUID.
pub(crate) fn uuid(text: &str) -> Option<[u8; 16]> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 || [8, 13, 18, 23].iter().any(|at| bytes[*at] != b'-') {
        return None;
    }
    let mut digits = bytes.iter().enumerate().filter(|(at, _)| !matches!(at, 8 | 13 | 18 | 23));
    let mut uuid = [0; 16];
    for byte in &mut uuid {
        for _ in 0..2 {
            let digit = char::from(*digits.next()?.1).to_digit(16)?;
            *byte = *byte << 4 | digit as u8;
        }
    }
    Some(uuid)
}

impl Source for JsonSource<'_> {
    fn kind(&mut self) -> Read<Kind> {
        Ok(match self.peek() {
            Some(b'n') => Kind::Null,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'"') => Kind::Text,
            Some(b'[') => Kind::Array,
            Some(b'{') => Kind::Object,
            Some(b'-' | b'0'..=b'9') => {
                let from = self.at;
                let (text, is_integer) = self.number()?;
                self.at = from;
                // What has more than 128 bits is a float.
                let fits = text.parse::<i128>().is_ok() || text.parse::<u128>().is_ok();
                // No integer has the sign of `-0`.
                if is_integer && fits && text != "-0" { Kind::Integer } else { Kind::Float }
            }
            _ => return Err(self.broken("a value")),
        })
    }

    #[inline]
    fn null(&mut self) -> Read<bool> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        self.word("null").map(|()| true)
    }

    #[inline]
    fn bool(&mut self) -> Read<bool> {
        match self.peek() {
            Some(b't') => self.word("true").map(|()| true),
            Some(b'f') => self.word("false").map(|()| false),
            _ => self.wrong("true or false"),
        }
    }

    #[inline]
    fn i64(&mut self, least: i64, greatest: i64) -> Read<i64> {
        let from = self.at;
        if let Some(value) = self.short().filter(|value| (least..=greatest).contains(value)) {
            return Ok(value);
        }
        self.at = from;
        self.parsed(
            || format!("an integer from {least} to {greatest}"),
            |value| (least..=greatest).contains(value),
        )
    }

    #[inline]
    fn u64(&mut self, greatest: u64) -> Read<u64> {
        let from = self.at;
        let short = self.short().and_then(|value| u64::try_from(value).ok());
        if let Some(value) = short.filter(|value| *value <= greatest) {
            return Ok(value);
        }
        self.at = from;
        self.parsed(|| format!("an integer from 0 to {greatest}"), |value| *value <= greatest)
    }

    fn integer(&mut self) -> Read<Integer> {
        let expected = || "an integer of 128 bits".to_owned();
        // Errors are dear: they count lines.
        match self.peek() {
            Some(b'-') => self.parsed(expected, |_: &i128| true).map(|value| match u128::try_from(value) {
                Ok(zero) => Integer::Positive(zero),
                Err(_) => Integer::Negative(value),
            }),
            _ => self.parsed(expected, |_: &u128| true).map(Integer::Positive),
        }
    }

    #[inline]
    fn f64(&mut self) -> Read<f64> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => {
                let text = self.number()?.0;
                // Rust takes all that JSON does.
                Ok(text.parse().unwrap_or(f64::NAN))
            }
            Some(b'n') => self.word("null").map(|()| f64::NAN),
            _ => self.of_text("a number", special),
        }
    }

    fn f32(&mut self) -> Read<f32> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => Ok(self.number()?.0.parse().unwrap_or(f32::NAN)),
            _ => Ok(self.f64()? as f32),
        }
    }

    #[inline]
    fn text(&mut self) -> Read<&str> {
        if self.peek() != Some(b'"') {
            return self.wrong("text");
        }
        self.string()
    }

    fn bytes(&mut self) -> Read<Vec<u8>> {
        self.of_text("base64", base64::decode)
    }

    fn uuid(&mut self) -> Read<[u8; 16]> {
        self.of_text("a UUID", uuid)
    }

    fn time(&mut self) -> Read<(i64, u32)> {
        self.of_text("a date-time of RFC 3339", time::parse)
    }

    #[inline]
    fn begin_array(&mut self) -> Read<Option<usize>> {
        self.begin(b'[', "an array")
    }

    #[inline]
    fn next_element(&mut self) -> Read<bool> {
        self.goes_on(b']', "',' or ']'")
    }

    #[inline]
    fn begin_object(&mut self) -> Read<Option<usize>> {
        self.begin(b'{', "an object")
    }

    #[inline]
    fn next_member(&mut self) -> Read<Option<&str>> {
        if !self.goes_on(b'}', "',' or '}'")? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.broken("a name in quotes"));
        }
        self.name_at = self.at;
        self.string()?;
        let (name_end, is_escaped) = (self.at, self.json[self.name_at..self.at].contains(&b'\\'));
        if self.peek() != Some(b':') {
            return Err(self.broken("':'"));
        }
        self.at += 1;
        let name = if is_escaped { &self.text } else { &self.json[self.name_at + 1..name_end - 1] };
        Ok(Some(std::str::from_utf8(name).unwrap_or("")))
    }

    fn has_digits(&self) -> bool {
        true
    }

    fn digits(&mut self) -> Read<&str> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => Ok(self.number()?.0),
            _ => self.wrong("a number"),
        }
    }

    fn begin_pairs(&mut self) -> Read<Option<usize>> {
        self.wrong("an array")
    }

    fn next_pair(&mut self) -> Read<bool> {
        Ok(false)
    }

    fn skip(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            Some(b'[') => {
                self.begin_array()?;
                let mut at = 0;
                while self.next_element()? {
                    self.skip().map_err(|error| error.in_element(at))?;
                    at += 1;
                }
                Ok(())
            }
            Some(b'{') => {
                self.begin_object()?;
                while self.next_member()?.is_some() {
                    self.skip_member()?;
                }
                Ok(())
            }
            Some(b'n') => self.word("null"),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            _ => Err(self.broken("a value")),
        }
    }

    fn skip_member(&mut self) -> Read<()> {
        let (from, to) = (self.name_at, self.at);
        self.skip().map_err(|error| {
            let mut name = JsonSource::new(&self.json[from..to]);
            error.in_member(name.string().unwrap_or(""))
        })
    }

    fn position(&mut self) -> Read<usize> {
        self.peek();
        Ok(self.at)
    }

    fn name_position(&self) -> usize {
        self.name_at
    }

    fn end_position(&self) -> usize {
        self.at.saturating_sub(1)
    }

    #[cold]
    fn error(&self, offset: usize, found: String, expected: String) -> Error {
        let before = &self.json[..offset.min(self.json.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let line_at = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Error::new(offset, line, offset - line_at + 1, found, expected)
    }

    #[cold]
    fn unexpected(&self, offset: usize, expected: &str) -> Error {
        self.error(offset, self.told(offset), expected.to_owned())
    }
}
