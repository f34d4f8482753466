//! Counts what a trace holds against what returned.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use silverpoint_killtest::counts::{Counts, text_of};
use silverpoint_killtest::facade::Facade;
use silverpoint_trace::{Event, Trace, Verdict, What, with_parts};
use silverpoint_wire::block::BlockKind;
use silverpoint_wire::scan::{Found, ReadAt, Scanner};

use crate::calls::{Call, Calls};
use crate::plan::Plan;

/// Judges all trace files of a folder together; gives how many calls they hold. `exact`: threads whose last record was not published, so that it must
/// not be there.
pub fn judge(folder: &Path, counts: &Counts, plan: &Plan, exact: &[usize]) -> Result<u64, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
    // A part that had just been made when everything died is empty, and holds nothing.
    let is_trace = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "silver")
            && fs::metadata(path).is_ok_and(|found| found.len() > 0)
    };
    // All parts, also those of a trace whose newest part had just been renamed when everything died.
    let parts = with_parts(&entries.map(|entry| entry.path()).filter(is_trace).collect::<Vec<_>>());
    no_overlaps(&parts)?;
    let trace = Trace::open(&parts).map_err(|error| error.to_string())?;
    for session in &trace.sessions {
        let losses = session.losses();
        if losses.iter().any(|count| *count > 0) {
            return Err(format!("{} reports losses: {losses:?}", session.label()));
        }
    }
    let mut next = vec![1_u64; plan.threads as usize];
    let mut records = 0;
    let mut native = Native::default();
    let mut calls = Calls::new(plan.facade);
    let mut events = trace.events();
    while let Some(event) = events.next() {
        let call = match plan.facade {
            Facade::Native => native.of(&event)?,
            _ => calls.of(&event, &next)?,
        };
        let Some((thread, sequence)) = call else { continue };
        let due = next
            .get_mut(thread as usize)
            .ok_or_else(|| format!("a record of the unknown thread {thread}"))?;
        if sequence != *due {
            return Err(format!(
                "thread {thread}: record {sequence} where {due} is due ({} returned)",
                counts.get(thread as usize)
            ));
        }
        *due += 1;
        records += 1;
    }
    if events.verdict() >= Verdict::Damaged {
        return Err(format!("the trace is {}", events.verdict()));
    }
    for (thread, due) in next.iter().enumerate() {
        let (stored, returned) = (due - 1, counts.get(thread));
        let more = u64::from(!exact.contains(&thread));
        if stored < returned || stored > returned + more {
            return Err(format!("thread {thread}: {returned} calls returned, {stored} records are stored"));
        }
    }
    calls.finish(counts)?;
    Ok(records)
}

/// Which call a record of the frontends' own macros is of.
#[derive(Default)]
struct Native {
    expected: String,
}

impl Native {
    fn of(&mut self, event: &Event<'_>) -> Result<Option<Call>, String> {
        let What::Record { args, .. } = event.what else { return Ok(None) };
        let (thread, sequence, text) =
            arguments(args).ok_or("a record has other arguments than were traced")?;
        text_of(thread, sequence, &mut self.expected);
        if text != self.expected.as_bytes() {
            return Err(format!(
                "thread {thread}, record {sequence}: the text is {:?}",
                String::from_utf8_lossy(text)
            ));
        }
        Ok(Some((thread, sequence)))
    }
}

struct Source(File);

impl ReadAt for Source {
    type Error = std::io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
}

/// Session id and number of the stream.
type StreamKey = ([u8; 16], u32);

/// A reader passes over what it has read already. Here nothing may have been stored twice: no two blocks of a stream share a byte of its ring.
fn no_overlaps(parts: &[PathBuf]) -> Result<(), String> {
    let mut ranges: HashMap<StreamKey, Vec<(u64, u64)>> = HashMap::new();
    for part in parts {
        let at = |error: std::io::Error| format!("{}: {error}", part.display());
        let source = Source(File::open(part).map_err(at)?);
        let mut sessions: HashMap<u32, [u8; 16]> = HashMap::new();
        let mut scanner = Scanner::new(&source, 0, true);
        while let Some(found) = scanner.next().map_err(at)? {
            let Found::Block { header, .. } = found else { continue };
            match header.kind {
                BlockKind::SESSION => {
                    if let Some(id) = scanner.payload().first_chunk() {
                        sessions.insert(header.session, *id);
                    }
                }
                BlockKind::RECORDS => {
                    let id = sessions.get(&header.session).ok_or("records before their session")?;
                    ranges
                        .entry((*id, header.stream))
                        .or_default()
                        .push((header.ring_begin, header.ring_end));
                }
                BlockKind::GAP => return Err(format!("a gap in stream {}", header.stream)),
                _ => {}
            }
        }
    }
    for ((_, stream), mut ranges) in ranges {
        ranges.sort_unstable();
        if let Some(pair) = ranges.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            return Err(format!("stream {stream}: {:?} and {:?} are both stored", pair[0], pair[1]));
        }
    }
    Ok(())
}

/// thread (u32), sequence (u64), text, as both victims trace them.
pub fn arguments(args: &[u8]) -> Option<(u32, u64, &[u8])> {
    let thread = u32::from_le_bytes(*args.first_chunk()?);
    let sequence = u64::from_le_bytes(*args.get(4..)?.first_chunk()?);
    let len = u32::from_le_bytes(*args.get(12..)?.first_chunk()?) as usize;
    Some((thread, sequence, args.get(16..16_usize.checked_add(len)?)?))
}
