//! The records of one name: each argument is a column of its type.
//!
//! The first record says which columns there are. Sites of the same name in other places may have the same arguments in another order, or fewer. Further arguments, or those of another type, have no column.

use std::io;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use silverpoint_convert::{Record, WriteError};
use silverpoint_query::columns::{Kind, OF_EVENT, RECORD, kind_of, name_beside, ns_of, too_large};
use silverpoint_trace::{Site, What};

use crate::Table;
use crate::column::{Cell, Column, Values};
use crate::file::schema;

/// See the module.
pub struct Event {
    name: String,
    /// From the first record on.
    schema: Option<SchemaRef>,
    columns: Vec<Column>,
    /// Of the arguments, and the column of each behind the common ones.
    kinds: Vec<(String, Kind, usize)>,
    /// By number of a site: for each of its arguments which of `kinds` it is.
    places: Vec<(usize, Vec<usize>)>,
    values: Values,
    rows: usize,
    bytes: usize,
}

/// Sites of one name that are remembered.
const SITES_MAX: usize = 1024;

impl Event {
    /// Of this name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            schema: None,
            columns: RECORD[..OF_EVENT].iter().map(|of| Column::new(of.kind)).collect(),
            kinds: Vec::new(),
            places: Vec::new(),
            values: Values::default(),
            rows: 0,
            bytes: 0,
        }
    }

    /// The arguments of a site as columns.
    fn arguments(site: &Site) -> Vec<(String, Kind)> {
        let mut found: Vec<(String, Kind)> = Vec::new();
        for (number, ty) in site.types.iter().enumerate() {
            let name = match site.names.get(number) {
                Some(name) => name.clone(),
                None => format!("arg{number}"),
            };
            let kind = kind_of(ty);
            let is = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
            let is_taken = |name: &str| {
                RECORD[..OF_EVENT].iter().any(|common| is(common.name, name))
                    || found.iter().any(|(known, kind)| {
                        is(known, name) || (*kind == Kind::Time && is(&ns_of(known), name))
                    })
            };
            let name = name_beside(&name, kind, is_taken);
            found.push((name, kind));
        }
        found
    }

    /// Which columns the arguments of a site go to.
    fn places(&mut self, number: usize, site: &Site) -> Result<usize, WriteError> {
        if let Some(known) = self.places.iter().position(|(known, _)| *known == number) {
            return Ok(known);
        }
        let arguments = Self::arguments(site);
        if self.schema.is_none() {
            let mut own = Vec::new();
            for (name, kind) in &arguments {
                self.kinds.push((name.clone(), *kind, own.len()));
                own.push((name.clone(), *kind, true));
                if *kind == Kind::Time {
                    own.push((ns_of(name), Kind::Int, true));
                }
            }
            self.columns.extend(own.iter().map(|(_, kind, _)| Column::new(*kind)));
            let common = RECORD[..OF_EVENT].iter().map(|of| (of.name.to_owned(), of.kind, of.is_nullable));
            self.schema = Some(schema(common.chain(own)));
        }
        let place = |(name, kind): &(String, Kind)| {
            let found = self.kinds.iter().position(|(known, ..)| known == name);
            found.filter(|at| self.kinds[*at].1 == *kind).ok_or_else(|| {
                let site = &site.description;
                WriteError::CannotHold(format!(
                    "{}:{}: the argument '{name}' of '{}' is not among those of its first record, or of another type; choose by --file or --function",
                    site.file, site.line, site.template
                ))
            })
        };
        let places = arguments.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        if self.places.len() >= SITES_MAX {
            self.places.clear();
        }
        self.places.push((number, places));
        Ok(self.places.len() - 1)
    }
}

impl Event {
    /// Whether the columns hold all arguments. It is asked before a column gets its value, so that none has more rows than another.
    fn fits(&mut self, site: &Site, args: &[u8], places: usize) -> Result<(), WriteError> {
        let mut at = Some(0);
        for (ty, place) in site.types.iter().zip(&self.places[places].1) {
            let read = at.and_then(|at| self.values.read(ty, args, at));
            if let Some((Cell::TooLarge(value), _)) = read {
                let (of, why) = (&site.description, too_large(&self.kinds[*place].0, value));
                return Err(WriteError::CannotHold(format!(
                    "{}:{}: {why}; convert without --event, then the column 'args' has it",
                    of.file, of.line
                )));
            }
            at = read.map(|(_, end)| end);
        }
        Ok(())
    }
}

/// Puts a value into its column, and a time into that of the nanoseconds too.
fn push(columns: &mut [Column], kind: Kind, cell: &Cell, values: &Values) {
    let count = if kind == Kind::Time { 2 } else { 1 };
    for column in &mut columns[..count] {
        column.push(cell, &values.text, &values.bytes);
    }
}

impl Table for Event {
    fn schema(&self) -> Option<SchemaRef> {
        self.schema.clone()
    }

    fn push(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let What::Record { site, site_number, args, .. } = record.what else { return Ok(()) };
        if site.description.template != self.name {
            return Ok(());
        }
        let places = self.places(site_number, site)?;
        self.fits(site, args, places)?;
        let common = [
            (Cell::Int(record.wall_ns), ""),
            (Cell::Int(record.wall_ns), ""),
            (Cell::Text, site.level().name()),
            (Cell::Int(site.level() as i64), ""),
            (Cell::Text, record.process),
            (Cell::Int(record.pid.into()), ""),
            (Cell::Int(record.tid.into()), ""),
            (Cell::Text, record.thread),
        ];
        for (column, (cell, text)) in self.columns.iter_mut().zip(common) {
            self.bytes += text.len();
            column.push(&cell, text, &[]);
        }
        let mut is_set = vec![false; self.kinds.len()];
        let mut at = Some(0);
        for (ty, place) in site.types.iter().zip(&self.places[places].1) {
            let read = at.and_then(|at| self.values.read(ty, args, at));
            at = read.as_ref().map(|(_, end)| *end);
            let cell = read.map_or(Cell::Null, |(cell, _)| cell);
            let (_, kind, column) = &self.kinds[*place];
            self.bytes += self.values.text.len() + self.values.bytes.len();
            push(&mut self.columns[OF_EVENT + column..], *kind, &cell, &self.values);
            is_set[*place] = true;
        }
        for ((_, kind, column), _) in self.kinds.iter().zip(is_set).filter(|(_, is_set)| !is_set) {
            push(&mut self.columns[OF_EVENT + column..], *kind, &Cell::Null, &self.values);
        }
        self.rows += 1;
        Ok(())
    }

    fn waiting(&self) -> (usize, usize) {
        (self.rows, self.bytes)
    }

    fn batch(&mut self) -> io::Result<RecordBatch> {
        (self.rows, self.bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(Column::take).collect();
        let schema = self.schema.clone().unwrap_or_else(|| schema(std::iter::empty()));
        RecordBatch::try_new(schema, columns).map_err(io::Error::other)
    }
}
