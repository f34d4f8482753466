//! Reading what was recorded. The interface is `cpp/include/silverpoint/reader.h`.

use std::ffi::{CStr, OsStr, c_char, c_int, c_uint};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use silverpoint_read::{Batch, Node, OpenOptions, ReadError, Reader, Row, Span, State};

use crate::handler::CText;
use crate::{DONE, FAILED, INVALID, answer, guarded, text};

const NO_SESSION: c_int = -5;
const MORE: c_int = 1;
const WAITING: c_int = 2;

const ONLY: c_uint = 1;
const FOLLOW: c_uint = 2;
const UTC: c_uint = 4;

/// `silverpoint_reader` of reader.h.
pub struct CReader {
    reader: Mutex<Reader>,
    /// Messages that have not been asked for.
    messages: Mutex<std::vec::IntoIter<String>>,
}

impl CReader {
    /// A defect in one call is no reason to refuse the next.
    fn lock(&self) -> MutexGuard<'_, Reader> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Calls may come from any thread.
const _: fn() = || {
    fn is_sync<T: Send + Sync>() {}
    is_sync::<CReader>();
};

/// `silverpoint_value` of reader.h.
#[repr(C)]
pub struct CValue {
    name: CText,
    text: CText,
    bytes: CText,
    type_name: CText,
    unit: CText,
    bits: u64,
    kind: c_int,
    children: u32,
    size: u32,
    missing: u32,
}

/// `silverpoint_record` of reader.h.
#[repr(C)]
pub struct CRecord {
    number: u64,
    wall_ns: i64,
    duration_ns: i64,
    level: c_int,
    kind: c_int,
    pid: u32,
    tid: u32,
    line: u32,
    is_truncated: c_int,
    is_backtrace: c_int,
    process: CText,
    thread: CText,
    category: CText,
    file: CText,
    function: CText,
    template: CText,
    message: CText,
    arguments: *const CValue,
    fields: *const CValue,
    argument_count: u32,
    field_count: u32,
}

/// `silverpoint_records` of reader.h. The pointers are into the batch and the values, which are not touched while they stand.
#[derive(Default)]
pub struct CRecords {
    batch: Batch,
    values: Vec<CValue>,
    records: Vec<CRecord>,
}

impl CRecords {
    fn clear(&mut self) {
        self.records.clear();
        self.values.clear();
    }

    /// Makes records and values of what the batch holds.
    fn fill(&mut self) {
        self.clear();
        let text = |span: Span| CText::of(self.batch.text(span));
        let raw = |span: Span| CText::of_bytes(self.batch.bytes(span));
        self.values.extend(self.batch.nodes().iter().map(|node: &Node| CValue {
            name: text(node.name),
            text: text(node.text),
            bytes: raw(node.raw),
            type_name: text(node.type_name),
            unit: text(node.unit),
            bits: node.bits,
            kind: node.kind as c_int,
            children: node.children,
            size: node.size,
            missing: node.missing,
        }));
        let values = &self.values;
        self.records.extend(self.batch.rows().iter().map(|row: &Row| {
            let arguments = values.get(row.nodes..).unwrap_or_default();
            let skipped = (0..row.arguments)
                .try_fold(0, |at, _| arguments.get(at).map(|value: &CValue| at + value.size as usize));
            let fields = skipped.and_then(|at| arguments.get(at..)).unwrap_or_default();
            CRecord {
                number: row.number,
                wall_ns: row.wall_ns,
                duration_ns: row.duration_ns.and_then(|ns| i64::try_from(ns).ok()).unwrap_or(-1),
                level: row.level.into(),
                kind: row.kind.into(),
                pid: row.pid,
                tid: row.tid,
                line: row.line,
                is_truncated: row.is_truncated.into(),
                is_backtrace: row.is_backtrace.into(),
                process: text(row.process),
                thread: text(row.thread),
                category: text(row.category),
                file: text(row.file),
                function: text(row.function),
                template: text(row.template),
                message: text(row.message),
                arguments: arguments.as_ptr(),
                fields: fields.as_ptr(),
                argument_count: row.arguments,
                field_count: row.fields,
            }
        }));
    }
}

fn told(error: ReadError) -> (c_int, String) {
    let result = match error {
        ReadError::Usage(_) => INVALID,
        ReadError::NoSession(_) => NO_SESSION,
        ReadError::NotATraceFile(_) | ReadError::Failed(_) => FAILED,
    };
    (result, error.to_string())
}

/// Strings of C, as bytes: paths are not always text.
///
/// # Safety
/// `list` is null, or has `count` strings that end with a zero byte.
unsafe fn strings(list: *const *const c_char, count: usize) -> Option<Vec<Vec<u8>>> {
    if list.is_null() {
        return (count == 0).then(Vec::new);
    }
    // SAFETY: as the caller promises.
    let list = unsafe { std::slice::from_raw_parts(list, count) };
    // SAFETY: as the caller promises.
    let bytes = |text: &*const c_char| unsafe { CStr::from_ptr(*text) }.to_bytes().to_vec();
    list.iter().map(|text| (!text.is_null()).then(|| bytes(text))).collect()
}

/// Opens something, and gives it away: null where it fails.
///
/// # Safety
/// `opened` is null or may be written; `error` is null or has room for `error_size` bytes.
unsafe fn give(
    open: impl FnOnce() -> Result<Reader, ReadError>,
    opened: *mut *mut CReader,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let mut opened = unsafe { opened.as_mut() };
    if let Some(opened) = &mut opened {
        **opened = null_mut();
    }
    let call = || {
        let opened = opened.ok_or_else(|| told(no_pointer()))?;
        let reader = Mutex::new(open().map_err(told)?);
        *opened = Box::into_raw(Box::new(CReader { reader, messages: Mutex::default() }));
        Ok(DONE)
    };
    // SAFETY: as the caller promises.
    unsafe { answer(call, error, error_size) }
}

fn no_pointer() -> ReadError {
    ReadError::Usage("a null pointer".into())
}

/// See reader.h.
///
/// # Safety
/// `paths` has `count` strings that end with a zero byte. `reader` is null or may be written. `error` is null
/// or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_open(
    paths: *const *const c_char,
    count: usize,
    options: c_uint,
    reader: *mut *mut CReader,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let paths = unsafe { strings(paths, count) };
    let open = || {
        let paths = paths.ok_or_else(no_pointer)?;
        let paths: Vec<PathBuf> = paths.iter().map(|path| OsStr::from_bytes(path).into()).collect();
        let is = |option| options & option != 0;
        Reader::open(&paths, OpenOptions { only: is(ONLY), follow: is(FOLLOW), utc: is(UTC) })
    };
    // SAFETY: as the caller promises.
    unsafe { give(open, reader, error, error_size) }
}

/// See reader.h.
///
/// # Safety
/// `targets` has `count` strings that end with a zero byte. `reader` is null or may be written. `error` is
/// null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_live(
    targets: *const *const c_char,
    count: usize,
    options: c_uint,
    reader: *mut *mut CReader,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let targets = unsafe { strings(targets, count) };
    let open = || {
        let targets = targets.ok_or_else(no_pointer)?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let targets: Vec<String> = targets.into_iter().map(text).collect();
        Reader::live(&targets, options & UTC != 0)
    };
    // SAFETY: as the caller promises.
    unsafe { give(open, reader, error, error_size) }
}

/// See reader.h.
///
/// # Safety
/// `reader` is null, or comes from one of the functions that open, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_close(reader: *mut CReader) {
    if !reader.is_null() {
        // SAFETY: `give` made it of a box, and it is not used any more.
        let reader = unsafe { Box::from_raw(reader) };
        guarded(|| {
            drop(reader);
            DONE
        });
    }
}

/// The text of a filter; null: the empty one.
type Given = Option<Result<String, std::str::Utf8Error>>;

fn filter_of(given: Given) -> Result<String, (c_int, String)> {
    given.unwrap_or_else(|| Ok(String::new())).map_err(|error| (INVALID, format!("the filter: {error}")))
}

/// See reader.h.
///
/// # Safety
/// `filter` is null or ends with a zero byte; `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_filter_check(
    filter: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let filter = unsafe { text::given(filter) };
    let call = || Reader::check_filter(&filter_of(filter)?).map(|()| DONE).map_err(told);
    // SAFETY: as the caller promises.
    unsafe { answer(call, error, error_size) }
}

/// See reader.h.
///
/// # Safety
/// `reader` is null or an open one. `filter` is null or ends with a zero byte. `error` is null or has room
/// for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_filter(
    reader: *const CReader,
    filter: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let (reader, filter) = unsafe { (reader.as_ref(), text::given(filter)) };
    let call = || {
        let reader = reader.ok_or_else(|| told(no_pointer()))?;
        reader.lock().filter(&filter_of(filter)?).map_err(told)?;
        Ok(DONE)
    };
    // SAFETY: as the caller promises.
    unsafe { answer(call, error, error_size) }
}

/// See reader.h.
///
/// # Safety
/// `reader` is null or an open one; `count` is null or may be written; `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_grow(
    reader: *const CReader,
    most_ms: u64,
    count: *mut u64,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let (reader, count) = unsafe { (reader.as_ref(), count.as_mut()) };
    let call = || {
        let reader = reader.ok_or_else(|| told(no_pointer()))?;
        let growth = reader.lock().grow(Duration::from_millis(most_ms)).map_err(told)?;
        if let Some(count) = count {
            *count = growth.count;
        }
        Ok(match growth.state {
            State::More => MORE,
            State::Waiting => WAITING,
            State::Finished => DONE,
        })
    };
    // SAFETY: as the caller promises.
    unsafe { answer(call, error, error_size) }
}

/// See reader.h.
///
/// # Safety
/// `reader` is null or an open one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_count(reader: *const CReader) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { reader.as_ref() }.map_or(0, |reader| reader.lock().count())
}

/// See reader.h.
///
/// # Safety
/// `reader` is null or an open one; `text` is null or has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_message(
    reader: *const CReader,
    text: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let Some(reader) = (unsafe { reader.as_ref() }) else { return 0 };
    let mut messages = reader.messages.lock().unwrap_or_else(PoisonError::into_inner);
    let next = messages.next().or_else(|| {
        *messages = reader.lock().take_messages().into_iter();
        messages.next()
    });
    let Some(message) = next else { return 0 };
    // SAFETY: as the caller promises.
    unsafe { text::give(&message, text, size) };
    1
}

/// See reader.h.
#[unsafe(no_mangle)]
pub extern "C" fn silverpoint_records_new() -> *mut CRecords {
    Box::into_raw(Box::default())
}

/// See reader.h.
///
/// # Safety
/// `records` is null, or comes from `silverpoint_records_new`, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_records_free(records: *mut CRecords) {
    if !records.is_null() {
        // SAFETY: it was made of a box, and is not used any more.
        drop(unsafe { Box::from_raw(records) });
    }
}

/// See reader.h.
///
/// # Safety
/// `reader` is null or an open one. `records` is null or such, and no other thread uses it. `error` is null
/// or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_reader_read(
    reader: *const CReader,
    from: u64,
    most: usize,
    records: *mut CRecords,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    // SAFETY: as the caller promises.
    let (reader, records) = unsafe { (reader.as_ref(), records.as_mut()) };
    let call = || {
        let (Some(reader), Some(records)) = (reader, records) else { return Err(told(no_pointer())) };
        // Nothing refers to the batch's contents any more, in any case.
        records.clear();
        reader.lock().read(from, most, &mut records.batch).map_err(told)?;
        records.fill();
        Ok(DONE)
    };
    // SAFETY: as the caller promises.
    unsafe { answer(call, error, error_size) }
}

/// See reader.h.
///
/// # Safety
/// `records` is null or such.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_records_count(records: *const CRecords) -> usize {
    // SAFETY: as the caller promises.
    unsafe { records.as_ref() }.map_or(0, |records| records.records.len())
}

/// See reader.h.
///
/// # Safety
/// `records` is null or such.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn silverpoint_records_at(records: *const CRecords, index: usize) -> *const CRecord {
    // SAFETY: as the caller promises.
    let record = unsafe { records.as_ref() }.and_then(|records| records.records.get(index));
    record.map_or_else(null, std::ptr::from_ref)
}
