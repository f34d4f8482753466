//! Traces, and what queries over them give.

use std::path::{Path, PathBuf};

use silverpoint_sql::{Database, Error, Limits, Rows, ValueRef};
use silverpoint_trace::{Source, Trace};
use silverpoint_wire::block::LossInfo;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;
use tempfile::TempDir;

use crate::builder::{Builder, log, text};

/// A trace of these bytes.
pub fn trace(bytes: &[u8]) -> Trace {
    Trace::from_sources(vec![Source::from_bytes(Path::new("t.silver"), bytes.to_vec())]).unwrap()
}

pub fn database(trace: Trace) -> Database {
    Database::new(trace, Limits::default()).unwrap()
}

/// Rows as text: values joined by `|`, texts as they are, nulls as `-`, reals with a point.
#[derive(Default)]
pub struct Lines {
    pub columns: Vec<String>,
    pub lines: Vec<String>,
}

impl Rows for Lines {
    fn begin(&mut self, columns: &[&str]) -> std::io::Result<()> {
        self.columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> std::io::Result<()> {
        let values = values.iter().map(|value| match value {
            ValueRef::Null => "-".to_owned(),
            ValueRef::Integer(value) => value.to_string(),
            ValueRef::Real(value) => format!("{value:?}"),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            ValueRef::Blob(bytes) => format!("{bytes:?}"),
        });
        self.lines.push(values.collect::<Vec<_>>().join("|"));
        Ok(())
    }

    fn end(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn ask(database: &Database, sql: &str) -> Vec<String> {
    let mut lines = Lines::default();
    database.run(sql, &mut lines).unwrap_or_else(|error| panic!("{sql}: {error}"));
    lines.lines
}

pub fn mistake(database: &Database, sql: &str) -> Error {
    database.run(sql, &mut Lines::default()).expect_err(sql)
}

/// A folder that goes with the test.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(TempDir::with_prefix("silverpoint-sql-").unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Names of what is in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// The files that are kept from each version of the format.
pub fn kept() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../silverpoint-query/tests/data/versions");
    let versions = std::fs::read_dir(folder).unwrap().flatten();
    let files = versions.flat_map(|version| std::fs::read_dir(version.path()).unwrap().flatten());
    let mut files: Vec<_> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "silver"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files
}

pub fn site(
    kind: Kind,
    level: Level,
    category: &str,
    name: &str,
    names: &str,
    signature: &str,
) -> SiteDescription {
    SiteDescription { kind, names: names.into(), ..log(level, category, 9, name, signature) }
}

/// Two processes, four threads, one of each sort of record, a context, losses.
pub fn sample() -> Trace {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/indexer", 4312);
    b.session(2, "/opt/digest", 77);
    b.site(1, 16, &log(Level::Info, "net::tcp", 88, "order {} at {:.2f}", "id"));
    b.site(
        1,
        18,
        &site(Kind::Event, Level::Debug, "index", "file.indexed", "path\nbytes\nid\nratio\n", "sLid"),
    );
    b.site(1, 19, &site(Kind::Span, Level::Info, "index", "scan", "dir\n", "s"));
    b.site(1, 20, &site(Kind::Span, Level::Debug, "index", "open", "", ""));
    b.site(1, 21, &site(Kind::AsyncBegin, Level::Info, "net", "fetch", "id\nurl\n", "Ls"));
    b.site(1, 22, &site(Kind::AsyncEnd, Level::Warn, "net", "fetch", "id\n", "L"));
    b.site(2, 16, &site(Kind::Counter, Level::Info, "q", "queue.length", "", "L"));
    b.stream(1, 1, 4312, "main");
    b.stream(1, 2, 4313, "worker");
    b.stream(2, 1, 77, "digest");
    b.losses(1, &LossInfo { stream: 2, losses: [3, 0, 0, 0, 0, 0, 0, 0], stalls: 0, stall_ns: 0 });
    let mut order = 7i32.to_le_bytes().to_vec();
    order.extend_from_slice(&std::f64::consts::PI.to_le_bytes());
    b.context(1, 1, 500, Some((7, "ada")));
    b.record(1, 1, 16, 1_000, &order);
    b.record(1, 1, 19, 2_000, &text("/usr/include"));
    b.record(1, 1, 20, 3_000, &[]);
    b.span_end(1, 1, 20, 3_000, 3_500);
    let mut fetch = 5u64.to_le_bytes().to_vec();
    b.record(1, 2, 22, 7_000, &fetch);
    fetch.extend_from_slice(&text("http://x"));
    b.record(1, 1, 21, 4_000, &fetch);
    b.span_end(1, 1, 19, 2_000, 9_000);
    b.record(1, 1, 20, 9_500, &[]);
    let mut indexed = text("a \"b\".h");
    indexed.extend_from_slice(&u64::MAX.to_le_bytes());
    indexed.extend_from_slice(&(-1i32).to_le_bytes());
    indexed.extend_from_slice(&3.0f64.to_le_bytes());
    b.record(1, 2, 18, 8_000, &indexed);
    b.record(2, 1, 16, 2_500, &12u64.to_le_bytes());
    for (session, stream) in [(1, 1), (1, 2), (2, 1)] {
        b.flush(session, stream, true);
    }
    b.end();
    trace(&b.bytes)
}
