//! Records and spans as columns: what pandas, polars, DuckDB and pyarrow take without copying.
//!
//! ```text
//! row, spans ─▶ table: which columns, and their values ─▶ column: laid out as Arrow's ─▶ ffi: handed over
//!               argument: values of one event's arguments, typed
//! ```

mod argument;
mod column;
mod ffi;
mod table;

pub(crate) use table::Table;
