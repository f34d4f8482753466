//! `--echo`: the records as text on standard error while they come.
//!
//! It reads the trace file as any reader may while it grows (spec/file.md, section 4). The blocks since the
//! last look and all dictionaries so far are a small trace of their own in memory. That trace is read in
//! order of time up to the watermarks; records beyond them are kept for the next look.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use silverpoint_render::text::{Options, Writer};
use silverpoint_shm::platform::files::{status, status_of};
use silverpoint_trace::{Source, Trace, files, with_parts};
use silverpoint_wire::block::{BlockHeader, BlockKind};
use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::layout::block::PAYLOAD_MAX;
use silverpoint_wire::scan::{Found, ReadAt, Scanner};

/// Interval between two looks.
const INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of records that are read in one look, and the most that wait for a watermark.
const ROUND_BYTES: usize = 32 << 20;
/// Blocks of clock anchors that are kept besides the first: enough for the time around now.
const ANCHOR_BLOCKS: usize = 8;

/// A thread that shows what is stored.
pub struct Echo {
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    /// Follows the trace at this path.
    pub fn start(path: &Path) -> Self {
        let ending = Arc::new(AtomicBool::new(false));
        let (flag, path) = (Arc::clone(&ending), path.to_owned());
        let follow = move || {
            let mut follower = Follower::new(path);
            loop {
                let is_last = flag.load(Ordering::Acquire);
                if !follower.look(is_last) && is_last {
                    break;
                }
                if !is_last {
                    std::thread::sleep(INTERVAL);
                }
            }
        };
        let thread = std::thread::Builder::new().name("echo".into()).spawn(follow);
        if let Err(error) = &thread {
            crate::exit::note(format_args!("--echo: no thread can be started: {error}"));
        }
        Self { ending, thread: thread.ok() }
    }

    /// Shows the rest.
    pub fn finish(mut self) {
        self.ending.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One part of the trace, followed.
struct Follower {
    path: PathBuf,
    part: Option<Part>,
    text: String,
}

struct Part {
    file: PartFile,
    identity: (u64, u64),
    at: u64,
    next_sequence: u64,
    dictionaries: Dictionaries,
    /// Records beyond a watermark, or not examined yet.
    waiting: Vec<Block>,
    /// By session in the file: everything before these ticks is there.
    watermarks: HashMap<u32, u64>,
    /// By (session, stream): events of the waiting blocks that were shown.
    shown: HashMap<(u32, u32), u64>,
}

struct Block {
    header: BlockHeader,
    bytes: Vec<u8>,
}

struct PartFile(File);

impl ReadAt for PartFile {
    type Error = std::io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        files::read_at(&self.0, buffer, offset)
    }
}

impl Follower {
    fn new(path: PathBuf) -> Self {
        Self { path, part: None, text: String::new() }
    }

    /// Shows what has come. True: there may be more already.
    fn look(&mut self, is_last: bool) -> bool {
        if self.part.is_none() {
            self.part = File::open(&self.path).ok().and_then(Part::new);
        }
        let Some(part) = &mut self.part else { return false };
        let more = part.read();
        let next = if more { None } else { next_part(&self.path, part.identity) };
        // Read again: blocks that were written before the part was rotated away.
        let more = more || (next.is_some() && part.read());
        let ends = !more && (is_last || next.is_some());
        part.show(ends, &mut self.text);
        let shown = std::io::stderr().lock().write_all(self.text.as_bytes());
        self.text.clear();
        match (shown, next) {
            // Standard error was closed.
            (Err(_), _) => false,
            (Ok(()), Some(next)) if !more => {
                self.part = File::open(next).ok().and_then(Part::new);
                self.part.is_some()
            }
            _ => more,
        }
    }
}

/// The part after this one, once there is one.
fn next_part(path: &Path, identity: (u64, u64)) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| status_of(path).is_ok_and(|found| (found.device, found.inode) == identity);
    if is_it(&path.to_owned()) {
        return None;
    }
    let mut parts = with_parts(&[path.to_owned()]).into_iter();
    let first = parts.clone().next();
    // If the quota has removed that part, the oldest remaining one follows.
    if parts.any(|part| is_it(&part)) { parts.next() } else { first.filter(|part| part.is_file()) }
}

impl Part {
    fn new(file: File) -> Option<Self> {
        let found = status(&file).ok()?;
        Some(Self {
            identity: (found.device, found.inode),
            file: PartFile(file),
            at: 0,
            next_sequence: 0,
            dictionaries: Dictionaries::default(),
            waiting: Vec::new(),
            watermarks: HashMap::new(),
            shown: HashMap::new(),
        })
    }

    /// Takes the blocks that have come. True: there are more than one look takes.
    fn read(&mut self) -> bool {
        let mut scanner = Scanner::resume(&self.file, self.at, self.next_sequence, true);
        let mut taken = 0;
        while taken < ROUND_BYTES {
            match scanner.next() {
                Ok(Some(Found::Block { at, header })) => {
                    let Some(bytes) = whole(&self.file, at, &header) else { return false };
                    match header.kind {
                        BlockKind::RECORDS => {
                            taken += bytes.len();
                            self.waiting.push(Block { header, bytes });
                        }
                        BlockKind::WATERMARK => {
                            let ticks = u64_at(scanner.payload(), 0).unwrap_or(0);
                            self.watermarks.insert(header.session, ticks);
                        }
                        _ => self.dictionaries.push(&header, bytes),
                    }
                    (self.at, self.next_sequence) = (scanner.position(), scanner.next_sequence());
                }
                // Still being written; `cat` reports other damage.
                Ok(Some(Found::Damage(damage))) if damage.is_cut => return false,
                Ok(Some(Found::Damage(_))) => self.at = scanner.position(),
                Ok(None) | Err(_) => return false,
            }
        }
        true
    }

    /// Appends the text of the waiting records that are due; of all waiting records when the part ends.
    fn show(&mut self, ends: bool, out: &mut String) {
        let ends = ends || self.waiting.iter().map(|block| block.bytes.len()).sum::<usize>() >= ROUND_BYTES;
        if self.waiting.is_empty() {
            return;
        }
        let mut bytes = self.dictionaries.bytes();
        self.waiting.iter().for_each(|block| bytes.extend_from_slice(&block.bytes));
        let Ok(trace) = Trace::from_sources(vec![Source::from_bytes(Path::new("--echo"), bytes)]) else {
            return;
        };
        let numbers = self.dictionaries.session_numbers();
        let options = Options { colour: std::io::stderr().is_terminal(), ..Options::default() };
        let mut writer = Writer::new(&options, &trace);
        let mut seen: HashMap<(u32, u32), u64> = HashMap::new();
        let mut shown: HashMap<(u32, u32), u64> = HashMap::new();
        let mut events = trace.events();
        while let Some(event) = events.next() {
            let id = event.session.info.as_ref().map(|info| info.session_id);
            let session = id.and_then(|id| numbers.get(&id).copied()).unwrap_or(0);
            let stream = (session, event.stream.number);
            let number = seen.entry(stream).or_default();
            *number += 1;
            if *number <= self.shown.get(&stream).copied().unwrap_or(0) {
                *shown.entry(stream).or_default() += 1;
                continue;
            }
            let is_due = self.watermarks.get(&session).is_some_and(|mark| event.ticks < *mark);
            // A waiting record makes the later ones of its stream wait too.
            if (ends || is_due) && shown.get(&stream).copied().unwrap_or(0) + 1 == *number {
                writer.line(out, &event);
                *shown.entry(stream).or_default() += 1;
            }
        }
        self.forget(ends, shown);
    }

    /// Drops the blocks that were shown completely.
    fn forget(&mut self, ends: bool, mut shown: HashMap<(u32, u32), u64>) {
        if ends {
            self.waiting.clear();
            self.shown.clear();
            return;
        }
        let mut held: HashSet<(u32, u32)> = HashSet::new();
        self.waiting.retain(|block| {
            let stream = (block.header.session, block.header.stream);
            let count = shown.entry(stream).or_default();
            let records = u64::from(block.header.records);
            if !held.contains(&stream) && *count >= records {
                *count -= records;
                return false;
            }
            held.insert(stream);
            true
        });
        shown.retain(|stream, _| held.contains(stream));
        self.shown = shown;
    }
}

/// The bytes of a block, zero bytes to a multiple of 8 included.
fn whole(file: &PartFile, at: u64, header: &BlockHeader) -> Option<Vec<u8>> {
    let len = usize::from(header.header_size) + header.stored_size as usize;
    if len > PAYLOAD_MAX + usize::from(u16::MAX) {
        return None;
    }
    let mut bytes = vec![0; len];
    files::read_exact_at(&file.0, &mut bytes, at).ok()?;
    bytes.resize(len.next_multiple_of(8), 0);
    Some(bytes)
}

/// Blocks that later ones need, each once.
#[derive(Default)]
struct Dictionaries {
    known: HashSet<(u8, u32, u32, u32)>,
    blocks: Vec<u8>,
    /// By session in the file.
    anchors: HashMap<u32, Vec<Vec<u8>>>,
    /// Session ids and numbers.
    sessions: HashMap<[u8; 16], u32>,
}

impl Dictionaries {
    fn push(&mut self, header: &BlockHeader, bytes: Vec<u8>) {
        match header.kind {
            BlockKind::ANCHORS => {
                let kept = self.anchors.entry(header.session).or_default();
                kept.push(bytes);
                if kept.len() > 1 + ANCHOR_BLOCKS {
                    kept.remove(1);
                }
                return;
            }
            BlockKind::FILE | BlockKind::SESSION | BlockKind::SITES | BlockKind::STREAMS => {}
            _ => return,
        }
        if header.kind == BlockKind::SESSION
            && let Some(id) =
                bytes.get(usize::from(header.header_size)..).and_then(|payload| payload.first_chunk())
        {
            self.sessions.insert(*id, header.session);
        }
        if self.known.insert((header.kind.0, header.session, header.stored_size, header.payload_crc)) {
            self.blocks.extend_from_slice(&bytes);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.blocks.clone();
        self.anchors.values().flatten().for_each(|block| bytes.extend_from_slice(block));
        bytes
    }

    fn session_numbers(&self) -> HashMap<[u8; 16], u32> {
        self.sessions.clone()
    }
}
