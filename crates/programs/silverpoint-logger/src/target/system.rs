//! The system's own logs: journal and syslog. One message a record.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use silverpoint_render::system::{journal, syslog};
use silverpoint_trace::{Event, Follow, Trace};

use super::interface::Target;
use super::socket::{Channel, TooLong};
use crate::backtrace::{Reached, go_back};
use crate::config::{Address, JournaldSink};
use crate::cursor::{Cursor, Entry, Position};
use crate::error::LoggerError;
use crate::spool::Spool;
use crate::syslog::Syslog;

/// This many messages, or bytes of messages, are sent before the cursor moves: after a kill at most this many
/// are repeated.
const MESSAGES: usize = 128;
const BYTES: usize = 256 << 10;

/// Each record at least once, as far as the receiver accepts it: the cursor moves when messages have been
/// sent.
pub(super) struct System {
    writer: Writer,
    channel: Channel,
    /// Messages that wait, one behind the other.
    bytes: Vec<u8>,
    /// Their lengths, from the first that was not sent.
    waiting: VecDeque<usize>,
    /// Bytes that were sent.
    sent: usize,
    /// Without it a successor would not find the place anyway.
    cursor: Option<Cursor>,
    /// See [`Target::written`].
    written: Vec<Position>,
}

enum Writer {
    Journal(Box<journal::Writer>),
    Syslog(Box<syslog::Writer>),
}

impl System {
    pub(super) fn journald(
        config: &JournaldSink,
        name: &str,
        has_backtrace: bool,
        spool: &Spool,
        follow: &mut Follow,
    ) -> Result<Self, LoggerError> {
        let writer = Writer::Journal(Box::new(journal::Writer::new(config.identity.clone())));
        let channel = Channel::new(Address::Local(config.path.clone()), TooLong::File);
        Self::new(writer, channel, name, has_backtrace, spool, follow)
    }

    pub(super) fn syslog(
        config: &Syslog,
        name: &str,
        has_backtrace: bool,
        spool: &Spool,
        follow: &mut Follow,
    ) -> Result<Self, LoggerError> {
        let writer = Writer::Syslog(Box::new(syslog::Writer::new(config.messages.clone())));
        let channel = Channel::new(config.address.clone(), TooLong::Cut);
        Self::new(writer, channel, name, has_backtrace, spool, follow)
    }

    fn new(
        writer: Writer,
        channel: Channel,
        name: &str,
        has_backtrace: bool,
        spool: &Spool,
        follow: &mut Follow,
    ) -> Result<Self, LoggerError> {
        let (mut cursor, mut written) = (None, Vec::new());
        if spool.is_kept() {
            let path = spool.cursor(Path::new(name));
            let opened = Cursor::open(&path).map_err(LoggerError::io(&path, "opening it"))?;
            let last = opened.1.into_iter().next().unwrap_or_default();
            let (positions, before) = go_back(last.positions, &last.held, has_backtrace);
            follow.resume(&positions);
            (cursor, written) = (Some(opened.0), before);
        }
        let (bytes, waiting) = Default::default();
        Ok(Self { writer, channel, bytes, waiting, sent: 0, cursor, written })
    }
}

impl Target for System {
    fn written(&mut self) -> Vec<Position> {
        std::mem::take(&mut self.written)
    }

    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) {
        let start = self.bytes.len();
        match &mut self.writer {
            Writer::Journal(writer) => writer.message(&mut self.bytes, event),
            Writer::Syslog(writer) => self.bytes.extend_from_slice(writer.message(event).as_bytes()),
        }
        self.waiting.push_back(self.bytes.len() - start);
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= MESSAGES || self.bytes.len() >= BYTES
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn write(&mut self, reached: &Reached<'_>) -> io::Result<()> {
        while let Some(len) = self.waiting.front() {
            self.channel.send(&self.bytes[self.sent..self.sent + len])?;
            self.sent += len;
            self.waiting.pop_front();
        }
        self.bytes.clear();
        self.sent = 0;
        if let Some(cursor) = &mut self.cursor {
            let (positions, held) = (reached.positions(), reached.held());
            let mut entry = Entry { positions, held, ..Entry::default() };
            // If the entry cannot be written, a successor repeats more; sent messages are not sent again
            // because of that.
            if cursor.announce(&mut entry).is_ok() {
                cursor.done();
            }
        }
        Ok(())
    }
}
