//! Shared memory: where sessions are, whether that place is the user's own, and how much room it has.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use silverpoint_shm::memory::{self, Limits, SMALL};
use silverpoint_shm::root::Root;

use super::limits;
use super::system::System;
use crate::doctor::finding::Finding;
use crate::units::show_bytes;

/// What a session's rings take when nothing is tight.
pub const RINGS: u64 = SMALL;
/// A session uses at most this fraction (1/N) of the free room, up to [`RINGS`].
const SHARE_OF_ROOM: u64 = 4;
/// With less, not even one session's first pages fit.
const LEAST_ROOM: u64 = 256 << 10;

/// The places in order of precedence; only the named one, if one is named (spec/wire.md, section 2).
pub fn places(system: &System) -> Vec<PathBuf> {
    if let Some(named) = system.variable("SILVERPOINT_DIR") {
        return vec![named];
    }
    let uid = system.uid;
    let mut places = Vec::new();
    places.push(PathBuf::from(format!("/dev/shm/silverpoint-{uid}")));
    places.extend(system.variable("XDG_RUNTIME_DIR").map(|dir| dir.join("silverpoint")));
    places.push(PathBuf::from(format!("/tmp/silverpoint-{uid}")));
    places
}

/// What is found at one of the places.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// A root as it must be.
    Usable,
    /// Nothing, but it can be made there.
    Makeable,
    /// Why it is skipped.
    Refused(String),
}

fn standing(system: &System, place: &Path) -> Standing {
    let real = system.real(place);
    match std::fs::symlink_metadata(&real) {
        Ok(found) if found.is_symlink() => Standing::Refused("it is a link".into()),
        Ok(found) if !found.is_dir() => {
            let what = if found.file_type().is_socket() { "a socket" } else { "no directory" };
            Standing::Refused(format!("it is {what}"))
        }
        Ok(found) if found.uid() != system.uid => {
            Standing::Refused(format!("it belongs to user {}", found.uid()))
        }
        Ok(found) if found.mode() & 0o777 != 0o700 => {
            Standing::Refused(format!("its mode is {:04o}, not 0700", found.mode() & 0o777))
        }
        Ok(_) => Standing::Usable,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let parent = real.parent().unwrap_or(&real);
            match rustix::fs::access(parent, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK) {
                Ok(()) => Standing::Makeable,
                Err(rustix::io::Errno::NOENT) => {
                    Standing::Refused("the directory above it is missing".into())
                }
                Err(error) => {
                    Standing::Refused(format!("it cannot be made: {}", std::io::Error::from(error)))
                }
            }
        }
        Err(error) => Standing::Refused(error.to_string()),
    }
}

/// The place that programs will use; `None` when there is none.
pub fn chosen(system: &System) -> Option<PathBuf> {
    places(system).into_iter().find(|place| !matches!(standing(system, place), Standing::Refused(_)))
}

/// The same, and its path, if it is there.
pub fn opened(system: &System) -> Option<(PathBuf, Root)> {
    let path = chosen(system)?;
    let root = Root::open_directory(&system.real(&path)).ok()?;
    Some((path, root))
}

/// Which place is used, and which are skipped and why.
pub fn root(system: &System) -> Vec<Finding> {
    const CHECK: &str = "shm.root";
    let mut findings = Vec::new();
    for place in places(system) {
        let shown = place.display();
        match standing(system, &place) {
            Standing::Usable => {
                findings.push(Finding::ok(CHECK, format!("{shown} holds the sessions")));
                return findings;
            }
            Standing::Makeable => {
                findings.push(
                    Finding::ok(CHECK, format!("{shown} will hold the sessions"))
                        .means("the first traced program makes it"),
                );
                return findings;
            }
            Standing::Refused(why) if system.variable("SILVERPOINT_DIR").is_some() => {
                findings.push(
                    Finding::fail(CHECK, format!("SILVERPOINT_DIR names {shown}, which is refused: {why}"))
                        .means("programs record nothing, and collectors find nothing")
                        .change(repair(&place, &why)),
                );
                return findings;
            }
            Standing::Refused(why) => findings.push(
                Finding::warn(CHECK, format!("{shown} is skipped: {why}"))
                    .means("the next place is tried; a program and a collector that use different places do not find each other")
                    .change(repair(&place, &why)),
            ),
        }
    }
    findings.push(
        Finding::fail(CHECK, "there is no place for sessions")
            .means("programs record nothing")
            .change("mkdir -m 0700 /dev/shm/silverpoint-$(id -u), or set SILVERPOINT_DIR to a directory of yours with mode 0700"),
    );
    findings
}

fn repair(place: &Path, why: &str) -> String {
    let place = place.display();
    if why.starts_with("its mode") {
        format!("chmod 0700 {place}")
    } else if why.contains("missing") || why.starts_with("it cannot be made") {
        format!("mkdir -p -m 0700 {place}")
    } else {
        format!("look at what is there (ls -ld {place}), and remove it when it is not needed")
    }
}

/// How the file system of the sessions is mounted.
pub fn mount(system: &System) -> Vec<Finding> {
    const CHECK: &str = "shm.mount";
    let Some(place) = chosen(system) else { return Vec::new() };
    let Some(mount) = system.mount_of(&place) else {
        return vec![
            Finding::warn(CHECK, format!("what {} is mounted on cannot be read", place.display()))
                .means("/proc is not mounted, or is hidden")
                .change("mount -t proc proc /proc"),
        ];
    };
    let at = mount.at.display();
    let has = |option: &str| mount.options.iter().any(|word| word == option);
    if has("ro") {
        return vec![
            Finding::fail(CHECK, format!("{at} is mounted read-only"))
                .means("no session can be made")
                .change(format!("mount -o remount,rw {at} (containers: a writable tmpfs there)")),
        ];
    }
    let mut findings = Vec::new();
    if matches!(mount.kind.as_str(), "tmpfs" | "ramfs") {
        let noexec = if has("noexec") { ", noexec: that is fine, nothing in it is executed" } else { "" };
        findings.push(Finding::ok(CHECK, format!("{at} is {}{noexec}", mount.kind)));
    } else {
        let change = "mount a tmpfs on /dev/shm, or set SILVERPOINT_DIR to a directory in a tmpfs";
        let network = ["nfs", "nfs4", "cifs", "9p", "fuse", "fuse.sshfs", "ceph"];
        findings.push(if network.contains(&mount.kind.as_str()) {
            Finding::fail(CHECK, format!("{at} is {}", mount.kind))
                .means("memory that two processes share needs a local file system")
                .change(change)
        } else {
            Finding::warn(CHECK, format!("{at} is {}, not tmpfs", mount.kind))
                .means("what is recorded is also written to the disk, and a tracepoint may wait for it")
                .change(change)
        });
    }
    findings
}

/// The place, or what is above it: it need not exist yet.
fn existing<'a>(system: &System, place: &'a Path) -> &'a Path {
    place.ancestors().find(|path| system.real(path).exists()).unwrap_or(Path::new("/"))
}

/// Free bytes in the file system of the sessions.
fn room(system: &System) -> Option<u64> {
    let place = chosen(system)?;
    system.space(existing(system, &place)).map(|space| space.free)
}

/// How much memory the rings of a program take, and how long a burst that is enough for.
pub fn rings(system: &System) -> Vec<Finding> {
    const CHECK: &str = "shm.rings";
    let Some(room) = room(system) else { return Vec::new() };
    let limits = Limits {
        memory: limits::memory_of_programs(system),
        room,
        addresses: limits::limit(system, "Max address space"),
        locked: limits::limit(system, "Max locked memory"),
    };
    let asked = system.environment.get("SILVERPOINT_MEMORY").map(|text| text.as_encoded_bytes());
    let asked = asked.and_then(memory::asked);
    let file_size = limits::limit(system, "Max file size");
    let bytes = memory::of_session(asked.unwrap_or_else(|| limits.default_memory()), file_size);
    let (burst, largest) = (memory::longest_burst(bytes), memory::largest_ring(bytes));
    let found = format!("the rings of a program take up to {}", show_bytes(bytes));
    if burst == largest {
        let means = format!(
            "a thread that records more than {} faster than it is collected waits: no further ring follows a full one",
            show_bytes(burst)
        );
        return vec![Finding::warn(CHECK, found).means(means).change("SILVERPOINT_MEMORY=32M")];
    }
    let why = if asked.is_none() && !limits.allow_many_addresses() {
        "; not more, because the address space or the memory that may be locked is limited"
    } else {
        ""
    };
    let means = format!("a burst of {} in one thread waits for nobody{why}", show_bytes(burst));
    vec![Finding::ok(CHECK, found).means(means)]
}

/// How much room there is.
pub fn space(system: &System) -> Vec<Finding> {
    const CHECK: &str = "shm.space";
    let Some(place) = chosen(system) else { return Vec::new() };
    let existing = existing(system, &place);
    let Some(space) = system.space(existing) else {
        return vec![
            Finding::warn(CHECK, format!("the free space in {} cannot be determined", existing.display()))
                .means("when there is none, programs lose records with the cause no_memory")
                .change(format!("df {}", existing.display())),
        ];
    };
    let found =
        format!("{} free of {} in {}", show_bytes(space.free), show_bytes(space.size), existing.display());
    let at = system.mount_of(&place).map_or("/dev/shm".to_owned(), |mount| mount.at.display().to_string());
    let change = format!(
        "mount -o remount,size=256M {at} (docker run --shm-size=256m), or remove dead sessions: silverpoint ls"
    );
    vec![if space.free < LEAST_ROOM {
        Finding::fail(CHECK, found)
            .means("a program finds no room for a session: it records nothing")
            .change(change)
    } else if space.free / SHARE_OF_ROOM < RINGS {
        let rings = show_bytes(space.free / SHARE_OF_ROOM);
        Finding::warn(CHECK, found)
            .means(format!("a program takes at most a quarter of the free room: its rings get {rings} instead of {}, so that it waits or loses sooner", show_bytes(RINGS)))
            .change(change)
    } else {
        Finding::ok(CHECK, found)
    }]
}
