//! A cursor's way through its blocks: which one is read, where its next record is, and when its bytes are given back.

use silverpoint_wire::layout::record::PAD;
use silverpoint_wire::record::{RecordHeader, Records};

use super::{Events, NOTES_MAX};
use crate::blocks::{BlockReader, NextBlock, missing_bytes};
use crate::cursor::{Cursor, State};
use crate::place::Left;
use crate::progress::{last_context, may_hold_context};
use crate::verdict::Note;
use crate::{Trace, scan};

/// Bytes of open blocks above which streams that are not current give theirs back, to read them again later.
const OPEN_BYTES_MAX: usize = 256 << 20;

/// Of a cursor that has not come to a record yet.
const NO_RECORD: RecordHeader = RecordHeader { size: 0, flags: 0, site: PAD, ticks: 0 };

impl<'t> Events<'t> {
    /// Puts the cursor before its next block; whether it has one that may be wanted.
    pub(super) fn next_block(&mut self, index: u32) -> bool {
        let cursor = &mut self.cursors[index as usize];
        let session = &self.trace.sessions[cursor.session as usize];
        let stream = &session.streams[cursor.stream as usize];
        while let Some(next) = cursor.blocks.next() {
            if next.block.header.ring_begin.saturating_add(next.skip as u64) >= cursor.limit {
                break;
            }
            if next.is_broken {
                // Which fields the records have is not known before it is stated again.
                (cursor.context, cursor.stated) = (None, None);
            }
            if next.missing > 0 && self.notes.len() < NOTES_MAX {
                self.notes.push(missing_bytes(self.trace, session, stream, &next));
            }
            let wanted = self.selection.as_ref().is_none_or(|selection| {
                selection.block(session, cursor.session as usize, &next.block.header)
            });
            if wanted {
                cursor.state = State::Block(next);
                return true;
            }
            if may_hold_context(&next.block.header) {
                cursor.stated = Some(next.block);
            }
        }
        cursor.state = State::End;
        false
    }

    /// Reads the block before which the cursor stands, and puts it before its first record, or the next block; whether there is any.
    pub(super) fn open(&mut self, index: u32) -> bool {
        let cursor = &mut self.cursors[index as usize];
        let State::Block(next) = &cursor.state else { return false };
        let next = *next;
        let raw = match self.rooms.reopen(next.block) {
            Some(raw) => raw,
            None => {
                let mut raw = self.rooms.take();
                self.blocks_read += 1;
                let session = &self.trace.sessions[cursor.session as usize];
                let note = self.reader.read(self.trace, session, next.block, &mut raw);
                if self.reader.bytes > self.bytes_max {
                    self.pause_at = 0;
                }
                if let Some(note) = note {
                    self.note(note);
                    if raw.is_empty() {
                        self.cursors[index as usize].blocks.not_read(&next);
                        self.rooms.give(raw);
                        return self.next_block(index);
                    }
                }
                raw
            }
        };
        let cursor = &mut self.cursors[index as usize];
        let wanted = usize::try_from(cursor.limit - next.block.header.ring_begin).unwrap_or(usize::MAX);
        let end = raw.len().min(wanted);
        Self::take_stated(self.trace, &mut self.reader, cursor);
        self.open_bytes += raw.len();
        cursor.state = State::Record { block: next, raw, at: next.skip, end, header: NO_RECORD };
        self.settle(index)
    }

    /// Adopts the fields that a skipped block has stated.
    pub(super) fn take_stated(trace: &Trace, reader: &mut BlockReader, cursor: &mut Cursor<'_>) {
        let Some(block) = cursor.stated.take() else { return };
        if let Some(context) = last_context(trace, &trace.sessions[cursor.session as usize], block, reader) {
            cursor.context = context;
        }
    }

    /// Moves past the record that was given out.
    #[inline]
    pub(super) fn step(&mut self, index: u32) -> bool {
        let cursor = &mut self.cursors[index as usize];
        if let State::Record { at, header, .. } = &mut cursor.state {
            *at += header.size as usize;
        }
        self.settle(index)
    }

    /// Moves from the place of the cursor to the first record there or in the following blocks, which may
    /// have to be read. Whether there is one.
    #[inline]
    fn settle(&mut self, index: u32) -> bool {
        let cursor = &mut self.cursors[index as usize];
        let State::Record { block, raw, at, end, header } = &mut cursor.state else { return false };
        let mut fault = None;
        // The first record of a stream is never skipped: it may give the thread its name.
        let selection = self.selection.as_ref().filter(|_| cursor.begun);
        let session_number = cursor.session as usize;
        while at < end {
            match Records::new(&raw[*at..*end]).next() {
                Some(Ok(record))
                    if selection.is_some_and(|s| s.passes_over(session_number, record.header.site)) =>
                {
                    *at += record.header.size as usize;
                }
                Some(Ok(record)) if record.header.site == PAD => *at += record.header.size as usize,
                Some(Ok(record)) => {
                    *header = record.header;
                    return true;
                }
                Some(Err(error)) => {
                    fault = Some(error.to_string());
                    break;
                }
                None => break,
            }
        }
        let (block, end) = (*block, *at);
        self.leave(index, block, end, fault);
        self.next_block(index)
    }

    /// Done with a block, whose records were taken up to `end`.
    #[cold]
    fn leave(&mut self, index: u32, block: NextBlock<'t>, end: usize, fault: Option<String>) {
        if let Some(left) = &mut self.left {
            let cursor = &self.cursors[index as usize];
            let session = cursor.session as usize;
            let thread = self.trace.sessions[session].streams[cursor.stream as usize].thread;
            let NextBlock { block, skip, .. } = block;
            left.push(Left { cursor: index, session, thread, block, skip, end });
        }
        self.close(index);
        if let Some(why) = fault {
            let matter = scan::bad_block(block.block.at, &block.block.header, why);
            let file = self
                .trace
                .files
                .get(block.block.file as usize)
                .map_or_else(Default::default, |file| file.path.clone());
            self.note(Note { file, matter });
        }
    }

    fn note(&mut self, note: Note) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(note);
        }
    }

    /// Returns the buffer of an open block.
    fn close(&mut self, index: u32) {
        let cursor = &mut self.cursors[index as usize];
        if let State::Record { block, raw, end, .. } = std::mem::replace(&mut cursor.state, State::End) {
            self.open_bytes -= raw.len();
            // What lies behind the limit is read next, as a rule.
            match end < raw.len() {
                true => self.rooms.leave_open(block.block, raw),
                false => self.rooms.give(raw),
            }
        }
    }

    /// When many blocks are open, the one that was left keeps its place but not its bytes.
    pub(super) fn give_back(&mut self, index: u32) {
        if self.open_bytes <= OPEN_BYTES_MAX {
            return;
        }
        if let State::Record { block, at, .. } = &self.cursors[index as usize].state {
            let again = NextBlock { skip: *at, missing: 0, ..*block };
            self.close(index);
            self.cursors[index as usize].state = State::Block(again);
        }
    }
}
