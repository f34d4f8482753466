//! What the tables hold.

use silverpoint_render::json;
use silverpoint_trace::Trace;
use silverpoint_wire::layout::crash::{CATEGORY, NAMES, SIGNATURE};
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::builder::{Builder, EPOCH_NS, log};
use crate::harness::{ask, database, kept, mistake, sample, site, trace};

#[test]
fn records_have_all_columns() {
    let db = database(sample());
    let rows = ask(
        &db,
        "select time, level, severity, kind, category, name, message, template, file, line, function, process, pid, tid, thread, args, \
context from records where time_ns = (select min(time_ns) from records)",
    );
    let order = "2026-11-20T19:02:11.000001000Z|info|2|log|net::tcp|-|order 7 at 3.14|order {} at {:.2f}|src/net/pump.cpp|88|app::Pump::start\
|indexer|4312|4312|main|[7,3.141592653589793]|{\"request\":7,\"user\":\"ada\"}";
    assert_eq!(rows, [order]);
    let kinds = ask(&db, "select kind, name, duration_ns from records order by time_ns");
    let expected = [
        "log|-|-",
        "span|scan|-",
        "counter|queue.length|-",
        "span|open|-",
        "span_end|open|500",
        "async_begin|fetch|-",
        "async_end|fetch|-",
        "event|file.indexed|-",
        "span_end|scan|7000",
        "span|open|-",
    ];
    assert_eq!(kinds, expected);
    let first = EPOCH_NS as i64 + 1_000;
    assert_eq!(
        ask(&db, "select min(time_ns), count(distinct id), count(*) from records"),
        [format!("{first}|10|10")]
    );
    assert_eq!(ask(&db, "select count(*) from records where rowid <> id"), ["0"]);
}

#[test]
fn marks_and_packed_bytes_are_columns() {
    let mut b = Builder::new();
    b.session(1, "/usr/bin/app", 7);
    b.site(1, 16, &log(Level::Info, "net", 1, "{}", "i"));
    let crash = SiteDescription { names: NAMES.into(), ..log(Level::Fatal, CATEGORY, 1, "crash", SIGNATURE) };
    b.site(1, 17, &crash);
    b.stream(1, 1, 7, "main");
    b.record(1, 1, 16, 1_000, &7i32.to_le_bytes());
    b.record(1, 1, 17, 2_000, &[]);
    b.flush(1, 1, true);
    b.end();
    let db = database(trace(&b.bytes));
    let marks = ask(
        &db,
        "select level, is_crash, is_backtrace, truncated, hex(packed), context_cbor from records order by id",
    );
    assert_eq!(marks, ["info|0|0|0|0700000000000000|-", "fatal|1|0|0||-"]);
    // Who asks for all gets what can be looked at.
    assert_eq!(ask(&db, "select * from records")[0].split('|').count(), 25);
    assert_eq!(
        ask(&db, "select flags, language, recorded_function from sites where level = 'info'"),
        ["0|1|void app::Pump::start(int)"]
    );
}

#[test]
fn records_know_the_span_that_they_are_in() {
    let db = database(sample());
    let rows = ask(
        &db,
        "select r.kind, r.name, s.name from records r left join spans s on s.id = r.span order by r.time_ns",
    );
    let expected = [
        "log|-|-",
        "span|scan|scan",
        "counter|queue.length|-",
        "span|open|open",
        "span_end|open|open",
        "async_begin|fetch|scan",
        "async_end|fetch|-",
        "event|file.indexed|-",
        "span_end|scan|scan",
        "span|open|open",
    ];
    assert_eq!(rows, expected);
}

/// What `silverpoint-tracing` records of a task that moves between threads, and of one that shows to be such late.
#[test]
fn a_span_that_ends_in_another_thread_is_one_span() {
    let mut b = Builder::new();
    b.session(1, "/bin/jobs", 1);
    for (id, name) in [(16, "job"), (17, "own"), (18, "late")] {
        b.site(1, id, &site(Kind::Span, Level::Info, "t", name, "", ""));
    }
    b.stream(1, 1, 8, "a");
    b.stream(1, 2, 9, "b");
    b.record(1, 1, 16, 1_000, &[]);
    b.record(1, 2, 17, 2_000, &[]);
    b.span_end(1, 2, 16, 1_000, 3_000);
    b.record(1, 1, 18, 4_000, &[]);
    b.span_end(1, 1, 18, 4_000, 5_000);
    b.span_end(1, 2, 17, 2_000, 6_000);
    b.flush(1, 1, true);
    b.flush(1, 2, true);
    b.end();
    let db = database(trace(&b.bytes));
    let spans =
        "select s.name, s.tid, s.duration_ns, p.name from spans s left join spans p on p.id = s.parent";
    // None is left open, so none lies around what comes later.
    assert_eq!(ask(&db, spans), ["job|8|2000|-", "late|8|1000|-", "own|9|4000|-"]);
    let within =
        "select r.kind, r.tid, s.name from records r join spans s on s.id = r.span order by r.time_ns";
    let expected =
        ["span|8|job", "span|9|own", "span_end|9|job", "span|8|late", "span_end|8|late", "span_end|9|own"];
    assert_eq!(ask(&db, within), expected);
}

#[test]
fn stretches_and_links_are_one_tree() {
    let mut b = Builder::new();
    b.session(1, "/bin/tasks", 1);
    let sites = [
        (16, Kind::Span, "task", "number\n", "L"),
        (17, Kind::AsyncBegin, "task", "span.id\nspan.begun\nnumber\n", "LLL"),
        (18, Kind::Span, "task", "span.id\n", "L"),
        (19, Kind::AsyncBegin, "step", "span.id\nnumber\n", "LL"),
        (20, Kind::Span, "step", "span.id\n", "L"),
        (21, Kind::Link, "parent", "from\nto\n", "LL"),
        (22, Kind::AsyncEnd, "task", "span.id\nbusy\nidle\n", "LTT"),
        (23, Kind::AsyncEnd, "step", "span.id\nbusy\nidle\n", "LTT"),
        (24, Kind::Event, "in", "", ""),
        (25, Kind::Event, "of", "span.parent\n", "L"),
        (26, Kind::Span, "inner", "", ""),
        (27, Kind::AsyncBegin, "root", "span.id\n", "L"),
    ];
    for (id, kind, name, names, signature) in sites {
        b.site(1, id, &site(kind, Level::Info, "t", name, names, signature));
    }
    b.stream(1, 1, 8, "a");
    b.stream(1, 2, 9, "b");
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    b.record(1, 1, 16, 1_000, &words(&[7]));
    b.span_end(1, 1, 16, 1_000, 2_000);
    b.record(1, 1, 17, 3_000, &words(&[40, 1_000, 7]));
    b.record(1, 1, 18, 3_500, &words(&[40]));
    b.record(1, 1, 19, 4_000, &words(&[41, 7]));
    b.record(1, 1, 21, 4_100, &words(&[40, 41]));
    b.record(1, 1, 27, 4_200, &words(&[42]));
    b.record(1, 1, 21, 4_300, &words(&[0, 42]));
    b.span_end(1, 1, 18, 3_500, 5_000);
    b.record(1, 2, 20, 6_000, &words(&[41]));
    b.record(1, 2, 24, 6_100, &[]);
    b.record(1, 2, 26, 6_200, &[]);
    b.record(1, 2, 25, 6_300, &words(&[40]));
    b.record(1, 2, 25, 6_400, &words(&[0]));
    b.span_end(1, 2, 26, 6_200, 6_500);
    b.span_end(1, 2, 20, 6_000, 7_000);
    b.record(1, 2, 23, 7_100, &words(&[41, 1, 1]));
    b.record(1, 2, 22, 7_200, &words(&[40, 1, 1]));
    b.flush(1, 1, true);
    b.flush(1, 2, true);
    b.end();
    let db = database(trace(&b.bytes));
    let tree = "select s.name, s.kind, s.begin, p.name, p.kind from spans s left join spans p on p.id = s.parent order by s.begin_ns";
    let tree: Vec<_> = ask(&db, &tree.replace("s.begin,", "s.begin_ns % 1000000,")).into_iter().collect();
    assert_eq!(
        tree,
        [
            "task|span|1000|-|-",
            "task|async|3000|task|span",
            "task|span|3500|task|async",
            "step|async|4000|task|async",
            "root|async|4200|-|-",
            "step|span|6000|step|async",
            "inner|span|6200|step|span",
        ]
    );
    // Of the one of a name nothing else need be asked for, and of a thread neither.
    let of = |what: &str| {
        ask(&db, &format!("select p.name from spans s join spans p on p.id = s.parent where {what}"))
    };
    assert_eq!(of("s.name = 'step' and s.kind = 'async'"), ["task"]);
    assert_eq!(of("s.tid = 9 and s.name = 'step'"), ["step"]);
    let events = "select r.name, s.name from records r left join spans s on s.id = r.span where r.kind = 'event' order by r.time_ns";
    assert_eq!(ask(&db, events), ["in|step", "of|task", "of|-"]);
}

/// As `tracing` programs record what is known only later: `span.record("user", 7)`.
#[test]
fn fields_that_a_span_got_later_were_missing_from_its_arguments() {
    let mut b = Builder::new();
    b.session(1, "/bin/tasks", 1);
    let sites = [
        (16, Kind::Span, "task", "number\n", "L"),
        (17, Kind::AsyncBegin, "task", "span.id\nspan.begun\nnumber\n", "LLL"),
        (18, Kind::AsyncInstant, "task", "span.id\nuser\nnumber\n", "LLL"),
        (19, Kind::AsyncEnd, "task", "span.id\nbusy\nidle\n", "LTT"),
        // One's own instants are no fields.
        (20, Kind::AsyncInstant, "task", "id\nown\n", "LL"),
    ];
    for (id, kind, name, names, signature) in sites {
        b.site(1, id, &site(kind, Level::Info, "t", name, names, signature));
    }
    b.stream(1, 1, 8, "a");
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    b.record(1, 1, 16, 1_000, &words(&[7]));
    b.record(1, 1, 17, 2_000, &words(&[40, 1_000, 7]));
    b.record(1, 1, 18, 3_000, &words(&[40, 1, 7]));
    b.record(1, 1, 20, 3_500, &words(&[40, 9]));
    b.record(1, 1, 18, 4_000, &words(&[40, 2, 8]));
    b.span_end(1, 1, 16, 1_000, 5_000);
    b.record(1, 1, 19, 6_000, &words(&[40, 1, 1]));
    b.flush(1, 1, true);
    b.end();
    let db = database(trace(&b.bytes));
    assert_eq!(
        ask(&db, "select kind, args from spans order by begin_ns"),
        [
            "span|{\"number\":8,\"user\":2}",
            "async|{\"span.id\":40,\"span.begun\":1000,\"number\":8,\"user\":2}"
        ]
    );
    assert_eq!(
        ask(&db, "select kind from spans where args->>'user' = 2 and name = 'task'"),
        ["span", "async"]
    );
}

#[test]
fn spans_have_durations_parents_and_arguments() {
    let db = database(sample());
    let rows = ask(
        &db,
        "select s.name, s.kind, s.duration_ns, s.end_ns - s.begin_ns, s.tid, p.name, s.args from spans s left join spans p on p.id = s.parent \
order by s.begin_ns",
    );
    let expected = [
        "scan|span|7000|7000|4312|-|{\"dir\":\"/usr/include\"}",
        "open|span|500|500|4312|scan|{}",
        "fetch|async|3000|3000|4312|scan|{\"id\":5,\"url\":\"http://x\"}",
        "open|span|-|-|4312|-|{}",
    ];
    assert_eq!(rows, expected);
    assert_eq!(ask(&db, "select name from spans where end is null"), ["open"]);
    // The end of an async span is in another thread, at a site of another level.
    assert_eq!(
        ask(&db, "select duration_ns from spans where tid = 4312 and level = 'info' and kind = 'async'"),
        ["3000"]
    );
}

#[test]
fn small_tables() {
    let db = database(sample());
    assert_eq!(
        ask(&db, "select process, pid, executable from processes"),
        ["indexer|4312|/usr/bin/indexer", "digest|77|/opt/digest"]
    );
    assert_eq!(
        ask(&db, "select pid, tid, thread from threads order by tid"),
        ["77|77|digest", "4312|4312|main", "4312|4313|worker"]
    );
    assert_eq!(ask(&db, "select tid, cause, records, bytes from losses"), ["4313|full|3|-"]);
    let sites = ask(
        &db,
        "select pid, kind, level, name, signature, arguments from sites where name = 'file.indexed'",
    );
    assert_eq!(sites, ["4312|event|debug|file.indexed|sLid|[\"path\",\"bytes\",\"id\",\"ratio\"]"]);
    assert_eq!(ask(&db, "select count(*) from records join sites using (site)"), ["10"]);
    assert_eq!(ask(&db, "select name, value, typeof(value) from counters"), ["queue.length|12|integer"]);
}

#[test]
fn a_view_for_each_name_with_typed_columns() {
    let db = database(sample());
    let types = ask(
        &db,
        "select path, typeof(path), bytes, typeof(bytes), id, typeof(id), ratio, typeof(ratio) from file_indexed",
    );
    // An integer beyond 63 bits has no type of its own in SQLite.
    assert_eq!(types, ["a \"b\".h|text|1.8446744073709552e19|real|-1|integer|3.0|real"]);
    assert_eq!(ask(&db, "select dir, duration_ns from scan"), ["/usr/include|7000"]);
    assert_eq!(ask(&db, "select url, duration_ns from fetch where id = 5"), ["http://x|3000"]);
    assert_eq!(ask(&db, "select count(*) from open"), ["2"]);
}

#[test]
fn records_are_those_of_the_other_writers() {
    for path in kept() {
        let trace = Trace::open(&[&path]).unwrap();
        let (mut writer, mut lines) = (json::Writer::new(json::Options::default(), &trace), String::new());
        let mut events = trace.events();
        while let Some(event) = events.next() {
            writer.line(&mut lines, &event);
        }
        let verdict = events.verdict();
        drop(events);
        let field = |value: &serde_json::Value| match value {
            serde_json::Value::Null => "-".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let names = [
            "time", "level", "kind", "category", "message", "file", "line", "function", "process", "pid",
            "tid", "thread",
        ];
        let expected: Vec<String> = lines
            .lines()
            .map(|line| {
                let object: serde_json::Value = serde_json::from_str(line).unwrap();
                names.map(|name| field(&object[name])).join("|")
            })
            .collect();
        let db = database(trace);
        assert_eq!(ask(&db, &format!("select {} from records", names.join(", "))), expected, "{path:?}");
        assert_eq!(db.verdict(), verdict, "{path:?}");
        // Every table and view can be read to its end.
        for (name, columns) in db.tables().unwrap() {
            let rows = ask(&db, &format!("select * from \"{name}\""));
            assert!(!columns.is_empty() && rows.len() <= expected.len().max(1000), "{path:?} {name}");
        }
        let ends = ask(&db, "select count(*) from records where kind = 'span_end' and name is not null");
        assert_eq!(
            ask(&db, "select count(*) from spans where kind = 'span' and end_ns is not null"),
            ends,
            "{path:?}"
        );
    }
}

#[test]
fn nothing_can_be_changed() {
    let scratch = crate::harness::Scratch::new();
    let db = database(sample());
    let other = scratch.path("other.sqlite");
    let other = other.to_str().unwrap();
    for sql in [
        "delete from records",
        "delete from sites",
        "insert into threads values(1, 2, 3, 4)",
        "update losses set records = 0",
        "drop table sites",
        "drop view counters",
        "create table x(y)",
        "create temp table x(y)",
        "create view x as select 1",
        "pragma query_only = off",
        "pragma writable_schema = on",
        "begin",
        "analyze",
        "select load_extension('x')",
    ] {
        let error = mistake(&db, sql);
        assert!(error.is_usage(), "{sql}: {error}");
    }
    for sql in [format!("attach '{other}' as x"), format!("vacuum into '{other}'")] {
        assert!(mistake(&db, &sql).is_usage(), "{sql}");
    }
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
    assert_eq!(
        ask(&db, "select count(*) from records; select name from pragma_table_info('threads')")[0],
        "10"
    );
    assert_eq!(
        ask(
            &db,
            "with recursive n(x) as (select 1 union all select x + 1 from n where x < 3) select sum(x) from n"
        ),
        ["6"]
    );
}

#[test]
fn mistakes_are_told_with_their_place() {
    let db = database(sample());
    assert_eq!(
        mistake(&db, "select\n  levl from records").to_string(),
        "no such column: levl\n    levl from records\n    ^"
    );
    assert!(mistake(&db, "selec 1").is_usage());
    assert!(mistake(&db, "select * from records where pid = ?").to_string().contains("have no value"));
    assert!(mistake(&db, "select json('x')").to_string().contains("malformed JSON"));
}
