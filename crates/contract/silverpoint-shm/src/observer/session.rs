//! One session: its files, its life, its collector's fields.

use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, OnceLock};

use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::layout::control::{ANCHOR_CHECK, ANCHOR_ENTRY, HEADER_SIZE, at};
use silverpoint_wire::layout::{CAUSES, clock_source};

use super::files::{Access, read_exact, write_all};
use super::{ControlHeader, ObserveError, SessionName};
use crate::clock::{Source, anchor_now};
use crate::kept::KeptFd;
use crate::platform::ending::await_end;
use crate::platform::files::{self, AsDescriptor};
use crate::platform::inherited::NotInherited;
use crate::platform::leftover::Leftover;
use crate::platform::locks::{self, Lock};
use crate::platform::opened::{open_directory, open_file};
use crate::platform::process::is_of_this_start;
use crate::platform::root::Root;
use crate::platform::waiting::Words;

pub(super) const CONTROL: &str = "control file";
pub(super) const RINGS: &str = "ring file";
const OWNER: &str = "owner file";
pub(super) const COLLECTOR: &str = "collector file";

/// Byte of `collector` that the collector locks.
const COLLECT_BYTE: u64 = 0;
/// Byte of `collector` that the process which changes directives locks.
const CONTROL_BYTE: u64 = 1;
/// Anchors that are looked at.
const MAX_ANCHORS: u32 = 4096;

/// An opened session. Not for use from several threads at a time where methods change it; each call is a few system calls.
#[derive(Debug)]
pub struct ObservedSession {
    // Before the descriptors are closed.
    not_inherited: NotInherited,
    name: SessionName,
    directory: KeptFd,
    pub(super) control: KeptFd,
    pub(super) rings: KeptFd,
    owner: KeptFd,
    pub(super) collector: KeptFd,
    pub(super) header: ControlHeader,
    pub(super) control_map: OnceLock<Option<Arc<Words>>>,
    pub(super) rings_map: OnceLock<Option<Words>>,
    // After everything else is closed.
    leftover: Leftover,
}

/// The words of the control header that change (spec/wire.md, section 3.1), read together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counters {
    pub sites_next: u32,
    pub descs_next: u32,
    pub slabs_next: u32,
    pub streams_next: u32,
    pub copies_joined: u32,
    pub anchors_next: u32,
    pub session_losses: [u64; CAUSES],
    pub doorbell: u32,
    pub generation: u32,
    pub directives_len: u32,
    pub collector_pid: u32,
    pub collector_sleeping: u32,
    pub heartbeat: u64,
    pub collector_state: u32,
    pub block_max_ms: u32,
    pub policy: [u8; 8],
}

/// A child that is forked while a session is dropped may have the description by then: so its lock is
/// released first. (A child that has its parent's by a bare system call releases nothing.)
impl Drop for ObservedSession {
    fn drop(&mut self) {
        if self.not_inherited.is_own() && self.collector.is_intact() {
            let _ = self.unlock_collector();
        }
    }
}

impl ObservedSession {
    /// Opens a session of a root and checks everything that is constant in it.
    pub fn open(root: &Root, name: SessionName) -> Result<Self, ObserveError> {
        Self::open_for(root, name, Access::Write)
    }

    /// As [`Self::open`], for reading only: every change of the session fails.
    pub fn open_read_only(root: &Root, name: SessionName) -> Result<Self, ObserveError> {
        Self::open_for(root, name, Access::Read)
    }

    fn open_for(root: &Root, name: SessionName, access: Access) -> Result<Self, ObserveError> {
        let (directory, user) = open_directory(root.fd(), &name.to_string())?;
        let directory = KeptFd::new(directory);
        let open = |what, file: &str| {
            open_file(&directory, what, file, user, access).map(|(fd, len)| (KeptFd::new(fd), len))
        };
        let (control, control_len) = open(CONTROL, "control")?;
        let (rings, rings_len) = open(RINGS, "rings")?;
        let (owner, _) = open(OWNER, "owner")?;
        let (collector, _) = open(COLLECTOR, "collector")?;
        // At once, long before it is locked: another thread may fork at any moment.
        let not_inherited = match access {
            Access::Write => NotInherited::new(&collector, &directory),
            Access::Read => NotInherited::default(),
        };
        let mut bytes = [0; HEADER_SIZE];
        match read_exact(&control, CONTROL, &mut bytes, 0) {
            Err(ObserveError::Cut { .. }) => {
                return Err(ObserveError::refused("control header", "it is shorter than 4096 bytes"));
            }
            result => result?,
        }
        let header = ControlHeader::decode(&bytes, control_len, rings_len)?;
        Ok(Self {
            not_inherited,
            name,
            directory,
            control,
            rings,
            owner,
            collector,
            header,
            control_map: OnceLock::new(),
            rings_map: OnceLock::new(),
            leftover: Leftover::new(),
        })
    }

    /// Whether its descriptors still stand for its files: the program may have closed them, and opened others. Then it is to be dropped, which closes none of those, and opened again.
    pub fn is_intact(&self) -> bool {
        [&self.directory, &self.control, &self.rings, &self.owner, &self.collector]
            .into_iter()
            .all(KeptFd::is_intact)
    }

    /// Its name in the root.
    pub fn name(&self) -> SessionName {
        self.name
    }

    /// What it says about itself.
    pub fn header(&self) -> &ControlHeader {
        &self.header
    }

    /// Whether a process of the session still lives: it holds the owner lock (spec/wire.md, section 2).
    pub fn is_alive(&self) -> Result<bool, ObserveError> {
        is_locked(&self.owner, 0, OWNER)
    }

    /// As [`Self::is_alive`], for a successor: it waits for the end of a process that is about to end (module
    /// [`crate::ending`]).
    pub fn lives_on(&self) -> Result<bool, ObserveError> {
        if !self.is_alive()? {
            return Ok(false);
        }
        let has_ended = await_end(self.name.pid, self.name.start);
        Ok(!has_ended || self.is_alive()?)
    }

    /// Whether another collector has it.
    pub fn is_collected(&self) -> Result<bool, ObserveError> {
        is_locked(&self.collector, COLLECT_BYTE, COLLECTOR)
    }

    /// Becomes its collector, for as long as this value lives or until [`Self::unlock_collector`]. False: another is. A forked child does not become it, too.
    pub fn lock_collector(&self) -> Result<bool, ObserveError> {
        locks::try_lock(&self.collector, COLLECT_BYTE, Lock::Exclusive)
            .map_err(|e| ObserveError::io(COLLECTOR, e))
    }

    /// Gives the collector's lock back.
    pub fn unlock_collector(&self) -> Result<(), ObserveError> {
        locks::unlock(&self.collector, COLLECT_BYTE).map_err(|e| ObserveError::io(COLLECTOR, e))
    }

    /// Becomes its only controller (who writes directives). False: another is.
    pub(super) fn lock_control(&self) -> Result<bool, ObserveError> {
        locks::try_lock(&self.collector, CONTROL_BYTE, Lock::Exclusive)
            .map_err(|e| ObserveError::io(COLLECTOR, e))
    }

    pub(super) fn unlock_control(&self) -> Result<(), ObserveError> {
        locks::unlock(&self.collector, CONTROL_BYTE).map_err(|e| ObserveError::io(COLLECTOR, e))
    }

    /// All words that change, in one read.
    pub fn counters(&self) -> Result<Counters, ObserveError> {
        const FROM: usize = at::SITES_NEXT;
        const TO: usize = at::POLICY + 8;
        let mut bytes = [0; TO - FROM];
        read_exact(&self.control, CONTROL, &mut bytes, FROM as u64)?;
        let word = |at: usize| u32_at(&bytes, at - FROM).unwrap_or(0);
        let wide = |at: usize| u64_at(&bytes, at - FROM).unwrap_or(0);
        let mut policy = [0; 8];
        policy.copy_from_slice(&bytes[at::POLICY - FROM..]);
        Ok(Counters {
            sites_next: word(at::SITES_NEXT),
            descs_next: word(at::DESCS_NEXT),
            slabs_next: word(at::SLABS_NEXT),
            streams_next: word(at::STREAMS_NEXT),
            copies_joined: word(at::COPIES_JOINED),
            anchors_next: word(at::ANCHORS_NEXT),
            session_losses: std::array::from_fn(|cause| wide(at::SESSION_LOSSES + 8 * cause)),
            doorbell: word(at::DOORBELL),
            generation: word(at::GENERATION),
            directives_len: word(at::DIRECTIVES_LEN),
            collector_pid: word(at::COLLECTOR_PID),
            collector_sleeping: word(at::COLLECTOR_SLEEPING),
            heartbeat: wide(at::HEARTBEAT),
            collector_state: word(at::COLLECTOR_STATE),
            block_max_ms: word(at::BLOCK_MAX_MS),
            policy,
        })
    }

    /// The process text (spec/wire.md, section 3.6), as it is.
    pub fn process_text(&self) -> Result<Vec<u8>, ObserveError> {
        let mut text = vec![0; self.header.process_size as usize];
        read_exact(&self.control, CONTROL, &mut text, self.header.process_at)?;
        Ok(text)
    }

    /// The valid anchors that the program has made, in no order.
    pub fn anchors(&self) -> Result<Vec<Anchor>, ObserveError> {
        let mut bytes = vec![0; self.header.anchors_cap.min(MAX_ANCHORS) as usize * ANCHOR_ENTRY];
        read_exact(&self.control, CONTROL, &mut bytes, self.header.anchors_at)?;
        let words = |entry: &[u8]| std::array::from_fn(|i| u64_at(entry, 8 * i).unwrap_or(0));
        Ok(bytes
            .chunks_exact(ANCHOR_ENTRY)
            .map(words)
            .filter(|[ticks, monotonic_ns, wall_ns, check]: &[u64; 4]| {
                *check == ticks ^ monotonic_ns ^ wall_ns ^ ANCHOR_CHECK && *ticks != 0
            })
            .map(|[ticks, monotonic_ns, wall_ns, _]| Anchor { ticks, monotonic_ns, wall_ns })
            .collect())
    }

    /// An anchor of this moment in the session's clock. `None` when this machine (or this boot of it) does not have that clock.
    pub fn anchor_now(&self) -> Option<Anchor> {
        self.clock().map(anchor_now)
    }

    /// Now, in the session's clock; `None` as above.
    pub fn ticks_now(&self) -> Option<u64> {
        Some(self.clock()?.now())
    }

    /// Ticks a second as far as it is known: stated, or by the outermost of the program's anchors. 0: unknown.
    pub fn ticks_per_second(&self) -> u64 {
        if self.header.ticks_per_second != 0 || self.header.clock_source == clock_source::MONOTONIC {
            return self.header.ticks_per_second.max(1);
        }
        let mut anchors = self.anchors().unwrap_or_default();
        anchors.extend(self.anchor_now());
        let (Some(a), Some(b)) =
            (anchors.iter().min_by_key(|a| a.ticks), anchors.iter().max_by_key(|a| a.ticks))
        else {
            return 0;
        };
        let ns = b.monotonic_ns.saturating_sub(a.monotonic_ns);
        if ns < 1_000_000 {
            0
        } else {
            (u128::from(b.ticks - a.ticks) * 1_000_000_000 / u128::from(ns)) as u64
        }
    }

    fn clock(&self) -> Option<Source> {
        let is_alive = || self.is_alive().unwrap_or(false);
        is_of_this_start(&self.header.boot_id, is_alive)
            .then(|| Source::from_wire(self.header.clock_source))
            .flatten()
    }

    /// Says who collects. 0: nobody.
    pub fn set_collector_pid(&self, pid: u32) -> Result<(), ObserveError> {
        self.put(at::COLLECTOR_PID, &pid.to_le_bytes())
    }

    /// Says what the collector does ([`silverpoint_wire::layout::collector_state`]).
    pub fn set_collector_state(&self, state: u32) -> Result<(), ObserveError> {
        self.put(at::COLLECTOR_STATE, &state.to_le_bytes())
    }

    /// Says that the collector is there. To be called at least 5 times a second.
    pub fn set_heartbeat(&self, beats: u64) -> Result<(), ObserveError> {
        self.put(at::HEARTBEAT, &beats.to_le_bytes())
    }

    pub(super) fn put(&self, at: usize, bytes: &[u8]) -> Result<(), ObserveError> {
        write_all(&self.control, CONTROL, bytes, at as u64)
    }

    /// Bytes of memory or disk that the session uses.
    pub fn used_bytes(&self) -> u64 {
        let room = |fd| files::status(fd).map_or(0, |status| status.room);
        room(&self.control) + room(&self.rings)
    }

    /// When something was last entered into its directory (it was made): seconds since 1970.
    pub fn changed_seconds(&self) -> u64 {
        files::status(&self.directory).map_or(0, |status| status.changed_seconds)
    }

    /// Removes the session's files and directory, nothing else that may be there. The lock files go last: as long as they are there, others see that the
    /// session is taken. What is mapped or open stays usable.
    pub fn remove(&self, root: &Root) -> Result<(), ObserveError> {
        remove_files(root, self.name, &self.directory, &self.leftover)
    }

    /// Removes the rest of a session whose removal was interrupted by a kill. The control file is removed
    /// first, and no session begins without one. True: it is gone. A living one is left alone, even if parts
    /// are missing.
    pub fn finish_removal(root: &Root, name: SessionName) -> bool {
        let Ok((directory, user)) = open_directory(root.fd(), &name.to_string()) else { return false };
        let is_missing = |file: &str| {
            files::status_at(&directory, OsStr::new(file))
                .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let is_dead = || {
            open_file(&directory, OWNER, "owner", user, Access::Read).is_ok_and(|(owner, _)| {
                locks::is_locked_against(&owner, 0, Lock::Exclusive).is_ok_and(|locked| !locked)
            })
        };
        is_missing("control")
            && (is_missing("owner") || is_dead())
            && remove_files(root, name, &directory, &Leftover::new()).is_ok()
    }
}

/// Whether another process has a byte locked. Asked first, then judged: the program may close the descriptor
/// meanwhile, and another file with its number has no such lock.
fn is_locked(fd: &KeptFd, byte: u64, what: &'static str) -> Result<bool, ObserveError> {
    let is_locked =
        locks::is_locked_against(fd, byte, Lock::Exclusive).map_err(|e| ObserveError::io(what, e))?;
    if !is_locked && !fd.is_intact() {
        return Err(ObserveError::io(what, files::closed()));
    }
    Ok(is_locked)
}

fn remove_files(
    root: &Root,
    name: SessionName,
    directory: impl AsDescriptor,
    leftover: &Leftover,
) -> Result<(), ObserveError> {
    // The lock files last: as long as they are there, others see that the session is taken.
    for file in ["control", "rings", "collector", "owner"] {
        let _ = files::remove_at(&directory, OsStr::new(file));
    }
    let name = name.to_string();
    files::remove_directory_at(root.fd(), OsStr::new(&name))
        .or_else(|error| leftover.keep(root.fd(), OsStr::new(&name), error))
        .map_err(|error| ObserveError::io("session directory", error))
}
