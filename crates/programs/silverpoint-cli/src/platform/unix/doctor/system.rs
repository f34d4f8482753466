//! The examined system. Every path is below a directory that stands for `/`, so that a test can examine any
//! other system.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use silverpoint_shm::probe::Support;

/// No file of `/proc` or `/sys` that is read here says anything useful beyond.
const MAX_FILE: u64 = 1 << 20;

/// Bytes of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Altogether.
    pub size: u64,
    /// That this user may still use.
    pub free: u64,
}

/// How much room there is at a path; `None` when it cannot be found out.
pub type SpaceOf = fn(&Path) -> Option<Space>;

/// What the checks ask.
pub struct System {
    /// Stands for `/`.
    root: PathBuf,
    /// Effective user.
    pub uid: u32,
    /// The variables that matter: `SILVERPOINT_…`, `XDG_RUNTIME_DIR`.
    pub environment: BTreeMap<String, OsString>,
    /// What the kernel answered.
    pub support: Support,
    space_of: SpaceOf,
}

/// A line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where.
    pub at: PathBuf,
    /// Options of the mount and of the file system.
    pub options: Vec<String>,
    /// `tmpfs`, `ext4` …
    pub kind: String,
}

impl System {
    /// This machine, as this process sees it.
    pub fn this() -> Self {
        let wanted = |name: &str| name.starts_with("SILVERPOINT_") || name == "XDG_RUNTIME_DIR";
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, value)| wanted(name) && !value.is_empty())
            .collect();
        Self {
            root: PathBuf::from("/"),
            uid: rustix::process::geteuid().as_raw(),
            environment,
            support: Support::of_this_process(),
            space_of: space_of_this_machine,
        }
    }

    /// Another one, for tests.
    #[cfg(test)]
    pub fn pretended(root: &Path, support: Support, space_of: SpaceOf) -> Self {
        let uid = rustix::process::geteuid().as_raw();
        Self { root: root.to_owned(), uid, environment: BTreeMap::new(), support, space_of }
    }

    /// Where a path of the examined system really is.
    pub fn real(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A text file, at most 1 MiB of it; `None` when it cannot be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.real(path)).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file that holds one word.
    pub fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        Some(self.text(path)?.trim().to_owned())
    }

    /// A file that holds one number.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.word(path)?.parse().ok()
    }

    /// A path as a command takes it.
    pub fn variable(&self, name: &str) -> Option<PathBuf> {
        self.environment.get(name).map(PathBuf::from)
    }

    /// Room in the file system that holds this path.
    pub fn space(&self, path: &Path) -> Option<Space> {
        (self.space_of)(&self.real(path))
    }

    /// The mount that holds a path: the last of those with the longest beginning.
    pub fn mount_of(&self, path: &Path) -> Option<Mount> {
        let text = self.text("/proc/self/mountinfo")?;
        text.lines()
            .filter_map(mount)
            .filter(|mount| path.starts_with(&mount.at))
            .max_by_key(|mount| mount.at.components().count())
    }
}

fn space_of_this_machine(path: &Path) -> Option<Space> {
    let found = rustix::fs::statvfs(path).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Some(Space { size: bytes(found.f_blocks), free: bytes(found.f_bavail) })
}

/// `36 35 98:0 / /dev/shm rw,noexec - tmpfs shm rw,size=65536k`: an optional part stands before the dash.
fn mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut words = before.split(' ').skip(4);
    let at = unescape(words.next()?);
    let mut options: Vec<String> = words.next()?.split(',').map(str::to_owned).collect();
    let mut words = after.split(' ');
    let kind = words.next()?.to_owned();
    options.extend(words.nth(1).unwrap_or_default().split(',').map(str::to_owned));
    Some(Mount { at: PathBuf::from(at), options, kind })
}

/// Spaces and the like are written `\040`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                out.push(char::from(code));
                rest = &rest[at + 4..];
            }
            None => {
                out.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}
