//! Functions of the program's that are given records, unformatted.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;
use std::sync::{Mutex, PoisonError};

use silverpoint_logger::{Config, Event, Filter, Sink, What};

use crate::{DONE, INVALID, guarded, text};

/// As in logger.h.
pub(crate) type Call = unsafe extern "C" fn(event: *const CEvent, data: *mut c_void);

/// `silverpoint_text` of logger.h.
#[repr(C)]
pub(crate) struct CText {
    data: *const c_char,
    size: usize,
}

impl CText {
    fn of(text: &str) -> Self {
        Self { data: text.as_ptr().cast(), size: text.len() }
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
}

#[derive(Clone, Copy)]
struct Data(*mut c_void);

// SAFETY: it is the program's, which promises (logger.h) that its function may be called with it by another thread.
unsafe impl Send for Data {}

#[derive(Clone)]
struct Handler {
    category: String,
    record: String,
    call: Call,
    data: Data,
}

static HANDLERS: Mutex<Vec<Handler>> = Mutex::new(Vec::new());

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
        let mut handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner);
        handlers.push(Handler { category, record, call, data: Data(data) });
        DONE
    })
}

/// The configuration, and a sink for each handler.
pub(crate) fn add_to(mut config: Config) -> Config {
    let handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for handler in handlers {
        if !handler.record.is_empty() {
            if !config.record.is_empty() {
                config.record.push(',');
            }
            config.record.push_str(&handler.record);
        }
        let mut filter = Filter::default();
        if !handler.category.is_empty() {
            filter.categories.push(handler.category.clone());
        }
        config = config.sink(Sink::batch_handler(move |event| handler.give(event)).only(filter));
    }
    config
}

impl Handler {
    fn give(&self, event: Option<&Event<'_>>) {
        let Some(event) = event else {
            // SAFETY: as whoever added the handler promises.
            unsafe { (self.call)(null(), self.data.0) };
            return;
        };
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
        };
        // SAFETY: as whoever added the handler promises; what the event refers to lives until the return.
        unsafe { (self.call)(&raw const event, self.data.0) };
    }
}
