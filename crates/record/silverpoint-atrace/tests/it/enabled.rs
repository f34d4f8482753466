//! What is enabled: by variables, by a file, by both; for tags alone or together; in a forked child.

use std::{env, fs};

use silverpoint_atrace::{self as atrace, Tag};

use crate::{Place, check, is_role, reader};

/// Messages to the kernel without the number of the process.
fn messages(place: &Place, pid: u32) -> Vec<String> {
    place.text("marker").lines().map(|line| line.replacen(&format!("|{pid}"), "", 1)).collect()
}

#[test]
fn variables_name_programs_and_decide_over_the_file() {
    let name = "enabled::variables_name_programs_and_decide_over_the_file";
    if is_role(name) {
        println!("pid={}", std::process::id());
        atrace::instant(Tag::APP, "app");
        return atrace::instant(Tag::GRAPHICS, "gfx");
    }
    let own = env::current_exe().unwrap();
    let own = own.file_name().unwrap().to_str().unwrap();
    let file = "debug.atrace.tags.enableflags=2\ndebug.atrace.app_number=1\ndebug.atrace.app_0=other\n";
    let flags = "debug.atrace.tags.enableflags";
    type Case<'a> = (Option<&'a str>, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let cases: &[Case<'_>] = &[
        (None, &[("debug.atrace.app_number", "1"), ("debug.atrace.app_0", own)], &["I|app"]),
        (None, &[("debug.atrace.app_number", "1"), ("debug.atrace.app_0", "other")], &[]),
        (None, &[("debug.atrace.app_0", own)], &[]),
        (Some(file), &[], &["I|gfx"]),
        (Some(file), &[(flags, "0x1000")], &["I|app"]),
        (Some(file), &[(flags, "0")], &[]),
        (Some(file), &[(flags, "")], &["I|gfx"]),
        (Some(file), &[("debug.atrace.app_0", own)], &["I|app", "I|gfx"]),
    ];
    for (file, variables, expected) in cases {
        let place = Place::new();
        let mut command = place.command(name);
        if let Some(file) = file {
            fs::write(place.at("properties"), file).unwrap();
            command.env("SILVERPOINT_ATRACE_PROPERTIES", place.at("properties"));
        }
        command.env("SILVERPOINT_FILTER", "off").envs(variables.iter().copied());
        let pid = check(&command.output().unwrap());
        assert_eq!(messages(&place, pid), *expected, "{file:?} {variables:?}");
    }
}

/// A variable that says nothing of what is enabled leaves the ring to the directives.
#[test]
fn a_program_that_is_not_counted_does_not_shut_the_ring() {
    let name = "enabled::a_program_that_is_not_counted_does_not_shut_the_ring";
    if is_role(name) {
        println!("pid={}", std::process::id());
        return atrace::instant(Tag::APP, "app");
    }
    for (variable, value) in [("debug.atrace.app_0", "other"), ("debug.atrace.tags.enableflags", "")] {
        let place = Place::new();
        let mut command = place.command(name);
        check(&command.env("SILVERPOINT_FILTER", "atrace=info").env(variable, value).output().unwrap());
        let session = reader::only_session(&place.at("sessions"));
        assert_eq!(session.records().len(), 1, "{variable}");
    }
}

/// Of several tags one that is on is enough for the kernel; in the ring the lowest names the category, which is on or not.
#[test]
fn the_kernel_asks_for_any_tag_and_the_ring_for_the_lowest() {
    let name = "enabled::the_kernel_asks_for_any_tag_and_the_ring_for_the_lowest";
    let tags = [
        ("app", Tag::APP),
        ("gfx", Tag::GRAPHICS),
        ("view", Tag::VIEW),
        ("app and gfx", Tag::APP | Tag::GRAPHICS),
        ("gfx and view", Tag::GRAPHICS | Tag::VIEW),
        ("app, gfx and view", Tag::APP | Tag::GRAPHICS | Tag::VIEW),
        ("always", Tag::ALWAYS),
    ];
    if is_role(name) {
        println!("pid={}", std::process::id());
        for (name, tag) in tags {
            atrace::instant(tag, name);
            assert_eq!(atrace::is_tag_enabled(tag), atrace::is_in_marker(tag) || atrace::is_in_ring(tag));
            assert_eq!(atrace::is_in_ring(tag), name == "app", "{name}");
            assert_eq!(atrace::is_in_marker(tag), name.contains("app") || name == "always", "{name}");
        }
        return;
    }
    let place = Place::new();
    let mut command = place.command(name);
    // APP to both; GRAPHICS and VIEW to nobody; ALWAYS, which any property switches on, to the kernel alone.
    command.env("debug.atrace.tags.enableflags", "0x1000").env("SILVERPOINT_FILTER", "atrace::app=info");
    let pid = check(&command.output().unwrap());
    let with_app = ["I|app", "I|app and gfx", "I|app, gfx and view", "I|always"];
    assert_eq!(messages(&place, pid), with_app);
    let session = reader::only_session(&place.at("sessions"));
    let recorded: Vec<_> = session
        .records()
        .iter()
        .map(|record| (record.what.clone(), session.sites[&record.site].category.clone()))
        .collect();
    assert_eq!(recorded, [("app".to_owned(), "atrace::app".to_owned())]);
}

/// Its number is the session's, which a forked child has of its own, or asked for.
#[test]
fn a_forked_child_says_its_own_number() {
    let name = "enabled::a_forked_child_says_its_own_number";
    if is_role(name) {
        println!("pid={}", std::process::id());
        atrace::instant(Tag::APP, "parent");
        let _open = atrace::scope(Tag::APP, "open");
        // SAFETY: the child calls what it may call after a fork (nothing of this process's locks is held: one thread has begun anything), and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            atrace::instant(Tag::APP, "at once");
            silverpoint::info!("a session of its own");
            atrace::instant(Tag::APP, "later");
            atrace::end(Tag::APP);
            // SAFETY: nothing of the parent's is to be run at the end.
            unsafe { libc::_exit(0) };
        }
        let mut status = 1;
        // SAFETY: `status` is there while it is called.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        println!("child={child}");
        return;
    }
    for filter in ["off", "info"] {
        let place = Place::new();
        let mut command = place.command(name);
        command.env("debug.atrace.tags.enableflags", "0x1000").env("SILVERPOINT_FILTER", filter);
        let output = command.output().unwrap();
        let parent = check(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        let child = text.lines().find_map(|line| line.strip_prefix("child=")).unwrap();
        let expected = [
            format!("I|{parent}|parent"),
            format!("B|{parent}|open"),
            format!("I|{child}|at once"),
            format!("I|{child}|later"),
            format!("E|{child}"),
            format!("E|{parent}"),
        ];
        assert_eq!(place.text("marker").lines().collect::<Vec<_>>(), expected, "{filter}");
    }
}
