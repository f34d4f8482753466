//! Room in the file that is asked for before it is written: a write then need not reserve each of its blocks.
//!
//! Measured on ext4 (docs/budgets.md). Elsewhere it was not measured and is not done. It is not done either
//! before a file has grown to a mebibyte, or where little is free. The size of the file is not changed. The
//! reserved room lies after its end, and within the size that the part may still reach; it is given back when
//! the part ends. A death leaves at most 4 MiB on the disk. The next collector that continues the file gives
//! them back, or the one after it when the death came between two parts.

use std::fs::File;

use silverpoint_shm::platform::files;

use crate::platform::room::{has_room, is_ext4, reserve};

/// So many bytes at a time.
const AHEAD: u64 = 4 << 20;
/// Files that are smaller get none.
const FROM: u64 = 1 << 20;
/// So many times as much must be free.
const FREE: u64 = 64;

/// The room after one file's end. For its only appender.
#[derive(Debug, Default)]
pub struct Ahead {
    /// Through which there is room.
    end: u64,
    /// The file system cannot, or has little left: not asked again for this file.
    is_refused: bool,
}

impl Ahead {
    /// Before `len` bytes are written at `at`, the end of the file, which shall not have more than about `most`.
    pub fn reach(&mut self, file: &File, at: u64, len: u64, most: u64) {
        let wanted = at.saturating_add(len);
        if self.is_refused || at < FROM || wanted <= self.end {
            return;
        }
        let ahead = AHEAD.min(most.saturating_sub(wanted));
        if ahead == 0 {
            return;
        }
        // What was ahead may have been cut with a failed write: from the end on, again.
        let room = wanted - at + ahead;
        self.is_refused = !has_room(file, FREE * AHEAD) || !reserve(file, at, room);
        self.end = at.saturating_add(room);
    }

    /// Gives back what is behind `end`, the end of the file; nothing is ahead any more.
    pub fn give_back(&mut self, file: &File, end: u64) {
        if self.end > end {
            cut(file, end);
        }
        self.end = 0;
    }
}

/// Gives back what a dead writer has left behind the end of a file that nobody writes.
pub fn give_back_left(file: &File) {
    // A few more than the size needs are the file system's own.
    if let Ok(found) = files::status(file) {
        if found.room > found.bytes.saturating_add(FROM / 4) && is_ext4(file) {
            cut(file, found.bytes);
        }
    }
}

/// Cuts what follows the last whole block, which ends there. Gives how many bytes that was.
pub fn cut_incomplete(file: &File, end: u64) -> u64 {
    // The zero bytes after the last payload may be missing.
    let behind = file.metadata().map_or(0, |found| found.len().saturating_sub(end));
    if behind > 0 {
        cut(file, end);
    }
    behind
}

/// Cuts what is behind this. Nobody wrote: the time of the last line is what logs are rotated and named by.
fn cut(file: &File, end: u64) {
    let modified = file.metadata().and_then(|found| found.modified());
    if file.set_len(end).is_ok() {
        if let Ok(modified) = modified {
            let _ = file.set_modified(modified);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};

    fn on_disk(file: &File) -> u64 {
        file.metadata().unwrap().blocks() * 512
    }

    #[test]
    fn no_more_is_asked_for_than_may_still_be_written() {
        const MOST: u64 = 2 << 20;
        let file = tempfile::tempfile().unwrap();
        let mut ahead = Ahead::default();
        let bytes = vec![1; 64 << 10];
        for at in (0..MOST).step_by(bytes.len()) {
            ahead.reach(&file, at, bytes.len() as u64, MOST);
            file.write_all_at(&bytes, at).unwrap();
            assert!(on_disk(&file) <= MOST + (64 << 10), "at {at}: {} on disk", on_disk(&file));
        }
    }

    #[test]
    fn what_a_dead_writer_left_ahead_is_given_back() {
        let file = tempfile::tempfile().unwrap();
        let bytes = vec![1; 2 << 20];
        file.write_all_at(&bytes, 0).unwrap();
        Ahead::default().reach(&file, bytes.len() as u64, 1, u64::MAX);
        give_back_left(&file);
        assert_eq!(file.metadata().unwrap().len(), bytes.len() as u64);
        assert!(on_disk(&file) <= (2 << 20) + (64 << 10), "{} on disk", on_disk(&file));
    }

    #[test]
    fn what_is_ahead_is_behind_the_end_and_given_back() {
        let file = tempfile::tempfile().unwrap();
        let mut ahead = Ahead::default();
        let bytes = vec![1; 64 << 10];
        let mut end = 0;
        while end < 8 << 20 {
            ahead.reach(&file, end, bytes.len() as u64, u64::MAX);
            file.write_all_at(&bytes, end).unwrap();
            end += bytes.len() as u64;
            assert_eq!(file.metadata().unwrap().len(), end);
        }
        // A few more than the size needs are the file system's own.
        let expected =
            if has_room(&file, FREE * AHEAD) { end + (64 << 10)..end + 2 * AHEAD } else { 0..end + AHEAD };
        assert!(expected.contains(&on_disk(&file)), "{} bytes, {} on disk", end, on_disk(&file));
        ahead.give_back(&file, end);
        assert_eq!(file.metadata().unwrap().len(), end);
        assert!(on_disk(&file) <= end + (64 << 10), "{} bytes, {} on disk", end, on_disk(&file));
    }

    /// A log's lines belong to the day on which they were written, not to that of its logger's end.
    #[test]
    fn giving_back_leaves_the_time_of_the_last_write() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![1; 2 << 20], 0).unwrap();
        let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        for left in [false, true] {
            let mut ahead = Ahead::default();
            ahead.reach(&file, 2 << 20, 1, u64::MAX);
            file.set_modified(written).unwrap();
            if left {
                give_back_left(&file)
            } else {
                ahead.give_back(&file, 2 << 20)
            }
            assert_eq!(file.metadata().unwrap().modified().unwrap(), written, "{left}");
        }
    }
}
