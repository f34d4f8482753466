//! Tab-separated columns whose cells are JSON: `spec/tsv-json.md`.

use std::convert::Infallible;
use std::io::{self, Write};

use silverpoint_formats::json::{JsonVisitor, Stack, push_string};
use silverpoint_formats::render::Renderer;
use silverpoint_formats::text;
use silverpoint_wire::value::{Sequence, Text, Visitor};

use crate::document;
use crate::json::{JsonParser, unexpected};
use crate::scratch::{RECORD_MAX, Scratch};
use crate::{Input, Parsed, ReadError, Reader, Record, WriteError, Writer};

/// The columns, in their order. All that a record may have stands in one of them.
const COLUMNS: [&str; 29] = [
    "time",
    "level",
    "process",
    "pid",
    "tid",
    "thread",
    "kind",
    "category",
    "file",
    "line",
    "function",
    "template",
    "signature",
    "message",
    "args",
    "context",
    "duration_ns",
    "cause",
    "count",
    "span_ns",
    "site",
    "of",
    "truncated",
    "backtrace",
    "raw",
    "names",
    "flags",
    "language",
    "ticks",
];

/// Columns of an input at most.
const COLUMNS_MAX: usize = 4096;

/// Writes a line of names, and a line a record.
pub struct TsvWriter<W> {
    out: W,
    text: String,
    cells: Cells,
    renderer: Renderer,
    message: String,
    begun: bool,
}

/// Sorts the fields of a record into columns; what is within a field is JSON.
#[derive(Default)]
struct Cells {
    json: String,
    stack: Stack,
    /// Containers that are open below the record, by their closing brackets.
    open: Vec<char>,
    begun: bool,
    column: usize,
    cells: Vec<String>,
}

impl<W: Write> TsvWriter<W> {
    /// Begins a table.
    pub fn new(out: W) -> Self {
        let cells = Cells { cells: vec![String::new(); COLUMNS.len()], ..Cells::default() };
        Self {
            out,
            text: String::new(),
            cells,
            renderer: Renderer::new(),
            message: String::new(),
            begun: false,
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.text.push_str(&COLUMNS.join("\t"));
            self.text.push('\n');
        }
    }
}

impl<W: Write> Writer for TsvWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.begin();
        self.message.clear();
        text::say(&mut self.renderer, &mut self.message, &record.what, record.thread);
        self.cells.cells.iter_mut().for_each(String::clear);
        let options = document::Options::default();
        match document::visit(record, &self.message, options, &mut self.cells) {
            Ok(()) => {}
            Err(never) => match never {},
        }
        for (at, cell) in self.cells.cells.iter().enumerate() {
            if at > 0 {
                self.text.push('\t');
            }
            self.text.push_str(cell);
        }
        self.text.push('\n');
        if self.text.len() >= 64 << 10 {
            self.out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin();
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.out.flush()
    }
}

type Done = Result<(), Infallible>;

impl Cells {
    /// A value without parts: alone in its cell, or a part of what is there.
    fn value(&mut self, visit: impl FnOnce(&mut JsonVisitor<'_>) -> Done) -> Done {
        self.separate();
        let mut visitor = JsonVisitor::new(&mut self.json, &mut self.stack);
        visit(&mut visitor)?;
        self.complete();
        Ok(())
    }

    /// A comma between elements; after the name of a field there is none.
    fn separate(&mut self) {
        if !self.open.is_empty() && !self.json.ends_with(['[', '{', ':']) {
            self.json.push(',');
        }
    }

    fn complete(&mut self) {
        if self.open.is_empty() {
            std::mem::swap(&mut self.cells[self.column], &mut self.json);
            self.json.clear();
        }
    }

    fn begin(&mut self, opening: char, closing: char) -> Done {
        self.separate();
        self.json.push(opening);
        self.open.push(closing);
        Ok(())
    }
}

macro_rules! values {
    ($($name:ident($($arg:ident: $type:ty),*)),*) => {
        $(fn $name(&mut self, $($arg: $type),*) -> Done { self.value(|json| json.$name($($arg),*)) })*
    };
}

impl Visitor for Cells {
    type Error = Infallible;

    values!(
        null(),
        bool(value: bool),
        i64(value: i64),
        u64(value: u64),
        i128(value: i128),
        u128(value: u128),
        f32(value: f32),
        f64(value: f64),
        char(value: char),
        pointer(value: u64),
        text(text: Text<'_>, missing: u32),
        bytes(bytes: &[u8], missing: u32),
        uuid(uuid: [u8; 16]),
        time(unix_ns: i64),
        duration(ns: i64),
        any(cbor: &[u8]),
        none(),
        enumeration(name: &str, label: Option<&str>, value: i64)
    );

    fn begin_sequence(&mut self, _kind: Sequence, _len: u32, _missing: u32) -> Done {
        self.begin('[', ']')
    }

    fn begin_map(&mut self, _len: u32) -> Done {
        self.begin('[', ']')
    }

    fn begin_record(&mut self, _name: &str, _fields: usize) -> Done {
        // The first one is the record itself: its fields are the columns.
        if !std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        self.begin('{', '}')
    }

    fn field(&mut self, name: &str) -> Done {
        if self.open.is_empty() {
            self.column = COLUMNS.iter().position(|column| *column == name).unwrap_or(0);
            return Ok(());
        }
        self.separate();
        push_string(&mut self.json, name);
        self.json.push(':');
        Ok(())
    }

    fn end(&mut self) -> Done {
        match self.open.pop() {
            Some(bracket) => {
                self.json.push(bracket);
                self.complete();
            }
            None => self.begun = false,
        }
        Ok(())
    }
}

/// Reads a table. Columns may stand in any order; an empty cell is a field that is missing.
pub struct TsvReader {
    input: Input,
    parser: JsonParser,
    scratch: Scratch,
    parsed: Parsed,
    columns: Option<Vec<String>>,
    separator: u8,
    cell: Vec<u8>,
    ended: bool,
}

impl TsvReader {
    /// Of the input of this number.
    pub fn new(input: Input, number: u32) -> Self {
        Self {
            input,
            parser: JsonParser::default(),
            scratch: Scratch::default(),
            parsed: Parsed::new(number),
            columns: None,
            separator: b'\t',
            cell: Vec::new(),
            ended: false,
        }
    }

    /// Takes a cell over as it stands; its end stays.
    fn cell(&mut self) -> Result<&str, ReadError> {
        let place = self.input.place();
        self.cell.clear();
        while let Some(byte) = self.input.peek()? {
            if byte == self.separator || byte == b'\n' {
                break;
            }
            self.cell.push(byte);
            self.input.bump();
            if self.cell.len() > RECORD_MAX {
                return Err(ReadError::new(place, "a cell of more than 64 MiB", "its end"));
            }
        }
        let cell = self.cell.strip_suffix(b"\r").unwrap_or(&self.cell);
        std::str::from_utf8(cell).map_err(|_| ReadError::new(place, "a cell that is not UTF-8", "UTF-8"))
    }

    fn header(&mut self) -> Result<Vec<String>, ReadError> {
        let mut columns = Vec::new();
        loop {
            columns.push(self.cell()?.to_owned());
            let place = self.input.place();
            if columns.len() > COLUMNS_MAX {
                return Err(ReadError::new(place, "more than 4096 columns", "fewer"));
            }
            if self.input.take()? != Some(self.separator) {
                return Ok(columns);
            }
        }
    }

    /// A line as a map of the cells that are not empty.
    fn line(&mut self, columns: &[String]) -> Result<(), ReadError> {
        self.scratch.begin_map();
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                let place = self.input.place();
                match self.input.peek()? {
                    Some(byte) if byte == self.separator => self.input.bump(),
                    _ => {
                        let found = format!("{at} cells");
                        let expected = format!("as many as there are columns: {}", columns.len());
                        return Err(ReadError::new(place, found, &expected));
                    }
                }
            }
            match self.input.peek()? {
                None | Some(b'\n' | b'\r') => continue,
                Some(byte) if byte == self.separator => continue,
                Some(byte) => {
                    self.scratch.text(column);
                    let within = |mut error: ReadError| {
                        error.path.insert_str(0, &format!(".{column}"));
                        error
                    };
                    let is_json =
                        matches!(byte, b'"' | b'[' | b'{' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
                    if is_json {
                        self.parser.value(&mut self.input, &mut self.scratch).map_err(within)?;
                    } else {
                        return Err(within(unexpected(&mut self.input, "a value in JSON")));
                    }
                }
            }
        }
        self.scratch.end();
        if self.input.peek()? == Some(b'\r') {
            self.input.bump();
        }
        match self.input.peek()? {
            None | Some(b'\n') => Ok(()),
            _ => Err(unexpected(&mut self.input, "the end of the line")),
        }
    }
}

impl Reader for TsvReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        if self.ended {
            return Ok(false);
        }
        let columns = match self.columns.take() {
            Some(columns) => columns,
            None => match self.header() {
                Ok(columns) => columns,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            },
        };
        while matches!(self.input.peek()?, Some(b'\n' | b'\r')) {
            self.input.bump();
        }
        if self.input.peek()?.is_none() {
            self.ended = true;
            return Ok(false);
        }
        self.scratch.clear();
        let line = self.input.place().line;
        let read = self.line(&columns);
        self.columns = Some(columns);
        if let Err(mut error) = read {
            error.path.insert_str(0, &format!("[{}]", self.parsed.count()));
            self.parsed.pass_over();
            if error.io.is_some() {
                self.ended = true;
                return Err(error);
            }
            if self.input.place().line == line {
                self.input.skip_line()?;
            }
            return Err(error.passable());
        }
        self.parsed.accept(&self.scratch)?;
        Ok(true)
    }

    fn record(&self) -> Option<Record<'_>> {
        self.parsed.record()
    }

    fn position(&self) -> u64 {
        self.input.offset()
    }
}
