//! What it takes to go on.

#[path = "../../examples/make_trace/builder.rs"]
mod builder;

use silverpoint_wire::level::Level;

use super::*;
use crate::Source;
use builder::{Builder, log};

const STREAMS: u32 = 1000;
const EACH: u64 = 3;

/// Streams after one another, each with a block of three records.
fn one_after_the_other() -> Trace {
    let mut b = Builder::new();
    b.session(1, "/bin/p", 1);
    b.site(1, 16, &log(Level::Info, "", 1, "n {}", "L"));
    for stream in 1..=STREAMS {
        b.stream(1, stream, stream, "");
        for at in 0..EACH {
            let ticks = 1000 + u64::from(stream) * EACH + at;
            b.record(1, stream, 16, ticks, &ticks.to_le_bytes());
        }
        b.flush(1, stream, false);
    }
    b.end();
    Trace::from_sources(vec![Source::from_bytes("m.silver".as_ref(), b.bytes)]).unwrap()
}

fn ticks(events: &mut Events<'_>, most: usize) -> Vec<u64> {
    let next = std::iter::from_fn(|| events.next().map(|event| (event.is_shown(), event.ticks)));
    next.filter_map(|(is_shown, ticks)| is_shown.then_some(ticks)).take(most).collect()
}

#[test]
fn streams_that_were_given_need_no_cursor() {
    let trace = one_after_the_other();
    let all = ticks(&mut trace.events(), usize::MAX);
    assert_eq!(all.len() as u64, u64::from(STREAMS) * EACH);
    let mut found = Vec::new();
    let mut progress = Progress::default();
    loop {
        let mut events = Events::resume(&trace, None, progress, i64::MAX);
        assert_eq!(events.streams(), u64::from(STREAMS) - found.len() as u64 / EACH, "{}", found.len());
        let more = ticks(&mut events, 100);
        progress = events.stop().0;
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    assert_eq!(found, all);
}

/// What has moved comes once, also of streams that have ended meanwhile.
#[test]
fn streams_that_moved_have_cursors_until_that_is_noted() {
    let trace = one_after_the_other();
    let mut progress = Progress { moved: Some(HashMap::new()), ..Progress::default() };
    let mut moved = Vec::new();
    for round in 0..=STREAMS / 100 {
        for _ in 0..3 {
            let mut events = Events::resume(&trace, None, progress, i64::MAX);
            assert!(events.streams() >= u64::from(STREAMS - 100 * round), "{round}");
            ticks(&mut events, 100);
            progress = events.stop().0;
        }
        let mut events = Events::resume(&trace, None, progress, i64::MAX);
        moved.extend(events.take_moves().into_iter().map(|one| one.stream.1));
        progress = events.stop().0;
    }
    moved.sort_unstable();
    assert_eq!(moved, (1..=STREAMS).collect::<Vec<_>>());
    assert_eq!(Events::resume(&trace, None, progress, i64::MAX).streams(), 0);
}
