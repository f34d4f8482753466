//! Which tags are enabled, for which output; followed while the program runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use silverpoint::dynamic::{self, Place, Published};

use crate::marker::Marker;
use crate::properties::{self, environment};
use crate::tag::{NAMES, VALID};

/// Names a file to write to in place of `trace_marker`. Where it is not the kernel's, each message is a line of its own.
const MARKER_FILE: &str = "SILVERPOINT_ATRACE_MARKER";
const MARKERS: [&str; 2] = ["/sys/kernel/tracing/trace_marker", "/sys/kernel/debug/tracing/trace_marker"];

/// Tags that go into the ring; and, from bit [`TO_MARKER`] on, those that go to the kernel. One word, so that a call asks once.
static OUTPUTS: AtomicU64 = AtomicU64::new(UNKNOWN);
const TO_MARKER: u32 = 32;
/// Nobody has asked yet. (Set together with all tags, so that the first question takes the slow way.)
const UNKNOWN: u64 = 1 << 63 | VALID;

/// Where what has these tags goes.
#[derive(Clone, Copy)]
pub(crate) struct Outputs(u64);

impl Outputs {
    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    pub(crate) fn marker(self) -> bool {
        self.0 >> TO_MARKER != 0
    }

    #[inline(always)]
    pub(crate) fn ring(self) -> bool {
        self.0 as u32 != 0
    }
}

/// The outputs of these tags: a load and a comparison, where there are none.
#[inline(always)]
pub(crate) fn outputs(tags: u64) -> Outputs {
    let all = OUTPUTS.load(Ordering::Relaxed);
    let mask = (tags & VALID) | (tags & VALID) << TO_MARKER;
    if all & mask == 0 || all != UNKNOWN { Outputs(all & mask) } else { first(mask) }
}

/// Tags that are enabled.
pub(crate) fn enabled() -> u64 {
    let all = outputs(VALID).0;
    (all | all >> TO_MARKER) & VALID
}

#[cold]
#[inline(never)]
fn first(mask: u64) -> Outputs {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    let begin = || {
        read();
        if !BEGUN.swap(true, Ordering::AcqRel) {
            dynamic::on_change(update);
            if let Some(file) = file() {
                watch(file);
            }
            // What came in between.
            read();
        }
    };
    if dynamic::prepare(begin).is_none() {
        // The program's allocator, while this asks what is enabled.
        if ring_tags() & mask != 0 {
            dynamic::lose_nested();
        }
        return Outputs(0);
    }
    Outputs(OUTPUTS.load(Ordering::Relaxed) & mask)
}

/// The receivers of changes, in a list without a lock.
struct Tell {
    tell: fn(),
    next: Published<Tell>,
}
static TELL: Published<Tell> = Published::new();

/// Calls `tell` each time that the enabled tags have changed, in the thread that has noticed it. The same
/// function is called once, however often it is registered. For facades that remember what is off.
pub fn on_change(tell: fn()) {
    let _ = enabled();
    let mut place = &TELL;
    while let Some(known) = place.get_or(|| Tell { tell, next: Published::new() }) {
        if std::ptr::fn_addr_eq(known.tell, tell) {
            return;
        }
        place = &known.next;
    }
}

/// Reads properties and directives again. As the first call of all it begins to follow them, too.
pub(crate) fn update() {
    let _ = enabled();
    if read() {
        let mut place = TELL.get();
        while let Some(known) = place {
            (known.tell)();
            place = known.next.get();
        }
    }
}

/// True: other tags are enabled than before.
fn read() -> bool {
    static ASKED: AtomicU64 = AtomicU64::new(0);
    let mut asked = ASKED.fetch_add(1, Ordering::AcqRel) + 1;
    let mut is_changed = false;
    loop {
        let tags = properties::tags(file(), &properties::command());
        let marker = tags.filter(|tags| *tags != 0 && self::marker().is_some()).unwrap_or(0);
        // Where nobody has set a property, directives alone decide what goes into the ring.
        let ring = ring_tags() & tags.unwrap_or(VALID);
        let new = ring | marker << TO_MARKER;
        is_changed |= OUTPUTS.swap(new, Ordering::AcqRel) != new;
        // Another thread may have asked since, and stored what was newer.
        match ASKED.load(Ordering::Acquire) {
            now if now == asked => return is_changed,
            now => asked = now,
        }
    }
}

/// Whether a category may record, by the directives.
pub(crate) fn is_category_on(category: &str) -> bool {
    Place { level: crate::ring::LEVEL, line: 0, target: category, file: "" }.would_record()
}

/// Tags whose category may record, by the directives. All while the program feeds a system tracer: each name asks
/// for itself whether that wants it.
fn ring_tags() -> u64 {
    if dynamic::feeds_tracer() {
        return VALID;
    }
    NAMES.iter().filter(|(_, name)| is_category_on(name)).fold(0, |tags, (bit, _)| tags | 1 << bit)
}

/// The file of properties.
fn file() -> Option<&'static Path> {
    static FILE: Published<Option<PathBuf>> = Published::new();
    FILE.get_or(|| environment(properties::FILE).map(PathBuf::from))?.as_deref()
}

/// Opened when the first tag is enabled. `None`: this program may not, or there is none.
pub(crate) fn marker() -> Option<&'static Marker> {
    static MARKER: Published<Option<Marker>> = Published::new();
    let find = || match environment(MARKER_FILE) {
        Some(path) => Marker::open(path.as_ref()),
        None => MARKERS.iter().find_map(|path| Marker::open(path.as_ref())),
    };
    MARKER.get_or(find)?.as_ref()
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
    // Where there can be no thread, what was read stays. It takes no signals: those are the program's.
    let builder = thread::Builder::new().name("silverpoint".to_owned()).stack_size(256 << 10);
    let _ = dynamic::with_all_blocked(|| builder.spawn(follow));
}
