//! Spans and events as messages to the kernel: into a file that stands for `trace_marker`, and into the kernel's own buffer where there is one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use silverpoint_tracing::atrace::{self, Filter, Layer, Tag};
use tracing::level_filters::LevelFilter;
use tracing::{debug, error_span, event, info, info_span, span, warn};
use tracing_subscriber::filter::FilterExt as _;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, registry};

use crate::instance::Instance;
use silverpoint_tests::folder_in_memory;
use tempfile::TempDir;

use crate::{ROLE, is_child};

/// This program again as the test `name`, with these properties, and `marker` to write to. Gives the messages' process as it stands in them.
fn run(name: &str, root: &TempDir, marker: &Path, properties: &[(&str, &str)]) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    for (key, _) in env::vars_os() {
        let text = key.to_string_lossy();
        if text.starts_with("SILVERPOINT_") || text.starts_with("debug.atrace.") {
            command.env_remove(&key);
        }
    }
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, name);
    command.env("SILVERPOINT_DIR", root.path().join("sessions")).env("SILVERPOINT_FILTER", "off");
    command.env("SILVERPOINT_ATRACE_MARKER", marker).envs(properties.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{name}: {text}{told}");
    format!("|{}", text.lines().find_map(|line| line.split("pid=").nth(1)).expect("its process").trim())
}

/// The messages that a run with the tag APP makes, each with `|P` in place of the process.
fn messages(name: &str) -> Option<Vec<String>> {
    messages_of(name, "0x1000")
}

/// Those of a run with these tags.
fn messages_of(name: &str, tags: &str) -> Option<Vec<String>> {
    if is_child(name) {
        println!("\npid={}", std::process::id());
        return None;
    }
    let root = folder_in_memory();
    let marker = root.path().join("marker");
    fs::write(&marker, "").unwrap();
    let pid = run(name, &root, &marker, &[("debug.atrace.tags.enableflags", tags)]);
    Some(anonymous(fs::read_to_string(marker).unwrap().lines(), &pid))
}

fn anonymous<'a>(messages: impl Iterator<Item = &'a str>, pid: &str) -> Vec<String> {
    messages.map(|message| message.replacen(pid, "|P", 1)).collect()
}

/// Spans and events with fields of many kinds.
fn record_much() {
    let failed = io::Error::other("not\nthere");
    let load = info_span!("load", path = "a|b.txt", size = 17, later = tracing::field::Empty);
    load.in_scope(|| {
        info!(bytes = 3_u64, ratio = 0.5, "loaded {}", 1);
        event!(name: "found", tracing::Level::INFO, is_new = true, ?failed, error = &failed as &dyn std::error::Error);
        let _inner = info_span!("inner").entered();
        warn!("{}", "x".repeat(2000));
    });
    load.record("later", 7);
    load.in_scope(|| {});
}

fn told_of_much() -> Vec<String> {
    let cut = format!("I|P|{}", "x".repeat(1023));
    [
        "B|P|load, path=a/b.txt, size=17",
        "I|P|loaded 1, bytes=3, ratio=0.5",
        "I|P|found, is_new=true, failed=Custom { kind: Other, error: \"not\\nthere\" }, error=not there",
        "B|P|inner",
        &cut,
        "E|P",
        "E|P",
        "I|P|load, later=7",
        "B|P|load, path=a/b.txt, size=17, later=7",
        "E|P",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Compares what must be equal but for where the longest message was cut, which depends on the process's number.
fn assert_told(found: &[String], expected: &[String]) {
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        let is_cut = found.len() > 900 && expected.starts_with(found.as_str());
        assert!(is_cut || found == expected, "{found}\nis not\n{expected}");
    }
}

#[test]
fn spans_and_events_are_messages_with_their_fields() {
    let name = "atrace::spans_and_events_are_messages_with_their_fields";
    let Some(found) = messages(name) else {
        atrace::init();
        return record_much();
    };
    assert_told(&found, &told_of_much());
}

#[test]
fn a_field_that_is_recorded_again_has_its_last_value() {
    let name = "atrace::a_field_that_is_recorded_again_has_its_last_value";
    let Some(found) = messages(name) else {
        let _guard = registry().with(atrace::layer()).set_default();
        let empty = tracing::field::Empty;
        let copy = info_span!("copy", first = 1, done = empty, last = "x", far = empty);
        for percent in [5, 100, 7] {
            copy.record("done", percent);
            copy.in_scope(|| ());
        }
        // A value that leaves no room for those behind it, and gives it back.
        copy.record("first", "1".repeat(2000).as_str()).record("first", 2).record("done", 8);
        return copy.in_scope(|| ());
    };
    let expected = [
        "I|P|copy, done=5",
        "B|P|copy, first=1, last=x, done=5",
        "E|P",
        "I|P|copy, done=100",
        "B|P|copy, first=1, last=x, done=100",
        "E|P",
        "I|P|copy, done=7",
        "B|P|copy, first=1, last=x, done=7",
        "E|P",
        &format!("I|P|copy, first={}", "1".repeat(2000)),
        "I|P|copy, first=2",
        "I|P|copy, done=8",
        "B|P|copy, first=2, done=8",
        "E|P",
    ];
    assert_told(&found, &expected.map(str::to_owned));
}

#[test]
fn the_kernel_has_what_was_recorded() {
    let name = "atrace::the_kernel_has_what_was_recorded";
    if is_child(name) {
        println!("\npid={}", std::process::id());
        atrace::init();
        return record_much();
    }
    let root = folder_in_memory();
    let instance = match Instance::new(root.path()) {
        Ok(instance) => instance,
        Err(why) => return silverpoint_tests::skipped!("there is no tracefs: {why}"),
    };
    let marker = instance.path.join("trace_marker");
    let pid = run(name, &root, &marker, &[("debug.atrace.tags.enableflags", "0x1000")]);
    let found = instance.messages();
    assert_told(&anonymous(found.iter().map(String::as_str), &pid), &told_of_much());
}

#[test]
fn ends_are_those_of_the_innermost_whatever_the_order() {
    let name = "atrace::ends_are_those_of_the_innermost_whatever_the_order";
    let Some(found) = messages(name) else {
        let _guard = registry().with(atrace::layer()).set_default();
        let (outer, inner) = (info_span!("outer"), info_span!("inner"));
        let (entered, within) = (outer.enter(), inner.enter());
        drop(entered);
        info!("between");
        drop(within);
        info!("after");
        // The same one twice, and in another thread.
        let (first, second) = (outer.enter(), outer.enter());
        thread::scope(|scope| scope.spawn(|| inner.in_scope(|| ())).join().unwrap_or(()));
        drop((first, second));
        return;
    };
    let expected = [
        "B|P|outer",
        "B|P|inner",
        "I|P|between",
        "E|P",
        "E|P",
        "I|P|after",
        "B|P|outer",
        "B|P|outer",
        "B|P|inner",
        "E|P",
        "E|P",
        "E|P",
    ];
    assert_eq!(found, expected);
}

#[test]
fn lifetimes_are_asynchronous() {
    let name = "atrace::lifetimes_are_asynchronous";
    let Some(found) = messages(name) else {
        let _guard = registry().with(Layer::new(Tag::APP).with_lifetimes()).set_default();
        let task = info_span!("task", number = 1);
        task.in_scope(|| {});
        let other = info_span!("task", number = 2);
        drop(task);
        return drop(other);
    };
    let expected = ["S|P|task|1", "B|P|task, number=1", "E|P", "S|P|task|2", "F|P|task|1", "F|P|task|2"];
    assert_eq!(found, expected);
}

#[test]
fn other_filters_go_on_top() {
    let name = "atrace::other_filters_go_on_top";
    let Some(found) = messages(name) else {
        let filter = EnvFilter::new("warn,[request{user=7}]=trace").and(Filter(Tag::APP));
        let off = atrace::Layer::new(Tag::GRAPHICS).with_filter(Filter(Tag::GRAPHICS));
        let _guard = registry().with(Layer::new(Tag::APP).with_filter(filter)).with(off).set_default();
        info!("off");
        warn!("on");
        for user in [6, 7] {
            let _request = error_span!("request", user).entered();
            debug!(user, "within");
        }
        return;
    };
    let expected =
        ["I|P|on", "B|P|request, user=6", "E|P", "B|P|request, user=7", "I|P|within, user=7", "E|P"];
    assert_eq!(found, expected);
}

#[test]
fn a_lifetime_that_has_begun_ends_after_its_tag_was_switched_off() {
    let name = "atrace::a_lifetime_that_has_begun_ends_after_its_tag_was_switched_off";
    if is_child(name) {
        println!("\npid={}", std::process::id());
        let file = PathBuf::from(env::var_os("SILVERPOINT_ATRACE_PROPERTIES").unwrap());
        let becomes = |flags: &str| {
            fs::write(&file, format!("debug.atrace.tags.enableflags={flags}\n")).unwrap();
            silverpoint_atrace::update_tags();
        };
        becomes("0x1000");
        let _guard = registry().with(Layer::new(Tag::APP).with_lifetimes()).set_default();
        let task = info_span!("task");
        becomes("0");
        let silent = info_span!("silent");
        drop(task);
        becomes("0x1000");
        return drop(silent);
    }
    let root = folder_in_memory();
    let (marker, properties) = (root.path().join("marker"), root.path().join("properties"));
    fs::write(&marker, "").unwrap();
    let pid = run(name, &root, &marker, &[("SILVERPOINT_ATRACE_PROPERTIES", properties.to_str().unwrap())]);
    let found = anonymous(fs::read_to_string(marker).unwrap().lines(), &pid);
    assert_eq!(found, ["S|P|task|1", "F|P|task|1"]);
}

/// A layer of a tag that is off and one of a tag that is on.
fn layers_of_two_tags() {
    let _guard = registry().with(Layer::new(Tag::GRAPHICS)).with(Layer::new(Tag::APP)).set_default();
    let load = info_span!("load", size = tracing::field::Empty).entered();
    load.record("size", 7);
}

#[test]
fn a_layer_ends_what_it_has_begun_and_no_other() {
    let name = "atrace::a_layer_ends_what_it_has_begun_and_no_other";
    let Some(found) = messages(name) else { return layers_of_two_tags() };
    assert_eq!(found, ["B|P|load", "I|P|load, size=7", "E|P"]);
}

#[test]
fn two_layers_of_one_registry_may_want_the_same_span() {
    let name = "atrace::two_layers_of_one_registry_may_want_the_same_span";
    let Some(found) = messages_of(name, "0x1002") else { return layers_of_two_tags() };
    let twice = |message| [message; 2];
    assert_eq!(found, [twice("B|P|load"), twice("I|P|load, size=7"), twice("E|P")].concat());
}

#[test]
fn callsites_follow_the_properties() {
    let name = "atrace::callsites_follow_the_properties";
    if is_child(name) {
        println!("\npid={}", std::process::id());
        atrace::init();
        let file = PathBuf::from(env::var_os("SILVERPOINT_ATRACE_PROPERTIES").unwrap());
        // One callsite, whose interest is remembered.
        let is_on = || {
            let span = span!(tracing::Level::INFO, "asked");
            !span.is_disabled()
        };
        assert!(!is_on());
        assert_eq!(LevelFilter::current(), LevelFilter::OFF);
        let becomes = |text: &str, wanted: bool| {
            fs::write(&file, text).unwrap();
            let start = Instant::now();
            while is_on() != wanted {
                assert!(start.elapsed() < Duration::from_secs(120), "{text}");
                thread::sleep(Duration::from_millis(1));
            }
        };
        becomes("debug.atrace.tags.enableflags=0x1000\n", true);
        let begun = info_span!("begun").entered();
        becomes("", false);
        // Made while it was on: its end is not written, and those of others are not taken for it.
        let silent = info_span!("silent").entered();
        becomes("debug.atrace.tags.enableflags=0x1000\n", true);
        drop(silent);
        becomes("", false);
        // Left while it is off: it has begun, so it ends.
        drop(begun);
        becomes("debug.atrace.tags.enableflags=0x1000\n", true);
        return info!("on again");
    }
    let root = folder_in_memory();
    let (marker, properties) = (root.path().join("marker"), root.path().join("properties"));
    fs::write(&marker, "").unwrap();
    let pid = run(name, &root, &marker, &[("SILVERPOINT_ATRACE_PROPERTIES", properties.to_str().unwrap())]);
    let found = anonymous(fs::read_to_string(marker).unwrap().lines(), &pid);
    assert_eq!(found, ["B|P|begun", "E|P", "I|P|on again"]);
}
