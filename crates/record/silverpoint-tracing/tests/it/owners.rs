//! Who has a span, and who has only its id.

use std::collections::{HashMap, HashSet};
use std::sync::{Barrier, Mutex};
use std::thread;

use tracing::field::{Empty, Value};
use tracing::{Id, Level, event, info, info_span};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;

use crate::spans::{ends, tree};
use crate::{both_ways, recorded};

const ROUNDS: usize = 300;

/// A thread asks by its id for a span that ends at this moment in another, where the next span lives in the same place.
#[test]
fn an_id_that_outlives_its_span_harms_no_other() {
    let name = "owners::an_id_that_outlives_its_span_harms_no_other";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let (ready, asked) = (Barrier::new(2), Barrier::new(2));
            let given: Mutex<Option<Id>> = Mutex::new(None);
            let dispatch = tracing::dispatcher::get_default(Clone::clone);
            thread::scope(|scope| {
                scope.spawn(|| {
                    tracing::dispatcher::with_default(&dispatch, || {
                        for _ in 0..ROUNDS {
                            ready.wait();
                            let id = given.lock().unwrap().clone();
                            info!(parent: id, "asked");
                            asked.wait();
                        }
                    });
                });
                for _ in 0..ROUNDS {
                    let span = info_span!("short").entered();
                    *given.lock().unwrap() = span.id();
                    ready.wait();
                    drop(span);
                    info_span!("next").in_scope(|| info!("within"));
                    asked.wait();
                }
            });
        });
    };
    // (Ends are compared with begins there.)
    let lines = tree(&session);
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("next("), count("next/")), (2 * ROUNDS, 2 * ROUNDS), "{:?}", &lines[..20]);
    assert_eq!(lines.iter().filter(|line| line.contains("\"asked\"")).count(), 2 * ROUNDS);
}

/// Spans that contain others, were cloned, or end elsewhere, in a thread of their own each time. None is
/// mistaken for one with a single reference.
#[test]
fn spans_that_others_have_too_end_with_the_last() {
    let name = "owners::spans_that_others_have_too_end_with_the_last";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let dispatch = &tracing::dispatcher::get_default(Clone::clone);
            // (A registry lets a parent go by the dispatcher of the thread that closes the child: there, too.)
            let run = |span: tracing::Span, what: &'static str| {
                tracing::dispatcher::with_default(dispatch, move || {
                    span.in_scope(|| info!("in the {what}"));
                });
            };
            for _ in 0..10 {
                let outer = info_span!("outer").entered();
                let child = info_span!("child");
                let cloned = outer.clone();
                thread::scope(|scope| {
                    scope.spawn(move || run(child, "child"));
                    scope.spawn(move || run(cloned, "clone"));
                });
                drop(outer);
                info_span!("after").in_scope(|| info!("in what follows"));
            }
        });
    };
    let lines = tree(&session);
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("after("), count("after/")), (20, 20));
    assert_eq!((count("child/"), count("outer/{}(")), (20, 20), "{lines:?}");
    let ended = crate::spans::ends(&session).len();
    assert_eq!(ended, 40, "each outer and each child: {lines:?}");
}

/// More spans at once than a layer finds by a table of its own: the registry knows the others.
#[test]
fn more_spans_at_once_than_the_table_of_a_layer_has_places_for() {
    const MANY: u64 = 20_000;
    let name = "owners::more_spans_at_once_than_the_table_of_a_layer_has_places_for";
    let Some(session) = recorded(name, "info") else {
        let registry = tracing_subscriber::registry().with(silverpoint_tracing::layer());
        return tracing::subscriber::with_default(registry, || {
            let all: Vec<_> = (0..MANY).map(|number| info_span!("one", number)).collect();
            all.iter().for_each(|span| span.in_scope(|| info!("within")));
        });
    };
    let mut numbers = HashMap::new();
    let mut entered = HashSet::new();
    for record in session.records() {
        let Some(site) = session.sites.get(&record.site).filter(|_| record.what == "one") else { continue };
        let mut args = record.args.split(", ").map(|value| value.parse::<u64>().unwrap());
        let id = args.next().unwrap();
        match site.kind as u8 {
            6 => assert_eq!(numbers.insert(id, args.next().unwrap()), None),
            3 => assert!(entered.insert(id)),
            _ => {}
        }
    }
    assert_eq!(numbers.values().collect::<HashSet<_>>().len() as u64, MANY);
    assert_eq!(entered.len() as u64, MANY);
    assert_eq!(ends(&session).keys().collect::<HashSet<_>>(), numbers.keys().collect::<HashSet<_>>());
    let within = session.records().iter().filter(|record| record.args.contains("within")).count();
    assert_eq!(within as u64, MANY);
}

/// Who has kept an id asks for a span that is closed, whose place the next one has by now: nothing of it goes there.
#[test]
fn what_is_said_of_a_closed_span_is_not_said_of_the_next() {
    let name = "owners::what_is_said_of_a_closed_span_is_not_said_of_the_next";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            for has_id in [false, true, false] {
                let closed = info_span!("closed", what = Empty);
                if has_id {
                    closed.record("what", "in time");
                }
                closed.in_scope(|| ());
                let (id, meta) = (closed.id().unwrap(), closed.metadata().unwrap());
                drop(closed);
                let next = info_span!("next", what = Empty).entered();
                tracing::dispatcher::get_default(|dispatch| {
                    let all = [Some(&"too late" as &dyn Value)];
                    let values = meta.fields().value_set_all(&all);
                    dispatch.record(&id, &tracing::span::Record::new(&values));
                    dispatch.record_follows_from(&id, &next.id().unwrap());
                    dispatch.record_follows_from(&next.id().unwrap(), &id);
                });
                next.follows_from(id);
                event!(name: "within", Level::INFO, n = 1);
            }
        });
    };
    let lines = tree(&session);
    assert_eq!(lines.iter().filter(|line| line.ends_with("/within(1)")).count(), 6, "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("too late")), "{lines:?}");
    assert!(session.args_of("parent").is_empty());
    assert_eq!(lines.iter().filter(|line| line.contains("in time")).count(), 2, "{lines:?}");
}

#[test]
fn a_field_that_is_recorded_twice_is_there_twice_in_order() {
    let name = "owners::a_field_that_is_recorded_twice_is_there_twice_in_order";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let span = info_span!("job", at = 0, later = Empty);
            let entered = span.enter();
            span.record("at", 1).record("later", "a");
            drop(entered);
            span.record("at", "of another type").record("later", Empty).record("unknown", 7);
            span.record("at", 2);
        });
    };
    // (The first span of a callsite gets its id in the middle of it.)
    let of_kind = |kind: u8| -> Vec<String> {
        let is_its = |record: &&crate::reader::Record| {
            record.what == "job"
                && session.sites.get(&record.site).is_some_and(|site| site.kind as u8 == kind)
        };
        let records = session.records();
        records
            .iter()
            .filter(is_its)
            .map(|record| record.args.split_once(", ").unwrap_or_default().1.into())
            .collect()
    };
    // (That says when it began, too.)
    let begins: Vec<String> =
        of_kind(6).iter().map(|args| args.rsplit(", ").next().unwrap().to_owned()).collect();
    assert_eq!(begins, ["0", "0"]);
    let once = ["1", "\"a\"", "\"of another type\"", "2"];
    let later: Vec<String> = of_kind(8).into_iter().filter(|args| !args.is_empty()).collect();
    assert_eq!(later, [once, once].concat());
    assert_eq!(ends(&session).len(), 2);
}

/// Two threads are in one span at the same time, neither of which has made it. Each has its part, and the
/// span ends once, with both times.
#[test]
fn a_span_that_two_threads_are_in_at_once_has_a_stretch_in_each() {
    let name = "owners::a_span_that_two_threads_are_in_at_once_has_a_stretch_in_each";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let dispatch = &tracing::dispatcher::get_default(Clone::clone);
            for _ in 0..20 {
                let span = info_span!("shared");
                let both_in = &Barrier::new(2);
                thread::scope(|scope| {
                    for number in 0..2 {
                        let span = span.clone();
                        scope.spawn(move || {
                            tracing::dispatcher::with_default(dispatch, || {
                                span.in_scope(|| {
                                    both_in.wait();
                                    event!(name: "within", Level::INFO, number);
                                    both_in.wait();
                                });
                                drop(span);
                            });
                        });
                    }
                });
            }
        });
    };
    let lines = tree(&session);
    for number in 0..2 {
        let within = format!("shared/within({number})");
        assert_eq!(lines.iter().filter(|line| **line == within).count(), 40, "{lines:?}");
    }
    // Begins and ends of each one's stretches: both had begun before one ended.
    let mut of: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
    for records in crate::spans::by_thread(&session) {
        let mut open = Vec::new();
        for record in records {
            if record.what == "end" {
                let (id, begun) = open.pop().unwrap();
                of.entry(id).or_default().push((begun, record.ticks));
            } else if session.sites.get(&record.site).is_some_and(|site| site.kind as u8 == 3) {
                open.push((record.args.parse().unwrap(), record.ticks));
            }
        }
    }
    let times = ends(&session);
    assert_eq!(of.keys().collect::<HashSet<_>>(), times.keys().collect::<HashSet<_>>());
    assert_eq!(of.len(), 40);
    let ns_of = |ticks: u64| silverpoint::dynamic::ticks_to_ns(ticks);
    ns_of(1);
    thread::sleep(std::time::Duration::from_millis(50));
    for (id, stretches) in of {
        let [one, other] = stretches[..] else { panic!("{stretches:?}") };
        assert!(one.0 < other.1 && other.0 < one.1, "{stretches:?}");
        let (busy, seen) = (times[&id].0, ns_of(one.1 - one.0 + other.1 - other.0));
        assert!(seen.abs_diff(busy) <= seen / 10 + 10_000, "{busy} ns busy, {seen} seen");
    }
}

/// Another layer records while a span is closed; and a value while it is dropped with what has it.
#[test]
fn what_is_recorded_while_a_span_closes_is_beside_it() {
    struct Tells;
    impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Tells {
        fn on_close(&self, id: Id, context: tracing_subscriber::layer::Context<'_, S>) {
            if context.span(&id).is_some_and(|span| span.name() == "ours") {
                event!(name: "closing", Level::INFO, n = 1);
                info_span!("of the close", n = 2).in_scope(|| event!(name: "in it", Level::INFO, n = 3));
            }
        }
    }
    struct Guard(#[allow(dead_code)] tracing::span::EnteredSpan);
    impl Drop for Guard {
        fn drop(&mut self) {
            event!(name: "dropping", Level::INFO, n = 4);
        }
    }
    let name = "owners::what_is_recorded_while_a_span_closes_is_beside_it";
    let Some(session) = recorded(name, "info") else {
        let run = || {
            for _ in 0..3 {
                let _outer = info_span!("outer").entered();
                let _guard = Guard(info_span!("ours").entered());
            }
        };
        let registry = tracing_subscriber::registry;
        tracing::subscriber::with_default(registry().with(Tells).with(silverpoint_tracing::layer()), run);
        return tracing::subscriber::with_default(
            registry().with(silverpoint_tracing::layer()).with(Tells),
            run,
        );
    };
    let lines = tree(&session);
    let count = |line: &str| lines.iter().filter(|known| *known == line).count();
    assert_eq!(count("outer/ours/dropping(4)"), 6, "{lines:?}");
    assert_eq!(count("outer/closing(1)"), 6, "{lines:?}");
    let in_it = lines.iter().filter(|line| line.ends_with("of the close/in it(3)")).count();
    assert_eq!(in_it, 6, "{lines:?}");
}
