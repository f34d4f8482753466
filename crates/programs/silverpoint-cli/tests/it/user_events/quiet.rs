//! Sites that the ring wants while the tracer that is asked for does not want their events: they take the ring's way.

use std::path::{Path, PathBuf};

use silverpoint_wire::layout::{probes, state};

use super::compiled;
use super::fed::{LIBRARY, events, library, shop, shop_in_c, wanted};
use crate::harness::{Scratch, example};
use crate::ticking::Ticking;

/// The library of a tracer beside that of user_events.
fn second_tracer() -> PathBuf {
    let options = format!("{LIBRARY} -O0 -DSTART=silverpoint_start_lttng -DVARIABLE=\"OTHER\"");
    compiled("other", "fake.cpp", &options)
}

/// A program that records into the ring, and is asked to feed the first of two tracers.
struct Fed {
    program: Ticking,
    /// What each tracer gets.
    files: [PathBuf; 2],
    /// Files that are there while a tracer wants events.
    wishes: [PathBuf; 2],
}

impl Fed {
    /// `mode`: the program's argument.
    fn start(scratch: &Scratch, path: &Path, mode: &str, other: &Path) -> Self {
        let [one, two, wish, other_wish] = ["one", "two", "wish", "other"].map(|name| scratch.path(name));
        let words =
            ["run", "--quiet", "--probe", "user_events", "--filter", "trace", "-o", "all.silver", "--"];
        let mut command = scratch.silverpoint(words);
        command.arg(path).arg(mode).env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
        command.env("SILVERPOINT_LTTNG_LIBRARY", other);
        command.env("EVENTS", &one).env("OTHER", &two).env("WISH_OF_EVENTS", &wish);
        command.env("WISH_OF_OTHER", &other_wish);
        let program = Ticking::start(&mut command);
        Self { program, files: [one, two], wishes: [wish, other_wish] }
    }
}

/// Their state says so. It ends when the tracer wants the event, and when another tracer is asked for, and begins again behind that. Each
/// event comes, and each record is in the ring once.
#[test]
fn a_site_is_quiet_while_its_tracer_does_not_want_it() {
    let other = second_tracer();
    for path in [shop(), shop_in_c(), example("shop")] {
        let scratch = Scratch::new();
        let Fed { mut program, files: [one, two], wishes: [wish, other_wish] } =
            Fed::start(&scratch, &path, "ticks", &other);
        let mut ticks = 1;
        program.tick();
        let session = scratch.sessions_of_runs().pop().unwrap();
        let the_state = || session.states(1).unwrap()[0].0;
        let quiet = state::quiet(probes::USER_EVENTS);
        let counts = || (events(&one).len(), events(&two).len());
        let tick_five = |program: &mut Ticking, ticks: &mut usize, each: (usize, usize)| {
            let before = counts();
            for _ in 0..5 {
                program.tick();
                *ticks += 1;
            }
            assert_eq!(counts(), (before.0 + 5 * each.0, before.1 + 5 * each.1));
        };
        let await_quiet = |program: &mut Ticking, ticks: &mut usize| {
            scratch.wait("a quiet site", || {
                program.tick();
                *ticks += 1;
                the_state() == quiet
            });
        };
        for _ in 0..2 {
            await_quiet(&mut program, &mut ticks);
            tick_five(&mut program, &mut ticks, (0, 0));
            assert_eq!(the_state(), quiet);
            std::fs::write(&wish, "").unwrap();
            let before = counts().0;
            scratch.wait("an event", || {
                program.tick();
                ticks += 1;
                counts().0 > before
            });
            tick_five(&mut program, &mut ticks, (1, 0));
            assert_eq!(the_state(), state::RING | state::PROBED);
            std::fs::remove_file(&wish).unwrap();
        }
        await_quiet(&mut program, &mut ticks);
        session.ask_for_probes(probes::LTTNG, true).unwrap();
        assert_eq!(the_state(), state::RING | state::PROBED);
        std::fs::write(&other_wish, "").unwrap();
        scratch.wait("an event of the second tracer", || {
            program.tick();
            ticks += 1;
            counts().1 > 0
        });
        tick_five(&mut program, &mut ticks, (0, 1));
        std::fs::remove_file(&other_wish).unwrap();
        session.ask_for_probes(probes::LTTNG, false).unwrap();
        await_quiet(&mut program, &mut ticks);
        session.ask_for_probes(probes::USER_EVENTS, false).unwrap();
        assert_eq!(the_state(), state::RING);
        tick_five(&mut program, &mut ticks, (0, 0));
        program.finish();
        let (records, _) = wanted(&scratch.path("all.silver"));
        assert_eq!(records.iter().filter(|record| record.name == "tick").count(), ticks);
    }
}

/// What a program has begun and ended so far.
struct Spans<'a> {
    scratch: &'a Scratch,
    program: Ticking,
    /// Both tracers' files.
    files: [&'a Path; 2],
    made: usize,
}

impl Spans<'_> {
    fn names(&self, tracer: usize) -> Vec<String> {
        let names = events(self.files[tracer]).into_iter().map(|event| event.name);
        names.filter(|name| name.starts_with("sell")).collect()
    }

    fn begin(&mut self) {
        self.program.say("s");
        self.made += 1;
    }

    /// The span ends.
    fn end(&mut self) {
        self.program.tick();
    }

    fn await_with_spans(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let scratch = self.scratch;
        scratch.wait(what, || {
            self.begin();
            self.end();
            is_so(self)
        });
    }

    /// Five spans are these events of each tracer.
    fn five(&mut self, each: [&[&str]; 2]) {
        let before = [0, 1].map(|tracer| self.names(tracer).len());
        for _ in 0..5 {
            self.begin();
            self.end();
        }
        for tracer in [0, 1] {
            assert_eq!(self.names(tracer)[before[tracer]..], each[tracer].repeat(5));
        }
    }

    fn wish(&self, file: &Path, is_so: bool) {
        wish(self.scratch, file, is_so);
    }
}

/// A tracer wants events, or no more. It does so when this returns.
fn wish(scratch: &Scratch, file: &Path, is_so: bool) {
    if is_so {
        std::fs::write(file, "").unwrap()
    } else {
        std::fs::remove_file(file).unwrap()
    }
    let done = file.with_extension("done");
    scratch.wait("the tracer's wish", || done.exists() == is_so);
}

/// A span that begins while the tracer does not want it has no event, even if a tracer wants its end by then. One that begins otherwise has both, or the
/// first alone if the tracer does not want the second. Each record is in the ring once.
#[test]
fn a_span_that_begins_quiet_has_no_event() {
    let other = second_tracer();
    let both: &[&str] = &["sell_entry", "sell_exit"];
    for path in [shop(), shop_in_c(), example("shop")] {
        let scratch = Scratch::new();
        let Fed { mut program, files: [one, two], wishes: [wish, other_wish] } =
            Fed::start(&scratch, &path, "ticks", &other);
        program.tick();
        let session = scratch.sessions_of_runs().pop().unwrap();
        let mut spans = Spans { scratch: &scratch, program, files: [&one, &two], made: 0 };
        spans.begin();
        spans.end();
        // (The first site is that of the ticks.)
        let the_state = || session.states(2).unwrap()[1].0;
        let (quiet, plain) = (state::quiet(probes::USER_EVENTS), state::RING | state::PROBED);
        for _ in 0..2 {
            spans.await_with_spans("a quiet span", |_| the_state() == quiet);
            spans.five([&[], &[]]);
            assert_eq!(the_state(), quiet);
            let before = spans.names(0);
            spans.begin();
            spans.wish(&wish, true);
            spans.end();
            assert_eq!(spans.names(0), before);
            spans.five([both, &[]]);
            assert_eq!(the_state(), plain);
            let before = spans.names(0).len();
            spans.begin();
            spans.wish(&wish, false);
            spans.end();
            assert_eq!(spans.names(0)[before..], both[..1]);
        }
        spans.await_with_spans("a quiet span", |_| the_state() == quiet);
        let before = spans.names(0);
        spans.begin();
        session.ask_for_probes(probes::LTTNG, true).unwrap();
        assert_eq!(the_state(), plain);
        spans.end();
        // (Its library is loaded when a tracepoint finds that it is asked for.)
        spans.wish(&other_wish, true);
        assert_eq!((spans.names(0), spans.names(1)), (before.clone(), vec![]));
        spans.await_with_spans("an event of the second tracer", |spans| !spans.names(1).is_empty());
        spans.five([&[], both]);
        assert_eq!((spans.names(0), the_state()), (before, plain));
        spans.wish(&other_wish, false);
        session.ask_for_probes(probes::LTTNG, false).unwrap();
        spans.await_with_spans("a quiet span", |_| the_state() == quiet);
        session.ask_for_probes(probes::USER_EVENTS, false).unwrap();
        assert_eq!(the_state(), state::RING);
        spans.five([&[], &[]]);
        let made = spans.made;
        spans.program.finish();
        let (records, _) = wanted(&scratch.path("all.silver"));
        for name in both {
            assert_eq!(records.iter().filter(|record| record.name == *name).count(), made, "{name}");
        }
    }
}

/// Two rounds of what a program records by other facades than our macros: names of the events of each tracer.
fn two_rounds(program: &mut Ticking, files: [&Path; 2]) -> [Vec<String>; 2] {
    let before = files.map(|file| events(file).len());
    (0..2).for_each(|_| program.tick());
    [0, 1].map(|tracer| {
        let found = events(files[tracer]).split_off(before[tracer]);
        sorted(found.into_iter().map(|event| event.name))
    })
}

/// Of the two last rounds in a trace, and how many rounds there are.
fn rounds_in(trace: &Path) -> (Vec<String>, usize) {
    let (records, _) = wanted(trace);
    let ends: Vec<usize> = (0..records.len()).filter(|at| records[*at].name == "last").collect();
    let [.., before, _, end] = ends[..] else { panic!("{} rounds", ends.len()) };
    (sorted(records[before + 1..=end].iter().map(|record| record.name.clone())), ends.len())
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// `tracing`, `log` and ATrace ask at each execution. Each event comes as soon as a tracer wants it, none while no one does, and each record is in the
/// ring once.
#[test]
fn other_facades_give_a_tracer_what_it_wants_and_no_more() {
    let other = second_tracer();
    for (path, least) in [(example("facades"), 50), (example("atrace_calls"), 25)] {
        let scratch = Scratch::new();
        // What two rounds are, once all is known.
        let mut command =
            scratch.silverpoint(["run", "--quiet", "--filter", "trace", "-o", "alone.silver", "--"]);
        let mut program = Ticking::start(command.arg(&path).arg("rounds"));
        (0..10).for_each(|_| program.tick());
        program.finish();
        let (all, _) = rounds_in(&scratch.path("alone.silver"));
        assert!(all.len() >= least, "{all:?}");

        let Fed { mut program, files: [one, two], wishes: [first, second] } =
            Fed::start(&scratch, &path, "rounds", &other);
        let (mut made, none) = (0, Vec::new());
        let mut rounds = |program: &mut Ticking| {
            made += 2;
            two_rounds(program, [&one, &two])
        };
        let _ = rounds(&mut program);
        let session = scratch.sessions_of_runs().pop().unwrap();
        wish(&scratch, &first, true);
        scratch.wait("all events", || rounds(&mut program)[0] == all);
        for _ in 0..2 {
            wish(&scratch, &first, false);
            (0..3).for_each(|_| assert_eq!(rounds(&mut program), [none.clone(), none.clone()]));
            wish(&scratch, &first, true);
            (0..3).for_each(|_| assert_eq!(rounds(&mut program), [all.clone(), none.clone()]));
        }
        wish(&scratch, &first, false);
        session.ask_for_probes(probes::LTTNG, true).unwrap();
        let _ = rounds(&mut program); // Its library is loaded when a tracepoint finds that it is asked for.
        wish(&scratch, &second, true);
        scratch.wait("all events of the second tracer", || rounds(&mut program)[1] == all);
        assert_eq!(rounds(&mut program), [none.clone(), all.clone()]);
        wish(&scratch, &first, true);
        assert_eq!(rounds(&mut program), [all.clone(), all.clone()]);
        wish(&scratch, &second, false);
        assert_eq!(rounds(&mut program), [all.clone(), none.clone()]);
        wish(&scratch, &first, false);
        session.ask_for_probes(probes::LTTNG, false).unwrap();
        assert_eq!(rounds(&mut program), [none.clone(), none.clone()]);
        wish(&scratch, &first, true);
        assert_eq!(rounds(&mut program), [all.clone(), none]);
        program.finish();
        assert_eq!(rounds_in(&scratch.path("all.silver")), (all, made));
    }
}
