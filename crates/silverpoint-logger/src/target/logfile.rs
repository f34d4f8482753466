//! A log file: appended to in whole lines, announced by the cursor first, rotated, and found again when somebody has moved it away.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::config::FileSink;
use crate::cursor::{Cursor, Entry, Position};

/// See the module.
#[derive(Debug)]
pub(super) struct LogFile {
    config: FileSink,
    cursor: Cursor,
    open: Option<Open>,
    /// That of the file before the last rotation: whoever may read the log may read it afterwards.
    mode: Option<fs::Permissions>,
}

#[derive(Debug)]
struct Open {
    file: File,
    identity: (u64, u64),
    since: Instant,
}

impl LogFile {
    /// Opens the cursor, cuts off what a dead process had not finished, and says where to go on.
    pub(super) fn open(config: FileSink, cursor: &Path) -> io::Result<(Self, Vec<Position>)> {
        let (cursor, entries) = Cursor::open(cursor)?;
        let positions = resume(&config.path, entries)?;
        let mut log = Self { config, cursor, open: None, mode: None };
        // Now, so that whoever starts the logger hears of a path that cannot be.
        log.at_name()?;
        Ok((log, positions))
    }

    /// Appends whole lines that reach up to `positions`. After an error nothing of them is there, and the same call may be made again.
    pub(super) fn append(&mut self, lines: &[u8], positions: Vec<Position>) -> io::Result<()> {
        self.rotate_if_due(lines.len() as u64)?;
        self.at_name()?;
        let Some(open) = &self.open else { return Err(io::ErrorKind::NotFound.into()) };
        // What others did to it (`truncate` of a log rotator) counts.
        let begin = open.file.metadata()?.len();
        let log = open.identity;
        let mut entry = Entry { sequence: 0, log, begin, len: lines.len() as u64, positions };
        self.cursor.announce(&mut entry)?;
        if let Err(error) = open.file.write_all_at(lines, begin) {
            // Half a line must not stay.
            let _ = open.file.set_len(begin);
            return Err(error);
        }
        self.cursor.done();
        Ok(())
    }

    /// The file that has the name: opened anew when it is another than before, or none.
    fn at_name(&mut self) -> io::Result<&Open> {
        let path = &self.config.path;
        let named = fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        if self.open.as_ref().is_none_or(|open| Some(open.identity) != named) {
            self.open = None;
        }
        if self.open.is_none() {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .mode(0o600)
                .open(path)?;
            if let Some(mode) = self.mode.take() {
                file.set_permissions(mode)?;
            }
            let found = file.metadata()?;
            self.open = Some(Open { file, identity: (found.dev(), found.ino()), since: Instant::now() });
        }
        self.open.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes room for a new file: `app.log` becomes `app.1.log`, that one `app.2.log` …
    fn rotate_if_due(&mut self, coming: u64) -> io::Result<()> {
        let (bytes, age) = (self.config.rotate_bytes, self.config.rotate_after);
        if bytes.is_none() && age.is_none() {
            return Ok(());
        }
        let open = self.at_name()?;
        let found = open.file.metadata()?;
        let size = found.len();
        let is_due = bytes.is_some_and(|most| size + coming > most)
            || age.is_some_and(|age| open.since.elapsed() >= age);
        if !is_due || size == 0 {
            return Ok(());
        }
        let path = self.config.path.clone();
        self.mode = Some(found.permissions());
        // From the first number that is free on: an attempt after one that failed half-way shifts nothing twice.
        let free = (1..self.config.keep).find(|number| !old(&path, *number).exists());
        for number in (1..free.unwrap_or(self.config.keep)).rev() {
            rename_if_there(&old(&path, number), &old(&path, number + 1))?;
        }
        if self.config.keep == 0 {
            fs::remove_file(&path)?;
        } else {
            fs::rename(&path, old(&path, 1))?;
        }
        self.open = None;
        Ok(())
    }
}

/// Where to go on; see module `cursor`.
fn resume(path: &Path, entries: Vec<Entry>) -> io::Result<Vec<Position>> {
    let mut entries = entries.into_iter();
    let Some(last) = entries.next() else { return Ok(Vec::new()) };
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return Ok(last.positions) };
    let found = file.metadata()?;
    // Another file has the name: the one that is meant was whole when it was moved away.
    if (found.dev(), found.ino()) != last.log || found.len() >= last.begin.saturating_add(last.len) {
        return Ok(last.positions);
    }
    file.set_len(last.begin.min(found.len()))?;
    let before = entries.next().filter(|before| before.sequence.wrapping_add(1) == last.sequence);
    Ok(before.map(|before| before.positions).unwrap_or_default())
}

/// `app.N.log` of `app.log`.
fn old(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
