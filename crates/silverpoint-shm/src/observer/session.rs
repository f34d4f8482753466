//! An opened session.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use silverpoint_wire::bytes::{u32_at, u64_at};
use silverpoint_wire::clock::Anchor;
use silverpoint_wire::layout::control::{ANCHOR_CHECK, ANCHOR_ENTRY, HEADER_SIZE, at};
use silverpoint_wire::layout::{CAUSES, site, site_entry};

use super::doorbell::FutexMap;
use super::error::{ObserveError, ObserveErrorKind};
use super::header::Header;
use super::name::SessionName;
use crate::ofd::{self, Lock};
use crate::root::Root;

/// A session seen from outside. All calls are by descriptor: renaming or replacing the directory changes nothing.
pub struct ObservedSession {
    name: SessionName,
    path: PathBuf,
    pub(super) control: File,
    pub(super) rings: File,
    owner: File,
    pub(super) collector: File,
    header: Header,
    pub(super) control_map: FutexMap,
    pub(super) rings_map: FutexMap,
}

impl ObservedSession {
    /// Opens a session of this root. Everything in it must be a regular file of the root's owner with one name and no access for others.
    pub fn open(root: &Root, name: SessionName) -> Result<ObservedSession, ObserveError> {
        let path = root.path().join(name.to_string());
        let fail = |kind| ObserveError::new(&path, kind);
        let root_uid = rustix::fs::fstat(root.fd()).map_err(|e| fail(ObserveErrorKind::Io(e.into())))?.st_uid;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(root.fd(), name.to_string(), flags, Mode::empty()).map_err(|error| {
            fail(match error {
                rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP => ObserveErrorKind::Type,
                other => ObserveErrorKind::Io(other.into()),
            })
        })?;
        let stat = rustix::fs::fstat(&dir).map_err(|e| fail(ObserveErrorKind::Io(e.into())))?;
        check_owner(stat.st_uid, stat.st_mode, root_uid).map_err(fail)?;
        let open = |file: &str| open_file(&dir, &path, file, root_uid);
        let control = open("control")?;
        let control_path = path.join("control");
        let io_error = |e: io::Error| ObserveError::new(&control_path, ObserveErrorKind::Io(e));
        let size = control.metadata().map_err(io_error)?.len();
        let mut bytes = [0; HEADER_SIZE];
        read_exact(&control, &control_path, &mut bytes, 0)?;
        let header = Header::decode(&bytes, size).map_err(|kind| ObserveError::new(&control_path, kind))?;
        let rings = open("rings")?;
        let rings_size = rings
            .metadata()
            .map_err(|e| ObserveError::new(path.join("rings"), ObserveErrorKind::Io(e)))?
            .len();
        if rings_size < header.rings_size {
            return Err(ObserveError::new(path.join("rings"), ObserveErrorKind::Shrunk(header.rings_size)));
        }
        Ok(ObservedSession {
            name,
            control_map: FutexMap::new(&control, HEADER_SIZE),
            rings_map: FutexMap::new(&rings, usize::try_from(header.rings_size).unwrap_or(0)),
            owner: open("owner")?,
            collector: open("collector")?,
            path,
            control,
            rings,
            header,
        })
    }

    /// The name of its directory.
    pub fn name(&self) -> SessionName {
        self.name
    }

    /// The path of its directory, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checked header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the process image that made it still lives.
    pub fn is_alive(&self) -> bool {
        // An unreadable lock is taken as life: nothing of a living process must be removed.
        ofd::is_locked_against(self.owner.as_fd(), 0, Lock::Exclusive).unwrap_or(true)
    }

    /// Takes the lock of the one collector; it ends with this object or its process.
    pub fn lock_collector(&self) -> Result<(), ObserveError> {
        match ofd::try_lock(self.collector.as_fd(), 0, Lock::Exclusive) {
            Ok(true) => Ok(()),
            Ok(false) => {
                Err(self
                    .fail("collector", ObserveErrorKind::Locked("the session is being collected already")))
            }
            Err(error) => Err(self.fail("collector", ObserveErrorKind::Io(error))),
        }
    }

    /// Gives the collector's lock back.
    pub fn unlock_collector(&self) {
        let _ = ofd::unlock(self.collector.as_fd(), 0);
    }

    /// Whether somebody (else) collects.
    pub fn is_collected(&self) -> bool {
        ofd::is_locked_against(self.collector.as_fd(), 0, Lock::Exclusive).unwrap_or(false)
    }

    /// The process text (spec/wire.md section 3.6).
    pub fn process_text(&self) -> Result<Vec<u8>, ObserveError> {
        let mut text = vec![0; self.header.process_size as usize];
        self.read_control(&mut text, self.header.process_at)?;
        // The region may be larger than the text.
        let len = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        text.truncate(len);
        Ok(text)
    }

    /// Anchors that are whole.
    pub fn anchors(&self) -> Result<Vec<Anchor>, ObserveError> {
        let claimed = self.control_u32(at::ANCHORS_NEXT)?.min(self.header.anchors_cap) as usize;
        let mut bytes = vec![0; claimed * ANCHOR_ENTRY];
        self.read_control(&mut bytes, self.header.anchors_at)?;
        let anchors = bytes.chunks_exact(ANCHOR_ENTRY).filter_map(|entry| {
            let anchor = Anchor {
                ticks: u64_at(entry, 0)?,
                monotonic_ns: u64_at(entry, 8)?,
                wall_ns: u64_at(entry, 16)?,
            };
            let check = anchor.ticks ^ anchor.monotonic_ns ^ anchor.wall_ns ^ ANCHOR_CHECK;
            (u64_at(entry, 24)? == check).then_some(anchor)
        });
        Ok(anchors.collect())
    }

    /// Sites ever claimed.
    pub fn site_count(&self) -> Result<u32, ObserveError> {
        Ok(self.control_u32(at::SITES_NEXT)?.min(self.header.sites_cap))
    }

    /// Streams ever begun: 0 when nothing was ever recorded.
    pub fn stream_count(&self) -> Result<u32, ObserveError> {
        self.control_u32(at::STREAMS_NEXT)
    }

    /// The bytes of a site's description and whether it is complete; `None` while there is none. The bytes are bounded, not checked otherwise.
    pub fn site(&self, id: u32) -> Result<Option<(Vec<u8>, bool)>, ObserveError> {
        let Some(entry) = id.checked_sub(site_entry::FIRST_ID).filter(|entry| *entry < self.header.sites_cap)
        else {
            return Ok(None);
        };
        let mut bytes = [0; site_entry::SIZE];
        self.read_control(&mut bytes, self.header.sites_at + u64::from(entry) * site_entry::SIZE as u64)?;
        let stage = u32_at(&bytes, site_entry::STAGE).unwrap_or(0);
        let (field, complete) = match stage {
            site_entry::LOCATED => (site_entry::LOCATION_AT, false),
            site_entry::COMPLETE => (site_entry::BODY_AT, true),
            _ => return Ok(None),
        };
        let offset = u64::from(u32_at(&bytes, field).unwrap_or(0)) * 8;
        if offset + site::FIXED_SIZE as u64 > self.header.descs_size {
            return Ok(None);
        }
        let mut word = [0; 4];
        self.read_control(&mut word, self.header.descs_at + offset)?;
        let size = u32::from_le_bytes(word) as usize;
        if !(site::FIXED_SIZE..=site::SIZE_MAX).contains(&size)
            || offset + size as u64 > self.header.descs_size
        {
            return Ok(None);
        }
        let mut description = vec![0; size];
        self.read_control(&mut description, self.header.descs_at + offset)?;
        Ok(Some((description, complete)))
    }

    /// Losses of records that had no ring, by cause.
    pub fn session_losses(&self) -> Result<[u64; CAUSES], ObserveError> {
        let mut bytes = [0; 8 * CAUSES];
        self.read_control(&mut bytes, at::SESSION_LOSSES as u64)?;
        let mut losses = [0; CAUSES];
        for (i, loss) in losses.iter_mut().enumerate() {
            *loss = u64_at(&bytes, 8 * i).unwrap_or(0);
        }
        Ok(losses)
    }

    /// Removes the session's files and directory. The caller made sure that its process is dead and nothing in it is needed.
    pub fn remove(&self, root: &Root) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::openat(root.fd(), self.name.to_string(), flags, Mode::empty())?;
        for file in ["rings", "control", "collector", "owner"] {
            match rustix::fs::unlinkat(&dir, file, AtFlags::empty()) {
                Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(rustix::fs::unlinkat(root.fd(), self.name.to_string(), AtFlags::REMOVEDIR)?)
    }

    pub(super) fn fail(&self, file: &str, kind: ObserveErrorKind) -> ObserveError {
        ObserveError::new(self.path.join(file), kind)
    }

    pub(super) fn read_control(&self, buffer: &mut [u8], offset: u64) -> Result<(), ObserveError> {
        read_exact(&self.control, &self.path.join("control"), buffer, offset)
    }

    pub(super) fn write_control(&self, bytes: &[u8], offset: u64) -> Result<(), ObserveError> {
        self.control.write_all_at(bytes, offset).map_err(|e| self.fail("control", ObserveErrorKind::Io(e)))
    }

    pub(super) fn control_u32(&self, at: usize) -> Result<u32, ObserveError> {
        let mut word = [0; 4];
        self.read_control(&mut word, at as u64)?;
        Ok(u32::from_le_bytes(word))
    }
}

pub(super) fn read_exact(
    file: &File,
    path: &Path,
    buffer: &mut [u8],
    offset: u64,
) -> Result<(), ObserveError> {
    file.read_exact_at(buffer, offset).map_err(|error| {
        let kind = if error.kind() == io::ErrorKind::UnexpectedEof {
            ObserveErrorKind::Shrunk(offset + buffer.len() as u64)
        } else {
            ObserveErrorKind::Io(error)
        };
        ObserveError::new(path, kind)
    })
}

fn check_owner(uid: u32, mode: u32, root_uid: u32) -> Result<(), ObserveErrorKind> {
    if uid != root_uid {
        return Err(ObserveErrorKind::Owner(uid));
    }
    if mode & 0o077 != 0 { Err(ObserveErrorKind::Door) } else { Ok(()) }
}

fn open_file(dir: &OwnedFd, path: &Path, file: &str, root_uid: u32) -> Result<File, ObserveError> {
    let fail = |kind| ObserveError::new(path.join(file), kind);
    // Looked at before it is opened: opening a device or a FIFO may do something.
    let before = rustix::fs::statat(dir, file, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|e| fail(ObserveErrorKind::Io(e.into())))?;
    if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
        return Err(fail(ObserveErrorKind::Type));
    }
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, file, flags, Mode::empty())
        .map_err(|e| fail(ObserveErrorKind::Io(e.into())))?;
    let stat = rustix::fs::fstat(&fd).map_err(|e| fail(ObserveErrorKind::Io(e.into())))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(fail(ObserveErrorKind::Type));
    }
    check_owner(stat.st_uid, stat.st_mode, root_uid).map_err(fail)?;
    if stat.st_nlink != 1 {
        return Err(fail(ObserveErrorKind::Door));
    }
    Ok(File::from(fd))
}
