//! Contexts: every record has the fields that were stated last in its stream, for every reader and every
//! start. It has none where they are unknown.

use std::fs;

use silverpoint_query::filter::{Expression, Filter};
use silverpoint_query::stats::collect;
use silverpoint_render::text::{self, Pattern};
use silverpoint_trace::rewrite::{Limit, Options, trim};
use silverpoint_trace::{Event, Follow, Trace, Watcher};
use silverpoint_wire::level::Level;

use crate::builder::{Builder, log};
use crate::rewrite::{all, faults};
use crate::split::parts;
use crate::trace::{json_lines, open};

/// Two threads; what each record says is in which context it was made.
fn sample() -> Builder {
    let mut b = begin();
    for (stream, user) in [(1, "ada"), (2, "bob b")] {
        say(&mut b, stream, 10, Level::Info, "none");
        b.context(1, stream, 20, Some((stream as u8, user)));
        say(&mut b, stream, 30, Level::Debug, user);
        b.flush(1, stream, stream == 1);
        say(&mut b, stream, 40, Level::Error, user);
        b.flush(1, stream, false);
        b.context(1, stream, 50, None);
        say(&mut b, stream, 60, Level::Error, "none");
        b.flush(1, stream, true);
    }
    b.end();
    b
}

fn begin() -> Builder {
    let mut b = Builder::new();
    describe(&mut b);
    b
}

fn describe(b: &mut Builder) {
    b.session(1, "/bin/app", 1);
    for (id, level) in (16..).zip(Level::ALL) {
        b.site(1, id, &log(level, "net", id, "{}", "s"));
    }
    b.stream(1, 1, 1, "");
    b.stream(1, 2, 2, "");
}

fn say(b: &mut Builder, stream: u32, ticks: u64, level: Level, text: &str) {
    b.record(1, stream, 16 + level as u32, ticks, &crate::builder::text(text));
}

/// What each record says beside the user of its context.
fn said(trace: &Trace, filter: &Filter) -> Vec<(String, String)> {
    let mut events = trace.select(filter);
    let lines = json_lines(trace, &mut events);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("none").to_owned();
    lines.iter().map(|line| (text(&line["message"]), text(&line["context"]["user"]))).collect()
}

#[track_caller]
fn assert_agrees(said: &[(String, String)], count: usize) {
    assert_eq!(said.len(), count, "{said:?}");
    for (record, context) in said {
        assert_eq!(record, context, "{said:?}");
    }
}

fn expression(text: &str) -> Filter {
    Filter { expression: Some(Expression::parse(text).unwrap()), ..Filter::default() }
}

#[test]
fn each_record_has_the_fields_of_its_scope() {
    let trace = open(&sample().bytes);
    assert_agrees(&said(&trace, &Filter::default()), 8);
    let pattern = |pattern: &str| {
        let pattern = Some(Pattern::parse(pattern).unwrap());
        let options = text::Options { pattern, ..text::Options::default() };
        let (mut writer, mut out) = (text::Writer::new(&options, &trace), String::new());
        let mut events = trace.events();
        while let Some(event) = events.next() {
            writer.line(&mut out, &event);
        }
        out
    };
    assert_eq!(
        pattern("{message}|{context}|{context_request:>3}|{context_nobody}"),
        "none||   |\nnone||   |\nada|request=1 user=ada|  1|\nbob b|request=2 user=\"bob b\"|  2|\n\
         ada|request=1 user=ada|  1|\nbob b|request=2 user=\"bob b\"|  2|\nnone||   |\nnone||   |\n"
    );
    let (mut writer, mut out) = (text::Writer::new(&text::Options::default(), &trace), String::new());
    let mut events = trace.events();
    while let Some(event) = events.next() {
        writer.line(&mut out, &event);
    }
    assert!(out.contains("ada {request=1 user=ada}   pump.cpp:17"), "{out}");
}

#[test]
fn filters_see_fields() {
    let trace = open(&sample().bytes);
    for (text, count) in [
        ("request=1", 2),
        ("request>0", 4),
        ("context.user~\"bob*\"", 2),
        ("not request", 4),
        ("user=ada and message=ada", 2),
        ("context.request=3", 0),
    ] {
        let filter = expression(text);
        assert_agrees(&said(&trace, &filter), count);
        assert_eq!(trace.count(&filter).events, count as u64, "{text}");
        assert_eq!(collect(&trace, &filter).records, count as u64, "{text}");
    }
}

#[test]
fn blocks_that_are_passed_over_are_heard_all_the_same() {
    let trace = open(&sample().bytes);
    let errors = Filter { level: Some(Level::Error), ..Filter::default() };
    assert_agrees(&said(&trace, &errors), 4);
}

#[test]
fn ids_of_a_trace_stand_in_the_object_itself() {
    let mut b = begin();
    let mut args = vec![0; 4];
    args.extend_from_slice(b"\xBF\x68trace_id\x62ab\x67span_id\x62cd\x69parent_id\x07\xFF");
    args[0] = args.len() as u8 - 4;
    b.record(1, 1, 6, 5, &args);
    say(&mut b, 1, 6, Level::Info, "x");
    b.flush(1, 1, true);
    b.end();
    let trace = open(&b.bytes);
    let line = &json_lines(&trace, &mut trace.events())[0];
    assert_eq!((&line["trace_id"], &line["span_id"]), (&"ab".into(), &"cd".into()));
    assert_eq!(line["context"]["parent_id"], 7);
}

#[test]
fn what_was_lost_may_have_been_the_end_of_a_scope() {
    for told in [true, false] {
        let mut b = begin();
        b.context(1, 1, 1, Some((1, "ada")));
        say(&mut b, 1, 2, Level::Info, "ada");
        b.flush(1, 1, true);
        let (from, to) = b.skip_ring(1, 1, 800);
        if told {
            let gap = [from.to_le_bytes(), to.to_le_bytes()].concat();
            b.block(silverpoint_wire::block::BlockKind::GAP, 1, 1, &gap);
        }
        say(&mut b, 1, 3, Level::Info, "none");
        b.context(1, 1, 4, Some((2, "bob")));
        say(&mut b, 1, 5, Level::Info, "bob");
        b.flush(1, 1, true);
        b.end();
        let trace = open(&b.bytes);
        assert_agrees(&said(&trace, &Filter::default()), 3);
        assert_eq!(trace.count(&expression("user")).events, 2);
    }
}

#[test]
fn a_rotated_part_states_what_is_open() {
    // The first part, and a second one that repeats the context's record where it lay in the ring.
    let mut first = begin();
    first.context(1, 1, 1, Some((1, "ada")));
    let statement = first.pending(1, 1) as u64;
    say(&mut first, 1, 2, Level::Info, "ada");
    let whole = first.pending(1, 1) as u64;
    first.flush(1, 1, true);
    first.end();
    let mut second = Builder::part(2, "a.1.silver");
    describe(&mut second);
    second.context(1, 1, 1, Some((1, "ada")));
    second.flush(1, 1, false);
    second.skip_ring(1, 1, whole - statement);
    say(&mut second, 1, 3, Level::Info, "ada");
    second.flush(1, 1, true);
    second.end();
    let alone = open(&second.bytes);
    assert_agrees(&said(&alone, &Filter::default()), 1);
    assert_eq!((alone.notes(), faults(&second.bytes)), (&[][..], vec![]));
    let both = all(&[&first.bytes, &second.bytes]);
    assert_agrees(&said(&both, &Filter::default()), 2);
    assert_eq!(both.events().notes(), []);
}

#[test]
fn a_selection_takes_along_what_its_records_need_and_no_more() {
    let mut b = begin();
    for n in 0..100u8 {
        b.context(1, 1, 10 * u64::from(n), Some((n, "ada")));
        say(&mut b, 1, 10 * u64::from(n) + 1, if n % 10 == 0 { Level::Error } else { Level::Info }, "ada");
        if n % 7 == 0 {
            b.flush(1, 1, n % 2 == 0);
        }
    }
    b.flush(1, 1, true);
    b.end();
    let trace = open(&b.bytes);
    let errors = Filter { level: Some(Level::Error), ..Filter::default() };
    let mut made = Vec::new();
    let done = trim(&trace, &errors, &Options::default(), &mut made).unwrap();
    assert_eq!(done.records, 20);
    let trimmed = open(&made);
    let requests = |trace: &Trace, filter: &Filter| {
        let lines = json_lines(trace, &mut trace.select(filter));
        lines.iter().map(|line| line["context"]["request"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(requests(&trimmed, &Filter::default()), requests(&trace, &errors));
    assert_eq!(requests(&trimmed, &Filter::default()), (0..10).map(|n| Some(n * 10)).collect::<Vec<_>>());
}

#[test]
fn each_part_of_a_split_trace_can_be_read_alone() {
    let trace = open(&sample().bytes);
    let (parts, _) = parts(&trace, Limit::Parts(6), None).unwrap();
    let mut seen = 0;
    for part in &parts {
        let alone = open(part);
        let said = said(&alone, &Filter::default());
        assert_agrees(&said, said.len());
        seen += said.len();
    }
    assert_eq!((parts.len(), seen), (6, 8));
}

#[derive(Default)]
struct Users(Vec<(String, String)>, usize);

impl Watcher for Users {
    fn begin(&mut self, _: &Trace) {}

    fn event(&mut self, event: &Event<'_>) -> bool {
        if event.is_shown() {
            let mut message = String::new();
            text::message(&mut Default::default(), &mut message, event);
            let user = event.context.and_then(|context| context.text_of("user")).unwrap_or("none");
            self.0.push((message, user.to_owned()));
            self.1 = self.1.saturating_sub(1);
        }
        self.1 > 0
    }
}

#[test]
fn whoever_goes_on_knows_what_was_open() {
    let folder = tempfile::TempDir::with_prefix("silverpoint-contexts-").unwrap();
    let path = folder.path().join("trace.silver");
    fs::write(&path, sample().bytes).unwrap();
    for filter in [Filter::default(), Filter { level: Some(Level::Error), ..Filter::default() }] {
        let total = if filter.level.is_some() { 4 } else { 8 };
        // In steps of one event, in one life and in several.
        for stop in 1..=total {
            let open = || Follow::open(std::slice::from_ref(&path), &filter).unwrap();
            let mut first = open();
            let mut users = Users(Vec::new(), stop);
            first.poll_all(&mut users).unwrap();
            assert_agrees(&users.0, stop);
            let mut second = open();
            second.resume(&first.positions().collect::<Vec<_>>());
            for mut follow in [first, second] {
                let mut rest = Users(Vec::new(), usize::MAX);
                follow.poll_all(&mut rest).unwrap();
                assert_agrees(&rest.0, total - stop);
            }
        }
    }
}
