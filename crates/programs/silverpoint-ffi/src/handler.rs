//! Functions of the program's that are given records, unformatted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use silverpoint_logger::{Config, Event, Filter, ShowContext, Sink, What, text as text_lines};

use crate::{DONE, INVALID, guarded, text};

/// As in logger.h.
pub(crate) type Call = unsafe extern "C" fn(event: *const CEvent, data: *mut c_void);

/// `silverpoint_text` of logger.h.
#[repr(C)]
pub struct CText {
    data: *const c_char,
    size: usize,
}

impl CText {
    pub(crate) fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), size: bytes.len() }
    }
}

/// `silverpoint_event` of logger.h.
#[repr(C)]
pub(crate) struct CEvent {
    size: usize,
    wall_ns: i64,
    tid: u32,
    line: u32,
    level: c_int,
    kind: c_int,
    category: CText,
    file: CText,
    function: CText,
    thread: CText,
    template: CText,
    names: CText,
    signature: CText,
    args: *const u8,
    args_size: usize,
    context: CText,
    own: *const c_void,
}

#[derive(Clone, Copy)]
pub(crate) struct Data(pub(crate) *mut c_void);

// SAFETY: it is the program's, which promises (logger.h) that its function may be called with it by another thread.
unsafe impl Send for Data {}
// SAFETY: shared only to be handed on to that function.
unsafe impl Sync for Data {}

pub(crate) struct Handler {
    pub(crate) category: String,
    pub(crate) record: String,
    pub(crate) call: Call,
    pub(crate) data: Data,
    /// Of one that is given records before the tracepoints return (`synchronous`): whether it is there still.
    pub(crate) synchronous: Option<&'static AtomicBool>,
}

/// A list, the last added first. Handlers are added and never removed, without a lock. So a process may be
/// forked while another of its threads adds one, and the child has all that were added before.
struct Handlers(AtomicPtr<Added>);

struct Added {
    handler: Handler,
    before: *const Added,
}

static HANDLERS: Handlers = Handlers::new();

impl Handlers {
    const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    fn add(&self, handler: Handler) {
        let new = Box::into_raw(Box::new(Added { handler, before: null() }));
        let mut before = self.0.load(Ordering::Acquire);
        loop {
            // SAFETY: it comes from `into_raw` above, and nobody else has seen it.
            unsafe { (*new).before = before };
            match self.0.compare_exchange_weak(before, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => before = other,
            }
        }
    }

    /// In the order in which they were added.
    fn all(&self) -> Vec<&'static Handler> {
        let mut all = Vec::new();
        let mut next = self.0.load(Ordering::Acquire).cast_const();
        // SAFETY: null, or a box that was given up for good before it was put here, and is not changed since.
        while let Some(added) = unsafe { next.as_ref() } {
            all.push(&added.handler);
            next = added.before;
        }
        all.reverse();
        all
    }
}

/// See logger.h.
///
/// # Safety
/// `category` and `record` end with a zero byte; `call` may be called as logger.h says, as long as the process lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_add_handler(
    category: *const c_char,
    record: *const c_char,
    call: Option<Call>,
    data: *mut c_void,
) -> c_int {
    // SAFETY: as the caller promises.
    let (category, record) = unsafe { (text::given(category), text::given(record)) };
    guarded(|| {
        let (Some(Ok(category)), Some(Ok(record)), Some(call)) = (category, record, call) else {
            return INVALID;
        };
        let Ok(category) = silverpoint_logger::category(&category) else { return INVALID };
        HANDLERS.add(Handler { category, record, call, data: Data(data), synchronous: None });
        DONE
    })
}

/// Loggers that are started from now on know it.
pub(crate) fn add(handler: Handler) {
    HANDLERS.add(handler);
}

thread_local! {
    /// By their patterns.
    static WRITERS: RefCell<HashMap<String, text_lines::Writer>> = RefCell::new(HashMap::new());
}
/// Patterns whose writers are kept.
const WRITERS_MOST: usize = 64;
/// Of a pattern that is none.
const NO_PATTERN: usize = usize::MAX;

/// See logger.h.
///
/// # Safety
/// `event` is null, or was given to a handler that has not returned. `pattern` ends with a zero byte. `line`
/// is null or has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_event_line(
    event: *const CEvent,
    pattern: *const c_char,
    line: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: as the caller promises.
    let pattern = unsafe { text::given(pattern) };
    // SAFETY: as the caller promises; `give` made `own` of such a reference, which lives until the handler returns.
    let event = unsafe { event.as_ref().and_then(|event| event.own.cast::<Event<'_>>().as_ref()) };
    let (Some(Ok(pattern)), Some(event)) = (pattern, event) else { return NO_PATTERN };
    let written = catch_unwind(AssertUnwindSafe(|| line_of(event, pattern)));
    let Ok(Some(text)) = written else { return NO_PATTERN };
    if !line.is_null() {
        // SAFETY: there is room for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), line.cast::<u8>(), text.len().min(size)) };
    }
    text.len()
}

/// See logger.h.
///
/// # Safety
/// `template`, `signature` and `args` are null or have so many bytes; `out` is null or has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_format(
    template: CText,
    signature: CText,
    args: *const u8,
    args_size: usize,
    out: *mut c_char,
    size: usize,
) -> usize {
    let bytes = |data: *const u8, size: usize| match data.is_null() {
        true => &[][..],
        // SAFETY: as the caller promises.
        false => unsafe { std::slice::from_raw_parts(data, size) },
    };
    let template = String::from_utf8_lossy(bytes(template.data.cast(), template.size));
    let signature = String::from_utf8_lossy(bytes(signature.data.cast(), signature.size));
    let args = bytes(args, args_size);
    let made = catch_unwind(AssertUnwindSafe(|| silverpoint_logger::message(&template, &signature, args)));
    let text = made.unwrap_or_default();
    if !out.is_null() {
        // SAFETY: there is room for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast::<u8>(), text.len().min(size)) };
    }
    text.len()
}

/// Without its end; `None`: it is no pattern.
fn line_of(event: &Event<'_>, pattern: String) -> Option<String> {
    WRITERS.with_borrow_mut(|writers| {
        if writers.len() > WRITERS_MOST {
            writers.clear();
        }
        let writer = match writers.entry(pattern) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let parsed = text_lines::Pattern::parse(entry.key()).ok()?;
                let options = text_lines::Options { pattern: Some(parsed), ..text_lines::Options::default() };
                entry.insert(text_lines::Writer::of_pattern(&options))
            }
        };
        let mut line = String::new();
        writer.line(&mut line, event);
        if line.ends_with('\n') {
            line.pop();
        }
        Some(line)
    })
}

/// The configuration, with what is recorded for each handler, and a sink for each that has its records from one.
pub(crate) fn add_to(mut config: Config) -> Config {
    for handler in HANDLERS.all() {
        if handler.synchronous.is_some_and(|is_there| !is_there.load(Ordering::Relaxed)) {
            continue;
        }
        config = config.record_also(&handler.record);
        if handler.synchronous.is_some() {
            continue;
        }
        let mut filter = Filter::default();
        if !handler.category.is_empty() {
            filter.categories.push(handler.category.clone());
        }
        let give = move |event: Option<&Event<'_>>| match event {
            Some(event) => give(handler.call, handler.data, event),
            // SAFETY: as promised when the handler was added.
            None => unsafe { (handler.call)(null(), handler.data.0) },
        };
        config = config.sink(Sink::batch_handler(give).only(filter));
    }
    config
}

/// Calls the function with an event, if it is a record's.
pub(crate) fn give(call: Call, data: Data, event: &Event<'_>) {
    let What::Record { site, args, .. } = event.what else { return };
    let described = &site.description;
    let event = CEvent {
        size: size_of::<CEvent>(),
        wall_ns: event.wall_ns,
        tid: event.tid,
        line: described.line,
        level: described.level as c_int,
        kind: described.kind as c_int,
        category: CText::of(&described.category),
        file: CText::of(&described.file),
        function: CText::of(&described.function),
        thread: CText::of(event.thread_name),
        template: CText::of(&described.template),
        names: CText::of(&described.names),
        signature: CText::of(&described.signature),
        args: args.as_ptr(),
        args_size: args.len(),
        context: CText::of(event.context.map_or("", |context| context.json())),
        own: std::ptr::from_ref(event).cast(),
    };
    // SAFETY: as promised when the handler was added; what the event refers to lives until the return.
    unsafe { call(&raw const event, data.0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn ignore(_: *const CEvent, _: *mut c_void) {}

    fn handler(category: String) -> Handler {
        let record = String::new();
        Handler { category, record, call: ignore, data: Data(null_mut()), synchronous: None }
    }

    #[test]
    fn all_that_are_added_are_there_in_the_order_of_each_thread() {
        static ADDED: Handlers = Handlers::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for number in 0..500 {
                        ADDED.add(handler(format!("{thread} {number}")));
                    }
                });
            }
        });
        let all = ADDED.all();
        assert_eq!(all.len(), 2000);
        for thread in 0..4 {
            let own = format!("{thread} ");
            let own: Vec<&str> =
                all.iter().filter_map(|handler| handler.category.strip_prefix(&own)).collect();
            let expected: Vec<String> = (0..500).map(|number| number.to_string()).collect();
            assert_eq!(own, expected, "{thread}");
        }
    }

    /// A lock that another thread holds at the fork would be held in the child for ever.
    #[test]
    fn a_forked_child_adds_handlers_whatever_other_threads_do() {
        static ADDED: Handlers = Handlers::new();
        static IS_OVER: AtomicBool = AtomicBool::new(false);
        let adding = std::thread::spawn(|| {
            while !IS_OVER.load(Ordering::Relaxed) && ADDED.all().len() < 20_000 {
                ADDED.add(handler(String::new()));
            }
        });
        for _ in 0..100 {
            // SAFETY: the child adds one, and ends without returning from here.
            let child = unsafe { libc::fork() };
            assert!(child >= 0, "fork");
            if child == 0 {
                ADDED.add(handler("child".into()));
                let has_it = ADDED.all().last().is_some_and(|last| last.category == "child");
                // SAFETY: it ends the process.
                unsafe { libc::_exit(i32::from(!has_it)) };
            }
            let mut status = 0;
            // SAFETY: the child is this test's, and nobody else waits for it.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!((waited, status), (child, 0));
        }
        IS_OVER.store(true, Ordering::Relaxed);
        adding.join().unwrap();
        assert!(ADDED.all().iter().all(|handler| handler.category.is_empty()), "the children's are theirs");
    }
}
