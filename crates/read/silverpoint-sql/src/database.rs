//! A trace as a database that can only be asked.

use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, InterruptHandle};

use silverpoint_trace::{Note, Trace, Verdict};

use crate::error::Error;
use crate::module::register;
use crate::records::Records;
use crate::spans::Spans;
use crate::state::State;
use crate::{small, views};

/// What a query may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Bytes of memory that SQLite may have, in the whole process; it can only become less. `None`: no limit. Sorting and grouping
    /// of more goes to temporary files.
    pub memory: Option<u64>,
}

/// Takes the rows of a query, one at a time.
pub trait Rows {
    /// A query has these columns.
    ///
    /// # Errors
    /// Any error ends the query.
    fn begin(&mut self, columns: &[&str]) -> std::io::Result<()>;

    /// One row: as many values as columns.
    ///
    /// # Errors
    /// Any error ends the query.
    fn row(&mut self, values: &[ValueRef<'_>]) -> std::io::Result<()>;

    /// It has no more.
    ///
    /// # Errors
    /// Any error ends the query.
    fn end(&mut self) -> std::io::Result<()>;
}

/// A trace with the tables and views of `docs/sql.md`. Nothing in it can be changed.
pub struct Database {
    connection: Connection,
    state: Arc<State>,
    left_out: usize,
}

/// Longest text or blob that a query may make: a text of this length is no longer something to look at.
const LONGEST: i32 = 256 << 20;

/// Questions about the tables that change nothing.
const PRAGMAS: [&str; 6] =
    ["table_info", "table_xinfo", "table_list", "function_list", "collation_list", "compile_options"];

impl Database {
    /// Makes the tables. Costs what the sites cost; records are read by queries alone.
    ///
    /// # Errors
    /// There is not enough memory for the sites.
    pub fn new(trace: Trace, limits: Limits) -> Result<Self, Error> {
        let mut database = Self::unlocked(trace)?;
        let connection = &mut database.connection;
        if let Some(memory) = limits.memory {
            let bytes = i64::try_from(memory).unwrap_or(i64::MAX);
            connection.query_row(&format!("pragma hard_heap_limit = {bytes}"), [], |_| Ok(()))?;
        }
        connection.pragma_update(None, "query_only", true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.authorizer(Some(authorize))?;
        Ok(database)
    }

    /// One that is not locked yet.
    pub(crate) fn unlocked(trace: Trace) -> Result<Self, Error> {
        let connection = Connection::open_in_memory()?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        let state = Arc::new(State::new(trace));
        register::<Records>(&connection, "silverpoint_records", &state)?;
        register::<Spans>(&connection, "silverpoint_spans", &state)?;
        connection.execute_batch(
            "begin; create virtual table records using silverpoint_records; create virtual table spans using silverpoint_spans",
        )?;
        small::create(&connection, &state.trace)?;
        let (views, left_out) = views::of(&state.trace, false);
        views::create(&connection, "main", &views)?;
        connection.execute_batch("commit")?;
        Ok(Self { connection, state, left_out })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.state.trace
    }

    /// Runs queries, separated by `;`, and gives their rows to `rows`.
    ///
    /// # Errors
    /// The first that is wrong, or fails; rows before it have been given.
    pub fn run(&self, sql: &str, rows: &mut dyn Rows) -> Result<(), Error> {
        let mut batch = Batch::new(&self.connection, sql);
        while let Some(mut statement) = batch.next()? {
            // What the authorizer is not asked about: `vacuum into` writes a file.
            if !statement.readonly() {
                return Err(Error::ReadOnly);
            }
            let count = statement.column_count();
            if count == 0 {
                continue;
            }
            rows.begin(&statement.column_names().collect::<Vec<_>>()).map_err(Error::Rows)?;
            let unbound = statement.parameter_count();
            if unbound > 0 {
                return Err(Error::Query(format!(
                    "{unbound} parameters (`?`, `:name`, `@name`) have no value: write the values"
                )));
            }
            let mut found = statement.query([])?;
            while let Some(row) = found.next()? {
                let values: Vec<ValueRef<'_>> =
                    (0..count).map(|at| row.get_ref(at)).collect::<rusqlite::Result<_>>()?;
                rows.row(&values).map_err(Error::Rows)?;
            }
            rows.end().map_err(Error::Rows)?;
        }
        Ok(())
    }

    /// Ends a query from another thread.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        self.connection.get_interrupt_handle()
    }

    /// Names of tables and views with those of their columns, for completion.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn tables(&self) -> Result<Vec<(String, Vec<String>)>, Error> {
        let mut names = self
            .connection
            .prepare("select name from sqlite_schema where type in ('table', 'view') order by type, rowid")?;
        let mut tables = Vec::new();
        let mut found = names.query([])?;
        while let Some(row) = found.next()? {
            let name: String = row.get(0)?;
            let mut columns = self.connection.prepare("select name from pragma_table_info(?)")?;
            let columns = columns.query_map([&name], |row| row.get(0))?.collect::<Result<_, _>>()?;
            tables.push((name, columns));
        }
        Ok(tables)
    }

    /// What is missing in the trace, as far as queries have looked.
    pub fn notes(&self) -> Vec<Note> {
        self.state.notes()
    }

    /// The verdict about the trace, as far as queries have looked.
    pub fn verdict(&self) -> Verdict {
        self.state.verdict()
    }

    /// How many names of events have no view, as there are too many.
    pub fn names_without_view(&self) -> usize {
        self.left_out
    }

    /// Blocks of records that queries have read so far.
    pub fn blocks_read(&self) -> u64 {
        self.state.blocks_read()
    }
}

/// Allows what asks, and nothing that changes anything or leads out of the database.
fn authorize(context: AuthContext<'_>) -> Authorization {
    let is_allowed = match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => function_name != "load_extension",
        AuthAction::Pragma { pragma_name, .. } => PRAGMAS.contains(&pragma_name),
        _ => false,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}
