//! Statistics as text and JSON.

use silverpoint_query::filter::Filter;
use silverpoint_query::stats::{Signs, TextOptions, collect, collect_with, push_json, push_text};
use silverpoint_wire::block::{BlockKind, Forgotten, GapInfo, LossInfo};
use silverpoint_wire::level::Level;

use crate::builder::Builder;
use crate::trace::{open, sample};

fn finished() -> Builder {
    let mut b = sample();
    for n in 1..100u64 {
        b.span_end(1, 1, 19, 2_000_000, 2_000_000 + n * 1000);
        b.record(2, 1, 16, 2_000_000 + n, &(n % 17).to_le_bytes());
    }
    b.record(2, 1, 16, 2_000_000, &1_000u64.to_le_bytes());
    b.flush(1, 1, true);
    b.flush(1, 2, false);
    b.flush(2, 1, true);
    b.losses(
        1,
        &LossInfo { stream: 1, losses: [3, 0, 4_000, 0, 0, 0, 0, 0], stalls: 2, stall_ns: 5_000_000 },
    );
    b.losses(1, &LossInfo { stream: 0, losses: [0, 0, 0, 1, 0, 0, 0, 0], stalls: 0, stall_ns: 0 });
    b.anchor(1, 10_000_000_000);
    b.end();
    b
}

#[test]
fn as_text() {
    let trace = open(&finished().bytes);
    let statistics = collect(&trace, &Filter::default());
    let mut out = String::new();
    push_text(&mut out, &statistics, &trace, &TextOptions::default());
    out.push_str("\n----\n");
    let filtered = collect(&trace, &Filter { level: Some(Level::Warn), ..Filter::default() });
    push_text(&mut out, &filtered, &trace, &TextOptions { top: 1, ..TextOptions::default() });
    insta::assert_snapshot!(out);
}

#[test]
fn as_json() {
    let trace = open(&finished().bytes);
    let mut out = String::new();
    push_json(&mut out, &collect(&trace, &Filter::default()), &trace);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["verdict"], "lossy");
    assert_eq!(json["lost"], 4004);
    assert_eq!(json["losses"]["sink_full"], 4000);
    assert_eq!(json["records"], 106);
    assert_eq!(json["levels"]["error"], 1);
    let span = &json["spans"][0];
    assert_eq!(
        (&span["count"], &span["min_ns"], &span["max_ns"]),
        (&100.into(), &1000.into(), &1_234_567.into())
    );
    let p50 = span["p50_ns"].as_u64().unwrap();
    assert!(p50.abs_diff(50_000) <= 1_000, "{p50}");
    let counter = &json["counters"][0];
    assert_eq!(
        (&counter["records"], &counter["max"], &counter["last"]),
        (&101.into(), &1000.0.into(), &14.0.into())
    );
    assert_eq!(json["threads"].as_array().unwrap().len(), 3);
    assert_eq!(json["sites"][0]["template"], "queue.length");
}

#[test]
fn drawn_with_ascii_and_with_rates() {
    let trace = open(&finished().bytes);
    let statistics = collect_with(&trace, &Filter::default(), 10);
    let mut out = String::new();
    let options = TextOptions { signs: Signs::Ascii, histograms: true, ..TextOptions::default() };
    push_text(&mut out, &statistics, &trace, &options);
    assert!(out.contains("rate      "), "{out}");
    let bars = out.split_once("latency of scan pump.cpp:12").unwrap().1;
    assert!(bars.contains("%  ####"), "{bars}");
    assert!(out.chars().all(|c| c.is_ascii() || c == 'µ'), "{out}");
    let rates = statistics.rates.as_ref().unwrap();
    assert_eq!(rates.total.iter().sum::<u64>(), statistics.records);
    assert_eq!(rates.sites.values().flatten().sum::<u64>(), statistics.records);
}

/// Everything in a table is in the JSON too.
#[test]
fn json_equals_the_tables() {
    let trace = open(&finished().bytes);
    let mut out = String::new();
    let statistics = collect_with(&trace, &Filter::default(), 10);
    push_json(&mut out, &statistics, &trace);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let troubles = json["troubles"].as_array().unwrap();
    let find = |cause: &str| troubles.iter().find(|trouble| trouble["cause"] == cause).unwrap();
    assert_eq!((&find("full")["count"], &find("full")["tid"]), (&3.into(), &find("wait")["tid"]));
    assert_eq!((&find("wait")["count"], &find("wait")["ns"]), (&2.into(), &5_000_000.into()));
    assert_eq!(find("no_memory")["tid"], serde_json::Value::Null, "it had no ring");
    let span = &json["spans"][0];
    assert!(span["p99_ns"].as_u64() <= span["p999_ns"].as_u64());
    let counts = span["histogram"].as_array().unwrap().iter().map(|power| power["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 100);
    let rates = json["rates"]["records"].as_array().unwrap();
    assert_eq!(rates.iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), 106);
}

#[test]
fn what_was_forgotten_uncounted_is_told_as_more() {
    for (records, has_more, text) in [(40, false, "40"), (40, true, "40 and more"), (0, true, "0 and more")] {
        let mut b = sample();
        b.flush(1, 1, false);
        let (begin, end) = b.skip_ring(1, 1, 1000);
        let mut payload = Vec::new();
        let forgotten = Some(Forgotten { records, has_more, keeps_fields: true });
        GapInfo { begin, end, forgotten }.encode(&mut payload);
        b.block(BlockKind::GAP, 1, 1, &payload);
        b.end();
        let trace = open(&b.bytes);
        let statistics = collect(&trace, &Filter::default());
        let mut out = String::new();
        push_text(&mut out, &statistics, &trace, &TextOptions::default());
        assert!(out.contains(&format!("\nforgotten {text} kept back")), "{out}");
        let line = out.lines().find(|line| line.contains(" forgotten  ")).unwrap();
        assert!(line.trim_start().starts_with(&format!("{text}  forgotten")), "{line}");
        out.clear();
        push_json(&mut out, &statistics, &trace);
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&json["forgotten"], &json["forgotten_more"]), (&records.into(), &has_more.into()));
        let all = json["troubles"].as_array().unwrap();
        let own = all.iter().find(|trouble| trouble["cause"] == "forgotten").unwrap();
        assert_eq!((&own["count"], &own["more"]), (&records.into(), &has_more.into()));
    }
}
