//! Every record as a row: what is the same for all, arguments and contexts as JSON.

use std::io;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use silverpoint_convert::{Record, WriteError};
use silverpoint_query::columns::{RECORD, name_of};
use silverpoint_render::json::{Stack, push_args};
use silverpoint_render::{Renderer, ShowContext, text};
use silverpoint_trace::{What, cause_name};

use crate::Table;
use crate::column::{Cell, Column};
use crate::file::schema;

/// See the module.
pub struct Records {
    schema: SchemaRef,
    columns: Vec<Column>,
    renderer: Renderer,
    stack: Stack,
    text: String,
    rows: usize,
    bytes: usize,
}

impl Records {
    /// No rows yet.
    pub fn new() -> Self {
        Self {
            schema: schema(RECORD.iter().map(|of| (of.name.to_owned(), of.kind, of.is_nullable))),
            columns: RECORD.iter().map(|of| Column::new(of.kind)).collect(),
            renderer: Renderer::new(),
            stack: Stack::default(),
            text: String::new(),
            rows: 0,
            bytes: 0,
        }
    }

    /// The value of the next column.
    fn text(&mut self, column: &mut usize, text: Option<&str>) {
        let cell = if text.is_some() { Cell::Text } else { Cell::Null };
        let text = text.unwrap_or_default();
        self.bytes += text.len();
        self.columns[*column].push(&cell, text, &[]);
        *column += 1;
    }

    /// The value of the next column.
    fn cell(&mut self, column: &mut usize, cell: Cell) {
        self.columns[*column].push(&cell, "", &[]);
        *column += 1;
    }
}

/// A number that a damaged file may have beyond what a column holds: then it is the largest.
fn number(value: Option<u64>) -> Cell {
    value.map_or(Cell::Null, |value| Cell::Int(value.try_into().unwrap_or(i64::MAX)))
}

impl Table for Records {
    fn schema(&self) -> Option<SchemaRef> {
        Some(SchemaRef::clone(&self.schema))
    }

    fn push(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let site = match record.what {
            What::Record { site, .. } | What::SpanEnd { site: Some(site), .. } => Some(site),
            _ => None,
        };
        let kind = match record.what {
            What::Record { site, .. } => site.kind().name(),
            What::SpanEnd { .. } => "span_end",
            What::Loss { .. } => "loss",
            What::Stall { .. } => "stall",
            What::Unknown { .. } => "unknown",
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. } => return Ok(()),
        };
        let (mut duration, mut loss, mut count) = (None, None, None);
        match record.what {
            What::SpanEnd { duration_ns, .. } => duration = duration_ns,
            What::Stall { duration_ns, cause } => {
                duration = Some(duration_ns);
                loss = Some(cause_name(cause));
            }
            What::Loss { cause, count: lost, .. } => {
                loss = Some(cause_name(cause));
                count = Some(lost);
            }
            _ => {}
        }
        let duration = number(duration);
        let count = number(count);
        let at = &mut 0;
        self.cell(at, Cell::Int(record.wall_ns));
        self.cell(at, Cell::Int(record.wall_ns));
        let level = record.what.level();
        self.text(at, Some(level.name()));
        self.cell(at, Cell::Int(level as i64));
        self.text(at, Some(record.process));
        self.cell(at, Cell::Int(record.pid.into()));
        self.cell(at, Cell::Int(record.tid.into()));
        self.text(at, Some(record.thread));
        self.text(at, Some(kind));
        let name = site.and_then(name_of);
        let site = site.map(|site| &site.description);
        self.text(at, site.map(|site| site.category.as_str()));
        self.text(at, name);
        self.text(at, site.map(|site| site.file.as_str()));
        self.cell(at, site.map_or(Cell::Null, |site| Cell::Int(site.line.into())));
        self.text(at, site.map(|site| site.function.as_str()));
        self.text(at, site.map(|site| site.template.as_str()));
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text::say(&mut self.renderer, &mut text, &record.what, record.thread);
        self.text(at, Some(&text));
        text.clear();
        let mut args = None;
        if let What::Record { site, args: packed, .. } = record.what {
            push_args(&mut text, &mut self.stack, site, packed);
            args = Some(text.as_str());
        }
        self.text(at, args);
        self.text = text;
        self.cell(at, duration);
        self.text(at, record.context.map(|context| context.json()));
        self.text(at, loss);
        self.cell(at, count);
        self.rows += 1;
        Ok(())
    }

    fn waiting(&self) -> (usize, usize) {
        (self.rows, self.bytes)
    }

    fn batch(&mut self) -> io::Result<RecordBatch> {
        (self.rows, self.bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(Column::take).collect();
        RecordBatch::try_new(SchemaRef::clone(&self.schema), columns).map_err(io::Error::other)
    }
}
