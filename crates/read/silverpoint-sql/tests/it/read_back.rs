//! Databases that were written give the records back, exactly; what is damaged or foreign is refused with its place.

use std::path::Path;

use silverpoint_query::filter::Filter;
use silverpoint_sql::{SavedError, SavedRecords, write_database};
use silverpoint_trace::{Trace, What};

use crate::harness::{Scratch, kept, sample};

/// All that counts of what happened.
fn shown(what: &What<'_>) -> String {
    match what {
        What::Record { site, args, truncated, .. } => format!("{:?} {args:?} {truncated}", site.description),
        What::SpanEnd { site, duration_ns, .. } => {
            format!("end {:?} {duration_ns:?}", site.map(|site| &site.description))
        }
        other => format!("{other:?}"),
    }
}

fn of_trace(trace: &Trace) -> Vec<String> {
    let mut events = trace.select(&Filter::default());
    let mut all = Vec::new();
    while let Some(event) = events.next() {
        if event.is_shown() {
            let (session, context) = (event.session, event.context.map(|context| context.item().to_vec()));
            let who = (event.wall_ns, &session.name, session.pid, event.tid, event.thread_name, context);
            all.push(format!("{who:?} {} {}", event.is_backtrace, shown(&event.what)));
        }
    }
    all.sort();
    all
}

fn of_database(path: &Path) -> Result<Vec<String>, SavedError> {
    let mut saved = SavedRecords::open(path)?;
    let (mut all, mut before) = (Vec::new(), i64::MIN);
    while saved.advance()? {
        let (record, what) = saved.record(0).unwrap();
        assert!(before <= record.wall_ns);
        before = record.wall_ns;
        let (name, pid) = &saved.processes()[record.process];
        let context = record.context.as_ref().map(|context| context.item().to_vec());
        let who = (record.wall_ns, name, *pid, record.tid, &record.thread, context);
        all.push(format!("{who:?} {} {}", record.is_backtrace, shown(&what)));
    }
    all.sort();
    Ok(all)
}

#[test]
fn records_come_back_as_they_were() {
    let scratch = Scratch::new();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../spec/vectors/files");
    let vectors = ["every-type.raw.silver", "control-records.raw.silver"].map(|name| vectors.join(name));
    let files = kept().into_iter().chain(vectors);
    let traces = files.map(|path| Trace::open(&[path]).unwrap()).chain([sample()]);
    let mut records = 0;
    for (number, trace) in traces.enumerate() {
        let path = scratch.path(&format!("{number}.sqlite"));
        let expected = of_trace(&trace);
        let saved = write_database(trace, &path, false, drop).unwrap();
        let found = of_database(&path).unwrap();
        assert_eq!(found.len() as u64, saved.records);
        assert_eq!(found, expected);
        records += found.len();
    }
    assert!(records > 100, "{records}");
}

fn refused(path: &Path) -> SavedError {
    of_database(path).expect_err("it was read")
}

#[test]
fn what_is_no_such_database_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("x.sqlite");
    std::fs::write(&path, "SQLite, no").unwrap();
    assert!(refused(&path).found.contains("does not begin"));
    // A header alone, that says that the file has 4 GB.
    let mut head = b"SQLite format 3\0".to_vec();
    head.extend_from_slice(&[0x10, 0, 1, 1, 0, 64, 32, 32, 0, 0, 0, 1, 0, 0x10, 0, 0]);
    head.resize(100, 0);
    std::fs::write(&path, &head).unwrap();
    assert!(refused(&path).expected.contains("a whole SQLite database"));
    std::fs::remove_file(&path).unwrap();
    let other = refused_after(&path, "create table records(id integer primary key, time_ns integer)");
    assert!(other.found.contains("the table `records` without the column `process`"), "{other}");
    std::fs::remove_file(&path).unwrap();
    let view = "create table a(x); create view records as select * from a";
    assert!(refused_after(&path, view).found.contains("no table `records`"));
    assert!(refused(&scratch.path("none.sqlite")).found.contains("No such file"));
    assert!(refused(&scratch.path("")).found.contains("no regular file"));
}

/// The error for a database that these statements make, or change.
fn refused_after(path: &Path, sql: &str) -> SavedError {
    change(path, sql);
    refused(path)
}

fn change(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_damaged_record_is_told_and_passed_over() {
    let scratch = Scratch::new();
    let path = scratch.path("x.sqlite");
    write_database(sample(), &path, false, drop).unwrap();
    let whole = of_database(&path).unwrap().len();
    let spoil = [
        ("update records set packed = 'text' where kind = 'log'", "packed", "text", "a blob"),
        ("update records set tid = -1 where kind = 'counter'", "tid", "-1", "an integer that fits"),
        ("update records set site = 99 where kind = 'event'", "site", "99, which", "the number of a site"),
        ("update records set thread = x'ff' where kind = 'async_end'", "thread", "a blob", "text"),
    ];
    for (sql, ..) in spoil {
        change(&path, sql);
    }
    let mut saved = SavedRecords::open(&path).unwrap();
    let (mut read, mut errors) = (0, Vec::new());
    loop {
        match saved.advance() {
            Ok(true) => read += 1,
            Ok(false) => break,
            Err(error) => {
                assert!(error.may_go_on, "{error}");
                errors.push(error);
            }
        }
    }
    assert_eq!((read, errors.len()), (whole - 4, 4));
    for (_, column, found, expected) in spoil {
        let told = errors.iter().find(|error| error.path.ends_with(&format!("].{column}"))).unwrap();
        assert!(told.found.starts_with(found) && told.expected.contains(expected), "{told}");
        assert!(told.path.starts_with("records["), "{told}");
    }
    drop(saved);
    change(&path, "drop index records_time");
    assert!(refused(&path).found.contains("without an index"));
}

#[test]
fn flipped_bytes_never_panic() {
    let scratch = Scratch::new();
    let path = scratch.path("x.sqlite");
    write_database(sample(), &path, false, drop).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let spoiled = scratch.path("y.sqlite");
    let mut at = 0;
    let mut refused = 0;
    // A fixed walk over the file; each time one byte is another.
    for step in 0..200_usize {
        at = (at + 7919 + step * 31) % whole.len();
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (step % 8);
        std::fs::write(&spoiled, bytes).unwrap();
        refused += usize::from(of_database(&spoiled).is_err());
    }
    for end in (0..whole.len()).step_by(whole.len() / 40) {
        std::fs::write(&spoiled, &whole[..end]).unwrap();
        refused += usize::from(of_database(&spoiled).is_err());
    }
    assert!(refused > 40, "{refused}");
}
