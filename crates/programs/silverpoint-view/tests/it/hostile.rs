//! Parameters out of bounds, and traces that were made to harm.

use std::fs::File;

use serde_json::json;
use silverpoint_wire::level::{Kind, Level};

use crate::builder::{Builder, log, text};
use crate::client::{Server, encoded};

fn begun() -> Builder {
    let mut b = Builder::new();
    b.session(1, "/bin/<script>alert(1)</script>", 7);
    b.stream(1, 1, 9, "<b onclick=x>");
    b.site(1, 16, &log(Level::Info, "</script>", 1, "{}", "s"));
    b
}

fn ended(mut b: Builder) -> Server {
    b.flush(1, 1, false);
    b.end();
    Server::open(&b.bytes)
}

#[test]
fn every_parameter_has_bounds() {
    let mut b = begun();
    b.record(1, 1, 16, 1000, &text("x"));
    let server = ended(b);
    let long = "x".repeat(5000);
    for target in [
        "/api/trace?x=1",
        "/api/trace?filter=a&filter=b",
        "/api/trace?filter=%ff",
        &format!("/api/trace?filter={long}"),
        "/api/trace?filter=--level+nothing",
        "/api/trace?filter=id%3D1+and",
        "/api/tracks?count=0",
        "/api/tracks?count=5001",
        "/api/tracks?from=-1",
        "/api/sites?count=5001",
        "/api/lanes",
        "/api/lanes?from=0&to=1&width=10",
        "/api/lanes?from=0&to=1&width=0&tracks=0",
        "/api/lanes?from=0&to=1&width=8193&tracks=0",
        "/api/lanes?from=1&to=1&width=1&tracks=0",
        "/api/lanes?from=0&to=9223372036854775808&width=1&tracks=0",
        "/api/lanes?from=0&to=1&width=1&tracks=a",
        "/api/lanes?from=0&to=1&width=1&tracks=4294967296",
        &format!("/api/lanes?from=0&to=1&width=1&tracks=0{}", ",0".repeat(200)),
        "/api/records",
        "/api/records?from=0&at=0",
        "/api/records?from=0&count=501",
        "/api/records?last=2",
        "/api/record",
        "/api/record?number=18446744073709551616",
        "/api/histogram?from=0&to=1&parts=2001",
        "/api/histogram?from=0&to=1&parts=0",
        "/api/facets?count=1001",
        "/api/stats?count=0",
        "/api/stats?from=1&to=1",
        "/api/stats?from=x",
        "/api/flame",
        "/api/values",
        "/api/values?name=",
        "/api/values?name=x&count=1001",
        "/api/search?text=",
        "/api/flame?from=1&to=0",
        "/api/complete?text=a",
        "/api/complete?text=a&at=4097",
        "/api/sql?job=x",
        "/api/sql?from=0",
    ] {
        let answer = server.get(target);
        assert_eq!(answer.status, 400, "{target}");
        assert!(!answer.json()["error"].as_str().unwrap().is_empty());
    }
    let wrong = server.get(&format!("/api/trace?filter={}", encoded("-l info -c a=b"))).json();
    assert_eq!(wrong["code"], "filter");
    assert!(wrong["error"].as_str().unwrap().contains("column"), "{wrong}");
    // The whole range of times is a range like any other.
    let ever = format!("from={}&to={}", i64::MIN, i64::MAX);
    server.ask(&format!("/api/lanes?{ever}&width=100&tracks=0"));
    let histogram = server.ask(&format!("/api/histogram?{ever}&parts=2000"));
    assert_eq!(
        histogram["levels"][2].as_array().unwrap().iter().filter(|count| **count != json!(0)).count(),
        1
    );
    server.ask(&format!("/api/records?from={}&count=500", u64::MAX));
}

#[test]
fn texts_are_data_and_large_ones_are_cut() {
    let mut b = begun();
    let large = "<b>ä".repeat(10 << 20 >> 2);
    b.record(1, 1, 16, 1000, &text(&large));
    b.record(1, 1, 16, 2000, &text("</script><script>alert(1)</script>\u{2028}\0"));
    let server = ended(b);
    server.ask_finished("/api/trace");
    // A row at least: what is large comes alone.
    let rows = server.ask("/api/records?from=0&count=500");
    let row = &rows["rows"][0];
    assert_eq!(row["cut"], true);
    assert!(row["message"].as_str().unwrap().len() <= 2000);
    let answer = server.get("/api/record?number=0");
    assert!(answer.body.len() < 4 << 20, "{}", answer.body.len());
    let value = &answer.json()["arguments"][0];
    let kept = value["text"].as_str().unwrap().len();
    assert!(kept <= 65_536 && kept + value["cut"].as_u64().unwrap() as usize == large.len());
    let answer = server.get("/api/record?number=1");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let one = answer.json();
    assert_eq!(one["arguments"][0]["text"], "</script><script>alert(1)</script>\u{2028}\0");
    assert_eq!(one["row"]["thread"], "<b onclick=x>");
}

#[test]
fn ten_thousand_tracks_are_listed_by_pages() {
    let mut b = begun();
    for number in 0..10_000u32 {
        b.stream(1, number + 2, number + 100, &format!("thread {number}"));
        b.record(1, number + 2, 16, u64::from(number) * 1000, &text("x"));
        b.flush(1, number + 2, false);
    }
    let server = ended(b);
    server.ask_finished("/api/trace");
    let page = server.ask("/api/tracks?from=9990&count=5000");
    assert_eq!((&page["total"], page["tracks"].as_array().unwrap().len()), (&json!(10_000), 10));
    let facets = server.ask("/api/facets?count=1000");
    assert_eq!(
        (facets["threads"].as_array().unwrap().len(), &facets["more"]["threads"]),
        (1000, &json!(9000))
    );
    let trace = server.get("/api/trace");
    assert!(trace.body.len() < 100_000);
}

/// Names at every node, containers without end, spans that never end and ends without begins.
#[test]
fn deep_and_broken_structures_are_shown_in_part() {
    let mut b = begun();
    let names = format!("[<R|{}:A,>", "n".repeat(10_000));
    b.site(1, 17, &log(Level::Info, "x", 1, "{}", &names));
    let mut span = log(Level::Info, "x", 1, "deep", "");
    span.kind = Kind::Span;
    b.site(1, 18, &span);
    let count = 60_000u32;
    b.record(1, 1, 17, 1000, &[&count.to_le_bytes()[..], &vec![1; count as usize]].concat());
    for number in 0..10_000u64 {
        b.record(1, 1, 18, 2000 + number, &[]);
    }
    for number in 0..1000u64 {
        b.span_end(1, 1, 18, 1_000_000 + number, 20_000 + number);
    }
    let server = ended(b);
    let trace = server.ask_finished("/api/trace");
    assert_eq!(trace["progress"]["problem"], json!(null));
    let one = server.get("/api/record?number=0");
    assert!(one.body.len() < 16 << 20, "{}", one.body.len());
    let value = &one.json()["arguments"][0];
    let shown = value["children"].as_array().unwrap().len() as u64;
    assert!(shown > 100 && shown + value["missing"].as_u64().unwrap() == u64::from(count));
    let (from, to) = (trace["begin"].as_str().unwrap(), i64::MAX);
    let lanes = server.ask(&format!("/api/lanes?from={from}&to={to}&width=100&tracks=0"));
    assert!(lanes["tracks"][0]["rows"].as_array().unwrap().len() <= 32);
}

#[test]
fn a_file_that_shrinks_is_a_problem_and_no_crash() {
    let mut b = begun();
    for number in 0..2000u64 {
        b.record(1, 1, 16, number * 1000, &text(&"x".repeat(500)));
        if number % 50 == 0 {
            b.flush(1, 1, false);
        }
    }
    let server = ended(b);
    server.ask_finished("/api/trace");
    File::options().write(true).open(&server.path).unwrap().set_len(4096).unwrap();
    // What lies in memory may still be given; what does not is gone, and says so.
    let mut gone = 0;
    for number in [0, 700, 1300, 1999] {
        let answer = server.get(&format!("/api/record?number={number}"));
        assert!([200, 409].contains(&answer.status), "{}", answer.status);
        if answer.status == 409 {
            gone += 1;
            assert!(answer.json()["error"].as_str().unwrap().contains("changed"));
        }
    }
    assert!(gone > 0);
    let filtered = server.get("/api/trace?filter=-l+info");
    assert!([200, 500].contains(&filtered.status), "{}", filtered.status);
}

#[test]
fn the_filter_of_a_category_finds_its_records_also_with_an_equals_sign_in_its_name() {
    let mut b = begun();
    for (site, category) in [(20, "k"), (21, "k=v"), (22, "k=warn"), (23, "it's='x'")] {
        let named = log(Level::Info, category, site, "line", "");
        b.site(1, site, &named);
        for number in 0..u64::from(site) {
            b.record(1, 1, site, number * 1000 + u64::from(site), &[]);
        }
    }
    let server = ended(b);
    let all = server.ask_finished("/api/facets");
    let categories = all["categories"].as_array().unwrap();
    assert_eq!(categories.len(), 4);
    for category in categories {
        let filter = category["filter"].as_str().unwrap();
        let found = server.ask_finished(&format!("/api/trace?filter={}", encoded(filter)));
        assert_eq!(found["progress"]["records"], category["records"].to_string(), "{filter}");
    }
    let completed = server.ask(&format!("/api/complete?text={}&at=4", encoded("-c k")));
    assert_eq!(completed["items"].as_array().unwrap().len(), 3);
    assert!(completed["items"].to_string().contains("k?v"), "{completed}");
}
