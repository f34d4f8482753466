//! Spans that cross threads, flows, links, spans named after their function, and limits of one tracepoint.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use silverpoint::{
    AsyncSpan, async_begin, async_end, async_instant, async_span, counter, event, flow_begin, flow_end,
    flow_step, info, instant, instrument, link, scope, span,
};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("spans_may_cross_threads", crossing),
    ("limits_count_executions_and_leave_arguments_alone", limited),
    ("ids_are_given_once", ids),
    ("every_macro_without_a_level_in_its_name_takes_one", levelled),
    ("without_a_level_events_are_info_and_all_else_debug", unlevelled),
];
pub const ROLES: &[Role] = &[
    ("crosses", crosses),
    ("limits", limits),
    ("many_ids", many_ids),
    ("levels", levels),
    ("no_levels", no_levels),
];

/// Kinds of a site's description.
const SPAN: u8 = 3;
const ASYNC_BEGIN: u8 = 6;

fn work(job: u64) -> AsyncSpan {
    let _scope = scope!();
    let span = async_span!("job", job, name = "a job");
    flow_begin!("way", span.id());
    span
}

fn crosses() {
    let span = work(7);
    let id = span.id();
    thread::spawn(move || {
        async_instant!("job", span.id(), half = true);
        flow_step!("way", span.id());
        span.end();
    })
    .join()
    .unwrap();
    flow_end!("way", id);
    async_begin!(target: "other", "by hand", id as u32, "text");
    async_end!(target: "other", "by hand", id as usize);
    link!(id, 8u8);
    let off = async_span!(target: "silent", "off", 1);
    assert_eq!(off.id(), 0);
}

fn crossing() {
    let scene = Scene::new();
    scene.run("crosses", &[("SILVERPOINT_FILTER", "debug,silent=off")]);
    let session = reader::only_session(scene.root());
    let kinds = |what: &str| -> Vec<(u8, String)> {
        let mut found: Vec<_> = session.records().into_iter().filter(|record| record.what == what).collect();
        found.sort_by_key(|record| record.ticks);
        found.iter().map(|record| (session.sites[&record.site].kind as u8, record.args.clone())).collect()
    };
    let job = kinds("job");
    let id = job[0].1.split(", ").next().unwrap().to_owned();
    assert_eq!(
        job,
        [(ASYNC_BEGIN, format!("{id}, 7, \"a job\"")), (8, format!("{id}, true")), (7, id.clone())]
    );
    assert_eq!(kinds("way"), [(9, id.clone()), (10, id.clone()), (11, id.clone())]);
    assert_eq!(kinds("by hand"), [(6, format!("{id}, \"text\"")), (7, id.clone())]);
    assert_eq!(kinds("link"), [(12, format!("{id}, 8"))]);
    let begin = session.sites.values().find(|site| site.kind as u8 == ASYNC_BEGIN).unwrap();
    assert!(begin.names.starts_with("id\n"), "{:?}", begin.names);
    let scope = session.sites.values().find(|site| site.kind as u8 == SPAN).unwrap();
    assert!(scope.template.ends_with("spans::work"), "{:?}", scope.template);
    assert!(session.records().iter().all(|record| record.what != "off"));
}

fn limits() {
    let mut evaluated = 0;
    let mut next = || {
        evaluated += 1;
        evaluated
    };
    for n in 0..10 {
        info!(every: 4, "every {}", n);
        event!(first: 3, "first", next());
        info!(target: "limits", per: Duration::from_secs(3600), "once an hour {}", n);
        counter!(first: 1, "once", n);
        let _span = span!(every: 5, "stretch", n);
    }
    assert_eq!(evaluated, 3);
}

fn limited() {
    let scene = Scene::new();
    scene.run("limits", &[("SILVERPOINT_FILTER", "debug")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.args_of("every {}"), ["0", "4", "8"]);
    assert_eq!(session.args_of("first"), ["1", "2", "3"]);
    assert_eq!(session.args_of("once an hour {}"), ["0"]);
    assert_eq!(session.args_of("once"), ["0"]);
    assert_eq!(session.args_of("stretch"), ["0", "5"]);
}

fn many_ids() {
    let threads: Vec<_> = (0..4)
        .map(|_| thread::spawn(|| (0..5000).map(|_| silverpoint::new_id()).collect::<Vec<_>>()))
        .collect();
    let ids: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let distinct: HashSet<u64> = ids.iter().copied().collect();
    assert_eq!((distinct.len(), distinct.contains(&0)), (20_000, false));
    event!("ids", ids.len());
}

fn ids() {
    let scene = Scene::new();
    scene.run("many_ids", &[("SILVERPOINT_FILTER", "info")]);
    assert_eq!(reader::only_session(scene.root()).args_of("ids"), ["20000"]);
}

fn levels() {
    event!(level: warn, "event", 1);
    event!(target: "else", level: Level::ERROR, first: 1, "limited event");
    let _span = span!(level: "debug", "span", 1);
    let _scope = scope!(level: trace,);
    counter!(level: error, "counter", 1);
    instant!(level: fatal, "instant");
    async_begin!(level: warn, "by hand", 1u64);
    async_instant!(level: warn, "by hand", 1u64);
    async_end!(level: warn, "by hand", 1u64);
    flow_begin!(level: warn, "way", 1u64);
    flow_step!(level: warn, "way", 1u64);
    flow_end!(level: warn, "way", 1u64);
    link!(level: Level::WARN, 1u64, 2u64);
    let task = async_span!(target: "else", level: warn, "task", 1);
    task.end();
}

fn levelled() {
    let scene = Scene::new();
    scene.run("levels", &[("SILVERPOINT_FILTER", "trace")]);
    let session = reader::only_session(scene.root());
    let mut found: Vec<(String, u8)> =
        session.sites.values().map(|site| (site.template.clone(), site.level as u8)).collect();
    found.sort();
    found.dedup();
    let expected = [
        ("by hand", 3),
        ("counter", 4),
        ("event", 3),
        ("instant", 5),
        ("it::spans::levels", 0),
        ("limited event", 4),
        ("link", 3),
        ("span", 1),
        ("task", 3),
        ("way", 3),
    ];
    assert_eq!(found, expected.map(|(name, level)| (name.to_owned(), level)));
}

#[instrument(ret)]
fn told() -> u8 {
    7
}

fn no_levels() {
    event!("event", 1);
    let _span = span!("span", 1);
    let _scope = scope!();
    counter!("counter", 1);
    instant!("instant");
    async_begin!("by hand", 1u64);
    async_instant!("by hand", 1u64);
    async_end!("by hand", 1u64);
    flow_begin!("way", 1u64);
    flow_step!("way", 1u64);
    flow_end!("way", 1u64);
    link!(1u64, 2u64);
    async_span!("task", 1).end();
    told();
}

fn unlevelled() {
    let scene = Scene::new();
    scene.run("no_levels", &[("SILVERPOINT_FILTER", "trace")]);
    let session = reader::only_session(scene.root());
    let found: Vec<(&str, u8)> =
        session.sites.values().map(|site| (site.template.as_str(), site.level as u8)).collect();
    assert_eq!(found.len(), 16, "{found:?}");
    for (name, level) in found {
        assert_eq!(level, if name == "event" { 2 } else { 1 }, "{name}");
    }
}
