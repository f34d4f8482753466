//! Elements as records. The parser takes what `spec/xml.md` describes: no document types, hence no entities but the five of XML, and characters by number.

use crate::fast::Xml;
use crate::json::{put_number, unexpected};
use crate::scratch::{NESTING_MAX, RECORD_MAX, Scratch};
use crate::{Input, Parsed, Place, ReadError, Reader, Record};

/// Reads a document.
pub struct XmlReader {
    input: Input,
    scratch: Scratch,
    parsed: Parsed,
    text: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    Within,
    Ended,
}

type Read<T = ()> = Result<T, ReadError>;

/// What a start tag says.
#[derive(Default)]
struct Tag {
    name: String,
    /// The attribute `name`.
    field: Option<String>,
    is_hex: bool,
    is_empty: bool,
}

impl XmlReader {
    /// Of the input of this number.
    pub fn new(input: Input, number: u32) -> Self {
        Self {
            input,
            scratch: Scratch::default(),
            parsed: Parsed::new(number),
            text: Vec::new(),
            state: State::Before,
        }
    }

    fn space(&mut self) -> Read {
        crate::json::skip_space(&mut self.input)
    }

    fn expect(&mut self, word: &str) -> Read {
        for byte in word.bytes() {
            if self.input.peek()? != Some(byte) {
                return Err(unexpected(&mut self.input, word));
            }
            self.input.bump();
        }
        Ok(())
    }

    /// Passes over everything up to the end of `mark`.
    fn skip_to(&mut self, mark: &[u8]) -> Read {
        let place = self.input.place();
        let mut seen = 0;
        while seen < mark.len() {
            match self.input.take()? {
                // The marks are `-->` and `?>`: a repeated `-` keeps what has been seen.
                Some(byte) if byte == mark[seen] => seen += 1,
                Some(b'-') if seen == 2 && mark[1] == b'-' => {}
                Some(byte) => seen = usize::from(byte == mark[0]),
                None => {
                    return Err(ReadError::new(place, "the end of the input", "the end of what begins here"));
                }
            }
        }
        Ok(())
    }

    /// Passes over space, comments and instructions up to a tag, whose `<` is taken; true when it is an end tag, whose `/` is taken too. `None` at the end.
    fn tag_begins(&mut self) -> Read<Option<bool>> {
        loop {
            self.space()?;
            match self.input.peek()? {
                None => return Ok(None),
                Some(b'<') => self.input.bump(),
                Some(_) => return Err(unexpected(&mut self.input, "an element")),
            }
            match self.input.peek()? {
                Some(b'/') => {
                    self.input.bump();
                    return Ok(Some(true));
                }
                Some(b'?') => self.skip_to(b"?>")?,
                Some(b'!') => {
                    self.input.bump();
                    if self.input.peek()? != Some(b'-') {
                        return Err(unexpected(
                            &mut self.input,
                            "a comment or an element; document types are not read",
                        ));
                    }
                    self.expect("--")?;
                    self.skip_to(b"-->")?;
                }
                _ => return Ok(Some(false)),
            }
        }
    }

    fn name(&mut self) -> Read<String> {
        let mut name = String::new();
        while let Some(byte @ (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':')) =
            self.input.peek()?
        {
            name.push(char::from(byte));
            self.input.bump();
            if name.len() > 256 {
                return Err(unexpected(&mut self.input, "the end of the name"));
            }
        }
        if name.is_empty() { Err(unexpected(&mut self.input, "a name")) } else { Ok(name) }
    }

    /// A start tag behind its `<`.
    fn tag(&mut self) -> Read<Tag> {
        let mut tag = Tag { name: self.name()?, ..Tag::default() };
        loop {
            self.space()?;
            match self.input.peek()? {
                Some(b'>') => {
                    self.input.bump();
                    return Ok(tag);
                }
                Some(b'/') => {
                    self.expect("/>")?;
                    tag.is_empty = true;
                    return Ok(tag);
                }
                _ => {}
            }
            let place = self.input.place();
            let name = self.name()?;
            self.space()?;
            self.expect("=")?;
            self.space()?;
            let quote = match self.input.peek()? {
                Some(quote @ (b'"' | b'\'')) => quote,
                _ => return Err(unexpected(&mut self.input, "a quote")),
            };
            self.input.bump();
            self.content(quote)?;
            self.input.bump();
            match name.as_str() {
                "name" => tag.field = Some(self.taken(&place)?.to_owned()),
                "hex-name" => tag.field = Some(self.unhex(&place)?),
                "hex" => tag.is_hex = self.text == b"true",
                _ => {}
            }
        }
    }

    /// Takes text over up to a byte, which stays; references are what they mean.
    fn content(&mut self, end: u8) -> Read {
        self.text.clear();
        loop {
            let run = self.input.run(|byte| byte == end || byte == b'&' || byte == b'<');
            self.text.extend_from_slice(run);
            let place = self.input.place();
            if self.text.len() > RECORD_MAX {
                return Err(ReadError::new(place, "a text of more than 64 MiB", "its end"));
            }
            match self.input.peek()? {
                Some(b'&') => {
                    self.input.bump();
                    self.reference(place)?;
                }
                Some(byte) if byte == end => return Ok(()),
                Some(b'<') => return Err(unexpected(&mut self.input, "the end of the text")),
                Some(b'\n') => {
                    self.input.bump();
                    self.text.push(b'\n');
                }
                Some(_) => {}
                None => return Err(unexpected(&mut self.input, "the end of the text")),
            }
        }
    }

    fn reference(&mut self, place: Place) -> Read {
        let mut name = String::new();
        loop {
            match self.input.take()? {
                Some(b';') => break,
                Some(byte) if byte.is_ascii_graphic() && name.len() < 12 => name.push(char::from(byte)),
                _ => return Err(ReadError::new(place, "'&'", "a reference such as &amp;")),
            }
        }
        let number = match name.strip_prefix('#') {
            Some(digits) => match digits.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => digits.parse().ok(),
            },
            None => None,
        };
        let c = match name.as_str() {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => number.and_then(char::from_u32),
        };
        let c = c.ok_or_else(|| ReadError::new(place, format!("&{name};"), "a reference such as &amp;"))?;
        self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn taken(&self, place: &Place) -> Read<&str> {
        std::str::from_utf8(&self.text)
            .map_err(|_| ReadError::new(place.clone(), "a text that is not UTF-8", "UTF-8"))
    }

    fn octets(&self, place: &Place) -> Read<Vec<u8>> {
        crate::pack::unhex(self.taken(place)?)
            .ok_or_else(|| ReadError::new(place.clone(), "other characters", "pairs of hexadecimal digits"))
    }

    fn unhex(&self, place: &Place) -> Read<String> {
        String::from_utf8(self.octets(place)?)
            .map_err(|_| ReadError::new(place.clone(), "a text that is not UTF-8", "UTF-8"))
    }

    /// An element behind the `<` of its start tag, as a value.
    fn value(&mut self, place: &Place, in_record: bool, depth: usize) -> Read {
        if depth > NESTING_MAX {
            return Err(ReadError::new(place.clone(), "elements nested deeper than 128", "fewer levels"));
        }
        if self.scratch.bytes().len() > RECORD_MAX {
            return Err(ReadError::new(place.clone(), "a record of more than 64 MiB", "its end"));
        }
        let tag = self.tag()?;
        if in_record {
            let Some(field) = &tag.field else {
                return Err(ReadError::new(
                    place.clone(),
                    "an element without a name",
                    "the attribute `name`",
                ));
            };
            self.scratch.text(field);
        }
        self.scratch.place(place.clone());
        let within = |mut error: ReadError| {
            if let Some(field) = tag.field.as_ref().filter(|_| in_record) {
                error.path.insert_str(0, &format!(".{field}"));
            }
            error
        };
        match tag.name.as_str() {
            "record" | "list" => {
                let is_record = tag.name == "record";
                if is_record {
                    self.scratch.begin_map()
                } else {
                    self.scratch.begin_sequence()
                }
                if !tag.is_empty {
                    self.children(is_record, depth).map_err(within)?;
                }
                self.scratch.end();
            }
            _ => {
                if tag.is_empty {
                    self.text.clear();
                } else {
                    self.content(b'<').map_err(within)?;
                    self.expect("</")?;
                }
                self.scalar(&tag, place).map_err(within)?;
            }
        }
        if tag.is_empty {
            return Ok(());
        }
        self.stop(&tag.name)
    }

    /// The rest of an end tag.
    fn stop(&mut self, name: &str) -> Read {
        let place = self.input.place();
        let found = self.name()?;
        if found != name {
            return Err(ReadError::new(place, format!("</{found}>"), &format!("</{name}>")));
        }
        self.space()?;
        self.expect(">")
    }

    fn children(&mut self, is_record: bool, depth: usize) -> Read {
        let mut at = 0_u64;
        loop {
            self.space()?;
            let place = self.input.place();
            match self.tag_begins()? {
                None => return Err(unexpected(&mut self.input, "an element, or the end of this one")),
                Some(true) => return Ok(()),
                Some(false) => self.value(&place, is_record, depth + 1).map_err(|mut error| {
                    if !is_record {
                        error.path.insert_str(0, &format!("[{at}]"));
                    }
                    error
                })?,
            }
            at += 1;
        }
    }

    fn scalar(&mut self, tag: &Tag, place: &Place) -> Read {
        let wrong = |found: &str, expected| ReadError::new(place.clone(), format!("{found:?}"), expected);
        match tag.name.as_str() {
            "null" => self.scratch.null(),
            "text" if tag.is_hex => {
                let text = self.unhex(place)?;
                self.scratch.text(&text);
            }
            "text" | "time" | "uuid" => {
                let text = std::str::from_utf8(&self.text)
                    .map_err(|_| ReadError::new(place.clone(), "a text that is not UTF-8", "UTF-8"))?;
                self.scratch.text(text);
            }
            "bytes" => {
                let octets = self.octets(place)?;
                self.scratch.octets(&octets);
            }
            "bool" => match self.taken(place)? {
                "true" => self.scratch.bool(true),
                "false" => self.scratch.bool(false),
                other => return Err(wrong(other, "true or false")),
            },
            "int" | "float" => {
                let text = std::str::from_utf8(&self.text).unwrap_or("");
                let is_special = tag.name == "float" && matches!(text, "nan" | "inf" | "-inf");
                if is_special {
                    self.scratch.float(text.parse().unwrap_or(f64::NAN));
                } else if !put_number(text, &mut self.scratch) {
                    return Err(wrong(text, "a number"));
                }
            }
            other => {
                let expected = "record, list, null, bool, int, float, text, bytes, time or uuid";
                return Err(ReadError::new(place.clone(), format!("<{other}>"), expected));
            }
        }
        Ok(())
    }

    /// Reads the next record's element; false at the end.
    fn next_record(&mut self) -> Read<bool> {
        if self.state == State::Before {
            match self.tag_begins()? {
                Some(false) => {}
                _ => return Err(unexpected(&mut self.input, "<silverpoint>")),
            }
            let place = self.input.place();
            let tag = self.tag()?;
            if tag.name != "silverpoint" {
                return Err(ReadError::new(place, format!("<{}>", tag.name), "<silverpoint>"));
            }
            self.state = if tag.is_empty { State::Ended } else { State::Within };
            if tag.is_empty {
                return Ok(false);
            }
        }
        self.space()?;
        let place = self.input.place();
        match self.tag_begins()? {
            None => Err(unexpected(&mut self.input, "</silverpoint>")),
            Some(true) => {
                self.stop("silverpoint")?;
                self.state = State::Ended;
                match self.tag_begins()? {
                    None => Ok(false),
                    Some(_) => Err(unexpected(&mut self.input, "nothing after the document")),
                }
            }
            Some(false) => self.value(&place, false, 0).map(|()| true),
        }
    }
}

impl Reader for XmlReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        if self.state == State::Ended {
            return Ok(false);
        }
        if self.state == State::Within {
            if let Err(mut error) = self.space() {
                self.state = State::Ended;
                error.path.insert_str(0, &format!("[{}]", self.parsed.count()));
                return Err(error);
            }
            if self.parsed.read_known::<Xml>(&mut self.input) {
                return Ok(true);
            }
        }
        let from = self.input.offset();
        self.scratch.clear();
        match self.next_record() {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(mut error) => {
                // Nobody knows where the next record begins.
                self.state = State::Ended;
                error.path.insert_str(0, &format!("[{}]", self.parsed.count()));
                return Err(error);
            }
        }
        self.parsed.accept(&self.scratch)?;
        self.parsed.learn::<Xml>(&self.input, from);
        Ok(true)
    }

    fn record(&self) -> Option<Record<'_>> {
        self.parsed.record()
    }

    fn position(&self) -> u64 {
        self.input.offset()
    }
}
