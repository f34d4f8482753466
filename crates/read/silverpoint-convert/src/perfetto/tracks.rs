//! Which track an event is on: of a thread, of a counter, of an async span. A track is described before its first event.

use std::collections::{HashMap, HashSet};

use silverpoint_trace::Site;
use silverpoint_wire::signature::Type;

use super::packet;
use super::proto::Proto;
use crate::Record;

/// Fields of `TrackDescriptor`.
const UUID: u32 = 1;
const NAME: u32 = 2;
const PROCESS: u32 = 3;
const THREAD: u32 = 4;
const PARENT: u32 = 5;
const COUNTER: u32 = 8;

/// Most threads whose names are remembered. Beyond that all are described again, which only costs bytes.
const THREADS_MAX: usize = 1 << 16;

/// What has been described.
#[derive(Debug, Default)]
pub(crate) struct Tracks {
    /// Tracks of processes, by their numbers.
    processes: HashMap<usize, u64>,
    /// Tracks of threads and their names, by process number and thread id.
    threads: HashMap<(usize, u32), (u64, String)>,
    counters: HashSet<u64>,
}

/// Of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit<'a> {
    None,
    Nanoseconds,
    Bytes,
    Named(&'a str),
}

/// What the metadata say, or the type.
pub(crate) fn unit(mut ty: &Type) -> Unit<'_> {
    let mut unit = Unit::None;
    while let Type::Meta(key, text, inner) = ty {
        if key == "unit" {
            unit = match text.as_str() {
                "ns" => Unit::Nanoseconds,
                "B" | "bytes" => Unit::Bytes,
                other => Unit::Named(other),
            };
        }
        ty = inner;
    }
    if *ty == Type::Duration { Unit::Nanoseconds } else { unit }
}

impl Tracks {
    /// The track of the thread of a record, and of its process.
    pub(crate) fn thread(&mut self, out: &mut Proto, record: &Record<'_>) -> u64 {
        let key = (record.process_number, record.tid);
        if let Some((track, name)) = self.threads.get(&key)
            && name == record.thread
        {
            return *track;
        }
        let process = self.process(out, record);
        let (number, tid) = (record.process_number as u64, u64::from(record.tid));
        // If the thread's number is unknown, its name distinguishes it from others.
        let name = if tid == 0 { record.thread } else { "" };
        let track = hash(&[b"thread", &number.to_le_bytes(), &tid.to_le_bytes(), name.as_bytes()]);
        describe(out, track, |out| {
            out.number(PARENT, process);
            match i32::try_from(record.pid) {
                Ok(pid @ 1..) if tid != 0 => {
                    let open = out.begin(THREAD);
                    out.number(1, pid.unsigned_abs().into());
                    out.number(2, tid);
                    if !record.thread.is_empty() {
                        out.bytes(5, record.thread.as_bytes());
                    }
                    out.end(open);
                }
                _ => out.bytes(NAME, if record.thread.is_empty() { b"?" } else { record.thread.as_bytes() }),
            }
        });
        if self.threads.len() >= THREADS_MAX {
            self.threads.clear();
        }
        self.threads.insert(key, (track, record.thread.to_owned()));
        track
    }

    /// The track of another thread of the process, which has been described.
    pub(crate) fn known_thread(&self, record: &Record<'_>, tid: u32) -> u64 {
        let number = record.process_number as u64;
        let tid_bytes = u64::from(tid).to_le_bytes();
        let known = self.threads.get(&(record.process_number, tid)).map(|(track, _)| *track);
        known.unwrap_or_else(|| hash(&[b"thread", &number.to_le_bytes(), &tid_bytes, b""]))
    }

    fn process(&mut self, out: &mut Proto, record: &Record<'_>) -> u64 {
        if let Some(track) = self.processes.get(&record.process_number) {
            return *track;
        }
        let track = hash(&[b"process", &(record.process_number as u64).to_le_bytes()]);
        describe(out, track, |out| match i32::try_from(record.pid) {
            Ok(pid @ 1..) => {
                let open = out.begin(PROCESS);
                out.number(1, pid.unsigned_abs().into());
                out.bytes(6, record.process.as_bytes());
                out.end(open);
            }
            _ => out.bytes(NAME, record.process.as_bytes()),
        });
        self.processes.insert(record.process_number, track);
        track
    }

    /// The track of an async span: of its process, category, name and id. It is described whenever one begins, so that nobody need remember which there are.
    pub(crate) fn async_span(
        &mut self,
        out: &mut Proto,
        record: &Record<'_>,
        site: &Site,
        id: u64,
        is_begun: bool,
    ) -> u64 {
        let description = &site.description;
        let track = hash(&[
            b"async",
            &(record.process_number as u64).to_le_bytes(),
            description.category.as_bytes(),
            description.template.as_bytes(),
            &id.to_le_bytes(),
        ]);
        if is_begun {
            let process = self.process(out, record);
            describe(out, track, |out| {
                out.number(PARENT, process);
                out.bytes(NAME, description.template.as_bytes());
            });
        }
        track
    }

    /// The track of a counter of a process.
    pub(crate) fn counter(
        &mut self,
        out: &mut Proto,
        record: &Record<'_>,
        site: &Site,
        index: usize,
        unit: Unit<'_>,
    ) -> u64 {
        let description = &site.description;
        let name = match site.names.get(index) {
            Some(name) if site.types.len() > 1 => format!("{}.{name}", description.template),
            None if site.types.len() > 1 => format!("{}.{index}", description.template),
            _ => description.template.clone(),
        };
        let number = (record.process_number as u64).to_le_bytes();
        let track = hash(&[b"counter", &number, description.category.as_bytes(), name.as_bytes()]);
        if self.counters.insert(track) {
            let process = self.process(out, record);
            describe(out, track, |out| {
                out.number(PARENT, process);
                out.bytes(NAME, name.as_bytes());
                let open = out.begin(COUNTER);
                if !description.category.is_empty() {
                    out.bytes(2, description.category.as_bytes());
                }
                match unit {
                    Unit::None => {}
                    Unit::Nanoseconds => out.number(3, 1),
                    Unit::Bytes => out.number(3, 3),
                    Unit::Named(name) => out.bytes(6, name.as_bytes()),
                }
                out.end(open);
            });
        }
        track
    }
}

/// A packet that describes a track.
fn describe(out: &mut Proto, track: u64, more: impl FnOnce(&mut Proto)) {
    let packet = out.begin(packet::PACKET);
    out.number(packet::SEQUENCE, packet::THE_SEQUENCE);
    let descriptor = out.begin(packet::TRACK_DESCRIPTOR);
    out.number(UUID, track);
    more(out);
    out.end(descriptor);
    out.end(packet);
}

/// A number for what the parts say: the same for the same, in all probability another one for others. Never 0.
pub(crate) fn hash(parts: &[&[u8]]) -> u64 {
    // FNV-1a, with the lengths, so that the parts are distinguished; then all bits are mixed.
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for part in parts {
        for byte in (part.len() as u64).to_le_bytes().iter().chain(*part) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    hash = (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    hash = (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (hash ^ hash >> 32).max(1)
}
