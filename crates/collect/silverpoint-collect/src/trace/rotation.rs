//! Rotation: the next part of a trace, and what becomes of the current one.
//!
//! The next part is made under a name of its own. The current part gets the next free `NAME.N.silver` as a
//! second name, and the next part is renamed to `NAME.silver`. At each moment that is a complete file. The
//! next collector undoes what a death in between leaves. Intents also name a file by its inode, by which the
//! renamed one is found (module `takeover`).

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::time::Instant;

use silverpoint_shm::kept::{KeptFd, KeptFile};
use silverpoint_shm::platform::files::{
    link_at, remove_at, rename_at, rename_over_at, status_at, status_of, write_all_at,
};
use silverpoint_wire::block::BlockKind;
use silverpoint_wire::layout::block::SEGMENT;

use super::ahead::Ahead;
use super::files::{create, identity, resolve};
use super::index::Pending;
use super::parts::{self, rotated};
use super::{Batch, END_ROTATED, MIN_ROTATION, TraceFile, about, missing};
use crate::fault;

impl TraceFile {
    /// Whether a new part is due.
    pub(crate) fn is_rotation_due(&self) -> bool {
        let large = self.config.rotate_bytes.is_some_and(|limit| self.end >= limit.max(MIN_ROTATION));
        let old = self.config.rotate_after.is_some_and(|limit| self.opened.elapsed() >= limit);
        self.has_records && (large || old)
    }

    /// Begins a new part. After an error the current one goes on.
    pub(crate) fn rotate(&mut self) -> io::Result<()> {
        // Readers find the parts by their names: those must not be made after the program sees another root.
        if status_of(&self.path).ok().is_none_or(|found| !self.is(found.device, found.inode)) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "it was moved or removed"));
        }
        // Its own number, although those before it may have been removed: a name never gets another content.
        let highest = rotated(&self.directory, &self.name)?.last().map_or(0, |part| part.number);
        let number = self.part.max(highest.saturating_add(1));
        self.part = number;
        let away = parts::part_name(&self.name, number);
        fault::point("before-rename");
        let (file, begun, text) = self.next_part(Some(&away))?;
        fault::point("after-create");
        if let Err(error) = self.put_in_place(&away) {
            self.remove_next();
            return Err(error);
        }
        fault::point("after-rename");
        self.account.rotated(number);
        self.go_on_in(file, &begun, text)?;
        fault::point("after-rotation");
        Ok(())
    }

    /// A file with the beginning of the next part, under a name of its own.
    fn next_part(&self, previous: Option<&OsStr>) -> io::Result<(File, Batch, String)> {
        self.remove_next();
        let mut batch = Batch::new();
        batch.restart(0);
        let text = about(self.part + 1, previous, self.config.compression);
        batch.push(BlockKind::FILE, 0, 0, text.as_bytes());
        let file = create(&self.directory, &parts::next_name(&self.name))?;
        if let Err(error) = write_all_at(&file, batch.bytes(), 0) {
            self.remove_next();
            return Err(error);
        }
        Ok((file, batch, text))
    }

    fn remove_next(&self) {
        let _ = remove_at(&self.directory, &parts::next_name(&self.name));
    }

    /// Gives the current part its number, and its name to the next one: at each moment a whole file has the name.
    fn put_in_place(&self, away: &OsStr) -> io::Result<()> {
        let next = parts::next_name(&self.name);
        match link_at(&self.directory, &self.name, away) {
            Ok(()) => {}
            // A file system without links: for a moment there is no file of this name.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                rename_at(&self.directory, &self.name, away)?;
                return rename_at(&self.directory, &next, &self.name).inspect_err(|_| {
                    let _ = rename_at(&self.directory, away, &self.name);
                });
            }
            Err(error) => return Err(error),
        }
        fault::point("after-link");
        rename_over_at(&self.directory, &next, &self.name).inspect_err(|_| {
            let _ = remove_at(&self.directory, away);
        })
    }

    /// Undoes the unfinished rotation of a dead writer. It left a next part under a temporary name, or a
    /// number for a part that is still the current one.
    pub(super) fn undo_rotation(&self) {
        self.remove_next();
        for part in rotated(&self.directory, &self.name).unwrap_or_default() {
            if self.is(part.dev, part.ino) {
                let _ = remove_at(&self.directory, &part.name);
            }
        }
    }

    /// Ends the current part and goes on in this new file, which holds `begun`.
    fn go_on_in(&mut self, file: File, begun: &Batch, text: String) -> io::Result<()> {
        let (dev, ino) = identity(&file)?;
        let ended = self.finish(END_ROTATED);
        (self.dev, self.ino, self.file) = (dev, ino, KeptFile::new(file));
        self.end = begun.len() as u64;
        self.next_sequence = begun.next_sequence();
        self.segment_end = SEGMENT;
        self.epoch += 1;
        self.repetition = begun.kinds();
        self.about = (text, self.epoch);
        self.part += 1;
        self.opened = Instant::now();
        self.is_dirty = true;
        self.has_records = false;
        self.ahead = Ahead::default();
        let mut index = Pending::default();
        index.add(begun);
        self.index = Some(index);
        let synced = ended.and(self.sync_directory());
        self.unsynced = self.unsynced.take().or(synced.err());
        Ok(())
    }

    /// Whether somebody has moved or removed the current part.
    pub(crate) fn is_displaced(&self) -> bool {
        match status_at(&self.directory, &self.name) {
            Ok(status) => !self.is(status.device, status.inode),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }

    /// Begins a new part where the current one was, after somebody has moved or removed it. An error when there is something else now.
    pub(crate) fn begin_again(&mut self) -> io::Result<()> {
        if missing::is_removed(&self.directory) {
            // Somebody may have made it again.
            let (directory, _, _) = resolve(&self.path)?;
            self.account.directory_is_gone();
            self.directory = KeptFd::new(directory);
        }
        let (file, begun, text) = self.next_part(None)?;
        rename_at(&self.directory, &parts::next_name(&self.name), &self.name)
            .inspect_err(|_| self.remove_next())?;
        self.account.displaced(self.is_removed());
        self.go_on_in(file, &begun, text)
    }
}
