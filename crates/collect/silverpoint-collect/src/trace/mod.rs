//! The trace file: opening, appending, quota, making durable. Its parts follow each other in `rotation`.
//!
//! **Writers** hold a lock on the first byte of the file (of the open file description). So no other process
//! cuts the part that is being written.

pub mod ahead;
mod files;
mod held;
mod index;
mod missing;
mod parts;
mod rotation;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use silverpoint_shm::kept::{KeptFd, KeptFile};
use silverpoint_shm::locks;
use silverpoint_shm::observer::Intent;
use silverpoint_shm::platform::files::{remove_at, sync_directory, write_all_at};
use silverpoint_wire::about::About;
use silverpoint_wire::block::{self, BlockKind};
use silverpoint_wire::compression::Compression;
use silverpoint_wire::layout::block::SEGMENT;
use silverpoint_wire::repetition::Repetition;

use ahead::Ahead;
use files::{create, find, identity, is_trace, lock, open, resolve};
pub(crate) use held::{Held, Source};
use index::Pending;
use missing::Account;
pub use missing::Missing;
pub(crate) use parts::{is_or_was_part, rotated};
pub(crate) use silverpoint_wire::batch::{Batch, Slot};

use crate::config::{Existing, Fsync, OutputConfig};
use crate::error::CollectError;
use crate::fault;
use crate::platform;

/// Reasons of an *end* block.
const END_CLOSED: u32 = 1;
const END_ROTATED: u32 = 2;
/// A file that says that it is a later part than this says nothing.
const PARTS_MAX: u64 = 1 << 40;
/// A part is not rotated away before it has so many bytes: dictionaries alone need some.
const MIN_ROTATION: u64 = 64 << 10;

/// With a quota but no size of parts, so many parts make up the quota.
const QUOTA_PARTS: u64 = 4;

/// The current part.
#[derive(Debug)]
pub(crate) struct TraceFile {
    config: OutputConfig,
    directory: KeptFd,
    name: OsString,
    /// Absolute.
    path: PathBuf,
    file: KeptFile,
    dev: u64,
    ino: u64,
    /// Where the last whole block ends.
    end: u64,
    next_sequence: u64,
    /// Dictionaries are repeated when the file has grown beyond this.
    segment_end: u64,
    /// Grows whenever dictionaries must be written again: a new segment, a new part, after a failed write.
    epoch: u64,
    /// What was written since the last time.
    repetition: Repetition,
    /// The text of the *file* block, where it is known, and the epoch that has it.
    about: (String, u64),
    part: u64,
    opened: Instant,
    synced: Instant,
    is_dirty: bool,
    /// Of a part that has ended.
    unsynced: Option<io::Error>,
    has_records: bool,
    /// What this collector has stored, to say what somebody removes of it.
    account: Account,
    ahead: Ahead,
    /// `None` in a file that another has begun, whose first blocks are not known.
    index: Option<Pending>,
}

/// What opening gives.
pub(crate) struct Opened {
    pub(crate) trace: TraceFile,
    /// What the file held.
    pub(crate) held: Held,
    /// Bytes of an incomplete block that were cut.
    pub(crate) cut: u64,
}

impl TraceFile {
    /// Opens or makes the file as the configuration says.
    pub(crate) fn open(mut config: OutputConfig) -> Result<Opened, CollectError> {
        let given = config.path.clone();
        let fail = |what| move |error: io::Error| CollectError::output(&given, what, error);
        let (directory, path, name) = resolve(&config.path).map_err(fail("opening its directory"))?;
        config.path = path.clone();
        if let (Some(quota), None) = (config.quota_bytes, config.rotate_bytes) {
            // Only whole parts can be deleted.
            config.rotate_bytes = Some(quota / QUOTA_PARTS);
        }
        let existing = find(&directory, &name, &config)?;
        let (file, mut held, mut cut) = match existing {
            Some(file) => {
                let held =
                    Held::read(&file).map_err(|e| CollectError::output(&path, "reading what it holds", e))?;
                let len =
                    file.metadata().map_err(|e| CollectError::output(&path, "reading its size", e))?.len();
                // What follows the last whole block was being written when its writer died. The zero bytes after a payload may be missing.
                file.set_len(held.end)
                    .map_err(|e| CollectError::output(&path, "cutting what is incomplete", e))?;
                let cut = len.saturating_sub(held.end);
                (file, held, cut)
            }
            None => {
                let file =
                    create(&directory, &name).map_err(|e| CollectError::output(&path, "creating it", e))?;
                (file, Held::default(), 0)
            }
        };
        let (dev, ino) = identity(&file).map_err(|e| CollectError::output(&path, "reading its state", e))?;
        let now = Instant::now();
        let mut trace = Self {
            config,
            directory: KeptFd::new(directory),
            name,
            path,
            file: KeptFile::new(file),
            dev,
            ino,
            end: held.end,
            next_sequence: held.next_sequence,
            segment_end: (held.end / SEGMENT + 1) * SEGMENT,
            epoch: 1,
            repetition: Repetition::default(),
            about: (String::new(), 1),
            part: 1,
            opened: now,
            synced: now,
            is_dirty: false,
            has_records: held.has_records,
            account: Account::default(),
            unsynced: None,
            ahead: Ahead::default(),
            index: (held.blocks == 0).then(Pending::default),
        };
        trace.undo_rotation();
        // The part that was rotated away last, when this one goes on for a collector that died.
        let before = match trace.config.existing {
            Existing::Continue => rotated(&trace.directory, &trace.name).unwrap_or_default().pop(),
            Existing::Replace | Existing::Refuse => None,
        };
        if let Some(Ok(file)) = before.as_ref().map(|before| open(&trace.directory, &before.name)) {
            if let Ok(earlier) = Held::read(&file) {
                // Its writer may have died between the two parts: within its last block, too.
                if earlier.blocks > 0 {
                    cut = cut.saturating_add(ahead::cut_incomplete(&file, earlier.end));
                }
                ahead::give_back_left(&file);
                held.follow(earlier);
            }
        }
        let next = before.as_ref().map_or(1, |part| part.number.saturating_add(1));
        trace.part = held.part.clamp(1, PARTS_MAX).max(next);
        if held.blocks == 0 {
            let path = trace.path.clone();
            trace
                .begin(before.map(|part| part.name).as_deref())
                .map_err(|e| CollectError::output(&path, "writing to it", e))?;
        }
        Ok(Opened { trace, held, cut })
    }

    /// Absolute path of the current part.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn encoding(&self) -> crate::config::Encoding {
        self.config.encoding
    }

    pub(crate) fn compression(&self) -> Compression {
        self.config.compression
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The *file* block's text, if the file has not had it in this epoch.
    pub(crate) fn about_due(&mut self) -> Option<&str> {
        let (text, epoch) = &mut self.about;
        let is_due = std::mem::replace(epoch, self.epoch) != self.epoch && !text.is_empty();
        is_due.then_some(text)
    }

    /// The *file* block's text is due again.
    pub(crate) fn repeat_about(&mut self) {
        self.about.1 = 0;
    }

    pub(crate) fn part(&self) -> u64 {
        self.part
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    pub(crate) fn file(&self) -> &File {
        self.file.unchecked()
    }

    /// Opens the file and its directory again when the program has closed their descriptors. Where another file has the name, or none, a new part begins in its place.
    pub(crate) fn reopen_if_closed(&mut self) -> io::Result<()> {
        if self.file.is_intact() && self.directory.is_intact() {
            return Ok(());
        }
        let (directory, ..) = resolve(&self.path)?;
        self.directory = KeptFd::new(directory);
        let file = match open(&self.directory, &self.name) {
            Ok(file) => KeptFile::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if file.identity() == (self.dev, self.ino) {
            lock(file.unchecked());
            self.file = file;
            self.ahead = Ahead::default();
        }
        Ok(())
    }

    pub(crate) fn directory(&self) -> &KeptFd {
        &self.directory
    }

    pub(crate) fn is(&self, dev: u64, ino: u64) -> bool {
        (self.dev, self.ino) == (dev, ino)
    }

    /// Everything that is written from now on stands at or after this.
    pub(crate) fn intent(&self) -> Intent {
        Intent { dev: self.dev, ino: self.ino, offset: self.end, path: self.path.clone() }
    }

    /// Stores a batch whose blocks are numbered from [`Self::next_sequence`]. After an error nothing of it is in the file, and all dictionaries count as not
    /// written.
    pub(crate) fn append(&mut self, batch: &Batch) -> io::Result<()> {
        if fault::reached("mid-write") {
            let half = batch.len() / 2;
            let _ = write_all_at(self.file.unchecked(), &batch.bytes()[..half], self.end);
            fault::kill();
        }
        // The part ends when it is full; a quota that is smaller counts.
        let [rotation, quota] =
            [self.config.rotate_bytes, self.config.quota_bytes].map(|limit| limit.unwrap_or(u64::MAX));
        let file = match self.file.get() {
            Ok(file) => file,
            Err(error) => {
                self.epoch += 1;
                return Err(error);
            }
        };
        self.ahead.reach(file, self.end, batch.len() as u64, rotation.max(MIN_ROTATION).min(quota));
        let written = write_all_at(file, batch.bytes(), self.end).and_then(|()| match self.config.fsync {
            Fsync::EachBatch => file.sync_data(),
            _ => Ok(()),
        });
        if let Err(error) = written {
            // If that fails too: the next batch is written over it, and a reader sees by the checksums that it is none.
            let _ = file.set_len(self.end);
            self.ahead = Ahead::default();
            self.epoch += 1;
            return Err(error);
        }
        self.end += batch.len() as u64;
        self.next_sequence = batch.next_sequence();
        self.is_dirty = true;
        self.has_records |= batch.contents().0 > 0;
        self.account.records += batch.contents().0;
        self.repetition.add_all(batch.kinds());
        if let Some(index) = &mut self.index {
            index.add(batch);
        }
        let is_segment_full = self.end >= self.segment_end;
        if is_segment_full {
            self.segment_end = (self.end / SEGMENT + 1) * SEGMENT;
        }
        if is_segment_full || self.index.as_ref().is_some_and(Pending::is_long) {
            self.write_index();
        }
        if is_segment_full || self.repetition.is_due() {
            self.epoch += 1;
            self.repetition.restart();
        }
        Ok(())
    }

    /// Makes what was written durable, if the policy says that it is time.
    pub(crate) fn sync_if_due(&mut self) -> io::Result<()> {
        if let Fsync::Every(interval) = self.config.fsync {
            if self.is_dirty && self.synced.elapsed() >= interval {
                self.synced = Instant::now();
                self.file.get()?.sync_data()?;
                self.is_dirty = false;
            }
        }
        Ok(())
    }

    /// Whether the current part has no name any more, nowhere: what is in it is lost when it is closed.
    pub(crate) fn is_removed(&self) -> bool {
        missing::is_removed(self.file.unchecked())
    }

    /// Records that were stored and that somebody has removed.
    pub(crate) fn removed_records(&self) -> u64 {
        self.account.removed(self.is_removed(), missing::is_removed(&self.directory))
    }

    /// What was stored and is not there any more.
    pub(crate) fn missing(&self) -> Missing {
        let removed = self.removed_records();
        match missing::is_removed(&self.directory) {
            true => Missing { removed, elsewhere: 0 },
            false => Missing { removed, elsewhere: self.account.elsewhere(&self.directory, &self.name) },
        }
    }

    /// Deletes the oldest parts until all together are within the quota. Gives how many.
    pub(crate) fn enforce_quota(&mut self) -> u64 {
        let Some(quota) = self.config.quota_bytes else { return 0 };
        let parts = rotated(&self.directory, &self.name).unwrap_or_default();
        let mut total = self.end + parts.iter().map(|part| part.bytes).sum::<u64>();
        let mut deleted = 0;
        for part in parts {
            if total <= quota {
                break;
            }
            if is_trace(&self.directory, &part.name) && remove_at(&self.directory, &part.name).is_ok() {
                total -= part.bytes;
                deleted += 1;
                self.account.deleted(part.number);
            }
        }
        deleted
    }

    /// A last block, and durable if the policy says so. An error: it may not be.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        let ended = self.finish(END_CLOSED);
        self.take_unsynced().map_or(ended, Err)
    }

    /// Why the parts that were ended since the last call may not be durable, if the policy says that they are to be.
    pub(crate) fn take_unsynced(&mut self) -> Option<io::Error> {
        self.unsynced.take()
    }

    /// An *index* block of what was written since the last one. Without it readers visit every header: what fails here fails in vain, and no other follows.
    fn write_index(&mut self) {
        let Some(index) = self.index.as_mut().filter(|index| !index.is_empty()) else { return };
        let mut batch = Batch::new();
        batch.restart(self.next_sequence);
        batch.push(BlockKind::INDEX, 0, 0, &index.payload());
        let file = self.file.get();
        if file.as_ref().is_ok_and(|file| write_all_at(file, batch.bytes(), self.end).is_ok()) {
            index.written(self.end);
            self.end += batch.len() as u64;
            self.next_sequence = batch.next_sequence();
        } else {
            let _ = file.and_then(|file| file.set_len(self.end));
            self.ahead = Ahead::default();
            self.index = None;
        }
    }

    /// Ends the part. That no block can be written any more does no harm: the end block is optional, and everything else is stored. An error: it may not be durable.
    fn finish(&mut self, reason: u32) -> io::Result<()> {
        self.write_index();
        let last_index = self.index.as_ref().map_or(0, Pending::last);
        let mut batch = Batch::new();
        batch.restart(self.next_sequence);
        batch.push(BlockKind::END, 0, 0, &block::end(reason, last_index));
        let file = self.file.get()?;
        if fault::reached("mid-end") {
            let _ = write_all_at(file, &batch.bytes()[..batch.len() / 2], self.end);
            fault::kill();
        }
        if write_all_at(file, batch.bytes(), self.end).is_ok() {
            self.end += batch.len() as u64;
            self.next_sequence += 1;
        } else {
            let _ = file.set_len(self.end);
        }
        self.ahead.give_back(file, self.end);
        if self.config.fsync == Fsync::Never {
            return Ok(());
        }
        file.sync_data().and(self.sync_directory())
    }

    fn begin(&mut self, previous: Option<&OsStr>) -> io::Result<()> {
        let mut batch = Batch::new();
        batch.restart(self.next_sequence);
        let text = about(self.part, previous, self.config.compression);
        batch.push(BlockKind::FILE, 0, 0, text.as_bytes());
        self.append(&batch)?;
        self.about = (text, self.epoch);
        // (No reason not to begin: it is reported when the part ends.)
        self.unsynced = self.sync_directory().err();
        Ok(())
    }

    /// Makes names durable.
    fn sync_directory(&self) -> io::Result<()> {
        if self.config.fsync == Fsync::Never {
            return Ok(());
        }
        sync_directory(&self.directory)
    }
}

/// The text of a *file* block.
fn about(part: u64, previous: Option<&OsStr>, compression: Compression) -> String {
    let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let id = platform::random().unwrap_or_else(|| created.to_le_bytes());
    About {
        writer: concat!("silverpoint ", env!("CARGO_PKG_VERSION")),
        created,
        host: Some(&platform::host()),
        id: u128::from_be_bytes(id),
        previous: previous.map(OsStr::to_string_lossy).as_deref(),
        compression: (compression != Compression::None).then(|| compression.to_string()).as_deref(),
        part: Some(part),
        ..About::default()
    }
    .text()
}

impl Drop for TraceFile {
    /// A process that is being started has a copy of the descriptor for a moment. The lock must not stay with it.
    fn drop(&mut self) {
        if self.file.is_intact() {
            let _ = locks::unlock(self.file(), locks::WRITER_BYTE);
        }
    }
}
