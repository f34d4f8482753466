//! When a capture begins and ends, whose records it sees, and what is on meanwhile.

use std::panic::catch_unwind;
use std::sync::Barrier;
use std::thread;

use silverpoint::{debug, enabled, event, info, span, trace, warn};
use silverpoint_testing::{Capture, Level};

use crate::{OTHERS_NOTE, alone, alone_leaving, own_session, rings};

#[test]
fn begins_when_it_is_made_or_cleared() {
    let outer = Capture::start();
    event!("step", n = 1);
    {
        let inner = Capture::start();
        event!("step", n = 2);
        inner.expect_event("step").with("n", 1).never();
        inner.expect_event("step").with("n", 2).once();
    }
    event!("step", n = 3);
    outer.expect_event("step").times(3);
    outer.clear();
    outer.expect_event("step").never();
    assert!(outer.spans().is_empty());
    event!("step", n = 4);
    assert_eq!(outer.expect_event("step").once()["n"], 4);
    // Once found, for ever there; each in its place.
    event!("step", n = 5);
    let steps: Vec<_> = outer.events().iter().map(|record| record["n"].clone()).collect();
    assert_eq!(steps, [4, 5]);
    assert!(outer.losses().is_none());
    assert_eq!(format!("{outer:?}").matches("event step").count(), 2);
}

#[test]
fn threads_do_not_see_each_other() {
    const THREADS: usize = 4;
    let together = Barrier::new(THREADS);
    thread::scope(|scope| {
        for number in 0..THREADS {
            let together = &together;
            scope.spawn(move || {
                for round in 0..20 {
                    together.wait();
                    let capture = Capture::start();
                    event!("turn", number, round);
                    together.wait();
                    event!("turn", number, round);
                    let turns = capture.expect_event("turn").with("number", number).times(2);
                    assert_eq!(capture.records().len(), 2, "{capture:?}");
                    assert_eq!(turns[0]["round"], round);
                }
            });
        }
    });
}

#[test]
fn of_all_threads() {
    if !alone("life::of_all_threads", &[]) {
        return;
    }
    let all = Capture::builder().all_threads().start();
    let mine = Capture::start();
    thread::Builder::new()
        .name("worker".into())
        .spawn(|| {
            let _load = span!("all.load");
            event!("all.other", n = 1);
        })
        .unwrap()
        .join()
        .unwrap();
    event!("all.own", n = 2);
    let other = all.expect_event("all.other").within("all.load").once();
    let own = all.expect_event("all.own").once();
    assert!(own.within().is_empty(), "a span is of its thread");
    assert_eq!(other.thread_name(), "worker");
    assert_ne!(other.thread(), own.thread());
    assert!(other.ticks() < own.ticks());
    assert!(all.losses().is_none(), "{}", all.losses());
    assert_eq!(mine.records().len(), 1);
    let message = mine.expect_event("all.other").check_once().unwrap_err();
    assert!(message.contains(OTHERS_NOTE), "{message}");
    all.clear();
    all.expect_event("all.own").never();
}

#[test]
fn spans_have_parents_and_ends() {
    let capture = Capture::start();
    {
        let _outer = span!("outer", n = 1);
        drop(span!("inner"));
        drop(span!("inner"));
    }
    let open = span!("open");
    info!("in it");
    let spans = capture.spans();
    let names: Vec<_> = spans.iter().map(silverpoint_testing::Span::name).collect();
    assert_eq!(names, ["outer", "inner", "inner", "open"]);
    let parents: Vec<_> = spans.iter().map(silverpoint_testing::Span::parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), None]);
    assert!(spans[..3].iter().all(silverpoint_testing::Span::is_ended) && !spans[3].is_ended());
    assert!(spans[0].duration().unwrap() >= spans[1].duration().unwrap() + spans[2].duration().unwrap());
    assert_eq!(spans[0].record()["n"], 1);
    capture.expect_span("inner").within("outer").times(2);
    capture.expect_message("in it").within("open").once();
    drop(open);
    assert!(capture.spans()[3].is_ended());
}

#[test]
fn sites_are_on_only_while_captures_live() {
    if !alone("life::sites_are_on_only_while_captures_live", &[]) {
        return;
    }
    let before = own_session().directives().unwrap();
    assert!(before.is_empty() && !enabled!(Fatal));
    let first = Capture::start();
    assert!(enabled!(Trace));
    // From another thread, and outliving the first.
    let second = thread::spawn(Capture::start).join().unwrap();
    drop(first);
    assert!(enabled!(Trace), "one lives still");
    drop(second);
    assert!(!enabled!(Fatal));
    assert_eq!(own_session().directives().unwrap(), before);
    // And again; a site that is met for the first time meanwhile is off afterwards like the others.
    let site = || event!("met.later");
    let capture = Capture::start();
    site();
    capture.expect_event("met.later").once();
    drop(capture);
    site();
    let capture = Capture::start();
    capture.expect_event("met.later").never();
    site();
    capture.expect_event("met.later").once();
}

#[test]
fn the_directives_of_before_come_back() {
    if !alone("life::the_directives_of_before_come_back", &[("SILVERPOINT_FILTER", "warn")]) {
        return;
    }
    let known = || enabled!(Info);
    assert!(!known() && enabled!(Warn));
    let capture = Capture::start();
    assert!(known());
    trace!("detail");
    capture.expect_message("detail").once();
    drop(capture);
    assert!(!known() && enabled!(Warn));
    assert_eq!(own_session().directives().unwrap(), b"warn");
    // A change by another program takes precedence, also afterwards.
    let capture = Capture::start();
    own_session().write_directives("error").unwrap();
    drop(Capture::start());
    drop(capture);
    assert_eq!(own_session().directives().unwrap(), b"error");
    assert!(!enabled!(Warn));
    // What captures put there next gives way to that again.
    let capture = Capture::start();
    assert!(enabled!(Trace));
    drop(capture);
    assert_eq!(own_session().directives().unwrap(), b"error");
}

#[test]
fn directives_of_a_capture() {
    if !alone("life::directives_of_a_capture", &[]) {
        return;
    }
    let warnings = Capture::builder().directives("warn").start();
    assert_eq!(own_session().directives().unwrap(), b"warn");
    info!("not for it");
    warn!("slow");
    assert_eq!(warnings.messages(), ["slow"]);
    {
        // Two that want different things: each sees its own.
        let all = Capture::start();
        debug!("detail");
        warn!("slower");
        assert_eq!(all.messages(), ["detail", "slower"]);
        assert_eq!(warnings.messages(), ["slow", "slower"]);
    }
    assert_eq!(own_session().directives().unwrap(), b"warn", "those of the one that lives");
    let net = Capture::builder().directives("net=debug").start();
    debug!("detail");
    debug!(target: "net", "connected");
    assert_eq!(net.messages(), ["connected"]);
    net.expect_message("connected").category("net").level(Level::Debug).once();
    let refused = catch_unwind(|| Capture::builder().directives("net=loud").start()).unwrap_err();
    let refused = refused.downcast_ref::<String>().unwrap();
    assert!(refused.starts_with("the capture's directives: ") && refused.contains("loud"), "{refused}");
}

#[test]
fn a_collector_has_the_say() {
    if !alone("life::a_collector_has_the_say", &[("SILVERPOINT_FILTER", "info")]) {
        return;
    }
    let session = own_session();
    session.set_collector_pid(1).unwrap();
    let capture = Capture::start();
    assert_eq!(session.directives().unwrap(), b"info");
    info!("seen");
    debug!("off");
    capture.expect_message("seen").once();
    let message = capture.expect_message("off").check_once().unwrap_err();
    assert!(message.contains("not the capture's to change; they are \"info\""), "{message}");
    drop(capture);
    assert_eq!(session.directives().unwrap(), b"info");
    session.set_collector_pid(0).unwrap();
}

#[test]
fn nothing_is_taken_that_was_recorded_for_others() {
    const TEST: &str = "life::nothing_is_taken_that_was_recorded_for_others";
    if let Some(left) = alone_leaving(TEST, &[]) {
        assert_eq!(left, 1, "what was recorded for others is still there");
        return;
    }
    let session = own_session();
    let consumed = || rings(&session).iter().map(|(_, ring)| ring.consumed).collect::<Vec<_>>();
    // Somebody else wants records, and reads them later.
    session.write_directives("info").unwrap();
    info!("before");
    session.write_directives("").unwrap();
    let before = consumed();
    let capture = Capture::start();
    info!("during");
    assert_eq!(capture.messages(), ["during"]);
    drop(capture);
    assert_eq!(consumed(), before);
    // Somebody comes while a capture lives.
    let capture = Capture::start();
    session.write_directives("info").unwrap();
    thread::spawn(|| info!("another thread's")).join().unwrap();
    drop(capture);
    assert!(consumed().iter().all(|position| *position == 0), "{:?}", consumed());
    session.write_directives("").unwrap();
}

#[test]
fn what_was_recorded_for_captures_alone_is_given_up() {
    const TEST: &str = "life::what_was_recorded_for_captures_alone_is_given_up";
    if let Some(left) = alone_leaving(TEST, &[]) {
        assert_eq!(left, 0, "a program whose tests have recorded leaves nothing");
        return;
    }
    let session = own_session();
    let held = || rings(&session).iter().filter(|(_, ring)| ring.consumed < ring.committed).count();
    let capture = Capture::start();
    let worker = || {
        thread::spawn(|| {
            let capture = Capture::start();
            info!("worker");
            assert_eq!(capture.messages(), ["worker"]);
        })
    };
    info!("own");
    worker().join().unwrap();
    assert_eq!(held(), 1, "of the worker nothing is kept, of who looks still everything");
    assert_eq!(capture.messages(), ["own"]);
    {
        // As long as somebody looks at all threads everything is kept.
        let all = Capture::builder().all_threads().start();
        worker().join().unwrap();
        assert_eq!(all.messages(), ["worker"]);
        all.expect_message("worker").once();
    }
    drop(capture);
    assert_eq!(held(), 0);
}

#[test]
fn without_a_session_every_expectation_fails() {
    if !alone("life::without_a_session_every_expectation_fails", &[("SILVERPOINT_OFF", "1")]) {
        return;
    }
    let capture = Capture::start();
    event!("order.filled");
    let message = capture.expect_event("order.filled").check_once().unwrap_err();
    assert!(message.contains("note: there is no session, so nothing can be recorded"), "{message}");
    // Also what is met when nothing is recorded.
    for attempt in [
        catch_unwind(|| Capture::start().expect_event("order.filled").never()),
        catch_unwind(|| Capture::start().none_of(..)),
        catch_unwind(|| drop(Capture::start().expect_event("order.filled").times(0))),
    ] {
        let message = attempt.unwrap_err();
        assert!(message.downcast_ref::<String>().unwrap().contains("there is no session"));
    }
}

#[test]
fn many_at_once_leave_everything_as_it_was() {
    if !alone("life::many_at_once_leave_everything_as_it_was", &[("SILVERPOINT_FILTER", "warn")]) {
        return;
    }
    let before = own_session().directives().unwrap();
    let is_on = || (enabled!(Trace), enabled!(Info), enabled!(Warn));
    assert_eq!(is_on(), (false, false, true));
    thread::scope(|scope| {
        for number in 0..6_usize {
            scope.spawn(move || {
                for round in 0..50_usize {
                    let directives = ["trace", "debug", "info"][(number + round) % 3];
                    let capture = Capture::builder().directives(directives).start();
                    trace!("very fine");
                    debug!("fine");
                    info!("coarse");
                    let expected = ["very fine", "fine", "coarse"];
                    assert_eq!(capture.messages(), expected[(number + round) % 3..]);
                    let inner = Capture::start();
                    trace!("inner");
                    drop(capture);
                    trace!("inner");
                    assert_eq!(inner.messages(), ["inner", "inner"]);
                }
            });
        }
    });
    assert_eq!(own_session().directives().unwrap(), before);
    assert_eq!(is_on(), (false, false, true));
}

#[test]
fn a_forked_child_needs_its_own() {
    if !alone("life::a_forked_child_needs_its_own", &[]) {
        return;
    }
    let capture = Capture::start();
    info!("parent");
    // SAFETY: the child records, looks, and ends without the parent's exit handlers.
    match unsafe { libc::fork() } {
        0 => {
            let done = catch_unwind(std::panic::AssertUnwindSafe(|| {
                let message = capture.expect_message("parent").check_once().unwrap_err();
                assert!(
                    message.contains("forked since the capture began: a child needs its own"),
                    "{message}"
                );
                let own = Capture::start();
                info!("child");
                assert_eq!(own.messages(), ["child"]);
                // The end of the parent's is none of the child's.
                drop(capture);
                trace!("child again");
                assert_eq!(own.messages(), ["child", "child again"]);
                assert!(own.losses().is_none());
            }));
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(done.is_err())) }
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child just made.
            unsafe { libc::waitpid(child, &mut status, 0) };
            assert_eq!(status, 0);
            info!("parent again");
            assert_eq!(capture.messages(), ["parent", "parent again"]);
        }
    }
}
