//! The shape of every route, as `API.md` states it.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};
use silverpoint_wire::block::LossInfo;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::builder::{Builder, log, text};
use crate::client::{Server, encoded};

const MILLISECOND: u64 = 1_000_000;

fn named(kind: Kind, name: &str, names: &str, signature: &str) -> SiteDescription {
    SiteDescription { kind, names: names.into(), ..log(Level::Debug, "app::net", 5, name, signature) }
}

/// Two threads: `pump` has 10 outer spans of 8 ms, each with an inner one of 2 ms.
/// Each has a counter and a line; `idle` has one line.
/// Two async spans overlap.
fn sample() -> Builder {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    b.stream(1, 2, 10, "idle");
    b.site(1, 16, &log(Level::Warn, "app::net", 88, "line {}", "ls"));
    b.site(1, 17, &named(Kind::Span, "outer", "", ""));
    b.site(1, 18, &named(Kind::Span, "inner", "", ""));
    b.site(1, 19, &named(Kind::Counter, "queue", "", "L"));
    b.site(1, 20, &named(Kind::AsyncBegin, "fetch", "id\n", "L"));
    b.site(1, 21, &named(Kind::AsyncEnd, "fetch", "id\n", "L"));
    for number in 0..10u64 {
        let begin = (number * 10 + 10) * MILLISECOND;
        b.record(1, 1, 17, begin, &[]);
        b.record(1, 1, 18, begin + MILLISECOND, &[]);
        let line = [&(number as i64).to_le_bytes()[..], &text("<b>&\"")].concat();
        b.record(1, 1, 16, begin + 2 * MILLISECOND, &line);
        b.span_end(1, 1, 18, begin + MILLISECOND, begin + 3 * MILLISECOND);
        b.record(1, 1, 19, begin + 4 * MILLISECOND, &number.to_le_bytes());
        b.span_end(1, 1, 17, begin, begin + 8 * MILLISECOND);
    }
    let idle = [&(-1i64).to_le_bytes()[..], &text("x")].concat();
    b.record(1, 2, 16, 11 * MILLISECOND, &idle);
    for (site, id, at) in [(20, 1u64, 12), (20, 2, 13), (21, 1, 14), (21, 2, 15)] {
        b.record(1, 2, site, at * MILLISECOND, &id.to_le_bytes());
    }
    b.flush(1, 1, false);
    b.flush(1, 2, false);
    b
}

fn served() -> Server {
    let mut b = sample();
    let losses = [3, 0, 0, 0, 0, 0, 0, 0];
    b.losses(1, &LossInfo { stream: 1, losses, stalls: 0, stall_ns: 0 });
    b.end();
    Server::open(&b.bytes)
}

fn number(value: &Value) -> i64 {
    value.as_str().unwrap().parse().unwrap()
}

/// The track of a name.
fn track(server: &Server, name: &str) -> Value {
    let tracks = server.ask_finished("/api/tracks");
    tracks["tracks"].as_array().unwrap().iter().find(|track| track["name"] == name).unwrap().clone()
}

#[test]
fn a_trace_has_a_summary_tracks_and_sites() {
    let server = served();
    let trace = server.ask_finished("/api/trace");
    assert_eq!(
        trace["progress"],
        json!({"state": "finished", "records": "65", "fraction": 1.0, "problem": null})
    );
    assert_eq!(trace["levels"], json!([0, 54, 0, 11, 0, 0]));
    assert_eq!(number(&trace["end"]) - number(&trace["begin"]), 98 * MILLISECOND as i64);
    assert_eq!((&trace["lost"], &trace["live"], &trace["tracks"]), (&json!("3"), &json!(false), &json!(4)));
    assert!(trace["messages"][0].as_str().unwrap().contains("3 records"), "{trace}");

    let tracks = server.ask("/api/tracks");
    let shown: Vec<String> = tracks["tracks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|track| format!("{} {} {} {}", track["kind"], track["name"], track["records"], track["depth"]))
        .collect();
    assert_eq!(
        shown,
        [
            r#""thread" "pump" 60 2"#,
            r#""thread" "idle" 5 0"#,
            r#""async" "app::net: fetch" 2 2"#,
            r#""counter" "queue" 10 0"#,
        ]
    );
    let second = server.ask("/api/tracks?from=1&count=1");
    assert_eq!((&second["total"], &second["tracks"][0]["name"]), (&json!(4), &json!("idle")));

    let sites = server.ask("/api/sites?from=1&count=1");
    let outer = &sites["sites"][0];
    assert_eq!(
        (&sites["total"], &outer["name"], &outer["kind"]),
        (&json!(6), &json!("outer"), &json!("span"))
    );
    assert_eq!(
        (&outer["records"], &outer["line"], &outer["file"]),
        (&json!(10), &json!(5), &json!("src/net/pump.cpp"))
    );
}

#[test]
fn lanes_have_nested_spans_moments_and_values() {
    let server = served();
    let trace = server.ask_finished("/api/trace");
    let (from, to) = (number(&trace["begin"]), number(&trace["end"]) + 1);
    let ids = ["pump", "queue", "app::net: fetch"].map(|name| track(&server, name)["id"].as_i64().unwrap());
    let lanes = |from: i64, to: i64, width: u32| {
        let [pump, queue, fetch] = ids;
        server.ask(&format!("/api/lanes?from={from}&to={to}&width={width}&tracks={pump},{queue},{fetch},999"))
    };
    let all = lanes(from, to, 8192);
    assert_eq!(all["tracks"].as_array().unwrap().len(), 3);
    assert_eq!(all["merged_ns"], "0");
    let ms = MILLISECOND as i64;
    let begins: Vec<i64> = (0..10).map(|number| number * 10 * ms).collect();
    let rows = &all["tracks"][0]["rows"];
    assert_eq!(rows[0]["begin"], json!(begins));
    assert_eq!(rows[0]["duration"], json!(vec![8 * ms; 10]));
    assert_eq!(rows[1]["begin"], json!(begins.iter().map(|begin| begin + ms).collect::<Vec<_>>()));
    assert_eq!(rows[1]["duration"], json!(vec![2 * ms; 10]));
    assert_eq!(all["tracks"][0]["instants"]["level"], json!(vec![3; 10]));
    let points = &all["tracks"][1]["points"];
    assert_eq!(points["last"], json!((0..10).map(f64::from).collect::<Vec<_>>()));
    assert_eq!(points["at"][0], json!(4 * ms));
    let fetches = &all["tracks"][2]["rows"];
    assert_eq!((&fetches[0]["begin"], &fetches[1]["begin"]), (&json!([2 * ms]), &json!([3 * ms])));
    // One pixel for everything: pixels are powers of two, so it is between two and three of these.
    let coarse = lanes(from, to, 1);
    let row = &coarse["tracks"][0]["rows"][0];
    let counts: Vec<u64> =
        row["count"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
    assert!(counts.len() <= 3 && counts.iter().sum::<u64>() == 10, "{counts:?}");
    assert_eq!(row["duration"], json!(vec![8 * ms; counts.len()]));
    let exact = server.ask(&format!("/api/lanes?from={from}&to={to}&width=1&exact=1&tracks={}", ids[0]));
    assert_eq!(exact["tracks"][0], all["tracks"][0]);
    // Within a span: it began before.
    let within = lanes(from + 4 * ms, from + 5 * ms, 100);
    assert_eq!(within["tracks"][0]["rows"][0]["begin"], json!([-4 * ms]));
    assert_eq!(within["tracks"][0]["rows"][1]["begin"], json!([]));
}

#[test]
fn records_are_found_by_number_time_and_from_the_end() {
    let server = served();
    server.ask_finished("/api/trace");
    let first = server.ask("/api/records?from=0&count=3");
    assert_eq!((&first["from"], &first["total"]), (&json!("0"), &json!("65")));
    let row = &first["rows"][2];
    assert_eq!(
        (&row["number"], &row["tid"], &row["thread"]),
        (&json!("2"), &json!(10), &json!("idle")),
        "{row}"
    );
    let last = server.ask("/api/records?last=1&count=2");
    assert_eq!((&last["from"], &last["rows"][1]["kind"]), (&json!("63"), &json!("span_end")));
    assert_eq!(last["rows"][1]["duration"], json!((8 * MILLISECOND).to_string()));
    let begin = number(&first["rows"][0]["time"]);
    let at = |time: i64| server.ask(&format!("/api/records?at={time}&count=1"));
    let found = at(begin + 20 * MILLISECOND as i64);
    assert_eq!(number(&found["rows"][0]["time"]), begin + 20 * MILLISECOND as i64);
    assert_eq!(at(i64::MIN)["from"], "0");
    let behind = at(i64::MAX);
    assert_eq!((&behind["from"], &behind["rows"]), (&json!("65"), &json!([])));

    let filter = encoded("-l warn -t pump");
    let warnings = server.ask_finished(&format!("/api/records?filter={filter}&from=0&count=500"));
    assert_eq!(
        (&warnings["total"], &warnings["rows"][3]["message"]),
        (&json!("10"), &json!("line 3 <b>&\""))
    );
    let one = server.ask(&format!("/api/record?filter={filter}&number=3"));
    assert_eq!(one["arguments"][0]["kind"], "int");
    assert_eq!(
        (&one["arguments"][0]["value"], &one["arguments"][1]["text"]),
        (&json!("3"), &json!("<b>&\""))
    );
    assert_eq!((&one["template"], &one["row"]["number"]), (&json!("line {}"), &json!("3")));
    let whole = server.ask(&format!("/api/records?filter={filter}&from=3&count=1&values=1"));
    assert_eq!((&whole["rows"][0]["row"], &whole["rows"][0]["arguments"]), (&one["row"], &one["arguments"]));
    assert_eq!(server.get(&format!("/api/record?filter={filter}&number=10")).status, 409);
}

#[test]
fn numbers_of_records_add_up() {
    let server = served();
    let trace = server.ask_finished("/api/trace");
    let (from, to) = (number(&trace["begin"]), number(&trace["end"]) + 1);
    for parts in [1, 7, 2000] {
        let histogram = server.ask(&format!("/api/histogram?from={from}&to={to}&parts={parts}"));
        let levels = histogram["levels"].as_array().unwrap();
        let sums: Vec<u64> = levels
            .iter()
            .map(|level| {
                let level = level.as_array().unwrap();
                assert!(level.len() <= parts);
                level.iter().map(|count| count.as_u64().unwrap()).sum()
            })
            .collect();
        assert_eq!(sums, [0, 54, 0, 11, 0, 0]);
    }
    let facets = server.ask("/api/facets");
    assert_eq!(
        facets["categories"],
        json!([{"value": "app::net", "records": 45, "filter": "--category app::net"}])
    );
    assert_eq!(facets["threads"][0]["value"], "pump");
    assert_eq!(facets["more"]["threads"], 0);

    let stats = server.ask("/api/stats");
    let outer = &stats["spans"][0];
    assert_eq!((&outer["name"], &outer["count"]), (&json!("outer"), &json!(10)));
    assert_eq!((&outer["min"], &outer["total"]), (&json!("8000000"), &json!("80000000")));
    assert_eq!((&stats["counters"][0]["max"], &stats["losses"][0]["records"]), (&json!(9.0), &json!("3")));
    let limited = server.ask("/api/stats?count=1");
    assert_eq!((&limited["more"]["spans"], limited["sites"].as_array().unwrap().len()), (&json!(1), 1));
}

#[test]
fn queries_are_answered_by_rows_and_replaced_by_later_ones() {
    let server = served();
    let run = |query: &str| {
        let job = server.post("/api/sql", query).json()["job"].as_u64().unwrap();
        let answer = server.wait_for(&format!("/api/sql?job={job}"), |answer| answer["state"] != "running");
        (job, answer)
    };
    let (first, answer) = run("select level, count(*), null, x'00ff' from records group by level order by 2");
    assert_eq!(answer["state"], "done", "{answer}");
    assert_eq!(answer["rows"][0][1], "11");
    assert_eq!((&answer["rows"][0][2], &answer["rows"][0][3]), (&Value::Null, &json!("x'00ff'")));
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    let running = server.post("/api/sql", endless).json()["job"].as_u64().unwrap();
    assert_eq!(server.get(&format!("/api/sql?job={first}")).status, 409);
    server.wait_for(&format!("/api/sql?job={running}"), |answer| answer["state"] == "running");
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    let (job, answer) = run(many);
    assert_eq!(
        (&answer["cut"], &answer["total"], &answer["state"]),
        (&json!(true), &json!(10_000), &json!("done"))
    );
    let rest = server.ask(&format!("/api/sql?job={job}&from=9999"));
    assert_eq!(rest["rows"], json!([["10000"]]));
    for (query, wanted) in
        [("delete from records", ""), ("select nothing from records", "nothing"), ("selec", "")]
    {
        let (_, answer) = run(query);
        assert_eq!(answer["state"], "failed", "{query}");
        assert!(answer["error"].as_str().unwrap().contains(wanted), "{answer}");
    }
    let job = server.post("/api/sql", endless).json()["job"].as_u64().unwrap();
    assert_eq!(server.post("/api/sql/cancel", "").status, 200);
    let ended = server.wait_for(&format!("/api/sql?job={job}"), |answer| answer["state"] != "running");
    assert_eq!(ended["error"], "the query was ended");
    let tables = server.ask("/api/sql/tables");
    assert_eq!(tables["tables"][0]["name"], "records");
    assert_eq!(server.post("/api/sql", &"x".repeat(65_537)).status, 413);
}

#[test]
fn tables_that_could_not_be_opened_are_opened_when_they_are_asked_for_again() {
    let server = served();
    server.ask_finished("/api/trace");
    let away = server.path.with_extension("away");
    std::fs::rename(&server.path, &away).unwrap();
    let failed = server.get("/api/sql/tables");
    let again = server.get("/api/sql/tables");
    std::fs::rename(&away, &server.path).unwrap();
    for answer in [failed, again] {
        let status = answer.status;
        let answer = answer.json();
        assert_eq!((status, &answer["code"]), (500, &json!("failed")), "{answer}");
        assert!(answer["error"].as_str().unwrap().contains(".silver"), "{answer}");
    }
    assert_eq!(server.ask("/api/sql/tables")["tables"][0]["name"], "records");
}

#[test]
fn a_filter_line_is_completed() {
    let server = served();
    server.ask_finished("/api/trace");
    let complete = |text: &str| {
        let answer =
            server.ask(&format!("/api/complete?text={}&at={}", encoded(text), text.encode_utf16().count()));
        let texts =
            answer["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap().to_owned());
        (answer["from"].as_u64().unwrap(), texts.collect::<Vec<_>>())
    };
    assert_eq!(complete("-c n"), (3, vec!["app::net".to_owned()]));
    assert_eq!(complete("-l warn --thr"), (8, vec!["--thread".to_owned()]));
    assert_eq!(complete("-t ü -l w").1, ["warn"]);
    assert_eq!(complete("id=1 and i").1, ["id"]);
    // Of an empty line: names, as the page asks when the box gets the focus.
    let empty = server.ask("/api/complete?at=0");
    assert_eq!(empty, server.ask("/api/complete?text=&at=0"));
    assert!(empty["items"].as_array().unwrap().iter().any(|item| item["text"] == "id"), "{empty}");
}

#[test]
fn a_file_that_grows_is_read_on() {
    let mut b = sample();
    let written = b.bytes.len();
    let mut server = Server::of(&b.bytes, true);
    server.exchange();
    let trace = server.wait_for("/api/trace", |trace| trace["progress"]["records"] == "65");
    assert_eq!(trace["live"], true);
    let line = [&5i64.to_le_bytes()[..], &text("late")].concat();
    b.record(1, 1, 16, 1000 * MILLISECOND, &line);
    b.flush(1, 1, false);
    b.end();
    OpenOptions::new().append(true).open(&server.path).unwrap().write_all(&b.bytes[written..]).unwrap();
    let trace = server.ask_finished("/api/trace");
    assert_eq!(trace["progress"]["records"], "66");
}

#[test]
fn a_range_has_a_tree_of_spans_and_numbers_of_its_own() {
    let server = served();
    let begin = number(&server.ask_finished("/api/trace")["begin"]);
    let ms = MILLISECOND as i64;
    // From within the first pair of spans into the third outer one.
    let (from, to) = (begin + 2 * ms, begin + 24 * ms);
    let flame = server.ask_finished(&format!("/api/flame?from={from}&to={to}"));
    let column = |name: &str| -> Vec<i64> {
        flame[name].as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect()
    };
    let sites = server.ask("/api/sites");
    let name = |site: i64| match site {
        -1 => "-",
        site => sites["sites"][site as usize]["name"].as_str().unwrap(),
    };
    let (parents, counts, times) = (column("parent"), column("count"), column("time"));
    let shown: Vec<String> = column("site")
        .iter()
        .enumerate()
        .map(|(at, site)| {
            let around = column("site")[parents[at] as usize];
            format!("{} in {}: {} {}", name(*site), name(around), counts[at], times[at] / ms)
        })
        .collect();
    let has = |line: &str| assert!(shown.contains(&line.to_owned()), "{line}: {shown:?}");
    // 6 ms of the first, 8 of the second, 4 of the third; of the inner ones 1, 2 and 2.
    has("outer in -: 3 18");
    has("inner in outer: 3 5");
    has("line {} in inner: 3 0");
    // Begins, and ends: two sites.
    has("fetch in -: 2 0");
    assert_eq!(flame["processes"]["0"], "p 7");

    let stats = server.ask_finished(&format!("/api/stats?from={from}&to={to}"));
    let outer = stats["spans"].as_array().unwrap().iter().find(|span| span["name"] == "outer").unwrap();
    assert_eq!((&outer["count"], &outer["max"]), (&json!(2), &json!((8 * ms).to_string())));
    let line = stats["sites"].as_array().unwrap().iter().find(|site| site["name"] == "line {}").unwrap();
    assert_eq!(line["records"], 3);
    assert!(line["bytes"].as_u64().unwrap() >= 3 * 16, "{line}");
    assert_eq!(server.ask_finished("/api/stats?file=1")["records"], "0");
    assert_eq!(server.ask_finished("/api/stats?file=0")["records"], "65");
}

#[test]
fn values_are_counted_and_texts_are_found() {
    let server = served();
    server.ask_finished("/api/trace");
    let filter = encoded("-l warn");
    let values = server.ask_finished(&format!("/api/values?filter={filter}&name=arg1"));
    assert_eq!(
        values["values"],
        json!([
            {"value": "<b>&\"", "number": false, "records": 10}, {"value": "x", "number": false, "records": 1},
        ])
    );
    let numbers = server.ask_finished(&format!("/api/values?filter={filter}&name=arg0&count=3"));
    assert_eq!(
        (&numbers["values"][0], &numbers["more"]),
        (&json!({"value": "-1", "number": true, "records": 1}), &json!(8))
    );
    assert_eq!(server.ask_finished("/api/values?name=nothing.there")["values"], json!([]));
    let found = server.ask_finished(&format!("/api/search?filter={filter}&text={}", encoded("LINE 3 <B>")));
    assert_eq!((&found["numbers"], &found["count"]), (&json!(["4"]), &json!(1)));
    assert_eq!(server.ask_finished("/api/search?text=zzz")["count"], 0);
}
