//! A record as the cells of a table: what the writers of tables share.

use std::convert::Infallible;

use silverpoint_render::json::{JsonVisitor, Stack, push_string};
use silverpoint_wire::value::{Sequence, Text, Visitor};

/// The columns, in their order. All that a record may have stands in one of them.
pub(crate) const COLUMNS: [&str; 29] = [
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
pub(crate) const COLUMNS_MAX: usize = 4096;

/// Sorts the fields of a record into columns; what is within a field is JSON.
#[derive(Default)]
pub(crate) struct Cells {
    json: String,
    stack: Stack,
    /// Containers that are open below the record, by their closing brackets.
    open: Vec<char>,
    begun: bool,
    column: usize,
    cells: Vec<String>,
    /// Which of the cells the record has, a bit each.
    present: u32,
    /// Text, numbers and the like stand in their cells as they are; else everything is JSON.
    is_plain: bool,
}

type Done = Result<(), Infallible>;

impl Cells {
    /// For tables whose cells are JSON, or, where they have no parts, plain.
    pub(crate) fn new(is_plain: bool) -> Self {
        Self { cells: vec![String::new(); COLUMNS.len()], is_plain, ..Self::default() }
    }

    /// Forgets the record.
    pub(crate) fn clear(&mut self) {
        self.cells.iter_mut().for_each(String::clear);
        self.present = 0;
    }

    /// All of them in the order of the columns; none where the record has none.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let cells = self.cells.iter().enumerate();
        cells.map(|(at, cell)| (self.present & 1 << at != 0).then_some(cell.as_str()))
    }

    /// A value without parts: alone in its cell, or a part of what is there.
    fn value(&mut self, visit: impl FnOnce(&mut JsonVisitor<'_>) -> Done) -> Done {
        self.separate();
        let mut visitor = JsonVisitor::new(&mut self.json, &mut self.stack);
        visit(&mut visitor)?;
        // Date-times and bytes: digits and signs in quotes.
        if self.is_plain && self.open.is_empty() && self.json.starts_with('"') {
            self.json.pop();
            self.json.remove(0);
        }
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
            self.present |= 1 << self.column;
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
        bool(value: bool),
        i64(value: i64),
        u64(value: u64),
        i128(value: i128),
        u128(value: u128),
        f32(value: f32),
        f64(value: f64),
        char(value: char),
        pointer(value: u64),
        bytes(bytes: &[u8], missing: u32),
        uuid(uuid: [u8; 16]),
        time(unix_ns: i64),
        duration(ns: i64),
        any(cbor: &[u8]),
        none(),
        enumeration(name: &str, label: Option<&str>, value: i64)
    );

    /// A field of the record that is null is as good as missing.
    fn null(&mut self) -> Done {
        if self.is_plain && self.open.is_empty() { Ok(()) } else { self.value(|json| json.null()) }
    }

    fn text(&mut self, text: Text<'_>, missing: u32) -> Done {
        match text {
            Text::Utf8(units) if self.is_plain && self.open.is_empty() => {
                self.json.push_str(&String::from_utf8_lossy(units));
                self.complete();
                Ok(())
            }
            _ => self.value(|json| json.text(text, missing)),
        }
    }

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
