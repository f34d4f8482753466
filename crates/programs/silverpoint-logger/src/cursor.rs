//! Announces what a file sink is about to write: where in the file, how much, and how far its records reach.
//!
//! Two files take turns, so that the entry before the last is always whole. A successor reads the newest
//! valid entry. If what it announces is in the log, the successor continues at its positions. Otherwise it
//! cuts the log to where the write began, and continues at the positions of the entry before. If the log has
//! another name by now, the successor searches its directory. If the log is nowhere, an announced write that
//! was not confirmed counts as not written.
//!
//! An entry consists of: magic, sequence, device, inode, begin, length (u64 each); number of positions,
//! CRC-32C of what is written (u32 each). Then for each position the session's id (16 bytes), ring position
//! (u64), stream, kind (u32 each). Kind 0 is the end of what was delivered, kind 1 the begin of what is kept
//! back (module `backtrace`). The last field is the CRC-32C of all this (u32). Numbers are little-endian. The
//! checksum of an entry is wrong when its process died while writing it. After the announced write, the
//! complement of the sequence (u64) follows. If the log is shorter than that then, something else has cut it,
//! and nothing is repeated.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use silverpoint_shm::kept::KeptFile;

const MAGIC: u64 = u64::from_le_bytes(*b"SPcursr1");
const FIXED: usize = 56;
const POSITION: usize = 32;
/// Kinds of positions.
const DELIVERED: u32 = 0;
const HELD: u32 = 1;
/// Positions of an entry that is read.
const POSITIONS_MAX: usize = 1 << 20;

/// How far a stream was delivered: session id, number of the stream, ring position.
pub(crate) type Position = ([u8; 16], u32, u64);

/// One announcement. See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) sequence: u64,
    /// Device and inode of the log.
    pub(crate) log: (u64, u64),
    pub(crate) begin: u64,
    pub(crate) len: u64,
    /// CRC-32C of what is written: another file may have the inode of one that was removed.
    pub(crate) checksum: u32,
    /// The announced write is complete, for certain.
    pub(crate) is_done: bool,
    /// The positions after it.
    pub(crate) positions: Vec<Position>,
    /// From where on something is kept back.
    pub(crate) held: Vec<Position>,
}

/// The two files.
#[derive(Debug)]
pub(crate) struct Cursor {
    base: PathBuf,
    files: [KeptFile; 2],
    sequence: u64,
    bytes: Vec<u8>,
}

impl Cursor {
    /// Opens or makes both files, and gives the valid entries, the newest first.
    pub(crate) fn open(base: &Path) -> io::Result<(Self, Vec<Entry>)> {
        let files = [open(base, 0)?, open(base, 1)?];
        let read = |file: &KeptFile| read(file.unchecked()).ok().flatten();
        let mut entries: Vec<Entry> = files.iter().filter_map(read).collect();
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.sequence));
        let sequence = entries.first().map_or(0, |entry| entry.sequence);
        Ok((Self { base: base.to_owned(), files, sequence, bytes: Vec::new() }, entries))
    }

    /// Announces an entry in the place of the older of the two; its sequence is set here. Until
    /// [`Cursor::done`] the next announcement uses the same place. So it does not overwrite the entry that
    /// states the certain end of the log.
    pub(crate) fn announce(&mut self, entry: &mut Entry) -> io::Result<()> {
        entry.sequence = self.sequence.wrapping_add(1);
        self.bytes.clear();
        entry.encode(&mut self.bytes);
        self.reopen_if_closed()?;
        self.files[(entry.sequence % 2) as usize].get()?.write_all_at(&self.bytes, 0)
    }

    /// The program may have closed the descriptors, and opened files of its own under their numbers.
    fn reopen_if_closed(&mut self) -> io::Result<()> {
        for (number, file) in self.files.iter_mut().enumerate() {
            if !file.is_intact() {
                *file = open(&self.base, number)?;
            }
        }
        Ok(())
    }

    /// The announced write has failed: the next announcement takes the place of its entry, and not that of
    /// the entry before, which is valid.
    pub(crate) fn take_back(&mut self) {
        self.sequence = self.sequence.wrapping_sub(1);
    }

    /// What was announced is in the log.
    pub(crate) fn done(&mut self) {
        self.sequence = self.sequence.wrapping_add(1);
        // If this fails, a successor judges by the length of the log.
        let file = self.files[(self.sequence % 2) as usize].get();
        let at = self.bytes.len() as u64;
        let _ = file.and_then(|file| file.write_all_at(&(!self.sequence).to_le_bytes(), at));
    }
}

fn open(base: &Path, number: usize) -> io::Result<KeptFile> {
    let mut path = base.to_owned();
    path.as_mut_os_string().push(format!(".{number}"));
    let file =
        OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)?;
    Ok(KeptFile::new(file))
}

impl Entry {
    fn encode(&self, out: &mut Vec<u8>) {
        for word in [MAGIC, self.sequence, self.log.0, self.log.1, self.begin, self.len] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&((self.positions.len() + self.held.len()) as u32).to_le_bytes());
        out.extend_from_slice(&self.checksum.to_le_bytes());
        let delivered = self.positions.iter().map(|position| (position, DELIVERED));
        for ((session, stream, position), kind) in
            delivered.chain(self.held.iter().map(|position| (position, HELD)))
        {
            out.extend_from_slice(session);
            out.extend_from_slice(&position.to_le_bytes());
            out.extend_from_slice(&stream.to_le_bytes());
            out.extend_from_slice(&kind.to_le_bytes());
        }
        out.extend_from_slice(&crc32c::crc32c(out).to_le_bytes());
    }

    /// `None`: no entry, or not a whole one.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        if word(0)? != MAGIC {
            return None;
        }
        let count = (word(48)? & u64::from(u32::MAX)) as usize;
        let end = FIXED + count.checked_mul(POSITION)?;
        let checksum = bytes.get(end..end + 4)?;
        if crc32c::crc32c(&bytes[..end]).to_le_bytes() != checksum {
            return None;
        }
        let position = |at: &[u8]| -> Option<Position> {
            let session = at[..16].try_into().ok()?;
            let position = u64::from_le_bytes(at[16..24].try_into().ok()?);
            Some((session, u32::from_le_bytes(at[24..28].try_into().ok()?), position))
        };
        let of_kind = |kind: u32| {
            let all = bytes[FIXED..end].chunks_exact(POSITION);
            all.filter(|at| at[28..32] == kind.to_le_bytes()).filter_map(position).collect()
        };
        Some(Self {
            sequence: word(8)?,
            log: (word(16)?, word(24)?),
            begin: word(32)?,
            len: word(40)?,
            checksum: (word(48)? >> 32) as u32,
            is_done: word(end + 4) == Some(!word(8)?),
            positions: of_kind(DELIVERED),
            held: of_kind(HELD),
        })
    }
}

fn read(file: &File) -> io::Result<Option<Entry>> {
    let size = (file.metadata()?.len() as usize).min(FIXED + POSITIONS_MAX * POSITION + 12);
    let mut bytes = vec![0; size];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(Entry::decode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: u64, positions: usize) -> Entry {
        let positions = (0..positions).map(|n| ([n as u8; 16], n as u32, n as u64 * 8)).collect();
        Entry {
            sequence,
            log: (1, 2),
            begin: 30,
            len: 40,
            checksum: 50,
            is_done: false,
            positions,
            held: vec![([9; 16], 3, 8)],
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written_and_no_damaged_one_is() {
        let mut bytes = Vec::new();
        entry(7, 3).encode(&mut bytes);
        assert_eq!(Entry::decode(&bytes), Some(entry(7, 3)));
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Entry::decode(&bad), None, "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert_eq!(Entry::decode(&bytes[..len]), None, "{len} bytes");
        }
    }

    #[test]
    fn the_two_newest_entries_are_there_after_any_number() {
        let directory = tempfile::TempDir::with_prefix("silverpoint-cursor-").unwrap();
        let base = directory.path().join("a");
        for round in 1..6_u64 {
            let (mut cursor, _) = Cursor::open(&base).unwrap();
            // Fewer positions than before: what is left behind them in the file does not matter.
            // An announcement that fails leaves the one before alone.
            cursor.announce(&mut entry(0, 1)).unwrap();
            cursor.announce(&mut entry(0, 6 - round as usize)).unwrap();
            cursor.done();
            let (_, entries) = Cursor::open(&base).unwrap();
            assert_eq!(entries[0], Entry { is_done: true, ..entry(round, 6 - round as usize) });
            assert_eq!(entries.len(), 2.min(round as usize));
        }
        // One that was only announced is not done, although an older one of the same length was in its place.
        let (mut cursor, _) = Cursor::open(&base).unwrap();
        cursor.announce(&mut entry(0, 2)).unwrap();
        let (_, entries) = Cursor::open(&base).unwrap();
        assert_eq!(entries[0], entry(6, 2));
    }
}
