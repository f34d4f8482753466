//! A program that logs, for the tests: `logging FILE count N`, `flood`, `resume`, `threads T N`, `levels`, `again N`, `hold`, `init`, `full`.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use silverpoint::{context, debug, error, info, span, warn};
use silverpoint_logger::{Boundary, Config, Flushed, Level, Logger, Sink, text};
use silverpoint_render::time::Style;

#[path = "logging/changed.rs"]
mod changed;
#[path = "logging/configured.rs"]
mod configured;
#[path = "logging/handlers.rs"]
mod handlers;
#[path = "logging/held_back.rs"]
mod held_back;
#[path = "logging/synchronous.rs"]
mod synchronous;
#[path = "logging/timed.rs"]
mod timed;

/// Records that a program makes which is to be killed. The first come as fast as it goes, the others so that it still has work however late the kill comes.
const FLOOD: std::ops::Range<u64> = 0..600_000;
/// So many of them as fast as it goes; then so many a millisecond.
const BURST: u64 = 100_000;
const PACE: u64 = 20;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [file, "count", count] => {
            let logger = start(Config::new("info").sink(Sink::file(file)));
            (0..number(count)).for_each(|number| info!("number {}", number));
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [file, "closed"] => changed::closed(file),
        [file, "dropped", what] => changed::dropped(file, what),
        // Until it is killed; says now and then how far it is.
        [file, "flood"] => {
            let _logger = start(
                Config::new("info").sink(Sink::file(file)).sink(Sink::file(format!("{file}.jsonl")).json()),
            );
            let mut out = std::io::stdout();
            for number in FLOOD {
                info!("number {}", number);
                if number % 100 == 0 {
                    let _ = writeln!(out, "{number}").and_then(|()| out.flush());
                }
                if number > BURST && number % PACE == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            panic!("nobody has killed it");
        }
        // The same into a file that is rotated often and whose old files are compressed; on request it ends,
        // and flushes first.
        [file, "rotating", count] => {
            let logger = start(rotating(file));
            let mut out = std::io::stdout();
            for number in 0..number(count) {
                info!("number {}", number);
                if number % 100 == 0 {
                    let _ = writeln!(out, "{number}").and_then(|()| out.flush());
                }
            }
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [file, "resume-rotating"] => {
            assert_eq!(start(rotating(file)).stop(Duration::from_secs(300)), Flushed::Complete);
        }
        // A file that is rotated at midnight.
        [file, "daily"] => {
            let sink = Sink::file(file).rotate_at(Boundary::Day, 5);
            let logger = start(Config::new("info").sink(sink));
            info!("today");
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [_, "obey", also] => configured::obey(also),
        [file, "overtaken"] => configured::overtaken(file),
        // How often its other threads wake up in how many milliseconds, while nothing is recorded; as log.toml says.
        [_, "idle"] => {
            let logger = start(Config::from_file("log.toml").unwrap());
            info!("one");
            assert_eq!(logger.flush(Duration::from_secs(300)), Flushed::Complete);
            let own = std::process::id().to_string();
            let switches = || -> u64 {
                let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
                let others = tasks.filter(|task| task.file_name().to_str() != Some(&own));
                let texts =
                    others.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
                let count = |text: String| {
                    let line = text.lines().find(|line| line.starts_with("voluntary_ctxt_switches:"))?;
                    line.split_whitespace().nth(1)?.parse::<u64>().ok()
                };
                texts.filter_map(count).sum()
            };
            // What came is written, and nothing waits for more.
            std::thread::sleep(Duration::from_secs(1));
            let (since, before) = (Instant::now(), switches());
            std::thread::sleep(Duration::from_secs(3));
            let count = switches() - before;
            println!("{count} {}", since.elapsed().as_millis());
        }
        // Prints and records on both streams at once: lines that begin with a word and end with `end`, short and long ones.
        [_, "noisy", count] => {
            let plain =
                |sink: Sink| sink.text(text::Options { pattern: pattern(), ..text::Options::default() });
            let logger = start(Config::new("info").sink(plain(Sink::stdout())).sink(plain(Sink::stderr())));
            let count = number(count);
            let long = |number: u64| "x".repeat((number * 37 % 500) as usize);
            std::thread::scope(|scope| {
                scope.spawn(|| (0..count).for_each(|number| println!("out {number} {} end", long(number))));
                // In several calls.
                scope.spawn(|| (0..count).for_each(|number| eprintln!("err {number} {} end", long(number))));
                // In halves: the first is still in the program when others write.
                scope.spawn(|| {
                    for number in 0..count {
                        let mut out = std::io::stdout().lock();
                        write!(out, "half {number} ").and_then(|()| writeln!(out, "end")).unwrap();
                    }
                });
                scope.spawn(|| (0..count).for_each(|number| info!("log {} {} end", number, long(number))));
            });
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [_, "restless", rounds] => configured::restless(number(rounds)),
        [file, "buffered", how] => held_back::buffered(file, how),
        [file, "backtrace", records, bytes] => held_back::backtrace(file, number(records), number(bytes)),
        // Delivers what a killed one has left.
        [file, "resume"] => assert_eq!(start(both(file)).stop(Duration::from_secs(300)), Flushed::Complete),
        // Text and a trace file beside each other, of several threads with names, contexts and spans; says how far the first is.
        [file, "traced", bytes, threads, count] => {
            let logger = start(traced(file, number(bytes)));
            std::thread::scope(|scope| {
                for thread in 0..number(threads) {
                    let body = move || traced_thread(thread, number(count));
                    let named = std::thread::Builder::new().name(format!("worker {thread}"));
                    named.spawn_scoped(scope, body).unwrap();
                }
            });
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [file, "resume-traced", bytes] => {
            assert_eq!(start(traced(file, number(bytes))).stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [file, "threads", threads, count] => {
            let sink = Sink::file(file).rotate(32 << 10, 1000);
            let logger = start(Config::new("info").sink(sink));
            std::thread::scope(|scope| {
                for thread in 0..number(threads) {
                    scope.spawn(move || {
                        (0..number(count)).for_each(|number| info!("thread {} number {}", thread, number))
                    });
                }
            });
            assert_eq!(logger.flush(Duration::from_secs(300)), Flushed::Complete);
            // Everything is out before the logger ends.
            println!("flushed");
            drop(logger);
        }
        [file, "levels"] => {
            let logger = start(
                Config::new("debug")
                    .sink(Sink::stderr().level(Level::Warn))
                    .sink(Sink::stdout().level(Level::Error).json())
                    .sink(Sink::file(file)),
            );
            debug!(user = 7, "one");
            info!("two");
            warn!("three\nlines");
            error!(code = 4, "four");
            drop(logger);
            error!("five: without a listener");
        }
        // Starts and stops several times; on request keeps the first process's files busy for a while.
        [file, "again", rounds] => {
            for round in 0..number(rounds) {
                let logger = start(Config::new("info").sink(Sink::file(file)));
                info!("round {}", round);
                assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
            }
        }
        // Many records in several threads that come and go, through text, JSON and rotation. Prints the
        // memory after each quarter, in KiB, and the contents of the spool.
        [file, "soak", count] => {
            let logger = start(
                Config::new("info")
                    .sink(Sink::file(file).rotate(1 << 20, 2))
                    .sink(Sink::file(format!("{file}.jsonl")).json().rotate(1 << 20, 2)),
            );
            for _ in 0..4 {
                for _ in 0..8 {
                    std::thread::scope(|scope| {
                        for thread in 0..2_u64 {
                            let share = number(count) / 64;
                            scope.spawn(move || (0..share).for_each(|n| info!(thread, "number {}", n)));
                        }
                    });
                }
                assert_eq!(logger.flush(Duration::from_secs(600)), Flushed::Complete);
                println!("{}", resident_kib());
            }
            // The collector's thread removes what the sinks have read.
            let spool = || {
                let parts = std::fs::read_dir(format!("{file}.spool")).unwrap().flatten();
                parts.map(|part| part.metadata().map_or(0, |found| found.len())).sum::<u64>()
            };
            let until = std::time::Instant::now() + Duration::from_secs(300);
            while spool() > 32 << 20 && std::time::Instant::now() < until {
                std::thread::sleep(Duration::from_millis(10));
            }
            println!("{}", spool());
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        // What is recorded while no logger runs is kept, from the first `keep` on.
        [file, "keep"] => {
            debug!("never");
            silverpoint_logger::keep("info").unwrap();
            info!("before");
            debug!("below");
            let logger = start(Config::new("debug").sink(Sink::file(file)));
            debug!("first");
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
            info!("between");
            assert!(silverpoint_logger::has_kept());
            let logger = start(Config::new("debug").sink(Sink::file(file)));
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
            assert!(!silverpoint_logger::has_kept());
            silverpoint_logger::keep("off").unwrap();
            info!("off");
        }
        [file, "hold"] => {
            let logger = start(Config::new("info").sink(Sink::file(file)));
            info!("held by {}", std::process::id());
            let _ = logger.flush(Duration::from_secs(300));
            println!("holding");
            let _ = std::io::stdin().read_line(&mut String::new());
        }
        // Has so much memory that its end takes time.
        [file, "heavy", mib] => {
            let mut memory = vec![0u8; number(mib) as usize * (1 << 20)];
            memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
            let logger = start(Config::new("info").sink(Sink::file(file)));
            info!("number 0");
            let _ = logger.flush(Duration::from_secs(300));
            info!("number 1");
            println!("holding");
            let _ = std::io::stdin().read_line(&mut String::new());
            assert_eq!(std::hint::black_box(memory).last(), Some(&0));
        }
        // As the environment says.
        [_, "init"] => {
            let _logger = silverpoint_logger::init().unwrap_or_else(|error| panic!("{error}"));
            debug!("one");
            info!("two");
            error!("three");
        }
        // As a file says: records with fields, among them one that no datagram holds.
        [_, "from", config, "fields"] => {
            let logger = start(Config::from_file(config).unwrap());
            warn!(user = 7, text = "two\nlines", priority = 1, "hello");
            info!(long = "x".repeat(250_000).as_str(), "long");
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        // As a file says: so many records for each line of its input, each time said when they are recorded.
        [_, "from", config, "steps", count] => {
            let logger = start(Config::from_file(config).unwrap());
            let mut next = 0_u64;
            for _ in std::io::stdin().lines() {
                for _ in 0..number(count) {
                    info!("number {}", next);
                    next += 1;
                }
                println!("done");
            }
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [_, "from", config, "timed", count] => timed::run(config, number(count)),
        [_, "from", config, "different"] => timed::different(config),
        // As `steps`, with records of 200,000 bytes, so that few of them fill a spool.
        [_, "from", config, "bulk", count] => {
            let logger = start(Config::from_file(config).unwrap());
            let bulk = "x".repeat(200_000);
            let mut next = 0_u64;
            for _ in std::io::stdin().lines() {
                for _ in 0..number(count) {
                    info!(bulk = bulk.as_str(), "number {}", next);
                    next += 1;
                }
                let _ = logger.flush(Duration::ZERO);
                println!("done");
            }
            println!("{:?}", logger.stop(Duration::from_secs(300)));
        }
        // A handler that sleeps until it may continue, beside a file that gets everything meanwhile.
        [file, "sleeper", count] => {
            let (wake, sleep) = std::sync::mpsc::channel::<()>();
            let seen = Arc::new(Mutex::new(0_u64));
            let log = Arc::clone(&seen);
            let handler = Sink::handler(move |_| {
                // Fails on request, and continues at once from then on.
                let _ = sleep.recv();
                *log.lock().unwrap() += 1;
            });
            let logger = start(Config::new("info").sink(handler).sink(Sink::file(file)));
            (0..number(count)).for_each(|number| info!("number {}", number));
            flush_all_but_one(&logger);
            println!("{} {}", std::fs::read_to_string(file).unwrap().lines().count(), seen.lock().unwrap());
            drop(wake);
            assert_eq!(logger.flush(Duration::from_secs(300)), Flushed::Complete);
            println!("{}", seen.lock().unwrap());
        }
        // The effect of SIGHUP while a logger handles it, and when none does any more.
        [file, "hangup"] => {
            let own = rustix::process::getpid();
            for _ in 0..2 {
                let logger = start(Config::new("info").sink(Sink::file(file)).reopen_on_hangup(true));
                rustix::process::kill_process(own, rustix::process::Signal::HUP).unwrap();
                info!("lives");
                assert_eq!(logger.end(Duration::from_secs(300)), Flushed::Complete);
            }
            println!("ended");
            rustix::process::kill_process(own, rustix::process::Signal::HUP).unwrap();
            println!("lives for ever");
        }
        // Beside a file, a handler that counts the arguments of what it is given.
        [file, "handler"] => handlers::unformatted(file),
        [file, "handler-panics"] => handlers::panics(file),
        [file, "handler-flushes"] => handlers::flushes(file),
        [file, "handler-ends"] => handlers::ends(file),
        // Functions that are given records at once, beside one that is given them later.
        [file, "synchronous"] => synchronous::run(file),
        // Flushes for ever into a file that cannot be written, while the logger is ended.
        [file, "flush"] => {
            let config = Config { spool: Some(format!("{file}.spools").into()), ..Config::new("info") };
            let logger = Arc::new(start(config.sink(Sink::file("/dev/full"))));
            info!("one");
            let other = Arc::clone(&logger);
            let flushing = std::thread::spawn(move || other.flush(Duration::MAX));
            std::thread::sleep(Duration::from_millis(50));
            println!("{:?}", logger.end(Duration::from_millis(50)));
            println!("{:?}", flushing.join().unwrap());
            println!("{:?}", logger.flush(Duration::MAX));
        }
        // Which signals its threads take.
        [file, "signals"] => {
            let _logger = start(Config::new("info").sink(Sink::file(file)));
            let masks = std::fs::read_dir("/proc/self/task").unwrap().flatten().filter_map(|task| {
                let status = std::fs::read_to_string(task.path().join("status")).ok()?;
                let line = |name: &str| status.lines().find(|line| line.starts_with(name)).map(str::to_owned);
                Some((line("Name:")?, line("SigBlk:")?))
            });
            for (name, blocked) in masks {
                println!("{name} {blocked}");
            }
        }
        // Two loggers with one file.
        [file, "twice"] => {
            let first = start(Config::new("info").sink(Sink::file(file)));
            let second = Logger::start(Config::new("info").sink(Sink::file(file)));
            println!("{}", second.err().unwrap());
            info!("number 0");
            assert_eq!(first.stop(Duration::from_secs(300)), Flushed::Complete);
            let third = start(Config::new("info").sink(Sink::file(file)));
            info!("number 1");
            assert_eq!(third.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        // Two loggers with a file each: the second's is beside the first's.
        [file, "two"] => {
            let first = start(Config::new("info").sink(Sink::file(file)));
            let second = start(Config::new("info").sink(Sink::file(format!("{file}.other"))));
            info!("number 0");
            for logger in [&first, &second] {
                assert_eq!(logger.flush(Duration::from_secs(300)), Flushed::Complete);
            }
            assert_eq!(first.stop(Duration::from_secs(300)), Flushed::Complete);
            assert_eq!(second.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [file, "refused"] => {
            let failed =
                Logger::start(Config::new("info").sink(Sink::file(file)).sink(Sink::file("missing/b.log")));
            let mut evaluated = false;
            info!("never {}", {
                evaluated = true;
                1
            });
            println!("{} {evaluated}", failed.is_err());
        }
        // A sink that fails beside one that works.
        [file, "full"] => {
            let config = Config { spool: Some(format!("{file}.spool").into()), ..Config::new("info") };
            let logger = start(config.sink(Sink::file("/dev/full")).sink(Sink::file(file)));
            (0..1000).for_each(|number| info!("number {}", number));
            flush_all_but_one(&logger);
            let text = std::fs::read_to_string(file).unwrap();
            println!("{}", text.lines().count());
            // How many have said so by then is a matter of the machine.
            assert_ne!(logger.stop(Duration::from_millis(300)), Flushed::Complete);
        }
        _ => panic!("logging: unknown command {words:?}"),
    }
}

fn pattern() -> Option<text::Pattern> {
    Some(text::Pattern::parse("{message}").unwrap())
}

fn start(config: Config) -> Logger {
    Logger::start(config).unwrap_or_else(|error| panic!("{error}"))
}

/// Until a single sink is late; a busy machine may need more than one attempt.
fn flush_all_but_one(logger: &Logger) {
    let is_met = (0..60).any(|_| match logger.flush(Duration::from_secs(1)) {
        Flushed::Late { sinks } => sinks == 1,
        other => panic!("{other:?}"),
    });
    assert!(is_met, "more sinks than one are late");
}

fn rotating(file: &str) -> Config {
    Config::new("info").sink(Sink::file(file).rotate(128 << 10, u32::MAX).compress(1))
}

/// Text and a trace file of the same records; the latter is rotated at a size, unless that is 0.
fn traced(file: &str, bytes: u64) -> Config {
    let options = text::Options { time: Style::None, process: false, ..text::Options::default() };
    let trace = Sink::trace_file(format!("{file}.silver")).level(Level::Info);
    let trace = if bytes > 0 { trace.rotate(bytes, u32::MAX) } else { trace };
    Config::new("debug").sink(Sink::file(file).level(Level::Info).text(options)).sink(trace)
}

fn traced_thread(thread: u64, count: u64) {
    let mut out = std::io::stdout();
    // One thread says at its beginning what holds to its end, and nothing after that.
    let _whole = (thread == 1).then(|| context!(whole = "thread"));
    for request in 0..count {
        let _fields = (thread != 1 && request % 3 > 0).then(|| context!(request = request, of = "somebody"));
        debug!("left out {}", "x".repeat((request * 37 % 300) as usize));
        info!("thread {} number {}", thread, 2 * request);
        let _span = span!(level: info, "work", request);
        debug!("left out as well");
        warn!("thread {} number {}", thread, 2 * request + 1);
        if thread == 0 && request % 50 == 0 {
            let _ = writeln!(out, "{}", 2 * request + 1).and_then(|()| out.flush());
        }
    }
}

/// Text and JSON of the same records.
fn both(file: &str) -> Config {
    Config::new("info").sink(Sink::file(file)).sink(Sink::file(format!("{file}.jsonl")).json())
}

/// What the process has in memory.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    number(line.trim_end_matches("kB").trim())
}

fn number(word: &str) -> u64 {
    word.parse().unwrap()
}
