//! Reading in a thread of its own, in batches: the interpreter takes one while the next is being read.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use regex::Regex;
use silverpoint_convert::silver::TraceReader;
use silverpoint_convert::{Filtered, Input, MakeReader, Merge, Reader};
use silverpoint_query::filter::{Filter, RecordFilter};
use silverpoint_trace::{Note, Trace, Verdict, What, worst};

use crate::fault::Fault;
use crate::record::with_message;
use crate::row::{Keeper, Row};

/// Records, and bytes, of one batch at most; the first is small, so that it comes soon.
const BATCH: usize = 1024;
const FIRST_BATCH: usize = 32;
const BATCH_BYTES: usize = 1 << 20;
/// Batches that wait until they are taken.
const WAITING: usize = 2;
/// Between two looks whether the user has interrupted.
const LOOK: Duration = Duration::from_millis(100);

/// What is open.
pub(crate) struct Source {
    /// All trace files.
    pub(crate) trace: Option<Trace>,
    /// Files of other formats: read from their beginning each time.
    pub(crate) others: Vec<(PathBuf, MakeReader)>,
    /// Damage is an error.
    pub(crate) is_strict: bool,
}

/// Which records.
#[derive(Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) filter: Filter,
    /// What a message must match.
    pub(crate) grep: Option<Regex>,
}

impl Wanted {
    /// Whether a row is wanted that the filter has let through.
    pub(crate) fn takes(&self, row: &Row) -> bool {
        self.grep.as_ref().is_none_or(|grep| with_message(row, |message| grep.is_match(message)))
    }
}

enum Message<T> {
    Batch(Vec<T>),
    Failed(Fault),
    End(Vec<Note>),
}

/// Something that is read: it knows what it takes of memory.
pub(crate) trait Weighed: Send + 'static {
    /// Bytes, about.
    fn bytes(&self) -> usize;
}

impl Weighed for Row {
    fn bytes(&self) -> usize {
        self.bytes()
    }
}

/// Reads what is open and gives it piece by piece, until there is an end or nobody wants more (false; then `None`). Gives what was found to be missing.
pub(crate) type Read<T> = fn(&Source, &Wanted, &mut dyn FnMut(T) -> bool) -> Result<Option<Vec<Note>>, Fault>;

/// Takes what a thread reads.
pub(crate) struct Batches<T> {
    receiver: Mutex<Receiver<Message<T>>>,
    is_strict: bool,
    /// The thread lives in this process only, not in one that was forked from it.
    pid: u32,
    pub(crate) notes: Vec<Note>,
    has_ended: bool,
}

/// What the end of waiting is.
pub(crate) enum Next<T> {
    Batch(Vec<T>),
    End,
    Failed(Fault),
    /// Nothing has come yet.
    Nothing,
}

impl<T: Weighed> Batches<T> {
    /// Begins.
    pub(crate) fn begin(source: &Arc<Source>, wanted: Wanted, read: Read<T>) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let is_strict = source.is_strict;
        let shared = Arc::clone(source);
        // Ends when nobody receives any more.
        thread::Builder::new().name("silverpoint-read".into()).spawn(move || {
            let mut giver = Giver { sender, batch: Vec::new(), bytes: 0, most: FIRST_BATCH };
            let end = match read(&shared, &wanted, &mut |item| giver.give(item)) {
                Ok(Some(notes)) => Message::End(notes),
                // Nobody is there.
                Ok(None) => return,
                Err(fault) => Message::Failed(fault),
            };
            if giver.flush() {
                let _ = giver.sender.send(end);
            }
        })?;
        let notes = Vec::new();
        Ok(Self {
            receiver: Mutex::new(receiver),
            is_strict,
            pid: std::process::id(),
            notes,
            has_ended: false,
        })
    }

    /// The next batch, for which is waited so long.
    pub(crate) fn wait(&mut self, patience: Duration) -> Next<T> {
        if self.has_ended {
            return Next::End;
        }
        if self.pid != std::process::id() {
            return Next::Failed(Fault::Other(
                "these records are read by the process that this one was forked from: open the file again here",
            ));
        }
        let receiver = self.receiver.get_mut().unwrap_or_else(PoisonError::into_inner);
        let message = receiver.recv_timeout(patience);
        match message {
            Ok(Message::Batch(batch)) => return Next::Batch(batch),
            Err(RecvTimeoutError::Timeout) => return Next::Nothing,
            _ => self.has_ended = true,
        }
        match message {
            Ok(Message::Failed(fault)) => Next::Failed(fault),
            Ok(Message::End(notes)) => {
                self.notes = notes;
                let damaged = self.notes.iter().find(|note| note.matter.verdict() >= Verdict::Damaged);
                match damaged.filter(|_| self.is_strict) {
                    Some(note) => Next::Failed(Fault::Damaged(note.clone())),
                    None => Next::End,
                }
            }
            _ => Next::Failed(Fault::Other("the reading thread has failed; please report this")),
        }
    }

    /// The next batch; `None` at the end. Waits without the interpreter's lock.
    pub(crate) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Vec<T>>> {
        let mut next = self.wait(Duration::ZERO);
        loop {
            match next {
                Next::Batch(batch) => return Ok(Some(batch)),
                Next::End => return Ok(None),
                Next::Failed(fault) => return Err(fault.raise(py)),
                Next::Nothing => py.check_signals()?,
            }
            next = py.detach(|| self.wait(LOOK));
        }
    }

    /// The worst that was found.
    pub(crate) fn verdict(&self) -> Verdict {
        worst(&self.notes)
    }
}

/// Puts together what is passed on.
struct Giver<T> {
    sender: SyncSender<Message<T>>,
    batch: Vec<T>,
    bytes: usize,
    most: usize,
}

impl<T: Weighed> Giver<T> {
    /// False when nobody is there any more.
    fn give(&mut self, item: T) -> bool {
        self.bytes += item.bytes();
        self.batch.push(item);
        if self.batch.len() < self.most && self.bytes < BATCH_BYTES {
            return true;
        }
        self.flush()
    }

    fn flush(&mut self) -> bool {
        if self.batch.is_empty() {
            return true;
        }
        (self.most, self.bytes) = (BATCH, 0);
        let next = Vec::with_capacity(BATCH);
        self.sender.send(Message::Batch(std::mem::replace(&mut self.batch, next))).is_ok()
    }
}

/// Reads all rows that are wanted.
pub(crate) fn rows(
    source: &Source,
    wanted: &Wanted,
    give: &mut dyn FnMut(Row) -> bool,
) -> Result<Option<Vec<Note>>, Fault> {
    some_rows(source, wanted, &|_| true, give)
}

/// Reads those rows of whose kind `concerns` says that they are wanted: others are not even made.
pub(crate) fn some_rows(
    source: &Source,
    wanted: &Wanted,
    concerns: &dyn Fn(&What<'_>) -> bool,
    give: &mut dyn FnMut(Row) -> bool,
) -> Result<Option<Vec<Note>>, Fault> {
    match &source.trace {
        Some(trace) if source.others.is_empty() => Ok(read_trace(trace, wanted, concerns, give)),
        _ => read_any(source, wanted, concerns, give),
    }
}

fn read_trace(
    trace: &Trace,
    wanted: &Wanted,
    concerns: &dyn Fn(&What<'_>) -> bool,
    give: &mut dyn FnMut(Row) -> bool,
) -> Option<Vec<Note>> {
    let mut keeper = Keeper::default();
    let mut events = trace.select(&wanted.filter);
    while let Some(event) = events.next() {
        if !concerns(&event.what) {
            continue;
        }
        let Some(row) = keeper.event(&event) else { continue };
        if wanted.takes(&row) && !give(row) {
            return None;
        }
    }
    Some(trace.notes().iter().chain(events.notes()).cloned().collect())
}

fn read_any(
    source: &Source,
    wanted: &Wanted,
    concerns: &dyn Fn(&What<'_>) -> bool,
    give: &mut dyn FnMut(Row) -> bool,
) -> Result<Option<Vec<Note>>, Fault> {
    let mut readers: Vec<Box<dyn Reader + '_>> = Vec::new();
    for (number, (path, make)) in (1..).zip(&source.others) {
        let filter = RecordFilter::new(&wanted.filter).ok_or_else(|| {
            Fault::Filter(
                "times of day, and times before the end, need a trace file; give a date or '+TIME'".into(),
            )
        })?;
        let file = File::open(path).map_err(|error| Fault::Io(path.clone(), error))?;
        let reader = make(Input::new(Box::new(file)), number);
        // Errors carry the number of the input as its name.
        readers.push(Box::new(Filtered::new(reader, filter, number.to_string())));
    }
    if let Some(trace) = &source.trace {
        readers.push(Box::new(TraceReader::new(trace, &wanted.filter, 0)));
    }
    let mut reader: Box<dyn Reader + '_> = match readers.len() {
        1 => readers.remove(0),
        _ => Box::new(Merge::new(readers)),
    };
    let mut keeper = Keeper::default();
    loop {
        match reader.advance() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let number: usize = error.input.parse().unwrap_or(0);
                let path =
                    number.checked_sub(1).and_then(|at| source.others.get(at)).map(|(path, _)| path.clone());
                return Err(Fault::reading(&path.unwrap_or_default(), error));
            }
        }
        let Some(record) = reader.record().filter(|record| concerns(&record.what)) else { continue };
        let Some(row) = keeper.record(&record) else { continue };
        if wanted.takes(&row) && !give(row) {
            return Ok(None);
        }
    }
    Ok(Some(source.trace.iter().flat_map(|trace| trace.notes()).cloned().collect()))
}
