//! Filters: what each selects, and that skipping blocks never changes it.

use proptest::prelude::*;
use silverpoint_query::filter::{Expression, FilePattern, Filter, WhoPattern};
use silverpoint_query::stats;
use silverpoint_render::ShowContext;
use silverpoint_render::time::{TimeZone, When};
use silverpoint_trace::{Event, Trace, What};
use silverpoint_wire::compression::Compression;
use silverpoint_wire::layout::record::STALL;
use silverpoint_wire::level::{Kind, Level};

use crate::builder::{Builder, EPOCH_NS};
use crate::trace::{finished, lines, named, open};

fn shown(filter: Filter) -> Vec<String> {
    let trace = open(&finished());
    let text = lines(&trace, &mut trace.select(&filter));
    // The message alone.
    text.lines().map(|line| line[60..].trim_start().split("   ").next().unwrap().trim().to_owned()).collect()
}

fn messages(filter: Filter) -> Vec<String> {
    let trace = open(&finished());
    let mut events = trace.select(&filter);
    let mut renderer = silverpoint_render::Renderer::new();
    let mut messages = Vec::new();
    while let Some(event) = events.next() {
        if event.is_shown() {
            let mut message = String::new();
            silverpoint_render::text::message(&mut renderer, &mut message, &event);
            messages.push(message);
        }
    }
    messages
}

const ORDER: &str = "order 7 at 3.14";
const SCAN: &str = "scan dir=/usr/include";
const QUEUE: &str = "queue.length = 12";
const INDEXED: &str = "file.indexed path=\"a b.h\" bytes=4096";
const POS: &str = "pos 0.1 [1, -2]";
const CANNOT: &str = "cannot open bad\\nname";
const DONE: &str = "scan done 1.234 ms";

#[test]
fn each_sort() {
    let all = Filter::default;
    let strings = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let who = |text: &str| vec![WhoPattern::parse(text)];
    let file = |text: &str| vec![FilePattern::parse(text)];
    let at = |ticks: u64| Some(When::Absolute((EPOCH_NS + ticks) as i64));
    let cases: Vec<(Filter, &[&str])> = vec![
        (all(), &[ORDER, SCAN, QUEUE, INDEXED, POS, CANNOT, DONE]),
        (Filter { level: Some(Level::Warn), ..all() }, &[POS, CANNOT]),
        (Filter { categories: strings(&["net"]), ..all() }, &[ORDER]),
        (
            Filter { categories: strings(&["net", "ind*"]), ..all() },
            &[ORDER, SCAN, QUEUE, INDEXED, POS, DONE],
        ),
        (
            Filter { categories: strings(&["net=warn", "ind*=trace"]), ..all() },
            &[SCAN, QUEUE, INDEXED, POS, DONE],
        ),
        (Filter { categories: strings(&["net=trace"]), ..all() }, &[ORDER]),
        (Filter { categories: strings(&["net=loud"]), ..all() }, &[]),
        (Filter { files: file("net/pump.cpp:88"), ..all() }, &[ORDER]),
        (Filter { files: file("other.cpp"), ..all() }, &[]),
        (Filter { functions: strings(&["Pump::start()"]), level: Some(Level::Error), ..all() }, &[CANNOT]),
        (Filter { functions: strings(&["stop"]), ..all() }, &[]),
        (Filter { threads: who("worker-*"), ..all() }, &[INDEXED]),
        (Filter { threads: who("4312"), ..all() }, &[ORDER, SCAN, CANNOT, DONE]),
        (Filter { processes: who("digest"), ..all() }, &[QUEUE, POS]),
        (
            Filter { processes: who("4312"), threads: who("main"), categories: strings(&["net"]), ..all() },
            &[ORDER],
        ),
        (Filter { since: at(4_000), until: at(5_000), ..all() }, &[POS, CANNOT]),
        (
            Filter { since: Some(When::BeforeEnd(1_234_000)), zone: Some(TimeZone::UTC), ..all() },
            &[INDEXED, POS, CANNOT, DONE],
        ),
        (Filter { until: Some(When::AfterBegin(1_000)), ..all() }, &[ORDER, SCAN]),
    ];
    for (filter, expected) in cases {
        assert_eq!(messages(filter.clone()), expected, "{filter:?}");
    }
    assert_eq!(shown(Filter { level: Some(Level::Error), ..all() }).len(), 1);
}

#[test]
fn expressions() {
    for (text, expected) in [
        ("0=7", &[ORDER][..]),
        ("0 != 7", &[SCAN, QUEUE, INDEXED, POS, CANNOT]),
        ("1>3.1 and 1<3.2", &[ORDER]),
        ("path~\"a *\"", &[INDEXED]),
        ("args.path=\"a b.h\"", &[INDEXED]),
        ("bytes>=4096 && bytes<=0x1000", &[INDEXED]),
        ("not bytes", &[ORDER, SCAN, QUEUE, POS, CANNOT]),
        ("value=12", &[QUEUE]),
        ("0=0.1", &[POS]),
        ("1=-2", &[POS]),
        ("1[0]=1", &[POS]),
        ("1[0]=-2", &[]),
        // As tables call it, and as JSON and SQL reach it.
        ("arg1=-2", &[POS]),
        ("args[1]=-2", &[POS]),
        ("arg2=-2", &[]),
        ("message~\"*open*\"", &[CANNOT]),
        ("dir=/usr/include or 0=12", &[SCAN, QUEUE]),
        ("nobody=1", &[]),
        ("0~\"[1]*\"", &[]),
    ] {
        let filter = Filter { expression: Some(Expression::parse(text).unwrap()), ..Filter::default() };
        assert_eq!(messages(filter), expected, "{text}");
    }
}

#[test]
fn paths_into_containers() {
    let signature = "{s[<P|x:i,y:?d,>/is|v";
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.site(1, 16, &named(Kind::Event, Level::Info, 1, "e", "map\nvariant\nany\n", signature));
    b.stream(1, 1, 1, "");
    let mut args = 1u32.to_le_bytes().to_vec();
    args.extend(crate::builder::text("k"));
    args.extend(2u32.to_le_bytes());
    for (x, y) in [(1i32, None), (2, Some(0.5f64))] {
        args.extend(x.to_le_bytes());
        args.push(u8::from(y.is_some()));
        args.extend(y.map_or(Vec::new(), |y| y.to_le_bytes().to_vec()));
    }
    args.push(1);
    args.extend(crate::builder::text("word"));
    // {"a": [10, {"b": true}]}
    let item = [0xA1, 0x61, b'a', 0x82, 0x0A, 0xA1, 0x61, b'b', 0xF5];
    args.extend((item.len() as u32).to_le_bytes());
    args.extend(item);
    b.record(1, 1, 16, 1, &args);
    b.flush(1, 1, false);
    let trace = open(&b.bytes);
    for (text, matches) in [
        ("map.k[1].x=2", true),
        ("map.k[0].x=2", false),
        ("map.k.x=2", false),
        ("map=2", true),
        ("map=3", false),
        ("map.k[0].y=none", true),
        ("map.k[1].y=0.5", true),
        ("map.j[0].x=1", false),
        ("variant=word", true),
        ("any.a[0]=10", true),
        ("any.a[1].b=true", true),
        ("any.a[1].c", false),
        ("any.a=10", true),
    ] {
        let filter = Filter { expression: Some(Expression::parse(text).unwrap()), ..Filter::default() };
        assert_eq!(trace.select(&filter).next().is_some(), matches, "{text}");
    }
}

/// A number is compared with numbers, and with texts that are numbers; never as text.
#[test]
fn numbers_are_not_compared_as_text() {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.site(1, 16, &named(Kind::Event, Level::Info, 1, "e", "port\n", "s"));
    b.stream(1, 1, 1, "");
    let texts = ["443", "8080", "08080", "0x10", "9e3", "https", "", "nan", "inf", "10 "];
    for (at, text) in texts.iter().enumerate() {
        b.record(1, 1, 16, at as u64 + 1, &crate::builder::text(text));
    }
    b.flush(1, 1, false);
    let trace = open(&b.bytes);
    let cases: [(&str, &[&str]); 10] = [
        ("port>1000", &["8080", "08080", "9e3"]),
        ("port<1000", &["443", "0x10", "10 "]),
        ("port=8080", &["8080", "08080"]),
        ("port>=443 and port<=443.0", &["443"]),
        ("port=16", &["0x10"]),
        ("port!=8080", &["443", "0x10", "9e3", "https", "", "nan", "inf", "10 "]),
        ("port=\"8080\"", &["8080"]),
        ("port>\"6\"", &["8080", "9e3", "https", "nan", "inf"]),
        ("port=nan", &["nan"]),
        ("port~\"80*\"", &["8080"]),
    ];
    for (text, expected) in cases {
        let filter = Filter { expression: Some(Expression::parse(text).unwrap()), ..Filter::default() };
        let mut found = Vec::new();
        let mut events = trace.select(&filter);
        while let Some(event) = events.next() {
            found.push(texts[event.ticks as usize - 1]);
        }
        assert_eq!(found, expected, "{text}");
    }
}

/// The id of an async span is often called as an argument of the program's is: an expression means the latter.
#[test]
fn an_argument_that_is_called_as_the_id_of_its_async_span() {
    let mut b = Builder::new();
    b.session(1, "/bin/x", 1);
    b.site(1, 16, &named(Kind::AsyncBegin, Level::Info, 1, "load", "id\nid\n", "LL"));
    b.site(1, 17, &named(Kind::AsyncEnd, Level::Info, 1, "load", "id\n", "L"));
    b.stream(1, 1, 1, "");
    b.record(1, 1, 16, 1, &[40u64.to_le_bytes(), 7u64.to_le_bytes()].concat());
    b.record(1, 1, 17, 2, &40u64.to_le_bytes());
    b.flush(1, 1, false);
    let trace = open(&b.bytes);
    for (text, count) in [("id=7", 1), ("id=40", 1), ("id=41", 0), ("0=40", 2)] {
        let filter = Filter { expression: Some(Expression::parse(text).unwrap()), ..Filter::default() };
        let mut events = trace.select(&filter);
        let mut found = 0;
        while events.next().is_some() {
            found += 1;
        }
        assert_eq!(found, count, "{text}");
    }
}

/// A trace with many small blocks of different levels, sites and times.
pub fn patchwork(steps: &[(u32, u32, u64, bool)]) -> Builder {
    let mut b = Builder::new();
    b.session(1, "/bin/a", 1);
    for (id, level) in (16..).zip(Level::ALL) {
        b.site(1, id, &named(Kind::Log, level, id, "{}", "", "L"));
    }
    for stream in 1..4 {
        b.stream(1, stream, stream, "");
    }
    let mut ticks = 0;
    for (n, (stream, site, later, flush)) in steps.iter().enumerate() {
        ticks += later;
        if *site == 25 {
            b.context(1, *stream, ticks, (n % 3 > 0).then_some((n as u8, "ada")));
        } else if *site == 23 {
            b.span_end(1, *stream, 16 + (n as u32 % 8), ticks.saturating_sub(5), ticks);
        } else if *site == 24 {
            b.record(
                1,
                *stream,
                STALL,
                ticks,
                &[0, 7, 0, 0, 0, 0, 0, 0, 0][..if n % 2 == 0 { 9 } else { 4 }],
            );
        } else if *site == 22 {
            b.thread_name(1, *stream, ticks, if n % 2 == 0 { "even" } else { "odd" });
        } else {
            b.record(1, *stream, *site, ticks, &(n as u64).to_le_bytes());
        }
        if *flush {
            let compression = [Compression::None, Compression::Lz4, Compression::Zstd(1)][n / 2 % 3];
            b.flush_as(1, *stream, n % 2 == 0, compression);
            if n % 7 == 3 {
                b.index();
            }
        }
    }
    for stream in 1..4 {
        b.flush(1, stream, false);
    }
    b
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn summaries_exclude_nothing_that_is_wanted(
        steps in prop::collection::vec((1u32..4, 16u32..26, 0u64..50, any::<bool>()), 1..120),
        request in prop::option::of(0u8..120),
        level in prop::option::of(prop::sample::select(Level::ALL.to_vec())),
        line in prop::option::of(16u32..22),
        thread in prop::option::of(prop::sample::select(vec!["even", "odd", "2"])),
        since in prop::option::of(0u64..3000),
        until in prop::option::of(0u64..3000),
    ) {
        let trace: Trace = open(&patchwork(&steps).bytes);
        let at = |ticks: Option<u64>| ticks.map(|ticks| When::Absolute((EPOCH_NS + ticks) as i64));
        let filter = Filter {
            level,
            files: line.map(|line| FilePattern { path: "pump.cpp".into(), line: Some(line) }).into_iter().collect(),
            threads: thread.map(WhoPattern::parse).into_iter().collect(),
            since: at(since),
            until: at(until),
            expression: request.map(|least| Expression::parse(&format!("request>={least}")).unwrap()),
            ..Filter::default()
        };
        let fields = |event: &Event<'_>| event.context.map(|context| context.json().to_owned());
        let mut expected = Vec::new();
        let mut all = trace.events();
        while let Some(event) = all.next() {
            let What::Record { site, args, .. } = event.what else { continue };
            let ticks = event.wall_ns as u64 - EPOCH_NS;
            let wanted = level.is_none_or(|least| site.level() >= least)
                && line.is_none_or(|line| site.description.line == line)
                && thread.is_none_or(|t| event.thread_name == t || event.tid.to_string() == t)
                && since.is_none_or(|since| ticks >= since)
                && until.is_none_or(|until| ticks <= until)
                && request.is_none_or(|least| {
                    let text = event.context.and_then(|context| context.text_of_field("request"));
                    text.is_some_and(|text| text.parse::<u8>().unwrap() >= least)
                });
            if wanted {
                expected.push((args[..8].to_vec(), fields(&event)));
            }
        }
        let mut given = Vec::new();
        let mut selected = trace.select(&filter);
        while let Some(event) = selected.next() {
            if let What::Record { args, .. } = event.what {
                given.push((args[..8].to_vec(), fields(&event)));
            }
        }
        prop_assert_eq!(&given, &expected);
        let shown = |filter: Option<&Filter>| {
            let mut events = filter.map_or_else(|| trace.events(), |filter| trace.select(filter));
            let mut shown = 0;
            while let Some(event) = events.next() {
                shown += u64::from(event.is_shown());
            }
            shown
        };
        prop_assert_eq!(trace.count(&filter).events, shown(Some(&filter)));
        prop_assert_eq!(trace.count(&Filter::default()).events, shown(None));
        let odd = Filter { expression: Some(Expression::parse("0>50").unwrap()), ..filter.clone() };
        prop_assert_eq!(trace.count(&odd).events, shown(Some(&odd)));
        if thread.is_none() {
            prop_assert_eq!(stats::collect(&trace, &filter).records, expected.len() as u64);
        }
        // The last records are among those since the time that the headers tell.
        for n in [1u64, 5, 40] {
            let since = trace.last_records_since(n).map(When::Absolute);
            let mut count = 0;
            let mut tail = trace.select(&Filter { since, ..Filter::default() });
            while tail.next().is_some() {
                count += 1;
            }
            prop_assert!(count >= n.min(steps.len() as u64));
        }
    }
}
