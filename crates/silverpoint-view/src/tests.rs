//! Zooming in shows what was merged in memory.

use std::path::PathBuf;

use serde_json::Value;
use silverpoint_read::OpenOptions;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::site::SiteDescription;

use crate::answers;
use crate::builder::{Builder, log};
use crate::params::Params;
use crate::{Source, Views};

/// A file that goes with the test.
struct Written(PathBuf);

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// 200 outer spans of 900 ns with two inner ones, a counter and a line.
///
/// One span is around the first hundred; one is around the others, and stays open.
fn sample() -> Written {
    let named = |kind, name: &str, signature: &str| SiteDescription {
        kind,
        ..log(Level::Info, "x", 1, name, signature)
    };
    let mut b = Builder::new();
    b.session(1, "/bin/p", 7);
    b.stream(1, 1, 9, "pump");
    b.site(1, 16, &named(Kind::Span, "outer", ""));
    b.site(1, 17, &named(Kind::Span, "inner", ""));
    b.site(1, 18, &named(Kind::Counter, "queue", "L"));
    b.site(1, 19, &log(Level::Warn, "x", 2, "line", ""));
    b.site(1, 20, &named(Kind::Span, "around", ""));
    b.record(1, 1, 20, 500, &[]);
    for number in 0..200u64 {
        let begin = 1000 + number * 1000;
        b.record(1, 1, 16, begin, &[]);
        b.record(1, 1, 17, begin + 100, &[]);
        b.span_end(1, 1, 17, begin + 100, begin + 150);
        b.record(1, 1, 18, begin + 200, &number.to_le_bytes());
        b.record(1, 1, 17, begin + 300, &[]);
        b.record(1, 1, 19, begin + 400, &[]);
        b.span_end(1, 1, 17, begin + 300, begin + 800);
        b.span_end(1, 1, 16, begin, begin + 900);
        if number == 99 {
            b.span_end(1, 1, 20, 500, begin + 950);
            b.record(1, 1, 20, begin + 960, &[]);
        }
    }
    b.flush(1, 1, false);
    b.end();
    let path = std::env::temp_dir().join(format!("silverpoint-view-zoom-{}.silver", std::process::id()));
    std::fs::write(&path, &b.bytes).unwrap();
    Written(path)
}

fn open(file: &Written) -> Views {
    let options = OpenOptions { only: true, ..OpenOptions::default() };
    let mut views = Views::open(Source::Files { paths: vec![file.0.clone()], options }).unwrap();
    let view = views.get("").unwrap();
    while view.has_more() {
        view.work(std::time::Duration::from_millis(100));
    }
    views
}

#[test]
fn a_merged_timeline_shows_the_same_when_it_is_zoomed_into() {
    let file = sample();
    let (mut whole, mut merged) = (open(&file), open(&file));
    let timeline = &mut merged.get("").unwrap().timeline;
    timeline.merge(13);
    assert_eq!(timeline.resolution(), 8192);
    let (begin, end) = whole.get("").unwrap().counts.range.unwrap();
    let ask = |views: &mut Views, from: i64, to: i64| -> Value {
        let query = format!("from={from}&to={to}&width=5000&tracks=0,1");
        let lanes = answers::of("/api/lanes").unwrap();
        serde_json::from_slice(&lanes(views, Params::parse(&query).unwrap()).unwrap()).unwrap()
    };
    let length = end - begin;
    for (at, size) in
        (0..97).map(|step| (step * length / 97, 300 + step * 37)).chain([(0, length + 1), (-50, 700)])
    {
        let (from, to) = (begin + at, begin + at + size);
        let (expected, found) = (ask(&mut whole, from, to), ask(&mut merged, from, to));
        let has_detail = found["pixel_ns"].as_str().unwrap().parse::<u64>().unwrap() < 8192;
        assert_eq!((has_detail, &found["merged_ns"]), (true, &Value::from("0")));
        assert_eq!(found["tracks"], expected["tracks"], "{at} {size}");
    }
}
