//! A log file: appended to in whole lines, announced by the cursor first, rotated, and found again when
//! another program has moved it away.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use silverpoint_collect::ahead::{Ahead, give_back_left};
use silverpoint_render::time::{Boundary, TimeZone};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::rotate::OldFiles;
use super::settings::Settings;
use silverpoint_shm::kept::KeptFile;

use crate::config::FileSink;
use crate::cursor::{Cursor, Entry, Position};
use crate::error::say;

/// Descriptors of the standard streams are below.
const OTHERS: i32 = 3;

/// After this time a file that exceeds its limits is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// Read at once, to see whether something was written.
const PIECE: usize = 256 << 10;

/// See the module.
#[derive(Debug)]
pub(super) struct LogFile {
    config: FileSink,
    /// Of its clock.
    zone: TimeZone,
    /// The sink wants durability against a loss of power: then the file's name and the rotated file are
    /// synced too.
    is_synced: bool,
    old: OldFiles,
    cursor: Cursor,
    open: Option<Open>,
    /// The mode of the file before the last rotation: readers of the log can still read it afterwards.
    mode: Option<fs::Permissions>,
    /// The last rotation, or the last opening by name, failed: the open file continues until then.
    goes_on_until: Option<Instant>,
    /// That was reported.
    is_told: bool,
}

#[derive(Debug)]
struct Open {
    file: KeptFile,
    identity: (u64, u64),
    since: Instant,
    /// When the clock ends it, in nanoseconds since 1970.
    ends_ns: Option<i64>,
    ahead: Ahead,
    /// The end of what was appended last.
    end: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        // If another program has appended or cut since, room stays after the end, rather than removing its
        // line.
        if let Ok(file) = self.file.get() {
            if file.metadata().is_ok_and(|found| found.len() == self.end) {
                self.ahead.give_back(file, self.end);
            }
        }
    }
}

impl Open {
    /// Whether the file has a name somewhere: one that was removed keeps nothing.
    fn has_name(&self) -> bool {
        self.file.get().and_then(File::metadata).is_ok_and(|found| found.is_file() && found.nlink() > 0)
    }

    /// Only a file with positions is kept.
    fn sync(&self) -> io::Result<()> {
        let file = self.file.get()?;
        if file.metadata()?.is_file() { file.sync_data() } else { Ok(()) }
    }
}

impl LogFile {
    /// Opens the cursor, removes what a dead process had not finished, and gives the position to continue.
    pub(super) fn open(config: FileSink, settings: Settings<'_>, cursor: &Path) -> io::Result<(Self, Entry)> {
        let (mut cursor, entries) = Cursor::open(cursor)?;
        let positions = resume(&config.path, &mut cursor, entries)?;
        let old = OldFiles::new(&config.path, config.keep);
        let (zone, is_synced) = (settings.text.zone.clone(), settings.is_synced);
        let mut log = Self {
            config,
            zone,
            is_synced,
            old,
            cursor,
            open: None,
            mode: None,
            goes_on_until: None,
            is_told: false,
        };
        // Now, so that an invalid path fails the start of the logger. (A pipe without a reader may stay.)
        match log.at_name() {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {}
            found => drop(found?),
        }
        Ok((log, positions))
    }

    /// Appends whole lines that reach up to `positions`. After an error nothing of them is in the file, and
    /// the same call may be made again.
    pub(super) fn append(
        &mut self,
        lines: &[u8],
        positions: Vec<Position>,
        held: Vec<Position>,
    ) -> io::Result<()> {
        self.prepare(lines.len() as u64)?;
        self.append_here(lines, positions, held)
    }

    /// Rotates if that is due, with this many bytes to come, and finds the file with the name. Gives its
    /// identity, and its length.
    pub(super) fn prepare(&mut self, coming: u64) -> io::Result<((u64, u64), u64)> {
        self.rotate_if_due(coming)?;
        let open = self.at_name()?;
        Ok((open.identity, open.file.get()?.metadata()?.len()))
    }

    /// The file as [`LogFile::prepare`] has found it.
    pub(super) fn file(&self) -> io::Result<&File> {
        self.open.as_ref().ok_or(io::ErrorKind::NotFound)?.file.get()
    }

    /// As [`LogFile::append`], to the file that [`LogFile::prepare`] has found.
    pub(super) fn append_here(
        &mut self,
        lines: &[u8],
        positions: Vec<Position>,
        held: Vec<Position>,
    ) -> io::Result<()> {
        let most = self.config.rotate_bytes.unwrap_or(u64::MAX);
        let Some(open) = &mut self.open else { return Err(io::ErrorKind::NotFound.into()) };
        let file = open.file.get()?;
        let found = file.metadata()?;
        // Changes by other programs count (`truncate` of a log rotator).
        let begin = found.len();
        let log = open.identity;
        let (len, checksum) = (lines.len() as u64, crc32c::crc32c(lines));
        let mut entry = Entry { log, begin, len, checksum, positions, held, ..Entry::default() };
        self.cursor.announce(&mut entry)?;
        if !found.is_file() {
            // A pipe or a terminal (`/dev/stdout`) has no positions, and cannot be cut: the rest of partly
            // written lines would be written twice.
            match { file }.write_all(lines) {
                Err(error) if is_gone_for_good(&error, &self.config.path) => {}
                written => written?,
            }
            self.cursor.done();
            return Ok(());
        }
        open.ahead.reach(file, begin, len, most);
        if let Err(error) = file.write_all_at(lines, begin) {
            // Half a line must not stay.
            let _ = cut(file, begin);
            open.ahead = Ahead::default();
            return Err(error);
        }
        open.end = begin + len;
        self.cursor.done();
        Ok(())
    }

    /// Other settings for the same file.
    pub(super) fn set(&mut self, settings: Settings<'_>) {
        let Some(config) = settings.file.cloned() else { return };
        self.zone = settings.text.zone.clone();
        self.is_synced = settings.is_synced;
        self.old.set_keep(config.keep);
        if let Some(open) = &mut self.open {
            open.ends_ns = config.rotate_at.and_then(|at| at.after(ns(SystemTime::now()), &self.zone));
        }
        self.config = config;
    }

    /// From now on the file that has the name is written; it is made if there is none.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        self.at_name().map(|_| ())
    }

    /// What was appended is on the disk afterwards.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.open.as_ref().map_or(Ok(()), Open::sync)
    }

    /// The file that has the name: reopened when it is a different one, or none.
    fn at_name(&mut self) -> io::Result<&Open> {
        let path = &self.config.path;
        // The program may have closed its descriptor, and opened a file of its own under the number.
        self.open.take_if(|open| !open.file.is_intact());
        let named = fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        let is_moved = self.open.as_ref().is_some_and(|open| Some(open.identity) != named);
        let goes_on = self.goes_on_until.is_some_and(|until| Instant::now() < until);
        let mut opened = None;
        if is_moved && !(goes_on && self.open.as_ref().is_some_and(Open::has_name)) {
            match open_to_write(path) {
                // The program may see another root now (`chroot`), or be another user: the open file is still
                // the log.
                Err(error) if is_denied(&error) && self.open.as_ref().is_some_and(Open::has_name) => {
                    self.go_on(&error, "it cannot be opened again");
                }
                Err(error) => {
                    self.open = None;
                    return Err(error);
                }
                Ok(file) => {
                    opened = Some(file);
                    // The program that moved it away has it completely.
                    if let Some(moved) = self.open.take().filter(|_| self.is_synced) {
                        moved.sync()?;
                    }
                }
            }
        }
        if self.open.is_none() {
            let path = &self.config.path;
            let file = opened.map_or_else(|| open_to_write(path), Ok)?;
            if let Some(mode) = self.mode.take() {
                file.set_permissions(mode)?;
            }
            if self.is_synced {
                if let Some(folder) = path.parent() {
                    File::open(folder)?.sync_all()?;
                }
            }
            let found = file.metadata()?;
            if found.is_file() {
                give_back_left(&file);
            }
            // Its contents belong to the hour or day in which they were written, no matter which process
            // wrote them.
            let belongs_to = if found.len() > 0 { ns(found.modified()?) } else { ns(SystemTime::now()) };
            let ends_ns = self.config.rotate_at.and_then(|at| at.after(belongs_to, &self.zone));
            let identity = (found.dev(), found.ino());
            let ahead = Ahead::default();
            let file = KeptFile::new(file);
            self.open = Some(Open { file, identity, since: Instant::now(), ends_ns, ahead, end: 0 });
        }
        self.open.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Makes room for a new file.
    fn rotate_if_due(&mut self, coming: u64) -> io::Result<()> {
        let FileSink { rotate_bytes: bytes, rotate_after: age, rotate_at, .. } = self.config;
        if bytes.is_none() && age.is_none() && rotate_at.is_none() {
            return Ok(());
        }
        let is_synced = self.is_synced;
        let open = self.at_name()?;
        let found = open.file.get()?.metadata()?;
        let size = found.len();
        let is_due = bytes.is_some_and(|most| size + coming > most)
            || age.is_some_and(|age| open.since.elapsed() >= age)
            || open.ends_ns.is_some_and(|end| ns(SystemTime::now()) >= end);
        if !is_due || size == 0 {
            return Ok(());
        }
        if is_synced {
            open.file.get()?.sync_data()?;
        }
        if self.goes_on_until.is_some_and(|until| Instant::now() < until) {
            return Ok(());
        }
        self.mode = Some(found.permissions());
        // The date of the last line: a rotated file is named after that, no matter when it is rotated.
        let unit = rotate_at.unwrap_or(Boundary::Day);
        let date = unit.stamp(ns(found.modified()?), &self.zone).unwrap_or_default();
        if let Err(error) = self.old.rotate(&date) {
            self.mode = None;
            if !is_denied(&error) {
                return Err(error);
            }
            // Lines matter more than the limit.
            self.go_on(&error, "it cannot be rotated");
            return Ok(());
        }
        self.open = None;
        Ok(())
    }

    /// The open file continues for a while; reported once.
    fn go_on(&mut self, error: &io::Error, what: &str) {
        self.goes_on_until = Some(Instant::now() + RETRY);
        if !std::mem::replace(&mut self.is_told, true) {
            say(format_args!("{}: {what}: {error}; the same file continues", self.config.path.display()));
        }
    }
}

/// Opens the file that has the name, or makes one. A pipe is not opened for reading. With its own reader it
/// would never report that the others are gone, and would keep lines that nothing reads. A pipe without a
/// reader is an error (ENXIO). The descriptor is never that of a standard stream that the program has closed:
/// a console would write into it.
fn open_to_write(path: &Path) -> io::Result<File> {
    let is_file = fs::metadata(path).map_or(true, |found| found.is_file());
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    if is_file {
        options.create(true).truncate(false).read(true);
    } else {
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    }
    let opened = match options.open(path) {
        // A file to which may only be appended (`chattr +a`). Every write goes to its end.
        Err(error) if is_file && Errno::from_io_error(&error) == Some(Errno::PERM) => {
            options.append(true).open(path)
        }
        opened => opened,
    };
    let mut file = opened?;
    if !is_file {
        // Writes wait.
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    }
    if file.as_raw_fd() < OTHERS {
        file = fcntl_dupfd_cloexec(&file, OTHERS)?.into();
    }
    Ok(file)
}

/// It is not permitted here; perhaps it is at another time, or for another user.
fn is_denied(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem)
}

/// The output is closed for good: a terminal that was hung up, a pipe without a name. Its lines are
/// discarded: they would fill the spool, and delay the end.
fn is_gone_for_good(error: &io::Error, path: &Path) -> bool {
    match Errno::from_io_error(error) {
        Some(Errno::IO) => true,
        // What a link of /proc leads to has no path of its own.
        Some(Errno::PIPE) => fs::canonicalize(path).is_err(),
        _ => false,
    }
}

/// Since 1970, as far as it is known.
fn ns(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Where to continue; see module `cursor`.
fn resume(path: &Path, cursor: &mut Cursor, entries: Vec<Entry>) -> io::Result<Entry> {
    let mut entries = entries.into_iter();
    let Some(last) = entries.next() else { return Ok(Entry::default()) };
    // What a pipe or a device has received is unknown; and a pipe without a reader is not opened before it
    // has one.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(last);
    }
    let file = match meant(path, last.log)? {
        Some(file) => Some(file),
        // Another file has the name, or none: the announced one was complete when it was moved away.
        None if last.is_done => return Ok(last),
        // It was truncated or rotated after a write that had failed or was incomplete.
        None => moved(path, last.log)?,
    };
    // It exists nowhere any more: its last records are written again.
    if let Some(file) = file {
        let len = file.metadata()?.len();
        if len >= last.begin.saturating_add(last.len) {
            if last.is_done || holds(&file, &last)? {
                return Ok(last);
            }
            // Another file, with the number of a removed one.
        } else {
            // Another program has cut it after the write (`copytruncate`).
            if last.is_done && (len < last.begin || len == 0) {
                return Ok(last);
            }
            cut(&file, last.begin.min(len))?;
        }
    }
    cursor.take_back();
    let before = entries.next().filter(|before| before.sequence.wrapping_add(1) == last.sequence);
    Ok(before.unwrap_or_default())
}

/// Removes a partial line. In a file to which may only be appended it stays, on a line of its own.
fn cut(file: &File, len: u64) -> io::Result<()> {
    match file.set_len(len) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let (mut file, mut last) = (file, [b'\n']);
            let end = file.metadata()?.len();
            if end > len {
                file.read_exact_at(&mut last, end - 1)?;
            }
            if last == [b'\n'] { Ok(()) } else { file.write_all(b"\n") }
        }
        done => done,
    }
}

/// Whether the announced data stands at the announced place.
fn holds(file: &File, entry: &Entry) -> io::Result<bool> {
    let mut piece = vec![0; (entry.len as usize).min(PIECE)];
    let (mut at, mut left, mut checksum) = (entry.begin, entry.len as usize, 0);
    while left > 0 {
        let piece = &mut piece[..left.min(PIECE)];
        file.read_exact_at(piece, at)?;
        checksum = crc32c::crc32c_append(checksum, piece);
        (at, left) = (at + piece.len() as u64, left - piece.len());
    }
    Ok(checksum == entry.checksum)
}

/// The file of a name, if it has this identity.
fn meant(path: &Path, identity: (u64, u64)) -> io::Result<Option<File>> {
    let opened = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::PERM) => {
            OpenOptions::new().read(true).append(true).open(path)
        }
        opened => opened,
    };
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let found = file.metadata()?;
    Ok(((found.dev(), found.ino()) == identity).then_some(file))
}

/// A log that has another name in its directory now.
fn moved(path: &Path, identity: (u64, u64)) -> io::Result<Option<File>> {
    let Some(folder) = path.parent() else { return Ok(None) };
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // One that disappears meanwhile does not count.
        let is_it = |found: fs::Metadata| found.is_file() && (found.dev(), found.ino()) == identity;
        if entry.metadata().is_ok_and(is_it) {
            return meant(&entry.path(), identity);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;
    use crate::config::Sink;

    fn open(path: &Path) -> LogFile {
        let sink = Sink::file(path);
        let settings = Settings::of(&sink);
        LogFile::open(settings.file.unwrap().clone(), settings, &path.with_file_name("cursor")).unwrap().0
    }

    /// A log of one write, left by a process that died then or, `unfinished`, within a second one.
    fn left(unfinished: bool) -> (TempDir, PathBuf) {
        let directory = TempDir::with_prefix("silverpoint-logfile-").unwrap();
        let path = directory.path().join("app.log");
        let mut log = open(&path);
        log.append(b"one\n", vec![([1; 16], 1, 8)], Vec::new()).unwrap();
        if unfinished {
            let log_identity = log.open.as_ref().unwrap().identity;
            let positions = vec![([1; 16], 1, 16)];
            let checksum = crc32c::crc32c(b"two\n");
            let mut entry =
                Entry { log: log_identity, begin: 4, len: 4, checksum, positions, ..Entry::default() };
            log.cursor.announce(&mut entry).unwrap();
            log.open.as_ref().unwrap().file.get().unwrap().write_all_at(b"tw", 4).unwrap();
        }
        (directory, path)
    }

    fn resumed(directory: &TempDir, path: &Path) -> Vec<Position> {
        let (mut cursor, entries) = Cursor::open(&directory.path().join("cursor")).unwrap();
        resume(path, &mut cursor, entries).unwrap().positions
    }

    #[test]
    fn a_log_that_others_have_cut_repeats_nothing() {
        let (directory, path) = left(false);
        File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        assert_eq!(resumed(&directory, &path), [([1; 16], 1, 8)]);
    }

    #[test]
    fn a_write_that_was_not_finished_is_taken_back() {
        let (directory, path) = left(true);
        assert_eq!(resumed(&directory, &path), [([1; 16], 1, 8)]);
        assert_eq!(fs::read(&path).unwrap(), b"one\n");
    }
    /// A write had failed for lack of room, and room was made before the next start: the announced data must
    /// not be taken for written.
    #[test]
    fn a_write_that_was_not_finished_is_repeated_when_the_log_is_gone() {
        let (directory, path) = left(true);
        fs::remove_file(&path).unwrap();
        assert_eq!(resumed(&directory, &path), [([1; 16], 1, 8)]);
        // Also when another has its name, and its number.
        fs::write(&path, "another program's\n").unwrap();
        assert_eq!(resumed(&directory, &path), [([1; 16], 1, 8)]);
    }

    #[test]
    fn a_write_that_was_not_finished_is_taken_back_from_a_log_that_was_moved() {
        let (directory, path) = left(true);
        let moved = directory.path().join("app.1.log");
        fs::rename(&path, &moved).unwrap();
        assert_eq!(resumed(&directory, &path), [([1; 16], 1, 8)]);
        assert_eq!(fs::read(&moved).unwrap(), b"one\n");
        // A completed write without its confirmation is found, and not repeated.
        let (directory, path) = left(true);
        let moved = directory.path().join("app.1.log");
        fs::rename(&path, &moved).unwrap();
        File::options().write(true).open(&moved).unwrap().write_all_at(b"two\n", 4).unwrap();
        assert_eq!(resumed(&directory, &path), [([1; 16], 1, 16)]);
        assert_eq!(fs::read(&moved).unwrap(), b"one\ntwo\n");
    }

    /// Room behind the end is asked for where a file grows, never behind what it may grow to, and nothing of it is left.
    #[test]
    fn what_was_ahead_of_a_log_is_given_back() {
        let (_directory, path) = left(false);
        let mut log = open(&path);
        let lines = vec![b'\n'; 256 << 10];
        let begin = fs::metadata(&path).unwrap().len();
        for _ in 0..10 {
            log.append(&lines, Vec::new(), Vec::new()).unwrap();
        }
        let len = begin + 10 * lines.len() as u64;
        let on_disk = || fs::metadata(&path).unwrap().blocks() * 512;
        let was_ahead = on_disk() > len + (1 << 20);
        drop(log);
        assert_eq!(fs::metadata(&path).unwrap().len(), len);
        assert!(on_disk() < len + (128 << 10), "{len} bytes, {} on disk", on_disk());
        // Another program that appends keeps its line.
        let mut log = open(&path);
        log.append(&lines, Vec::new(), Vec::new()).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(b"another's\n").unwrap();
        drop(log);
        assert!(fs::read(&path).unwrap().ends_with(b"another's\n"));
        if was_ahead {
            assert!(on_disk() > len + (1 << 20), "{} on disk", on_disk());
            // The next start gives it back.
            drop(open(&path));
            assert!(on_disk() < len + (1 << 20), "{} on disk", on_disk());
        }
        assert!(fs::read(&path).unwrap().ends_with(b"another's\n"));
    }

    /// The second announcement must not overwrite the entry with the certain end of the log after the first
    /// has failed.
    #[test]
    fn two_writes_in_a_row_that_were_not_finished_are_both_taken_back() {
        let (directory, path) = left(true);
        let (mut cursor, entries) = Cursor::open(&directory.path().join("cursor")).unwrap();
        let log = entries[0].log;
        assert_eq!(resume(&path, &mut cursor, entries).unwrap().positions, [([1; 16], 1, 8)]);
        let positions = vec![([1; 16], 1, 24)];
        cursor.announce(&mut Entry { log, begin: 4, len: 9, positions, ..Entry::default() }).unwrap();
        assert_eq!(resumed(&directory, &path), [([1; 16], 1, 8)]);
    }
}
