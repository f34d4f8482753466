//! The collector's intent: which part of which file its successor must examine (spec/wire.md, section 9).

use std::path::{Path, PathBuf};

use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::layout::intent::{PATH_MAX, at};

use super::files::{read_exact, write_all};
use super::session::COLLECTOR;
use super::{ObserveError, ObservedSession};
use crate::platform::files::{path_of_bytes, path_to_bytes};

/// Where the collector was about to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Device of the trace file.
    pub dev: u64,
    /// Inode of the trace file.
    pub ino: u64,
    /// Everything of the session at or after this offset may be stored but not released.
    pub offset: u64,
    /// Absolute path that the file had.
    pub path: PathBuf,
}

impl Intent {
    /// The page's bytes from `dev` on, checksum included; `None` when the path is too long or not absolute.
    fn encode(&self) -> Option<Vec<u8>> {
        let path = path_to_bytes(&self.path)?;
        if path.len() > PATH_MAX || !self.path.is_absolute() {
            return None;
        }
        let mut bytes = Vec::with_capacity(at::PATH + path.len());
        bytes.extend_from_slice(&[0; 8]);
        for word in [self.dev, self.ino, self.offset] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&(path.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(path);
        let crc = checksum(&bytes);
        bytes[at::CRC..at::PATH].copy_from_slice(&crc.to_le_bytes());
        Some(bytes)
    }

    fn decode(page: &[u8]) -> Option<Self> {
        if u64_at(page, at::SEQUENCE)? % 2 == 1 {
            return None;
        }
        let len = u32_at(page, at::PATH_LEN)? as usize;
        let end = at::PATH + Some(len).filter(|len| (1..=PATH_MAX).contains(len))?;
        let stated = u32_at(page, at::CRC)?;
        let mut bytes = page.get(..end)?.to_vec();
        bytes[at::CRC..at::PATH].fill(0);
        if checksum(&bytes) != stated {
            return None;
        }
        let path = path_of_bytes(&bytes[at::PATH..])?;
        let word = |at| u64_at(page, at);
        let intent = Self { dev: word(at::DEV)?, ino: word(at::INO)?, offset: word(at::OFFSET)?, path };
        intent.path.is_absolute().then_some(intent)
    }

    /// Whether the path can stand in an intent.
    pub fn admits(path: &Path) -> bool {
        path.is_absolute() && path_to_bytes(path).is_some_and(|bytes| bytes.len() <= PATH_MAX)
    }
}

/// Bytes 8 to the end of the path, the checksum's own bytes being zero.
fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(&bytes[at::DEV..])
}

impl ObservedSession {
    /// The last collector's intent; `None` when there is none, or it was being written (then nothing had been stored under it).
    pub fn intent(&self) -> Result<Option<Intent>, ObserveError> {
        let mut page = [0; at::PATH + PATH_MAX];
        match read_exact(&self.collector, COLLECTOR, &mut page, 0) {
            Err(ObserveError::Cut { .. }) => Ok(None),
            result => result.map(|()| Intent::decode(&page)),
        }
    }

    /// Writes the intent; must be complete before anything is stored under it. `sequence` grows; its lowest bit is ignored.
    pub fn write_intent(&self, intent: &Intent, sequence: u64) -> Result<(), ObserveError> {
        let Some(mut bytes) = intent.encode() else {
            return Err(ObserveError::refused(
                "path of the trace file",
                "it is not absolute, or longer than 4000 bytes",
            ));
        };
        // One write: it is read only by a successor, when its writer is dead, and the checksum tells whether it was complete.
        bytes[..at::DEV].copy_from_slice(&(sequence & !1).to_le_bytes());
        write_all(&self.collector, COLLECTOR, &bytes, 0)
    }

    /// As if there had never been one: after a collector has let go with everything released.
    pub fn clear_intent(&self) -> Result<(), ObserveError> {
        write_all(&self.collector, COLLECTOR, &[0; at::PATH + PATH_MAX], 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent() -> Intent {
        Intent { dev: 1, ino: 2, offset: 3, path: "/a/b.silver".into() }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let mut page = intent().encode().unwrap();
        page.resize(4096, 0);
        assert_eq!(Intent::decode(&page), Some(intent()));
        for at in 8..51 {
            let mut bad = page.clone();
            bad[at] ^= 1;
            assert_eq!(Intent::decode(&bad), None, "byte {at}");
        }
        page[0] = 1;
        assert_eq!(Intent::decode(&page), None, "being written");
        assert_eq!(Intent::decode(&[0; 4096]), None, "none yet");
    }

    #[test]
    fn paths_are_absolute_and_bounded() {
        assert!(Intent { path: "b.silver".into(), ..intent() }.encode().is_none());
        assert!(Intent { path: format!("/{}", "a".repeat(4000)).into(), ..intent() }.encode().is_none());
    }
}
