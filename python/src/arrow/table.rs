//! Which columns there are, and what stands in them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use silverpoint_query::columns::{
    Column as Of, Kind, RECORD, kind_of, micros, name_beside, name_of, ns_of, too_large,
};
use silverpoint_render::ShowContext;
use silverpoint_render::json::{self, Stack};
use silverpoint_trace::{What, cause_name};
use silverpoint_wire::signature::Type;

use super::argument::{self, Room};
use super::column::{Column, Field};
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
/// Between two checks whether the reader is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Columns of spans.
const SPAN: &[Of] = &[
    of("begin", Kind::Time, false),
    of("begin_ns", Kind::Int, false),
    of("end", Kind::Time, true),
    of("end_ns", Kind::Int, true),
    of("duration_ns", Kind::Int, true),
    of("name", Kind::Word, false),
    of("kind", Kind::Word, false),
    of("level", Kind::Word, false),
    of("severity", Kind::Small, false),
    of("category", Kind::Word, true),
    of("file", Kind::Word, true),
    of("line", Kind::Small, true),
    of("function", Kind::Word, true),
    of("process", Kind::Word, false),
    of("pid", Kind::Small, false),
    of("tid", Kind::Small, false),
    of("thread", Kind::Word, false),
    of("id", Kind::Int, false),
    of("parent", Kind::Int, true),
    of("args", Kind::Json, true),
    of("context", Kind::Json, true),
];

const fn of(name: &'static str, kind: Kind, is_nullable: bool) -> Of {
    Of { name, kind, is_nullable }
}

/// What a table has rows of.
trait Shown: Weighed + Sized {
    const COLUMNS: &'static [Of];
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

fn number(column: &mut Column, value: Option<u64>) {
    match value {
        Some(value) => column.unsigned(value),
        None => column.null(),
    }
}

/// A number that a damaged file may have beyond what a column holds: then it is the largest.
fn measured(column: &mut Column, value: Option<u64>) {
    number(column, value.map(|value| value.min(i64::MAX as u64)));
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
            let Kept::Record { site, args, .. } = &row.what else { return column.null() };
            room.text.clear();
            json::push_args(&mut room.text, &mut room.stack, &site.site, args);
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
    const COLUMNS: &'static [Of] = &RECORD;
    const READ: Read<Self> = source::rows;

    fn arguments(&self) -> Option<&Row> {
        Some(self)
    }

    fn site(&self) -> Option<&Arc<SiteData>> {
        self.site()
    }

    fn put(&self, name: &str, column: &mut Column, room: &mut Texts) {
        match name {
            "time" => column.int(micros(self.wall_ns)),
            "time_ns" => column.int(self.wall_ns),
            "kind" => column.word(self.kind()),
            "name" => nullable(column, self.site().and_then(|data| name_of(&data.site))),
            "duration_ns" => measured(column, self.duration_ns()),
            "cause" => match &self.what {
                Kept::Loss { cause, .. } | Kept::Stall { cause, .. } => column.word(cause_name(*cause)),
                _ => column.null(),
            },
            "count" => match &self.what {
                Kept::Loss { count, .. } => measured(column, Some(*count)),
                _ => column.null(),
            },
            _ => common(self, self.site(), name, column, room),
        }
    }
}

impl Shown for SpanRow {
    const COLUMNS: &'static [Of] = SPAN;
    const READ: Read<Self> = spans::read;

    fn arguments(&self) -> Option<&Row> {
        self.has_begin.then_some(&self.row)
    }

    fn site(&self) -> Option<&Arc<SiteData>> {
        Some(&self.site)
    }

    fn put(&self, name: &str, column: &mut Column, room: &mut Texts) {
        match name {
            "begin" => column.int(micros(self.begin_ns)),
            "begin_ns" => column.int(self.begin_ns),
            "end" => match self.end_ns {
                Some(ns) => column.int(micros(ns)),
                None => column.null(),
            },
            "end_ns" => match self.end_ns {
                Some(ns) => column.int(ns),
                None => column.null(),
            },
            "duration_ns" => measured(column, self.duration_ns),
            "name" => column.word(&self.site.site.description.template),
            "kind" => column.word(self.kind()),
            "id" => number(column, Some(self.id)),
            "parent" => number(column, self.parent),
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
    /// By the argument: its columns, two of a time.
    arguments: HashMap<String, Vec<usize>>,
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
        // An event is no loss.
        let is_shown = |of: &&Of| name.is_none() || !matches!(of.name, "cause" | "count");
        let field = |of: &Of| Field { name: of.name.to_owned(), kind: of.kind, is_nullable: of.is_nullable };
        let mut fields: Vec<Field> = T::COLUMNS.iter().filter(is_shown).map(field).collect();
        let found = match &name {
            Some(name) => {
                let found = py.detach(|| arguments_of(source, wanted, name));
                found.map_err(|fault| fault.raise(py))?
            }
            None => Vec::new(),
        };
        let mut typed: Vec<(String, Field)> = Vec::new();
        for (argument, kind) in found {
            let is_taken = |name: &str| {
                let mut all = fields.iter().chain(typed.iter().map(|(_, field)| field));
                all.any(|field| field.name.eq_ignore_ascii_case(name))
            };
            let name = name_beside(&argument, kind, is_taken);
            if kind == Kind::Time {
                let time = Field { name: name.clone(), kind, is_nullable: true };
                typed.push((argument.clone(), time));
                typed.push((argument, Field { name: ns_of(&name), kind: Kind::Int, is_nullable: true }));
            } else {
                typed.push((argument, Field { name, kind, is_nullable: true }));
            }
        }
        if let Some(columns) = columns {
            let all = fields.iter().chain(typed.iter().map(|(_, field)| field));
            let known: Vec<&str> = all.map(|field| field.name.as_str()).collect();
            if let Some(odd) = columns.iter().find(|column| !known.contains(&column.as_str())) {
                return Err(PyValueError::new_err(format!(
                    "there is no column '{odd}': {}",
                    known.join(", ")
                )));
            }
            fields.retain(|field| columns.contains(&field.name));
            typed.retain(|(_, field)| columns.contains(&field.name));
        }
        let own = fields.len();
        let mut arguments: HashMap<String, Vec<usize>> = HashMap::new();
        for (argument, field) in typed {
            arguments.entry(argument).or_default().push(fields.len());
            fields.push(field);
        }
        Ok(Self { fields, own, name, arguments })
    }
}

/// Names and types of the arguments that the sites of an event have.
fn arguments_of(source: &Source, wanted: &Wanted, name: &str) -> Result<Vec<(String, Kind)>, Fault> {
    let mut found: Vec<(String, Kind)> = Vec::new();
    let mut note = |site: &silverpoint_trace::Site| {
        if site.description.template != name {
            return;
        }
        for (at, ty) in site.types.iter().enumerate() {
            let name = site.names.get(at).cloned().unwrap_or_else(|| place(at));
            let kind = kind_of(ty);
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
    /// By the address of a site: columns and type of each argument.
    plans: HashMap<usize, Vec<(Vec<usize>, Type)>>,
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
                    shape.arguments.get(&name).cloned().unwrap_or_default()
                };
                site.site.types.iter().enumerate().map(|(at, ty)| (column(at), ty.clone())).collect()
            });
            let mut at = 0;
            for (places, ty) in plan {
                let mut end = None;
                for index in places {
                    let column = &mut arguments[*index - self.shape.own];
                    // One that a site has twice counts once.
                    if column.len() == before {
                        let kind = self.shape.fields[*index].kind;
                        end = Some(argument::push(column, kind, ty, args, at, &mut self.room));
                    }
                }
                let end = end.unwrap_or_else(|| silverpoint_wire::value::skip(ty, args, at).ok());
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
        for (field, column) in self.shape.fields.iter().zip(&columns) {
            if let Some(value) = column.too_large() {
                let why = too_large(&field.name, value);
                return Err(format!("{why}; choose others by columns=…, 'args' has it"));
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
