//! Each record once, whoever dies and when.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

use crate::harness::{Scratch, numbers};

#[test]
fn stopping_and_starting_goes_on_in_the_same_file() {
    let scratch = Scratch::new();
    scratch.run(["again", "5"]);
    let text = scratch.read("app.log");
    let rounds: Vec<&str> = text.lines().map(|line| line.split("round ").nth(1).unwrap()).collect();
    assert_eq!(rounds.len(), 5, "{text}");
    scratch.run(["count", "3"]);
    assert_eq!(scratch.read("app.log").lines().count(), 8);
    assert_eq!(scratch.names(), ["app.log"]);
}

/// Killed at any moment: the next start delivers what the dead process had recorded, in order, each record once.
#[test]
fn killed_programs_lose_nothing_and_repeat_nothing() {
    let rounds: u64 = std::env::var("SILVERPOINT_KILL_ROUNDS").map_or(8, |rounds| rounds.parse().unwrap());
    // Times that are spread, not random: the moments within the program's work are random enough.
    for round in 0..rounds {
        let scratch = Scratch::new();
        let mut running = scratch.logging(["flood"]).spawn().unwrap();
        let mut out = BufReader::new(running.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        std::thread::sleep(Duration::from_micros(300 + round * 7919 % 30_000));
        running.kill().unwrap();
        running.wait().unwrap();
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        let told = format!("{line}{rest}");
        // The last line may have been cut by the kill.
        let told: u64 = told.lines().rev().nth(1).or(told.lines().next()).unwrap().parse().unwrap();
        scratch.run(["resume"]);
        let found = numbers(&scratch.read("app.log"));
        assert!(found.len() as u64 > told, "round {round}: {} of at least {}", found.len(), told + 1);
        let wrong = found.iter().zip(0..).find(|(found, expected)| **found != *expected);
        assert_eq!(wrong, None, "round {round}: of {} records", found.len());
        let json = scratch.read("app.log.jsonl");
        let objects = json.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let json: Vec<u64> = objects.filter_map(|object| object["args"]["number"].as_u64()).collect();
        assert_eq!(json, found, "round {round}: JSON");
        assert_eq!(scratch.names(), ["app.log", "app.log.jsonl"], "round {round}");
        assert!(scratch.sessions() <= 1, "round {round}: only that of the last process");
    }
}

#[test]
fn two_processes_that_name_the_same_file_get_a_file_each() {
    let scratch = Scratch::new();
    let mut first = scratch.logging(["hold"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "holding\n");
    let (_, err) = scratch.run(["count", "3"]);
    assert!(err.contains("app-2.log"), "{err}");
    assert_eq!(numbers(&scratch.read("app-2.log")), [0, 1, 2]);
    assert_eq!(scratch.read("app.log").lines().count(), 1);
    first.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(first.wait().unwrap().success());
    // Then the name is free again.
    scratch.run(["count", "3"]);
    assert_eq!(scratch.read("app.log").lines().count(), 4);
    assert_eq!(scratch.names(), ["app-2.log", "app.log"]);
}
