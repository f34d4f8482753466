//! Rows of a query as a table, CSV, JSON, or JSON lines.

use std::fmt::Write;
use std::io;

use silverpoint_render::format::columns;
use silverpoint_render::json::{push_f64, push_hex, push_string};
use silverpoint_sql::{Rows, ValueRef};
use silverpoint_trace::escape::push_escaped;

use crate::input::Output;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Columns below each other, for people.
    Table,
    /// RFC 4180, with the names in the first line.
    Csv,
    /// One object a line.
    Json,
    /// An array of objects for each query.
    JsonArray,
}

impl Mode {
    /// All, with their names.
    pub const ALL: [(&str, Mode); 4] =
        [("table", Mode::Table), ("csv", Mode::Csv), ("json", Mode::Json), ("json-array", Mode::JsonArray)];
}

/// Rows that are examined before the first is printed: their cells determine the widths of the columns.
const LOOKED_AT: usize = 500;

/// Widest column of a table, unless it is the last; what is wider moves the rest of its line.
const WIDEST: usize = 60;

/// Prints the rows of queries. Keeps at most `LOOKED_AT` of them.
pub struct Printer {
    mode: Mode,
    pub out: Output,
    columns: Vec<String>,
    rows: u64,
    waiting: Vec<Vec<Cell>>,
    widths: Vec<usize>,
}

/// A cell of a table.
struct Cell {
    text: String,
    is_number: bool,
}

impl Printer {
    pub fn new(mode: Mode, out: Output) -> Self {
        Self { mode, out, columns: Vec::new(), rows: 0, waiting: Vec::new(), widths: Vec::new() }
    }

    /// Writes text that is ready.
    fn pass_on(&mut self) -> io::Result<()> {
        match self.out.pass_on() {
            Ok(true) => Ok(()),
            Ok(false) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(failed) => Err(io::Error::other(failed.message)),
        }
    }

    /// Prints the rows that have waited, with the names above them.
    fn release(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for (at, width) in self.widths.iter_mut().enumerate() {
            let widest = waiting.iter().map(|row| columns(&row[at].text)).max().unwrap_or(0);
            *width = (*width).max(widest.min(WIDEST));
        }
        let is_number = |at: usize| waiting.first().is_some_and(|row| row[at].is_number);
        let names = self.columns.iter().enumerate();
        let names: Vec<_> =
            names.map(|(at, name)| Cell { text: escaped(name), is_number: is_number(at) }).collect();
        self.line(&names);
        let rules: Vec<_> =
            self.widths.iter().map(|width| Cell { text: "-".repeat(*width), is_number: false }).collect();
        self.line(&rules);
        for row in &waiting {
            self.line(row);
        }
    }

    fn line(&mut self, cells: &[Cell]) {
        let text = &mut self.out.text;
        for (at, (cell, width)) in cells.iter().zip(&self.widths).enumerate() {
            text.push_str(if at > 0 { "  " } else { "" });
            let padding = width.saturating_sub(columns(&cell.text));
            let is_last = at + 1 == cells.len();
            if cell.is_number {
                text.extend(std::iter::repeat_n(' ', padding));
            }
            text.push_str(&cell.text);
            if !cell.is_number && !is_last {
                text.extend(std::iter::repeat_n(' ', padding));
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
}

impl Rows for Printer {
    fn begin(&mut self, names: &[&str]) -> io::Result<()> {
        self.columns = names.iter().map(|name| (*name).to_owned()).collect();
        self.widths = self.columns.iter().map(|name| columns(&escaped(name)).max(1)).collect();
        self.rows = 0;
        self.waiting.clear();
        match self.mode {
            Mode::Csv => {
                for (at, name) in names.iter().enumerate() {
                    self.out.text.push_str(if at > 0 { "," } else { "" });
                    push_csv(&mut self.out.text, name);
                }
                self.out.text.push('\n');
            }
            Mode::JsonArray => self.out.text.push('['),
            Mode::Table | Mode::Json => {}
        }
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> io::Result<()> {
        self.rows += 1;
        let text = &mut self.out.text;
        match self.mode {
            Mode::Table => {
                let cells: Vec<_> = values.iter().map(cell).collect();
                if self.rows <= LOOKED_AT as u64 {
                    self.waiting.push(cells);
                    return Ok(());
                }
                if self.rows == LOOKED_AT as u64 + 1 {
                    self.release();
                }
                self.line(&cells);
            }
            Mode::Csv => {
                for (at, value) in values.iter().enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    match value {
                        ValueRef::Text(value) => push_csv(text, &String::from_utf8_lossy(value)),
                        other => push_plain(text, other),
                    }
                }
                text.push('\n');
            }
            Mode::Json | Mode::JsonArray => {
                if self.mode == Mode::JsonArray {
                    text.push_str(if self.rows > 1 { ",\n " } else { "" });
                }
                text.push('{');
                for (at, (name, value)) in self.columns.iter().zip(values).enumerate() {
                    text.push_str(if at > 0 { "," } else { "" });
                    push_string(text, name);
                    text.push(':');
                    push_json(text, value);
                }
                text.push_str(if self.mode == Mode::JsonArray { "}" } else { "}\n" });
            }
        }
        self.pass_on()
    }

    fn end(&mut self) -> io::Result<()> {
        match self.mode {
            Mode::Table if self.rows <= LOOKED_AT as u64 => self.release(),
            Mode::JsonArray => self.out.text.push_str("]\n"),
            _ => {}
        }
        self.pass_on()
    }
}

/// A text on one line that moves no cursor.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    push_escaped(&mut out, text);
    out
}

fn cell(value: &ValueRef<'_>) -> Cell {
    let is_number = matches!(value, ValueRef::Integer(_) | ValueRef::Real(_));
    let text = match value {
        ValueRef::Text(text) => escaped(&String::from_utf8_lossy(text)),
        other => {
            let mut out = String::new();
            push_plain(&mut out, other);
            out
        }
    };
    Cell { text, is_number }
}

/// A value that is not a text; nothing for a null.
fn push_plain(out: &mut String, value: &ValueRef<'_>) {
    match value {
        ValueRef::Null => {}
        ValueRef::Integer(value) => {
            let _ = write!(out, "{value}");
        }
        ValueRef::Real(value) if value.is_finite() => push_f64(out, *value),
        ValueRef::Real(value) => {
            let _ = write!(out, "{value}");
        }
        ValueRef::Text(text) => out.push_str(&String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => push_hex(out, bytes),
    }
}

fn push_json(out: &mut String, value: &ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push_str("null"),
        ValueRef::Text(text) => push_string(out, &String::from_utf8_lossy(text)),
        ValueRef::Real(value) => push_f64(out, *value),
        ValueRef::Integer(_) => push_plain(out, value),
        ValueRef::Blob(bytes) => {
            out.push('"');
            push_hex(out, bytes);
            out.push('"');
        }
    }
}

/// A field of CSV; an empty text is quoted, so that it is no null.
fn push_csv(out: &mut String, text: &str) {
    if !text.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for part in text.split_inclusive('"') {
        out.push_str(part);
        out.push_str(if part.ends_with('"') { "\"" } else { "" });
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_csv() {
        for (text, field) in
            [("a b", "a b"), ("", "\"\""), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\"")]
        {
            let mut out = String::new();
            push_csv(&mut out, text);
            assert_eq!(out, field);
        }
    }
}
