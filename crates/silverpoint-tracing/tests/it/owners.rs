//! Who has a span, and who has only its id.

use std::sync::{Barrier, Mutex};
use std::thread;

use tracing::{Id, info, info_span};

use crate::spans::tree;
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
