//! The root of sessions: which directory it is, and a check that no other user can have put anything into it.
//!
//! The root is `$SILVERPOINT_DIR` where that is set, and then no other: the named directory is used or
//! refused. Otherwise it is the first usable one of `/dev/shm/silverpoint-<uid>`,
//! `$XDG_RUNTIME_DIR/silverpoint` and `/tmp/silverpoint-<uid>` (spec/wire.md, section 2). Usable is a
//! directory of mode 0700 that belongs to the effective user and is no link. It is opened once, without
//! following a link, and everything in it is reached through that descriptor. Replacing the path later has no
//! effect on it.
//!
//! Producers make the root ([`Root::open_or_create`]); observers only search for it ([`Root::open`]). No
//! allocation here, since a forked child makes its session at its first record, which may be anywhere.

use std::ffi::{CStr, OsStr};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use crate::kept::KeptFd;
use crate::sys;

/// Longest path of a root in bytes; a longer one is refused.
pub const MAX_PATH: usize = 1024;

/// Bytes of a path that a warning shows.
const SHOWN: usize = 300;

/// An opened and checked root of sessions.
#[derive(Debug)]
pub struct Root {
    fd: KeptFd,
    path: PathText,
}

impl Root {
    /// Opens the root of the effective user's sessions as a producer and as a collector see it. The error is that of the place that was named, or of the
    /// last place tried; `NotFound` when no place has a root yet. [`explained`] says for people what is wrong.
    pub fn open() -> io::Result<Self> {
        let uid = effective_uid();
        first_usable(uid, |path| Self::open_path(path, uid))
    }

    /// As [`Root::open`], but makes the directory at the first place where that is possible.
    pub fn open_or_create() -> io::Result<Self> {
        let uid = effective_uid();
        first_usable(uid, |path| Self::open_or_create_path(path, uid))
    }

    /// The root of another user's sessions, for a caller that may read it (root). The environment belongs to
    /// the caller and does not apply to the other user. So only the two places that are named by the user id
    /// are tried.
    pub fn open_of_user(uid: u32) -> io::Result<Self> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for place in [Place::SharedMemory, Place::Temporary] {
            match place.path(uid).map(|path| Self::open_path(&path, uid)) {
                Some(Ok(root)) => return Ok(root),
                Some(Err(error)) => last = error,
                None => {}
            }
        }
        Err(last)
    }

    /// Opens a given directory as the root of the effective user's sessions, with the same checks.
    pub fn open_directory(path: &Path) -> io::Result<Self> {
        Self::open_path(
            &PathText::join(&[path.as_os_str().as_bytes()]).ok_or_else(too_long)?,
            effective_uid(),
        )
    }

    /// Opens a directory in this one as a root, with the same checks: both must have the same owner.
    pub fn open_beneath(&self, name: &OsStr) -> io::Result<Self> {
        let path = PathText::join(&[self.path.as_bytes(), b"/", name.as_bytes()]).ok_or_else(too_long)?;
        let name = PathText::join(&[name.as_bytes()]).ok_or_else(too_long)?;
        if name.as_bytes().contains(&b'/') || matches!(name.as_bytes(), b"." | b"..") {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let uid = rustix::fs::fstat(&self.fd)?.st_uid;
        Self::open_at(self.fd.as_fd(), &name, path, uid)
    }

    /// Makes a directory in this one that can be a root.
    ///
    /// # Errors
    /// Those of the system; `AlreadyExists`.
    pub fn make_beneath(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.fd, name, Mode::RWXU)?)
    }

    /// Whether the descriptor still stands for the directory: the program may have closed it.
    pub fn is_intact(&self) -> bool {
        self.fd.is_intact()
    }

    /// The descriptor of the directory (`O_DIRECTORY`, close on exec).
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The path under which it was opened: for messages, and for files that must be opened again later.
    pub fn path(&self) -> &Path {
        self.path.as_path()
    }

    fn open_or_create_path(path: &PathText, uid: u32) -> io::Result<Self> {
        match Self::open_path(path, uid) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A umask may take bits away, which the check below would refuse, but adds none. The first
                // process wins.
                match rustix::fs::mkdirat(CWD, path.as_c_str(), Mode::RWXU) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => Self::open_path(path, uid),
                    Err(error) => Err(error.into()),
                }
            }
            other => other,
        }
    }

    fn open_path(path: &PathText, uid: u32) -> io::Result<Self> {
        Self::open_at(CWD, path, *path, uid)
    }

    /// Opens and checks what is called `name` in a directory; `path` is what it is called in messages.
    fn open_at(directory: BorrowedFd<'_>, name: &PathText, path: PathText, uid: u32) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(directory, name.as_c_str(), flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        if stat.st_uid != uid {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        if stat.st_mode & 0o777 != 0o700 {
            return Err(io::Error::from_raw_os_error(libc::EACCES));
        }
        Ok(Self { fd: KeptFd::new(fd), path })
    }
}

/// The places in their order, where none is named.
#[derive(Clone, Copy)]
enum Place {
    SharedMemory,
    Runtime,
    Temporary,
}

impl Place {
    const ALL: [Self; 3] = [Self::SharedMemory, Self::Runtime, Self::Temporary];

    fn path(self, uid: u32) -> Option<PathText> {
        let mut digits = [0u8; 10];
        let uid = decimal(u64::from(uid), &mut digits);
        match self {
            Self::SharedMemory => PathText::join(&[b"/dev/shm/silverpoint-", uid]),
            Self::Runtime => PathText::join(&[set(c"XDG_RUNTIME_DIR")?, b"/silverpoint"]),
            Self::Temporary => PathText::join(&[b"/tmp/silverpoint-", uid]),
        }
    }
}

/// What `SILVERPOINT_DIR` names, if it names anything.
pub fn named() -> Option<&'static Path> {
    set(c"SILVERPOINT_DIR").map(|path| Path::new(OsStr::from_bytes(path)))
}

/// What `SILVERPOINT_DIR` names, when that cannot be used. Without allocation.
pub(crate) fn refused() -> Option<&'static [u8]> {
    let path = set(c"SILVERPOINT_DIR")?;
    let uid = effective_uid();
    let opened = PathText::join(&[path]).map(|path| Root::open_or_create_path(&path, uid));
    opened.is_none_or(|opened| opened.is_err()).then_some(&path[..path.len().min(SHOWN)])
}

/// The same error, with words for people: which directory, what is wrong with it, and what to do.
pub fn explained(error: io::Error) -> io::Error {
    let uid = effective_uid();
    let text = match named() {
        Some(path) => {
            format!("SILVERPOINT_DIR names {}: {}", path.display(), what_is_wrong(path, uid, &error))
        }
        None => {
            let refused = Place::ALL.iter().filter_map(|place| place.path(uid)).filter_map(|path| {
                let path = path.as_path();
                path.symlink_metadata().ok()?;
                Some(format!("{}: {}", path.display(), what_is_wrong(path, uid, &error)))
            });
            match refused.collect::<Vec<_>>().join("; ") {
                refused if refused.is_empty() => {
                    format!("{error} (set SILVERPOINT_DIR to a directory of your own with mode 0700)")
                }
                refused => refused,
            }
        }
    };
    io::Error::new(error.kind(), text)
}

fn what_is_wrong(path: &Path, uid: u32, error: &io::Error) -> String {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => "it is a link; name the directory itself".to_owned(),
        Ok(found) if !found.is_dir() => "it is no directory".to_owned(),
        Ok(found) if found.uid() != uid => {
            format!("it belongs to user {}, and user {uid} needs a directory of his own", found.uid())
        }
        Ok(found) if found.mode() & 0o777 != 0o700 => format!(
            "its mode is {:04o} and must be 0700, so that nobody else puts anything into it: `chmod 0700 {}`",
            found.mode() & 0o777,
            path.display()
        ),
        Err(found) if found.kind() == io::ErrorKind::NotFound => {
            format!("it is not there and cannot be made: {error}")
        }
        Ok(_) | Err(_) => error.to_string(),
    }
}

fn set(name: &CStr) -> Option<&'static [u8]> {
    sys::environment(name).filter(|value| !value.is_empty())
}

fn first_usable(uid: u32, open: impl Fn(&PathText) -> io::Result<Root>) -> io::Result<Root> {
    if let Some(path) = set(c"SILVERPOINT_DIR") {
        return open(&PathText::join(&[path]).ok_or_else(too_long)?);
    }
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for place in Place::ALL {
        let Some(path) = place.path(uid) else { continue };
        match open(&path) {
            Ok(root) => return Ok(root),
            // A refusal says more than that the next place has nothing.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && last.kind() != io::ErrorKind::NotFound => {}
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn effective_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn too_long() -> io::Error {
    io::Error::from_raw_os_error(libc::ENAMETOOLONG)
}

/// Writes `value` in decimal and gives the digits.
pub(crate) fn decimal(mut value: u64, buffer: &mut [u8]) -> &[u8] {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 || at == 0 {
            return &buffer[at..];
        }
    }
}

/// A path of bounded length that ends with a zero byte, without allocation.
#[derive(Clone, Copy)]
pub(crate) struct PathText {
    /// Without the zero byte; at most [`MAX_PATH`].
    len: usize,
    bytes: [u8; MAX_PATH + 1],
}

impl PathText {
    pub(crate) const EMPTY: Self = Self { len: 0, bytes: [0; MAX_PATH + 1] };

    /// The parts one after the other; `None` when they are too long, empty altogether, or hold a zero byte.
    pub(crate) fn join(parts: &[&[u8]]) -> Option<Self> {
        let mut text = Self::EMPTY;
        for part in parts {
            if part.contains(&0) || text.len + part.len() > MAX_PATH {
                return None;
            }
            text.bytes[text.len..text.len + part.len()].copy_from_slice(part);
            text.len += part.len();
        }
        (text.len > 0).then_some(text)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes[..=self.len]).unwrap_or(c"")
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.as_bytes()))
    }
}

impl fmt::Debug for PathText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};

    use tempfile::TempDir;

    fn scratch() -> TempDir {
        let private = fs::Permissions::from_mode(0o700);
        tempfile::Builder::new().prefix("silverpoint-root-").permissions(private).tempdir().unwrap()
    }

    fn text(path: &Path) -> PathText {
        PathText::join(&[path.as_os_str().as_bytes()]).unwrap()
    }

    #[test]
    fn a_private_directory_is_taken_and_made() {
        let scratch = scratch();
        let path = scratch.path().join("root");
        let missing = Root::open_directory(&path).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let made = Root::open_or_create_path(&text(&path), effective_uid()).unwrap();
        assert_eq!(made.path(), path);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        Root::open_directory(&path).unwrap();
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_do() {
        let scratch = scratch();
        let wide = scratch.path().join("wide");
        fs::DirBuilder::new().mode(0o700).create(&wide).unwrap();
        fs::set_permissions(&wide, fs::Permissions::from_mode(0o755)).unwrap();
        let link = scratch.path().join("link");
        symlink(&wide, &link).unwrap();
        let file = scratch.path().join("file");
        fs::write(&file, b"").unwrap();
        let uid = effective_uid();
        for (path, uid, part) in [
            (&wide, uid, "chmod 0700"),
            (&wide, uid, "its mode is 0755"),
            (&wide, uid + 1, "it belongs to user"),
            (&link, uid, "it is a link"),
            (&file, uid, "it is no directory"),
            (&scratch.path().join("a/b"), uid, "it is not there and cannot be made"),
        ] {
            let error = Root::open_or_create_path(&text(path), uid).unwrap_err();
            let said = what_is_wrong(path, uid, &error);
            assert!(said.contains(part), "{}: {said}", path.display());
        }
    }

    #[test]
    fn links_files_strangers_and_open_doors_are_refused() {
        let scratch = scratch();
        let good = scratch.path().join("good");
        fs::DirBuilder::new().mode(0o700).create(&good).unwrap();
        let link = scratch.path().join("link");
        symlink(&good, &link).unwrap();
        assert!(Root::open_directory(&link).is_err(), "a link");
        let file = scratch.path().join("file");
        fs::write(&file, b"").unwrap();
        assert!(Root::open_directory(&file).is_err(), "a file");
        let wide = scratch.path().join("wide");
        fs::DirBuilder::new().mode(0o700).create(&wide).unwrap();
        fs::set_permissions(&wide, fs::Permissions::from_mode(0o750)).unwrap();
        assert_eq!(
            Root::open_directory(&wide).unwrap_err().kind(),
            io::ErrorKind::PermissionDenied,
            "a group's"
        );
        let parent = Root::open_directory(scratch.path()).unwrap();
        assert_eq!(parent.open_beneath("good".as_ref()).unwrap().path(), good);
        for bad in ["link", "file", "wide", "missing", ".", "..", "good/../good", ""] {
            assert!(parent.open_beneath(bad.as_ref()).is_err(), "{bad}");
        }
        let stranger = Root::open_path(&text(&good), effective_uid() + 1).unwrap_err();
        assert_eq!(stranger.raw_os_error(), Some(libc::EPERM), "another owner's");
    }

    #[test]
    fn paths_are_bounded() {
        assert!(PathText::join(&[&[b'a'; MAX_PATH]]).is_some());
        assert!(PathText::join(&[&[b'a'; MAX_PATH], b"b"]).is_none());
        assert!(PathText::join(&[b"a\0b"]).is_none());
        assert!(PathText::join(&[]).is_none());
        assert_eq!(decimal(0, &mut [0; 10]), b"0");
        assert_eq!(decimal(u64::from(u32::MAX), &mut [0; 10]), b"4294967295");
    }
}
