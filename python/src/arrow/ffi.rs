//! The C data interface of Arrow: columns handed over without copying (<https://arrow.apache.org/docs/format/CDataInterface.html>).
//!
//! Three structures that consumers and producers share, each with a function by which its consumer gives it back. The only unsafe code of this crate: what the
//! interface is made of are pointers. A consumer that takes a structure moves it out and marks the rest as released. So dropping one that was not taken releases it.
//!
//! Nothing here knows of Python: consumers may call from any thread, with or without the interpreter's lock.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use silverpoint_query::columns::{Kind, SCHEMA_KEY, SCHEMA_VERSION};

use super::column::{Column, Data, Field, format};

/// A type, with name and children.
#[repr(C)]
pub(crate) struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// Values of such a type.
#[repr(C)]
pub(crate) struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// Arrays of one type, one after the other.
#[repr(C)]
pub(crate) struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: a structure owns all that it points to, and is used by one thread at a time.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArrayStream {}

const NULLABLE: i64 = 2;
const EIO: c_int = 5;

/// What gives the batches of a stream.
pub(crate) trait Batches: Send {
    /// The columns' names and types.
    fn fields(&self) -> &[Field];
    /// The next batch: its columns, as many as fields and all of `len` values. `None` at the end.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn next(&mut self) -> Result<Option<(usize, Vec<Column>)>, String>;
}

// ---- schemas

/// What a schema's private data is: everything that it points to.
struct SchemaParts {
    _format: CString,
    _name: CString,
    metadata: Vec<u8>,
    children: Vec<*mut ArrowSchema>,
    dictionary: *mut ArrowSchema,
}

impl ArrowSchema {
    const EMPTY: Self = Self {
        format: ptr::null(),
        name: ptr::null(),
        metadata: ptr::null(),
        flags: 0,
        n_children: 0,
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };

    /// Of a batch with these columns.
    pub(crate) fn of(fields: &[Field]) -> Self {
        let children = fields.iter().map(|field| {
            let dictionary = (field.kind == Kind::Word).then(|| Self::new(c"u", "", false, Vec::new(), None));
            Self::new(format(field.kind), &field.name, field.is_nullable, Vec::new(), dictionary)
        });
        let mut schema = Self::new(c"+s", "", false, children.collect(), None);
        // SAFETY: `new` has made the parts, which nobody else knows yet; moving a vector does not move what it holds.
        let parts = unsafe { &mut *schema.private_data.cast::<SchemaParts>() };
        parts.metadata = metadata(&[(SCHEMA_KEY, SCHEMA_VERSION)]);
        schema.metadata = parts.metadata.as_ptr().cast();
        schema
    }

    fn new(
        format: &CStr,
        name: &str,
        is_nullable: bool,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let format = format.to_owned();
        // A name cannot contain a zero byte.
        let name = CString::new(name.replace('\0', "\u{fffd}")).unwrap_or_default();
        let boxed = |schema| Box::into_raw(Box::new(schema));
        let mut parts = Box::new(SchemaParts {
            children: children.into_iter().map(boxed).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), boxed),
            _format: format,
            _name: name,
            metadata: Vec::new(),
        });
        Self {
            format: parts._format.as_ptr(),
            name: parts._name.as_ptr(),
            flags: if is_nullable { NULLABLE } else { 0 },
            n_children: parts.children.len() as i64,
            children: parts.children.as_mut_ptr(),
            dictionary: parts.dictionary,
            release: Some(release_schema),
            private_data: Box::into_raw(parts).cast(),
            ..Self::EMPTY
        }
    }
}

/// As the interface writes it: the number of pairs, then the length of each text before it.
fn metadata(pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = (pairs.len() as i32).to_ne_bytes().to_vec();
    for text in pairs.iter().flat_map(|(key, value)| [key, value]) {
        bytes.extend((text.len() as i32).to_ne_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

/// Gives back what a schema points to.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the consumer gives a structure that `new` has made and that was not released; its parts are boxes of ours.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        let all =
            parts.children.iter().copied().chain((!parts.dictionary.is_null()).then_some(parts.dictionary));
        // A child that its consumer has moved out is marked: dropping it does nothing.
        all.for_each(|child| drop(Box::from_raw(child)));
        (*schema).release = None;
        (*schema).private_data = ptr::null_mut();
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken it.
            unsafe { release(self) }
        }
    }
}

// ---- arrays

/// What an array's private data is: its buffers, and everything else that it points to.
struct ArrayParts {
    _data: Option<Data>,
    _validity: Option<Vec<u8>>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    dictionary: *mut ArrowArray,
}

impl ArrowArray {
    const EMPTY: Self = Self {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    };

    fn of_batch(len: usize, columns: Vec<Column>) -> Self {
        let children = columns.into_iter().map(Self::of_column).collect();
        Self::new(len, 0, None, None, children, None)
    }

    fn of_column(column: Column) -> Self {
        let (len, nulls) = (column.len(), column.nulls());
        let (mut data, validity) = column.into_parts();
        let dictionary = data
            .take_dictionary()
            .map(|(len, values)| Self::new(len, 0, Some(values), None, Vec::new(), None));
        Self::new(len, nulls, Some(data), validity, Vec::new(), dictionary)
    }

    fn new(
        len: usize,
        nulls: usize,
        data: Option<Data>,
        validity: Option<Vec<u8>>,
        children: Vec<Self>,
        dictionary: Option<Self>,
    ) -> Self {
        let mut buffers = vec![validity.as_ref().map_or(ptr::null(), |bits| bits.as_ptr().cast())];
        if let Some(data) = &data {
            data.buffers(&mut |buffer| buffers.push(buffer.cast()));
        }
        let boxed = |array| Box::into_raw(Box::new(array));
        // Moving vectors does not move what they hold.
        let mut parts = Box::new(ArrayParts {
            buffers,
            children: children.into_iter().map(boxed).collect(),
            dictionary: dictionary.map_or(ptr::null_mut(), boxed),
            _data: data,
            _validity: validity,
        });
        Self {
            length: len as i64,
            null_count: nulls as i64,
            n_buffers: parts.buffers.len() as i64,
            n_children: parts.children.len() as i64,
            buffers: parts.buffers.as_mut_ptr(),
            children: parts.children.as_mut_ptr(),
            dictionary: parts.dictionary,
            release: Some(release_array),
            private_data: Box::into_raw(parts).cast(),
            ..Self::EMPTY
        }
    }
}

/// Gives back what an array points to.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        let all =
            parts.children.iter().copied().chain((!parts.dictionary.is_null()).then_some(parts.dictionary));
        all.for_each(|child| drop(Box::from_raw(child)));
        (*array).release = None;
        (*array).private_data = ptr::null_mut();
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken it.
            unsafe { release(self) }
        }
    }
}

// ---- streams

struct StreamParts {
    batches: Box<dyn Batches>,
    error: CString,
}

impl ArrowArrayStream {
    /// Of these batches.
    pub(crate) fn new(batches: Box<dyn Batches>) -> Self {
        let parts = Box::new(StreamParts { batches, error: CString::default() });
        Self {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(parts).cast(),
        }
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the consumer gives a stream that `new` has made and that was not released, and room for a schema.
    unsafe {
        let parts = &*(*stream).private_data.cast::<StreamParts>();
        ptr::write(out, ArrowSchema::of(parts.batches.fields()));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`; one thread at a time, says the interface.
    let parts = unsafe { &mut *(*stream).private_data.cast::<StreamParts>() };
    // A panic must not reach a caller that knows none.
    let next = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| parts.batches.next()));
    let (array, error) = match next {
        Ok(Ok(Some((len, columns)))) => (ArrowArray::of_batch(len, columns), None),
        // The end is an array that is released already.
        Ok(Ok(None)) => (ArrowArray::EMPTY, None),
        Ok(Err(error)) => (ArrowArray::EMPTY, Some(error)),
        Err(_) => (ArrowArray::EMPTY, Some("reading has failed; please report this".to_owned())),
    };
    if let Some(error) = error {
        parts.error = CString::new(error.replace('\0', "\u{fffd}")).unwrap_or_default();
        return EIO;
    }
    // SAFETY: there is room for an array.
    unsafe { ptr::write(out, array) };
    0
}

unsafe extern "C" fn get_last_error(stream: *mut ArrowArrayStream) -> *const c_char {
    // SAFETY: as in `get_schema`.
    unsafe { (*(*stream).private_data.cast::<StreamParts>()).error.as_ptr() }
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: as in `release_schema`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
        (*stream).private_data = ptr::null_mut();
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken it.
            unsafe { release(self) }
        }
    }
}
