//! Which columns there are, and what stands in them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use silverpoint_formats::json::{self, Stack};
use silverpoint_formats::tracefile::{What, cause_name};
use silverpoint_wire::level::Kind as SiteKind;
use silverpoint_wire::signature::Type;

use super::argument::{self, Room};
use super::column::{Column, Field, Kind};
use super::ffi::{self, ArrowArrayStream, ArrowSchema};
use crate::fault::Fault;
use crate::record::with_message;
use crate::row::{Kept, Row, SiteData};
use crate::source::{self, Batches, Next, Read, Source, Wanted, Weighed, some_rows};
use crate::spans::{self, SpanRow};

/// Rows, and bytes of texts in one column, of one batch at most (offsets have 31 bits).
const ROWS: usize = 16 << 10;
const BYTES: usize = 64 << 20;
/// Columns of arguments at most; the column `args` has all.
const ARGUMENTS_MAX: usize = 400;
/// Between two looks at whoever reads.
const LOOK: Duration = Duration::from_secs(1);

/// Columns of records: name, type, whether there may be none.
const RECORD: &[(&str, Kind, bool)] = &[
    ("time", Kind::Time, false),
    ("level", Kind::Word, false),
    ("severity", Kind::U32, false),
    ("kind", Kind::Word, false),
    ("category", Kind::Word, true),
    ("name", Kind::Word, true),
    ("message", Kind::Text, false),
    ("template", Kind::Word, true),
    ("file", Kind::Word, true),
    ("line", Kind::U32, true),
    ("function", Kind::Word, true),
    ("process", Kind::Word, false),
    ("pid", Kind::U32, false),
    ("tid", Kind::U32, false),
    ("thread", Kind::Word, false),
    ("duration", Kind::Duration, true),
    ("args", Kind::Text, true),
    ("context", Kind::Text, true),
];

/// Columns of spans.
const SPAN: &[(&str, Kind, bool)] = &[
    ("begin", Kind::Time, false),
    ("end", Kind::Time, true),
    ("duration", Kind::Duration, true),
    ("name", Kind::Word, false),
    ("kind", Kind::Word, false),
    ("level", Kind::Word, false),
    ("severity", Kind::U32, false),
    ("category", Kind::Word, true),
    ("file", Kind::Word, true),
    ("line", Kind::U32, true),
    ("function", Kind::Word, true),
    ("process", Kind::Word, false),
    ("pid", Kind::U32, false),
    ("tid", Kind::U32, false),
    ("thread", Kind::Word, false),
    ("id", Kind::U64, false),
    ("parent", Kind::U64, true),
    ("args", Kind::Text, true),
    ("context", Kind::Text, true),
];

/// What a table has rows of.
trait Shown: Weighed + Sized {
    const COLUMNS: &'static [(&'static str, Kind, bool)];
    const READ: Read<Self>;
    /// The record whose arguments are shown, when it has those of its site.
    fn arguments(&self) -> Option<&Row>;
    /// Of which site it is.
    fn site(&self) -> Option<&Arc<SiteData>>;
    /// Puts the value of a column that is none of an argument.
    fn put(&self, name: &str, column: &mut Column, room: &mut Texts);
}

/// Room that is reused.
#[derive(Default)]
struct Texts {
    text: String,
    stack: Stack,
}

fn nullable(column: &mut Column, value: Option<&str>) {
    match value {
        Some(text) => column.word(text),
        None => column.null(),
    }
}

/// Columns that records and spans have in common.
fn common(row: &Row, site: Option<&Arc<SiteData>>, name: &str, column: &mut Column, room: &mut Texts) {
    let described = site.map(|data| &data.site.description);
    match name {
        "level" => column.word(row.what().level().name()),
        "severity" => column.u32(row.what().level() as u32),
        "category" => nullable(column, described.map(|site| site.category.as_str())),
        "message" => with_message(row, |message| column.text(message)),
        "template" => nullable(column, described.map(|site| site.template.as_str())),
        "file" => nullable(column, described.map(|site| site.file.as_str())),
        "line" => match described {
            Some(site) => column.u32(site.line),
            None => column.null(),
        },
        "function" => nullable(column, site.map(|data| data.site.function())),
        "process" => column.word(&row.process.name),
        "pid" => column.u32(row.process.pid),
        "tid" => column.u32(row.tid),
        "thread" => column.word(&row.thread),
        "args" => {
            room.text.clear();
            match &row.what {
                Kept::Record { site, args, .. } => {
                    json::push_args(&mut room.text, &mut room.stack, &site.site, args);
                }
                Kept::Loss { cause, count, span_ns } => {
                    let cause = cause_name(*cause);
                    room.text = format!("{{\"cause\":\"{cause}\",\"count\":{count},\"span_ns\":{span_ns}}}");
                }
                Kept::Stall { cause, .. } => room.text = format!("{{\"cause\":\"{}\"}}", cause_name(*cause)),
                Kept::Unknown { site_id, .. } => room.text = format!("{{\"site\":{site_id}}}"),
                Kept::SpanEnd { .. } => return column.null(),
            }
            column.text(&room.text);
        }
        "context" => match &row.context {
            Some(context) => column.text(context.json()),
            None => column.null(),
        },
        _ => column.null(),
    }
}

impl Shown for Row {
    const COLUMNS: &'static [(&'static str, Kind, bool)] = RECORD;
    const READ: Read<Self> = source::rows;

    fn arguments(&self) -> Option<&Row> {
        Some(self)
    }

    fn site(&self) -> Option<&Arc<SiteData>> {
        self.site()
    }

    fn put(&self, name: &str, column: &mut Column, room: &mut Texts) {
        match name {
            "time" => column.bits(self.wall_ns.cast_unsigned()),
            "kind" => column.word(self.kind()),
            "name" => {
                let is_named =
                    |data: &&Arc<SiteData>| !matches!(data.site.kind(), SiteKind::Log | SiteKind::Stream);
                let site = self.site().filter(is_named);
                nullable(column, site.map(|data| data.site.description.template.as_str()));
            }
            "duration" => match self.duration_ns() {
                Some(ns) => column.bits(ns),
                None => column.null(),
            },
            _ => common(self, self.site(), name, column, room),
        }
    }
}

impl Shown for SpanRow {
    const COLUMNS: &'static [(&'static str, Kind, bool)] = SPAN;
    const READ: Read<Self> = spans::read;

    fn arguments(&self) -> Option<&Row> {
        self.has_begin.then_some(&self.row)
    }

    fn site(&self) -> Option<&Arc<SiteData>> {
        Some(&self.site)
    }

    fn put(&self, name: &str, column: &mut Column, room: &mut Texts) {
        match name {
            "begin" => column.bits(self.begin_ns.cast_unsigned()),
            "end" => match self.end_ns {
                Some(ns) => column.bits(ns.cast_unsigned()),
                None => column.null(),
            },
            "duration" => match self.duration_ns {
                Some(ns) => column.bits(ns),
                None => column.null(),
            },
            "name" => column.word(&self.site.site.description.template),
            "kind" => column.word(self.kind()),
            "id" => column.bits(self.id),
            "parent" => match self.parent {
                Some(id) => column.bits(id),
                None => column.null(),
            },
            _ => common(&self.row, Some(&self.site), name, column, room),
        }
    }
}

/// The columns that are wanted, and of which event.
#[derive(Clone)]
struct Shape {
    fields: Vec<Field>,
    /// So many of them are columns of the row, the others arguments.
    own: usize,
    /// Only of this name.
    name: Option<String>,
    /// By the argument: its column.
    arguments: HashMap<String, usize>,
}

/// How an argument is called where it has no name.
fn place(at: usize) -> String {
    format!("arg{at}")
}

impl Shape {
    fn new<T: Shown>(
        py: Python<'_>,
        source: &Source,
        wanted: &Wanted,
        name: Option<String>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let mut fields: Vec<Field> = T::COLUMNS
            .iter()
            .map(|(name, kind, is_nullable)| Field {
                name: (*name).to_owned(),
                kind: *kind,
                is_nullable: *is_nullable,
            })
            .collect();
        let mut typed = match &name {
            Some(name) => {
                let found = py.detach(|| arguments_of(source, wanted, name));
                found.map_err(|fault| fault.raise(py))?
            }
            None => Vec::new(),
        };
        // An argument that is called as a column is has another name here.
        let is_taken = |name: &str| T::COLUMNS.iter().any(|(known, ..)| *known == name);
        let shown = |name: &str| if is_taken(name) { format!("{name}_") } else { name.to_owned() };
        if let Some(columns) = columns {
            let known: Vec<String> = fields
                .iter()
                .map(|f| f.name.clone())
                .chain(typed.iter().map(|(name, _)| shown(name)))
                .collect();
            if let Some(odd) = columns.iter().find(|column| !known.contains(column)) {
                return Err(PyValueError::new_err(format!(
                    "there is no column '{odd}': {}",
                    known.join(", ")
                )));
            }
            fields.retain(|field| columns.contains(&field.name));
            typed.retain(|(name, _)| columns.contains(&shown(name)));
        }
        let own = fields.len();
        let mut arguments = HashMap::new();
        for (name, kind) in typed {
            arguments.insert(name.clone(), fields.len());
            fields.push(Field { name: shown(&name), kind, is_nullable: true });
        }
        Ok(Self { fields, own, name, arguments })
    }
}

/// Names and types of the arguments that the sites of an event have.
fn arguments_of(source: &Source, wanted: &Wanted, name: &str) -> Result<Vec<(String, Kind)>, Fault> {
    let mut found: Vec<(String, Kind)> = Vec::new();
    let mut note = |site: &silverpoint_formats::site::Site| {
        if site.description.template != name {
            return;
        }
        for (at, ty) in site.types.iter().enumerate() {
            let name = site.names.get(at).cloned().unwrap_or_else(|| place(at));
            let kind = argument::kind_of(ty);
            match found.iter().position(|(known, _)| *known == name) {
                Some(at) => found[at].1 = argument::common(found[at].1, kind),
                None if found.len() < ARGUMENTS_MAX => found.push((name, kind)),
                None => {}
            }
        }
    };
    source.trace.iter().flat_map(|trace| &trace.sites).for_each(&mut note);
    if !source.others.is_empty() {
        // What has no dictionary is looked through.
        let is_named =
            |what: &What<'_>| matches!(what, What::Record { site, .. } if site.description.template == name);
        some_rows(source, wanted, &is_named, &mut |row| {
            row.site().iter().for_each(|data| note(&data.site));
            true
        })?;
    }
    Ok(found)
}

/// Makes batches of columns.
struct Filler<T> {
    shape: Shape,
    batches: Batches<T>,
    /// By the address of a site: column and type of each argument.
    plans: HashMap<usize, Vec<(Option<usize>, Type)>>,
    /// Sites whose plans there are: so that an address means the same site.
    sites: Vec<Arc<SiteData>>,
    texts: Texts,
    room: Room,
}

impl<T: Shown> Filler<T> {
    fn put(&mut self, item: &T, columns: &mut [Column]) {
        let (own, arguments) = columns.split_at_mut(self.shape.own);
        for (field, column) in self.shape.fields.iter().zip(own) {
            item.put(&field.name, column, &mut self.texts);
        }
        if arguments.is_empty() {
            return;
        }
        let before = arguments[0].len();
        if let Some(Row { what: Kept::Record { site, args, .. }, .. }) = item.arguments() {
            let plan = self.plans.entry(Arc::as_ptr(site) as usize).or_insert_with(|| {
                self.sites.push(Arc::clone(site));
                let shape = &self.shape;
                let column = |at: usize| {
                    let name = site.site.names.get(at).cloned().unwrap_or_else(|| place(at));
                    shape.arguments.get(&name).copied()
                };
                site.site.types.iter().enumerate().map(|(at, ty)| (column(at), ty.clone())).collect()
            });
            let mut at = 0;
            for (column, ty) in plan {
                let end = match column {
                    // One that a site has twice counts once.
                    Some(index) if arguments[*index - self.shape.own].len() == before => {
                        let kind = self.shape.fields[*index].kind;
                        let column = &mut arguments[*index - self.shape.own];
                        argument::push(column, kind, ty, args, at, &mut self.room)
                    }
                    _ => silverpoint_wire::value::skip(ty, args, at).ok(),
                };
                let Some(end) = end else { break };
                at = end;
            }
        }
        for column in arguments.iter_mut().filter(|column| column.len() == before) {
            column.null();
        }
    }

    fn is_shown(&self, item: &T) -> bool {
        let Some(name) = &self.shape.name else { return true };
        // The end of a span is no record of its event.
        item.site().is_some_and(|site| site.site.description.template == *name)
            && item.arguments().is_none_or(|row| matches!(row.what, Kept::Record { .. }))
    }
}

impl<T: Shown> ffi::Batches for Filler<T> {
    fn fields(&self) -> &[Field] {
        &self.shape.fields
    }

    fn next(&mut self) -> Result<Option<(usize, Vec<Column>)>, String> {
        let mut columns: Vec<Column> =
            self.shape.fields.iter().map(|field| Column::new(field.kind)).collect();
        let mut rows = 0;
        while rows < ROWS && columns.iter().all(|column| column.bytes() < BYTES) {
            let batch = match self.batches.wait(LOOK) {
                Next::Batch(batch) => batch,
                Next::End => break,
                Next::Failed(fault) => return Err(fault.to_string()),
                Next::Nothing => continue,
            };
            for item in batch.iter() {
                if self.is_shown(item) {
                    self.put(item, &mut columns);
                    rows += 1;
                }
            }
        }
        Ok((rows > 0).then_some((rows, columns)))
    }
}

/// Records or spans of a selection as a table.
#[pyclass(frozen, module = "silverpoint")]
pub(crate) struct Table {
    source: Arc<Source>,
    wanted: Wanted,
    shape: Shape,
    is_of_spans: bool,
}

impl Table {
    /// `name`: only records, or spans, of this name, with their arguments as columns. `columns`: only these.
    pub(crate) fn new(
        py: Python<'_>,
        source: &Arc<Source>,
        wanted: &Wanted,
        is_of_spans: bool,
        name: Option<String>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let shape = match is_of_spans {
            true => Shape::new::<SpanRow>(py, source, wanted, name, columns)?,
            false => Shape::new::<Row>(py, source, wanted, name, columns)?,
        };
        Ok(Self { source: Arc::clone(source), wanted: wanted.clone(), shape, is_of_spans })
    }

    fn begin<T: Shown>(&self) -> std::io::Result<Box<dyn ffi::Batches>> {
        Ok(Box::new(Filler::<T> {
            shape: self.shape.clone(),
            batches: Batches::begin(&self.source, self.wanted.clone(), T::READ)?,
            plans: HashMap::new(),
            sites: Vec::new(),
            texts: Texts::default(),
            room: Room::default(),
        }))
    }

    /// A stream in a capsule, as the protocol wants it. Which schema is asked for may be passed over.
    pub(crate) fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = if self.is_of_spans { self.begin::<SpanRow>() } else { self.begin::<Row>() }?;
        PyCapsule::new_with_value(py, ArrowArrayStream::new(batches), c"arrow_array_stream")
    }
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        self.stream(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, ArrowSchema::of(&self.shape.fields), c"arrow_schema")
    }

    /// Names of the columns.
    #[getter]
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shape.fields.iter().map(|field| &field.name))
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.shape.fields.iter().map(|field| field.name.as_str()).collect();
        format!("<Table of {}: {}>", if self.is_of_spans { "spans" } else { "records" }, names.join(", "))
    }
}
