//! Ways in which the program's own code leaves a tracepoint, for the tests of every entry point. The recorded
//! value does something when it is formatted.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What a value does while it is formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is formatted, and counts how often.
    Plain,
    /// It panics, in the middle of its text.
    Panic,
    /// Formatted a second time it panics, as what was consumed does.
    Twice,
    /// It panics when its writer says that something was cut.
    Strict,
    /// It records something itself, and that value too, and so on.
    Record(u32),
    /// A signal comes, whose handler records.
    Signal,
    /// The process forks, and both go on.
    Fork,
    /// The thread ends: what is open is unwound by the C library.
    Exit,
}

/// A value that is formatted once. With `size` bytes of text.
pub struct Acting<'r> {
    pub way: Way,
    pub size: usize,
    pub record: &'r dyn Fn(&Acting<'_>),
    pub formatted: Cell<u32>,
}

impl<'r> Acting<'r> {
    pub fn new(way: Way, size: usize, record: &'r dyn Fn(&Acting<'_>)) -> Self {
        Self { way, size, record, formatted: Cell::new(0) }
    }
}

unsafe extern "C-unwind" {
    fn pthread_exit(value: *mut libc::c_void) -> !;
    fn pthread_create(
        thread: *mut libc::pthread_t,
        attributes: *const libc::pthread_attr_t,
        start: extern "C-unwind" fn(*mut libc::c_void) -> *mut libc::c_void,
        argument: *mut libc::c_void,
    ) -> libc::c_int;
}

impl fmt::Display for Acting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.formatted.set(self.formatted.get() + 1);
        let half = "x".repeat(self.size / 2);
        f.write_str(&half)?;
        match self.way {
            Way::Plain => {}
            Way::Panic => panic!("within a value"),
            Way::Twice => assert_eq!(self.formatted.get(), 1, "formatted again"),
            Way::Strict => {
                write!(f, "{half}").expect("a formatter of ours accepts everything");
                return f.write_str("y");
            }
            Way::Record(0) => {}
            Way::Record(depth) => (self.record)(&Acting::new(Way::Record(depth - 1), self.size, self.record)),
            // SAFETY: the handler was installed by `with_signal`.
            Way::Signal => unsafe { _ = libc::raise(libc::SIGUSR1) },
            // SAFETY: nothing of the parent's other threads is used in the child.
            Way::Fork => unsafe { _ = libc::fork() },
            // SAFETY: nothing in between forbids that it is unwound.
            Way::Exit => unsafe { pthread_exit(std::ptr::null_mut()) },
        }
        f.write_str(&half)
    }
}

impl fmt::Debug for Acting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Acting<'_> {}

/// Runs with a handler of SIGUSR1 that calls this.
pub fn with_signal(record: fn(), run: impl FnOnce()) {
    static RECORD: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
    extern "C" fn handle(_: libc::c_int) {
        // SAFETY: stored below, of this type.
        let record: fn() = unsafe { std::mem::transmute(RECORD.load(Ordering::Acquire)) };
        record();
    }
    RECORD.store(record as *mut (), Ordering::Release);
    // SAFETY: the action is whole before it is given.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
    run();
}

/// Runs in a thread that may be ended by `pthread_exit`.
pub fn in_thread(run: fn()) {
    extern "C-unwind" fn begin(argument: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: given below, of this type.
        let run: fn() = unsafe { std::mem::transmute(argument) };
        run();
        std::ptr::null_mut()
    }
    // SAFETY: the thread is joined before this returns.
    unsafe {
        let mut thread = std::mem::zeroed();
        let started = pthread_create(&raw mut thread, std::ptr::null(), begin, run as *mut libc::c_void);
        assert_eq!(started, 0);
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
    }
}

/// Sizes of texts: of few bytes, of more than the stack has room for, of more than a record takes.
pub const SIZES: [usize; 4] = [20, 2000, 100_000, 600_000];
/// Records that were lost in [`all`], each as it unwound.
pub const LOST: u64 = 4;

/// All ways out but the end of a thread, with values of every size. `record` makes one record of the value,
/// whose number identifies it. After that there are 10,000 more, so that the ring's limits are reached. The
/// child of the fork ends in here.
pub fn all(record: &dyn Fn(&Acting<'_>), signalled: fn()) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for size in SIZES {
        for way in [Way::Plain, Way::Twice, Way::Strict] {
            let value = Acting::new(way, size, record);
            record(&value);
            assert_eq!(value.formatted.get(), 1, "{way:?} {size}");
        }
        let value = Acting::new(Way::Panic, size, record);
        assert!(catch_unwind(AssertUnwindSafe(|| record(&value))).is_err());
        assert_eq!(value.formatted.get(), 1, "{size}");
    }
    std::panic::set_hook(hook);
    record(&Acting::new(Way::Record(10), 20, record));
    with_signal(signalled, || record(&Acting::new(Way::Signal, 20, record)));
    for n in 0..10_000 {
        let value = Acting::new(Way::Twice, n % 300, record);
        record(&value);
        assert_eq!(value.formatted.get(), 1, "{n}");
    }
    let parent = std::process::id();
    record(&Acting::new(Way::Fork, 40, record));
    record(&Acting::new(Way::Plain, 50, record));
    if std::process::id() != parent {
        // SAFETY: nothing of it is needed any more.
        unsafe { libc::_exit(0) };
    }
    let mut status = -1;
    // SAFETY: the only child.
    assert!(unsafe { libc::wait(&raw mut status) } > 0 && status == 0, "the child: {status:#x}");
}

/// Lengths of the texts that [`all`] records, in order, as far as they are whole. 0 is what the signal's handler has recorded.
pub fn lengths() -> Vec<usize> {
    let mut lengths = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= 200_000) {
        lengths.extend([size, size, size + 1]);
    }
    lengths.extend([20; 11]);
    lengths.extend([0, 20]);
    lengths.extend((0..10_000).map(|n| n % 300 / 2 * 2));
    lengths.extend([40, 50]);
    lengths
}
