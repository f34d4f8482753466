//! Buffers, each a `WMI_BUFFER_HEADER` and events in the order of their times. Those of one processor are in
//! this order, too, one after the other.

use std::io::{self, Seek, SeekFrom, Write};

use super::header::Summary;

/// Bytes of a buffer.
pub(super) const BUFFER: usize = 64 << 10;
/// Of these, those before the events.
const HEADER: usize = 0x48;
/// Bytes of an event at most.
pub(super) const EVENT_MOST: usize = BUFFER - HEADER;
/// Processors at most: so often an event may be earlier than all that came before it.
pub(super) const PROCESSORS_MOST: usize = 64;

/// The buffer's processor is a number of 16 bits.
const PROCESSOR_INDEX: u16 = 0x20;
const EVENTS_LOST: u16 = 0x02;

/// Writes a file.
pub(super) struct Buffers<W> {
    out: W,
    /// What is to be filled, by processor.
    processors: Vec<Processor>,
    written: u32,
    has_lost: bool,
}

#[derive(Default)]
struct Processor {
    events: Vec<u8>,
    last: u64,
}

impl<W: Write + Seek> Buffers<W> {
    /// Begins with room for the first buffer, which is only known in the end.
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&[0; BUFFER])?;
        Ok(Self { out, processors: Vec::new(), written: 1, has_lost: false })
    }

    /// Adds an event. False: its time is before those of all processors, and there are too many.
    pub(super) fn push(&mut self, time: u64, event: &[u8]) -> io::Result<bool> {
        let number = match self.processors.iter().position(|of| of.last <= time) {
            Some(number) => number,
            None if self.processors.len() == PROCESSORS_MOST => return Ok(false),
            None => {
                self.processors.push(Processor::default());
                self.processors.len() - 1
            }
        };
        if self.processors[number].events.len() + event.len() > EVENT_MOST {
            self.flush(number)?;
        }
        let processor = &mut self.processors[number];
        processor.events.extend_from_slice(event);
        processor.events.resize(processor.events.len().next_multiple_of(8), 0);
        processor.last = time;
        Ok(true)
    }

    /// The next buffer says that events were lost.
    pub(super) fn lose(&mut self) {
        self.has_lost = true;
    }

    fn flush(&mut self, number: usize) -> io::Result<()> {
        let processor = &mut self.processors[number];
        let lost = if std::mem::take(&mut self.has_lost) { EVENTS_LOST } else { 0 };
        let buffer = Buffer {
            number: self.written,
            time: processor.last,
            processor: number as u16,
            flags: PROCESSOR_INDEX | lost,
            kind: Kind::Events,
        };
        buffer.write(&mut self.out, &processor.events)?;
        processor.events.clear();
        self.written = self.written.checked_add(1).ok_or_else(|| io::Error::other("too many buffers"))?;
        Ok(())
    }

    /// Writes what is left, and the first buffer.
    pub(super) fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        for number in 0..self.processors.len() {
            if !self.processors[number].events.is_empty() {
                self.flush(number)?;
            }
        }
        let event = summary.event(self.written, self.processors.len().max(1) as u32);
        self.out.seek(SeekFrom::Start(0))?;
        let first = Buffer {
            number: 0,
            time: summary.first(),
            processor: 0,
            flags: PROCESSOR_INDEX,
            kind: Kind::Header,
        };
        first.write(&mut self.out, &event)?;
        self.out.seek(SeekFrom::End(0))?;
        self.out.flush()
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Events = 0,
    Header = 4,
}

/// The head of a buffer.
struct Buffer {
    number: u32,
    /// When it was full.
    time: u64,
    processor: u16,
    flags: u16,
    kind: Kind,
}

impl Buffer {
    /// Writes it with its events.
    fn write(&self, out: &mut impl Write, events: &[u8]) -> io::Result<()> {
        /// It was handed on.
        const FLUSHED: u32 = 3;
        /// The clock of performance counters, in the three lowest bits.
        const CLOCK: u64 = 1;
        const LOGGER: u16 = 1;
        let filled = (HEADER + events.len()) as u32;
        let mut head = Vec::with_capacity(HEADER);
        for word in [BUFFER as u32, filled, filled, 0] {
            head.extend_from_slice(&word.to_le_bytes());
        }
        for word in [self.time, u64::from(self.number) + 1, CLOCK | super::header::FREQUENCY << 3] {
            head.extend_from_slice(&word.to_le_bytes());
        }
        head.extend_from_slice(&self.processor.to_le_bytes());
        head.extend_from_slice(&LOGGER.to_le_bytes());
        head.extend_from_slice(&FLUSHED.to_le_bytes());
        head.extend_from_slice(&filled.to_le_bytes());
        head.extend_from_slice(&self.flags.to_le_bytes());
        head.extend_from_slice(&(self.kind as u16).to_le_bytes());
        head.resize(HEADER, 0);
        out.write_all(&head)?;
        out.write_all(events)?;
        // What readers end at.
        out.write_all(&vec![0xFF; EVENT_MOST - events.len()])
    }
}
