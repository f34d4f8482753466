//! Which tags are enabled, for which output; followed while the program runs.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{env, thread};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{Mode, OFlags};
use silverpoint::dynamic::{self, Place};

use crate::properties::{self, Properties};
use crate::tag::{NAMES, VALID};

/// Names a file that stands for `trace_marker`: each message is then a line of its own.
const MARKER_FILE: &str = "SILVERPOINT_ATRACE_MARKER";
const MARKERS: [&str; 2] = ["/sys/kernel/tracing/trace_marker", "/sys/kernel/debug/tracing/trace_marker"];

/// Nobody has asked yet. (Set together with all tags, so that the first question takes the slow way.)
const UNKNOWN: u64 = 1 << 63 | VALID;

/// Tags that have any output.
static ENABLED: AtomicU64 = AtomicU64::new(UNKNOWN);
/// Tags that go to the kernel.
static MARKER: AtomicU64 = AtomicU64::new(0);
/// Tags that go into the ring.
static RING: AtomicU64 = AtomicU64::new(0);

/// Whether any of these tags is enabled: a load and a comparison.
#[inline(always)]
pub(crate) fn is_enabled(tags: u64) -> bool {
    let enabled = ENABLED.load(Ordering::Relaxed);
    enabled & tags != 0 && (enabled != UNKNOWN || first(tags))
}

/// Tags that are enabled.
pub(crate) fn enabled() -> u64 {
    let _ = is_enabled(VALID);
    ENABLED.load(Ordering::Relaxed) & VALID
}

#[inline(always)]
pub(crate) fn to_marker(tags: u64) -> bool {
    MARKER.load(Ordering::Relaxed) & tags != 0
}

#[inline(always)]
pub(crate) fn to_ring(tags: u64) -> bool {
    RING.load(Ordering::Relaxed) & tags != 0
}

#[cold]
#[inline(never)]
fn first(tags: u64) -> bool {
    static BEGUN: OnceLock<()> = OnceLock::new();
    BEGUN.get_or_init(|| {
        update();
        dynamic::on_change(update);
        if let Some(file) = file() {
            watch(file);
        }
        // What came in between.
        update();
    });
    ENABLED.load(Ordering::Relaxed) & tags != 0
}

/// Reads properties and directives again.
pub(crate) fn update() {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let properties = Properties::read(file());
    let tags = properties.as_ref().map(|properties| properties.tags(&properties::command()));
    let marker = tags.filter(|tags| *tags != 0 && self::marker().is_some()).unwrap_or(0);
    // Where nobody has set a property, directives alone decide what goes into the ring.
    let ring = ring_tags() & tags.unwrap_or(VALID);
    MARKER.store(marker, Ordering::Relaxed);
    RING.store(ring, Ordering::Relaxed);
    ENABLED.store(marker | ring, Ordering::Release);
}

/// Tags whose category may record, by the directives.
fn ring_tags() -> u64 {
    let is_on =
        |category| Place { level: crate::ring::LEVEL, line: 0, target: category, file: "" }.would_record();
    NAMES.iter().filter(|(_, name)| is_on(name)).fold(0, |tags, (bit, _)| tags | 1 << bit)
}

/// What the environment says; nothing in a program with more privileges than its caller.
fn environment(name: &str) -> Option<OsString> {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    let is_privileged = getuid() != geteuid() || getgid() != getegid();
    env::var_os(name).filter(|value| !is_privileged && !value.is_empty())
}

/// The file of properties.
fn file() -> Option<&'static Path> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    FILE.get_or_init(|| environment(properties::FILE).map(PathBuf::from)).as_deref()
}

/// Where messages for the kernel go.
pub(crate) struct Marker {
    pub(crate) file: OwnedFd,
    /// Each message ends with a newline.
    pub(crate) is_file: bool,
}

/// Opened when the first tag is enabled. `None`: this program may not, or there is none.
pub(crate) fn marker() -> Option<&'static Marker> {
    static MARKER: OnceLock<Option<Marker>> = OnceLock::new();
    let open = |path: &Path, is_file| {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::APPEND | OFlags::NONBLOCK;
        let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        Some(Marker { file, is_file })
    };
    let find = || match environment(MARKER_FILE) {
        Some(path) => open(path.as_ref(), true),
        None => MARKERS.iter().find_map(|path| open(path.as_ref(), false)),
    };
    MARKER.get_or_init(find).as_ref()
}

/// Follows the file of properties: its directory, so that it may come later or be replaced. A thread that sleeps.
fn watch(file: &'static Path) {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(events) = inotify::init(CreateFlags::CLOEXEC) else { return };
    let what = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::DELETE | WatchFlags::MOVED_FROM;
    if inotify::add_watch(&events, directory, what).is_err() {
        return;
    }
    let follow = move || {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&events, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let concerns = |name: &std::ffi::CStr| {
                        file.file_name().is_some_and(|file| file.as_encoded_bytes() == name.to_bytes())
                    };
                    if event.file_name().is_none_or(concerns) {
                        update();
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    };
    // Where there can be no thread, what was read stays.
    let _ = thread::Builder::new().name("silverpoint".to_owned()).stack_size(256 << 10).spawn(follow);
}
