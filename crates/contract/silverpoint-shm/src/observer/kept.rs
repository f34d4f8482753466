//! A session's original mode, kept beside the intent while a collector has changed it (spec/wire.md, section
//! 9). The successor of a dead collector restores it.

use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::layout::kept::{AT, MAGIC, at};

use super::files::{read_exact, write_all};
use super::session::COLLECTOR;
use super::{ObserveError, ObservedSession, SavedMode};
use crate::platform::files;

impl SavedMode {
    /// The bytes that stand at [`AT`].
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(at::DIRECTIVES + self.directives.len() + self.states.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&[0; 4]);
        for word in
            [self.directives.len() as u32, self.directives_len, self.states.len() as u32, self.block_max_ms]
        {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&self.policy);
        bytes.extend_from_slice(&self.directives);
        bytes.extend_from_slice(&self.states);
        let crc = crc32c::crc32c(&bytes[at::DIRECTIVES_SIZE..]);
        bytes[at::CRC..at::DIRECTIVES_SIZE].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// How many bytes follow the fixed part, by that part. `None` when it says that there is nothing, or more than the session can have.
    fn size(fixed: &[u8], directives_cap: u32, sites_cap: u32) -> Option<usize> {
        let (directives, states) = (u32_at(fixed, at::DIRECTIVES_SIZE)?, u32_at(fixed, at::STATES)?);
        let is_ours = fixed.starts_with(&MAGIC)
            && directives <= directives_cap
            && u32_at(fixed, at::DIRECTIVES_LEN)? <= directives
            && states <= sites_cap;
        is_ours.then_some(directives as usize + states as usize)
    }

    /// The mode of a page that was written completely; no collector is active.
    fn decode(page: &[u8]) -> Option<Self> {
        if crc32c::crc32c(page.get(at::DIRECTIVES_SIZE..)?) != u32_at(page, at::CRC)? {
            return None;
        }
        let directives = u32_at(page, at::DIRECTIVES_SIZE)? as usize;
        let (directives, states) = page.get(at::DIRECTIVES..)?.split_at_checked(directives)?;
        Some(Self {
            directives: directives.to_vec(),
            directives_len: u32_at(page, at::DIRECTIVES_LEN)?,
            states: states.to_vec(),
            block_max_ms: u32_at(page, at::BLOCK_MAX_MS)?,
            policy: u64_at(page, at::POLICY)?.to_le_bytes(),
            collector_pid: 0,
            collector_sleeping: 0,
            heartbeat: 0,
            collector_state: 0,
        })
    }
}

impl ObservedSession {
    /// Keeps a mode for the successor of a collector that dies. To be called with the collector's lock,
    /// before the mode is changed; [`Self::restore_mode`] ends it.
    pub fn keep_mode(&self, mode: &SavedMode) -> Result<(), ObserveError> {
        // One write, with a checksum: a partial one, left by a death, counts as none, and then nothing had
        // been changed.
        write_all(&self.collector, COLLECTOR, &mode.encode(), AT)
    }

    /// Restores the mode that a dead collector had changed. True: there was one. A session with a collector
    /// is left alone, and costs one system call. To be called without the collector's lock.
    pub fn restore_abandoned_mode(&self) -> Result<bool, ObserveError> {
        if self.kept_bytes()? == 0 || !self.lock_collector()? {
            return Ok(false);
        }
        let restored = self.restore_kept_mode();
        self.unlock_collector()?;
        restored
    }

    /// As [`Self::restore_abandoned_mode`], with the collector's lock held.
    pub fn restore_kept_mode(&self) -> Result<bool, ObserveError> {
        let Some(mode) = self.kept_mode()? else { return Ok(false) };
        self.restore_mode(&mode)?;
        Ok(true)
    }

    /// The mode from before a dead collector, as it would be restored now. What is kept incompletely is
    /// forgotten. To be called with the collector's lock held.
    pub fn kept_mode(&self) -> Result<Option<SavedMode>, ObserveError> {
        if self.kept_bytes()? == 0 {
            return Ok(None);
        }
        let Some(mut mode) = self.read_kept_mode()? else {
            self.forget_mode()?;
            return Ok(None);
        };
        mode.heartbeat = self.counters()?.heartbeat;
        Ok(Some(mode))
    }

    fn read_kept_mode(&self) -> Result<Option<SavedMode>, ObserveError> {
        let mut page = vec![0; at::DIRECTIVES];
        let kept = read_exact(&self.collector, COLLECTOR, &mut page, AT).and_then(|()| {
            let size = SavedMode::size(&page, self.header.directives_cap, self.header.sites_cap);
            let Some(size) = size else { return Ok(None) };
            page.resize(at::DIRECTIVES + size, 0);
            read_exact(&self.collector, COLLECTOR, &mut page[at::DIRECTIVES..], AT + at::DIRECTIVES as u64)?;
            Ok(SavedMode::decode(&page))
        });
        match kept {
            Err(ObserveError::Cut { .. }) => Ok(None),
            result => result,
        }
    }

    /// Bytes of the file from [`AT`] on.
    fn kept_bytes(&self) -> Result<u64, ObserveError> {
        let status = files::status(&self.collector).map_err(|error| ObserveError::io(COLLECTOR, error))?;
        Ok(status.bytes.saturating_sub(AT))
    }

    /// Nothing is kept any more.
    pub(super) fn forget_mode(&self) -> Result<(), ObserveError> {
        if self.kept_bytes()? == 0 {
            return Ok(());
        }
        files::set_size(&self.collector, AT).map_err(|error| ObserveError::io(COLLECTOR, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode() -> SavedMode {
        SavedMode {
            directives: b"net=debug\0\0beyond".to_vec(),
            directives_len: 9,
            states: vec![1, 0, 4],
            block_max_ms: 77,
            policy: [0, 1, 2, 0, 1, 2, 0, 0],
            collector_pid: 0,
            collector_sleeping: 0,
            heartbeat: 0,
            collector_state: 0,
        }
    }

    #[test]
    fn what_is_kept_comes_back_and_nothing_else() {
        let page = mode().encode();
        assert_eq!(SavedMode::size(&page, 17, 3), Some(20));
        assert_eq!(SavedMode::decode(&page), Some(mode()));
        for len in 0..page.len() {
            assert_eq!(SavedMode::decode(&page[..len]), None, "{len} bytes");
        }
        for at in at::CRC..page.len() {
            let mut bad = page.clone();
            bad[at] ^= 1;
            assert_eq!(SavedMode::decode(&bad), None, "byte {at}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_session() {
        let page = mode().encode();
        assert_eq!(SavedMode::size(&page, 16, 3), None, "more directives");
        assert_eq!(SavedMode::size(&page, 17, 2), None, "more sites");
        assert_eq!(SavedMode::size(&[0; 40], 17, 3), None, "no magic");
        let mut bad = page;
        bad[at::DIRECTIVES_LEN] = 18;
        assert_eq!(SavedMode::size(&bad, 17, 3), None, "a text longer than its region");
    }
}
