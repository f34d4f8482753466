//! Callsites are switched while the program runs.

use std::time::{Duration, Instant};
use std::{env, thread};

use silverpoint_shm::observer::{self, ObservedSession};
use silverpoint_shm::root::Root;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::with_default;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::{EnvFilter, registry};

use crate::{both_ways, recorded};

/// Controls the program, as another process could.
fn set_directives(text: &str) {
    let root = env::var_os("SILVERPOINT_DIR").unwrap();
    let root = Root::open_directory(root.as_ref()).unwrap();
    let name = observer::list(&root).unwrap()[0];
    let session = ObservedSession::open(&root, name).unwrap();
    let begun = Instant::now();
    session.write_directives(text).unwrap();
    // It waits for those who follow, but no longer than a second; they may need more on a busy machine.
    if begun.elapsed() >= Duration::from_secs(1) {
        while !session.await_followers().unwrap() {}
    }
}

/// Waits until it is so: the adapter applies new directives in a thread of its own.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn one_callsite_is_switched_by_file_and_line() {
    let name = "switching::one_callsite_is_switched_by_file_and_line";
    let Some(session) = recorded(name, "error") else {
        return both_ways(|| {
            let (mut wanted, mut others) = (0, 0);
            // Fields are evaluated when it is on, and only then.
            let mut hit = |others: &mut i32| {
                const LINE: u32 = line!() + 2;
                let before = wanted;
                tracing::debug!(n = count(&mut wanted), "wanted");
                tracing::debug!(n = count(others), "other");
                (wanted > before, LINE)
            };
            let (is_on, line) = hit(&mut others);
            assert!(!is_on);
            set_directives(&format!("switching.rs:{line}"));
            until("on", || hit(&mut others).0);
            set_directives("error");
            until("off", || !hit(&mut others).0);
            assert!(!hit(&mut others).0);
            assert_eq!(others, 0);
        });
    };
    assert!(session.records().iter().any(|record| record.args.contains("wanted")));
    assert!(session.records().iter().all(|record| !record.args.contains("other")));
}

#[test]
fn an_env_filter_decides_too() {
    let name = "switching::an_env_filter_decides_too";
    let Some(session) = recorded(name, "trace") else {
        use tracing_subscriber::filter::FilterExt as _;
        let filter = EnvFilter::new("warn,net::tcp=debug,[request{user=7}]=trace");
        let layer = silverpoint_tracing::Layer::new().with_filter(filter.and(silverpoint_tracing::Filter));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), speak);
        let targets = "warn,net::tcp=debug".parse::<tracing_subscriber::filter::Targets>().unwrap();
        let subscriber = silverpoint_tracing::Subscriber::new().with_targets(targets);
        return tracing::subscriber::with_default(subscriber, speak);
    };
    assert_eq!(
        session.args_of("{}"),
        ["\"warned\"", "\"tcp debug\"", "\"traced for 7\"", "\"warned\"", "\"tcp debug\""]
    );
}

fn count(number: &mut i32) -> i32 {
    *number += 1;
    *number
}

fn speak() {
    tracing::info!("too little");
    tracing::warn!("warned");
    tracing::debug!(target: "net::tcp", "tcp debug");
    tracing::trace!(target: "net::tcp", "tcp trace");
    for user in [7, 8] {
        let _request = tracing::info_span!("request", user).entered();
        tracing::trace!("traced for {user}");
    }
}

#[test]
fn other_layers_hear_what_is_off_here() {
    let name = "switching::other_layers_hear_what_is_off_here";
    let Some(session) = recorded(name, "error") else {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicU32, Ordering};
        struct Count(Arc<AtomicU32>);
        impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Count {
            fn on_event(&self, _: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let heard = Arc::new(AtomicU32::new(0));
        let registry =
            tracing_subscriber::registry().with(silverpoint_tracing::layer()).with(Count(heard.clone()));
        return tracing::subscriber::with_default(registry, || {
            tracing::info!("for the other");
            tracing::error!("for both");
            assert_eq!(heard.load(Ordering::Relaxed), 2);
        });
    };
    assert_eq!(session.args_of("{}"), ["\"for both\""]);
}

#[test]
fn levels_that_no_directive_names_are_off_as_a_whole() {
    let name = "switching::levels_that_no_directive_names_are_off_as_a_whole";
    let Some(session) = recorded(name, "error,net=info") else {
        let becomes = |text: &str, level: LevelFilter| {
            set_directives(text);
            until(text, || LevelFilter::current() == level);
        };
        both_ways(|| {
            assert_eq!(LevelFilter::current(), LevelFilter::INFO);
            becomes("error,net=trace", LevelFilter::TRACE);
            tracing::trace!(target: "net", "a target");
            becomes("off", LevelFilter::OFF);
            tracing::error!("not heard");
            becomes("warn", LevelFilter::WARN);
            becomes(&format!("off,switching.rs:{}=debug", line!() + 1), LevelFilter::DEBUG);
            tracing::debug!("a line");
            becomes("error,net=info", LevelFilter::INFO);
        });
        // What the program itself allows is not exceeded.
        let subscriber = silverpoint_tracing::Subscriber::new().with_max_level(LevelFilter::WARN);
        with_default(subscriber, || assert_eq!(LevelFilter::current(), LevelFilter::WARN));
        let warnings = || silverpoint_tracing::Layer::new().with_filter(LevelFilter::WARN);
        with_default(registry().with(silverpoint_tracing::layer()).with(warnings()), || {
            assert_eq!(LevelFilter::current(), LevelFilter::INFO);
        });
        // Other layers may want more.
        let all = tracing_subscriber::layer::Identity::new;
        with_default(registry().with(silverpoint_tracing::layer()).with(all()), || {
            assert_eq!(LevelFilter::current(), LevelFilter::TRACE);
        });
        return with_default(registry().with(all()).with(silverpoint_tracing::layer()), || {
            assert_eq!(LevelFilter::current(), LevelFilter::TRACE);
        });
    };
    assert_eq!(session.args_of("{}"), ["\"a target\"", "\"a line\"", "\"a target\"", "\"a line\""]);
}

/// Captures, a reload and `ctl` must not lose records just after them, although facades apply new directives
/// in a thread of their own.
#[test]
fn whoever_changes_directives_in_the_process_returns_when_every_facade_follows() {
    let name = "switching::whoever_changes_directives_in_the_process_returns_when_every_facade_follows";
    let Some(session) = recorded(name, "error") else {
        silverpoint_log::try_init().unwrap();
        let tag = silverpoint_atrace::Tag::GRAPHICS;
        assert!(!silverpoint_atrace::is_in_ring(tag));
        return both_ways(|| {
            let (mut traced, mut logged) = (0, 0);
            let mut hit = || {
                let before = (traced, logged);
                tracing::debug!(n = count(&mut traced), "traced");
                log::debug!("logged {}", count(&mut logged));
                (traced - before.0, logged - before.1)
            };
            for round in 0..100 {
                assert_eq!(hit(), (0, 0), "round {round}: off");
                set_directives("debug");
                assert_eq!(hit(), (1, 1), "round {round}: on");
                assert!(silverpoint_atrace::is_in_ring(tag), "round {round}: ATrace, on");
                set_directives("error");
                assert!(!silverpoint_atrace::is_in_ring(tag), "round {round}: ATrace, off");
            }
        });
    };
    let of = |word: &str| session.records().iter().filter(|record| record.args.contains(word)).count();
    assert_eq!((of("traced"), of("logged")), (200, 200));
}
