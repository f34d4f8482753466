//! Logs and spans that wait for one request, by process and category.

use super::message::{Message, fragment, join};
use super::value;
use crate::Record;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// An `ExportLogsServiceRequest`.
    Logs,
    /// An `ExportTraceServiceRequest`.
    Traces,
}

impl Signal {
    /// Number and name of the list of records in a scope, as `ScopeLogs` and `ScopeSpans` have them.
    pub(super) fn list(self) -> (u32, &'static str) {
        match self {
            Self::Logs => (2, "logRecords"),
            Self::Traces => (2, "spans"),
        }
    }
}

/// Records that wait at most, and their bytes.
const MOST: usize = 512;
const MOST_BYTES: usize = 1 << 20;

/// Records of one kind that wait.
pub(super) struct Batch {
    signal: Signal,
    records: Vec<Waiting>,
    bytes: usize,
}

struct Waiting {
    process: usize,
    category: String,
    item: Vec<u8>,
}

/// Attributes of processes, as they are sent.
#[derive(Default)]
pub(super) struct Resources {
    items: crate::Interned<Vec<u8>>,
}

impl Resources {
    /// Knows the process of the record from now on.
    pub(super) fn know<M: Message>(&mut self, record: &Record<'_>) {
        self.items.get(record.process_number, || resource::<M>(record));
    }
}

fn resource<M: Message>(record: &Record<'_>) -> Vec<u8> {
    let name = if record.process.is_empty() { "?" } else { record.process };
    attributes::<M>(1, |message| {
        value::text(message, "service.name", name);
        value::text(message, "process.executable.name", name);
        if record.pid != 0 {
            value::int(message, "process.pid", record.pid.into());
        }
        value::text(message, "telemetry.sdk.name", "silverpoint");
        value::text(message, "telemetry.sdk.version", env!("CARGO_PKG_VERSION"));
    })
}

/// Items of a list of attributes with this number in its message.
pub(super) fn attributes<M: Message>(field: u32, write: impl FnOnce(&mut M)) -> Vec<u8> {
    let mut message = M::default();
    message.within_list(field);
    write(&mut message);
    message.take()
}

impl Batch {
    pub(super) fn new(signal: Signal) -> Self {
        Self { signal, records: Vec::new(), bytes: 0 }
    }

    /// Adds a record.
    pub(super) fn add(&mut self, process: usize, category: &str, item: Vec<u8>) {
        self.bytes += item.len();
        self.records.push(Waiting { process, category: category.to_owned(), item });
    }

    /// Whether it is time for a request.
    pub(super) fn is_full(&self) -> bool {
        self.records.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// The request and how many records it has; `None` when none wait.
    pub(super) fn take<M: Message>(&mut self, resources: &mut Resources) -> Option<(Vec<u8>, u64)> {
        if self.records.is_empty() {
            return None;
        }
        let mut records = std::mem::take(&mut self.records);
        self.bytes = 0;
        // In order of time within each.
        records.sort_by(|a, b| (a.process, &a.category).cmp(&(b.process, &b.category)));
        let count = records.len() as u64;
        let (list, list_name) = self.signal.list();
        let mut all = Vec::new();
        for of_process in records.chunk_by(|a, b| a.process == b.process) {
            let mut scopes = Vec::new();
            for of_scope in of_process.chunk_by(|a, b| a.category == b.category) {
                let mut items = Vec::new();
                for record in of_scope {
                    join::<M>(&mut items, &record.item);
                }
                let scope = fragment::<M>(2, |message| {
                    message.begin(1, "scope");
                    message.text(1, "name", &of_scope[0].category);
                    message.end();
                    message.items(list, list_name, &items);
                });
                join::<M>(&mut scopes, &scope);
            }
            let attributes = resources.items.get(of_process[0].process, Vec::new);
            let (_, scopes_name) = self.names();
            let resource = fragment::<M>(1, |message| {
                message.begin(1, "resource");
                message.items(1, "attributes", attributes);
                message.end();
                message.items(2, scopes_name, &scopes);
            });
            join::<M>(&mut all, &resource);
        }
        let (resources_name, _) = self.names();
        let mut message = M::default();
        message.whole(|message| message.items(1, resources_name, &all));
        Some((message.take(), count))
    }

    fn names(&self) -> (&'static str, &'static str) {
        match self.signal {
            Signal::Logs => ("resourceLogs", "scopeLogs"),
            Signal::Traces => ("resourceSpans", "scopeSpans"),
        }
    }
}
