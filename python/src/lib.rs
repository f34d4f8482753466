//! `silverpoint._native`: trace files and living sessions for Python. `silverpoint/__init__.py` is its public face.
//!
//! ```text
//! trace    what is open ─▶ source: a thread that reads ─▶ row: records without Python ─▶ record, site: as Python sees them
//! filter   keyword arguments as the reader's filter        value: packed arguments and CBOR as objects, encode: the way back
//! spans    begins that have found their ends               writer: trace files from Python
//! arrow    records and spans as columns                    follow: records as they come
//! recorder records of this process, into its own session
//! ```
//!
//! Files are read without the interpreter's lock, in batches. No content of a file makes it panic, and memory is bounded as it is elsewhere.
#![deny(unsafe_code)]

mod arrow;
mod encode;
mod fault;
mod filter;
mod follow;
mod record;
mod recorder;
mod row;
mod site;
mod source;
mod spans;
mod trace;
mod value;
mod writer;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::Table;
    #[pymodule_export]
    use super::follow::{Following, follow};
    #[pymodule_export]
    use super::record::Record;
    #[pymodule_export]
    use super::recorder::{end_span, record, start, would_record};
    #[pymodule_export]
    use super::site::Site;
    #[pymodule_export]
    use super::spans::{Span, SpanIterator, Spans};
    #[pymodule_export]
    use super::trace::{Problem, Records, Trace, open};
    #[pymodule_export]
    use super::writer::Writer;
}
