//! Event Trace Log (`.etl`), the format of Windows Performance Analyzer, PerfView and tracerpt. Written only:
//! `docs/formats.md` says what becomes what, and what is left out.
//!
//! ```text
//! buffer: the file's header │ buffer: event event … │ buffer …          64 KiB each
//! event:  head │ activity around it │ schema of the fields │ provider │ values
//! ```
//!
//! Events describe themselves, as TraceLogging's do. They are those that tracepoints write to ETW while a
//! program runs (`cpp/src/etw`): tests compare both.
//!
//! An event earlier than its predecessor goes to the next processor that has not passed its time: readers
//! merge processors. Memory is a buffer for each of these, the sites, the threads' names and the open spans.

mod activities;
mod buffers;
mod event;
mod fields;
mod header;
mod identity;
mod payload;
mod schema;

use std::collections::HashMap;
use std::io::{self, Seek, Write};
use std::rc::Rc;

use silverpoint_render::ShowContext;
use silverpoint_trace::{Site, What, cause_name};
use silverpoint_wire::bytes::length_at;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::signature::Type;

use self::activities::{Activities, Activity};
use self::buffers::{Buffers, EVENT_MOST, PROCESSORS_MOST};
use self::event::Event;
use self::fields::Field;
use self::header::{Clock, Summary};
use self::identity::{Provider, STOP};
use self::payload::Payload;
use self::schema::Schema;
use crate::{Record, WriteError, Writer, document};

/// The name of the format.
pub const ETL: &str = "etl";

/// Writes one file.
pub struct EtlWriter<W> {
    buffers: Buffers<W>,
    name: String,
    /// Of the records that are written.
    clock: Option<Clock>,
    times: (u64, u64),
    lost: u64,
    kinds: HashMap<Key, Option<Rc<Described>>>,
    activities: Activities,
    /// Last written names of processes, by number, and of threads, by this number and thread id.
    names: HashMap<(usize, Option<u32>), String>,
    payload: Payload,
    event: Vec<u8>,
}

/// A sort of events.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Site(usize),
    /// Of a site whose arguments contradict its signature.
    Raw(usize),
    /// Whether it says how long the span took.
    End(usize, bool),
    Own(&'static str),
}

/// What all events of a sort have in common.
struct Described {
    provider: Provider,
    level: u8,
    opcode: u8,
    keyword: u64,
    fields: Vec<Field>,
    schema: Schema,
}

impl Described {
    /// `None`: it has too many fields, or too long ones.
    fn new(
        name: &str,
        category: &str,
        level: Level,
        kind: Kind,
        fields: Vec<(String, Field)>,
    ) -> Option<Self> {
        let schema = Schema::new(name, fields.iter().map(|(name, field)| (name.as_str(), field)))?;
        Some(Self {
            provider: Provider::of(category),
            level: identity::level(level),
            opcode: identity::opcode(kind),
            keyword: identity::keyword(kind, category),
            fields: fields.into_iter().map(|(_, field)| field).collect(),
            schema,
        })
    }

    /// One of ours.
    fn own(name: &str, level: Level, fields: &[(&str, Type)]) -> Option<Self> {
        let fields = fields.iter().map(|(name, ty)| ((*name).to_owned(), Field::of(ty)));
        Self::new(&format!("silverpoint:{name}"), "", level, Kind::Event, fields.collect())
    }
}

const U64: Type = Type::Int { bits: 64, signed: false };

impl<W: Write + Seek> EtlWriter<W> {
    /// Begins a file, which stands at its begin and is empty. `name`: what it says that it is called.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(out: W, name: &str) -> io::Result<Self> {
        Ok(Self {
            buffers: Buffers::new(out)?,
            name: name.to_owned(),
            clock: None,
            times: (u64::MAX, 0),
            lost: 0,
            kinds: HashMap::new(),
            activities: Activities::default(),
            names: HashMap::new(),
            payload: Payload::default(),
            event: Vec::new(),
        })
    }

    fn described(&mut self, key: Key, make: impl FnOnce() -> Option<Described>) -> Option<Rc<Described>> {
        self.kinds.entry(key).or_insert_with(|| make().map(Rc::new)).clone()
    }

    /// A record of a site. Its arguments are checked: what is given out then is bounded by the bytes.
    fn record(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let What::Record { site, site_number, args, truncated } = record.what else { return Ok(()) };
        let (kind, is_exact) = (site.kind(), document::is_exact(site, args));
        let activity = self.activities.of(record, site_number, kind, args);
        let key = if is_exact { Key::Site(site_number) } else { Key::Raw(site_number) };
        let described = self.described(key, || {
            let fields = match is_exact {
                true => fields_of(site),
                false => vec![("raw".to_owned(), Field::Bytes)],
            };
            let description = &site.description;
            let name = identity::event_name(site);
            Described::new(&name, &description.category, site.level(), kind, fields)
        });
        let Some(described) = described else {
            return Err(self.cannot_hold(format!(
                "{}: an event of ETW holds at most 127 fields, and 64,000 bytes of names and values of fixed size",
                site.place()
            )));
        };
        self.payload.begin(described.schema.room);
        let mut stack: &[u8] = &[];
        if is_exact {
            let mut at = Some(0);
            for (number, field) in described.fields.iter().enumerate() {
                let begin = at;
                at = at.and_then(|at| self.payload.push(field, args, at));
                if site.is_crash() && site.names.get(number).is_some_and(|name| name == "stack") {
                    stack = begin.and_then(|begin| counters(args, begin)).unwrap_or_default();
                }
            }
        } else {
            self.payload.binary(args);
        }
        self.write(record, &described, &activity, truncated, stack)
    }

    fn span_end(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let What::SpanEnd { site, site_number, duration_ns, .. } = record.what else { return Ok(()) };
        let activity = self.activities.end(record, site_number);
        let is_timed = duration_ns.is_some();
        let fields = || match is_timed {
            true => vec![("duration_ns".to_owned(), Field::of(&U64))],
            false => Vec::new(),
        };
        let described = match (site, site_number) {
            (Some(site), Some(number)) => self.described(Key::End(number, is_timed), || {
                let (name, category) = (identity::end_name(site), &site.description.category);
                let described = Described::new(&name, category, site.level(), Kind::Span, fields())?;
                Some(Described { opcode: STOP, ..described })
            }),
            _ => self.described(Key::Own(if is_timed { "span_exit" } else { "span_exit untimed" }), || {
                let described =
                    Described::new("silverpoint:span_exit", "", Level::Info, Kind::Span, fields())?;
                Some(Described { opcode: STOP, ..described })
            }),
        };
        let values: Vec<u8> = duration_ns.into_iter().flat_map(u64::to_le_bytes).collect();
        self.values(record, described, &activity, &values)
    }

    /// An event of ours.
    fn own(
        &mut self,
        record: &Record<'_>,
        name: &'static str,
        level: Level,
        fields: &[(&str, Type)],
        values: &[u8],
    ) -> Result<(), WriteError> {
        let described = self.described(Key::Own(name), || Described::own(name, level, fields));
        let activity = Activity { id: self.activities.innermost(record), around: None };
        self.values(record, described, &activity, values)
    }

    /// An event of values as they are packed in records.
    fn values(
        &mut self,
        record: &Record<'_>,
        described: Option<Rc<Described>>,
        activity: &Activity,
        values: &[u8],
    ) -> Result<(), WriteError> {
        // (They are few, so they have room.)
        let Some(described) = described else { return Ok(()) };
        self.payload.begin(described.schema.room);
        let mut at = Some(0);
        for field in &described.fields {
            at = at.and_then(|at| self.payload.push(field, values, at));
        }
        self.write(record, &described, activity, false, &[])
    }

    /// The event whose values are in `payload`.
    fn write(
        &mut self,
        record: &Record<'_>,
        described: &Described,
        activity: &Activity,
        truncated: bool,
        stack: &[u8],
    ) -> Result<(), WriteError> {
        if let Some(context) = record.context {
            self.payload.text(context.json());
        }
        let clock = *self.clock.get_or_insert_with(|| Clock::new(record.wall_ns));
        let Some(time) = clock.at(record.wall_ns) else {
            return Err(
                self.cannot_hold("an event log holds no record from 52 days before its first one".into())
            );
        };
        let event = Event {
            pid: record.pid,
            tid: record.tid,
            time,
            provider: &described.provider,
            level: described.level,
            opcode: described.opcode,
            keyword: described.keyword,
            activity,
            schema: match record.context {
                Some(_) => &described.schema.with_context,
                None => &described.schema.plain,
            },
            is_cut: truncated || self.payload.is_cut,
            stack,
            payload: &self.payload.bytes,
        };
        event.write(&mut self.event);
        debug_assert!(self.event.len() <= EVENT_MOST);
        if !self.buffers.push(time, &self.event)? {
            return Err(self.cannot_hold(format!(
                "records are in no order of time, more than {PROCESSORS_MOST} times over: convert them to a trace file (.silver) first, which sorts them"
            )));
        }
        self.times = (self.times.0.min(time), self.times.1.max(time));
        Ok(())
    }

    /// Counts a record that is left out.
    fn cannot_hold(&mut self, why: String) -> WriteError {
        self.lose(1);
        WriteError::CannotHold(why)
    }

    fn lose(&mut self, count: u64) {
        self.lost = self.lost.saturating_add(count);
        self.buffers.lose();
    }

    /// Names of process and thread, where they are new.
    fn names(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        let process = (record.process_number, None);
        let thread = (record.process_number, Some(record.tid));
        let name = record.process;
        for (key, sort, name) in [(process, "process_name", name), (thread, "thread_name", record.thread)] {
            if matches!(name, "" | "?") || self.names.get(&key).is_some_and(|known| known == name) {
                continue;
            }
            let (value, of) = (counted(name.as_bytes()), Record { context: None, ..*record });
            self.own(&of, sort, Level::Info, &[("name", Type::Text8)], &value)?;
            self.names.insert(key, name.to_owned());
        }
        Ok(())
    }
}

/// The fields of a site's arguments.
fn fields_of(site: &Site) -> Vec<(String, Field)> {
    let name = |number: usize| match site.names.get(number).filter(|name| !name.is_empty()) {
        Some(name) => name.clone(),
        None => format!("arg{number}"),
    };
    site.types.iter().enumerate().map(|(number, ty)| (name(number), Field::of(ty))).collect()
}

/// The elements of a packed sequence of addresses that begins at `at`.
fn counters(args: &[u8], at: usize) -> Option<&[u8]> {
    let (from, count) = length_at(args, at)?;
    args.get(from..from.checked_add((count as usize).checked_mul(8)?)?)
}

impl<W: Write + Seek> Writer for EtlWriter<W> {
    fn write(&mut self, record: &Record<'_>) -> Result<(), WriteError> {
        if matches!(
            record.what,
            What::ThreadName | What::ThreadEnd | What::Context | What::OtherControl { .. }
        ) {
            return Ok(());
        }
        self.names(record)?;
        match record.what {
            What::SpanEnd { .. } => self.span_end(record),
            What::Loss { cause, count, span_ns } => {
                self.activities.lost(record);
                self.lose(count);
                let values = [counted(cause_name(cause).as_bytes()), long(count), long(span_ns)].concat();
                let fields = [("cause", Type::Text8), ("count", U64), ("span_ns", U64)];
                self.own(record, "loss", Level::Warn, &fields, &values)
            }
            What::Stall { cause, duration_ns } => {
                let values = [counted(cause_name(cause).as_bytes()), long(duration_ns)].concat();
                let fields = [("cause", Type::Text8), ("duration_ns", U64)];
                self.own(record, "stall", Level::Info, &fields, &values)
            }
            What::Unknown { site_id, args } => {
                let values = [site_id.to_le_bytes().to_vec(), counted(args)].concat();
                let fields = [("site", Type::Int { bits: 32, signed: false }), ("raw", Type::Bytes)];
                self.own(record, "unknown", Level::Info, &fields, &values)
            }
            _ => self.record(record),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        let first = self.clock.is_some();
        let clock = self.clock.unwrap_or_else(|| Clock::new(0));
        let now = clock.at(0).unwrap_or_default();
        self.buffers.finish(&Summary {
            clock,
            times: if first { self.times } else { (now, now) },
            lost: u32::try_from(self.lost).unwrap_or(u32::MAX),
            name: self.name.clone(),
        })
    }
}

/// A value of 64 bits as it is packed in a record.
fn long(value: u64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

/// A text or bytes as they are packed in a record.
fn counted(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}
