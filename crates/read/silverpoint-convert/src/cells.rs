//! A record as the cells of a table: what the writers of tables share.

use std::convert::Infallible;

use silverpoint_render::json::{JsonVisitor, Stack, push_string};
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::value::Text;

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
        self.column = 0;
    }

    /// All of them in the order of the columns; none where the record has none.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        let cells = self.cells.iter().enumerate();
        cells.map(|(at, cell)| (self.present & 1 << at != 0).then_some(cell.as_str()))
    }

    /// A value without parts: alone in its cell, or a part of what is there.
    #[inline(always)]
    fn value(&mut self, leaf: Leaf<'_>) -> Done {
        self.separate();
        leaf.visit(&mut JsonVisitor::new(&mut self.json, &mut self.stack))?;
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
        let is_after = |byte: &u8| matches!(byte, b'[' | b'{' | b':');
        if !self.open.is_empty() && !self.json.as_bytes().last().is_some_and(is_after) {
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
}

impl Pieces for Cells {
    type Error = Infallible;

    #[inline(always)]
    fn leaf(&mut self, leaf: Leaf<'_>) -> Done {
        let is_cell = self.is_plain && self.open.is_empty();
        match leaf {
            // A field of the record that is null is as good as missing.
            Leaf::Null if is_cell => {}
            Leaf::Text(Text::Utf8(units), _) if is_cell => {
                self.json.push_str(&String::from_utf8_lossy(units));
                self.complete();
            }
            _ => self.value(leaf)?,
        }
        Ok(())
    }

    fn begin(&mut self, container: Container<'_>) -> Done {
        let (opening, closing) = match container {
            // The first one is the record itself: its fields are the columns.
            Container::Record { .. } if !std::mem::replace(&mut self.begun, true) => return Ok(()),
            Container::Record { .. } => ('{', '}'),
            Container::Sequence { .. } | Container::Map(_) => ('[', ']'),
        };
        self.separate();
        self.json.push(opening);
        self.open.push(closing);
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        if self.open.is_empty() {
            // Most fields come in the order of the columns.
            let ahead = COLUMNS[self.column..].iter().position(|column| *column == name);
            self.column = match ahead {
                Some(steps) => self.column + steps,
                None => COLUMNS.iter().position(|column| *column == name).unwrap_or(0),
            };
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
