//! Counts the records of growing files: each once, as soon as it is in a file. Streams are counted one by
//! one, without a common order.
//!
//! Costs what counting costs: a few nanoseconds a record.

use std::collections::HashMap;
use std::path::Path;

use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::layout::record::{LOSS, STALL};
use silverpoint_wire::layout::site_entry::FIRST_ID;

use super::blocks::{BlockCursor, BlockReader};
use super::growing::Growing;
use super::{Note, OpenError, Stream, Trace};

/// Counts records of files that may still grow.
#[derive(Debug)]
pub struct Tally {
    growing: Growing,
    reader: BlockReader,
    /// A file was added that has not been counted.
    is_new: bool,
    /// By session and stream of it: the ring position up to which was counted.
    counted: HashMap<(usize, u32), u64>,
}

/// One record, or one control record about a loss or wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tallied {
    /// A record; the site's number in [`Trace::sites`], when it is described.
    Record {
        /// The site.
        site: Option<usize>,
        /// Bytes in the ring.
        bytes: u32,
    },
    /// The thread waited for room before its next record.
    Stall {
        /// How long.
        duration_ns: u64,
    },
    /// Records of the thread were lost before its next record.
    Loss {
        /// How many.
        count: u64,
    },
}

impl Default for Tally {
    fn default() -> Self {
        Self::new()
    }
}

impl Tally {
    /// Of nothing yet: see [`Tally::add`].
    pub fn new() -> Self {
        let trace = Trace::empty();
        Self {
            growing: Growing::new(trace, &[]),
            reader: BlockReader::default(),
            is_new: false,
            counted: HashMap::new(),
        }
    }

    /// Counts one more file, with the parts that belong to it: from its end as it is now, or all of it.
    ///
    /// # Errors
    /// A file that cannot be opened or read.
    pub fn add(&mut self, path: &Path, from_now_on: bool) -> Result<usize, OpenError> {
        let before = self.growing.trace.files.len();
        let head = self.growing.add(path)?;
        self.has_grown(before, from_now_on);
        Ok(head)
    }

    /// The same for a file that a session names, no matter who runs it. Only a regular file is opened,
    /// because opening a pipe may block.
    ///
    /// # Errors
    /// A file that cannot be opened or read, or is no regular file.
    pub fn add_regular(&mut self, path: &Path, from_now_on: bool) -> Result<usize, OpenError> {
        let before = self.growing.trace.files.len();
        let head = self.growing.add_regular(path)?;
        self.has_grown(before, from_now_on);
        Ok(head)
    }

    /// After a file was added to so many.
    fn has_grown(&mut self, before: usize, from_now_on: bool) {
        self.is_new = true;
        if from_now_on {
            self.pass_over(before as u32);
        }
    }

    /// What has been found so far.
    pub fn trace(&self) -> &Trace {
        &self.growing.trace
    }

    /// Whether nothing can follow: the newest part of every file has been closed.
    pub fn is_closed(&self) -> bool {
        self.growing.is_closed()
    }

    /// The number that [`Tally::add`] gave for the name under which a file of the trace appeared.
    pub fn head_of(&self, file: usize) -> usize {
        self.growing.head_of(file)
    }

    /// Counts what is new: `count` is given the trace, the session's number, the stream and what was found in it, in the stream's order.
    /// Returns what could not be read.
    ///
    /// # Errors
    /// Files that cannot be read any more.
    pub fn poll(
        &mut self,
        count: impl FnMut(&Trace, usize, &Stream, Tallied),
    ) -> Result<Vec<Note>, OpenError> {
        let is_new = std::mem::take(&mut self.is_new);
        if !self.growing.refresh()? && !is_new {
            return Ok(Vec::new());
        }
        let notes = self.walk(count);
        self.growing.release();
        Ok(notes)
    }

    /// Treats the contents of files from this one on as counted, for streams that were not counted yet. A
    /// stream that was read elsewhere continues where it was.
    fn pass_over(&mut self, file: u32) {
        for (number, session) in self.growing.trace.sessions.iter().enumerate() {
            for stream in &session.streams {
                if stream.blocks.iter().all(|block| block.file >= file) {
                    if let Some(end) = stream.blocks.iter().map(|block| block.header.ring_end).max() {
                        self.counted.entry((number, stream.number)).or_insert(end);
                    }
                }
            }
        }
    }

    /// Gives the records of all blocks that were not counted.
    fn walk(&mut self, mut count: impl FnMut(&Trace, usize, &Stream, Tallied)) -> Vec<Note> {
        let mut notes = Vec::new();
        let trace = &self.growing.trace;
        for (number, session) in trace.sessions.iter().enumerate() {
            for (_, stream) in session.holding() {
                let counted = self.counted.get(&(number, stream.number));
                let mut cursor = counted.map_or_else(
                    || BlockCursor::new(stream),
                    |position| BlockCursor::from(stream, *position),
                );
                while let Some(next) = cursor.next() {
                    let walked = self.reader.walk(
                        trace,
                        session,
                        &next,
                        |id| matches!(id, LOSS | STALL),
                        |head| {
                            let found = match head.site {
                                LOSS => u64_at(head.args, 1).map(|count| Tallied::Loss { count }),
                                STALL => {
                                    u64_at(head.args, 1).map(|duration_ns| Tallied::Stall { duration_ns })
                                }
                                ..FIRST_ID => None,
                                id => {
                                    Some(Tallied::Record { site: session.site_number(id), bytes: head.size })
                                }
                            };
                            if let Some(found) = found {
                                count(trace, number, stream, found);
                            }
                        },
                    );
                    if walked.is_lost() {
                        cursor.not_read(&next);
                    }
                    notes.extend(walked.notes);
                }
                self.counted.insert((number, stream.number), cursor.position());
            }
        }
        for (number, session) in self.growing.trace.sessions.iter_mut().enumerate() {
            session.forget_before(|stream| self.counted.get(&(number, stream)).copied());
        }
        notes
    }
}
