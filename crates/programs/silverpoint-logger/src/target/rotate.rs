//! Old files of a log: their names, how many stay, and their compression.
//!
//! `app.log` becomes `app.1.log`, that one `app.2.log` and so on, or `app.2026-11-20.log` (see `old_name`);
//! compressed ones are `app.1.log.zst` or `app.1.log.gz`. A thread of its own compresses into
//! `app.log.N.compressing`, which gets its final name when it is complete and durable. Then the plain file is
//! removed. A process that is killed between these two steps leaves both, and the next process removes the
//! plain one. A partly compressed file never has a final name, and the next process removes it.
//!
//! The end of a log does not wait for that thread, which has the lowest priority and may be held up by a slow
//! disk. Once it is asked to end it gives no more names, no matter when it notices. Its unfinished file is
//! still a plain one, for the next logger.

mod compressing;
mod names;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::config::{Keep, Naming};
use crate::error::say;
use names::Names;

/// The old files of one log.
#[derive(Debug)]
pub(super) struct OldFiles {
    names: Arc<Names>,
    keep: Keep,
}

impl OldFiles {
    /// Removes what a killed process left unfinished, and compresses what it had not compressed.
    pub(super) fn new(path: &Path, keep: Keep) -> Self {
        let names = Arc::new(Names {
            path: path.to_owned(),
            is_compressing: Mutex::new(false),
            is_stopped: AtomicBool::new(false),
            has_dates: AtomicBool::new(keep.naming == Naming::Dates),
        });
        let mut files = Self { names, keep };
        if let Err(error) = files.names.tidy(true) {
            say(format_args!("{}: its old files cannot be cleaned up: {error}", path.display()));
        }
        files.compress();
        files
    }

    /// Another rule for old files, from the next rotation on.
    pub(super) fn set_keep(&mut self, keep: Keep) {
        self.keep = keep;
        self.names.has_dates.store(keep.naming == Naming::Dates, Ordering::Relaxed);
        self.compress();
    }

    /// The log becomes the newest old file; surplus files are removed. After an error the same call may be
    /// made again. `date` is that of its last line, if names have dates.
    pub(super) fn rotate(&mut self, date: &str) -> io::Result<()> {
        let names = Arc::clone(&self.names);
        let path = &names.path;
        {
            let _changing = names.lock();
            // Also what could not be finished before.
            names.tidy(false)?;
            if self.keep.count == 0 {
                return fs::remove_file(path);
            }
            let newest = match self.keep.naming {
                Naming::Numbers => names.shift()?,
                Naming::Dates => names.next_of(date)?,
            };
            fs::rename(path, names.old(&newest, None))?;
            // The log has been rotated: the next rotation removes what cannot be removed now.
            if let Err(error) = self.remove_surplus() {
                say(format_args!("{}: an old file cannot be removed: {error}", path.display()));
            }
        }
        self.compress();
        Ok(())
    }

    fn remove_surplus(&self) -> io::Result<()> {
        let mut old = self.names.list()?;
        old.sort_unstable_by(|a, b| a.mark.cmp(&b.mark));
        let (mut count, mut bytes) = (0, 0_u64);
        for file in old {
            let len = fs::metadata(&file.path)?.len();
            count += 1;
            bytes = bytes.saturating_add(len);
            if count > self.keep.count || count > 1 && bytes > self.keep.bytes {
                // Smaller ones after it are removed too: the kept ones are the newest without a gap.
                bytes = u64::MAX;
                fs::remove_file(&file.path)?;
            }
        }
        Ok(())
    }

    /// Ensures that a thread compresses plain files.
    fn compress(&mut self) {
        let Some(compression) = self.keep.compress else { return };
        if std::mem::replace(&mut *self.names.lock(), true) {
            return;
        }
        let names = Arc::clone(&self.names);
        // The sink's thread, which starts this one, takes no signals; nor does this one.
        let thread = std::thread::Builder::new().name("sp-compress".to_owned());
        if let Err(error) = thread.spawn(move || names.compress_all(compression)) {
            *self.names.lock() = false;
            say(format_args!(
                "{}: no thread can be started to compress it: {error}",
                self.names.path.display()
            ));
        }
    }
}

impl Drop for OldFiles {
    /// The next logger compresses what is left.
    fn drop(&mut self) {
        // A file that is just being renamed gets its name first.
        let _changing = self.names.lock();
        self.names.is_stopped.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;
    use crate::config::Compression;

    struct Folder(TempDir);

    impl Folder {
        fn new() -> Self {
            Self(TempDir::with_prefix("silverpoint-rotate-").unwrap())
        }

        fn log(&self) -> PathBuf {
            self.0.path().join("app.log")
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<String> = fs::read_dir(&self.0)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    const ALL: Keep = Keep { count: u32::MAX, bytes: u64::MAX, compress: None, naming: Naming::Numbers };

    fn rotate(folder: &Folder, files: &mut OldFiles, text: &str) {
        fs::write(folder.log(), text).unwrap();
        files.rotate("2026-11-20").unwrap();
    }

    #[test]
    fn the_newest_stay_by_number_and_by_bytes() {
        let folder = Folder::new();
        // Not old files of this log, although similar.
        for name in ["app.01.log", "app.x.log", "app.0.log", "app.1.txt"] {
            fs::write(folder.0.path().join(name), "").unwrap();
        }
        let others = folder.names();
        let mut files = OldFiles::new(&folder.log(), Keep { count: 3, ..ALL });
        for text in ["one", "two", "three", "four", "five"] {
            rotate(&folder, &mut files, text);
        }
        let read = |name: &str| fs::read_to_string(folder.0.path().join(name)).unwrap();
        assert_eq!([read("app.1.log"), read("app.2.log"), read("app.3.log")], ["five", "four", "three"]);
        files.set_keep(Keep { bytes: 9, ..ALL });
        rotate(&folder, &mut files, "five.");
        assert_eq!([read("app.1.log"), read("app.2.log")], ["five.", "five"]);
        // The newest stays, however large it is.
        rotate(&folder, &mut files, "more than that");
        let mut expected = others;
        expected.push("app.1.log".into());
        expected.sort();
        assert_eq!(folder.names(), expected);
        files.set_keep(Keep { count: 0, ..ALL });
        rotate(&folder, &mut files, "gone");
        assert_eq!(folder.names(), expected);
    }

    fn until_compressed(files: &OldFiles) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(300);
        while *files.names.lock() {
            assert!(std::time::Instant::now() < until, "it does not end");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// The thread is held up by a file that says nothing, a pipe; then it goes on in the middle of the next logger's work.
    #[test]
    fn nobody_waits_for_a_thread_that_is_held_up_and_it_names_nothing_any_more() {
        let folder = Folder::new();
        let pipe = folder.0.path().join("app.2.log");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        fs::write(folder.0.path().join("app.1.log"), "first\n").unwrap();
        let keep = Keep { compress: Some(Compression::Zstd(3)), ..ALL };
        let files = OldFiles::new(&folder.log(), keep);
        // It opens the oldest first. Opening a pipe for writing without waiting succeeds when it has a
        // reader.
        let open = || {
            let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
            rustix::fs::open(&pipe, flags, rustix::fs::Mode::empty())
        };
        let until = std::time::Instant::now() + std::time::Duration::from_secs(300);
        let writer = loop {
            match open() {
                Ok(writer) => break writer,
                Err(_) => assert!(std::time::Instant::now() < until, "the pipe is not read"),
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        let names = Arc::clone(&files.names);
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            drop(files);
            done.send(()).unwrap();
        });
        is_done.recv_timeout(std::time::Duration::from_secs(300)).expect("the end waits for the thread");
        assert_eq!(fs::read_to_string(folder.0.path().join("app.1.log")).unwrap(), "first\n");
        assert!(!folder.0.path().join("app.1.log.zst").exists());
        // The next logger's files have other names, and it compresses what the first has left.
        fs::remove_file(&pipe).unwrap();
        fs::write(&pipe, "second\n").unwrap();
        let next = OldFiles::new(&folder.log(), keep);
        until_compressed(&next);
        assert_eq!(folder.names(), ["app.1.log.zst", "app.2.log.zst"]);
        // Now the pipe has an end, and the thread too; it leaves no trace.
        drop(writer);
        let until = std::time::Instant::now() + std::time::Duration::from_secs(300);
        while Arc::strong_count(&names) > 1 {
            assert!(std::time::Instant::now() < until, "the thread does not end");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(folder.names(), ["app.1.log.zst", "app.2.log.zst"]);
        for (name, text) in [("app.1.log.zst", "first\n"), ("app.2.log.zst", "second\n")] {
            let bytes = fs::read(folder.0.path().join(name)).unwrap();
            assert_eq!(zstd::decode_all(&bytes[..]).unwrap(), text.as_bytes(), "{name}");
        }
    }

    #[test]
    fn a_hole_ends_the_shift() {
        let folder = Folder::new();
        fs::write(folder.0.path().join("app.1.log"), "a").unwrap();
        fs::write(folder.0.path().join("app.3.log"), "c").unwrap();
        let mut files = OldFiles::new(&folder.log(), ALL);
        rotate(&folder, &mut files, "new");
        assert_eq!(folder.names(), ["app.1.log", "app.2.log", "app.3.log"]);
        assert_eq!(fs::read_to_string(folder.0.path().join("app.2.log")).unwrap(), "a");
    }

    #[test]
    fn everything_is_compressed_under_the_name_that_it_has_by_then() {
        let folder = Folder::new();
        let mut files = OldFiles::new(&folder.log(), Keep { compress: Some(Compression::Zstd(3)), ..ALL });
        let texts: Vec<String> = (0..20).map(|n| format!("line {n}\n").repeat(5_000)).collect();
        for text in &texts {
            rotate(&folder, &mut files, text);
        }
        until_compressed(&files);
        let expected: Vec<String> = (1..=20).map(|n| format!("app.{n}.log.zst")).collect();
        assert!(expected.iter().all(|name| folder.names().contains(name)), "{:?}", folder.names());
        assert_eq!(folder.names().len(), 20);
        for (name, text) in expected.iter().zip(texts.iter().rev()) {
            let bytes = fs::read(folder.0.path().join(name)).unwrap();
            assert_eq!(String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap(), *text, "{name}");
        }
    }

    #[test]
    fn names_by_date_stay_and_the_newest_are_kept() {
        let folder = Folder::new();
        // From a time with numbers; and a foreign file.
        for name in ["app.1.log", "app.2.log", "app.2026-11-19.txt", "app.2026-11.log"] {
            fs::write(folder.0.path().join(name), "").unwrap();
        }
        let keep = Keep { count: 4, naming: Naming::Dates, ..ALL };
        let mut files = OldFiles::new(&folder.log(), keep);
        for date in ["2026-11-19", "2026-11-20", "2026-11-20", "2026-11-20"] {
            fs::write(folder.log(), date).unwrap();
            files.rotate(date).unwrap();
        }
        let dated = |names: &[&str]| {
            let mut names: Vec<String> = names.iter().map(|name| format!("app.{name}")).collect();
            names.sort();
            names
        };
        let all = ["2026-11-20.2.log", "2026-11-20.1.log", "2026-11-20.log", "2026-11-19.log"];
        let others = ["2026-11-19.txt", "2026-11.log"];
        assert_eq!(folder.names(), dated(&[&all[..], &others[..]].concat()));
        // A file that was removed by hand leaves its name free, but not for an older one.
        fs::remove_file(folder.0.path().join("app.2026-11-20.1.log")).unwrap();
        rotate(&folder, &mut files, "again");
        assert_eq!(fs::read_to_string(folder.0.path().join("app.2026-11-20.3.log")).unwrap(), "again");
        files.set_keep(Keep { count: 1, ..keep });
        rotate(&folder, &mut files, "last");
        assert_eq!(folder.names(), dated(&[&["2026-11-20.4.log"], &others[..]].concat()));
        // With numbers again, dated files are ignored.
        files.set_keep(Keep { count: 1, ..ALL });
        rotate(&folder, &mut files, "numbered");
        assert_eq!(folder.names(), dated(&[&["2026-11-20.4.log", "1.log"], &others[..]].concat()));
    }

    #[test]
    fn gzip_is_what_others_read_and_stays_when_the_compression_changes() {
        let folder = Folder::new();
        let keep = Keep { compress: Some(Compression::Gzip(6)), naming: Naming::Dates, ..ALL };
        let mut files = OldFiles::new(&folder.log(), keep);
        let text = "a line\n".repeat(100_000);
        rotate(&folder, &mut files, &text);
        until_compressed(&files);
        files.set_keep(Keep { compress: Some(Compression::Zstd(1)), ..keep });
        rotate(&folder, &mut files, "second");
        until_compressed(&files);
        assert_eq!(folder.names(), ["app.2026-11-20.1.log.zst", "app.2026-11-20.log.gz"]);
        let mut read = String::new();
        let file = File::open(folder.0.path().join("app.2026-11-20.log.gz")).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut read).unwrap();
        assert_eq!(read, text);
    }

    /// What a process leaves that is killed at one of its points.
    #[test]
    fn what_was_left_unfinished_is_finished() {
        let folder = Folder::new();
        let whole = zstd::encode_all(&b"second\n"[..], 3).unwrap();
        fs::write(folder.0.path().join("app.1.log"), "first\n").unwrap();
        fs::write(folder.0.path().join("app.2.log"), "second\n").unwrap();
        fs::write(folder.0.path().join("app.2.log.zst"), whole).unwrap();
        fs::write(folder.0.path().join("app.log.4294967295.compressing"), "half of something").unwrap();
        // A foreign file.
        fs::write(folder.0.path().join("app.log.x.compressing"), "").unwrap();
        let files = OldFiles::new(&folder.log(), Keep { compress: Some(Compression::Zstd(3)), ..ALL });
        until_compressed(&files);
        assert_eq!(folder.names(), ["app.1.log.zst", "app.2.log.zst", "app.log.x.compressing"]);
        let bytes = fs::read(folder.0.path().join("app.1.log.zst")).unwrap();
        assert_eq!(zstd::decode_all(&bytes[..]).unwrap(), b"first\n");
    }
}
