//! Blocks one after the other, numbered, with an index: the writing end.

use std::io::{self, Write};

use silverpoint_wire::batch::Batch;
use silverpoint_wire::block::{BlockHeader, BlockKind, Index, end};
use silverpoint_wire::layout::block::HEADER_SIZE;
use silverpoint_wire::repetition::Repetition;

/// The reason of the *end* block: closed.
const CLOSED: u32 = 1;
/// An index of so many headers has a quarter of a megabyte.
const MANY: usize = 2730;

pub(super) struct Output<W> {
    out: W,
    written: u64,
    index: Index,
    /// The block that is written.
    batch: Batch,
}

impl<W: Write> Output<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, written: 0, index: Index::default(), batch: Batch::new() }
    }

    /// What was written since everything was described.
    pub(super) fn repetition(&mut self) -> &mut Repetition {
        self.batch.kinds_mut()
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// A block with nothing but a payload.
    pub(super) fn push(
        &mut self,
        kind: BlockKind,
        session: u32,
        stream: u32,
        payload: &[u8],
    ) -> io::Result<()> {
        let header = BlockHeader { session, stream, ..BlockHeader::new(kind, &[]) };
        self.push_block(header, payload)
    }

    /// A block; number, size and checksum are those of this file.
    pub(super) fn push_block(&mut self, header: BlockHeader, payload: &[u8]) -> io::Result<()> {
        self.batch.clear();
        self.batch.push_block(header, payload);
        let bytes = self.batch.bytes();
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        if header.kind == BlockKind::INDEX {
            return Ok(());
        }
        self.index.headers.extend_from_slice(&bytes[..HEADER_SIZE]);
        if self.index.headers.len() >= MANY * HEADER_SIZE { self.index() } else { Ok(()) }
    }

    /// An *index* block of what was written since the last one.
    pub(super) fn index(&mut self) -> io::Result<()> {
        if self.index.headers.is_empty() {
            return Ok(());
        }
        let mut payload = Vec::new();
        self.index.encode(&mut payload);
        let at = self.written;
        self.push(BlockKind::INDEX, 0, 0, &payload)?;
        self.index.previous = at;
        self.index.headers.clear();
        Ok(())
    }

    /// Bytes at most that are still to come when the file ends now.
    pub(super) fn rest(&self) -> u64 {
        // Two indexes and the end.
        (self.index.headers.len() + 5 * HEADER_SIZE) as u64
    }

    /// Ends the file; gives its bytes, and where they went.
    pub(super) fn finish(mut self) -> io::Result<(u64, W)> {
        self.index()?;
        self.push(BlockKind::END, 0, 0, &end(CLOSED, self.index.previous))?;
        self.out.flush()?;
        Ok((self.written, self.out))
    }
}
