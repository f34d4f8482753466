//! Proof that a victim died in the middle of a record: its bytes stand in the ring, beyond what is committed.

use std::path::Path;

use silverpoint_killtest::counts::{Counts, text_of};
use silverpoint_shm::observer::{ObservedSession, list};
use silverpoint_shm::root::Root;

use crate::judge::arguments;

/// Bytes of a record's header.
const HEADER: usize = 16;
/// Enough for any of the victim's records.
const RECORD_MAX: usize = 256;

/// Reads the rings of the one dead session of a root. Gives the threads whose next record is complete in
/// memory except for its publication. These are the one that killed the process, and others that were just as
/// far.
pub fn unpublished(root: &Path, counts: &Counts, threads: usize) -> Result<Vec<usize>, String> {
    let root = Root::open_directory(root).map_err(|error| error.to_string())?;
    let names = list(&root).map_err(|error| error.to_string())?;
    let [name] = names[..] else { return Err(format!("there are {} sessions, not one", names.len())) };
    let session = ObservedSession::open(&root, name).map_err(|error| error.to_string())?;
    let counters = session.counters().map_err(|error| error.to_string())?;
    let mut slices = Vec::new();
    session.slices(counters.slabs_next, &mut slices, |_| {}).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    let mut expected = String::new();
    for slice in slices {
        let Some(header) = session.ring(slice).map_err(|error| error.to_string())? else { continue };
        // Nobody consumed, so that nothing older can stand there.
        let room = u64::from(header.capacity).saturating_sub(header.committed);
        let mut bytes = vec![0; RECORD_MAX.min(room as usize)];
        session.read_data(slice, &header, header.committed, &mut bytes).map_err(|error| error.to_string())?;
        let Some((thread, sequence, text)) = bytes.get(HEADER..).and_then(arguments) else { continue };
        let size = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) & 0xFF_FFFF;
        if size == 0 {
            continue;
        }
        text_of(thread, sequence, &mut expected);
        let is_next = (thread as usize) < threads && sequence == counts.get(thread as usize) + 1;
        // Another thread may have been interrupted anywhere, between any two of its stores.
        if is_next && text == expected.as_bytes() {
            found.push(thread as usize);
        }
    }
    if found.is_empty() { Err("no ring holds a record that is not published".into()) } else { Ok(found) }
}
