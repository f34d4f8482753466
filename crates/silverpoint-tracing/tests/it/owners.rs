//! Who has a span, and who has only its id.

use std::collections::{HashMap, HashSet};
use std::sync::{Barrier, Mutex};
use std::thread;

use tracing::{Id, info, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

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

/// Spans that others were made in, were cloned, or end elsewhere, in a thread of their own each time: none is mistaken for one that is nobody else's.
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
