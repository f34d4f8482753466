//! Each test runs this program again in a role, with an environment of its own, and reads what came out of both outputs.

#[path = "../../../silverpoint/tests/it/cbor.rs"]
mod cbor;
mod enabled;
mod instance;
#[path = "../../../silverpoint/tests/it/reader.rs"]
#[allow(dead_code)]
mod reader;
mod reused;
mod surface;
mod tracefs;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use silverpoint_atrace::{self as atrace, Tag, atrace, traced};
use silverpoint_shm::observer::{self, ObservedSession};
use silverpoint_shm::root::Root;
use tempfile::TempDir;

const ROLE: &str = "SILVERPOINT_ATRACE_ROLE";

/// A directory of one test's, removed at the end.
pub struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(silverpoint_tests::folder_in_memory())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// This program again, as the test `name`, with a file in place of `trace_marker`.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        for (key, _) in env::vars_os() {
            let text = key.to_string_lossy();
            if text.starts_with("SILVERPOINT_") || text.starts_with("debug.atrace.") {
                command.env_remove(&key);
            }
        }
        fs::write(self.at("marker"), "").unwrap();
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, name);
        command
            .env("SILVERPOINT_DIR", self.at("sessions"))
            .env("SILVERPOINT_ATRACE_MARKER", self.at("marker"));
        command
    }
}

/// Whether this is the child that a test runs.
fn is_role(name: &str) -> bool {
    env::var_os(ROLE).is_some_and(|wanted| wanted == name)
}

fn check(output: &Output) -> u32 {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.lines().find_map(|line| line.split("pid=").nth(1)).expect("its process").trim().parse().unwrap()
}

#[traced]
fn traced_function(value: i32) -> Option<i32> {
    let known = (value > 0).then_some(value)?;
    atrace::int(Tag::APP, "known", known);
    None
}

#[traced(Tag::GRAPHICS, "another name")]
fn traced_elsewhere() {}

#[traced("later")]
async fn traced_later() {
    std::future::poll_fn(|_| std::task::Poll::<()>::Pending).await;
}

/// One call of each kind.
pub fn call_everything() {
    println!("\npid={}", std::process::id());
    atrace::begin(Tag::APP, "outer");
    {
        atrace!("inner {}", 1);
        atrace::instant(Tag::APP, "point|of\ntime");
        atrace::track_instant(Tag::APP, "track", "point");
    }
    atrace::int(Tag::APP, "small", i32::MIN);
    atrace::int64(Tag::APP, "large", i64::MAX);
    atrace::async_begin(Tag::APP, "load", -7);
    thread::spawn(|| atrace::async_end(Tag::APP, "load", -7)).join().unwrap();
    atrace::track_begin(Tag::APP, "net", "fetch", 8);
    atrace::track_end(Tag::APP, "net", 8);
    let drawn = atrace::scope(Tag::GRAPHICS, "drawn");
    drop(drawn);
    traced_elsewhere();
    traced_function(5);
    traced_function(-5);
    let mut later = Box::pin(traced_later());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(Future::poll(later.as_mut(), &mut context).is_pending());
    thread::spawn(move || drop(later)).join().unwrap();
    atrace::begin(Tag::APP, &"x".repeat(3000));
    atrace::end(Tag::APP);
    atrace::end(Tag::APP);
}

/// What the kernel is given for that; tag GRAPHICS is off.
pub fn messages(pid: u32) -> Vec<String> {
    let mut all: Vec<String> = [
        "B|P|outer",
        "B|P|inner 1",
        "I|P|point/of time",
        "N|P|track|point",
        "E|P",
        "C|P|small|-2147483648",
        "C|P|large|9223372036854775807",
        "S|P|load|-7",
        "F|P|load|-7",
        "G|P|net|fetch|8",
        "H|P|net|8",
        "B|P|traced_function",
        "C|P|known|5",
        "E|P",
        "B|P|traced_function",
        "E|P",
        "S|P|later|1",
        "F|P|later|1",
    ]
    .iter()
    .map(|line| line.replacen("|P", &format!("|{pid}"), 1))
    .collect();
    let begin = format!("B|{pid}|");
    all.push(format!("{begin}{}", "x".repeat(1023 - begin.len())));
    all.extend([format!("E|{pid}"), format!("E|{pid}")]);
    all
}

#[test]
fn both_outputs_have_every_call() {
    let name = "both_outputs_have_every_call";
    if is_role(name) {
        return call_everything();
    }
    let place = Place::new();
    let output = place
        .command(name)
        .env("debug.atrace.tags.enableflags", "0x1000")
        .env("SILVERPOINT_FILTER", "atrace=info")
        .output()
        .unwrap();
    let pid = check(&output);
    assert_eq!(place.text("marker").lines().collect::<Vec<_>>(), messages(pid));
    let session = reader::only_session(&place.at("sessions"));
    let all: Vec<_> = session
        .records()
        .iter()
        .map(|record| match session.sites.get(&record.site) {
            Some(site) => {
                assert_eq!(site.category, "atrace::app");
                let what = if record.what.len() > 100 { "long" } else { &record.what };
                format!("{} {what} {}", site.kind as u8, record.args)
            }
            None => "end".to_owned(),
        })
        .collect();
    let id = -7_i32 as u32;
    let expected = [
        "3 outer ",
        "3 inner 1 ",
        "5 point|of\ntime ",
        "5 point \"track\"",
        "end",
        "4 small -2147483648",
        "4 large 9223372036854775807",
        &format!("6 load {id}"),
        &format!("7 load {id}"),
        "6 net 8, \"fetch\"",
        "7 net 8",
        "3 traced_function ",
        "4 known 5",
        "end",
        "3 traced_function ",
        "end",
        "6 later 1",
        "7 later 1",
        "3 long ",
        "end",
        "end",
    ];
    assert_eq!(all, expected);
    // What `convert` tells calls apart by (its tests have the same): kind, types and names of arguments.
    let used: BTreeSet<u32> = session.records().iter().map(|record| record.site).collect();
    let sites = used.iter().filter_map(|site| session.sites.get(site));
    let shapes: BTreeSet<_> =
        sites.map(|site| (site.kind as u8, site.signature.as_str(), site.names.as_str())).collect();
    let expected = [
        (3, "", ""),
        (4, "l", "value\n"),
        (5, "", ""),
        (5, "s", "track\n"),
        (6, "L", "id\n"),
        (6, "Ls", "id\nname\n"),
        (7, "L", "id\n"),
    ];
    assert_eq!(shapes, expected.into());
}

#[test]
fn the_ring_alone_needs_no_property() {
    let name = "the_ring_alone_needs_no_property";
    if is_role(name) {
        assert_eq!(atrace::enabled_tags(), Tag::GRAPHICS.bits());
        return call_everything();
    }
    let place = Place::new();
    check(&place.command(name).env("SILVERPOINT_FILTER", "atrace::gfx=info").output().unwrap());
    assert_eq!(place.text("marker"), "");
    let session = reader::only_session(&place.at("sessions"));
    let all: Vec<_> = session.records().into_iter().map(|record| record.what).collect();
    assert_eq!(all, ["drawn", "end", "another name", "end"]);
}

/// Of this process: there is one at least, and each has blocked what users send (SIGUSR1 is 10).
fn threads_of_the_library_take_no_signals() -> bool {
    let status = |task: fs::DirEntry| fs::read_to_string(task.path().join("status")).unwrap_or_default();
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| status(task.unwrap()));
    let own: Vec<String> = tasks.filter(|status| status.starts_with("Name:\tsilverpoint\n")).collect();
    let blocks = |status: &String| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t")).unwrap();
        u64::from_str_radix(mask, 16).unwrap() & 1 << 9 != 0
    };
    !own.is_empty() && own.iter().all(blocks)
}

#[test]
fn properties_are_followed_and_name_programs() {
    let name = "properties_are_followed_and_name_programs";
    if is_role(name) {
        println!("pid={}", std::process::id());
        let file = PathBuf::from(env::var_os("SILVERPOINT_ATRACE_PROPERTIES").unwrap());
        let own = env::current_exe().unwrap();
        let own = own.file_name().unwrap().to_str().unwrap();
        assert!(!atrace::is_tag_enabled(Tag::APP));
        atrace::instant(Tag::APP, "before");
        let mut round = 0;
        let mut becomes = |text: &str, tags: u64| {
            // Replaced as a whole, and written in place, by turns.
            round += 1;
            if round % 2 == 0 {
                let new = file.with_extension("new");
                fs::write(&new, text).unwrap();
                fs::rename(&new, &file).unwrap();
            } else {
                fs::write(&file, text).unwrap();
            }
            let start = Instant::now();
            while atrace::enabled_tags() != tags {
                assert!(start.elapsed() < Duration::from_secs(120), "{text}: {:#x}", atrace::enabled_tags());
                thread::sleep(Duration::from_millis(1));
            }
            atrace::instant(Tag::APP, &format!("app {round}"));
            atrace::instant(Tag::GRAPHICS, &format!("gfx {round}"));
        };
        becomes("debug.atrace.tags.enableflags=2\n", 3);
        assert!(threads_of_the_library_take_no_signals());
        becomes(&format!("debug.atrace.app_number=1\ndebug.atrace.app_0={own}\n"), 0x1001);
        becomes("debug.atrace.app_number=1\ndebug.atrace.app_0=other\n", 0);
        becomes("debug.atrace.app_number=1\ndebug.atrace.app_0=*\ndebug.atrace.tags.enableflags=2\n", 0x1003);
        fs::remove_file(&file).unwrap();
        let start = Instant::now();
        while atrace::enabled_tags() != 0 {
            assert!(start.elapsed() < Duration::from_secs(120));
            thread::sleep(Duration::from_millis(1));
        }
        return atrace::instant(Tag::APP, "after");
    }
    let place = Place::new();
    let mut command = place.command(name);
    let pid = check(&command.env("SILVERPOINT_ATRACE_PROPERTIES", place.at("properties")).output().unwrap());
    let names: Vec<String> = place
        .text("marker")
        .lines()
        .map(|line| line.strip_prefix(&format!("I|{pid}|")).unwrap().to_owned())
        .collect();
    assert_eq!(names, ["gfx 1", "app 2", "app 4", "gfx 4"]);
}

#[test]
fn an_end_ends_what_was_begun_whatever_was_switched_in_between() {
    let name = "an_end_ends_what_was_begun_whatever_was_switched_in_between";
    if is_role(name) {
        println!("pid={}", std::process::id());
        let outer = atrace::scope(Tag::GRAPHICS, "outer");
        let silent = atrace::scope(Tag::VIEW, "silent");
        drop(silent);
        for n in 0..5000 {
            atrace::begin(Tag::GRAPHICS, &format!("name {n}"));
            atrace::end(Tag::GRAPHICS);
        }
        return drop(outer);
    }
    let place = Place::new();
    let mut command = place.command(name);
    command.env("SILVERPOINT_FILTER", "atrace::gfx=info").env("debug.atrace.tags.enableflags", "10");
    let pid = check(&command.output().unwrap());
    assert_eq!(place.text("marker").lines().filter(|line| *line == format!("B|{pid}|silent")).count(), 1);
    let session = reader::only_session(&place.at("sessions"));
    let mut open = Vec::new();
    let mut count = 0;
    for record in session.records() {
        if record.what == "end" {
            let (site, begun): (u32, u64) = open.pop().unwrap();
            assert_eq!(record.args, format!("{site}, {begun}"));
            count += 1;
        } else {
            open.push((record.site, record.ticks));
        }
    }
    assert!(open.is_empty());
    assert_eq!(count, 5001);
    // More names than are sites: theirs is an argument.
    assert!(session.args_of("atrace").iter().all(|args| args.starts_with("\"name ")));
}

/// Tags go to the kernel, and no longer, while intervals are open: each begin that was written there gets its
/// end, and nothing else.
#[test]
fn the_kernel_is_told_of_an_end_where_it_was_told_of_the_begin() {
    let name = "the_kernel_is_told_of_an_end_where_it_was_told_of_the_begin";
    if is_role(name) {
        println!("pid={}", std::process::id());
        let file = PathBuf::from(env::var_os("SILVERPOINT_ATRACE_PROPERTIES").unwrap());
        let becomes = |flags: &str| {
            fs::write(&file, format!("debug.atrace.tags.enableflags={flags}\n")).unwrap();
            atrace::update_tags();
        };
        becomes("2");
        assert_eq!(atrace::enabled_tags(), 3);
        let outer = atrace::scope(Tag::GRAPHICS, "outer");
        let later = atrace::async_scope(Tag::GRAPHICS, "later");
        becomes("4");
        // Off: neither its begin nor its end.
        let silent = atrace::scope(Tag::GRAPHICS, "silent");
        let silent_later = atrace::async_scope(Tag::GRAPHICS, "silent later");
        {
            let _other = atrace::scope(Tag::INPUT, "other");
            becomes("2");
        }
        drop((silent, silent_later));
        atrace::begin(Tag::GRAPHICS, "by hand");
        // More of them than are kept without an allocation.
        let deep: Vec<_> = (0..100).map(|_| atrace::scope(Tag::GRAPHICS, "deep")).collect();
        becomes("0");
        deep.into_iter().rev().for_each(drop);
        becomes("2");
        atrace::end(Tag::GRAPHICS);
        becomes("0");
        drop(later);
        drop(outer);
        becomes("2");
        // As on Android, where it is unknown what it ends.
        return atrace::end(Tag::GRAPHICS);
    }
    for filter in ["off", "atrace=info"] {
        let place = Place::new();
        let mut command = place.command(name);
        command
            .env("SILVERPOINT_ATRACE_PROPERTIES", place.at("properties"))
            .env("SILVERPOINT_FILTER", filter);
        let pid = check(&command.output().unwrap());
        let found = place.text("marker").replace(&format!("|{pid}"), "|P");
        let deep = |message: &'static str| std::iter::repeat_n(message, 100);
        let mut expected = vec!["B|P|outer", "S|P|later|1", "B|P|other", "E|P", "B|P|by hand"];
        expected.extend(deep("B|P|deep").chain(deep("E|P")));
        expected.extend(["E|P", "F|P|later|1", "E|P", "E|P"]);
        assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{filter}");
        // The ring has what the kernel has, each end that of its begin.
        let (mut open, mut ends) = (Vec::new(), 0);
        if filter != "off" {
            let session = reader::only_session(&place.at("sessions"));
            for record in session.records() {
                if record.what == "end" {
                    let (site, begun): (u32, u64) = open.pop().unwrap();
                    assert_eq!(record.args, format!("{site}, {begun}"));
                    ends += 1;
                } else if session.sites[&record.site].kind as u8 == 3 {
                    open.push((record.site, record.ticks));
                }
            }
            assert_eq!((open.len(), ends), (0, 103));
            assert_eq!(session.args_of("later"), ["1", "1"]);
        }
    }
}

/// Directives switch everything off while intervals are open. Those in the ring end there, the asynchronous
/// ones too, and what is made meanwhile is not in it.
#[test]
fn what_the_ring_has_begun_ends_after_directives_have_switched_it_off() {
    let name = "what_the_ring_has_begun_ends_after_directives_have_switched_it_off";
    let long = "y".repeat(5000);
    if is_role(name) {
        println!("pid={}", std::process::id());
        let long: &'static str = long.leak();
        let scope = atrace::scope(Tag::APP, "scope");
        let later = [atrace::async_scope(Tag::APP, "later"), atrace::async_scope(Tag::APP, long)];
        let root = Root::open_directory(env::var_os("SILVERPOINT_DIR").unwrap().as_ref()).unwrap();
        let session = ObservedSession::open(&root, observer::list(&root).unwrap()[0]).unwrap();
        let becomes = |text: &str, is_on: bool| {
            session.write_directives(text).unwrap();
            let start = Instant::now();
            while atrace::is_tag_enabled(Tag::APP) != is_on {
                assert!(start.elapsed() < Duration::from_secs(120), "{text}");
                thread::sleep(Duration::from_millis(1));
            }
        };
        becomes("off", false);
        let silent = (atrace::scope(Tag::APP, "silent"), atrace::async_scope(Tag::APP, "silent later"));
        drop(later);
        drop(scope);
        becomes("atrace=info", true);
        return drop(silent);
    }
    let place = Place::new();
    let _ = check(&place.command(name).env("SILVERPOINT_FILTER", "atrace=info").output().unwrap());
    let session = reader::only_session(&place.at("sessions"));
    let all: Vec<String> = session
        .records()
        .iter()
        .map(|record| match session.sites.get(&record.site) {
            Some(site) => format!("{} {} {}", site.kind as u8, record.what, record.args),
            None => "end".to_owned(),
        })
        .collect();
    let expected = ["3 scope ", "6 later 1", "6 atrace 2, <5000>", "7 later 1", "7 atrace 2, <5000>", "end"];
    assert_eq!(all, expected);
}
