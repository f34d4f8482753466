//! A sequence of CBOR items (RFC 8742), one a record: `spec/cbor.md`.

use std::convert::Infallible;
use std::io::{self, Write};

use silverpoint_render::time::TimeText;
use silverpoint_trace::cbor::check;
use silverpoint_wire::cbor::{push_head, push_i128, push_u128};
use silverpoint_wire::value::{Sequence, Text, Visitor};

use crate::document;
use crate::fast::Cbor;
use crate::heads::{Heads, SitePieces, argument, is_rest, plain};
use crate::scratch::{NESTING_MAX, RECORD_MAX, Scratch};
use crate::waiting::Waiting;
use crate::{Input, Parsed, ReadError, Reader, Record, WriteError, Writer};

/// Appends values as CBOR: date-times with tag 0, UUIDs with tag 37, integers beyond 64 bits as bignums. Records have indefinite length.
pub struct CborVisitor<'o> {
    out: &'o mut Vec<u8>,
    open: &'o mut Vec<bool>,
    time: &'o mut TimeText,
    text: &'o mut String,
}

type Done = Result<(), Infallible>;

impl CborVisitor<'_> {
    fn put_text(&mut self, text: &str) -> Done {
        push_head(self.out, 3, text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl Visitor for CborVisitor<'_> {
    type Error = Infallible;

    fn null(&mut self) -> Done {
        self.out.push(0xF6);
        Ok(())
    }

    fn bool(&mut self, value: bool) -> Done {
        self.out.push(if value { 0xF5 } else { 0xF4 });
        Ok(())
    }

    fn i64(&mut self, value: i64) -> Done {
        if value >= 0 {
            push_head(self.out, 0, value as u64)
        } else {
            push_head(self.out, 1, !value as u64)
        }
        Ok(())
    }

    fn u64(&mut self, value: u64) -> Done {
        push_head(self.out, 0, value);
        Ok(())
    }

    fn i128(&mut self, value: i128) -> Done {
        push_i128(self.out, value);
        Ok(())
    }

    fn u128(&mut self, value: u128) -> Done {
        push_u128(self.out, value);
        Ok(())
    }

    fn f32(&mut self, value: f32) -> Done {
        self.out.push(0xFA);
        self.out.extend_from_slice(&value.to_be_bytes());
        Ok(())
    }

    fn f64(&mut self, value: f64) -> Done {
        self.out.push(0xFB);
        self.out.extend_from_slice(&value.to_be_bytes());
        Ok(())
    }

    fn char(&mut self, value: char) -> Done {
        self.put_text(value.encode_utf8(&mut [0; 4]))
    }

    fn pointer(&mut self, value: u64) -> Done {
        self.u64(value)
    }

    fn text(&mut self, text: Text<'_>, _missing: u32) -> Done {
        self.put_text(&text.to_string_lossy())
    }

    fn bytes(&mut self, bytes: &[u8], _missing: u32) -> Done {
        push_head(self.out, 2, bytes.len() as u64);
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn uuid(&mut self, uuid: [u8; 16]) -> Done {
        push_head(self.out, 6, 37);
        self.bytes(&uuid, 0)
    }

    fn time(&mut self, unix_ns: i64) -> Done {
        self.text.clear();
        self.time.push(self.text, unix_ns);
        self.out.push(0xC0);
        push_head(self.out, 3, self.text.len() as u64);
        self.out.extend_from_slice(self.text.as_bytes());
        Ok(())
    }

    fn duration(&mut self, ns: i64) -> Done {
        self.i64(ns)
    }

    fn any(&mut self, cbor: &[u8]) -> Done {
        if check(cbor).is_ok() {
            self.out.extend_from_slice(cbor);
            return Ok(());
        }
        self.bytes(cbor, 0)
    }

    fn none(&mut self) -> Done {
        self.null()
    }

    fn begin_sequence(&mut self, _kind: Sequence, len: u32, _missing: u32) -> Done {
        push_head(self.out, 4, len.into());
        self.open.push(false);
        Ok(())
    }

    fn begin_map(&mut self, len: u32) -> Done {
        push_head(self.out, 5, len.into());
        self.open.push(false);
        Ok(())
    }

    fn begin_record(&mut self, _name: &str, _fields: usize) -> Done {
        self.out.push(0xBF);
        self.open.push(true);
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        self.put_text(name)
    }

    fn end(&mut self) -> Done {
        if self.open.pop() == Some(true) {
            self.out.push(0xFF);
        }
        Ok(())
    }

    fn enumeration(&mut self, _name: &str, _label: Option<&str>, value: i64) -> Done {
        self.i64(value)
    }
}

/// Writes one item a record.
pub struct CborWriter<W> {
    out: W,
    bytes: Vec<u8>,
    open: Vec<bool>,
    time: TimeText,
    text: String,
    heads: Heads<Vec<u8>>,
}

impl<W: Write> CborWriter<W> {
    /// Begins a sequence.
    pub fn new(out: W) -> Self {
        Self {
            out,
            bytes: Vec::new(),
            open: Vec::new(),
            time: TimeText::rfc3339_utc(),
            text: String::new(),
            heads: Heads::default(),
        }
    }

    /// The output so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// A record of known pieces; `None` and something unfinished where it is none.
    fn pieces(&mut self, record: &Record<'_>) -> Option<()> {
        let (site, number, args) = plain(record)?;
        let mut visitor = CborVisitor {
            out: &mut self.bytes,
            open: &mut self.open,
            time: &mut self.time,
            text: &mut self.text,
        };
        visitor.out.extend_from_slice(b"\xBF\x64time");
        let Ok(()) = visitor.time(record.wall_ns);
        if let Some(ticks) = record.ticks {
            visitor.out.extend_from_slice(b"\x65ticks");
            push_head(visitor.out, 0, ticks);
        }
        visitor
            .out
            .extend_from_slice(self.heads.who(record, || members(|visitor| document::who(record, visitor))));
        let pieces = self.heads.site(number, || {
            let place = members(|visitor| document::site(site, visitor));
            SitePieces::new::<Cbor>(site, place, |piece| piece)
        });
        visitor.out.extend_from_slice(&pieces.place);
        let mut at = 0;
        for (ty, before) in site.types.iter().zip(&pieces.before) {
            visitor.out.extend_from_slice(before);
            at = argument(ty, args, at, &mut visitor)?;
        }
        visitor.out.extend_from_slice(&pieces.after);
        visitor.out.push(0xFF);
        is_rest(args, at).then_some(())
    }

    fn whole(&mut self, record: &Record<'_>) {
        self.open.clear();
        let mut visitor = CborVisitor {
            out: &mut self.bytes,
            open: &mut self.open,
            time: &mut self.time,
            text: &mut self.text,
        };
        match document::visit(record, "", document::Options { embeds_cbor: true }, &mut visitor) {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }
}

/// Members of a map.
fn members(visit: impl FnOnce(&mut CborVisitor<'_>) -> Done) -> Vec<u8> {
    let (mut out, mut open, mut time, mut text) =
        (Vec::new(), Vec::new(), TimeText::rfc3339_utc(), String::new());
    let Ok(()) = visit(&mut CborVisitor { out: &mut out, open: &mut open, time: &mut time, text: &mut text });
    out
}

impl<W: Write> Writer for CborWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let begin = self.bytes.len();
        if self.pieces(record).is_none() {
            self.bytes.truncate(begin);
            self.whole(record);
        }
        Ok(self.bytes.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.bytes.end(&mut self.out)
    }
}

/// Reads a sequence.
pub struct CborReader {
    input: Input,
    scratch: Scratch,
    item: Vec<u8>,
    parsed: Parsed,
    ended: bool,
}

impl CborReader {
    /// Of the input of this number.
    pub fn new(input: Input, number: u32) -> Self {
        Self {
            input,
            scratch: Scratch::default(),
            item: Vec::new(),
            parsed: Parsed::new(number),
            ended: false,
        }
    }

    /// Takes a byte over.
    fn byte(&mut self) -> Result<u8, ReadError> {
        let place = self.place();
        match self.input.take()? {
            Some(byte) => {
                self.item.push(byte);
                Ok(byte)
            }
            None => Err(ReadError::new(place, "the end of the input", "the rest of an item")),
        }
    }

    fn place(&self) -> crate::Place {
        crate::Place { offset: self.input.offset(), line: 0, column: 0 }
    }

    /// Takes an item over; true when it was the mark of an end. Lengths are believed only as far as bytes come.
    fn item(&mut self, depth: usize, may_end: bool) -> Result<bool, ReadError> {
        let place = self.place();
        if depth > NESTING_MAX {
            return Err(ReadError::new(place, "items nested deeper than 128", "fewer levels"));
        }
        if self.item.len() > RECORD_MAX {
            return Err(ReadError::new(place, "a record of more than 64 MiB", "its end"));
        }
        self.scratch_place(place.clone());
        let first = self.byte()?;
        let (major, info) = (first >> 5, first & 31);
        let wrong =
            |expected: &str| Err(ReadError::new(place.clone(), format!("the byte 0x{first:02x}"), expected));
        let number = match info {
            0..24 => u64::from(info),
            24..28 => {
                let mut number = 0;
                for _ in 0..1 << (info - 24) {
                    number = number << 8 | u64::from(self.byte()?);
                }
                number
            }
            31 => match major {
                4 | 5 => {
                    let mut seen = 0_u64;
                    while !self.within(depth, seen, true)? {
                        seen += 1;
                    }
                    if major == 5 && seen % 2 == 1 {
                        return wrong("a value for each key");
                    }
                    return Ok(false);
                }
                7 if may_end => return Ok(true),
                7 => return wrong("an item, and no end of a container"),
                _ => return wrong("text or bytes whose length stands before them"),
            },
            _ => return wrong("an item of CBOR"),
        };
        match major {
            2 | 3 => {
                for _ in 0..number {
                    if self.item.len() > RECORD_MAX {
                        return Err(ReadError::new(place, "a record of more than 64 MiB", "its end"));
                    }
                    self.byte()?;
                }
                let text = &self.item[self.item.len() - number as usize..];
                if major == 3
                    && let Err(error) = std::str::from_utf8(text)
                {
                    let bad = error.valid_up_to();
                    let found = format!("the byte 0x{:02x}", text[bad]);
                    let offset = self.input.offset() - (number - bad as u64);
                    return Err(ReadError::new(crate::Place { offset, ..place }, found, "UTF-8"));
                }
            }
            4 | 5 => {
                let count = number.saturating_mul(if major == 5 { 2 } else { 1 });
                for at in 0..count {
                    self.within(depth, at, false)?;
                }
            }
            6 => {
                self.item(depth + 1, false)?;
            }
            7 if info == 24 && number < 32 => return wrong("an item of CBOR"),
            _ => {}
        }
        Ok(false)
    }

    fn within(&mut self, depth: usize, at: u64, may_end: bool) -> Result<bool, ReadError> {
        self.item(depth + 1, may_end).map_err(|mut error| {
            error.path.insert_str(0, &format!("[{at}]"));
            error
        })
    }

    fn scratch_place(&mut self, place: crate::Place) {
        self.scratch.place_at(self.item.len(), place);
    }
}

impl Reader for CborReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        if self.ended || self.input.peek()?.is_none() {
            return Ok(false);
        }
        if self.parsed.read_known::<Cbor>(&mut self.input) {
            return Ok(true);
        }
        let from = self.input.offset();
        self.scratch.clear();
        self.item.clear();
        if let Err(mut error) = self.item(0, false) {
            self.ended = true;
            error.path.insert_str(0, &format!("[{}]", self.parsed.count()));
            return Err(error);
        }
        self.scratch.item(&self.item);
        self.parsed.accept(&self.scratch)?;
        self.parsed.learn::<Cbor>(&self.input, from);
        Ok(true)
    }

    fn record(&self) -> Option<Record<'_>> {
        self.parsed.record()
    }

    fn position(&self) -> u64 {
        self.input.offset()
    }
}
