//! Waiting for a word of a producer's file. Windows's own function for that knows no other process: so the word is
//! read once a millisecond, and nobody is woken.

use std::time::{Duration, Instant};

use super::files::{Descriptor, read_at};
use crate::kept::KeptFd;
use crate::observer::Access;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(1);

/// Words of a file.
#[derive(Debug)]
pub(crate) struct Words {
    file: Descriptor,
}

impl Words {
    /// The first `len` bytes of a file.
    pub(crate) fn new(file: &KeptFd, _: u64, _: Access) -> Option<Self> {
        Some(Self { file: file.descriptor().try_clone().ok()? })
    }

    /// Windows has no such call.
    pub(crate) fn make_pages(&self, _: u64, _: u64) -> Option<bool> {
        None
    }

    /// Nobody: who waits looks by himself.
    pub(crate) fn wake(&self, _: u64, _: u32) {}

    /// Sleeps while the word is `expected`, at most `timeout`.
    pub(crate) fn wait(&self, offset: u64, expected: u32, timeout: Duration) {
        wait_for_any(&[(self, offset, expected)], timeout);
    }

    fn is(&self, offset: u64, expected: u32) -> bool {
        let mut bytes = [0; 4];
        matches!(read_at(&self.file, &mut bytes, offset), Ok(4)) && u32::from_le_bytes(bytes) == expected
    }
}

/// Sleeps while each of these words has its value, at most `timeout`. May return early.
pub(crate) fn wait_for_any(of: &[(&Words, u64, u32)], timeout: Duration) {
    let until = Instant::now() + timeout;
    while of.iter().all(|(words, offset, value)| words.is(*offset, *value)) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
