//! What becomes of events when the kernel refuses them or comes back. Programs that close descriptors or fork. The
//! activities that events are of.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use silverpoint_wire::layout::state;

use super::fed::{Entry, daemon, entries, events, kernel, library, real, shop, states, switch, written};
use super::file;
use super::judge::{Decoded, decode};
use crate::harness::{Scratch, built, example};
use crate::ticking::Ticking;

/// A tracer that cannot be opened is not asked for any more; when somebody asks again, it is opened again.
#[test]
fn a_kernel_that_comes_back_is_fed_when_asked_for() {
    let scratch = Scratch::new();
    for (number, path) in [shop(), example("shop")].iter().enumerate() {
        let folder = scratch.path(&format!("later{number}"));
        let file = folder.join("events");
        let mut command = scratch.command(path, ["ticks"]);
        command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
        command.env("EVENTS", &file).stderr(Stdio::piped());
        let mut program = Ticking::start(&mut command);
        let mut errors = BufReader::new(program.child.stderr.take().unwrap()).lines();
        let pid = program.child.id();
        let begin = "silverpoint: SILVERPOINT_PROBES=user_events: the kernel gets no events: EVENTS: ";
        // Each time that somebody asks, one message.
        for _ in 0..2 {
            program.tick();
            assert!(errors.next().unwrap().unwrap().starts_with(begin));
            scratch.wait("nothing is asked for", || {
                program.tick();
                let (states, asked) = states(&scratch, pid);
                !states.is_empty() && asked == 0 && states.iter().all(|byte| byte & state::PROBED == 0)
            });
            switch(&scratch, pid, "user_events=on");
        }
        scratch.wait("nothing is asked for", || {
            program.tick();
            states(&scratch, pid).1 == 0
        });
        std::fs::create_dir(&folder).unwrap();
        switch(&scratch, pid, "user_events=on");
        scratch.wait("an event", || {
            program.tick();
            !events(&file).is_empty()
        });
        let before = events(&file).len();
        (0..3).for_each(|_| program.tick());
        assert_eq!(events(&file).len(), before + 3);
        program.finish();
        assert_eq!(errors.filter(|line| line.as_ref().unwrap().starts_with("silverpoint:")).count(), 1);
    }
}

/// A site whose tracepoint the kernel refuses has no event, and pays nothing for it.
#[test]
fn what_the_kernel_refuses_is_one_message_and_costs_nothing() {
    let scratch = Scratch::new();
    let mut command = scratch.command(shop(), ["3"]);
    command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
    command.env("EVENTS", scratch.path("events")).env("LIMIT", "1");
    let child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    scratch.wait("no bit of a site without an event", || {
        let Some(Entry::Sites(sites)) =
            entries(&scratch.path("events")).into_iter().rfind(|entry| matches!(entry, Entry::Sites(_)))
        else {
            return false;
        };
        let (states, asked) = states(&scratch, pid);
        let probed = states.iter().filter(|byte| **byte & state::PROBED != 0).count();
        asked != 0 && sites > 0 && probed == sites as usize && probed < states.len()
    });
    let mut child = child;
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success());
    let said = String::from_utf8(ended.stderr).unwrap();
    let line = "silverpoint: SILVERPOINT_PROBES=user_events: the kernel refuses the tracepoint ";
    assert_eq!(said.matches(line).count(), 1, "{said}");
    assert!(said.contains("error 24; raise kernel.user_events_max (sysctl)"), "{said}");
    let declared = entries(&scratch.path("events"));
    assert_eq!(declared.iter().filter(|entry| matches!(entry, Entry::Declaration(..))).count(), 1);
}

/// A controller, or a frontend that registers the place again, sets the bit of a refused site. It is cleared.
#[test]
fn what_the_kernel_has_refused_costs_nothing_when_it_is_asked_for_again() {
    let scratch = Scratch::new();
    let types = built("types", "g++", &["-std=c++20", "-O0", &file("types.cpp"), "-pthread"]);
    for (path, words, lines) in
        [(types, &[][..], &["", "l", "", "l"][..]), (example("shop"), &["ticks"], &["", ""])]
    {
        let mut command = scratch.command(path, words);
        command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
        command.env("EVENTS", scratch.path("events")).env("LIMIT", "0");
        let mut program = Ticking::start(&mut command);
        let pid = program.child.id();
        let wait = || {
            scratch.wait("no bit of a site without an event", || {
                let (states, asked) = states(&scratch, pid);
                asked != 0 && !states.is_empty() && states.iter().all(|byte| byte & state::PROBED == 0)
            });
        };
        for line in lines {
            program.say(line);
            wait();
            switch(&scratch, pid, "user_events=on");
            wait();
        }
        program.finish();
    }
}

/// `ctl` feeds the kernel from a program that was started without, and from its children.
#[test]
fn a_program_that_runs_and_its_child_feed_the_kernel() {
    let scratch = Scratch::new();
    let file = scratch.path("events");
    let mut command = scratch.command(daemon(), [""; 0]);
    command.env("SILVERPOINT_USER_EVENTS_LIBRARY", library()).env("EVENTS", &file);
    let mut program = Ticking::start(&mut command);
    program.tick();
    let pid = program.child.id();
    assert!(!file.exists() && states(&scratch, pid).0.iter().all(|byte| byte & state::PROBED == 0));
    switch(&scratch, pid, "user_events=on");
    scratch.wait("an event", || {
        program.tick();
        !events(&file).is_empty()
    });
    let before = events(&file).len();
    program.begin("f");
    scratch.wait("an event of the child", || events(&file).len() > before);
    std::fs::write(scratch.path("enough"), "").unwrap();
    program.done();
    program.tick();
    switch(&scratch, pid, "user_events=off");
    let before = events(&file).len();
    (0..5).for_each(|_| program.tick());
    program.say("f");
    assert_eq!(events(&file).len(), before);
    program.finish();
}

/// A program that becomes a daemon closes the kernel's file, and has files of its own under the number: nothing is
/// written there. The file is opened again, and its tracepoints are made again.
#[test]
fn a_descriptor_that_the_program_has_closed_is_opened_again() {
    let scratch = Scratch::new();
    let (real, kernel, events) = (real(), kernel(), scratch.path("events"));
    let mut command = scratch.command(daemon(), [""; 0]);
    command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", &real);
    command.env("LD_PRELOAD", &kernel).env("EVENTS", &events);
    let mut program = Ticking::start(&mut command);
    let until_more = |program: &mut Ticking| {
        let before = written(&events).len();
        scratch.wait("an event", || {
            program.tick();
            written(&events).len() > before
        });
    };
    until_more(&mut program);
    for _ in 0..3 {
        program.say("c");
        until_more(&mut program);
        let before = written(&events).len();
        (0..5).for_each(|_| program.tick());
        assert_eq!(written(&events).len(), before + 5);
    }
    program.finish();
    assert_eq!(std::fs::read(scratch.path("own")).unwrap(), b"");
    let names = std::fs::read_to_string(scratch.path("events.names")).unwrap();
    let names: Vec<&str> = names.lines().collect();
    assert!(names.len() == 4 && names.iter().all(|name| *name == names[0]), "{names:?}");
    let (_, name) = names[0].split_once(' ').unwrap();
    for (number, event) in written(&events) {
        assert_eq!((number, &*decode(name, &event).name), (1000, "tick"));
    }
}

/// Each time that a span begins it is another activity, with the span around it as its parent. Events are of the
/// innermost one.
#[test]
fn spans_within_each_other_are_activities_with_parents() {
    let scratch = Scratch::new();
    let program = built("activities", "g++", &["-std=c++20", "-O0", &file("activities.cpp"), "-pthread"]);
    let path = scratch.path("events");
    let mut command = scratch.command(program, [""; 0]);
    command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", library());
    command.env("EVENTS", &path);
    let mut program = Ticking::start(&mut command);
    let count = |name: &str| events(&path).iter().filter(|event| event.name == name).count();
    scratch.wait("the events of each tracepoint", || {
        program.tick();
        ["outside", "level_entry", "inside", "fetch_begin", "after", "last"]
            .iter()
            .all(|name| count(name) > 0)
    });
    let before = events(&path).len();
    program.tick();
    program.finish();
    let all = events(&path).split_off(before);

    // The innermost span is the last of those that are open.
    let (mut open, mut known): (Vec<[u8; 16]>, Vec<[u8; 16]>) = (Vec::new(), Vec::new());
    let mut deepest = 0;
    for event in &all {
        let Decoded { name, activity, related, .. } = event;
        // The library keeps eight; of deeper ones it only says which end belongs to which begin.
        let parent = open.get(open.len().min(8).wrapping_sub(1)).copied();
        match &**name {
            "level_entry" => {
                assert_eq!(*related, parent, "{event:?}");
                assert!(open.len() >= 8 || !known.contains(&activity.unwrap()), "{event:?}");
                known.push(activity.unwrap());
                open.push(activity.unwrap());
                deepest = deepest.max(open.len());
            }
            "level_exit" => assert_eq!((*activity, *related), (open.pop(), None), "{event:?}"),
            "fetch_begin" => {
                assert_eq!(*related, parent, "{event:?}");
                assert!(!open.contains(&activity.unwrap()));
            }
            "fetch_end" => assert_eq!(*related, None),
            _ => assert_eq!((*activity, *related), (parent, None), "{event:?}"),
        }
    }
    assert_eq!((open.len(), deepest, all.len()), (0, 12, 2 + 4 * 15 + 2 * 2), "{all:#?}");
}

/// What may not be opened is one message, which names the program that says what to do.
#[test]
fn a_file_that_may_not_be_written_is_one_message() {
    let scratch = Scratch::new();
    let (real, kernel) = (real(), kernel());
    let mut command = scratch.command(daemon(), [""; 0]);
    command.env("SILVERPOINT_PROBES", "user_events").env("SILVERPOINT_USER_EVENTS_LIBRARY", real);
    command.env("LD_PRELOAD", kernel).env("EVENTS", scratch.path("events")).env("REFUSED", "1");
    command.stderr(Stdio::piped());
    let mut program = Ticking::start(&mut command);
    let errors = BufReader::new(program.child.stderr.take().unwrap()).lines();
    program.tick();
    // The child has a session of its own, and does not say it again.
    std::fs::write(scratch.path("enough"), "").unwrap();
    program.say("f");
    program.finish();
    let said: Vec<String> = errors.map(Result::unwrap).collect();
    let line = "silverpoint: SILVERPOINT_PROBES=user_events: the kernel gets no events: /sys/kernel/tracing/user_events_data: \
                this user may not write to it; `silverpoint doctor` says what to do";
    assert_eq!(said, [line]);
}
