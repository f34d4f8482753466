//! JSON text into the scratch, without a tree.

use crate::fast::Json;
use crate::foreign::{Expanded, expand};
use crate::input::Utf8;
use crate::scratch::{NESTING_MAX, RECORD_MAX, Scratch};
use crate::{Input, Parsed, Place, ReadError, Reader, Record};

/// Parses one value after the other.
#[derive(Default)]
pub struct JsonParser {
    text: Vec<u8>,
}

type Read<T = ()> = Result<T, ReadError>;

/// What is found where nothing follows.
pub(crate) const END: &str = "the end of the input";

fn found(byte: Option<u8>) -> String {
    match byte {
        None => END.into(),
        Some(byte @ 0x21..0x7F) => format!("'{}'", char::from(byte)),
        Some(b'\n') => "the end of the line".into(),
        Some(byte) => format!("the byte 0x{byte:02x}"),
    }
}

/// An error at what comes next.
pub(crate) fn unexpected(input: &mut Input, expected: &str) -> ReadError {
    let place = input.place();
    match input.peek() {
        Ok(byte) => ReadError::new(place, found(byte), expected),
        Err(error) => error,
    }
}

/// Passes over white space.
pub(crate) fn skip_space(input: &mut Input) -> Read {
    while matches!(input.peek()?, Some(b' ' | b'\t' | b'\n' | b'\r')) {
        input.bump();
    }
    Ok(())
}

/// Passes over the mark that some programs put before UTF-8.
pub(crate) fn skip_mark(input: &mut Input) -> Read {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    if input.peek()? != Some(MARK[0]) {
        return Ok(());
    }
    // What is at hand may be less than the mark: then its first byte says that it is one.
    if input.at_hand().get(..MARK.len()).is_some_and(|three| three != MARK) {
        return Ok(());
    }
    for byte in MARK {
        if input.peek()? != Some(*byte) {
            return Err(unexpected(input, "the rest of a mark before UTF-8"));
        }
        input.bump();
    }
    Ok(())
}

impl JsonParser {
    /// Puts the next value into the scratch.
    ///
    /// # Errors
    /// Invalid JSON, nested deeper than 128, or longer than 64 MiB.
    pub fn value(&mut self, input: &mut Input, scratch: &mut Scratch) -> Read {
        self.nested(input, scratch, 0)
    }

    fn nested(&mut self, input: &mut Input, scratch: &mut Scratch, depth: usize) -> Read {
        if depth > NESTING_MAX {
            return Err(ReadError::new(input.place(), "values nested deeper than 128", "fewer brackets"));
        }
        skip_space(input)?;
        let place = input.place();
        if scratch.bytes().len() > RECORD_MAX {
            return Err(ReadError::new(place, "a record of more than 64 MiB", "its end"));
        }
        scratch.place(place.clone());
        match input.peek()? {
            Some(b'{') => {
                input.bump();
                scratch.begin_map();
                self.members(input, scratch, depth)
            }
            Some(b'[') => {
                input.bump();
                scratch.begin_sequence();
                skip_space(input)?;
                if input.peek()? == Some(b']') {
                    input.bump();
                } else {
                    let mut at = 0_u64;
                    loop {
                        self.nested(input, scratch, depth + 1).map_err(|mut error| {
                            error.path.insert_str(0, &format!("[{at}]"));
                            error
                        })?;
                        at += 1;
                        if self.ends(input, b']', "',' or ']'")? {
                            break;
                        }
                    }
                }
                scratch.end();
                Ok(())
            }
            Some(b'"') => {
                let text = self.string(input, &place)?;
                scratch.text(text);
                Ok(())
            }
            Some(b't') => self.word(input, "true").map(|()| scratch.bool(true)),
            Some(b'f') => self.word(input, "false").map(|()| scratch.bool(false)),
            Some(b'n') => self.word(input, "null").map(|()| scratch.null()),
            Some(b'-' | b'0'..=b'9') => self.number(input, scratch, place),
            _ => Err(unexpected(input, "a value")),
        }
    }

    fn members(&mut self, input: &mut Input, scratch: &mut Scratch, depth: usize) -> Read {
        skip_space(input)?;
        if input.peek()? == Some(b'}') {
            input.bump();
            scratch.end();
            return Ok(());
        }
        loop {
            skip_space(input)?;
            let place = input.place();
            if input.peek()? != Some(b'"') {
                return Err(unexpected(input, "a name in quotes"));
            }
            let name = self.string(input, &place)?;
            scratch.place(place);
            scratch.text(name);
            // The buffer is used again for the value.
            let name_len = name.len().min(64);
            let mut kept = [0; 64];
            kept[..name_len].copy_from_slice(&name.as_bytes()[..name_len]);
            skip_space(input)?;
            if input.peek()? != Some(b':') {
                return Err(unexpected(input, "':'"));
            }
            input.bump();
            self.nested(input, scratch, depth + 1).map_err(|mut error| {
                let name = String::from_utf8_lossy(&kept[..name_len]);
                error.path.insert_str(0, &format!(".{name}"));
                error
            })?;
            if self.ends(input, b'}', "',' or '}'")? {
                scratch.end();
                return Ok(());
            }
        }
    }

    /// Passes over `,` or the end of a container; true at the end.
    fn ends(&mut self, input: &mut Input, end: u8, expected: &str) -> Read<bool> {
        skip_space(input)?;
        match input.peek()? {
            Some(b',') => {
                input.bump();
                Ok(false)
            }
            Some(byte) if byte == end => {
                input.bump();
                Ok(true)
            }
            _ => Err(unexpected(input, expected)),
        }
    }

    fn word(&mut self, input: &mut Input, word: &str) -> Read {
        for byte in word.bytes() {
            if input.peek()? != Some(byte) {
                return Err(unexpected(input, word));
            }
            input.bump();
        }
        Ok(())
    }

    fn string(&mut self, input: &mut Input, place: &Place) -> Read<&str> {
        input.bump();
        self.text.clear();
        let mut checked = Utf8::default();
        loop {
            let run = input.run(|byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            self.text.extend_from_slice(run);
            checked.grown(&self.text, input, false)?;
            if self.text.len() > RECORD_MAX {
                return Err(ReadError::new(place.clone(), "a text of more than 64 MiB", "its end"));
            }
            match input.peek()? {
                Some(b'"') => {
                    checked.grown(&self.text, input, true)?;
                    input.bump();
                    break;
                }
                Some(b'\\') => {
                    checked.grown(&self.text, input, true)?;
                    input.bump();
                    self.escape(input)?;
                    checked.put(&self.text);
                }
                Some(byte) if byte >= 0x20 => {}
                _ => return Err(unexpected(input, "'\"'")),
            }
        }
        std::str::from_utf8(&self.text)
            .map_err(|_| ReadError::new(place.clone(), "a text that is not UTF-8", "UTF-8"))
    }

    fn escape(&mut self, input: &mut Input) -> Read {
        let place = input.place();
        let plain = match input.take()? {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut code = self.hex(input)?;
                if (0xD800..0xDC00).contains(&code) {
                    for byte in *b"\\u" {
                        if input.take()? != Some(byte) {
                            return Err(ReadError::new(place, "half of a surrogate pair", "its other half"));
                        }
                    }
                    let low = self.hex(input)?;
                    code = match low {
                        0xDC00..0xE000 => 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00)),
                        _ => 0xD800,
                    };
                }
                let Some(c) = char::from_u32(code) else {
                    return Err(ReadError::new(place, "half of a surrogate pair", "a character"));
                };
                self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            other => return Err(ReadError::new(place, found(other), "an escape: one of \"\\/bfnrtu")),
        };
        self.text.push(plain);
        Ok(())
    }

    fn hex(&mut self, input: &mut Input) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = input.peek()?.and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(unexpected(input, "four hexadecimal digits")) };
            code = code << 4 | digit;
            input.bump();
        }
        Ok(code)
    }

    fn number(&mut self, input: &mut Input, scratch: &mut Scratch, place: Place) -> Read {
        self.text.clear();
        while let Some(byte @ (b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) = input.peek()? {
            self.text.push(byte);
            input.bump();
            if self.text.len() > 4096 {
                return Err(ReadError::new(place, "a number of more than 4096 digits", "its end"));
            }
        }
        let text = std::str::from_utf8(&self.text).unwrap_or("");
        if put_number(text, scratch) {
            Ok(())
        } else {
            Err(ReadError::new(place, format!("{text:?}"), "a number"))
        }
    }
}

/// Decimal digits that a float holds in any case, and the point.
const FLOAT_DIGITS: usize = 16;

/// Puts a number as JSON writes it; false when it is none.
pub(crate) fn put_number(text: &str, scratch: &mut Scratch) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && (!digits.starts_with('0') || !digits[1..].starts_with(|c: char| c.is_ascii_digit()))
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && !digits.contains(".e")
        && !digits.contains(".E");
    if !is_number {
        return false;
    }
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole && digits == "0" && digits.len() < text.len() {
        // Zero with a sign is no integer.
        scratch.float(-0.0);
    } else if digits.len() < 20
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(value) = text.parse::<i64>()
    {
        scratch.signed(value.into());
    } else if let Ok(value) = text.parse::<u128>() {
        scratch.unsigned(value);
    } else if let Ok(value) = text.parse::<i128>() {
        scratch.signed(value);
    } else {
        match text.parse::<f64>() {
            // What neither 128 bits nor a float hold stays what was written.
            Ok(value) if is_whole || value.is_infinite() => scratch.text(text),
            Ok(value) => {
                if digits.len() > FLOAT_DIGITS {
                    scratch.decimal(text);
                }
                scratch.float(value);
            }
            Err(_) => return false,
        }
    }
    true
}

/// Reads JSON lines, and arrays of records.
pub struct JsonReader {
    input: Input,
    parser: JsonParser,
    scratch: Scratch,
    parsed: Parsed,
    /// Within an array of records.
    in_array: bool,
    begun: bool,
    ended: bool,
    /// What is broken goes on to the end of the line.
    skips_line: bool,
    /// Records of a document that holds many.
    expanded: Option<Expanded>,
}

impl JsonReader {
    /// Of the input of this number.
    pub fn new(input: Input, number: u32) -> Self {
        Self {
            input,
            parser: JsonParser::default(),
            scratch: Scratch::default(),
            parsed: Parsed::new(number),
            in_array: false,
            begun: false,
            ended: false,
            skips_line: false,
            expanded: None,
        }
    }

    /// Goes to where the next record begins; false at the end.
    fn next_begins(&mut self) -> Read<bool> {
        if std::mem::take(&mut self.skips_line) {
            self.input.skip_line()?;
        }
        if !self.begun {
            skip_mark(&mut self.input)?;
        }
        skip_space(&mut self.input)?;
        if !std::mem::replace(&mut self.begun, true) {
            if self.input.peek()? == Some(b'[') {
                self.input.bump();
                self.in_array = true;
                skip_space(&mut self.input)?;
                if self.input.peek()? == Some(b']') {
                    self.input.bump();
                    return self.tail();
                }
                return Ok(true);
            }
        } else if self.in_array {
            match self.input.peek()? {
                Some(b',') => {
                    self.input.bump();
                    skip_space(&mut self.input)?;
                }
                Some(b']') => {
                    self.input.bump();
                    return self.tail();
                }
                _ => return Err(unexpected(&mut self.input, "',' or ']' after a record")),
            }
        }
        Ok(self.input.peek()?.is_some() || self.in_array)
    }

    /// Puts the next record, or a document of many, into the scratch.
    fn parse(&mut self) -> Read {
        self.scratch.clear();
        let Err(mut error) = self.parser.value(&mut self.input, &mut self.scratch) else { return Ok(()) };
        error.path.insert_str(0, &format!("[{}]", self.parsed.count()));
        self.parsed.pass_over();
        // A line is a new beginning; within an array the begin of the next record is unknown.
        if self.in_array || error.io.is_some() {
            self.ended = true;
            return Err(error);
        }
        self.skips_line = self.input.place().line == error.place.line;
        Err(error.passable())
    }

    /// Nothing may follow the array.
    fn tail(&mut self) -> Read<bool> {
        self.ended = true;
        skip_space(&mut self.input)?;
        match self.input.peek()? {
            None => Ok(false),
            Some(_) => Err(unexpected(&mut self.input, "nothing after the array")),
        }
    }
}

impl Reader for JsonReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        loop {
            if let Some(expanded) = &mut self.expanded {
                if expanded.next(&mut self.scratch) {
                    self.parsed.accept(&self.scratch)?;
                    return Ok(true);
                }
                self.expanded = None;
            }
            if self.ended {
                return Ok(false);
            }
            match self.next_begins() {
                Ok(true) => {}
                other => {
                    self.ended = true;
                    return other;
                }
            }
            if self.parsed.read_known::<Json>(&mut self.input) {
                return Ok(true);
            }
            let from = self.input.offset();
            self.parse()?;
            self.expanded = expand(&mut self.scratch);
            if self.expanded.is_none() {
                self.parsed.accept(&self.scratch)?;
                self.parsed.learn::<Json>(&self.input, from);
                return Ok(true);
            }
        }
    }

    fn record(&self) -> Option<Record<'_>> {
        self.parsed.record()
    }

    fn position(&self) -> u64 {
        self.input.offset()
    }
}
