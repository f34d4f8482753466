//! Records, in order of time, of a database that [`write_database`](crate::write_database) or another program
//! has made by the rules of `docs/sql.md`. The file is not trusted: only columns of plain tables are used,
//! and each value is checked. Memory is that of the sites and of a few records.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, params};
use silverpoint_trace::{Context, Kept, Site, What};
use silverpoint_wire::level::Kind;
use silverpoint_wire::site::SiteDescription;

/// Longest value of a record.
const VALUE_MAX: i32 = 64 << 20;
/// Bytes of values that are read ahead.
const AHEAD: usize = 1 << 20;
/// Records that are read ahead.
const RECORDS: usize = 1024;
/// Bytes of all descriptions of sites.
const DESCRIBED_MAX: usize = 256 << 20;

/// Columns of `records` that are read, and of `sites`.
const RECORD: [&str; 13] = [
    "id",
    "time_ns",
    "process",
    "pid",
    "tid",
    "thread",
    "kind",
    "site",
    "truncated",
    "is_backtrace",
    "packed",
    "context_cbor",
    "args",
];
const SITE: [&str; 12] = [
    "site",
    "level",
    "kind",
    "category",
    "template",
    "file",
    "line",
    "signature",
    "flags",
    "language",
    "names",
    "recorded_function",
];

/// Why a database, or a record in it, cannot be read.
#[derive(Debug)]
pub struct SavedError {
    /// Table, id and column: `records[17].packed`; empty when it is about the file.
    pub path: String,
    /// What is there.
    pub found: String,
    /// What should be.
    pub expected: &'static str,
    /// The next record may be asked for.
    pub may_go_on: bool,
}

impl fmt::Display for SavedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "in {}: ", self.path)?;
        }
        write!(f, "found {}, expected {}", self.found, self.expected)
    }
}

impl std::error::Error for SavedError {}

impl From<rusqlite::Error> for SavedError {
    fn from(error: rusqlite::Error) -> Self {
        Self::of_file(error.to_string(), WHOLE)
    }
}

const WHOLE: &str =
    "a whole SQLite database that `silverpoint convert` or `silverpoint sql --output` has written";

impl SavedError {
    fn of_file(found: String, expected: &'static str) -> Self {
        Self { path: String::new(), found, expected, may_go_on: false }
    }
}

/// One record; what it consists of can be read.
#[derive(Debug)]
pub struct SavedRecord {
    /// Nanoseconds since 1970-01-01T00:00Z.
    pub wall_ns: i64,
    /// Number of its process in [`SavedRecords::processes`].
    pub process: usize,
    /// Kernel thread id.
    pub tid: u32,
    /// The thread's name.
    pub thread: String,
    /// Fields of the scopes that the thread was in.
    pub context: Option<Context>,
    /// It was kept back.
    pub is_backtrace: bool,
    what: Kept,
    packed: Vec<u8>,
}

/// See the module.
pub struct SavedRecords {
    connection: Connection,
    sites: Vec<Site>,
    by_id: HashMap<i64, usize>,
    processes: Vec<(String, u32)>,
    by_process: HashMap<(String, u32), usize>,
    described: usize,
    ahead: VecDeque<Result<SavedRecord, SavedError>>,
    current: Option<SavedRecord>,
    /// Time and id of the last record that was read ahead.
    last: Option<(i64, i64)>,
    has_ended: bool,
}

impl SavedRecords {
    /// Opens a database and reads its sites.
    ///
    /// # Errors
    /// It cannot be opened, or is none of ours.
    pub fn open(path: &Path) -> Result<Self, SavedError> {
        let failed = |error: io::Error| SavedError::of_file(error.to_string(), "a file that can be read");
        // Before anything is opened: a pipe would be waited for.
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(SavedError::of_file("no regular file".into(), WHOLE));
        }
        let mut head = Vec::new();
        File::open(path).map_err(failed)?.take(16).read_to_end(&mut head).map_err(failed)?;
        if head != b"SQLite format 3\0" {
            return Err(SavedError::of_file("a file that does not begin as one of SQLite".into(), WHOLE));
        }
        // Made absolute: SQLite would take a name that begins with `file:` for a URI.
        let absolute = std::path::absolute(path).map_err(failed)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(absolute, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX)?;
        connection.execute_batch(
            "pragma cell_size_check = on; pragma mmap_size = 0; pragma query_only = on; begin",
        )?;
        let mut saved = Self {
            connection,
            sites: Vec::new(),
            by_id: HashMap::new(),
            processes: Vec::new(),
            by_process: HashMap::new(),
            described: 0,
            ahead: VecDeque::new(),
            current: None,
            last: None,
            has_ended: false,
        };
        saved.is_ours("records", &RECORD)?;
        saved.is_ours("sites", &SITE)?;
        saved.is_in_order()?;
        saved.read_sites()?;
        Ok(saved)
    }

    /// A plain table with these columns.
    fn is_ours(&self, table: &str, columns: &[&str]) -> Result<(), SavedError> {
        let sql =
            "select count(*) from pragma_table_list where schema = 'main' and name = ? and type = 'table'";
        let count: i64 = self.connection.query_row(sql, [table], |row| row.get(0))?;
        if count != 1 {
            return Err(SavedError::of_file(format!("no table `{table}`"), WHOLE));
        }
        // The file could define hidden columns of plain tables, which are computed.
        let sql = "select count(*) from pragma_table_xinfo(?) where name = ? and hidden = 0";
        for column in columns {
            let count: i64 = self.connection.query_row(sql, [table, column], |row| row.get(0))?;
            if count != 1 {
                return Err(SavedError::of_file(
                    format!("the table `{table}` without the column `{column}`"),
                    WHOLE,
                ));
            }
        }
        Ok(())
    }

    /// Records can be had in the order of their times without sorting them.
    fn is_in_order(&self) -> Result<(), SavedError> {
        let sql = "select count(*) from pragma_index_list('records') as list, pragma_index_info(list.name) as info \
                   where list.partial = 0 and info.seqno = 0 and info.name = 'time_ns'";
        let count: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        if count == 0 {
            let found = "the table `records` without an index by `time_ns`".to_owned();
            return Err(SavedError::of_file(found, WHOLE));
        }
        Ok(())
    }

    fn read_sites(&mut self) -> Result<(), SavedError> {
        let sql = format!("select {} from main.sites", SITE.join(", "));
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id = row.get_ref(0)?.as_i64().unwrap_or(0);
            let (description, bytes) = site(row).map_err(|(column, found, expected)| SavedError {
                path: format!("sites[{id}].{}", SITE[column]),
                found,
                expected,
                may_go_on: false,
            })?;
            self.described += bytes * 4 + 512;
            if self.described > DESCRIBED_MAX {
                let found = "more than 256 MiB of sites".to_owned();
                return Err(SavedError::of_file(found, "a trace, whose records come from few sites"));
            }
            self.by_id.insert(id, self.sites.len());
            self.sites.push(Site::new(description));
        }
        Ok(())
    }

    /// Reads on from the last record.
    fn fill(&mut self) -> Result<(), SavedError> {
        let after = if self.last.is_some() { "where (time_ns, id) > (?1, ?2)" } else { "where ?1 is ?2" };
        let sql = format!(
            "select {} from main.records {after} order by time_ns, id limit {RECORDS}",
            RECORD.join(", ")
        );
        let mut statement = self.connection.prepare(&sql)?;
        let (time, id) = self.last.unzip();
        let mut rows = statement.query(params![time, id])?;
        let (mut bytes, mut count) = (0, 0);
        while let Some(row) = rows.next()? {
            count += 1;
            let key = (row.get_ref(1)?, row.get_ref(0)?);
            let (Ok(time), Ok(id)) = (key.0.as_i64(), key.1.as_i64()) else {
                // It has no place in the order.
                self.has_ended = true;
                self.ahead.push_back(Err(SavedError {
                    path: "records.time_ns".into(),
                    found: kind_of(key.0).into(),
                    expected: "an integer",
                    may_go_on: false,
                }));
                return Ok(());
            };
            // An index that lies would give the same rows without end.
            if self.last.is_some_and(|last| (time, id) <= last) {
                self.has_ended = true;
                self.ahead.push_back(Err(SavedError {
                    path: format!("records[{id}].time_ns"),
                    found: time.to_string(),
                    expected: "records in the order of their times",
                    may_go_on: false,
                }));
                return Ok(());
            }
            self.last = Some((time, id));
            let mut known = Known {
                by_id: &self.by_id,
                processes: &mut self.processes,
                by_process: &mut self.by_process,
                described: &mut self.described,
            };
            let read = known.record(row, time).map_err(|(column, found, expected)| SavedError {
                path: format!("records[{id}].{}", RECORD[column]),
                found,
                expected,
                may_go_on: true,
            });
            bytes += read.as_ref().map_or(0, |record| record.packed.len() + record.thread.len() + 256);
            self.ahead.push_back(read);
            if bytes > AHEAD {
                return Ok(());
            }
        }
        self.has_ended = count < RECORDS;
        Ok(())
    }

    /// Goes to the next record; false at the end.
    ///
    /// # Errors
    /// The database is damaged, or a record is not as it should be.
    pub fn advance(&mut self) -> Result<bool, SavedError> {
        self.current = None;
        if self.ahead.is_empty() && !self.has_ended {
            self.fill().inspect_err(|_| self.has_ended = true)?;
        }
        match self.ahead.pop_front() {
            None => Ok(false),
            Some(Err(error)) => Err(error),
            Some(Ok(record)) => {
                self.current = Some(record);
                Ok(true)
            }
        }
    }

    /// Where [`SavedRecords::advance`] has gone, and what happened there. Numbers of sites are those here with the bits of `input`.
    pub fn record(&self, input: usize) -> Option<(&SavedRecord, What<'_>)> {
        let record = self.current.as_ref()?;
        let what = record.what.what(&self.sites, input, &record.packed)?;
        Some((record, what))
    }

    /// Names and numbers of the processes of the records so far.
    pub fn processes(&self) -> &[(String, u32)] {
        &self.processes
    }
}

/// Which column, what it holds, what it should hold.
type Wrong = (usize, String, &'static str);

fn kind_of(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "null",
        ValueRef::Integer(_) => "an integer",
        ValueRef::Real(_) => "a real",
        ValueRef::Text(_) => "text",
        ValueRef::Blob(_) => "a blob",
    }
}

/// The beginning of a text, for messages.
fn quoted(text: &str) -> String {
    format!("{:?}", text.chars().take(40).collect::<String>())
}

fn value<'r>(row: &'r Row<'_>, column: usize) -> Result<ValueRef<'r>, Wrong> {
    row.get_ref(column).map_err(|error| (column, error.to_string(), "a value"))
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, Wrong> {
    let value = value(row, column)?;
    match value.as_str() {
        Ok(text) => Ok(text),
        Err(_) => Err((column, kind_of(value).into(), "text in UTF-8")),
    }
}

fn number<T: TryFrom<i64>>(row: &Row<'_>, column: usize) -> Result<T, Wrong> {
    let value = value(row, column)?;
    let number = value.as_i64().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| {
        let found = value.as_i64().map_or_else(|_| kind_of(value).to_owned(), |number| number.to_string());
        (column, found, "an integer that fits")
    })
}

/// The description of a site, and how long its texts are.
fn site(row: &Row<'_>) -> Result<(SiteDescription, usize), Wrong> {
    let name = |column| text(row, column).map(str::to_owned);
    let level = text(row, 1)?;
    let kind = text(row, 2)?;
    let description = SiteDescription {
        level: level.parse().map_err(|_| (1, quoted(level), "the name of a level"))?,
        kind: Kind::from_name(kind).ok_or_else(|| (2, quoted(kind), "the kind of a site"))?,
        category: name(3)?,
        template: name(4)?,
        file: name(5)?,
        line: number(row, 6)?,
        signature: name(7)?,
        flags: number(row, 8)?,
        language: number(row, 9)?,
        names: name(10)?,
        function: name(11)?,
    };
    let SiteDescription { category, template, file, signature, names, function, .. } = &description;
    let texts = [category, template, file, signature, names, function];
    let bytes = texts.into_iter().map(String::len).sum();
    Ok((description, bytes))
}

/// What is known before a record is read.
struct Known<'k> {
    by_id: &'k HashMap<i64, usize>,
    processes: &'k mut Vec<(String, u32)>,
    by_process: &'k mut HashMap<(String, u32), usize>,
    described: &'k mut usize,
}

impl Known<'_> {
    fn record(&mut self, row: &Row<'_>, wall_ns: i64) -> Result<SavedRecord, Wrong> {
        let process = self.process(text(row, 2)?, number(row, 3)?)?;
        let packed = match value(row, 10)? {
            ValueRef::Null => &[],
            ValueRef::Blob(bytes) => bytes,
            other => return Err((10, kind_of(other).into(), "a blob")),
        };
        let numbers: Vec<u64> = packed
            .chunks_exact(8)
            .take(3)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default()))
            .collect();
        let cause =
            |cause: u64| u8::try_from(cause).map_err(|_| (10, format!("the cause {cause}"), "one below 256"));
        let what = match (text(row, 6)?, &numbers[..]) {
            ("loss", [why, count, span_ns]) => {
                Kept::Loss { cause: cause(*why)?, count: *count, span_ns: *span_ns }
            }
            ("stall", [why, duration_ns]) => Kept::Stall { cause: cause(*why)?, duration_ns: *duration_ns },
            ("loss" | "stall", _) => {
                return Err((
                    10,
                    format!("{} bytes", packed.len()),
                    "three numbers of a loss, two of a wait",
                ));
            }
            ("span_end", numbers) => {
                Kept::SpanEnd { site: self.site(row)?, begin_ticks: 0, duration_ns: numbers.first().copied() }
            }
            ("unknown", _) => {
                // The one number in `{"site":77}`.
                let digits = text(row, 12)?.chars().filter(char::is_ascii_digit).take(11).collect::<String>();
                Kept::Unknown { site_id: digits.parse().unwrap_or(0) }
            }
            (kind, _) => match self.site(row)? {
                Some(site) => Kept::Record { site, truncated: number::<i64>(row, 8)? != 0 },
                None => {
                    return Err((
                        7,
                        format!("a record of the kind {} without a site", quoted(kind)),
                        "the number of a site",
                    ));
                }
            },
        };
        let context = match value(row, 11)? {
            ValueRef::Null => None,
            ValueRef::Blob(item) => Some(
                Context::from_item(item)
                    .ok_or_else(|| (11, "no map in CBOR".to_owned(), "fields of a context"))?,
            ),
            other => return Err((11, kind_of(other).into(), "a blob")),
        };
        Ok(SavedRecord {
            wall_ns,
            process,
            tid: number(row, 4)?,
            thread: text(row, 5)?.to_owned(),
            context,
            is_backtrace: number::<i64>(row, 9)? != 0,
            what,
            packed: packed.to_vec(),
        })
    }

    fn site(&self, row: &Row<'_>) -> Result<Option<usize>, Wrong> {
        match value(row, 7)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(id) => match self.by_id.get(&id) {
                Some(site) => Ok(Some(*site)),
                None => {
                    Err((7, format!("{id}, which the table `sites` does not have"), "the number of a site"))
                }
            },
            other => Err((7, kind_of(other).into(), "the number of a site")),
        }
    }

    fn process(&mut self, name: &str, pid: u32) -> Result<usize, Wrong> {
        let key = (name.to_owned(), pid);
        if let Some(process) = self.by_process.get(&key) {
            return Ok(*process);
        }
        *self.described += name.len() * 2 + 64;
        if *self.described > DESCRIBED_MAX {
            return Err((2, "more than 256 MiB of different processes".into(), "few processes"));
        }
        self.processes.push(key.clone());
        self.by_process.insert(key, self.processes.len() - 1);
        Ok(self.processes.len() - 1)
    }
}
