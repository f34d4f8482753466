//! Records that are kept back until a bad one comes: which are written, when, and that none is written twice,
//! no matter which process dies.

use std::io::{Read, Write};

use crate::harness::{Scratch, numbers};

/// Lets the program do what the lines say; with `die` at the end it is killed, with `crash` it aborts.
fn obey(scratch: &Scratch, records: &str, lines: &[&str]) {
    obey_rotated(scratch, records, "0", lines);
}

/// The same with a file that is rotated at so many bytes.
fn obey_rotated(scratch: &Scratch, records: &str, bytes: &str, lines: &[&str]) {
    let mut running = scratch.logging(["backtrace", records, bytes]).spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let (mut out, mut err) = (String::new(), String::new());
    running.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    running.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    let died = matches!(lines.last(), Some(&"die" | &"crash"));
    assert_eq!(running.wait().unwrap().success(), !died, "{err}");
    assert_eq!(out.lines().count(), lines.len() - usize::from(died), "{out}{err}");
}

/// The numbers in the file, those of a backtrace negative.
fn came_out(scratch: &Scratch) -> Vec<i64> {
    came_out_of(&scratch.read("app.log"))
}

fn came_out_of(text: &str) -> Vec<i64> {
    // A program that outruns the sinks has waited, which is a line too.
    let records = text.lines().filter(|line| !line.contains(" for room in the ring"));
    let marked = records.map(|line| line.contains(" [backtrace] number "));
    let all = numbers(text).into_iter().zip(marked);
    all.map(|(number, is_marked)| if is_marked { -(number as i64) } else { number as i64 }).collect()
}

#[test]
fn the_last_ones_come_out_before_a_warning() {
    let scratch = Scratch::new();
    obey(
        &scratch,
        "3",
        &["debug 1 11", "info 11", "debug 12 13", "warn 13", "debug 14 15", "error 15", "debug 16 20"],
    );
    assert_eq!(came_out(&scratch), [11, -9, -10, -12, 13, -14, 15]);
    let text = scratch.read("app.log");
    assert!(text.contains("number 13 {user=ada}") && !text.contains("number 12 {"), "{text}");
    // The other file keeps back what is below a warning, and lets it out before an error.
    let json = scratch.read("app.log.jsonl");
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let said: Vec<_> =
        lines.iter().map(|line| (line["args"][0].as_u64(), line["backtrace"] == true)).collect();
    let expected = [("13", false), ("12", true), ("14", true), ("15", false)];
    let messages: Vec<_> = lines.iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect();
    assert_eq!(messages, expected.map(|(number, _)| format!("number {number}")), "{said:?}");
    assert_eq!(said.iter().map(|(_, held)| *held).collect::<Vec<_>>(), expected.map(|(_, held)| held));
    // A clean end forgets what was kept back.
    assert_eq!(scratch.names(), ["app.log", "app.log.jsonl"]);
}

#[test]
fn they_come_out_on_demand() {
    let scratch = Scratch::new();
    obey(&scratch, "3", &["debug 1 3", "dump", "info 3", "dump", "debug 4 5", "dump"]);
    assert_eq!(came_out(&scratch), [-1, -2, 3, -4]);
}

/// What was kept back when the process died was not written: its successors keep it back again, and nothing comes out twice.
#[test]
fn successors_of_the_dead_keep_them_back_again() {
    let scratch = Scratch::new();
    obey(&scratch, "100", &["debug 1 3", "info 3", "debug 4 6", "info 6", "debug 7 8", "die"]);
    assert_eq!(came_out(&scratch), [3, 6]);
    obey(&scratch, "100", &["info 8", "debug 9 10", "die"]);
    assert_eq!(came_out(&scratch), [3, 6, 8]);
    obey(&scratch, "100", &["die"]);
    obey(&scratch, "100", &["info 10", "warn 11", "debug 12 14", "info 14", "die"]);
    let all = [3, 6, 8, 10, -1, -2, -4, -5, -7, -9, 11, 14];
    assert_eq!(came_out(&scratch), all);
    obey(&scratch, "100", &["dump"]);
    assert_eq!(came_out(&scratch), [&all[..], &[-12, -13]].concat());
}

/// Kept records belong to the log, not to one of its files: they are written to the file of the day, also by
/// a successor.
#[test]
fn they_come_out_behind_rotations_once() {
    let scratch = Scratch::new();
    let infos: Vec<String> = (100..200).map(|number| format!("info {number}")).collect();
    let infos: Vec<&str> = infos.iter().map(String::as_str).collect();
    let lines = [&["debug 1 100"][..], &infos, &["debug 200 210", "die"]].concat();
    obey_rotated(&scratch, "60", "4096", &lines);
    let whole = || {
        let mut names = scratch.names();
        names.retain(|name| name.starts_with("app.") && name.ends_with(".log"));
        let age = |name: &str| name.split('.').nth(1).unwrap().parse::<u32>().unwrap_or(0);
        names.sort_by_key(|name| std::cmp::Reverse(age(name)));
        (names.len(), names.iter().map(|name| scratch.read(name)).collect::<String>())
    };
    let (files, text) = whole();
    assert!(files > 2, "{:?}", scratch.names());
    let mut expected: Vec<i64> = (100..200).collect();
    assert_eq!(came_out_of(&text), expected);
    obey_rotated(&scratch, "60", "4096", &["warn 210", "debug 211 213", "info 213", "error 214"]);
    expected.extend((50..100).chain(200..210).map(|number| -number));
    expected.extend([210, 213, -211, -212, 214]);
    let (later, text) = whole();
    assert!(later > files, "what came out fills files, too");
    assert_eq!(came_out_of(&text), expected);
}

#[test]
fn a_crash_brings_them_out() {
    let scratch = Scratch::new();
    obey(&scratch, "3", &["debug 1 3", "info 3", "debug 4 9", "crash"]);
    let crash = |text: &str| text.lines().filter(|line| line.contains("silverpoint.crash")).count();
    // A machine that was too busy to be waited for has left something to the next start.
    obey(&scratch, "3", &[]);
    let text = scratch.read("app.log");
    let at = text.find("silverpoint.crash").unwrap_or_else(|| panic!("{text}"));
    let before = &text[..text[..at].rfind('\n').unwrap() + 1];
    assert_eq!((came_out_of(before), crash(&text)), (vec![3, -6, -7, -8], 1), "{text}");
    assert_eq!(text.matches(" number ").count(), 4, "{text}");
}

/// With another number, or none at all, what was kept back goes no other ways.
#[test]
fn successors_may_keep_back_fewer() {
    let scratch = Scratch::new();
    obey(&scratch, "100", &["debug 1 9", "info 9", "debug 10 12", "die"]);
    obey(&scratch, "4", &["warn 12"]);
    assert_eq!(came_out(&scratch), [9, -7, -8, -10, -11, 12]);
}

/// Far more than is kept: memory and spool stay bounded, and what is kept is the last.
#[test]
fn a_long_run_of_details_is_forgotten() {
    let scratch = Scratch::new();
    obey(&scratch, "1000", &["debug 1 2", "info 2", "debug 3 300000", "warn 300000"]);
    let expected: Vec<i64> = [2].into_iter().chain((299_000..300_000).map(|n| -n)).chain([300_000]).collect();
    let found = came_out(&scratch);
    assert!(found == expected, "{} numbers, from {:?} to {:?}", found.len(), found.get(..3), found.last());
}
