//! The records of a selection, and nothing else.
//!
//! Which records are wanted is decided as `select` decides it. That is in order of time, since a thread's
//! name is the one at the time of the record. Of each block one bit for each record is kept until reading has
//! left the block. Then the block is read again and written without the other records. At its ends they are
//! cut off; a long run between two wanted records splits the block, a shorter one becomes a pad. So each ring
//! range that is written is true. The memory is that of reading, and of one bit for 8 bytes of the open
//! blocks. Pads are zero bytes: a block that has many is compressed, so that neither they nor the headers of
//! many small blocks fill the file.

use std::io::{self, Write};

use silverpoint_wire::compression::Compression;
use silverpoint_wire::layout::record::CONTEXT;
use silverpoint_wire::record::Records;

use super::dictionaries::Scope;
use super::summary::overwrite;
use super::{Options, Rewriter, Rewritten};
use crate::merge::{Events, Place};
use crate::{BlockRef, Select, Selection, Trace};

/// A pad longer than this costs more than another block does in the file and in every reader's index; where nothing may be compressed.
const PAD_MAX: usize = 2 << 10;
/// The same where it is compressed.
const PAD_MAX_COMPRESSED: usize = 32 << 10;

/// A block some of whose records are wanted.
struct Chosen<'t> {
    session: usize,
    block: &'t BlockRef,
    /// Of the first of them.
    begin: usize,
    /// A bit for each 8 bytes from there: a record that is wanted begins here.
    starts: Vec<u64>,
}

impl<'t> Chosen<'t> {
    fn new(place: &Place<'t>) -> Self {
        Self { session: place.session, block: place.block, begin: place.at, starts: Vec::new() }
    }

    /// Places come in ascending order.
    fn add(&mut self, at: usize) {
        let slot = (at - self.begin) / 8;
        if self.starts.len() <= slot / 64 {
            self.starts.resize(slot / 64 + 1, 0);
        }
        self.starts[slot / 64] |= 1 << (slot % 64);
    }

    /// `from`: the distance to the first one.
    fn has(&self, from: usize) -> bool {
        let slot = from / 8;
        self.starts.get(slot / 64).is_some_and(|bits| bits >> (slot % 64) & 1 == 1)
    }
}

/// The last context of a stream, as long as no record after it is wanted.
struct Stated<'t> {
    place: Place<'t>,
    bytes: Vec<u8>,
}

/// Writes the records that a filter selects, as one file. It also has the records that give threads their
/// names, and the contexts of the selected records. `cat` of it gives what `cat` with the same filter gives
/// of the trace.
///
/// # Errors
/// Those of writing. Unreadable parts are left out and reported.
pub fn trim(trace: &Trace, wanted: &dyn Select, options: &Options, out: impl Write) -> io::Result<Rewritten> {
    let mut options = options.clone();
    if options.trimmed.is_empty() && !wanted.is_everything() {
        // A reader must not take what is left out for lost, nor its pads for records.
        options.trimmed = "a selection".to_owned();
    }
    let selection = Selection::new(wanted.wanted(trace), trace);
    let scope = Scope {
        sessions: (0..trace.sessions.len()).map(|number| selection.session(number)).collect(),
        sites: (0..trace.sites.len()).map(|number| selection.site(number)).collect(),
    };
    let mut rewriter = Rewriter::new(trace, &options, scope, out);
    rewriter.begin()?;
    let mut events = Events::keep_statements(trace, Some(selection));
    // By cursor.
    let mut chosen: Vec<Option<Chosen<'_>>> = Vec::new();
    let mut stated: Vec<Option<Stated<'_>>> = Vec::new();
    let mut left = Vec::new();
    loop {
        let place = events.next_place();
        events.take_left(&mut left);
        for left in left.drain(..) {
            if let Some(block) = chosen.get_mut(left.cursor as usize).and_then(Option::take) {
                rewriter.chosen(&block)?;
            }
        }
        let Some(place) = place else { break };
        let cursor = place.cursor as usize;
        if chosen.len() <= cursor {
            chosen.resize_with(cursor + 1, || None);
            stated.resize_with(cursor + 1, || None);
        }
        if let Some(record) = events.record(&place) {
            if record.header.site == CONTEXT {
                let mut bytes = record.header.encode().to_vec();
                bytes.extend_from_slice(record.args);
                stated[cursor] = Some(Stated { place, bytes });
                continue;
            }
        }
        if let Some(Stated { place: context, bytes }) = stated[cursor].take() {
            if std::ptr::eq(context.block, place.block) {
                chosen[cursor].get_or_insert_with(|| Chosen::new(&context)).add(context.at);
            } else {
                // No more of its block comes: it stands by itself, in the order of the ring.
                rewriter.stretch(context.session, context.block, context.at, &bytes, 0)?;
            }
        }
        chosen[cursor].get_or_insert_with(|| Chosen::new(&place)).add(place.at);
    }
    for note in events.notes() {
        rewriter.note(note.clone());
    }
    Ok(rewriter.finish()?.0)
}

impl<W: Write> Rewriter<'_, W> {
    /// Writes what is wanted of a block.
    fn chosen(&mut self, chosen: &Chosen<'_>) -> io::Result<()> {
        let session = &self.trace.sessions[chosen.session];
        let mut raw = std::mem::take(&mut self.raw);
        // Errors in it were reported when it was read first.
        let _ = self.reader.read(self.trace, session, chosen.block, &mut raw);
        let written = self.pieces(chosen, &mut raw);
        self.raw = raw;
        written
    }

    fn pieces(&mut self, chosen: &Chosen<'_>, raw: &mut [u8]) -> io::Result<()> {
        let longest =
            if self.options.compression == Some(Compression::None) { PAD_MAX } else { PAD_MAX_COMPRESSED };
        let (mut begin, mut end) = (chosen.begin, chosen.begin);
        let mut at = chosen.begin;
        // Bytes of pads in the piece.
        let mut pads = 0;
        while let Some(Ok(record)) = raw.get(at..).and_then(|rest| Records::new(rest).next()) {
            let size = record.header.size as usize;
            if chosen.has(at - chosen.begin) {
                if at - end > longest {
                    self.stretch(chosen.session, chosen.block, begin, &raw[begin..end], pads)?;
                    (begin, pads) = (at, 0);
                } else {
                    overwrite(&mut raw[end..at]);
                    pads += at - end;
                }
                end = at + size;
            }
            at += size;
        }
        if end > begin {
            self.stretch(chosen.session, chosen.block, begin, &raw[begin..end], pads)
        } else {
            Ok(())
        }
    }
}
