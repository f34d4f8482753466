//! The records of one name: each argument is a column of its type.
//!
//! The first record says which columns there are. Sites of the same name in other places may have the same arguments in another order, or fewer; what they have besides, or of another type, cannot be held.

use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use silverpoint_convert::{Record, WriteError};
use silverpoint_formats::site::Site;
use silverpoint_formats::tracefile::What;

use crate::Table;
use crate::column::{Cell, Column, Kind, Values};

/// Before those of the arguments. An argument of such a name gets `arg_` before it.
const COMMON: [(&str, Kind); 6] = [
    ("time", Kind::Time),
    ("level", Kind::Text),
    ("process", Kind::Text),
    ("pid", Kind::Small),
    ("tid", Kind::Small),
    ("thread", Kind::Text),
];

/// See the module.
pub struct Event {
    name: String,
    /// From the first record on.
    schema: Option<SchemaRef>,
    columns: Vec<Column>,
    /// Of the arguments.
    kinds: Vec<(String, Kind)>,
    /// By number of a site: for each of its arguments the column, from 0 behind the common ones.
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
            columns: COMMON.iter().map(|(_, kind)| Column::new(*kind)).collect(),
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
            let mut name = match site.names.get(number) {
                Some(name) => name.clone(),
                None => format!("arg{number}"),
            };
            if COMMON.iter().any(|(common, _)| *common == name) {
                name = format!("arg_{name}");
            }
            while found.iter().any(|(known, _)| *known == name) {
                name.push('_');
            }
            found.push((name, Kind::of(ty)));
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
            let common = COMMON.iter().map(|(name, kind)| Field::new(*name, kind.data_type(), false));
            let own = arguments.iter().map(|(name, kind)| Field::new(name, kind.data_type(), true));
            self.schema = Some(Arc::new(Schema::new(common.chain(own).collect::<Vec<_>>())));
            self.columns.extend(arguments.iter().map(|(_, kind)| Column::new(*kind)));
            self.kinds.clone_from(&arguments);
        }
        let place = |(name, kind): &(String, Kind)| {
            let found = self.kinds.iter().position(|(known, _)| known == name);
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
        let common = [
            (Cell::Int(record.wall_ns), ""),
            (Cell::Text, site.level().name()),
            (Cell::Text, record.process.name.as_str()),
            (Cell::UInt(record.process.pid.into()), ""),
            (Cell::UInt(record.tid.into()), ""),
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
            self.bytes += self.values.text.len() + self.values.bytes.len();
            self.columns[COMMON.len() + place].push(&cell, &self.values.text, &self.values.bytes);
            is_set[*place] = true;
        }
        for (place, _) in is_set.iter().enumerate().filter(|(_, is_set)| !**is_set) {
            self.columns[COMMON.len() + place].push(&Cell::Null, "", &[]);
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
        let schema = self.schema.clone().unwrap_or_else(|| Arc::new(Schema::empty()));
        RecordBatch::try_new(schema, columns).map_err(io::Error::other)
    }
}
