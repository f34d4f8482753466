//! Sites that the ring wants while the tracer that is asked for does not want their events: they take the ring's way.

use silverpoint_wire::layout::{probes, state};

use super::compiled;
use super::fed::{LIBRARY, Ticking, events, library, shop, shop_in_c, wanted};
use crate::harness::{Scratch, example};

/// Their state says so. It ends when the tracer wants the event, and when another tracer is asked for, and begins again behind that. Each
/// event comes, and each record is in the ring once.
#[test]
fn a_site_is_quiet_while_its_tracer_does_not_want_it() {
    let options = format!("{LIBRARY} -DSTART=silverpoint_start_lttng -DVARIABLE=\"OTHER\"");
    let other = compiled("other", "fake.cpp", &options);
    for path in [shop(), shop_in_c(), example("shop")] {
        let scratch = Scratch::new();
        let [one, two, wish, other_wish] = ["one", "two", "wish", "other"].map(|name| scratch.path(name));
        let words =
            ["run", "--quiet", "--probe", "user_events", "--filter", "trace", "-o", "all.silver", "--"];
        let mut command = scratch.silverpoint(words);
        command.arg(path).arg("ticks").env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
        command.env("SILVERPOINT_LTTNG_LIBRARY", &other);
        command.env("EVENTS", &one).env("OTHER", &two).env("WISH_OF_EVENTS", &wish);
        command.env("WISH_OF_OTHER", &other_wish);
        let mut program = Ticking::start(&mut command);
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
