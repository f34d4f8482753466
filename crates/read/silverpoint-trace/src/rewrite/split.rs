//! A trace as several files, each for an interval of time, that can be read alone.
//!
//! Records are read in order of time, and a part ends between two of them. Of each block a part gets the run
//! that was read meanwhile, cut at records. The ring ranges of all parts together are those of the trace, so
//! that joining the parts gives the trace again. A part begins with all dictionaries. Where a thread has got
//! its name in an earlier part, the record with the name is repeated before the thread's first one.
//!
//! Memory is that of reading, and of a name for each thread.

use std::io::{self, Write};

use silverpoint_wire::layout::block::SEGMENT;
use silverpoint_wire::layout::record::{CONTEXT, THREAD_NAME};
use silverpoint_wire::repetition::RECORDS_MIN;

use super::dictionaries::Scope;
use super::{Options, Rewriter, Rewritten, now};
use crate::merge::{Events, Left, Place};
use crate::{BlockCursor, BlockReader, BlockRef, Note, Trace};

/// Most parts of a trace.
pub const PARTS_MAX: u32 = 9_999;
/// Bytes of the longest record of a name that is repeated.
const NAME_MAX: usize = 4096;
/// Bytes of a block in a file beside its payload: its header, zero bytes, and its place in the index.
const BLOCK: u64 = 216;
/// Bytes that end what concerns one session.
const SESSION_END: u64 = 112;
/// Bytes that a record may need beside its own: its block, and a name before it.
const RECORD: u64 = 2 * BLOCK + 64;

/// Where a part ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many parts, of as many records each as can be; fewer where there are fewer records.
    Parts(u32),
    /// Files of at most so many bytes, but for a record that is larger.
    Size(u64),
    /// Intervals of this many nanoseconds, counted from the first record. One without records makes no part.
    Every(u64),
}

/// Where the parts go.
pub trait Parts {
    /// A part that is being written.
    type File: Write;
    /// Begins a part, counted from 1.
    ///
    /// # Errors
    /// Those of making a file.
    fn begin(&mut self, number: u32) -> io::Result<Self::File>;
    /// A part is complete.
    ///
    /// # Errors
    /// Those of writing.
    fn end(&mut self, file: Self::File, done: Rewritten) -> io::Result<()>;
}

/// Writes a trace as several files; gives what could not be read. Cost: that of reading in order of time, and of reading each block again for each part that gets
/// some of it.
///
/// # Errors
/// Those of writing; of kind [`io::ErrorKind::InvalidInput`]: more than [`PARTS_MAX`] parts, or a size that leaves no room for records.
pub fn split<P: Parts>(
    trace: &Trace,
    limit: Limit,
    options: &Options,
    parts: &mut P,
) -> io::Result<Vec<Note>> {
    let total = if let Limit::Parts(_) = limit { count(trace) } else { 0 };
    let threads =
        trace.sessions.iter().map(|session| session.threads.iter().map(|_| Thread::default()).collect());
    let mut splitter = Splitter {
        trace,
        limit,
        options,
        total,
        threads: threads.collect(),
        fields: Vec::new(),
        open: Vec::new(),
        now: now(),
        number: 1,
        gone_through: 0,
        in_part: 0,
        pending_bytes: 0,
        pending_blocks: 0,
        begin_ns: None,
        until_ns: i128::MAX,
    };
    let mut part = splitter.begin(parts)?;
    let mut events = Events::keep_statements(trace, None);
    let mut left = Vec::new();
    loop {
        let place = events.next_place();
        events.take_left(&mut left);
        for left in left.drain(..) {
            splitter.left(&mut part, &left)?;
        }
        let Some(place) = place else { break };
        let Some(record) = events.record(&place) else { break };
        let size = record.header.size as usize;
        if splitter.is_full(&mut part, &place, size as u64)? {
            splitter.write_open(&mut part)?;
            let (done, file) = part.finish()?;
            parts.end(file, done)?;
            splitter.number += 1;
            part = splitter.begin(parts)?;
        }
        splitter.restate(&mut part, place.session, place.thread)?;
        splitter.restate_context(&mut part, place.session, place.cursor)?;
        if record.header.site == THREAD_NAME && size <= NAME_MAX {
            // The record as it stands: its header and its arguments.
            let mut bytes = record.header.encode().to_vec();
            bytes.extend_from_slice(record.args);
            splitter.named(&place, bytes);
        } else if record.header.site == CONTEXT {
            let mut bytes = record.header.encode().to_vec();
            bytes.extend_from_slice(record.args);
            splitter.stated(&place, bytes);
        }
        splitter.add(&place, size);
    }
    splitter.write_open(&mut part)?;
    let (done, file) = part.finish()?;
    parts.end(file, done)?;
    Ok(events.notes().to_vec())
}

/// All records, names and other control records included.
fn count(trace: &Trace) -> u64 {
    let mut reader = BlockReader::default();
    let mut records = 0;
    for session in &trace.sessions {
        for stream in &session.streams {
            let mut blocks = BlockCursor::new(stream);
            while let Some(next) = blocks.next() {
                let walked = reader.walk(trace, session, &next, |_| false, |_| records += 1);
                if walked.is_lost() {
                    blocks.not_read(&next);
                }
            }
        }
    }
    records
}

/// A block that is being read: the rest that the current part must still get.
struct Open<'t> {
    cursor: u32,
    session: usize,
    thread: usize,
    block: &'t BlockRef,
    begin: usize,
    end: usize,
}

/// What a thread is called.
#[derive(Default)]
struct Thread<'t> {
    name: Option<Statement<'t>>,
    /// The last part that states it, or needs no statement.
    stated_in: u32,
}

/// Which fields the records of a stream have.
#[derive(Default)]
struct Fields<'t> {
    context: Option<Statement<'t>>,
    /// As of [`Thread`].
    stated_in: u32,
}

/// The record of a name or a context.
struct Statement<'t> {
    block: &'t BlockRef,
    at: usize,
    bytes: Vec<u8>,
}

struct Splitter<'t, 'o> {
    trace: &'t Trace,
    limit: Limit,
    options: &'o Options,
    /// Records of the trace, where that matters.
    total: u64,
    /// By session.
    threads: Vec<Vec<Thread<'t>>>,
    /// By cursor.
    fields: Vec<Fields<'t>>,
    /// By cursor.
    open: Vec<Option<Open<'t>>>,
    /// When they are made. A session that has lost its id gets one from it, the same in all parts.
    now: u128,
    /// Of the current part.
    number: u32,
    /// Records of all parts so far.
    gone_through: u64,
    in_part: u64,
    /// Bytes that the current part has still to get, and of how many blocks.
    pending_bytes: u64,
    pending_blocks: u64,
    /// When the first record was.
    begin_ns: Option<i64>,
    /// When the current part ends.
    until_ns: i128,
}

impl<'t: 'o, 'o> Splitter<'t, 'o> {
    fn begin<P: Parts>(&mut self, parts: &mut P) -> io::Result<Part<'o, P::File>> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        if self.number > PARTS_MAX {
            return Err(invalid(format!("there would be more than {PARTS_MAX} parts: make them larger")));
        }
        let file = parts.begin(self.number)?;
        let mut rewriter = Rewriter::new(self.trace, self.options, Scope::all(self.trace), file);
        (rewriter.part, rewriter.now) = (self.number, self.now);
        rewriter.begin()?;
        let descriptions = rewriter.out.written();
        if let Limit::Size(most) = self.limit {
            if descriptions + rewriter.out.rest() > most / 2 {
                let what = format!(
                    "what describes the records takes {descriptions} bytes in each part: choose a size of {} bytes or more",
                    (descriptions + rewriter.out.rest()) * 2
                );
                return Err(invalid(what));
            }
        }
        if let Limit::Size(most) = self.limit {
            // Records come first in small parts.
            rewriter.repeats = descriptions <= most / 32;
        }
        self.in_part = 0;
        Ok(Part { rewriter, descriptions })
    }

    /// Whether the part ends before a record.
    fn is_full<W: Write>(
        &mut self,
        part: &mut Part<'o, W>,
        place: &Place<'_>,
        size: u64,
    ) -> io::Result<bool> {
        let begin_ns = *self.begin_ns.get_or_insert(place.ns);
        let is_first = self.in_part == 0;
        Ok(match self.limit {
            Limit::Parts(parts) => {
                let end = u128::from(self.total) * u128::from(self.number) / u128::from(parts.max(1));
                !is_first && self.number < parts && u128::from(self.gone_through) >= end
            }
            Limit::Every(ns) => {
                let (begin, now, every) = (i128::from(begin_ns), i128::from(place.ns), i128::from(ns.max(1)));
                let is_beyond = now >= self.until_ns;
                if is_first || is_beyond {
                    self.until_ns = begin + ((now - begin).div_euclid(every) + 1) * every;
                }
                !is_first && is_beyond
            }
            Limit::Size(most) => {
                if is_first || self.bytes(part) + size + RECORD <= most {
                    return Ok(false);
                }
                // What is pending may become smaller.
                self.write_open(part)?;
                self.bytes(part) + size + RECORD > most - most / 8
            }
        })
    }

    /// Bytes of the part, if it ended now and nothing that is pending could be compressed.
    fn bytes<W: Write>(&self, part: &Part<'_, W>) -> u64 {
        let out = &part.rewriter.out;
        let pending = self.pending_bytes + (self.pending_blocks + 1) * BLOCK;
        let blocks = out.written() + pending + out.rest() + self.trace.sessions.len() as u64 * SESSION_END;
        let is_segment_far = blocks + SEGMENT / 64 < part.rewriter.segment_end;
        let segment = if is_segment_far { 0 } else { part.descriptions };
        let repeated = match part.rewriter.repeats {
            // As often as what is pending makes it due, and at the end.
            true => (pending / RECORDS_MIN + 2) * part.descriptions,
            false => 0,
        };
        blocks + segment + repeated
    }

    /// A record goes into the current part.
    fn add(&mut self, place: &Place<'t>, size: usize) {
        let index = place.cursor as usize;
        if self.open.len() <= index {
            self.open.resize_with(index + 1, || None);
        }
        let Place { cursor, session, thread, block, skip, .. } = *place;
        let open =
            self.open[index].get_or_insert(Open { cursor, session, thread, block, begin: skip, end: skip });
        if open.end == open.begin {
            self.pending_blocks += 1;
        }
        let end = place.at + size;
        self.pending_bytes += end.saturating_sub(open.end) as u64;
        open.end = end;
        self.in_part += 1;
        self.gone_through += 1;
    }

    /// A block has been read: its rest, with its pads, goes into the current part.
    fn left<W: Write>(&mut self, part: &mut Part<'o, W>, left: &Left<'t>) -> io::Result<()> {
        let open = self.open.get_mut(left.cursor as usize).and_then(Option::take);
        let Left { cursor, session, thread, block, skip, .. } = *left;
        let mut open = open.unwrap_or(Open { cursor, session, thread, block, begin: skip, end: skip });
        self.written(&open);
        open.end = left.end;
        self.write(part, &open)
    }

    /// Writes what is pending of all open blocks.
    fn write_open<W: Write>(&mut self, part: &mut Part<'o, W>) -> io::Result<()> {
        let mut all = std::mem::take(&mut self.open);
        for open in all.iter_mut().flatten() {
            self.written(open);
            self.write(part, open)?;
            open.begin = open.end;
        }
        self.open = all;
        Ok(())
    }

    /// Takes a block off from what is pending.
    fn written(&mut self, open: &Open<'_>) {
        if open.end > open.begin {
            self.pending_bytes -= (open.end - open.begin) as u64;
            self.pending_blocks -= 1;
        }
    }

    fn write<W: Write>(&mut self, part: &mut Part<'o, W>, open: &Open<'_>) -> io::Result<()> {
        if open.end <= open.begin {
            return Ok(());
        }
        self.restate(part, open.session, open.thread)?;
        self.restate_context(part, open.session, open.cursor)?;
        let rewriter = &mut part.rewriter;
        let mut raw = std::mem::take(&mut rewriter.raw);
        // Errors in it were reported when it was read first.
        let _ = rewriter.reader.read(self.trace, &self.trace.sessions[open.session], open.block, &mut raw);
        let stretch = raw.get(open.begin..open.end.min(raw.len())).filter(|stretch| !stretch.is_empty());
        let written = stretch
            .map_or(Ok(()), |stretch| rewriter.stretch(open.session, open.block, open.begin, stretch, 0));
        rewriter.raw = raw;
        written
    }

    /// A thread has got a name.
    fn named(&mut self, place: &Place<'t>, bytes: Vec<u8>) {
        let thread = &mut self.threads[place.session][place.thread];
        thread.name = Some(Statement { block: place.block, at: place.at, bytes });
    }

    /// The records of a stream have other fields from here on.
    fn stated(&mut self, place: &Place<'t>, bytes: Vec<u8>) {
        self.fields[place.cursor as usize].context =
            Some(Statement { block: place.block, at: place.at, bytes });
    }

    /// Repeats the context of a stream of which the part has had nothing yet.
    fn restate_context<W: Write>(
        &mut self,
        part: &mut Part<'o, W>,
        session: usize,
        cursor: u32,
    ) -> io::Result<()> {
        let cursor = cursor as usize;
        if self.fields.len() <= cursor {
            self.fields.resize_with(cursor + 1, Fields::default);
        }
        let fields = &mut self.fields[cursor];
        if std::mem::replace(&mut fields.stated_in, self.number) == self.number {
            return Ok(());
        }
        match &fields.context {
            Some(context) => part.rewriter.stretch(session, context.block, context.at, &context.bytes, 0),
            None => Ok(()),
        }
    }

    /// Repeats the name of a thread of which the part has had nothing yet.
    fn restate<W: Write>(&mut self, part: &mut Part<'o, W>, session: usize, thread: usize) -> io::Result<()> {
        let thread = &mut self.threads[session][thread];
        if std::mem::replace(&mut thread.stated_in, self.number) == self.number {
            return Ok(());
        }
        match &thread.name {
            Some(name) => part.rewriter.stretch(session, name.block, name.at, &name.bytes, 0),
            None => Ok(()),
        }
    }
}

/// A part that is being written.
struct Part<'o, W> {
    rewriter: Rewriter<'o, W>,
    /// Bytes of what stands before its records.
    descriptions: u64,
}

impl<W: Write> Part<'_, W> {
    fn finish(self) -> io::Result<(Rewritten, W)> {
        self.rewriter.finish()
    }
}
