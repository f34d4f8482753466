//! Subscribers and layers in combinations: boxes, options, lists, replacement while the program runs, several
//! at once; and the current span.

use tracing::{Span, debug_span, error, info, info_span, subscriber::with_default, warn};
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Layer, Registry, registry, reload};

use crate::recorded;

#[test]
fn layers_may_be_boxed_absent_listed_and_replaced() {
    let name = "composed::layers_may_be_boxed_absent_listed_and_replaced";
    let Some(session) = recorded(name, "info") else {
        with_default(registry().with(silverpoint_tracing::layer().boxed()), || info!("in a box"));
        with_default(registry().with(None::<silverpoint_tracing::Layer>), || info!("absent"));
        let filtered = silverpoint_tracing::layer().with_filter(LevelFilter::WARN);
        let list: Vec<Box<dyn Layer<Registry> + Send + Sync>> = vec![filtered.boxed()];
        with_default(registry().with(list), || {
            info!("less than listed");
            warn!("in a list");
        });
        let (layer, handle) = reload::Layer::new(Some(silverpoint_tracing::Layer::new()));
        return with_default(registry().with(layer), || {
            let _outer = info_span!("outer").entered();
            info!("at first");
            handle.modify(|layer| *layer = None).unwrap();
            let between = info_span!("between").entered();
            info!("while there is none");
            handle.modify(|layer| *layer = Some(silverpoint_tracing::Layer::new())).unwrap();
            info!("another");
            drop(between);
            info_span!("inner").in_scope(|| info!("within"));
        });
    };
    assert_eq!(
        session.args_of("{}"),
        ["\"in a box\"", "\"in a list\"", "\"at first\"", "\"another\"", "\"within\""]
    );
    assert!(session.records().iter().all(|record| record.what != "between"));
    assert_eq!(session.args_of("inner").len(), 1);
}

#[test]
fn open_spans_of_a_replaced_layer_are_those_of_the_next() {
    let name = "composed::open_spans_of_a_replaced_layer_are_those_of_the_next";
    let Some(session) = recorded(name, "info") else {
        let (layer, handle) = reload::Layer::new(silverpoint_tracing::Layer::new());
        return with_default(registry().with(layer), || {
            let outer = info_span!("outer").entered();
            handle.reload(silverpoint_tracing::Layer::new()).unwrap();
            info!("within");
            drop(outer);
            info_span!("after").in_scope(|| info!("apart"));
        });
    };
    let tree = crate::spans::tree(&session);
    assert_eq!(tree, ["outer()", "outer/{}(\"within\")", "after()", "after/{}(\"apart\")"]);
}

#[test]
fn two_layers_of_one_registry_have_their_spans_each() {
    let name = "composed::two_layers_of_one_registry_have_their_spans_each";
    let Some(session) = recorded(name, "info") else {
        let errors = Targets::new().with_default(LevelFilter::ERROR);
        let second = silverpoint_tracing::Layer::new().with_filter(errors);
        return with_default(registry().with(silverpoint_tracing::layer()).with(second), || {
            for _ in 0..3 {
                let _both = tracing::error_span!("both").entered();
                let _one = info_span!("one").entered();
                info!("for one");
                error!("for both");
            }
        });
    };
    let records = session.records();
    // A span that is here once is a span of its thread, or one with an id: begun once in either case.
    let begins = |name: &str| {
        let of = |record: &&crate::reader::Record| {
            let site = session.sites.get(&record.site).filter(|_| record.what == name);
            site.is_some_and(|site| site.kind as u8 == 6 || (site.kind as u8 == 3 && site.names.is_empty()))
        };
        records.iter().filter(of).count()
    };
    assert_eq!((begins("both"), begins("one")), (6, 3));
    let stretches = records
        .iter()
        .filter(|record| session.sites.get(&record.site).is_some_and(|site| site.kind as u8 == 3));
    assert_eq!(stretches.count(), records.iter().filter(|record| record.what == "end").count());
    let texts = session.args_of("{}");
    let count = |text: &str| texts.iter().filter(|found| *found == text).count();
    assert_eq!((count("\"for one\""), count("\"for both\"")), (3, 6));
}

#[test]
fn spans_that_only_others_want_are_no_parents_here() {
    let name = "composed::spans_that_only_others_want_are_no_parents_here";
    let Some(session) = recorded(name, "trace") else {
        let ours = silverpoint_tracing::layer().with_filter(filter_fn(|meta| meta.name() != "theirs"));
        let subscriber = registry().with(ours).with(tracing_subscriber::layer::Identity::new());
        return with_default(subscriber, || {
            let outer = info_span!("outer").entered();
            let theirs = debug_span!("theirs").entered();
            info!("within");
            info_span!("inner").in_scope(|| ());
            theirs.record("missing", 1);
            drop(theirs);
            drop(outer);
        });
    };
    let tree = crate::spans::tree(&session);
    assert_eq!(tree, ["outer()", "outer/{}(\"within\")", "outer/inner()"]);
}

#[test]
fn the_current_span_is_the_innermost_that_was_entered_and_not_left() {
    let name = "composed::the_current_span_is_the_innermost_that_was_entered_and_not_left";
    let Some(session) = recorded(name, "info") else {
        return with_default(silverpoint_tracing::Subscriber::new(), || {
            let current = || Span::current().metadata().map(|meta| meta.name());
            assert_eq!(current(), None);
            let outer = info_span!("outer");
            assert_eq!(current(), None);
            let entered = outer.enter();
            assert_eq!((current(), Span::current().id()), (Some("outer"), outer.id()));
            let inner = info_span!("inner").entered();
            assert_eq!(current(), Some("inner"));
            // One that is off is none.
            let off = debug_span!("off").entered();
            assert!(off.is_disabled());
            assert_eq!(current(), Some("inner"));
            // Left in another order than entered.
            drop(entered);
            assert_eq!(current(), Some("inner"));
            drop((off, inner));
            assert_eq!(current(), None);
            // A span lives as long as somebody has it, and is closed once.
            let id = outer.id().unwrap();
            let copy = outer.clone();
            assert_eq!(copy.id(), Some(id.clone()));
            drop(outer);
            copy.in_scope(|| assert_eq!(Span::current().id(), Some(id.clone())));
            let dispatch = tracing::dispatcher::get_default(Clone::clone);
            assert_eq!(dispatch.clone_span(&id), id);
            assert!(!dispatch.try_close(id.clone()));
            let id = copy.id().unwrap();
            std::mem::forget(copy);
            assert!(dispatch.try_close(id));
        });
    };
    // It was entered twice: the second time it had an id.
    assert_eq!(crate::spans::ends(&session).len(), 1);
}
