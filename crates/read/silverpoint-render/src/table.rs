//! Tables for people, and the numbers in them.

use std::fmt::Write;

use silverpoint_trace::escape;

use crate::format::columns;

/// A table whose columns are as wide as their widest cell. `>` or `<` before a heading aligns its column.
pub struct Table {
    title: &'static str,
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    colour: bool,
}

impl Table {
    /// An empty one.
    pub fn new(title: &'static str, headings: &[&'static str]) -> Self {
        Self { title, headings: headings.to_vec(), rows: Vec::new(), colour: false }
    }

    /// With colours: headings are dimmed, levels have the colours that they have in records.
    pub fn coloured(mut self, colour: bool) -> Self {
        self.colour = colour;
        self
    }

    /// Adds a row; control characters are escaped. As many cells as headings.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.cells(&cells);
    }

    /// The same of a list.
    pub fn cells(&mut self, cells: &[String]) {
        let escaped = cells.iter().map(|cell| {
            let mut text = String::with_capacity(cell.len());
            escape::push_escaped(&mut text, cell);
            text
        });
        self.rows.push(escaped.collect());
    }

    /// Appends title and table; nothing without rows.
    pub fn push(&self, out: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        let widths: Vec<usize> = (0..self.headings.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| columns(&row[column]));
                cells.max().unwrap_or(0).max(self.headings[column].len() - 1)
            })
            .collect();
        if !self.title.is_empty() {
            let _ = write!(out, "\n{}\n", self.title);
        }
        let heading = self.headings.iter().map(|heading| &heading[1..]);
        if self.colour {
            out.push_str("\x1b[2m");
            self.line(out, heading, &widths);
            out.pop();
            out.push_str("\x1b[0m\n");
        } else {
            self.line(out, heading, &widths);
        }
        for row in &self.rows {
            self.line(out, row.iter().map(String::as_str), &widths);
        }
    }

    fn line<'c>(&self, out: &mut String, cells: impl Iterator<Item = &'c str>, widths: &[usize]) {
        let start = out.len();
        for ((cell, width), heading) in cells.zip(widths).zip(&self.headings) {
            let missing = width.saturating_sub(columns(cell));
            out.push_str("  ");
            if heading.starts_with('>') {
                out.extend(std::iter::repeat_n(' ', missing));
                out.push_str(cell);
            } else if let Some(sequence) = self.colour.then(|| level_sequence(heading, cell)).flatten() {
                let _ = write!(out, "{sequence}{cell}\x1b[0m");
                out.extend(std::iter::repeat_n(' ', missing));
            } else {
                out.push_str(cell);
                out.extend(std::iter::repeat_n(' ', missing));
            }
        }
        let kept = out[start..].trim_end().len();
        out.truncate(start + kept);
        out.push('\n');
    }
}

/// The escape sequence that begins a level's colour, in columns of levels.
fn level_sequence(heading: &str, cell: &str) -> Option<&'static str> {
    if heading != "<LEVEL" {
        return None;
    }
    Some(match cell {
        "trace" => "\x1b[2m",
        "debug" => "\x1b[36m",
        "info" => "\x1b[32m",
        "warn" => "\x1b[33m",
        "error" => "\x1b[31m",
        "fatal" => "\x1b[1;37;41m",
        _ => return None,
    })
}

/// `1,234,567`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `12.3 MiB`
pub fn bytes(number: u64) -> String {
    match number {
        0..1024 => format!("{number} B"),
        1024..0x10_0000 => format!("{:.1} KiB", number as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", number as f64 / 1_048_576.0),
        _ => format!("{:.2} GiB", number as f64 / 1_073_741_824.0),
    }
}
