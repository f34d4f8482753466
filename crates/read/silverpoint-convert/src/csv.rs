//! Comma-separated values after RFC 4180: `docs/formats.md` says what stands in which cell. A table of another program gives records, too.
//!
//! Why not csv-core: it does not say whether a cell was quoted. An empty text and a missing value would be the same. It accepts `"a"b`
//! without an error.

use std::io::{self, Write};
use std::mem::take;

use silverpoint_render::{Renderer, text};

use crate::cells::{COLUMNS, COLUMNS_MAX, Cells};
use crate::document;
use crate::foreign::is_time;
use crate::json::{JsonParser, put_number, skip_mark, unexpected};
use crate::scratch::{RECORD_MAX, Scratch};
use crate::waiting::Waiting;
use crate::{Input, Parsed, Place, ReadError, Reader, Record, WriteError, Writer};

/// Writes a row of names, and a row a record.
pub struct CsvWriter<W> {
    out: W,
    text: String,
    cells: Cells,
    renderer: Renderer,
    message: String,
    begun: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Begins a table.
    pub fn new(out: W) -> Self {
        Self {
            out,
            text: String::new(),
            cells: Cells::new(true),
            renderer: Renderer::new(),
            message: String::new(),
            begun: false,
        }
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.text.push_str(&COLUMNS.join(","));
            self.text.push_str("\r\n");
        }
    }
}

/// An empty text is quoted, to distinguish it from a field that the record does not have.
fn push_cell(out: &mut String, cell: &str) {
    if !cell.is_empty() && !cell.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        out.push_str(cell);
        return;
    }
    out.push('"');
    for (at, part) in cell.split('"').enumerate() {
        if at > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
}

impl<W: Write> Writer for CsvWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        self.begin();
        self.message.clear();
        text::say(&mut self.renderer, &mut self.message, &record.what, record.thread);
        self.cells.clear();
        match document::visit(record, &self.message, document::Options::default(), &mut self.cells) {
            Ok(()) => {}
            Err(never) => match never {},
        }
        for (at, cell) in self.cells.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            if let Some(cell) = cell {
                push_cell(&mut self.text, cell);
            }
        }
        self.text.push_str("\r\n");
        Ok(self.text.relieve(&mut self.out)?)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin();
        self.text.end(&mut self.out)
    }
}

/// One cell of the row that was read.
#[derive(Clone, Debug)]
struct Cell {
    /// Of its text, in the text of the row.
    begin: usize,
    end: usize,
    /// Where its text begins: behind the quote if there is one.
    place: Place,
    is_quoted: bool,
}

/// The row that was read, without its quotes.
#[derive(Debug, Default)]
struct Row {
    text: Vec<u8>,
    cells: Vec<Cell>,
    /// Where in the text a quote stands that was written twice.
    doubled: Vec<usize>,
}

impl Row {
    /// Reads to the end of the row, which is passed over.
    fn read(&mut self, input: &mut Input) -> Result<(), ReadError> {
        self.text.clear();
        self.cells.clear();
        self.doubled.clear();
        loop {
            let is_quoted = input.peek()? == Some(b'"');
            if is_quoted {
                input.bump();
            }
            let place = input.place();
            if self.cells.len() == COLUMNS_MAX {
                return Err(ReadError::new(place, "more than 4096 cells in a row", "fewer"));
            }
            let begin = self.text.len();
            self.cells.push(Cell { begin, end: begin, place, is_quoted });
            if is_quoted {
                self.quoted(input)?;
            } else {
                self.plain(input)?;
            }
            let end = self.text.len();
            if let Some(cell) = self.cells.last_mut() {
                cell.end = end;
            }
            match input.peek()? {
                Some(b',') => input.bump(),
                Some(b'\n') => {
                    input.bump();
                    return Ok(());
                }
                Some(b'\r') => {
                    input.bump();
                    if input.peek()? == Some(b'\n') {
                        input.bump();
                    }
                    return Ok(());
                }
                None => return Ok(()),
                Some(_) => {
                    return Err(unexpected(input, "a comma or the end of the row behind the closing quote"));
                }
            }
        }
    }

    /// Up to the comma or the line break. A quote within stands for itself.
    fn plain(&mut self, input: &mut Input) -> Result<(), ReadError> {
        loop {
            self.text.extend_from_slice(input.run(|byte| matches!(byte, b',' | b'\r')));
            match input.peek()? {
                None | Some(b',' | b'\n' | b'\r') => return Ok(()),
                // The next chunk goes on with it.
                Some(_) => self.is_bounded(input)?,
            }
        }
    }

    /// Up to the closing quote, which is passed over.
    fn quoted(&mut self, input: &mut Input) -> Result<(), ReadError> {
        loop {
            self.text.extend_from_slice(input.run(|byte| byte == b'"'));
            match input.peek()? {
                None => return Err(unexpected(input, "the quote that closes the cell")),
                Some(b'"') => {
                    input.bump();
                    if input.peek()? != Some(b'"') {
                        return Ok(());
                    }
                    self.doubled.push(self.text.len());
                    self.text.push(b'"');
                    input.bump();
                }
                Some(b'\n') => {
                    self.text.push(b'\n');
                    input.bump();
                }
                Some(_) => {}
            }
            self.is_bounded(input)?;
        }
    }

    fn is_bounded(&mut self, input: &Input) -> Result<(), ReadError> {
        // A vector doubles: a long one would have twice the room that any record may need.
        if self.text.len() > RECORD_MAX / 2 {
            self.text.reserve_exact((RECORD_MAX + (1 << 20)).saturating_sub(self.text.len()));
        }
        if self.text.len() <= RECORD_MAX {
            return Ok(());
        }
        Err(ReadError::new(input.place(), "a record of more than 64 MiB", "its end"))
    }

    fn cell(&self, at: usize) -> Result<(&Cell, &str), ReadError> {
        let cell = &self.cells[at];
        match std::str::from_utf8(&self.text[cell.begin..cell.end]) {
            Ok(text) => Ok((cell, text)),
            Err(error) => {
                let before = &self.text[cell.begin..cell.begin + error.valid_up_to()];
                let mut place = cell.place.clone();
                place.offset += before.len() as u64;
                place.column += before.len() as u64;
                if let Some(last) = before.iter().rposition(|byte| *byte == b'\n') {
                    place.line += before.iter().filter(|byte| **byte == b'\n').count() as u64;
                    place.column = (before.len() - last) as u64;
                }
                self.restore(cell, &mut place);
                let found = format!("the byte 0x{:02x}", self.text[cell.begin + before.len()]);
                Err(ReadError::new(place, found, "UTF-8"))
            }
        }
    }

    /// The place in the input of one in the text of a cell: quotes before it stood there twice.
    fn restore(&self, cell: &Cell, place: &mut Place) {
        let at = cell.begin + place.offset.saturating_sub(cell.place.offset) as usize;
        let line_at = if place.line == cell.place.line {
            cell.begin
        } else {
            at.saturating_sub(place.column.saturating_sub(1) as usize)
        };
        let before = |at: usize| self.doubled.partition_point(|doubled| *doubled < at);
        let within = before(at) - before(cell.begin);
        place.offset += within as u64;
        place.column += (before(at) - before(line_at)) as u64;
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// Text, digits or not.
    Text,
    /// Containers as JSON.
    Json,
    /// A number, true or false, or else text.
    Value,
    /// The cause of a loss: a name, or the number of one without.
    Cause,
}

/// Reads a table. Columns may stand in any order; an empty cell is a field that is missing.
pub struct CsvReader {
    input: Input,
    /// Text of one cell that is JSON.
    within: Input,
    parser: JsonParser,
    scratch: Scratch,
    parsed: Parsed,
    row: Row,
    columns: Option<Vec<(String, Column)>>,
    /// The table is one of ours: its columns have the meaning that `document` gives them.
    is_own: bool,
    ended: bool,
}

impl CsvReader {
    /// Of the input of this number.
    pub fn new(input: Input, number: u32) -> Self {
        Self {
            input,
            within: Input::new(Box::new(io::empty())),
            parser: JsonParser::default(),
            scratch: Scratch::default(),
            parsed: Parsed::new(number),
            row: Row::default(),
            columns: None,
            is_own: false,
            ended: false,
        }
    }

    fn header(&mut self) -> Result<Vec<(String, Column)>, ReadError> {
        skip_mark(&mut self.input)?;
        self.row.read(&mut self.input)?;
        let mut names = Vec::new();
        for at in 0..self.row.cells.len() {
            let (cell, name) = self.row.cell(at)?;
            if names.iter().any(|known| known == name) && !name.is_empty() {
                let found = format!("the column {} for the second time", quoted(name));
                return Err(ReadError::new(cell.place.clone(), found, "different names"));
            }
            names.push(name.to_owned());
        }
        let has = |name: &str| names.iter().any(|known| known == name);
        self.is_own = has("kind") && (has("template") || has("args") || has("signature"));
        if !self.is_own && !names.iter().any(|name| is_time(name)) {
            let (cell, first) = self.row.cell(0)?;
            let found = format!("a first row without the column `time` (it begins with {})", quoted(first));
            return Err(ReadError::new(
                cell.place.clone(),
                found,
                "`time`, `timestamp`, `@timestamp`, `ts` or another name of docs/formats.md",
            ));
        }
        let sort = if self.is_own { own } else { foreign };
        Ok(names.into_iter().map(|name| (sort(&name), name)).map(|(column, name)| (name, column)).collect())
    }

    /// The row as a map of the cells that are not missing.
    fn own_row(&mut self, columns: &[(String, Column)]) -> Result<(), ReadError> {
        self.scratch.begin_map();
        for (at, (name, column)) in columns.iter().enumerate() {
            let (cell, text) = self.row.cell(at)?;
            if text.is_empty() && !cell.is_quoted {
                continue;
            }
            self.scratch.text(name);
            self.scratch.place(cell.place.clone());
            match column {
                Column::Json => self.json(at, name)?,
                Column::Value => value(text, &mut self.scratch),
                Column::Cause if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                    value(text, &mut self.scratch);
                }
                _ => self.scratch.text(text),
            }
        }
        self.scratch.end();
        Ok(())
    }

    /// Puts the JSON of a cell.
    fn json(&mut self, at: usize, name: &str) -> Result<(), ReadError> {
        let cell = &self.row.cells[at];
        self.within.restart(&self.row.text[cell.begin..cell.end], &cell.place);
        let from = self.scratch.places();
        let parsed = self.parser.value(&mut self.within, &mut self.scratch).and_then(|()| {
            crate::json::skip_space(&mut self.within)?;
            match self.within.peek()? {
                None => Ok(()),
                Some(_) => Err(unexpected(&mut self.within, "the end of the cell")),
            }
        });
        for place in self.scratch.places_from(from) {
            self.row.restore(cell, place);
        }
        parsed.map_err(|mut error| {
            self.row.restore(cell, &mut error.place);
            if error.found == crate::json::END {
                error.found = "the end of the cell".into();
            }
            error.path.insert_str(0, &format!(".{name}"));
            error
        })
    }

    /// A row of another program as a map of the cells that hold something: their names say what they are (`foreign`).
    fn foreign_row(&mut self, columns: &[(String, Column)]) -> Result<(), ReadError> {
        self.scratch.begin_map();
        for (at, (name, column)) in columns.iter().enumerate() {
            let (cell, text) = self.row.cell(at)?;
            if text.is_empty() {
                continue;
            }
            self.scratch.text(name);
            self.scratch.place(cell.place.clone());
            match column {
                Column::Text => self.scratch.text(text),
                _ => value(text, &mut self.scratch),
            }
        }
        self.scratch.end();
        Ok(())
    }
}

/// The beginning of a text, for messages.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{:?}…", &text[..at]),
        None => format!("{text:?}"),
    }
}

/// A number, a truth value, or text.
fn value(text: &str, scratch: &mut Scratch) {
    match text {
        "true" => scratch.bool(true),
        "false" => scratch.bool(false),
        _ if text.len() <= 4096 && put_number(text, scratch) => {}
        _ => scratch.text(text),
    }
}

/// What a column of ours holds.
fn own(name: &str) -> Column {
    match name {
        "time" | "level" | "process" | "thread" | "kind" | "category" | "file" | "function" | "template"
        | "signature" | "message" | "context" | "of" | "raw" | "names" => Column::Text,
        "args" => Column::Json,
        "cause" => Column::Cause,
        _ => Column::Value,
    }
}

/// The contents of a column of another program; a text column stays text, even if it is made of digits.
fn foreign(name: &str) -> Column {
    match name {
        "message" | "msg" | "process" | "thread" | "category" | "file" | "function" => Column::Text,
        _ => Column::Value,
    }
}

impl Reader for CsvReader {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.parsed.clear();
        if self.ended {
            return Ok(false);
        }
        let columns = match self.columns.take() {
            Some(columns) => columns,
            None if self.input.peek()?.is_none() => {
                self.ended = true;
                return Ok(false);
            }
            None => self.header().inspect_err(|_| self.ended = true)?,
        };
        while matches!(self.input.peek()?, Some(b'\n' | b'\r')) {
            self.input.bump();
        }
        if self.input.peek()?.is_none() {
            self.ended = true;
            return Ok(false);
        }
        self.scratch.clear();
        let mut row = take(&mut self.row);
        let read = row.read(&mut self.input);
        self.row = row;
        let is_read = read.is_ok();
        let taken = read.and_then(|()| {
            let count = self.row.cells.len();
            if count != columns.len() {
                let expected = format!("as many as there are columns: {}", columns.len());
                let place = self.row.cells[count.min(columns.len()) - 1].place.clone();
                return Err(ReadError::new(place, format!("{count} cells"), &expected));
            }
            if self.is_own { self.own_row(&columns) } else { self.foreign_row(&columns) }
        });
        self.columns = Some(columns);
        if let Err(mut error) = taken {
            error.path.insert_str(0, &format!("[{}]", self.parsed.count()));
            self.parsed.pass_over();
            if error.io.is_some() {
                self.ended = true;
                return Err(error);
            }
            if !is_read {
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
