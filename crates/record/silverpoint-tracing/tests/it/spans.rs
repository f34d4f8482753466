//! Spans: their records, their tree with native ones, their times.

use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::Duration;

use tracing::field::Empty;
use tracing::{Level, event, info, info_span, instrument};

use crate::reader::{Record, Session};
use crate::{both_ways, recorded};

/// Each thread's records as a tree: names of what is open, then the name and arguments of what was recorded.
pub fn tree(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    for records in by_thread(session) {
        let mut open: Vec<(u32, u64, String)> = Vec::new();
        for record in &records {
            if record.what == "end" {
                let (site, begun) = end_of(record);
                let last = open.pop().expect("something is open");
                assert_eq!((last.0, last.1), (site, begun), "ends are those of what is open");
                continue;
            }
            let path: String = open.iter().map(|(_, _, name)| format!("{name}/")).collect();
            let site = &session.sites[&record.site];
            lines.push(format!("{path}{}({})", record.what, record.args));
            if site.kind as u8 == 3 {
                open.push((record.site, record.ticks, record.what.clone()));
            }
        }
        assert!(open.is_empty(), "everything has ended: {open:?}");
    }
    lines
}

/// Each thread's records, from all rings it has had.
pub fn by_thread(session: &Session) -> Vec<Vec<Record>> {
    let mut threads: BTreeMap<(u32, u16), Vec<Record>> = BTreeMap::new();
    for stream in session.streams.values() {
        let of = threads.entry((stream.header.owner_tid, stream.header.lane)).or_default();
        of.extend(stream.records.iter().cloned());
    }
    threads.into_values().collect()
}

/// Site and begin of what a span's end ends.
pub fn end_of(record: &Record) -> (u32, u64) {
    let (site, begun) = record.args.split_once(", ").unwrap();
    (site.parse().unwrap(), begun.parse().unwrap())
}

#[instrument(skip(deep))]
fn load(path: &str, deep: bool) -> usize {
    info!("loading");
    if deep {
        let _native = silverpoint::span!("parse", bytes = 17_u32);
        event!(name: "inside", Level::INFO, both = true);
        let _inner = info_span!("inner").entered();
        silverpoint::event!("native", 1_u8);
    }
    path.len()
}

#[test]
fn spans_of_both_kinds_are_one_tree() {
    let name = "spans::spans_of_both_kinds_are_one_tree";
    let Some(session) = recorded(name, "debug") else {
        return both_ways(|| {
            let _whole = silverpoint::span!("whole");
            load("a.txt", true);
            load("b.txt", false);
        });
    };
    let once = [
        "whole()",
        "whole/load(\"a.txt\")",
        "whole/load/{}(\"loading\")",
        "whole/load/parse(17)",
        "whole/load/parse/inside(true)",
        "whole/load/parse/inner()",
        "whole/load/parse/inner/native(1)",
        "whole/load(\"b.txt\")",
        "whole/load/{}(\"loading\")",
    ];
    assert_eq!(tree(&session), [once, once].concat());
}

#[test]
fn parents_that_are_said_are_links() {
    let name = "spans::parents_that_are_said_are_links";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let request = info_span!("request", user = 7);
            let other = info_span!("other");
            let _other = other.enter();
            let child = info_span!(parent: &request, "child", step = 1);
            child.follows_from(&other);
            child.in_scope(|| event!(name: "within", Level::INFO, n = 1));
            event!(name: "of", parent: &request, Level::INFO, n = 2);
            event!(name: "rootless", parent: None, Level::INFO, n = 3);
            let _root = info_span!(parent: None, "root").entered();
        });
    };
    let records = session.records();
    // Of each way in its own: the first half, the second half.
    let ids = |name: &str| -> Vec<u64> {
        let begins = records
            .iter()
            .filter(|record| record.what == name && session.sites[&record.site].kind as u8 == 6);
        begins.map(|record| record.args.split(", ").next().unwrap().parse().unwrap()).collect()
    };
    let (requests, children, others) = (ids("request"), ids("child"), ids("other"));
    assert_eq!((requests.len(), children.len(), others.len(), ids("root").len()), (2, 2, 2, 2));
    let parents = session.args_of("parent");
    let followed = session.args_of("follows_from");
    let roots = ids("root");
    for way in 0..2 {
        let link = |from: u64, to: u64| format!("{from}, {to}");
        assert_eq!(followed[way], link(others[way], children[way]));
        for parent in [link(requests[way], children[way]), link(0, roots[way])] {
            assert_eq!(
                parents.iter().filter(|known| **known == parent).count(),
                1,
                "{parent} in {parents:?}"
            );
        }
        assert!(session.args_of("of").contains(&format!("{}, 2", requests[way])));
    }
    assert_eq!((parents.len(), followed.len()), (4, 2), "{parents:?}");
    // A span with an explicit absence of a parent, in a span: that is recorded, too.
    assert_eq!(session.args_of("rootless"), ["0, 3", "0, 3"]);
    let all = ends(&session);
    assert!(requests.iter().chain(&children).chain(&others).all(|id| all.contains_key(id)));
}

/// Readers tell a stretch by the name of its only argument: no field of a program has that name.
#[test]
fn a_field_called_as_the_adapter_calls_its_own_is_another() {
    let name = "spans::a_field_called_as_the_adapter_calls_its_own_is_another";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            info_span!("once", id = 7_u64).in_scope(|| ());
            info_span!("like a stretch", span.id = 7_u64).in_scope(|| ());
            event!(name: "like one of a parent", Level::INFO, span.parent = 7_u64);
            let twice = info_span!("twice", id = 7_u64, span.begun = 8_u64);
            twice.in_scope(|| ());
            twice.in_scope(|| ());
            event!(name: "of", parent: &twice, Level::INFO, parent = 9_u64);
        });
    };
    let mut found: Vec<_> = session
        .sites
        .values()
        .filter(|site| !site.names.is_empty())
        .map(|site| (site.template.as_str(), site.kind as u8, site.names.as_str()))
        .collect();
    found.sort();
    let expected = [
        ("like a stretch", 3, "field.span.id\n"),
        ("like one of a parent", 2, "field.span.parent\n"),
        ("of", 2, "span.parent\nparent\n"),
        ("once", 3, "id\n"),
        ("twice", 3, "id\nfield.span.begun\n"),
        ("twice", 3, "span.id\n"),
        ("twice", 6, "span.id\nid\nfield.span.begun\n"),
        ("twice", 6, "span.id\nspan.begun\nid\nfield.span.begun\n"),
        ("twice", 7, "span.id\nbusy\nidle\n"),
    ];
    assert_eq!(found, expected);
    // What begins late says when it began: as its first stretch.
    let records = session.records();
    let first = records.iter().find(|record| record.what == "twice").unwrap();
    let late = format!(", {}, 7, 8", first.ticks);
    assert_eq!(session.args_of("twice").iter().filter(|args| args.ends_with(&late)).count(), 1);
}

/// An event's own name may begin as those do that the macros make.
#[test]
fn events_keep_names_that_begin_with_event() {
    let name = "spans::events_keep_names_that_begin_with_event";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            event!(name: "event loop stalled", Level::INFO, ms = 3);
            event!(name: "event ", Level::INFO, ms = 4);
            event!(Level::INFO, ms = 5);
        });
    };
    assert_eq!(session.args_of("event loop stalled"), ["3", "3"]);
    assert_eq!(session.args_of("event "), ["4", "4"]);
    assert_eq!(session.args_of(""), ["5", "5"]);
}

/// Busy and idle times in ns of all spans that have an id and have ended; each must end once.
pub fn ends(session: &Session) -> HashMap<u64, (u64, u64)> {
    let mut all = HashMap::new();
    for record in session.records() {
        if record.site < 16 || session.sites[&record.site].kind as u8 != 7 {
            continue;
        }
        let [id, busy, idle] = record.args.split(", ").collect::<Vec<_>>()[..] else {
            panic!("{}", record.args)
        };
        let ns = |text: &str| text.strip_suffix("ns").unwrap().parse().unwrap();
        let before = all.insert(id.parse().unwrap(), (ns(busy), ns(idle)));
        assert!(before.is_none(), "{} ended once", record.what);
    }
    all
}

#[test]
fn times_and_later_fields_of_a_span() {
    let name = "spans::times_and_later_fields_of_a_span";
    const STEP: Duration = Duration::from_millis(5);
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let span = info_span!("job", id = 3, outcome = Empty, tries = Empty);
            span.in_scope(|| thread::sleep(STEP));
            thread::sleep(STEP);
            let elsewhere = span.clone();
            thread::spawn(move || elsewhere.in_scope(|| thread::sleep(STEP))).join().unwrap();
            span.record("outcome", "good");
            span.record("tries", 2);
            drop(span);
            drop(info_span!("never entered", reason = "none"));
        });
    };
    let job = session.args_of("job");
    // With both of the ways: begin, end of the thread's (without an id at first), later fields.
    assert_eq!(job.iter().filter(|args| args.ends_with(", \"good\"")).count(), 2, "{job:?}");
    assert_eq!(job.iter().filter(|args| args.ends_with(", 2")).count(), 2, "{job:?}");
    let times = ends(&session);
    assert_eq!(times.len(), 4);
    let step = STEP.as_nanos() as u64;
    assert_eq!(
        times.values().filter(|(busy, idle)| *busy >= 2 * step && *idle >= step).count(),
        2,
        "{times:?}"
    );
    assert_eq!(times.values().filter(|(busy, _)| *busy == 0).count(), 2, "{times:?}");
    let never = session.args_of("never entered");
    assert_eq!(never.iter().filter(|args| args.ends_with(", \"none\"")).count(), 2, "{never:?}");
}

/// As the guide says under its limits: what is around the only stretch of a span is not recorded; what is between two is.
#[test]
fn a_span_that_is_entered_once_where_it_was_made_has_the_time_of_its_entry() {
    const STEP: Duration = Duration::from_millis(20);
    let name = "spans::a_span_that_is_entered_once_where_it_was_made_has_the_time_of_its_entry";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let once = info_span!("once");
            thread::sleep(STEP);
            once.in_scope(|| ());
            thread::sleep(STEP);
            drop(once);
            let twice = info_span!("twice");
            twice.in_scope(|| ());
            thread::sleep(STEP);
            twice.in_scope(|| ());
        });
    };
    let kinds = |name: &str| -> Vec<u8> {
        let all = session.records();
        let its = all.iter().filter(|record| record.what == name);
        its.map(|record| session.sites[&record.site].kind as u8).collect()
    };
    assert_eq!(kinds("once"), [3, 3]);
    let times = ends(&session);
    assert_eq!(times.len(), 2);
    assert!(times.values().all(|(_, idle)| *idle >= STEP.as_nanos() as u64), "{times:?}");
}

#[test]
fn dispatchers_within_dispatchers() {
    let name = "spans::dispatchers_within_dispatchers";
    let Some(session) = recorded(name, "info") else {
        let quiet = || tracing::subscriber::NoSubscriber::default();
        return both_ways(|| {
            let _outer = info_span!("outer").entered();
            info!(place = 1, "heard");
            tracing::subscriber::with_default(quiet(), || {
                let _silent = info_span!("silent").entered();
                info!(place = 2, "not heard");
            });
            tracing::subscriber::with_default(silverpoint_tracing::Subscriber::new(), || {
                let _inner = info_span!("inner").entered();
                info!(place = 3, "heard");
            });
        });
    };
    let once = ["outer()", "outer/{}(\"heard\", 1)", "outer/inner()", "outer/inner/{}(\"heard\", 3)"];
    assert_eq!(tree(&session), [once, once].concat());
}

/// More spans within each other than a thread keeps at hand, left in another order than they were entered in, too.
#[test]
fn spans_within_many_others_end_in_any_order() {
    const DEEP: usize = 30;
    fn deep(level: usize) {
        let _span = info_span!("in", level).entered();
        if level < DEEP {
            deep(level + 1);
        }
        info!(left = level);
    }
    let name = "spans::spans_within_many_others_end_in_any_order";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            deep(1);
            // The outermost first: each goes on to be what it was for those within it.
            let mut all: Vec<_> = (0..DEEP).map(|level| Some(info_span!("out", level).entered())).collect();
            for level in (0..DEEP).map(|n| n * 7 % DEEP) {
                all[level] = None;
            }
            info!("after all");
        });
    };
    let mut paths: Vec<usize> = Vec::new();
    let (mut open, mut left_in_order) = (Vec::new(), true);
    let mut begun = HashMap::new();
    for record in by_thread(&session).into_iter().flatten() {
        match record.what.as_str() {
            "in" | "out" => {
                begun.insert((record.site, record.ticks), record.args.clone());
                open.push((record.site, record.ticks));
            }
            "end" => {
                let ended = end_of(&record);
                let place = open.iter().rposition(|one| *one == ended).expect("it was begun, and ended once");
                left_in_order &= place + 1 == open.len();
                open.remove(place);
            }
            _ if session.sites[&record.site].names == "left\n" => {
                paths.push(open.len());
                assert_eq!(begun[open.last().unwrap()], record.args);
            }
            _ => assert!(open.is_empty(), "{record:?}"),
        }
    }
    assert!(open.is_empty() && !left_in_order);
    let once: Vec<usize> = (1..=DEEP).rev().collect();
    assert_eq!(paths, [once.clone(), once].concat());
}

/// Entered again within itself, as what calls itself does: its time counts once, however deep.
#[test]
fn a_span_that_is_entered_within_itself_is_busy_once() {
    const STEP: Duration = Duration::from_millis(10);
    let name = "spans::a_span_that_is_entered_within_itself_is_busy_once";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            for depth in [2, 20] {
                let span = info_span!("self", depth);
                let entered: Vec<_> = (0..depth).map(|_| span.enter()).collect();
                thread::sleep(STEP);
                drop(entered);
                // Left the outermost first: that is no other span's end.
                let (first, second) = (span.enter(), span.enter());
                drop(first);
                thread::sleep(STEP);
                drop(second);
            }
        });
    };
    // What the records say: from each begin that lies in no other to its end, two for each span.
    let (mut open, mut begun, mut stretches, mut ids) = (0, 0, Vec::new(), Vec::new());
    for record in by_thread(&session).into_iter().flatten() {
        match session.sites.get(&record.site).map(|site| site.kind as u8) {
            None if record.what == "end" => {
                open -= 1;
                stretches.extend((open == 0).then(|| record.ticks - begun));
            }
            Some(3) => {
                begun = if open == 0 { record.ticks } else { begun };
                open += 1;
            }
            Some(7) => ids.push(record.args.split(", ").next().unwrap().parse::<u64>().unwrap()),
            _ => {}
        }
    }
    let times = ends(&session);
    assert_eq!((open, stretches.len(), ids.len(), times.len()), (0, 8, 4, 4));
    // A session that is a moment old knows its rate badly, where the processor does not tell it.
    let ns_of = |ticks: u64| silverpoint::dynamic::ticks_to_ns(ticks);
    ns_of(1);
    thread::sleep(Duration::from_millis(50));
    for (id, stretches) in ids.iter().zip(stretches.chunks(2)) {
        let (busy, seen) = (times[id].0, ns_of(stretches.iter().sum()));
        assert!(seen >= 2 * STEP.as_nanos() as u64);
        assert!(seen.abs_diff(busy) <= seen / 10 + 10_000, "{busy} ns busy, {seen} seen");
    }
}
