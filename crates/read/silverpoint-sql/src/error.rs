//! What can go wrong with a query, in words that say what to do.

use std::fmt;

use rusqlite::ErrorCode;

/// See the module.
#[derive(Debug)]
pub enum Error {
    /// The query is not SQL, or refers to something that does not exist. It has a message, and the place as a
    /// line of the query with a mark below.
    Query(String),
    /// The query would change something.
    ReadOnly,
    /// It was interrupted.
    Interrupted,
    /// It needs more memory than it may have.
    Memory,
    /// A file cannot be written.
    File(String),
    /// Anything else.
    Failed(String),
    /// What takes the rows does not want more, or cannot write them.
    Rows(std::io::Error),
}

impl Error {
    /// Whether the query itself is wrong, and not what it met.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Query(_) | Self::ReadOnly)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(message) | Self::File(message) | Self::Failed(message) => f.write_str(message),
            Self::ReadOnly => f.write_str(
                "only queries are possible here (select, with, values, explain); `--output FILE` makes a database that can be changed",
            ),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Memory => f.write_str(
                "the query needs more memory than it may have: ask for less at once (a condition, fewer columns), or give it more with --memory",
            ),
            Self::Rows(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqlInputError { error, .. }
                if error.code == ErrorCode::AuthorizationForStatementDenied =>
            {
                Self::ReadOnly
            }
            // SQLite has this alone for virtual tables.
            rusqlite::Error::SqlInputError { msg, .. } if msg.ends_with("may not be modified") => {
                Self::ReadOnly
            }
            rusqlite::Error::SqlInputError { msg, sql, offset, .. } => {
                Self::Query(placed(&msg, &sql, offset))
            }
            // SQLite has this alone for virtual tables.
            rusqlite::Error::SqliteFailure(_, Some(text)) if text.ends_with("may not be modified") => {
                Self::ReadOnly
            }
            rusqlite::Error::SqliteFailure(failure, text) => match failure.code {
                ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly => Self::ReadOnly,
                ErrorCode::OperationInterrupted => Self::Interrupted,
                ErrorCode::OutOfMemory => Self::Memory,
                ErrorCode::TooBig => Self::Query(
                    "a text is too long, or the query has too many columns or terms for SQLite".to_owned(),
                ),
                ErrorCode::DiskFull => Self::File(
                    "no room left: on the disk or for SQLite's temporary files (SQLITE_TMPDIR, TMPDIR)"
                        .to_owned(),
                ),
                ErrorCode::Unknown => Self::Query(text.unwrap_or_else(|| failure.to_string())),
                _ => Self::Failed(text.unwrap_or_else(|| failure.to_string())),
            },
            other => Self::Failed(other.to_string()),
        }
    }
}

/// A message with the line of the query that it is about.
fn placed(message: &str, sql: &str, offset: i32) -> String {
    let Some(before) = usize::try_from(offset).ok().and_then(|offset| sql.get(..offset)) else {
        return message.to_owned();
    };
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let line = sql[begin..].lines().next().unwrap_or_default();
    let column = before[begin..].chars().count() + 1;
    format!("{message}\n  {line}\n  {:>column$}", "^")
}
