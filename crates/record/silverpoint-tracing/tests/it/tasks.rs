//! Futures that move between threads.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tracing::{Instrument as _, info_span, instrument};
use tracing_subscriber::prelude::*;

use crate::reader::{Record, Session};
use crate::recorded;
use crate::spans::{by_thread, end_of, ends};

const TASKS: u64 = 1000;

#[instrument]
async fn fetch(number: u64) -> u64 {
    tokio::task::yield_now().await;
    step(number).await;
    if number % 4 == 0 {
        tokio::time::sleep(Duration::from_millis(number % 7)).await;
    }
    silverpoint::event!("native inside", number);
    number
}

#[instrument(name = "step")]
async fn step(of: u64) {
    for _ in 0..of % 3 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_thousand_tasks_close_all_their_spans() {
    let Some(session) = recorded("tasks::a_thousand_tasks_close_all_their_spans", "info") else {
        silverpoint_tracing::init();
        return run_tasks();
    };
    check_tasks(&session);
}

#[test]
fn a_thousand_tasks_close_all_their_spans_by_a_layer_too() {
    let Some(session) = recorded("tasks::a_thousand_tasks_close_all_their_spans_by_a_layer_too", "info")
    else {
        tracing_subscriber::registry().with(silverpoint_tracing::layer()).init();
        return run_tasks();
    };
    check_tasks(&session);
}

fn run_tasks() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|number| tokio::spawn(fetch(number).instrument(info_span!("task", number))))
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        assert_eq!(sum, TASKS * (TASKS - 1) / 2);
    });
}

/// Pending once.
async fn once_more() {
    let mut was_polled = false;
    std::future::poll_fn(move |context| {
        if std::mem::replace(&mut was_polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[instrument(name = "fetch")]
async fn fetch_by_hand(number: u64) {
    once_more().await;
    step_by_hand(number).await;
    silverpoint::event!("native inside", number);
}

#[instrument(name = "step")]
async fn step_by_hand(of: u64) {
    for _ in 0..=of % 3 {
        once_more().await;
    }
}

/// Threads in a ring, each of which polls a future once and gives it to the next. No two consecutive polls of
/// one are in the same thread.
fn pass_on_tasks() {
    const THREADS: usize = 3;
    type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| mpsc::channel::<Option<Task>>()).unzip();
    for number in 0..TASKS {
        let task = fetch_by_hand(number).instrument(info_span!("task", number));
        senders[number as usize % THREADS].send(Some(Box::pin(task))).unwrap();
    }
    let left = AtomicU64::new(TASKS);
    std::thread::scope(|scope| {
        for (own, receiver) in receivers.into_iter().enumerate() {
            let (senders, left) = (senders.clone(), &left);
            scope.spawn(move || {
                let mut context = Context::from_waker(Waker::noop());
                while let Some(mut task) = receiver.recv().unwrap() {
                    if task.as_mut().poll(&mut context).is_pending() {
                        senders[(own + 1) % THREADS].send(Some(task)).unwrap();
                        continue;
                    }
                    drop(task);
                    if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                        senders.iter().for_each(|sender| sender.send(None).unwrap());
                    }
                }
            });
        }
    });
}

/// Each poll of a task is in another thread than the last.
fn check_passed_on(session: &Session) {
    check_tasks(session);
    let first = |record: &Record| record.args.split(", ").next().and_then(|first| first.parse::<u64>().ok());
    let mut numbers = HashMap::new();
    for record in session.records() {
        if session.sites.get(&record.site).is_some_and(|site| site.kind as u8 == 6) {
            numbers
                .insert(first(&record).unwrap(), record.args.rsplit(", ").next().unwrap().parse().unwrap());
        }
    }
    let mut threads: HashMap<(String, u64), HashSet<usize>> = HashMap::new();
    for (thread, records) in by_thread(session).iter().enumerate() {
        for record in records {
            let Some(site) = session.sites.get(&record.site).filter(|site| site.kind as u8 == 3) else {
                continue;
            };
            let first = first(record).unwrap();
            // (The first stretch of those that got their ids late says the number.)
            let number = if site.names == "span.id\n" { numbers[&first] } else { first };
            threads.entry((record.what.clone(), number)).or_default().insert(thread);
        }
    }
    assert_eq!(threads.len() as u64, 3 * TASKS);
    assert!(threads.values().all(|threads| threads.len() > 1), "{threads:?}");
}

#[test]
fn a_thousand_tasks_that_are_polled_in_another_thread_each_time() {
    let Some(session) =
        recorded("tasks::a_thousand_tasks_that_are_polled_in_another_thread_each_time", "info")
    else {
        silverpoint_tracing::init();
        return pass_on_tasks();
    };
    check_passed_on(&session);
}

#[test]
fn a_thousand_tasks_that_are_polled_in_another_thread_each_time_by_a_layer_too() {
    let name = "tasks::a_thousand_tasks_that_are_polled_in_another_thread_each_time_by_a_layer_too";
    let Some(session) = recorded(name, "info") else {
        tracing_subscriber::registry().with(silverpoint_tracing::layer()).init();
        return pass_on_tasks();
    };
    check_passed_on(&session);
}

macro_rules! callsites {
    ($($number:literal)*) => {
        [$((|| info_span!("shape", number = $number)) as fn() -> tracing::Span),*]
    };
}

/// Several threads make the first spans of a callsite, which get their ids at once. One thread may find a shape that another has just made.
#[test]
fn first_spans_of_several_threads_get_their_ids() {
    const THREADS: usize = 4;
    let name = "tasks::first_spans_of_several_threads_get_their_ids";
    let callsites = callsites! {
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
        32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    };
    let Some(session) = recorded(name, "info") else {
        silverpoint_tracing::init();
        let begun: [AtomicU64; 64] = std::array::from_fn(|_| AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for (make, begun) in callsites.iter().zip(&begun) {
                        begun.fetch_add(1, Ordering::AcqRel);
                        while begun.load(Ordering::Acquire) < THREADS as u64 {
                            std::thread::yield_now();
                        }
                        // Each gets its id when the next one is made.
                        drop([make(), make()]);
                    }
                });
            }
        });
        return;
    };
    let is_begin =
        |record: &&Record| session.sites.get(&record.site).is_some_and(|site| site.kind as u8 == 6);
    let records = session.records();
    let begins: HashSet<&str> = records.iter().filter(is_begin).map(|begin| begin.args.as_str()).collect();
    assert_eq!(begins.len(), callsites.len() * THREADS * 2);
}

fn check_tasks(session: &Session) {
    // Ids of the spans by name and the number that they are of.
    let mut ids: HashMap<(String, u64), u64> = HashMap::new();
    let mut busy = HashMap::<u64, u64>::new();
    // Spans that there are, and for how long they were entered before they had an id.
    let (mut spans, mut before) = (HashSet::new(), HashMap::new());
    // When each has begun, by its first record or, where that came late, its first stretch. When its first stretch with the id began.
    // When those with an id have ended.
    let (mut begun, mut entered, mut ended) = (HashMap::new(), HashMap::new(), HashMap::<u64, u64>::new());
    // Each stretch, and the one that it lies in: id, if it has one, and name with the first argument.
    type Stretch = (Option<u64>, (String, u64));
    let mut nested: Vec<(Stretch, Option<Stretch>)> = Vec::new();
    for records in by_thread(session) {
        let mut open: Vec<((u32, u64), Stretch)> = Vec::new();
        for record in &records {
            if record.what == "end" {
                let (site, at) = end_of(record);
                let (last, (id, name)) = open.pop().expect("something is open");
                assert_eq!(last, (site, at));
                match id {
                    Some(id) => *busy.entry(id).or_default() += record.ticks - at,
                    None => {
                        before.insert(name, record.ticks - at);
                    }
                }
                continue;
            }
            let site = &session.sites[&record.site];
            let first = record.args.split(", ").next().and_then(|first| first.parse::<u64>().ok());
            match site.kind as u8 {
                3 => {
                    let id = first.filter(|_| site.names == "span.id\n");
                    let name = (record.what.clone(), first.unwrap());
                    if let Some(id) = id {
                        let first = entered.entry(id).or_insert(record.ticks);
                        *first = record.ticks.min(*first);
                    } else {
                        spans.insert(name.clone());
                        begun.insert(name.clone(), record.ticks);
                    }
                    let outer = open.last().map(|(_, outer)| outer.clone());
                    nested.push(((id, name.clone()), outer));
                    open.push(((record.site, record.ticks), (id, name)));
                }
                6 => {
                    // (One that begins late says when its first stretch began, too.)
                    let (id, number) = record.args.split_once(", ").unwrap();
                    let number = number.rsplit(", ").next().unwrap();
                    let (id, number) = (id.parse().unwrap(), number.parse().unwrap());
                    spans.insert((record.what.clone(), number));
                    begun.entry((record.what.clone(), number)).or_insert(record.ticks);
                    assert_eq!(
                        ids.insert((record.what.clone(), number), id),
                        None,
                        "{} began once",
                        record.what
                    );
                }
                7 => {
                    ended.insert(first.unwrap(), record.ticks);
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "every stretch has ended");
    }
    for name in ["task", "fetch", "step"] {
        assert_eq!(
            (0..TASKS).filter(|n| spans.contains(&(name.to_owned(), *n))).count(),
            TASKS as usize,
            "{name}"
        );
    }
    // Every span that began with an id has ended once, and its busy time is that of its parts.
    let times = ends(session);
    assert_eq!(times.keys().collect::<HashSet<_>>(), ids.values().collect::<HashSet<_>>());
    let ns_of = |ticks: u64| silverpoint::dynamic::ticks_to_ns(ticks);
    // A session that is a moment old knows its rate badly, where the processor does not tell it.
    ns_of(1);
    std::thread::sleep(std::time::Duration::from_millis(50));
    for (name, id) in &ids {
        let (busy_ns, idle_ns) = times[id];
        let ticks = busy.get(id).unwrap_or(&0) + before.get(name).unwrap_or(&0);
        let seen = ns_of(ticks);
        assert!(seen.abs_diff(busy_ns) <= seen / 10 + 10_000, "{name:?}: {busy_ns} ns busy, {seen} seen");
        // (What began late may have been recorded by a thread whose records are looked at later.)
        if !before.contains_key(name) {
            let said = busy_ns + idle_ns;
            // The thread that made it may be interrupted while it records the begin; then another counts from its first stretch.
            let is_right = |begun: u64| {
                let whole = ns_of(ended[id].saturating_sub(begun)).max(busy_ns);
                said.abs_diff(whole) <= whole / 10 + 10_000
            };
            let from = [begun[name], *entered.get(id).unwrap_or(&begun[name])];
            assert!(from.into_iter().any(is_right), "{name:?}: {said} ns, from {from:?} to {}", ended[id]);
        }
    }
    // Each part lies in one of its parent, in any thread.
    let numbers: HashMap<u64, u64> = ids.iter().map(|((_, number), id)| (*id, *number)).collect();
    let is_of = |(id, (name, first)): Stretch| (name, id.map_or(first, |id| numbers[&id]));
    for (inner, outer) in nested {
        let ((inner, number), outer) = (is_of(inner), outer.map(is_of));
        let parent = match inner.as_str() {
            "fetch" => Some("task"),
            "step" => Some("fetch"),
            _ => None,
        };
        assert_eq!(outer, parent.map(|parent| (parent.to_owned(), number)), "{inner} {number}");
    }
    // Parents: by a link where both have ids, else by lying within.
    let links: HashSet<String> = session.args_of("parent").into_iter().collect();
    let mut linked = 0;
    for (child, parent) in [("fetch", "task"), ("step", "fetch")] {
        for number in 0..TASKS {
            let id = |name: &str| ids.get(&(name.to_owned(), number));
            if let Some(child) = id(child) {
                let parent = id(parent).expect("who has a child with an id has one");
                assert!(links.contains(&format!("{parent}, {child}")), "{number}");
                linked += 1;
            }
        }
    }
    assert_eq!(links.len(), linked);
    assert_eq!(session.args_of("native inside").len(), TASKS as usize);
}
