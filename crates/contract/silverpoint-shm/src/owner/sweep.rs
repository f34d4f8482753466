//! What dead sessions leave behind: removed when they hold no records, kept within bounds when they do.
//!
//! Every start of a program sweeps a little. Nothing is removed that a collector has (its lock), that is alive, or that is not a session by name and files.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, RawDir};

use super::at;
use super::control::{get32, get64};
use super::identity::Name;
use super::session::{Session, remove_directory};
use crate::locks::{self, Lock};
use crate::root::Root;
use crate::sys;

/// What one sweep may look at, and what dead sessions with records may keep.
pub struct Bounds {
    /// Directory entries examined.
    pub entries: usize,
    /// Dead sessions with records that stay, the youngest.
    pub kept: usize,
    /// Bytes of memory or disk that those use together.
    pub kept_bytes: u64,
    /// Age at which they go.
    pub kept_seconds: u64,
}

impl Bounds {
    /// Of a program's start: it costs some microseconds for each other session that lives.
    pub const AT_START: Self =
        Self { entries: 64, kept: 32, kept_bytes: 256 << 20, kept_seconds: 7 * 86_400 };
}

/// Dead sessions with records that one sweep weighs against each other.
const MAX_KEPT: usize = 64;
/// A session under a hidden name that is not finished after so long never will be.
const UNFINISHED_SECONDS: u64 = 10;

#[derive(Clone, Copy)]
struct Kept {
    name: Name,
    changed: u64,
    bytes: u64,
}

pub(crate) fn at_start(session: &Session) {
    if let Ok(root) = Root::open_directory(session.root.as_path()) {
        sweep(&root, &Bounds::AT_START);
    }
}

/// Sweeps a root. Gives the number of sessions removed.
pub fn sweep(root: &Root, bounds: &Bounds) -> usize {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let Ok(listing) = sys::open_at(root.fd(), c".", flags, Mode::empty()) else { return 0 };
    let mut buffer = [std::mem::MaybeUninit::<u8>::uninit(); 2048];
    let mut entries = RawDir::new(&listing, &mut buffer);
    let mut kept = [Kept { name: Name::EMPTY, changed: 0, bytes: 0 }; MAX_KEPT];
    let mut count = 0;
    let mut removed = 0;
    let mut examined = 0;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    while let Some(Ok(entry)) = entries.next() {
        let Some(name) = session_name(entry.file_name().to_bytes()) else { continue };
        examined += 1;
        if examined > bounds.entries {
            break;
        }
        match examine(root, name, now) {
            Found::Alive | Found::Expected => {}
            Found::Empty(lock) => {
                remove_directory(root, name.as_c_str());
                drop(lock);
                removed += 1;
            }
            Found::Records(found) if count < MAX_KEPT => {
                kept[count] = found;
                count += 1;
            }
            Found::Records(_) => {}
        }
    }
    // Youngest first; those beyond a bound are removed.
    let kept = &mut kept[..count];
    kept.sort_unstable_by_key(|found| std::cmp::Reverse(found.changed));
    let mut bytes = 0;
    for (i, found) in kept.iter().enumerate() {
        bytes += found.bytes;
        let old = now.saturating_sub(found.changed) > bounds.kept_seconds;
        if i >= bounds.kept || bytes > bounds.kept_bytes || old {
            if let Some(lock) = lock_dead(root, found.name) {
                remove_directory(root, found.name.as_c_str());
                drop(lock);
                removed += 1;
            }
        }
    }
    removed
}

enum Found {
    /// Or not to be judged.
    Alive,
    /// Dead, without records; locked against collectors.
    Empty(Locked),
    Records(Kept),
    /// Dead, with records that a collector is on its way for: however many there are, they are not a sweep's to weigh.
    Expected,
}

struct Locked {
    directory: OwnedFd,
    _collector: OwnedFd,
}

fn examine(root: &Root, name: Name, now: u64) -> Found {
    let Some(lock) = lock_dead(root, name) else { return Found::Alive };
    let Ok(stat) = rustix::fs::fstat(&lock.directory) else { return Found::Alive };
    let changed = stat.st_mtime as u64;
    if name.as_bytes()[0] == b'.' {
        let finished = now.saturating_sub(changed) < UNFINISHED_SECONDS;
        return if finished { Found::Alive } else { Found::Empty(lock) };
    }
    let mut header = [0u8; 1024];
    let open = |file| sys::open_at(&lock.directory, file, OFlags::RDONLY, Mode::empty());
    let Ok(control) = open(c"control") else { return Found::Empty(lock) };
    let read = rustix::io::pread(&control, &mut header, 0).unwrap_or(0);
    let losses = (0..8).any(|cause| get64(&header, at::header::SESSION_LOSSES + 8 * cause) != 0);
    // Without a stream there is no record: slices may be kept for a crash.
    if read < header.len() || (get32(&header, at::header::STREAMS_NEXT) == 0 && !losses) {
        return Found::Empty(lock);
    }
    if get32(&header, at::header::FLAGS) & at::control::FLAG_EXPECTED != 0 {
        return Found::Expected;
    }
    let blocks = |fd: &OwnedFd| rustix::fs::fstat(fd).map_or(0, |stat| stat.st_blocks as u64 * 512);
    let bytes = blocks(&control) + open(c"rings").map_or(0, |rings| blocks(&rings));
    Found::Records(Kept { name, changed, bytes })
}

/// Locks a session that is dead against collectors and other sweeps; `None` when it lives, is taken, or is no session.
fn lock_dead(root: &Root, name: Name) -> Option<Locked> {
    let directory =
        sys::open_at(root.fd(), name.as_c_str(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).ok()?;
    // Before the collector's lock: a collector that comes for a living session must not find it taken for a moment.
    if !is_dead(&directory) {
        return None;
    }
    let collector = match sys::open_at(&directory, c"collector", OFlags::RDWR, Mode::empty()) {
        Ok(fd) => fd,
        // Cut short while it was made or removed: the directory stands for the lock.
        Err(rustix::io::Errno::NOENT) => {
            return directory.try_clone().ok().map(|fd| Locked { directory, _collector: fd });
        }
        Err(_) => return None,
    };
    if !locks::try_lock(collector.as_fd(), 0, Lock::Exclusive).unwrap_or(false) {
        return None;
    }
    // And with it: what was being made may live by now.
    is_dead(&directory).then_some(Locked { directory, _collector: collector })
}

/// Whether nobody has the owner's lock.
fn is_dead(directory: &OwnedFd) -> bool {
    match sys::open_at(directory, c"owner", OFlags::RDWR, Mode::empty()) {
        Ok(owner) => !locks::is_locked_against(owner.as_fd(), 0, Lock::Exclusive).unwrap_or(true),
        Err(error) => error == rustix::io::Errno::NOENT,
    }
}

/// `<pid>-<start>-<n>`, or a hidden name of one that is being made.
fn session_name(bytes: &[u8]) -> Option<Name> {
    let visible = bytes.strip_prefix(b".new-");
    let parts = if visible.is_some() { 2 } else { 3 };
    let text = visible.unwrap_or(bytes);
    let numbers =
        text.split(|byte| *byte == b'-').all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    (numbers && text.iter().filter(|byte| **byte == b'-').count() == parts - 1)
        .then(|| Name::found(bytes))
        .flatten()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    use rustix::fs::inotify;

    use super::*;

    /// A collector that comes for it must not find its lock taken, not even for a moment: so the lock is not even looked at.
    #[test]
    fn the_collectors_lock_of_the_living_is_left_alone() {
        let private = fs::Permissions::from_mode(0o700);
        let parent =
            tempfile::Builder::new().prefix("silverpoint-sweep-").permissions(private).tempdir().unwrap();
        let directory = parent.path().join("1-2-3");
        fs::DirBuilder::new().mode(0o700).create(&directory).unwrap();
        fs::write(directory.join("collector"), "").unwrap();
        let owner = fs::File::create(directory.join("owner")).unwrap();
        let opened = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&opened, directory.join("collector"), inotify::WatchFlags::OPEN).unwrap();
        let was_opened = || {
            let mut buffer = [std::mem::MaybeUninit::<u8>::uninit(); 512];
            let event = inotify::Reader::new(&opened, &mut buffer).next().map(|event| event.events());
            event.is_ok_and(|event| event.contains(inotify::ReadFlags::OPEN))
        };
        let root = Root::open_directory(parent.path()).unwrap();

        assert!(locks::try_lock(owner.as_fd(), 0, Lock::Exclusive).unwrap());
        assert_eq!(sweep(&root, &Bounds::AT_START), 0);
        assert!(directory.exists() && !was_opened());

        locks::unlock(owner.as_fd(), 0).unwrap();
        assert_eq!(sweep(&root, &Bounds::AT_START), 1);
        assert!(!directory.exists() && was_opened());
    }

    #[test]
    fn only_sessions_are_swept() {
        for good in ["1-2-3", "12345-9999999-0", ".new-1-2"] {
            assert!(session_name(good.as_bytes()).is_some(), "{good}");
        }
        for bad in ["", "1-2", "1-2-3-4", "a-2-3", "1--3", ".new-1", ".new-1-2-3", "notes", ".", ".."] {
            assert!(session_name(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
