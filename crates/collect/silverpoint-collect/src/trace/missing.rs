//! What was stored and is not there any more, since somebody has removed or moved a part of the trace while it was written.
//!
//! A file that was removed takes what it holds with it when it is closed. Whether a part that was rotated away was moved or removed cannot be known, unless
//! its directory is gone too.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;

use silverpoint_shm::platform::files::{self, AsDescriptor};

use super::parts::part_name;

/// Parts that are looked for one by one; of older ones only the sum is known.
const PARTS: usize = 4096;

/// Records that a collector has stored in files that are not there any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Records in files that were removed: they are lost.
    pub removed: u64,
    /// Records in parts that are not in their directory any more: moved, or removed.
    pub elsewhere: u64,
}

/// Records by part.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// In the current part.
    pub(super) records: u64,
    /// In parts that were rotated away, by number.
    rotated: BTreeMap<u64, u64>,
    /// In those before.
    older: u64,
    missing: Missing,
}

impl Account {
    /// The current part has this number now, and another begins.
    pub(super) fn rotated(&mut self, number: u64) {
        self.rotated.insert(number, std::mem::take(&mut self.records));
        if self.rotated.len() > PARTS {
            if let Some((_, records)) = self.rotated.pop_first() {
                self.older += records;
            }
        }
    }

    /// Another begins in the place of the current part.
    pub(super) fn displaced(&mut self, is_removed: bool) {
        let records = std::mem::take(&mut self.records);
        match is_removed {
            true => self.missing.removed += records,
            false => self.missing.elsewhere += records,
        }
    }

    /// A part was deleted as the quota wants it.
    pub(super) fn deleted(&mut self, number: u64) {
        self.rotated.remove(&number);
    }

    /// With all parts that were rotated away.
    pub(super) fn directory_is_gone(&mut self) {
        self.missing.removed += self.all_rotated();
        self.rotated.clear();
        self.older = 0;
    }

    fn all_rotated(&self) -> u64 {
        self.older + self.rotated.values().sum::<u64>()
    }

    /// Records that are lost, given whether the current part and the directory are gone.
    pub(super) fn removed(&self, is_removed: bool, is_directory_gone: bool) -> u64 {
        let current = if is_removed { self.records } else { 0 };
        let rotated = if is_directory_gone { self.all_rotated() } else { 0 };
        self.missing.removed + current + rotated
    }

    /// Records in parts that do not have their name in this directory any more.
    pub(super) fn elsewhere(&self, directory: impl AsDescriptor, name: &OsStr) -> u64 {
        let is_absent = |number: &u64| {
            let part = part_name(name, *number);
            let found = files::status_at(&directory, &part);
            found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let absent = self.rotated.iter().filter(|(number, _)| is_absent(number));
        self.missing.elsewhere + absent.map(|(_, records)| records).sum::<u64>()
    }
}

/// Whether a file or directory that is open has no name any more.
pub(super) fn is_removed(file: impl AsDescriptor) -> bool {
    files::status(file).is_ok_and(|status| status.is_removed)
}
