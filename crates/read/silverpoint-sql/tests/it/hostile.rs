//! Names and numbers that nobody would choose.

use silverpoint_wire::level::{Kind, Level};

use crate::builder::{Builder, text};
use crate::harness::{ask, database, site, trace};

#[test]
fn names_of_any_sort_have_views() {
    let names = [
        "records",
        "RECORDS",
        "counters",
        "sqlite_master",
        "select",
        "it's",
        "say \"x\"",
        "a;drop table sites;--",
        "größe.😀",
        "7",
        "",
        "a b",
        "a_b",
        "A_B",
        "zero\0byte",
        "\u{202e}back",
        "-- comment",
        "/* x",
        "[x]",
        "`x`",
        "a\nb",
    ];
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.stream(1, 1, 1, "main");
    for (at, name) in names.iter().enumerate() {
        b.site(
            1,
            16 + at as u32,
            &site(Kind::Event, Level::Info, "c", name, "it's\nsay \"x\"\nid\nid\n$.a\n\n", "iiiiii"),
        );
        let args: Vec<u8> = (1..7).flat_map(|n: i32| (n + at as i32 * 10).to_le_bytes()).collect();
        b.record(1, 1, 16 + at as u32, 100 + at as u64, &args);
    }
    b.flush(1, 1, true);
    b.end();
    let db = database(trace(&b.bytes));
    let tables = db.tables().unwrap();
    assert_eq!(tables.len(), 7 + names.len());
    let mut found = Vec::new();
    for (name, columns) in &tables[6..] {
        // Names can stand without quotes.
        let rows = ask(&db, &format!("select * from {name}"));
        if name == "counters" {
            continue;
        }
        assert_eq!(columns[9..15], ["it_s", "say_x", "id", "id_2", "a", "arg"], "{name}");
        let [row] = &rows[..] else { panic!("{name}: {rows:?}") };
        let values: Vec<_> = row.split('|').collect();
        let first: i32 = values[9].parse().unwrap();
        let expected: Vec<_> = (0..6).map(|n| (first + n).to_string()).collect();
        assert_eq!(values[9..15], expected[..], "{name}");
        found.push(first / 10);
    }
    found.sort_unstable();
    assert_eq!(found, (0..names.len() as i32).collect::<Vec<_>>());
    assert_eq!(ask(&db, "select count(*) from records where name = 'it''s'"), ["1"]);
    assert_eq!(ask(&db, "select count(*) from sites"), [names.len().to_string()]);
}

#[test]
fn thousands_of_names_and_hundreds_of_arguments() {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.stream(1, 1, 1, "main");
    for at in 0..2_000u32 {
        b.site(1, 16 + at, &site(Kind::Event, Level::Info, "c", &format!("event.{at}"), "n\n", "I"));
        b.record(1, 1, 16 + at, u64::from(at), &at.to_le_bytes());
    }
    // Ten sites of one name, each with other arguments.
    for part in 0..10u32 {
        let names: String = (0..45).map(|at| format!("a{}\n", part * 45 + at)).collect();
        b.site(1, 5_000 + part, &site(Kind::Event, Level::Info, "c", "wide", &names, &"A".repeat(45)));
        b.record(1, 1, 5_000 + part, 9_000, &[7; 45]);
    }
    b.flush(1, 1, true);
    b.end();
    let db = database(trace(&b.bytes));
    assert_eq!(db.names_without_view(), 0);
    assert_eq!(ask(&db, "select n from event_0 union all select n from event_1999"), ["0", "1999"]);
    // What has no column is in the JSON.
    let rows = ask(&db, "select a0, a399, json_extract(args, '$.a449') from wide");
    assert_eq!(rows.len(), 10);
    assert!(["7|-|-", "-|7|-", "-|-|7"].iter().all(|row| rows.iter().any(|found| found == row)), "{rows:?}");
    let wide = db.tables().unwrap().into_iter().find(|(name, _)| name == "wide").unwrap();
    assert_eq!(wide.1.len(), 9 + 400 + 2);
}

#[test]
fn more_names_than_views_are_told() {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    for at in 0..4_100u32 {
        b.site(1, 16 + at, &site(Kind::Instant, Level::Info, "c", &format!("i{at}"), "", ""));
    }
    b.end();
    assert_eq!(database(trace(&b.bytes)).names_without_view(), 4);
}

#[test]
fn broken_arguments_and_signatures_are_null() {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.stream(1, 1, 1, "main");
    b.site(1, 16, &site(Kind::Event, Level::Info, "c", "cut", "t\nn\n", "si"));
    b.site(1, 17, &site(Kind::Counter, Level::Info, "c", "no", "v\n", "?"));
    let mut long = text("abc");
    long[0] = 200;
    b.record(1, 1, 16, 1, &long);
    b.record(1, 1, 17, 2, &[1; 8]);
    b.record(1, 1, 999, 3, &[1; 8]);
    b.span_end(1, 1, 998, 1, 4);
    b.flush(1, 1, false);
    b.end();
    let db = database(trace(&b.bytes));
    assert_eq!(ask(&db, "select t, n, args from cut"), ["-|-|{\"t\":null,\"n\":null}"]);
    assert_eq!(ask(&db, "select value from counters"), ["-"]);
    assert_eq!(
        ask(&db, "select kind, args from records where site is null"),
        ["unknown|{\"site\":999}", "span_end|-"]
    );
    assert_eq!(ask(&db, "select count(*) from spans"), ["0"]);
}
