//! Bytes of an input, with offset, line and column.

use std::io::Read;

use crate::{Place, ReadError};

const CHUNK: usize = 128 << 10;

/// How far a text that grows has been found to be UTF-8: then an error says which byte is not.
#[derive(Clone, Copy, Default)]
pub(crate) struct Utf8 {
    good: usize,
}

impl Utf8 {
    /// Looks at what was added to the text, whose last byte was passed last. `is_end`: a character must not go on behind it.
    pub(crate) fn grown(&mut self, text: &[u8], input: &Input, is_end: bool) -> Result<(), ReadError> {
        let Err(error) = std::str::from_utf8(&text[self.good..]) else {
            self.good = text.len();
            return Ok(());
        };
        self.good += error.valid_up_to();
        if error.error_len().is_none() && !is_end {
            return Ok(());
        }
        let place = input.place_before(text.len() - self.good);
        Err(ReadError::new(place, format!("the byte 0x{:02x}", text[self.good]), "UTF-8"))
    }

    /// A character was added that did not stand in the input as it is.
    pub(crate) fn put(&mut self, text: &[u8]) {
        self.good = text.len();
    }
}

/// Reads bytes one after the other, and knows where it stands. Memory is one chunk.
pub struct Input {
    source: Box<dyn Read>,
    chunk: Vec<u8>,
    at: usize,
    /// Offset of the chunk in the input.
    base: u64,
    line: u64,
    /// Offset at which the line begins.
    line_at: u64,
    ended: bool,
}

impl Input {
    /// From the start.
    pub fn new(source: Box<dyn Read>) -> Self {
        Self { source, chunk: Vec::new(), at: 0, base: 0, line: 1, line_at: 0, ended: false }
    }

    /// Goes to the start of some bytes that stand at this place of another input, and ends with them. Keeps the room.
    pub(crate) fn restart(&mut self, bytes: &[u8], place: &Place) {
        self.chunk.clear();
        self.chunk.extend_from_slice(bytes);
        self.at = 0;
        self.base = place.offset;
        self.line = place.line;
        self.line_at = place.offset.saturating_sub(place.column.saturating_sub(1));
        self.ended = true;
    }

    /// Where the next byte stands.
    pub fn place(&self) -> Place {
        let offset = self.offset();
        Place { offset, line: self.line, column: offset - self.line_at + 1 }
    }

    /// Bytes before the next one.
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    #[cold]
    fn fill(&mut self) -> Result<(), ReadError> {
        if self.ended {
            return Ok(());
        }
        self.base += self.chunk.len() as u64;
        self.at = 0;
        self.chunk.resize(CHUNK, 0);
        let read = loop {
            match self.source.read(&mut self.chunk) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        match read {
            Ok(len) => {
                self.chunk.truncate(len);
                self.ended = len == 0;
                Ok(())
            }
            Err(error) => {
                self.chunk.clear();
                self.ended = true;
                Err(ReadError::of_io(self.place(), error))
            }
        }
    }

    /// The next byte, which stays; `None` at the end.
    ///
    /// # Errors
    /// Those of reading.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        if self.at == self.chunk.len() {
            self.fill()?;
        }
        Ok(self.chunk.get(self.at).copied())
    }

    /// Passes over the byte that was peeked.
    #[inline]
    pub fn bump(&mut self) {
        if self.chunk.get(self.at) == Some(&b'\n') {
            self.line += 1;
            self.line_at = self.offset() + 1;
        }
        if self.at < self.chunk.len() {
            self.at += 1;
        }
    }

    /// Takes the next byte; `None` at the end.
    ///
    /// # Errors
    /// Those of reading.
    #[inline]
    pub fn take(&mut self) -> Result<Option<u8>, ReadError> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.bump();
        }
        Ok(byte)
    }

    /// Where a byte stands that was passed this many bytes ago, in the same line.
    pub(crate) fn place_before(&self, bytes: usize) -> Place {
        let mut place = self.place();
        place.offset = place.offset.saturating_sub(bytes as u64);
        place.column = place.column.saturating_sub(bytes as u64);
        place
    }

    /// What is at hand, from the next byte on.
    #[inline]
    pub(crate) fn at_hand(&self) -> &[u8] {
        &self.chunk[self.at..]
    }

    /// What has been read since an offset, if it is still at hand.
    pub(crate) fn since(&self, offset: u64) -> Option<&[u8]> {
        self.chunk.get(usize::try_from(offset.checked_sub(self.base)?).ok()?..self.at)
    }

    /// Passes over bytes at hand among which no line ends.
    #[inline]
    pub(crate) fn pass(&mut self, len: usize) {
        self.at = (self.at + len).min(self.chunk.len());
    }

    /// What is at hand before the next line break, quote or backslash: a run that needs no looking at. May be empty.
    pub(crate) fn run(&mut self, stops: impl Fn(u8) -> bool) -> &[u8] {
        let rest = &self.chunk[self.at..];
        let len = rest.iter().position(|byte| *byte == b'\n' || stops(*byte)).unwrap_or(rest.len());
        self.at += len;
        &self.chunk[self.at - len..self.at]
    }

    /// Passes over the rest of the line, its end included.
    ///
    /// # Errors
    /// Those of reading.
    pub fn skip_line(&mut self) -> Result<(), ReadError> {
        while self.take()?.is_some_and(|byte| byte != b'\n') {}
        Ok(())
    }
}
