//! The interface to SQLite's virtual tables, and the only place with unsafe code. SQLite keeps tables and
//! cursors behind pointers, so the types begin with the structures that it knows. A cursor keeps the trace
//! alive that its rows borrow from.
#![allow(unsafe_code)]

use std::borrow::Cow;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::vtab::{
    Context, CreateVTab, Filters, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor, VTabKind,
    sqlite3_vtab, sqlite3_vtab_cursor,
};

use silverpoint_trace::Trace;

use crate::plan::{self, Plan};
use crate::state::State;

/// The rows of one virtual table, one at a time.
pub(crate) trait Rows<'t>: Sized {
    /// The rows that a plan may want; the first call of `advance` leads to the first.
    fn begin(trace: &'t Trace, state: &Arc<State>, plan: &Plan) -> Self;
    /// Goes to the next row; false when there is none.
    fn advance(&mut self) -> rusqlite::Result<bool>;
    /// Gives the value of a column of the row.
    fn column(&self, context: &mut Context, column: usize) -> rusqlite::Result<()>;
    /// Names the row: the same in every query.
    fn rowid(&self) -> i64;
}

/// A kind of virtual table.
pub(crate) trait Kind: 'static {
    /// The statement that declares its columns.
    const SCHEMA: &'static CStr;
    /// What its columns are, for plans.
    const COLUMNS: &'static [plan::Column];
    /// Its rows.
    type Rows<'t>: Rows<'t>;
}

/// Makes a kind of table known to a connection, under the name of a module.
pub(crate) fn register<K: Kind>(
    connection: &Connection,
    name: &str,
    state: &Arc<State>,
) -> rusqlite::Result<()> {
    connection.create_module(name, const { &Module::<Table<K>>::read_only_module() }, Some(Arc::clone(state)))
}

/// A virtual table. SQLite knows its beginning.
#[repr(C)]
struct Table<K> {
    base: sqlite3_vtab,
    state: Arc<State>,
    kind: PhantomData<K>,
}

// SAFETY: the type is `repr(C)` and begins with the structure that SQLite expects.
unsafe impl<K: Kind> VTab<'_> for Table<K> {
    type Aux = Arc<State>;
    type Cursor = Cursor<K>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        _args: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        db.config(VTabConfig::Innocuous)?;
        let state = aux.map(Arc::clone).ok_or_else(|| rusqlite::Error::ModuleError("no trace".to_owned()))?;
        Ok((Cow::Borrowed(K::SCHEMA), Self { base: sqlite3_vtab::default(), state, kind: PhantomData }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        plan::choose(info, K::COLUMNS).map(|()| true)
    }

    fn open(&mut self) -> rusqlite::Result<Cursor<K>> {
        let state = Arc::clone(&self.state);
        Ok(Cursor { base: sqlite3_vtab_cursor::default(), rows: None, is_at_end: true, state })
    }
}

impl<K: Kind> CreateVTab<'_> for Table<K> {
    const KIND: VTabKind = VTabKind::Default;
}

/// A scan of a table. SQLite knows its beginning.
#[repr(C)]
struct Cursor<K: Kind> {
    base: sqlite3_vtab_cursor,
    /// Borrows from the trace that `state` keeps: dropped before it, as fields are dropped in this order.
    rows: Option<K::Rows<'static>>,
    is_at_end: bool,
    state: Arc<State>,
}

// SAFETY: the type is `repr(C)` and begins with the structure that SQLite expects.
unsafe impl<K: Kind> VTabCursor for Cursor<K> {
    fn filter(&mut self, _number: c_int, text: Option<&str>, args: &Filters<'_>) -> rusqlite::Result<()> {
        let trace: *const Trace = &raw const self.state.trace;
        // SAFETY: the trace lies in the allocation of `state`, which never moves and which this cursor keeps
        // as long as it lives. A trace behind an `Arc` is not changed. Borrows with this lifetime are kept in
        // `rows` alone: that is dropped first, and gives out nothing but values that SQLite copies.
        let trace: &'static Trace = unsafe { &*trace };
        let plan = Plan::new(trace, K::COLUMNS, text.unwrap_or_default(), args)?;
        self.rows = None;
        self.rows = Some(K::Rows::begin(trace, &self.state, &plan));
        self.next()
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.is_at_end = match &mut self.rows {
            Some(rows) => !rows.advance()?,
            None => true,
        };
        Ok(())
    }

    fn eof(&self) -> bool {
        self.is_at_end
    }

    fn column(&self, context: &mut Context, column: c_int) -> rusqlite::Result<()> {
        match &self.rows {
            Some(rows) => rows.column(context, usize::try_from(column).unwrap_or(usize::MAX)),
            None => Ok(()),
        }
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(self.rows.as_ref().map_or(0, Rows::rowid))
    }
}
