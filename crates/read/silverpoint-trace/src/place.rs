//! Where records stand, for rewriting files.

use super::scan::BlockRef;

/// Where a record that was given out stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'t> {
    /// Names the stream among all of the trace; the same as in [`Left`].
    pub(super) cursor: u32,
    /// Number of the session in the trace.
    pub(super) session: usize,
    /// Number of the thread in the session.
    pub(super) thread: usize,
    /// When, by the order of all sessions.
    pub(super) ns: i64,
    pub(super) block: &'t BlockRef,
    /// As of [`Left`].
    pub(super) skip: usize,
    /// Bytes before the record in the raw block.
    pub(super) at: usize,
}

/// A block that a cursor has left: nothing more of it comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<'t> {
    pub(super) cursor: u32,
    pub(super) session: usize,
    pub(super) thread: usize,
    pub(super) block: &'t BlockRef,
    /// Bytes at its start that another block has given out already, or that had been read before the block
    /// was opened again.
    pub(super) skip: usize,
    /// Up to here it could be read.
    pub(super) end: usize,
}
