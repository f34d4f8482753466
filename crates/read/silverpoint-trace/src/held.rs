//! Which positions a successor needs ([`Follow::positions`](super::Follow::positions)): there may be very
//! many streams in all.
//!
//! A stream that is not named is given completely. So its position may be left out when all files with a
//! block of it have been removed: a successor cannot open them. That condition would suffice. Positions of
//! streams that may still grow are kept too, so that missing bytes before their next block are noticed.

use std::collections::HashMap;

use super::growing::Growing;
use super::{Session, Trace};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// By session and stream number: the first and the last file that had a block of it; `None`: none of those that were opened.
    files: HashMap<(u32, u32), Option<(u32, u32)>>,
}

impl Held {
    /// Streams whose positions are needed, by session and number.
    pub(super) fn streams(&self) -> impl Iterator<Item = (u32, u32)> {
        self.files.keys().copied()
    }

    /// A stream whose position is known from elsewhere.
    pub(super) fn add(&mut self, session: u32, stream: u32) {
        self.files.entry((session, stream)).or_default();
    }

    /// Notes where the blocks of a session lie, before they are forgotten.
    pub(super) fn note(&mut self, number: u32, session: &Session) {
        for (_, stream) in session.holding() {
            let files = self.files.entry((number, stream.number)).or_default();
            for block in &stream.blocks {
                let (first, last) = files.unwrap_or((block.file, block.file));
                *files = Some((first.min(block.file), last.max(block.file)));
            }
        }
    }

    /// Leaves out what no successor needs any more.
    pub(super) fn drop_unneeded(&mut self, growing: &Growing) {
        self.files.retain(|(session, stream), files| {
            let is_in_a_file = files.is_some_and(|(first, last)| (first..=last).any(|f| !growing.is_gone(f)));
            is_in_a_file || !has_retired(&growing.trace, *session, *stream)
        });
    }
}

fn has_retired(trace: &Trace, session: u32, stream: u32) -> bool {
    trace.sessions.get(session as usize).is_none_or(|session| session.has_retired(stream))
}
