//! Elements as records. The parser takes what `spec/xml.md` describes: no document types, hence no entities but the five of XML, and characters by number.
//!
//! Why not quick-xml: its reader keeps an event of any size in memory, where a record has at most 64 MiB here. It accepts characters
//! that XML does not have, and `--` within a comment unless asked. Errors here name line and column. Its events alone take 46 % of
//! the instructions of this reader, values included (15 MB, quick-xml 0.42): speed decides for neither.

use crate::fast::Xml;
use crate::input::Utf8;
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

/// Attributes of an element at most.
const ATTRIBUTES_MAX: usize = 64;

/// Whether XML has the character.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Whether a byte may stand in a document as it is.
fn is_character(byte: u8) -> bool {
    byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r')
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

    /// Passes over a comment behind its `<!`.
    fn comment(&mut self) -> Read {
        self.expect("--")?;
        loop {
            match self.input.peek()? {
                Some(b'-') => {
                    self.input.bump();
                    if self.input.peek()? == Some(b'-') {
                        self.input.bump();
                        return match self.input.peek()? {
                            Some(b'>') => {
                                self.input.bump();
                                Ok(())
                            }
                            _ => Err(unexpected(&mut self.input, "'>': `--` ends a comment")),
                        };
                    }
                }
                Some(byte) if is_character(byte) => self.input.bump(),
                _ => return Err(unexpected(&mut self.input, "the end of the comment")),
            }
        }
    }

    /// Skips space, comments and instructions up to a tag, whose `<` is read. True when it is an end tag,
    /// whose `/` is read too. `None` at the end.
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
                    self.comment()?;
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
        let mut names: Vec<String> = Vec::new();
        loop {
            let before = self.input.offset();
            self.space()?;
            let is_apart = self.input.offset() > before;
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
            if !is_apart {
                return Err(unexpected(&mut self.input, "a space before the attribute, or '>'"));
            }
            let place = self.input.place();
            let name = self.name()?;
            if names.contains(&name) {
                let found = format!("the attribute `{name}` again");
                return Err(ReadError::new(place, found, "each attribute once"));
            }
            if names.len() == ATTRIBUTES_MAX {
                return Err(ReadError::new(place, "more than 64 attributes", "the end of the tag"));
            }
            self.space()?;
            self.expect("=")?;
            self.space()?;
            let quote = match self.input.peek()? {
                Some(quote @ (b'"' | b'\'')) => quote,
                _ => return Err(unexpected(&mut self.input, "a quote")),
            };
            self.input.bump();
            self.text.clear();
            self.content(quote)?;
            self.input.bump();
            match name.as_str() {
                "name" => tag.field = Some(self.taken(&place)?.to_owned()),
                "hex-name" => tag.field = Some(self.unhex(&place)?),
                "hex" => tag.is_hex = self.text == b"true",
                _ => {}
            }
            names.push(name);
        }
    }

    /// Takes the text of an element over, up to behind the `</` of its end. Comments and instructions within it are passed over.
    fn element_text(&mut self) -> Read {
        self.text.clear();
        loop {
            self.content(b'<')?;
            self.input.bump();
            match self.input.peek()? {
                Some(b'/') => {
                    self.input.bump();
                    return Ok(());
                }
                Some(b'!') => {
                    self.input.bump();
                    self.comment()?;
                }
                Some(b'?') => self.skip_to(b"?>")?,
                _ => return Err(unexpected(&mut self.input, "'/': an element of text has no others")),
            }
        }
    }

    /// Adds text up to a byte, which stays; references are what they mean.
    fn content(&mut self, end: u8) -> Read {
        let mut checked = Utf8::default();
        checked.put(&self.text);
        let is_text = end == b'<';
        // Two `]` before it make a `>` the end of what is not read here.
        let mut brackets = 0;
        loop {
            let run = self
                .input
                .run(|byte| byte == end || byte < 0x20 || matches!(byte, b'&' | b'<' | b']' | b'>'));
            if !run.is_empty() {
                brackets = 0;
            }
            let from = self.text.len();
            self.text.extend_from_slice(run);
            checked.grown(&self.text, &self.input, false)?;
            self.no_noncharacter(from)?;
            let place = self.input.place();
            if self.text.len() > RECORD_MAX {
                return Err(ReadError::new(place, "a text of more than 64 MiB", "its end"));
            }
            let Some(next) = self.input.peek()? else {
                return Err(unexpected(&mut self.input, "the end of the text"));
            };
            if !matches!(next, 0x80..) {
                checked.grown(&self.text, &self.input, true)?;
            }
            let before = std::mem::take(&mut brackets);
            match next {
                _ if next == end => return Ok(()),
                b'<' => return Err(unexpected(&mut self.input, "the end of the text")),
                b'&' => {
                    self.input.bump();
                    self.reference(place)?;
                    checked.put(&self.text);
                }
                b'>' if is_text && before >= 2 => {
                    return Err(unexpected(&mut self.input, "&gt; behind ]]"));
                }
                // Every line end becomes LF.
                b'\r' => {
                    self.input.bump();
                    if self.input.peek()? == Some(b'\n') {
                        self.input.bump();
                    }
                    self.text.push(b'\n');
                    checked.put(&self.text);
                }
                0..0x20 if !is_character(next) => {
                    return Err(unexpected(&mut self.input, "a character that XML has"));
                }
                0x80.. => {}
                _ => {
                    brackets = if next == b']' { before + 1 } else { 0 };
                    self.input.bump();
                    self.text.push(next);
                    checked.put(&self.text);
                }
            }
        }
    }

    /// U+FFFE and U+FFFF are no characters of XML. What was added to the text from there on was passed last.
    fn no_noncharacter(&self, from: usize) -> Read {
        let added = &self.text[from.saturating_sub(2)..];
        if !added.contains(&0xEF) {
            return Ok(());
        }
        let is_it = |three: &[u8]| matches!(three, [0xEF, 0xBF, 0xBE | 0xBF]);
        match added.windows(3).position(is_it) {
            None => Ok(()),
            Some(at) => {
                let place = self.input.place_before(added.len() - at);
                Err(ReadError::new(place, "U+FFFE or U+FFFF", "a character that XML has"))
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
            _ => number.and_then(char::from_u32).filter(|c| is_xml(*c)),
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
                    self.element_text().map_err(within)?;
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

    /// A number as JSON writes it, of a size that is kept.
    fn number(&mut self, is_int: bool, text: String, place: &Place) -> Read {
        let wrong = |expected| Err(ReadError::new(place.clone(), format!("{text:?}"), expected));
        let from = self.scratch.bytes().len();
        if is_int && text == "-0" {
            self.scratch.unsigned(0);
        } else if !put_number(&text, &mut self.scratch) {
            return wrong("a number");
        }
        // A number that no type holds was put as its text.
        let is_text = self.scratch.bytes().get(from).is_some_and(|first| first >> 5 == 3);
        match (is_text, is_int) {
            (true, true) => wrong("an integer that 128 bits hold"),
            (true, false) => wrong("a float that 64 bits hold"),
            (false, _) => Ok(()),
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
                } else {
                    self.number(tag.name == "int", text.to_owned(), place)?;
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
            crate::json::skip_mark(&mut self.input)?;
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
                // The begin of the next record is unknown.
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
