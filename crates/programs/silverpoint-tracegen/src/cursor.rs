//! Goes through a range of a text.

use crate::text::{Mistake, Place, Text};

/// See the module. Offsets are those of the whole text.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    text: &'t Text,
    at: usize,
    end: usize,
}

/// Whether a character may begin a name.
pub fn begins_name(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

/// Whether a character may stand in a name.
pub fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t Text) -> Self {
        Self { text, at: 0, end: text.as_str().len() }
    }

    /// Of a part of the text.
    pub fn part(text: &'t Text, at: usize, end: usize) -> Self {
        Self { text, at, end }
    }

    pub fn text(&self) -> &'t Text {
        self.text
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn end(&self) -> usize {
        self.end
    }

    pub fn go_to(&mut self, at: usize) {
        self.at = at.min(self.end);
    }

    pub fn rest(&self) -> &'t str {
        self.text.as_str().get(self.at..self.end).unwrap_or("")
    }

    pub fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.as_str().get(from..to).unwrap_or("")
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    pub fn place(&self) -> Place {
        self.text.place(self.at)
    }

    pub fn mistake(&self, expected: impl Into<String>) -> Mistake {
        self.text.mistake(self.at, expected)
    }

    /// Skips white space, newlines too.
    pub fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.next();
        }
    }

    /// Skips white space within the line.
    pub fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|character| character.is_whitespace() && character != '\n') {
            self.next();
        }
    }

    /// Goes to the beginning of the next line.
    pub fn skip_line(&mut self) {
        while self.next().is_some_and(|character| character != '\n') {}
    }

    /// Takes this character, if it comes next.
    pub fn take(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Takes a text, if it comes next.
    pub fn take_text(&mut self, wanted: &str) -> bool {
        let is_next = self.rest().starts_with(wanted);
        if is_next {
            self.at += wanted.len();
        }
        is_next
    }

    /// Skips white space; then this character must come.
    pub fn expect(&mut self, wanted: char, expected: &str) -> Result<(), Mistake> {
        self.skip_space();
        if self.take(wanted) { Ok(()) } else { Err(self.mistake(expected)) }
    }

    /// A name, or nothing: "".
    pub fn name(&mut self) -> &'t str {
        let rest = self.rest();
        if !rest.starts_with(begins_name) {
            return "";
        }
        let len = rest.find(|character| !is_of_name(character)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Skips white space; then a name must come.
    pub fn expect_name(&mut self, expected: &str) -> Result<&'t str, Mistake> {
        self.skip_space();
        let name = self.name();
        if name.is_empty() { Err(self.mistake(expected)) } else { Ok(name) }
    }

    /// Names with `::` between them, or nothing.
    pub fn path(&mut self) -> &'t str {
        let from = self.at;
        while !self.name().is_empty() {
            let after = self.at;
            if !self.take_text("::") || !self.peek().is_some_and(begins_name) {
                self.at = after;
                break;
            }
        }
        self.slice(from, self.at)
    }

    /// An integer: decimal, hexadecimal or octal as in C, with an optional sign; without its suffix.
    pub fn integer(&mut self) -> Result<i128, Mistake> {
        self.skip_space();
        let from = self.at;
        let is_negative = self.take('-');
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '\'').unwrap_or(rest.len());
        let digits = rest[..len].replace('\'', "");
        let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
        let (digits, radix) = match digits.get(..2) {
            Some("0x" | "0X") => (&digits[2..], 16),
            Some("0b" | "0B") => (&digits[2..], 2),
            _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
            _ => (digits, 10),
        };
        match i128::from_str_radix(digits, radix) {
            Ok(value) if !digits.starts_with(['-', '+']) && value.unsigned_abs() < 1 << 64 => {
                self.at += len;
                Ok(if is_negative { -value } else { value })
            }
            _ => Err(self.text.mistake(from, "an integer of at most 64 bits")),
        }
    }
}
