//! What `tracing`'s own suites hold of subscribers and layers in general, asked of ours. What applies of tracing 0.1.44, tracing-attributes 0.1.31 and tracing-subscriber 0.3.23, and where it is:
//!
//! | their test | here |
//! |---|---|
//! | `(cached, hinted, unhinted)_layer_filters_dont_break_other_layers`, `layer_filter_interests_are_cached`, `multiple_layer_filter_interests_cached`, `same_len_filters` | [`filters_of_other_layers_do_not_break_ours_nor_ours_theirs`] |
//! | `option`, `option_filter_interest_caching`, `vec`, `vec_subscriber_filter_interests_cached`, `layer_filters::boxed` | [`a_layer_may_be_absent_one_of_many_or_boxed`] |
//! | `reload`, `reload_max_log_level` | [`a_filter_on_top_of_ours_is_exchanged_while_it_runs`] |
//! | `filters_dont_leak`, `scoped_clobbers_default`, `no_subscriber`, `filter_caching_is_lexically_scoped` | [`what_one_subscriber_does_not_want_does_not_leak_to_the_next`], `spans::dispatchers_within_dispatchers` |
//! | `registry_span_instrument_drop` | [`a_span_that_is_entered_in_a_thread_without_a_subscriber_is_whole`] |
//! | `registry_with_subscriber`, `future_send`, `instrument` | [`futures_take_their_subscribers_along_and_may_be_sent`], `tasks` |
//! | `register_callsite_deadlock`, `missed_register_callsite` | [`who_records_while_a_callsite_is_registered_does_not_wait_for_itself`] |
//! | attributes: `err`, `ret`, `parents`, `follows_from`, `levels`, `targets`, `names`, `fields`; `async_fn` | [`what_the_attribute_says_is_recorded`]; `tasks` |
//! | `registry_max_level_hint`, `max_level_hint`, `multiple_max_level_hints`, `filters_are_(not_)reevaluated_for_…` | `switching::levels_that_no_directive_names_are_off_as_a_whole`, `switching` |
//! | `env_filter`, `layer_filters::(targets, combinators, filter_scopes, per_event, trees)`, `field_filter` | `switching::an_env_filter_decides_too`, `composed`: the filters are theirs |
//! | `filter_log` | `log_records` |
//! | `on_register_dispatch_is_called` | `switching`: without that call no change of directives would be noticed |
//! | `event`, `span`, `subscriber`, `duplicate_spans`, `enabled` | `fields`, `spans`, `owners` |
//!
//! Not ours: `macros`, `macro_imports`, `macros_incompatible_concat`, `dead_code`, `destructuring`, `ui` (what the macros accept), `ansi_escaping`, `fmt_max_level_hint`, `utils` (their formatter),
//! `event_enabling` and `layer_filters::downcast_raw` (their layers among themselves).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tracing::instrument::WithSubscriber as _;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::{Interest, NoSubscriber, set_default, with_default};
use tracing::{Event, Instrument as _, Level, Metadata, Subscriber, debug, info, info_span, instrument};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::{Layer as _, registry, reload};

use crate::spans::tree;
use crate::{both_ways, recorded};

/// A layer that counts events.
#[derive(Clone, Default)]
struct Heard(Arc<AtomicUsize>);

impl Heard {
    fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

impl<S: Subscriber> tracing_subscriber::Layer<S> for Heard {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// One event of each level, at the same callsites each time.
fn one_of_each_level() {
    tracing::trace!("trace");
    debug!("debug");
    info!("info");
    tracing::warn!("warn");
    tracing::error!("error");
}

#[test]
fn filters_of_other_layers_do_not_break_ours_nor_ours_theirs() {
    let name = "upstream::filters_of_other_layers_do_not_break_ours_nor_ours_theirs";
    let Some(session) = recorded(name, "warn") else {
        let (all, some, asked) = (Heard::default(), Heard::default(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&asked);
        let filter = filter_fn(move |meta| {
            count.fetch_add(usize::from(*meta.level() <= Level::WARN), Ordering::Relaxed);
            *meta.level() <= Level::INFO
        });
        let subscriber = registry()
            .with(all.clone())
            .with(silverpoint_tracing::layer())
            .with(some.clone().with_filter(filter));
        return with_default(subscriber, || {
            assert_eq!(LevelFilter::current(), LevelFilter::TRACE);
            for _ in 0..3 {
                one_of_each_level();
                assert_eq!((all.take(), some.take()), (5, 3));
            }
            // Where all filters agree `tracing` remembers what they have said.
            assert_eq!(asked.load(Ordering::Relaxed), 2);
        });
    };
    assert_eq!(session.args_of("{}"), ["\"warn\"", "\"error\""].repeat(3));
}

#[test]
fn a_layer_may_be_absent_one_of_many_or_boxed() {
    let name = "upstream::a_layer_may_be_absent_one_of_many_or_boxed";
    let Some(session) = recorded(name, "info") else {
        let layer = || silverpoint_tracing::Layer::new().with_filter(silverpoint_tracing::Filter);
        let absent = registry().with(Some(layer()).filter(|_| false));
        with_default(absent, || info!("not heard"));
        with_default(registry().with(Some(layer())), || info!("there"));
        let heard = Heard::default();
        let many = vec![layer().boxed(), heard.clone().with_filter(LevelFilter::DEBUG).boxed()];
        with_default(registry().with(many), || {
            assert_eq!(LevelFilter::current(), LevelFilter::DEBUG);
            info!("one of many");
            debug!("for the other");
            assert_eq!(heard.take(), 2);
        });
        return;
    };
    assert_eq!(session.args_of("{}"), ["\"there\"", "\"one of many\""]);
}

#[test]
fn a_filter_on_top_of_ours_is_exchanged_while_it_runs() {
    let name = "upstream::a_filter_on_top_of_ours_is_exchanged_while_it_runs";
    let Some(session) = recorded(name, "trace") else {
        use tracing_subscriber::filter::FilterExt as _;
        let (filter, handle) = reload::Layer::new(LevelFilter::ERROR);
        let layer = silverpoint_tracing::Layer::new().with_filter(filter.and(silverpoint_tracing::Filter));
        return with_default(registry().with(layer), || {
            one_of_each_level();
            handle.reload(LevelFilter::INFO).unwrap();
            one_of_each_level();
            handle.reload(LevelFilter::OFF).unwrap();
            one_of_each_level();
        });
    };
    assert_eq!(session.args_of("{}"), ["\"error\"", "\"info\"", "\"warn\"", "\"error\""]);
}

#[test]
fn what_one_subscriber_does_not_want_does_not_leak_to_the_next() {
    let name = "upstream::what_one_subscriber_does_not_want_does_not_leak_to_the_next";
    let Some(session) = recorded(name, "info") else {
        let speak = |place: u32| {
            let _span = info_span!("span", place).entered();
            info!(place, "event");
        };
        let quiet = || silverpoint_tracing::Subscriber::new().with_max_level(LevelFilter::OFF);
        return both_ways(|| {
            let guard = set_default(quiet());
            speak(1);
            both_ways(|| speak(2));
            speak(3);
            drop(guard);
            speak(4);
            // A dispatcher of a scope is put back though another has ended within it.
            with_default(NoSubscriber::default(), || speak(5));
            speak(6);
        });
    };
    let of = |place: u32| [format!("span({place})"), format!("span/{{}}(\"event\", {place})")];
    let once = [of(2), of(2), of(4), of(6)].concat();
    assert_eq!(tree(&session), [once.clone(), once].concat());
}

#[test]
fn a_span_that_is_entered_in_a_thread_without_a_subscriber_is_whole() {
    let name = "upstream::a_span_that_is_entered_in_a_thread_without_a_subscriber_is_whole";
    let Some(session) = recorded(name, "info") else {
        return both_ways(|| {
            let span = info_span!("span");
            thread::spawn(move || drop(span.entered())).join().unwrap();
        });
    };
    let kinds: Vec<u8> = session
        .records()
        .iter()
        .filter(|record| record.what == "span")
        .map(|record| session.sites[&record.site].kind as u8)
        .collect();
    assert_eq!([3, 6, 7].map(|kind| kinds.iter().filter(|found| **found == kind).count()), [2, 2, 2]);
    assert_eq!(crate::spans::ends(&session).len(), 2);
}

#[test]
fn futures_take_their_subscribers_along_and_may_be_sent() {
    let name = "upstream::futures_take_their_subscribers_along_and_may_be_sent";
    let Some(session) = recorded(name, "info") else {
        fn sendable<T: Send>(future: T) -> T {
            future
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        // (The span is made in the future: by the subscriber that it takes along.)
        let work = async || {
            let inner = async {
                tokio::task::yield_now().await;
                info!(name: "in the future", is_of = tracing::Span::current().metadata().map(Metadata::name));
            };
            inner.instrument(info_span!("work")).await;
        };
        let subscriber = silverpoint_tracing::Subscriber::new();
        runtime.block_on(runtime.spawn(sendable(work().with_subscriber(subscriber)))).unwrap();
        let subscriber = registry().with(silverpoint_tracing::layer());
        runtime.block_on(runtime.spawn(sendable(work().with_subscriber(subscriber)))).unwrap();
        return runtime.block_on(runtime.spawn(work())).unwrap();
    };
    assert_eq!(session.args_of("in the future"), ["\"work\"", "\"work\""]);
}

/// A layer that records by `tracing` itself whenever it is shown a callsite.
struct Talker;

impl<S: Subscriber> tracing_subscriber::Layer<S> for Talker {
    fn register_callsite(&self, meta: &'static Metadata<'static>) -> Interest {
        info!(callsite = meta.name(), "registered");
        Interest::always()
    }
}

#[test]
fn who_records_while_a_callsite_is_registered_does_not_wait_for_itself() {
    let name = "upstream::who_records_while_a_callsite_is_registered_does_not_wait_for_itself";
    let Some(session) = recorded(name, "info") else {
        let subscriber = registry().with(silverpoint_tracing::layer()).with(Talker);
        tracing::subscriber::set_global_default(subscriber).unwrap();
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            info!("said");
            tell.send(()).unwrap();
        });
        return told.recv_timeout(Duration::from_secs(120)).unwrap();
    };
    assert!(session.args_of("{}").contains(&"\"said\"".to_owned()));
}

#[instrument(level = "debug", target = "own", name = "renamed", err, ret, skip_all, fields(half = n / 2))]
fn fallible(n: i32) -> Result<i32, String> {
    if n < 0 { Err("negative".to_owned()) } else { Ok(n) }
}

#[instrument(parent = &outer, follows_from = [&earlier], skip_all)]
fn elsewhere(outer: tracing::Span, earlier: tracing::Span) {}

#[test]
fn what_the_attribute_says_is_recorded() {
    let name = "upstream::what_the_attribute_says_is_recorded";
    let Some(session) = recorded(name, "trace") else {
        return both_ways(|| {
            let _ = (fallible(4), fallible(-4));
            elsewhere(info_span!("outer"), info_span!("earlier"));
        });
    };
    assert_eq!(session.args_of("renamed"), ["2", "-2", "2", "-2"]);
    let sites: Vec<_> =
        session.sites.values().filter(|site| site.category == "own" && site.kind as u8 == 3).collect();
    assert!(!sites.is_empty() && sites.iter().all(|site| site.level as u8 == 1));
    // Its return value is recorded at the span's level, an error at its own.
    let told: Vec<_> = session
        .sites
        .values()
        .filter(|site| site.names == "return\n" || site.names == "error\n")
        .map(|site| (site.names.as_str(), site.level as u8, site.category.as_str()))
        .collect();
    assert!(told.contains(&("return\n", 1, "own")) && told.contains(&("error\n", 4, "own")), "{told:?}");
    assert_eq!((session.args_of("parent").len(), session.args_of("follows_from").len()), (2, 2));
}
