//! Events of LTTng-UST from tracepoints in C++, C and Rust: recorded by a session daemon of the test's own, and compared with the ring's records.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use silverpoint_tests::skipped;
use silverpoint_wire::layout::{control::at, state};

use crate::harness::{Ended, Scratch, built, end, example, objects_of_c};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// What is not installed of what these tests need.
fn missing() -> Option<&'static str> {
    let program = |name: &str| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|path| path.join(name).is_file())
    };
    let library = ["/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
    if !program("lttng") || !program("lttng-sessiond") {
        return Some("lttng-tools is not installed");
    }
    if !library.iter().any(|path| Path::new(path).join("liblttng-ust.so.1").exists()) {
        return Some("liblttng-ust is not installed (Debian: liblttng-ust1)");
    }
    if !program("babeltrace2") || !Path::new("/usr/lib/python3/dist-packages/bt2").exists() {
        return Some("babeltrace2 or its Python module is not installed (Debian: python3-bt2)");
    }
    None
}

/// Of `cpp/src`, or of this test's folder.
fn source(name: &str) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/lttng").join(name);
    let path = if own.exists() { own } else { root().join("cpp/src").join(name) };
    path.to_str().unwrap().to_owned()
}

/// Of the programs here one is optimised ([`shop`]): which events come out of the others is the same.
const CPP: [&str; 5] = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror"];

fn library() -> PathBuf {
    let options =
        "-std=c++20 -O2 -Wall -Wextra -Werror -fPIC -shared -fno-exceptions -fno-rtti -fvisibility=hidden";
    let file = source("silverpoint_lttng.cpp");
    let words: Vec<&str> = options.split(' ').chain([&*file]).collect();
    built("libsilverpoint_lttng.so.0", "g++", &words)
}

/// A program in C++ of this test's folder.
fn program(name: &str) -> PathBuf {
    let words: Vec<String> =
        CPP.iter().map(|word| word.to_string()).chain([source(name), "-pthread".to_owned()]).collect();
    built(name.strip_suffix(".cpp").unwrap(), "g++", &words.iter().map(|word| &**word).collect::<Vec<_>>())
}

/// Where a test that needs LTTng runs; `None` where it is not installed, with a message.
fn prepared() -> Option<Scratch> {
    match missing() {
        Some(why) => {
            skipped!("{why}");
            None
        }
        None => Some(Scratch::new()),
    }
}

/// Runs a scenario; `None` where this machine does not allow it.
fn check(scratch: &Scratch, words: &[&dyn AsRef<OsStr>]) -> Option<Ended> {
    std::fs::create_dir(scratch.path("work")).unwrap();
    let mut command = scratch.command("/usr/bin/python3", ["-B"]);
    command.arg(source("check.py")).args(words.iter().map(|word| (*word).as_ref()));
    command.current_dir(scratch.path("work")).env("SILVERPOINT_LTTNG_LIBRARY", library());
    let ended = end(&mut command);
    if ended.code() == Some(77) {
        skipped!("{}", ended.out.trim());
        return None;
    }
    assert_eq!(ended.code(), Some(0), "{}{}", ended.out, ended.err);
    Some(ended)
}

const SILVERPOINT: &str = env!("CARGO_BIN_EXE_silverpoint");

#[test]
fn every_field_in_cpp_is_as_in_the_ring() {
    let Some(scratch) = prepared() else { return };
    let Some(ended) = check(&scratch, &[&"fields", &SILVERPOINT, &shop(), &"10000"]) else {
        return;
    };
    assert_eq!(ended.out, "110000 events equal\n");
}

#[test]
fn every_field_in_c_is_as_in_the_ring() {
    let Some(scratch) = prepared() else { return };
    let Some(ended) = check(&scratch, &[&"fields", &SILVERPOINT, &shop_in_c(), &"200"]) else { return };
    assert_eq!(ended.out, "1200 events equal\n");
}

/// Tests of other tracers have this program, too.
pub fn shop() -> PathBuf {
    built("shop", "g++", &[&CPP[..], &["-O1", &source("shop.cpp"), "-pthread"]].concat())
}

pub fn shop_in_c() -> PathBuf {
    let (file, objects) = (source("shop.c"), objects_of_c());
    let words = ["-O2", "-Wall", "-Wextra", &file, &objects[0], &objects[1], "-pthread"];
    built("shop-in-c", "gcc", &words)
}

#[test]
fn every_field_in_rust_is_as_in_the_ring() {
    let Some(scratch) = prepared() else { return };
    let Some(ended) = check(&scratch, &[&"fields", &SILVERPOINT, &example("shop"), &"200"]) else { return };
    assert_eq!(ended.out, "4400 events equal\n");
}

/// Statements of Qt, and what comes through its message handler.
#[test]
fn every_field_of_qt_is_as_in_the_ring() {
    let Some(scratch) = prepared() else { return };
    let found = Command::new("pkg-config").args(["--cflags", "--libs", "Qt6Core"]).output();
    let Some(flags) = found.ok().filter(|found| found.status.success()) else {
        return skipped!("Qt 6 is not installed (Debian: qt6-base-dev)");
    };
    let flags = String::from_utf8(flags.stdout).unwrap().replace("-I/", "-isystem/");
    let file = source("qt.cpp");
    let words: Vec<&str> =
        CPP.into_iter().chain(["-pthread", "-fPIC", &file]).chain(flags.split_whitespace()).collect();
    let program = built("qt", "g++", &words);
    let Some(ended) = check(&scratch, &[&"fields", &SILVERPOINT, &program, &"100"]) else { return };
    assert_eq!(ended.out, "500 events equal\n");
}

#[test]
fn every_call_of_atrace_is_as_in_the_ring() {
    let Some(scratch) = prepared() else { return };
    let Some(ended) = check(&scratch, &[&"atrace", &SILVERPOINT, &program("atrace.cpp"), &"100"]) else {
        return;
    };
    assert_eq!(ended.out, "1000 events equal\n");
}

#[test]
fn every_call_of_atrace_in_rust_is_as_in_the_ring() {
    let Some(scratch) = prepared() else { return };
    let Some(ended) = check(&scratch, &[&"atrace", &SILVERPOINT, &example("atrace_calls"), &"100"]) else {
        return;
    };
    assert_eq!(ended.out, "1300 events equal\n");
}

/// With the ring and without it: glog's own destinations do not decide what LTTng gets.
#[test]
fn every_statement_of_glog_is_an_event() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"glog", &program("glog.cpp"), &"files", &"console"]);
}

/// A program in Rust that loads a shared object in C++: one session, one library, each event once.
#[test]
fn two_languages_in_one_process_have_each_event_once() {
    let Some(scratch) = prepared() else { return };
    let file = source("part.cpp");
    let words: Vec<&str> = CPP.into_iter().chain(["-fPIC", "-shared", &file]).collect();
    let part = built("part.so", "g++", &words);
    let Some(ended) = check(&scratch, &[&"fields", &SILVERPOINT, &example("shop"), &"100", &part]) else {
        return;
    };
    assert_eq!(ended.out, "2600 events equal\n");
}

/// What remains between the loads is the library: it goes on with the session that each load makes.
#[test]
fn a_shared_object_that_is_loaded_again_has_its_events() {
    let Some(scratch) = prepared() else { return };
    let file = source("reloaded_part.cpp");
    let words: Vec<&str> = CPP.into_iter().chain(["-fPIC", "-shared", &file]).collect();
    let part = built("reloaded_part.so", "g++", &words);
    check(&scratch, &[&"reloaded", &program("reloaded.cpp"), &part, &example("libreloaded.so")]);
}

/// What LTTng alone gets takes another way than what the ring has, too.
#[test]
fn events_are_the_same_with_and_without_the_ring() {
    let Some(scratch) = prepared() else { return };
    let programs = [shop(), shop_in_c(), example("shop")];
    let words: [&dyn AsRef<OsStr>; 5] = [&"without_ring", &"200", &programs[0], &programs[1], &programs[2]];
    let Some(ended) = check(&scratch, &words) else { return };
    assert_eq!(ended.out, "2200 events equal\n1200 events equal\n4400 events equal\n");
}

#[test]
fn events_need_no_ring_and_heed_filters() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"alone", &shop(), &"20"]);
}

/// `enable-event --loglevel`, in C++, C and Rust.
#[test]
fn events_are_enabled_by_level() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"levels", &SILVERPOINT, &shop(), &shop_in_c(), &example("shop")]);
}

#[test]
fn events_of_rust_need_no_ring_and_heed_filters() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"alone", &example("shop"), &"20"]);
}

/// Events, spans and log records of Rust's facades: none is missing in either.
#[test]
fn every_field_of_tracing_and_log_is_as_in_the_ring() {
    let Some(scratch) = prepared() else { return };
    let words: [&dyn AsRef<OsStr>; 4] = [&"facades", &SILVERPOINT, &example("facades"), &"400"];
    let Some(ended) = check(&scratch, &words) else { return };
    assert_eq!(ended.out, "17200 events equal\n");
}

#[test]
fn events_of_tracing_need_no_ring_and_heed_filters() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"alone", &example("facades"), &"20"]);
}

#[test]
fn a_span_that_lttng_alone_wants_is_nothing_to_the_ring() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"facades_apart", &SILVERPOINT, &example("facades")]);
}

/// Callsites that were off for good are asked again.
#[test]
fn a_running_program_is_asked_to_feed_lttng_from_tracing_and_log() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"facades_switched", &SILVERPOINT, &example("facades")]);
}

#[test]
fn a_forked_child_has_events_of_tracing() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"fork", &example("facades"), &"fork"]);
}

#[test]
fn sessions_and_daemons_come_and_go_under_tracing() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"daemons", &example("facades")]);
}

/// With and without such a field, an inner scope's before an outer one's, in C++, C and Rust; also in filters.
#[test]
fn fields_of_scopes_are_contexts_of_lttng() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"scopes", &SILVERPOINT, &shop(), &shop_in_c(), &example("shop")]);
}

/// `ctl --probe` in programs that were started without LTTng, each of which has loaded nothing of it until then.
#[test]
fn a_running_program_is_asked_to_feed_lttng() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"switched", &SILVERPOINT, &shop(), &shop_in_c(), &example("shop")]);
}

/// The span's site is quiet until then.
#[test]
fn ends_of_spans_alone_are_switched_on_beside_the_ring() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"ends", &SILVERPOINT, &shop(), &shop_in_c(), &example("shop")]);
}

#[test]
fn a_forked_child_has_events_of_its_own() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"fork", &program("family.cpp")]);
}

#[test]
fn a_forked_child_in_rust_has_events_of_its_own() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"fork", &example("shop"), &"fork"]);
}

#[test]
fn a_child_that_was_forked_before_lttng_is_open_has_events() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"fork", &program("family.cpp"), &"early"]);
}

#[test]
fn a_program_that_forks_while_its_events_are_made_ends() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"busy", &program("busy.cpp")]);
}

#[test]
fn a_tracepoint_in_malloc_does_not_recur() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"allocs", &program("allocs.cpp")]);
}

/// The program answers all the time; what a session has is complete.
#[test]
fn daemons_come_and_go() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"daemons", &example("shop")]);
}

#[test]
fn one_of_ten_thousand_events_is_enabled_and_then_all() {
    let Some(scratch) = prepared() else { return };
    check(&scratch, &[&"many", &program("many.cpp")]);
}

/// Names of fields, values as JSON and sessions, which no daemon is needed for.
#[test]
fn names_json_and_sessions_are_right() {
    let (sources, file) = (format!("-I{}", root().join("cpp/src").display()), source("unit.cpp"));
    let words: Vec<&str> = CPP.into_iter().chain(["-fvisibility=hidden", &sources, &file]).collect();
    let ended = end(&mut Command::new(built("unit", "g++", &words)));
    assert_eq!((ended.code(), &*ended.out), (Some(0), "all equal\n"), "{}", ended.err);
    let why =
        "silverpoint: SILVERPOINT_PROBES=lttng: LTTng gets no events: the session cannot be mapped again: ";
    assert!(ended.err.starts_with(why) && ended.err.lines().count() == 1, "{}", ended.err);
}

/// The page of the guide: its program, and what LTTng's tools then show.
#[test]
fn the_page_is_true() {
    let Some(scratch) = prepared() else { return };
    let page = std::fs::read_to_string(root().join("docs/guide/lttng.md")).unwrap();
    let block = |language: &str| {
        let begin = format!("```{language}\n");
        page.split(&begin).nth(1).and_then(|rest| rest.split("```").next()).expect("a snippet").to_owned()
    };
    let file = scratch.path("shop.cpp");
    std::fs::write(&file, block("cpp")).unwrap();
    let shop = built("shop-of-the-page", "g++", &["-std=c++20", "-O0", file.to_str().unwrap(), "-pthread"]);
    let script = format!("set -e\ncp {} shop\n{}", shop.display(), block("sh"));
    let Some(ended) = check(&scratch, &[&"page", &script]) else { return };
    for event in ["shop:sold (", "shop:order {} at {:.2f} (", "shop:sell_entry (", "shop:sell_exit ("] {
        assert!(ended.out.contains(event), "{event} is not listed: {}", ended.out);
    }
    // Orders from 200 on, those of Ada.
    assert_eq!(ended.out.matches(" shop:sold: { cpu_id").count(), 100, "{}", ended.out);
    assert!(ended.out.contains("duration_ns = ") && !ended.out.contains("\"Grace\""), "{}", ended.out);
}

/// Without the library, or of LTTng's, the program runs as ever, and one line says what is missing.
#[test]
fn what_is_missing_is_one_message() {
    let scratch = Scratch::new();
    for program in [program("family.cpp"), example("shop")] {
        let mut command = scratch.command("sh", ["-c", "echo | $0 0"]);
        command
            .arg(&program)
            .env("SILVERPOINT_PROBES", "lttng,dtrace")
            .env("SILVERPOINT_LTTNG_LIBRARY", "./nowhere.so");
        let ended = end(&mut command);
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let lines: Vec<&str> = ended.err.lines().collect();
        assert_eq!(
            lines[0],
            "silverpoint: SILVERPOINT_PROBES: 'dtrace' is ignored: expected lttng, user_events or trace_marker"
        );
        assert!(
            lines[1].contains("LTTng gets no events: ./nowhere.so")
                && lines[1].contains("SILVERPOINT_LTTNG_LIBRARY"),
            "{lines:?}"
        );
        // A child makes a session of its own, but does not say it again.
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
}

/// A library of that name that is none, at a long path: the message says which, and what to do.
#[test]
fn an_unsuitable_lttng_is_one_message() {
    let scratch = Scratch::new();
    let folder = scratch.path(&format!("{}/{}", "long".repeat(60), "path".repeat(40)));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("liblttng-ust.so.1"), "no library\n".repeat(100)).unwrap();
    let mut command = scratch.command("sh", ["-c", "echo | $0"]);
    command.arg(program("family.cpp"));
    command.env("SILVERPOINT_PROBES", "lttng").env("SILVERPOINT_LTTNG_LIBRARY", library());
    command.env("LD_LIBRARY_PATH", &folder);
    let ended = end(&mut command);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.err.lines().collect();
    let is_right = |line: &&str| {
        line.starts_with("silverpoint: SILVERPOINT_PROBES=lttng: LTTng gets no events: ")
            && line.contains("longlong")
            && line.ends_with("; install liblttng-ust 2.13 or later (Debian: liblttng-ust1)")
    };
    // A child that is forked before that opens LTTng itself.
    assert!((1..=2).contains(&lines.len()) && lines.iter().all(is_right), "{lines:?}");
}

/// Where LTTng is missing nothing asks for it any more, so tracepoints pay nothing. It is tried again when somebody asks.
#[test]
fn a_program_without_lttng_pays_nothing_until_somebody_asks_again() {
    let scratch = Scratch::new();
    let folder = scratch.path("libraries");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(stub("liblttng-ust.so.1"), folder.join("liblttng-ust.so.1")).unwrap();
    let mut command = scratch.command(program("shop.cpp"), ["ticks"]);
    command.env("SILVERPOINT_PROBES", "lttng").env("SILVERPOINT_LTTNG_LIBRARY", library());
    command
        .env("LD_LIBRARY_PATH", &folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    let mut answers = BufReader::new(running.stdout.take().unwrap()).lines();
    let mut messages = BufReader::new(running.stderr.take().unwrap()).lines();
    let mut tick = || {
        writeln!(input).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), "done");
    };
    tick();
    let pid = running.id().to_string();
    let states = || {
        let session = std::fs::read_dir(scratch.root()).unwrap().map(|entry| entry.unwrap().path());
        let mut of_it = session.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&pid));
        let control = std::fs::read(of_it.next().expect("a session").join("control")).unwrap();
        let word = |at: usize| u32::from_le_bytes(control[at..at + 4].try_into().unwrap()) as usize;
        let (at, count) = (word(at::STATES_AT), word(at::SITES_NEXT));
        (word(at::PROBES_ASKED), control[at..at + count].iter().any(|byte| byte & state::PROBED != 0))
    };
    for asked in [1, 2] {
        let message = messages.next().unwrap().unwrap();
        assert!(message.contains("LTTng gets no events: liblttng-ust.so.1 has no function"), "{message}");
        scratch.wait(&format!("nothing that is asked for, the {asked}. time"), || states() == (0, false));
        if asked == 1 {
            let ended = end(&mut scratch.command(SILVERPOINT, ["ctl", &pid, "--probe", "lttng=on"]));
            assert_eq!(ended.code(), Some(0), "{ended:?}");
        }
        tick();
    }
    drop(input);
    assert!(running.wait().unwrap().success());
    assert!(messages.next().is_none());
}

/// A library of LTTng with this soname that has nothing.
fn stub(soname: &str) -> PathBuf {
    built(soname, "gcc", &["-shared", "-x", "c", "/dev/null", &format!("-Wl,-soname,{soname}")])
}

/// 2.12's, and one that lacks what is needed: the message says which versions are suitable, and the program runs.
#[test]
fn other_versions_of_lttng_are_refused() {
    let scratch = Scratch::new();
    let folder = scratch.path("libraries");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("liblttng-ust.so.1");
    let said = |preloaded: Option<&Path>| {
        let mut command = scratch.command("sh", ["-c", "echo | LD_PRELOAD=$1 $0"]);
        command.arg(program("family.cpp")).args(preloaded);
        command.env("SILVERPOINT_PROBES", "lttng").env("SILVERPOINT_LTTNG_LIBRARY", library());
        let ended = end(command.env("LD_LIBRARY_PATH", &folder));
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        let first = ended.err.lines().next().expect("a message").to_owned();
        assert!(ended.err.lines().all(|line| line == first), "{ended:?}");
        first
    };
    std::fs::copy(stub("liblttng-ust.so.1"), &file).unwrap();
    assert_eq!(
        said(None),
        "silverpoint: SILVERPOINT_PROBES=lttng: LTTng gets no events: liblttng-ust.so.1 has no function lttng_ust_probe_register; versions 2.13 and \
         later have it"
    );
    std::fs::write(&file, "no library").unwrap();
    let old = said(Some(&stub("liblttng-ust.so.0")));
    assert!(
        old.ends_with(
            " (liblttng-ust.so.0 is loaded, which is older than 2.13); install liblttng-ust 2.13 or later (Debian: liblttng-ust1)"
        ),
        "{old}"
    );
}
