//! Databases that are written: the same tables, for other programs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use silverpoint_sql::{Error, write_database};
use silverpoint_trace::{Trace, Verdict};
use silverpoint_wire::level::{Kind, Level};

use crate::builder::{Builder, text};
use crate::harness::{Scratch, ask, database, kept, sample, site, trace};

/// What Python's module gives for a query, as the harness writes it; `None` where there is no Python.
fn python(path: &Path, queries: &[String]) -> Option<Vec<String>> {
    let script = "
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute('pragma integrity_check').fetchall() == [('ok',)]
def shown(value):
    return '-' if value is None else value if isinstance(value, str) else repr(value)
for query in sys.argv[2:]:
    for row in db.execute(query):
        sys.stdout.write('|'.join(shown(value) for value in row) + '\\x1e')
";
    let mut command = Command::new("python3");
    command
        .args(["-c", script])
        .arg(path)
        .args(queries)
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::null());
    let Ok(output) = command.output() else {
        silverpoint_tests::skipped!("what Python says to the database: it is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.split_terminator('\x1e').map(str::to_owned).collect())
}

#[test]
fn another_program_finds_the_same_in_it() {
    let scratch = Scratch::new();
    let traces = kept().into_iter().map(|path| Trace::open(&[path]).unwrap()).chain([sample()]);
    for (number, trace) in traces.enumerate() {
        let path = scratch.path(&format!("{number}.sqlite"));
        let files = trace.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
        let again = if files == [Path::new("t.silver")] { sample() } else { Trace::open(&files).unwrap() };
        let db = database(again);
        let saved = write_database(trace, &path, false, drop).unwrap();
        let tables = db.tables().unwrap();
        let numbers: Vec<_> = tables.iter().map(|(name, _)| format!("select count(*) from {name}")).collect();
        let mut queries = numbers;
        for (name, columns) in &tables {
            // Floats are written in other ways: compared elsewhere.
            let texts: Vec<_> = columns
                .iter()
                .map(|c| format!("case typeof(\"{c}\") when 'real' then 'real' else \"{c}\" end"))
                .collect();
            queries.push(format!("select {} from {name} order by 1, 2, 3, 4", texts.join(", ")));
        }
        let expected: Vec<String> = queries.iter().flat_map(|query| ask(&db, query)).collect();
        assert_eq!(
            ask(&db, "select (select count(*) from records), (select count(*) from spans)"),
            [format!("{}|{}", saved.records, saved.spans)]
        );
        assert_eq!(saved.verdict, db.verdict());
        let Some(found) = python(&path, &queries) else { return };
        assert_eq!(found, expected, "{files:?}");
    }
    assert!(scratch.names().iter().all(|name| name.ends_with(".sqlite")), "{:?}", scratch.names());
}

#[test]
fn it_takes_the_place_of_nothing_unless_asked() {
    let scratch = Scratch::new();
    let path = scratch.path("out.sqlite");
    std::fs::write(&path, "mine").unwrap();
    let refused = write_database(sample(), &path, false, drop).unwrap_err();
    assert!(matches!(&refused, Error::File(why) if why.contains("--force")), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert_eq!(write_database(sample(), &path, true, drop).unwrap().verdict, Verdict::Lossy);
    assert!(std::fs::read(&path).unwrap().starts_with(b"SQLite format 3\0"));
    let folder = scratch.path("folder");
    std::fs::create_dir(&folder).unwrap();
    assert!(write_database(sample(), &folder, true, drop).is_err());
    assert!(write_database(sample(), &scratch.path("none/out.sqlite"), true, drop).is_err());
    assert_eq!(scratch.names(), ["folder", "out.sqlite"]);
}

#[test]
fn a_trace_is_not_overwritten_by_its_database() {
    let scratch = Scratch::new();
    let path = scratch.path("t.silver");
    std::fs::copy(&kept()[0], &path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let refused = write_database(Trace::open(&[&path]).unwrap(), &path, true, drop).unwrap_err();
    assert!(refused.to_string().contains("would overwrite an input"), "{refused}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn an_interrupted_one_leaves_nothing() {
    let scratch = Scratch::new();
    let path = scratch.path("file:out.sqlite?mode=memory");
    let is_done = Arc::new(AtomicBool::new(false));
    let ended = write_database(sample(), &path, false, |handle| {
        // The first statement that SQLite runs from now on finds it.
        let is_done = is_done.clone();
        std::thread::spawn(move || {
            while !is_done.load(Ordering::Relaxed) {
                handle.interrupt();
            }
        });
    });
    is_done.store(true, Ordering::Relaxed);
    match ended {
        Err(Error::Interrupted) => assert!(scratch.names().is_empty(), "{:?}", scratch.names()),
        // It was sooner done than the thread began.
        Ok(_) => assert_eq!(scratch.names(), ["file:out.sqlite?mode=memory"]),
        Err(error) => panic!("{error}"),
    }
}

/// Events that are called like functions of SQLite, arguments of equal names, and texts with a zero character and with backslashes.
fn odd() -> Trace {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/app", 7);
    for (id, name, names, signature) in [
        (16, "json_each", "a\n", "i"),
        (17, "JSON_TREE", "", "i"),
        (18, "move", "id\nid\n", "ii"),
        (19, "texts", "plain\na.b\nlist\n", "ss[s"),
    ] {
        b.site(1, id, &site(Kind::Event, Level::Info, "c", name, names, signature));
    }
    b.site(1, 20, &site(Kind::Counter, Level::Info, "c", "rss", "", "i"));
    b.stream(1, 1, 7, "main");
    let one = 1_i32.to_le_bytes();
    b.record(1, 1, 16, 1_000, &one);
    b.record(1, 1, 17, 2_000, &one);
    b.record(1, 1, 18, 3_000, &[one, 2_i32.to_le_bytes()].concat());
    let list = [&1_u32.to_le_bytes()[..], &text("u\0v")].concat();
    let texts = [text("x\0y\\u0000\\"), text("p\0\0q"), list].concat();
    b.record(1, 1, 19, 4_000, &texts);
    b.record(1, 1, 20, 5_000, &one);
    b.flush(1, 1, false);
    b.end();
    trace(&b.bytes)
}

#[test]
fn no_view_stands_before_a_function_and_texts_are_whole() {
    let scratch = Scratch::new();
    let path = scratch.path("odd.sqlite");
    write_database(odd(), &path, false, drop).unwrap();
    let queries = [
        ("select a from event_json_each", "1"),
        ("select arg0 from event_JSON_TREE", "1"),
        ("select id, id_2, args from move", "1|2|{\"id\":1,\"id_2\":2}"),
        ("select hex(plain), hex(a_b) from texts", "7800795C75303030305C|70000071"),
        ("select list from texts", "[\"u\\u0000v\"]"),
        ("select name, value from counters", "rss|1"),
        ("select count(*) from json_each('[1,2]')", "2"),
    ];
    let db = database(odd());
    for (query, expected) in queries {
        assert_eq!(ask(&db, query), [expected], "{query}");
    }
    let texts: Vec<String> = queries.iter().map(|(query, _)| (*query).to_owned()).collect();
    let Some(found) = python(&path, &texts) else { return };
    assert_eq!(found, queries.map(|(_, expected)| expected));
}
