//! The names of the old files of a log: which there are, and which is free next.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::config::Naming;
use crate::target::compression::ENDINGS;
use crate::target::old_name::Mark;

/// The ending of a file that is being compressed.
const UNFINISHED: &str = "compressing";

#[derive(Debug)]
pub(super) struct Names {
    /// The log.
    pub(super) path: PathBuf,
    /// Held while names change: a file that is being compressed may be renamed meanwhile. The value: whether
    /// a thread compresses all new files until it finds none.
    pub(super) is_compressing: Mutex<bool>,
    /// The thread is to end. Set with the lock held: no file gets a name afterwards.
    pub(super) is_stopped: AtomicBool,
    /// Old files have dates; some may have numbers, too.
    pub(super) has_dates: AtomicBool,
}

/// One old file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Old {
    pub(super) mark: Mark,
    /// The ending of its compression; none: it is plain.
    pub(super) ending: Option<&'static str>,
    pub(super) path: PathBuf,
}

impl Names {
    pub(super) fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_compressing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `app.N.log` of `app.log`, or `app.N.log.zst`.
    pub(super) fn old(&self, mark: &Mark, ending: Option<&str>) -> PathBuf {
        let mut name = self.path.file_stem().unwrap_or_default().to_owned();
        name.push(".");
        name.push(mark.text());
        if let Some(extension) = self.path.extension() {
            name.push(".");
            name.push(extension);
        }
        if let Some(ending) = ending {
            name.push(".");
            name.push(ending);
        }
        self.path.with_file_name(name)
    }

    fn naming(&self) -> Naming {
        if self.has_dates.load(Ordering::Relaxed) { Naming::Dates } else { Naming::Numbers }
    }

    /// Makes the smallest number free.
    pub(super) fn shift(&self) -> io::Result<Mark> {
        let mut old: Vec<(u32, Old)> = Vec::new();
        for file in self.list()? {
            if let Mark::Number(number) = file.mark {
                old.push((number, file));
            }
        }
        // From the first free number on: an attempt after a partial failure shifts nothing twice.
        let free = (1..).find(|free| old.iter().all(|(number, _)| number != free)).unwrap_or(u32::MAX);
        old.retain(|(number, _)| *number < free);
        old.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
        for (number, file) in old {
            fs::rename(&file.path, self.old(&Mark::Number(number + 1), file.ending))?;
        }
        Ok(Mark::Number(1))
    }

    /// The next mark of a date.
    pub(super) fn next_of(&self, date: &str) -> io::Result<Mark> {
        let old = self.list()?;
        let numbers = old.iter().filter_map(|file| match &file.mark {
            Mark::Date { date: found, number } if found == date => Some(*number),
            _ => None,
        });
        let number = numbers.max().map_or(0, |number| number.saturating_add(1));
        Ok(Mark::Date { date: date.to_owned(), number })
    }

    /// The file to compress into. The name differs each time: a thread that was asked to end may not have
    /// noticed yet when the next logger begins.
    pub(super) fn unfinished(&self) -> PathBuf {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut path = self.path.clone();
        path.as_mut_os_string().push(format!(".{number}.{UNFINISHED}"));
        path
    }

    /// Whether a name in the log's directory is one of those.
    fn is_unfinished(&self, name: &str) -> bool {
        let log = self.path.file_name().unwrap_or_default().to_string_lossy();
        let rest = name.strip_prefix(&*log).and_then(|rest| rest.strip_suffix(UNFINISHED));
        let number = rest.and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.strip_suffix('.'));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    /// The existing old files, in no order.
    pub(super) fn list(&self) -> io::Result<Vec<Old>> {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = self
            .path
            .extension()
            .map_or(String::new(), |extension| format!(".{}", extension.to_string_lossy()));
        let naming = self.naming();
        let mut old = Vec::new();
        for entry in fs::read_dir(self.folder())? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let stripped =
                |ending: &'static str| Some((name.strip_suffix(ending)?.strip_suffix('.')?, ending));
            let (plain, ending) = match ENDINGS.into_iter().find_map(stripped) {
                Some((plain, ending)) => (plain, Some(ending)),
                None => (name, None),
            };
            let mark = plain
                .strip_prefix(&stem)
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.strip_suffix(&extension))
                .and_then(|mark| Mark::parse(mark, naming));
            if let Some(mark) = mark {
                let path = self.old(&mark, ending);
                if path.file_name().is_some_and(|own| own == name) {
                    old.push(Old { mark, ending, path });
                }
            }
        }
        Ok(old)
    }

    /// Removes plain files that also exist compressed: by its name, that one is complete. With `unfinished`,
    /// also the partial files of another process.
    pub(super) fn tidy(&self, unfinished: bool) -> io::Result<()> {
        if unfinished {
            for entry in fs::read_dir(self.folder())? {
                let entry = entry?;
                if entry.file_name().to_str().is_some_and(|name| self.is_unfinished(name)) {
                    remove_if_there(&entry.path())?;
                }
            }
        }
        let old = self.list()?;
        for file in old.iter().filter(|file| file.ending.is_none()) {
            if old.iter().any(|other| other.ending.is_some() && other.mark == file.mark) {
                fs::remove_file(&file.path)?;
            }
        }
        Ok(())
    }
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
