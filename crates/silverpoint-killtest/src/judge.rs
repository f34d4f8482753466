//! Counts what a trace holds against what returned.

use std::path::{Path, PathBuf};

use silverpoint_formats::tracefile::{Trace, What, with_parts};
use silverpoint_killtest::counts::{Counts, text_of};

/// What the judge counted.
pub struct Counted {
    /// Records in the files.
    pub records: u64,
}

/// Judges all files together.
pub fn judge(files: &[PathBuf], counts: &Counts, threads: usize) -> Result<Counted, String> {
    let existing: Vec<PathBuf> = files.iter().filter(|path| Path::exists(path)).cloned().collect();
    let trace = Trace::open(&with_parts(&existing)).map_err(|error| error.to_string())?;
    for session in &trace.sessions {
        let losses = session.losses();
        if losses.iter().any(|count| *count > 0) {
            return Err(format!("{} reports losses: {losses:?}", session.label()));
        }
    }
    let mut next = vec![1_u64; threads];
    let mut records = 0;
    let mut expected = String::new();
    let mut events = trace.events();
    while let Some(event) = events.next() {
        let What::Record { args, .. } = event.what else { continue };
        let (thread, sequence, text) =
            arguments(args).ok_or("a record has other arguments than were traced")?;
        let due = next
            .get_mut(thread as usize)
            .ok_or_else(|| format!("a record of the unknown thread {thread}"))?;
        if sequence != *due {
            return Err(format!(
                "thread {thread}: record {sequence} where {due} is due ({} returned)",
                counts.get(thread as usize)
            ));
        }
        text_of(thread, sequence, &mut expected);
        if text != expected.as_bytes() {
            return Err(format!(
                "thread {thread}, record {sequence}: the text is {:?}",
                String::from_utf8_lossy(text)
            ));
        }
        *due += 1;
        records += 1;
    }
    for (thread, due) in next.iter().enumerate() {
        let (stored, returned) = (due - 1, counts.get(thread));
        if stored < returned {
            return Err(format!("thread {thread}: {returned} calls returned, {stored} records are stored"));
        }
        if stored > returned + 1 {
            return Err(format!(
                "thread {thread}: {returned} calls returned, but {stored} records are stored"
            ));
        }
    }
    Ok(Counted { records })
}

/// thread (u32), sequence (u64), text, as both victims trace them.
fn arguments(args: &[u8]) -> Option<(u32, u64, &[u8])> {
    let thread = u32::from_le_bytes(*args.first_chunk()?);
    let sequence = u64::from_le_bytes(*args.get(4..)?.first_chunk()?);
    let len = u32::from_le_bytes(*args.get(12..)?.first_chunk()?) as usize;
    Some((thread, sequence, args.get(16..16 + len)?))
}
