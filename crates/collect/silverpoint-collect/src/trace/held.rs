//! What a trace file holds already: read when a collector goes on in it, or proves what a dead one has stored.

use std::collections::HashMap;
use std::fs::File;
use std::io;

use silverpoint_shm::platform::files;
use silverpoint_wire::about::PART;
use silverpoint_wire::block::{BlockHeader, BlockKind, GapInfo};
use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::process;
use silverpoint_wire::scan::{Found, ReadAt, Scanner};
use silverpoint_wire::version::FormatVersion;

/// Sessions' texts are much shorter.
const MAX_PAYLOAD: usize = 1 << 20;

/// A file for the scanner.
pub(crate) struct Source<'a>(pub(crate) &'a File);

impl ReadAt for Source<'_> {
    type Error = io::Error;

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match files::read_at(self.0, buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Numbers of sessions by their ids.
    pub(crate) sessions: HashMap<[u8; 16], u32>,
    /// The last watermark of each session.
    pub(crate) watermarks: HashMap<[u8; 16], u64>,
    /// Of each session by stream: up to where the ring was stored, or recorded as a gap.
    pub(crate) positions: HashMap<[u8; 16], HashMap<u32, u64>>,
    /// Which part of its trace it says that it is; 0 when it does not say.
    pub(crate) part: u64,
    /// The highest number of a session.
    pub(crate) last_session: u32,
    /// Number of the block after the last.
    pub(crate) next_sequence: u64,
    /// Where the last whole block ends.
    pub(crate) end: u64,
    /// Whether any block was found, and whether one of records was.
    pub(crate) blocks: u64,
    pub(crate) has_records: bool,
}

impl Held {
    /// Reads the headers of a file: a few microseconds a block.
    pub(crate) fn read(file: &File) -> io::Result<Self> {
        let source = Source(file);
        let mut held = Self::default();
        let mut watermarks: HashMap<u32, u64> = HashMap::new();
        let mut positions: HashMap<u32, HashMap<u32, u64>> = HashMap::new();
        // Whose a number is at the moment: files may have been joined.
        let mut owners: HashMap<u32, [u8; 16]> = HashMap::new();
        let mut scanner = Scanner::new(&source, 0, false);
        while let Some(found) = scanner.next()? {
            let Found::Block { at, header } = found else { continue };
            held.blocks += 1;
            held.next_sequence = header.sequence.wrapping_add(1);
            held.last_session = held.last_session.max(header.session);
            held.has_records |= header.kind == BlockKind::RECORDS;
            // The zero bytes after the last payload may be missing.
            held.end = at + header.block_size();
            match header.kind {
                // A part of this version behind blocks of another would make neither readable.
                BlockKind::FILE => {
                    let lines = bytes(&source, at, &header)?.map(|text| process::lines(&text));
                    let lines = lines.unwrap_or_default();
                    if let Some(version) = FormatVersion::refused(&lines) {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, other_version(version)));
                    }
                    held.part = process::value(&lines, PART).and_then(|part| part.parse().ok()).unwrap_or(0);
                }
                BlockKind::SESSION => {
                    if let Some(id) = payload(&source, at, &header)? {
                        if let Some(before) = owners.insert(header.session, id).filter(|before| *before != id)
                        {
                            // It gets a number of its own, if it goes on here.
                            held.sessions.remove(&before);
                            held.keep(
                                before,
                                watermarks.remove(&header.session),
                                positions.remove(&header.session),
                            );
                        }
                        held.sessions.insert(id, header.session);
                    }
                }
                BlockKind::RECORDS => reach(&mut positions, header.session, header.stream, header.ring_end),
                BlockKind::GAP => {
                    if let Some(gap) = bytes(&source, at, &header)?.and_then(|gap| GapInfo::decode(&gap)) {
                        reach(&mut positions, header.session, header.stream, gap.end);
                    }
                }
                BlockKind::POSITIONS => {
                    for entry in bytes(&source, at, &header)?.unwrap_or_default().chunks_exact(16) {
                        if let (Some(stream), Some(end)) = (u32_at(entry, 0), u64_at(entry, 8)) {
                            reach(&mut positions, header.session, stream, end);
                        }
                    }
                }
                BlockKind::WATERMARK => {
                    if let Some(ticks) = payload(&source, at, &header)?.map(u64::from_le_bytes) {
                        let last = watermarks.entry(header.session).or_default();
                        *last = ticks.max(*last);
                    }
                }
                _ => {}
            }
        }
        for (id, number) in held.sessions.clone() {
            held.keep(id, watermarks.remove(&number), positions.remove(&number));
        }
        Ok(held)
    }

    /// What the file holds of a session, by its id.
    fn keep(&mut self, id: [u8; 16], watermark: Option<u64>, streams: Option<HashMap<u32, u64>>) {
        if let Some(ticks) = watermark {
            let last = self.watermarks.entry(id).or_default();
            *last = ticks.max(*last);
        }
        let own = self.positions.entry(id).or_default();
        for (stream, end) in streams.into_iter().flatten() {
            let known = own.entry(stream).or_default();
            *known = end.max(*known);
        }
    }

    /// The positions of the part before this one count where this one has none, or lower ones. Its writer may
    /// have died before it had written any.
    pub(crate) fn follow(&mut self, before: Self) {
        for (id, ticks) in before.watermarks {
            self.watermarks.entry(id).or_insert(ticks);
        }
        for (id, streams) in before.positions {
            let own = self.positions.entry(id).or_default();
            for (stream, end) in streams {
                let known = own.entry(stream).or_default();
                *known = end.max(*known);
            }
        }
    }
}

/// A stream of a session, by its number, was stored up to here.
fn reach(positions: &mut HashMap<u32, HashMap<u32, u64>>, session: u32, stream: u32, end: u64) {
    let known = positions.entry(session).or_default().entry(stream).or_default();
    *known = end.max(*known);
}

fn other_version(version: &str) -> String {
    let version: String = version.chars().take(40).flat_map(char::escape_default).collect();
    let own = FormatVersion::CURRENT.major;
    format!(
        "it has version {version} of the format, this program writes and reads {own}.x: name another file"
    )
}

/// The first bytes of a payload; `None` when it has fewer, or is not what was stored.
fn payload<const N: usize>(
    source: &Source<'_>,
    at: u64,
    header: &BlockHeader,
) -> io::Result<Option<[u8; N]>> {
    Ok(bytes(source, at, header)?.and_then(|payload| payload.first_chunk::<N>().copied()))
}

/// A payload; `None` when it is long, or not what was stored.
fn bytes(source: &Source<'_>, at: u64, header: &BlockHeader) -> io::Result<Option<Vec<u8>>> {
    if header.stored_size as usize > MAX_PAYLOAD {
        return Ok(None);
    }
    let mut bytes = vec![0; header.stored_size as usize];
    let mut len = 0;
    while len < bytes.len() {
        match source.read_at(at + u64::from(header.header_size) + len as u64, &mut bytes[len..])? {
            0 => break,
            more => len += more,
        }
    }
    bytes.truncate(len);
    Ok(header.check(&bytes).is_ok().then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use silverpoint_wire::block::push_block;

    use super::*;

    fn held(format: &str) -> io::Result<Held> {
        let mut bytes = Vec::new();
        let text = format!("format={format}\nwriter=other\n");
        push_block(&mut bytes, &BlockHeader::new(BlockKind::FILE, text.as_bytes()), text.as_bytes());
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        Held::read(&file)
    }

    #[test]
    fn a_file_of_another_major_version_is_not_continued() {
        let error = held("2.5").unwrap_err().to_string();
        assert_eq!(
            error,
            "it has version 2.5 of the format, this program writes and reads 1.x: name another file"
        );
    }

    #[test]
    fn a_file_of_a_later_minor_version_is() {
        assert_eq!(held("1.9").unwrap().blocks, 1);
    }
}
