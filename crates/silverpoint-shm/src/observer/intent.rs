//! The collector's intent (spec/wire.md section 9).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::layout::intent::{PATH_MAX, at};

use super::error::{ObserveError, ObserveErrorKind};
use super::session::ObservedSession;

/// Which part of which file a successor has to examine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Device of the trace file.
    pub dev: u64,
    /// Inode of the trace file.
    pub ino: u64,
    /// Everything of the session at or after this offset may be stored but not released.
    pub offset: u64,
    /// Absolute path of the trace file.
    pub path: PathBuf,
}

impl Intent {
    fn encode(&self, sequence: u64) -> Option<Vec<u8>> {
        let path = self.path.as_os_str().as_bytes();
        if path.len() > PATH_MAX {
            return None;
        }
        let mut bytes = vec![0; at::PATH];
        bytes[at::SEQUENCE..][..8].copy_from_slice(&sequence.to_le_bytes());
        bytes[at::DEV..][..8].copy_from_slice(&self.dev.to_le_bytes());
        bytes[at::INO..][..8].copy_from_slice(&self.ino.to_le_bytes());
        bytes[at::OFFSET..][..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[at::PATH_LEN..][..4].copy_from_slice(&(path.len() as u32).to_le_bytes());
        bytes.extend_from_slice(path);
        let crc = crc32c::crc32c(&bytes[at::DEV..]);
        bytes[at::CRC..][..4].copy_from_slice(&crc.to_le_bytes());
        Some(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Intent> {
        let len = u32_at(bytes, at::PATH_LEN)? as usize;
        let whole = bytes.get(..at::PATH + len.min(PATH_MAX))?;
        let mut checked = whole[at::DEV..].to_vec();
        checked[at::CRC - at::DEV..][..4].fill(0);
        if len > PATH_MAX || u32_at(bytes, at::CRC)? != crc32c::crc32c(&checked) {
            return None;
        }
        let path = Path::new(OsStr::from_bytes(&whole[at::PATH..])).to_owned();
        Some(Intent {
            dev: u64_at(bytes, at::DEV)?,
            ino: u64_at(bytes, at::INO)?,
            offset: u64_at(bytes, at::OFFSET)?,
            path,
        })
    }
}

impl ObservedSession {
    /// Stores the intent. One write: a death within it leaves a checksum that does not agree, which a successor takes as "none".
    pub fn set_intent(&self, intent: &Intent, sequence: u64) -> Result<(), ObserveError> {
        let bytes = intent.encode(sequence * 2);
        let bytes = bytes.ok_or_else(|| {
            self.fail("collector", ObserveErrorKind::Header("path_len", PATH_MAX as u64 + 1))
        })?;
        self.collector.write_all_at(&bytes, 0).map_err(|e| self.fail("collector", ObserveErrorKind::Io(e)))
    }

    /// The intent of the last collector; `None` when there was none or it cannot be trusted.
    pub fn intent(&self) -> Result<Option<Intent>, ObserveError> {
        let mut bytes = vec![0; at::PATH + PATH_MAX];
        let len = self
            .collector
            .read_at(&mut bytes, 0)
            .map_err(|e| self.fail("collector", ObserveErrorKind::Io(e)))?;
        bytes.truncate(len);
        Ok(Intent::decode(&bytes).filter(|intent| !intent.path.as_os_str().is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_comes_back_and_a_torn_one_does_not() {
        let intent = Intent { dev: 1, ino: 2, offset: 4096, path: "/var/log/app.silver".into() };
        let bytes = intent.encode(7).unwrap();
        assert_eq!(Intent::decode(&bytes), Some(intent));
        for at in 8..bytes.len() {
            let mut torn = bytes.clone();
            torn[at] ^= 1;
            assert_eq!(Intent::decode(&torn), None, "flip at {at}");
        }
        assert_eq!(Intent::decode(&bytes[..30]), None);
    }
}
