//! What waits of a thread: its records until they are a block, and the streams that they go into.

use silverpoint_wire::block::{StreamInfo, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{CONTEXT, SIZE_MAX, THREAD_NAME};
use silverpoint_wire::record::RecordHeader;

use crate::Record;

/// Bytes of records of one block, and of one thread that wait at most while they come in order.
const WAITING: usize = 64 << 10;
/// Bytes of one thread that wait at most to be sorted.
const WAITING_UNSORTED: usize = 8 << 20;

/// A thread, and what waits of it.
pub(super) struct Thread {
    tid: u32,
    streams: Vec<Stream>,
    /// Records, one after the other.
    raw: Vec<u8>,
    entries: Vec<Entry>,
    /// Whether `entries` are in order of time, and come after what was written.
    is_sorted: bool,
    /// Names and contexts that `entries` refer to. The last one holds on.
    names: Vec<String>,
    contexts: Vec<Vec<u8>>,
}

/// A record that waits.
#[derive(Clone, Copy)]
struct Entry {
    ticks: u64,
    begin: usize,
    end: usize,
    site: u32,
    levels: u32,
    name: usize,
    context: usize,
}

/// A part of a thread's records that is in order of time.
struct Stream {
    number: u32,
    ring: u64,
    /// Of the last record.
    last: u64,
    name: String,
    context: Vec<u8>,
}

/// A block: records of a stream, and what its header says of them.
pub(super) struct Block {
    pub(super) raw: Vec<u8>,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) records: u32,
    pub(super) levels: u32,
    pub(super) sites: u64,
}

/// What waited of a thread: blocks of one stream, one after the other.
pub(super) struct Ready {
    pub(super) stream: u32,
    /// Where the first of them begins in the stream.
    pub(super) ring: u64,
    pub(super) blocks: Vec<Block>,
}

impl Thread {
    pub(super) fn new(tid: u32) -> Self {
        Self {
            tid,
            streams: Vec::new(),
            raw: Vec::new(),
            entries: Vec::new(),
            is_sorted: true,
            names: vec![String::new()],
            contexts: vec![Vec::new()],
        }
    }

    /// Bytes of records that wait.
    pub(super) fn bytes(&self) -> usize {
        self.raw.len()
    }

    /// Takes what waits, in order of time; `None`: nothing does. `all` are the streams of the session.
    pub(super) fn take(&mut self, all: &mut Vec<StreamInfo>) -> Option<Ready> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_by_key(|entry| entry.ticks);
        let at = self.stream_for(entries.first()?.ticks, all);
        let mut blocks = Vec::new();
        let mut rest = &entries[..];
        while !rest.is_empty() {
            let (block, written) = self.block(at, rest);
            blocks.push(block);
            rest = &rest[written..];
        }
        let stream = &mut self.streams[at];
        let (number, ring) = (stream.number, stream.ring);
        stream.ring += blocks.iter().map(|block| block.raw.len() as u64).sum::<u64>();
        self.settle(entries);
        Some(Ready { stream: number, ring, blocks })
    }

    /// The stream that goes on with records from this time on: the latest of those that end before it, or a new one.
    fn stream_for(&mut self, first: u64, all: &mut Vec<StreamInfo>) -> usize {
        let ending_before = self.streams.iter().enumerate().filter(|(_, stream)| stream.last <= first);
        if let Some((at, _)) = ending_before.max_by_key(|(_, stream)| stream.last) {
            return at;
        }
        let number = all.len() as u32 + 1;
        all.push(StreamInfo { stream: number, tid: self.tid, ..Default::default() });
        self.streams.push(Stream { number, ring: 0, last: 0, name: String::new(), context: Vec::new() });
        self.streams.len() - 1
    }

    /// The next block of a stream, and how many records it has taken.
    fn block(&mut self, stream: usize, entries: &[Entry]) -> (Block, usize) {
        let stream = &mut self.streams[stream];
        let mut block = Block { raw: Vec::new(), first: u64::MAX, last: 0, records: 0, levels: 0, sites: 0 };
        let mut written = 0;
        for entry in entries {
            if block.raw.len() >= WAITING {
                break;
            }
            let name = &self.names[entry.name];
            if stream.name != *name {
                name.clone_into(&mut stream.name);
                let mut args = (name.len() as u32).to_le_bytes().to_vec();
                args.extend_from_slice(name.as_bytes());
                args.truncate(SIZE_MAX / 2);
                push_record(&mut block.raw, THREAD_NAME, 0, entry.ticks, &args);
                block.count(THREAD_NAME, entry.ticks, LEVELS_CONTROL);
            }
            let context = &self.contexts[entry.context];
            if stream.context != *context {
                context.clone_into(&mut stream.context);
                // The empty map ends all.
                let item = if context.is_empty() { &[0xA0][..] } else { context };
                let mut args = (item.len() as u32).to_le_bytes().to_vec();
                args.extend_from_slice(item);
                push_record(&mut block.raw, CONTEXT, 0, entry.ticks, &args);
                block.count(CONTEXT, entry.ticks, LEVELS_CONTROL);
            }
            block.raw.extend_from_slice(&self.raw[entry.begin..entry.end]);
            block.count(entry.site, entry.ticks, entry.levels);
            stream.last = entry.ticks;
            written += 1;
        }
        (block, written)
    }

    /// Nothing waits; the rooms are kept.
    fn settle(&mut self, mut entries: Vec<Entry>) {
        entries.clear();
        self.entries = entries;
        self.raw.clear();
        self.raw.shrink_to(4 * WAITING);
        self.is_sorted = true;
        self.names.drain(..self.names.len() - 1);
        self.contexts.drain(..self.contexts.len() - 1);
    }

    /// A record waits.
    pub(super) fn add(
        &mut self,
        record: &Record<'_>,
        header: RecordHeader,
        args: &[u8],
        levels: u32,
    ) -> usize {
        let context = record.context.map_or(&[][..], |context| context.item());
        if self.names.last().is_none_or(|name| name != record.thread) {
            self.names.push(record.thread.to_owned());
        }
        if self.contexts.last().is_none_or(|last| last != context) {
            self.contexts.push(context.to_owned());
        }
        let RecordHeader { flags, site, ticks, .. } = header;
        let before = match self.entries.last() {
            Some(last) => last.ticks,
            None => self.streams.iter().map(|stream| stream.last).max().unwrap_or(0),
        };
        self.is_sorted &= ticks >= before;
        let begin = self.raw.len();
        push_record(&mut self.raw, site, flags, ticks, args);
        let (end, name, context) = (self.raw.len(), self.names.len() - 1, self.contexts.len() - 1);
        self.entries.push(Entry { ticks, begin, end, site, levels, name, context });
        end - begin
    }

    /// Whether a block is due.
    pub(super) fn is_due(&self) -> bool {
        self.raw.len() >= if self.is_sorted { WAITING } else { WAITING_UNSORTED }
    }
}

impl Block {
    fn count(&mut self, site: u32, ticks: u64, levels: u32) {
        self.first = self.first.min(ticks);
        self.last = self.last.max(ticks);
        self.records += 1;
        self.levels |= levels;
        self.sites |= site_bit(site);
    }
}

fn push_record(out: &mut Vec<u8>, site: u32, flags: u32, ticks: u64, args: &[u8]) {
    let size = (16 + args.len()).next_multiple_of(8);
    let header = RecordHeader { size: size as u32, flags, site, ticks };
    let before = out.len();
    out.extend_from_slice(&header.encode());
    out.extend_from_slice(args);
    out.resize(before + size, 0);
}
