//! The program that the tests trace. Its arguments determine what it does.

use std::io::{BufRead, Write, stdin, stdout};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use silverpoint::dynamic::{self, Description};
use silverpoint::{debug, debug_output, enabled, event, info, span, warn};

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
        // spans N: so many spans, one record within each.
        Some("spans") => {
            for number in 0..number(2) {
                let _span = span!("subject.span", number);
                event!("subject.count", number);
            }
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
        // steps: does what the lines of standard input say, and says when each is done.
        Some("steps") => steps(),
        // shop: the tracepoints of docs/guide/tracegen.md.
        Some("shop") => fire_shop(),
        other => panic!("subject: unknown command {other:?}"),
    }
}

/// As `silverpoint tracegen --rust` makes it.
mod shop {
    include!("../tests/it/tracegen/shop.rs");
}

fn fire_shop() {
    shop::trace_placed(7, shop::Side::sell, 101.25, "Ada");
    shop::trace_filled(7, &[0.5, 1.5], Some("XETR"), shop::Mode::read | shop::Mode::write);
    shop::trace_filled(8, &[], None, shop::Mode::read);
    if shop::trace_idle_enabled() {
        shop::trace_idle();
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
        assert!(begun.elapsed() < Duration::from_secs(120), "nobody switched it on");
        std::thread::sleep(Duration::from_micros(200));
    }
    debug!(target: "net", "seen");
    say("on");
    for _ in stdin().lock().lines() {}
}

fn steps() {
    say("ready");
    for line in stdin().lock().lines().map_while(Result::ok) {
        let (step, number) = line.split_once(' ').unwrap_or((&line, "1"));
        let number: u64 = number.parse().expect("a number");
        match step {
            // So many records, in this thread.
            "count" => (0..number).for_each(|n| event!("subject.count", n)),
            // So many warnings.
            "warn" => (0..number).for_each(|n| warn!("subject.warn {}", n)),
            // So many texts as debug output.
            "debug" => (0..number).for_each(|n| debug_output!(format!("debug {n}\n"))),
            // So many threads at once, each with one record that is as large as a small ring takes.
            "threads" => threads(number),
            // A record of so many texts, none of which can be left out.
            "texts" => event!("subject.texts", texts = vec!["0123456789".repeat(10); number as usize]),
            // A record within a record, so deep.
            "nest" => nest(site("subject.nest"), number),
            // A record that takes so many milliseconds to write.
            "slow" => write_slowly(site("subject.slow"), number),
            // So many MiB more of memory, until the end.
            "memory" => {
                let memory = vec![0u8; number as usize * (1 << 20)].leak();
                memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
            }
            other => panic!("subject: unknown step {other}"),
        }
        say("done");
    }
}

fn threads(number: u64) {
    let barrier = std::sync::Barrier::new(number as usize);
    std::thread::scope(|scope| {
        for thread in 0..number {
            let barrier = &barrier;
            scope.spawn(move || {
                event!("subject.thread", thread, text = "x".repeat(200));
                // All are alive at once: none leaves its ring to another.
                barrier.wait();
            });
        }
    });
}

/// A site with one number, whose records are written as no record of a program is: with something in between.
fn site(name: &str) -> u32 {
    let description = Description {
        kind: 2,
        level: 2,
        line: line!(),
        language: 2,
        category: module_path!(),
        file: file!(),
        function: "",
        names: &|give| give(b"value\n"),
        template: &|give| give(name.as_bytes()),
        signature: &|give| give(b"L"),
    };
    dynamic::register(&description).id
}

/// A record within a record, so deep. as if signal handlers had interrupted each other.
fn nest(site: u32, depth: u64) {
    let _ = dynamic::record_short(2, site, |encoder| {
        if depth > 0 {
            nest(site, depth - 1);
        }
        encoder.u64(depth);
    });
}

/// A record that takes so many milliseconds to write: as if its thread had been put aside.
fn write_slowly(site: u32, ms: u64) {
    let _ = dynamic::record_short(2, site, |encoder| {
        std::thread::sleep(Duration::from_millis(ms));
        encoder.u64(ms);
    });
}
