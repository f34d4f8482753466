//! Futures that move between threads.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tracing::{Instrument as _, info_span, instrument};

use crate::recorded;
use crate::spans::{by_thread, end_of, ends};

const TASKS: u64 = 1000;

#[instrument]
async fn fetch(number: u64) -> u64 {
    tokio::task::yield_now().await;
    step(number).await;
    if number.is_multiple_of(4) {
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
    let name = "tasks::a_thousand_tasks_close_all_their_spans";
    let Some(session) = recorded(name, "info") else {
        silverpoint_tracing::init();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
        return runtime.block_on(async {
            let tasks: Vec<_> = (0..TASKS)
                .map(|number| tokio::spawn(fetch(number).instrument(info_span!("task", number))))
                .collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            assert_eq!(sum, TASKS * (TASKS - 1) / 2);
        });
    };
    // Ids of the spans by name and the number that they are of.
    let mut ids: HashMap<(String, u64), u64> = HashMap::new();
    let mut busy = HashMap::<u64, u64>::new();
    // Spans that there are, and for how long they were entered before they had an id.
    let (mut spans, mut before) = (HashSet::new(), HashMap::new());
    for records in by_thread(&session) {
        let mut open = Vec::new();
        for record in &records {
            if record.what == "end" {
                let (site, at) = end_of(record);
                let (last, id, name) = open.pop().expect("something is open");
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
                    let id = first.filter(|_| site.names == "id\n");
                    let name = (record.what.clone(), first.unwrap());
                    if id.is_none() {
                        spans.insert(name.clone());
                    }
                    open.push(((record.site, record.ticks), id, name));
                }
                6 => {
                    let (id, number) = record.args.split_once(", ").unwrap();
                    let (id, number) = (id.parse().unwrap(), number.parse().unwrap());
                    spans.insert((record.what.clone(), number));
                    assert_eq!(
                        ids.insert((record.what.clone(), number), id),
                        None,
                        "{} began once",
                        record.what
                    );
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
    // Whatever has begun with an id has ended once, and its busy time is that of its stretches.
    let times = ends(&session);
    assert_eq!(times.keys().collect::<HashSet<_>>(), ids.values().collect::<HashSet<_>>());
    let ns_of = |ticks: u64| silverpoint::dynamic::ticks_to_ns(ticks);
    // A session that is a moment old knows its rate badly, where the processor does not tell it.
    ns_of(1);
    std::thread::sleep(std::time::Duration::from_millis(50));
    for (name, id) in &ids {
        let busy_ns = times[id].0;
        let ticks = busy.get(id).unwrap_or(&0) + before.get(name).unwrap_or(&0);
        let seen = ns_of(ticks);
        assert!(seen.abs_diff(busy_ns) <= seen / 10 + 10_000, "{name:?}: {busy_ns} ns busy, {seen} seen");
    }
    // Parents: by a link where both have ids, else by lying within.
    let links: HashSet<String> = session.args_of("link").into_iter().collect();
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
