//! What a destination knows of its sink.

use silverpoint_render::text;

use super::interface::BUFFER_MAX;
use crate::config::{FileSink, Sink, To};
use crate::flushing::{Flush, Sync};

/// A file that is rotated by size gets at most this part of the size in one write.
const ROTATED_PART: u64 = 8;

/// How records look and when they are written. Which records come, and when their file is synced, is for [`crate::deliver`] to know.
#[derive(Clone, Copy)]
pub(crate) struct Settings<'s> {
    pub(super) json: bool,
    pub(super) text: &'s text::Options,
    flush: Option<Flush>,
    /// It shall survive a loss of power.
    pub(super) is_synced: bool,
    /// `None`: it is no file.
    pub(super) file: Option<&'s FileSink>,
}

impl<'s> Settings<'s> {
    pub(crate) fn of(sink: &'s Sink) -> Self {
        let file = match &sink.to {
            To::File(file) => Some(file),
            To::Stderr | To::Stdout | To::Handler(_) | To::Journald(_) | To::Syslog(_) => None,
        };
        let is_synced = sink.sync != Sync::Never;
        Self { json: sink.json, text: &sink.text, flush: sink.flush, is_synced, file }
    }

    /// Bytes that are written at once; `usual` where the sink does not say.
    pub(super) fn limit(&self, usual: usize) -> usize {
        let part = self.file.and_then(|file| file.rotate_bytes).map_or(u64::MAX, |all| all / ROTATED_PART);
        let limit = self.flush.map_or(usual, |flush| flush.bytes.clamp(1, BUFFER_MAX));
        limit.min(usize::try_from(part).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_as_large_as_the_sink_says_and_no_large_part_of_a_rotated_file() {
        let limit = |sink: Sink| Settings::of(&sink).limit(1000);
        let bytes = |bytes| Flush { bytes, ..Flush::default() };
        assert_eq!(limit(Sink::stderr()), 1000);
        assert_eq!(limit(Sink::stderr().flush(bytes(7))), 7);
        assert_eq!(limit(Sink::stderr().flush(bytes(0))), 1);
        assert_eq!(limit(Sink::file("a").flush(bytes(usize::MAX))), BUFFER_MAX);
        assert_eq!(limit(Sink::file("a").rotate(4096, 1)), 512);
        assert_eq!(limit(Sink::file("a").rotate(4096, 1).flush(bytes(9))), 9);
        assert_eq!(limit(Sink::file("a").rotate(u64::MAX, 1)), 1000);
    }
}
