//! What a collector is asked to do.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use silverpoint_shm::observer::SessionName;
pub use silverpoint_wire::compression::Compression;

pub use crate::keep::kept::Backtrace;

/// How records are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// As they are in the ring: cheapest.
    #[default]
    Raw,
    /// Rewritten without loss (spec/file.md, section 3): a third to a half of the bytes, several times the work.
    Compact,
}

/// When the trace file is made durable against loss of power. The death of a process, any process, loses nothing in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// Left to the system.
    #[default]
    Never,
    /// When a file is rotated away or closed.
    OnClose,
    /// At least this often while something is written.
    Every(Duration),
    /// Before anything is released: producers wait for the disk.
    EachBatch,
}

/// What happens with a file that is there already. A file that is neither empty nor a trace file is never touched, unless [`OutputConfig::force`] says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Appends to it: for a collector that follows one that died.
    #[default]
    Continue,
    /// Puts a new file in its place.
    Replace,
    /// Refuses.
    Refuse,
}

/// The trace file. Rotation renames the current file `NAME.silver` to `NAME.N.silver` (N counts up; higher is
/// later) and begins a new `NAME.silver`. So the configured name is always the newest part.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// Where; relative paths are made absolute at once.
    pub path: PathBuf,
    /// What happens when it is there.
    pub existing: Existing,
    /// Replaces even a file that is not a trace file.
    pub force: bool,
    /// Nobody else writes it, for the caller has a lock that says so. Then a lock that a forked child of a dead collector still holds does not count.
    pub is_owned: bool,
    /// How records are stored.
    pub encoding: Encoding,
    /// How they are compressed then.
    pub compression: Compression,
    /// When it is made durable.
    pub fsync: Fsync,
    /// A new part begins when one has this many bytes. At least 64 KiB.
    pub rotate_bytes: Option<u64>,
    /// A new part begins when one is this old and not empty.
    pub rotate_after: Option<Duration>,
    /// The oldest parts are deleted when all together have more bytes. The current part is never deleted.
    pub quota_bytes: Option<u64>,
}

impl OutputConfig {
    /// Raw, not compressed, no rotation, no quota, continuing what is there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            existing: Existing::Continue,
            force: false,
            is_owned: false,
            encoding: Encoding::Raw,
            compression: Compression::None,
            fsync: Fsync::Never,
            rotate_bytes: None,
            rotate_after: None,
            quota_bytes: None,
        }
    }
}

/// Which sessions are collected, by name. Asked again whenever a root is looked through, so that it may change its mind about those not yet taken.
pub struct Filter(Box<dyn FnMut(SessionName) -> bool + Send>);

impl Filter {
    /// Every session.
    pub fn all() -> Self {
        Self(Box::new(|_| true))
    }

    /// The sessions of these processes.
    pub fn pids(pids: impl IntoIterator<Item = u32>) -> Self {
        let pids: HashSet<u32> = pids.into_iter().collect();
        Self(Box::new(move |name| pids.contains(&name.pid)))
    }

    /// The sessions that the function accepts.
    pub fn by(accept: impl FnMut(SessionName) -> bool + Send + 'static) -> Self {
        Self(Box::new(accept))
    }

    pub(crate) fn accepts(&mut self, name: SessionName) -> bool {
        (self.0)(name)
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filter")
    }
}

/// What attaching changes in a session; put back, byte for byte, when the collector leaves.
#[derive(Clone, Debug, Default)]
pub struct AttachMode {
    /// Directives (spec/directives.md) in force meanwhile.
    pub directives: Option<String>,
    /// Policy by level, trace to fatal (0 block, 1 drop, 2 overwrite).
    pub policy: Option<[u8; 6]>,
    /// Longest wait of a producer.
    pub block_max_ms: Option<u32>,
}

/// A collector's configuration.
#[derive(Debug)]
pub struct Config {
    /// Directories that hold sessions. Those that are missing are looked for again and again.
    pub roots: Vec<PathBuf>,
    /// Which sessions.
    pub filter: Filter,
    /// Where to.
    pub output: OutputConfig,
    /// For `attach`; `None` leaves the sessions' modes alone.
    pub attach: Option<AttachMode>,
    /// Records stay in the programs' rings until a bad one comes.
    pub backtrace: Option<Backtrace>,
    /// Whether directories of dead sessions are removed when everything in them is stored.
    pub remove_dead: bool,
    /// The memory of a session's next large ring is made in advance, at most a slab (1 MiB). So a thread that
    /// suddenly records much does not wait while its pages are made and cleared, the better part of a
    /// millisecond. Only for collectors of few sessions, such as a logger inside the process.
    pub is_eager: bool,
}

impl Config {
    /// All sessions of one root into one file; dead ones are removed when stored.
    pub fn new(root: impl Into<PathBuf>, output: OutputConfig) -> Self {
        Self {
            roots: vec![root.into()],
            filter: Filter::all(),
            output,
            attach: None,
            backtrace: None,
            remove_dead: true,
            is_eager: false,
        }
    }
}
