//! Calls of ATrace in Rust as events of the kernel.

use super::fed::{events, library, switch};
use crate::harness::{Scratch, example};
use crate::ticking::Ticking;

/// A program that runs is asked to feed the kernel, and is asked no longer. With the ring, and without it.
#[test]
fn calls_of_atrace_are_events_while_they_are_asked_for() {
    for filter in ["off", "trace"] {
        let scratch = Scratch::new();
        let path = scratch.path("events");
        let mut command = scratch.command(example("atrace_calls"), ["ticks"]);
        command.env("SILVERPOINT_USER_EVENTS_LIBRARY", library()).env("EVENTS", &path);
        command.env("SILVERPOINT_FILTER", filter);
        let mut program = Ticking::start(&mut command);
        (0..3).for_each(|_| program.tick());
        assert!(!path.exists(), "nobody has asked");
        let pid = program.child.id();
        switch(&scratch, pid, "user_events=on");
        let names = ["outer_entry", "tick", "outer_exit"];
        scratch.wait("each event", || {
            program.tick();
            let found = events(&path);
            names.iter().all(|name| found.iter().any(|event| event.name == *name))
        });
        let before = events(&path).len();
        (0..5).for_each(|_| program.tick());
        let found = events(&path).split_off(before);
        assert_eq!(found.len(), 15, "{found:#?}");
        for round in found.chunks(3) {
            assert_eq!(round.iter().map(|event| &*event.name).collect::<Vec<_>>(), names);
            assert!(round.iter().all(|event| event.provider == "atrace__app" && event.related.is_none()));
            assert!(round[0].activity.is_some());
            assert!(round.iter().all(|event| event.activity == round[0].activity));
        }
        switch(&scratch, pid, "user_events=off");
        let before = events(&path).len();
        (0..5).for_each(|_| program.tick());
        assert_eq!(events(&path).len(), before);
        program.finish();
    }
}
