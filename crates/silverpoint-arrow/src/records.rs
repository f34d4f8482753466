//! Every record as a row: what is the same for all, arguments and contexts as JSON.

use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use silverpoint_convert::{Record, WriteError};
use silverpoint_formats::json::{Stack, push_args};
use silverpoint_formats::render::Renderer;
use silverpoint_formats::text;
use silverpoint_formats::tracefile::{What, cause_name};

use crate::Table;
use crate::column::{Cell, Column, Kind};

/// Names as of docs/formats.md.
const COLUMNS: [(&str, Kind, bool); 18] = [
    ("time", Kind::Time, false),
    ("level", Kind::Text, false),
    ("process", Kind::Text, false),
    ("pid", Kind::Small, false),
    ("tid", Kind::Small, false),
    ("thread", Kind::Text, false),
    ("kind", Kind::Text, false),
    ("category", Kind::Text, true),
    ("file", Kind::Text, true),
    ("line", Kind::Small, true),
    ("function", Kind::Text, true),
    ("template", Kind::Text, true),
    ("message", Kind::Text, false),
    ("args", Kind::Json, true),
    ("duration_ns", Kind::UInt, true),
    ("context", Kind::Json, true),
    ("cause", Kind::Text, true),
    ("count", Kind::UInt, true),
];

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
        let field = |(name, kind, is_nullable): &(&str, Kind, bool)| {
            Field::new(*name, kind.data_type(), *is_nullable)
        };
        Self {
            schema: Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>())),
            columns: COLUMNS.iter().map(|(_, kind, _)| Column::new(*kind)).collect(),
            renderer: Renderer::new(),
            stack: Stack::default(),
            text: String::new(),
            rows: 0,
            bytes: 0,
        }
    }

    fn text(&mut self, column: usize, text: Option<&str>) {
        let cell = if text.is_some() { Cell::Text } else { Cell::Null };
        let text = text.unwrap_or_default();
        self.bytes += text.len();
        self.columns[column].push(&cell, text, &[]);
    }

    fn cell(&mut self, column: usize, cell: Cell) {
        self.columns[column].push(&cell, "", &[]);
    }
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
        self.cell(0, Cell::Int(record.wall_ns));
        self.text(1, Some(record.what.level().name()));
        self.text(2, Some(&record.process.name));
        self.cell(3, Cell::UInt(record.process.pid.into()));
        self.cell(4, Cell::UInt(record.tid.into()));
        self.text(5, Some(record.thread));
        self.text(6, Some(kind));
        let site = site.map(|site| &site.description);
        self.text(7, site.map(|site| site.category.as_str()));
        self.text(8, site.map(|site| site.file.as_str()));
        self.cell(9, site.map_or(Cell::Null, |site| Cell::UInt(site.line.into())));
        self.text(10, site.map(|site| site.function.as_str()));
        self.text(11, site.map(|site| site.template.as_str()));
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text::say(&mut self.renderer, &mut text, &record.what, record.thread);
        self.text(12, Some(&text));
        text.clear();
        let mut args = None;
        if let What::Record { site, args: packed, .. } = record.what {
            push_args(&mut text, &mut self.stack, site, packed);
            args = Some(text.as_str());
        }
        self.text(13, args);
        self.text = text;
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
        self.cell(14, duration.map_or(Cell::Null, Cell::UInt));
        self.text(15, record.context.map(|context| context.json()));
        self.text(16, loss);
        self.cell(17, count.map_or(Cell::Null, Cell::UInt));
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
