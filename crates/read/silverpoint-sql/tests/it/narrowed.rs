//! Constraints that narrow what is read: never what is found.

use proptest::prelude::*;
use silverpoint_sql::Database;
use silverpoint_trace::Trace;
use silverpoint_wire::level::{Kind, Level};

use crate::builder::{Builder, EPOCH_NS, log, text};
use crate::harness::{ask, database, sample, site, trace};

/// Forty blocks in four threads of two processes: ten thousand nanoseconds each, one after the other, each of its own site and level.
fn blocks() -> Trace {
    let mut b = Builder::new();
    for session in [1, 2] {
        b.session(session, if session == 1 { "/bin/a" } else { "/bin/b" }, 100 * session);
        for (at, level) in Level::ALL.into_iter().enumerate() {
            let category = if at % 2 == 0 { "even" } else { "odd" };
            let name = format!("e{at}");
            b.site(session, 16 + at as u32, &site(Kind::Event, level, category, &name, "n\n", "L"));
        }
        b.stream(session, 1, 100 * session, "main");
        b.stream(session, 2, 100 * session + 1, "worker");
    }
    for block in 0..40u64 {
        let (session, stream) = (1 + (block % 2) as u32, 1 + (block / 2 % 2) as u32);
        for record in 0..10 {
            b.record(
                session,
                stream,
                16 + (block / 4 % 6) as u32,
                block * 10_000 + record * 100,
                &record.to_le_bytes(),
            );
        }
        b.flush(session, stream, block % 3 == 0);
    }
    b.end();
    trace(&b.bytes)
}

/// The rows of a query, and the blocks that were read for it.
fn read(db: &Database, sql: &str) -> (Vec<String>, u64) {
    let before = db.blocks_read();
    let rows = ask(db, sql);
    (rows, db.blocks_read() - before)
}

#[test]
fn blocks_are_passed_over() {
    let db = database(blocks());
    let at = |block: u64| EPOCH_NS + block * 10_000;
    assert_eq!(read(&db, "select count(*) from records"), (vec!["400".to_owned()], 40));
    let cases = [
        (format!("time_ns >= {}", at(38)), "20", 2),
        (format!("time_ns < {}", at(3)), "30", 4),
        (format!("time_ns between {} and {}", at(5), at(6) - 1), "10", 1),
        ("time >= '2026-11-20T19:02:11.00039'".to_owned(), "10", 1),
        ("time < '2026-11-20T19:02:11.00001'".to_owned(), "10", 2),
        ("level = 'fatal'".to_owned(), "40", 4),
        ("level in ('fatal', 'error')".to_owned(), "80", 8),
        ("severity >= 4".to_owned(), "80", 8),
        ("category = 'odd'".to_owned(), "200", 20),
        ("name = 'e0'".to_owned(), "80", 8),
        ("tid = 101".to_owned(), "100", 10),
        ("tid > 200".to_owned(), "100", 10),
        ("pid = 200".to_owned(), "200", 20),
        ("process = 'a' and tid in (100, 201)".to_owned(), "100", 10),
        ("kind = 'counter'".to_owned(), "0", 0),
        ("name = 'e0' and name = 'e1'".to_owned(), "0", 0),
        ("line = null".to_owned(), "0", 0),
        ("site = 3 and pid = 100".to_owned(), "40", 4),
    ];
    for (condition, rows, blocks) in cases {
        let (found, read) = read(&db, &format!("select count(*) from records where {condition}"));
        assert_eq!(found, [rows], "{condition}");
        // The first blocks of a stream are read for what they state.
        assert!(read <= blocks, "{condition}: {read} blocks instead of {blocks}");
    }
    let (rows, blocks) = read(&db, "select n from e5 where tid = 201 and n > 7");
    assert_eq!((rows.len() as u64, blocks), (2 * blocks, blocks));
    assert!(blocks < 4, "{blocks}");
}

#[test]
fn a_limit_ends_the_reading() {
    let db = database(blocks());
    assert_eq!(read(&db, "select name from records limit 1").1, 1);
}

/// Spans, async spans, counters and messages of several threads, some without their other halves.
fn tangled(steps: &[(u8, u8, u8)]) -> Trace {
    let mut b = Builder::new();
    for session in [1, 2] {
        b.session(session, if session == 1 { "/bin/a" } else { "/bin/b" }, session);
        b.site(session, 16, &log(Level::Info, "x", 1, "m {}", "L"));
        b.site(session, 17, &site(Kind::Span, Level::Debug, "x", "s", "n\n", "L"));
        b.site(session, 18, &site(Kind::Span, Level::Info, "y", "t", "", ""));
        b.site(session, 19, &site(Kind::AsyncBegin, Level::Info, "y", "a", "id\n", "L"));
        b.site(session, 20, &site(Kind::AsyncBegin, Level::Error, "y", "a", "id\n", "L"));
        b.site(session, 21, &site(Kind::AsyncEnd, Level::Warn, "y", "a", "id\n", "L"));
        b.site(session, 22, &site(Kind::Event, Level::Warn, "x::z", "s", "text\n", "s"));
        b.stream(session, 1, 10 * session, "main");
        b.stream(session, 2, 10 * session + 1, "it's");
    }
    let mut open: Vec<(u32, u32, u32, u64)> = Vec::new();
    for (at, (what, who, value)) in steps.iter().enumerate() {
        let ticks = 1_000 + at as u64 * 100;
        let (session, stream) = (1 + u32::from(who & 1), 1 + u32::from(who >> 1 & 1));
        let number = u64::from(value % 3).to_le_bytes();
        match what % 9 {
            0 => b.record(session, stream, 16, ticks, &number),
            1 => {
                b.record(session, stream, 17, ticks, &number);
                open.push((session, stream, 17, ticks));
            }
            2 => {
                b.record(session, stream, 18, ticks, &[]);
                open.push((session, stream, 18, ticks));
            }
            3 | 4 => {
                if !open.is_empty() {
                    let (session, stream, site, begin) = open.remove(usize::from(*value) % open.len());
                    b.span_end(session, stream, site, begin, ticks);
                }
            }
            5 => b.record(session, stream, 19 + u32::from(value & 1), ticks, &number),
            6 => b.record(session, stream, 21, ticks, &number),
            7 => b.record(session, stream, 22, ticks, &text(["", "a", "A'b"][usize::from(value % 3)])),
            _ => b.flush(session, stream, value & 1 == 0),
        }
    }
    for (session, stream) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        b.flush(session, stream, true);
    }
    b.end();
    trace(&b.bytes)
}

/// A condition on a column that may narrow.
fn condition(begin: bool) -> impl Strategy<Value = String> {
    let operator =
        prop_oneof![Just("="), Just("<"), Just("<="), Just(">"), Just(">="), Just("<>"), Just("is")];
    let word = prop_oneof![
        Just("info"),
        Just("warn"),
        Just("debug"),
        Just("span"),
        Just("span_end"),
        Just("event"),
        Just("x"),
        Just("y"),
        Just("x::z"),
        Just("s"),
        Just("a"),
        Just("m {}"),
        Just("b"),
        Just(""),
        Just("zz")
    ];
    let columns = prop_oneof![
        Just("level"),
        Just("category"),
        Just("name"),
        Just("file"),
        Just("function"),
        Just("process"),
        Just("kind"),
        Just("thread")
    ];
    let texts = (columns, operator.clone(), word.clone()).prop_map(|(c, o, w)| format!("{c} {o} '{w}'"));
    let lists = (word.clone(), word.clone(), any::<bool>())
        .prop_map(|(a, b, level)| format!("{} in ('{a}', '{b}')", if level { "level" } else { "name" }));
    let number = prop_oneof![
        (0i64..25).prop_map(|n| n.to_string()),
        Just("2.5".to_owned()),
        Just("null".to_owned()),
        Just("'11'".to_owned())
    ];
    let integers = prop_oneof![Just("pid"), Just("tid"), Just("severity"), Just("line"), Just("site")];
    let numbers = (integers, operator.clone(), number).prop_map(|(c, o, n)| format!("{c} {o} {n}"));
    let ns = if begin { vec!["begin_ns", "end_ns"] } else { vec!["time_ns"] };
    let names = if begin { vec!["begin", "end"] } else { vec!["time"] };
    let times = (proptest::sample::select(ns), operator.clone(), 0u64..6_000, any::<bool>())
        .prop_map(|(c, o, t, real)| format!("{c} {o} {}{}", EPOCH_NS + t, if real { ".0" } else { "" }));
    let texts_of_times = (proptest::sample::select(names), operator, 0u64..7)
        .prop_map(|(c, o, t)| format!("{c} {o} '2026-11-20T19:02:11.00000{t}'"));
    let collated = word.prop_map(|w| format!("name = '{}' collate nocase", w.to_uppercase()));
    prop_oneof![3 => texts, 1 => lists, 3 => numbers, 3 => times, 1 => texts_of_times, 1 => collated]
}

fn conditions(begin: bool) -> impl Strategy<Value = String> {
    let joined = prop_oneof![3 => Just(" and "), 1 => Just(" or ")];
    (proptest::collection::vec(condition(begin), 1..4), joined).prop_map(|(list, joined)| list.join(joined))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The unary plus keeps SQLite from giving a condition to the table: it tests all rows by itself then.
    #[test]
    fn what_is_found_is_what_is_there(
        steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..60),
        records in proptest::collection::vec(conditions(false), 4),
        spans in proptest::collection::vec(conditions(true), 4),
        narrow in any::<bool>(),
    ) {
        let db = database(tangled(&steps));
        let columns = |table| match (narrow, table) {
            (false, _) => "*",
            (true, "records") => "id, time, level, kind, name, tid, message",
            (true, _) => "id, begin_ns, end_ns, duration_ns, name, tid, level",
        };
        for (table, conditions) in [("records", records), ("spans", spans)] {
            let columns = columns(table);
            for condition in conditions {
                let narrowed = format!("select {columns} from {table} where {condition} order by id");
                let all = format!("select {columns} from (select * from {table} limit -1 offset 0) where {condition} order by id");
                prop_assert_eq!(ask(&db, &narrowed), ask(&db, &all), "{}", narrowed);
            }
        }
    }
}

#[test]
fn joins_narrow_the_inner_table() {
    let db = database(sample());
    let rows = ask(
        &db,
        "select s.name, count(*) from spans s join records r on r.tid = s.tid and r.time_ns between s.begin_ns and s.end_ns group by 1 order by 1",
    );
    assert_eq!(rows, ["fetch|1", "open|2", "scan|5"]);
}
