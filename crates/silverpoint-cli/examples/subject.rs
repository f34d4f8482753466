//! The program that the tests trace. What it does is said by its arguments.

use std::io::{BufRead, Write, stdin, stdout};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use silverpoint::{debug, enabled, event, info};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    match words.get(1).map(String::as_str) {
        // count N [THREADS]: so many records by each thread.
        Some("count") => count(number(2), number(3).max(1)),
        // later MS N: nothing, then so many records.
        Some("later") => {
            std::thread::sleep(Duration::from_millis(number(2)));
            count(number(3), 1);
        }
        // tick MS: a record so often, until the end of standard input; says how many there were.
        Some("tick") => tick(Duration::from_millis(number(2))),
        // watch: says when a debug record of the category net would be recorded, and records one.
        Some("watch") => watch(),
        // exec N PROGRAM…: so many records, then another program in this process.
        Some("exec") => {
            count(number(2), 1);
            let error = Command::new(&words[3]).args(&words[4..]).exec();
            panic!("{}: {error}", words[3]);
        }
        // flood N: records into rings that nobody empties, then SIGKILL.
        Some("flood") => {
            count(number(2), 1);
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::KILL);
        }
        other => panic!("subject: unknown command {other:?}"),
    }
}

fn count(records: u64, threads: u64) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for number in 0..records {
                    event!("subject.count", thread, number);
                }
            });
        }
    });
}

fn say(line: &str) {
    println!("{line}");
    let _ = stdout().flush();
}

fn tick(pause: Duration) {
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for _ in stdin().lock().lines() {}
        let _ = sender.send(());
    });
    say("ready");
    let mut number = 0_u64;
    while ended.recv_timeout(pause).is_err() {
        info!(target: "clock", number, "tick {}", number);
        number += 1;
    }
    say(&format!("{number} ticks"));
}

fn watch() {
    say("ready");
    let begun = Instant::now();
    while !enabled!(target: "net", Debug) {
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody switched it on");
        std::thread::sleep(Duration::from_micros(200));
    }
    debug!(target: "net", "seen");
    say("on");
    for _ in stdin().lock().lines() {}
}
