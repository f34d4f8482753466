//! Following a collector that died: what it had stored is released, what it had not is not.
//!
//! Its intent names the file and the offset from which the session's blocks may be stored without being released. Each block there that is valid proves its
//! bytes stored. The file may have been renamed by a rotation since: it is found by its inode among the parts beside it. When it cannot be found, nothing is proved,
//! and the records of that one batch may be in two files: never in none.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use silverpoint_shm::kept::KeptFd;
use silverpoint_shm::observer::{Intent, ObserveError, ObservedSession, Slice};
use silverpoint_shm::platform::files::{names, open_directory, open_to_read, open_to_read_at, status};
use silverpoint_wire::block::BlockKind;
use silverpoint_wire::bytes::u64_at;
use silverpoint_wire::scan::{Found, Scanner};

use crate::fault;
use crate::trace::{Held, Source, TraceFile, rotated};

/// Stretches of streams that are remembered: far more than a batch has. What is beyond is stored twice.
const MAX_STRETCHES: usize = 1 << 20;
/// Entries of a directory that are looked at.
const MAX_ENTRIES: usize = 100_000;

/// What of each stream is proved stored: stretches in ascending order of the file.
type Proofs = HashMap<u32, Vec<(u64, u64)>>;

/// Releases what the session's last collector had stored without releasing it. The caller has the collector's lock. Gives a remark when the file could not
/// be examined.
pub(crate) fn take_over(
    session: &ObservedSession,
    trace: &TraceFile,
) -> Result<Option<String>, ObserveError> {
    let Some(intent) = session.intent()? else { return Ok(None) };
    let id = session.header().session_id;
    let examined = if trace.is(intent.dev, intent.ino) {
        proofs(trace.file(), &id, intent.offset)
    } else {
        find(&intent, trace).and_then(|file| proofs(&file, &id, intent.offset))
    };
    match examined {
        Ok(proofs) => {
            apply(session, &proofs)?;
            Ok(None)
        }
        Err(error) => Ok(Some(format!(
            "its last collector wrote to {}, which cannot be examined ({error}): some records may be in both files",
            intent.path.display()
        ))),
    }
}

/// The file of an intent: by its path, or a part beside it, or any file of that directory, if it is the same file.
fn find(intent: &Intent, trace: &TraceFile) -> io::Result<File> {
    let is_it = |file: &File| {
        status(file)
            .is_ok_and(|found| found.is_file && (found.device, found.inode) == (intent.dev, intent.ino))
    };
    if let Ok(file) = open_to_read(&intent.path) {
        if is_it(&file) {
            return Ok(file);
        }
    }
    let name = intent.path.file_name().ok_or(io::ErrorKind::NotFound)?;
    let parent = intent.path.parent().ok_or(io::ErrorKind::NotFound)?;
    let opened;
    let directory = if trace.path().parent() == Some(parent) {
        trace.directory()
    } else {
        opened = KeptFd::new(open_directory(parent)?);
        &opened
    };
    for part in rotated(directory, name)? {
        if (part.dev, part.ino) == (intent.dev, intent.ino) {
            let file = open_to_read_at(directory, &part.name)?;
            if is_it(&file) {
                return Ok(file);
            }
        }
    }
    // Somebody has given it another name.
    for entry in names(directory)?.take(MAX_ENTRIES) {
        let (name, inode) = entry?;
        if inode == intent.ino {
            if let Ok(file) = open_to_read_at(directory, &name) {
                if is_it(&file) {
                    return Ok(file);
                }
            }
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// What valid blocks at or after `offset` prove of a session.
fn proofs(file: &File, session_id: &[u8; 16], offset: u64) -> io::Result<Proofs> {
    let mut proofs = Proofs::new();
    let Some(number) = Held::read(file)?.sessions.get(session_id).copied() else { return Ok(proofs) };
    let source = Source(file);
    let mut scanner = Scanner::new(&source, offset & !7, true);
    let mut count = 0;
    while let Some(found) = scanner.next()? {
        let Found::Block { header, .. } = found else { continue };
        if header.session != number || count >= MAX_STRETCHES {
            continue;
        }
        let (begin, end) = match header.kind {
            BlockKind::RECORDS => (header.ring_begin, header.ring_end),
            BlockKind::GAP => match (u64_at(scanner.payload(), 0), u64_at(scanner.payload(), 8)) {
                (Some(begin), Some(end)) => (begin, end),
                _ => continue,
            },
            _ => continue,
        };
        let stretches = proofs.entry(header.stream).or_default();
        match stretches.last_mut() {
            Some(last) if last.1 == begin => last.1 = end,
            _ => {
                stretches.push((begin, end));
                count += 1;
            }
        }
    }
    Ok(proofs)
}

/// Advances each ring to where its stream is proved stored.
fn apply(session: &ObservedSession, proofs: &Proofs) -> Result<(), ObserveError> {
    if proofs.is_empty() {
        return Ok(());
    }
    let mut slices: Vec<Slice> = Vec::new();
    session.slices(session.counters()?.slabs_next, &mut slices, |_| {})?;
    for slice in slices {
        let Some(header) = session.ring(slice)? else { continue };
        let Some(stretches) = proofs.get(&header.stream) else { continue };
        let released = header.consumed.max(header.base);
        let mut stored = released;
        for (begin, end) in stretches {
            if *begin <= stored && stored < *end {
                stored = *end;
            }
        }
        // What was not committed cannot have been stored: such a block is not this ring's.
        if stored > released && stored <= header.committed {
            session.set_consumed(slice, stored)?;
            session.wake(slice)?;
            fault::point("mid-takeover");
        }
    }
    Ok(())
}
