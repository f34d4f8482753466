//! What a trace file holds already: read when a collector goes on in it, or proves what a dead one has stored.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use silverpoint_wire::block::{BlockHeader, BlockKind};
use silverpoint_wire::scan::{Found, ReadAt, Scanner};

/// Bytes of a session block that matter here: its id.
const ID: usize = 16;

/// A file for the scanner.
pub(crate) struct Source<'a>(pub(crate) &'a File);

impl ReadAt for Source<'_> {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read_at(buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Numbers of sessions by their ids.
    pub(crate) sessions: HashMap<[u8; 16], u32>,
    /// The highest number of a session.
    pub(crate) last_session: u32,
    /// Number of the block after the last.
    pub(crate) next_sequence: u64,
    /// Where the last whole block ends.
    pub(crate) end: u64,
    /// Whether any block was found, and whether one of records was.
    pub(crate) blocks: u64,
    pub(crate) has_records: bool,
}

impl Held {
    /// Reads the headers of a file: a few microseconds a block.
    pub(crate) fn read(file: &File) -> io::Result<Self> {
        let source = Source(file);
        let mut held = Self::default();
        let mut scanner = Scanner::new(&source, 0, false);
        while let Some(found) = scanner.next()? {
            let Found::Block { at, header } = found else { continue };
            held.blocks += 1;
            held.next_sequence = header.sequence.wrapping_add(1);
            held.last_session = held.last_session.max(header.session);
            held.has_records |= header.kind == BlockKind::RECORDS;
            // The zero bytes after the last payload may be missing.
            held.end = at + header.block_size();
            if let Some(id) = session_id(&source, at, &header)? {
                held.sessions.insert(id, header.session);
            }
        }
        Ok(held)
    }
}

fn session_id(source: &Source<'_>, at: u64, header: &BlockHeader) -> io::Result<Option<[u8; 16]>> {
    let mut id = [0; ID];
    if header.kind != BlockKind::SESSION || (header.stored_size as usize) < ID {
        return Ok(None);
    }
    let read = source.read_at(at + u64::from(header.header_size), &mut id)?;
    Ok((read == ID).then_some(id))
}
