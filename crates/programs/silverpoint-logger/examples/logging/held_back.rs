//! Records that wait before they are written: for a flush, or for a worse one.

use std::time::{Duration, Instant};

use silverpoint::{debug, error, info, warn};
use silverpoint_logger::{Config, Flush, Flushed, Level, Sink, Sync};

use super::{number, start};

/// Lines wait for an hour, a MiB, a warning or a flush; a second file says when the records have been read. Prints how many lines there are.
pub fn buffered(file: &str, how: &str) {
    let flush = Flush { every: Duration::from_secs(3600), bytes: 1 << 20, level: Some(Level::Warn) };
    let sink = Sink::file(file).flush(flush).sync(Sync::Level(Level::Error));
    let plain = format!("{file}.plain");
    let logger = start(Config::new("info").sink(sink).sink(Sink::file(&plain)));
    let lines = |file: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        // That a thread waited is a line too.
        text.lines().filter(|line| line.contains("number ")).count()
    };
    let until = |file: &str, wanted: usize| {
        let end = Instant::now() + Duration::from_secs(300);
        while lines(file) < wanted && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    if how != "resume" {
        (0..3).for_each(|number| info!("number {}", number));
        until(&plain, 3);
        std::thread::sleep(Duration::from_millis(100));
        println!("{}", lines(file));
    }
    if how == "die" {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    }
    if how == "live" {
        warn!("number 3");
        until(file, 4);
        println!("{}", lines(file));
        error!("number 4");
        until(file, 5);
        info!("number 5");
        assert_eq!(logger.flush(Duration::from_secs(300)), Flushed::Complete);
        println!("{}", lines(file));
        (6..20_006).for_each(|number| info!("number {} {}", number, "x".repeat(100)));
        until(file, 7);
        println!("{}", lines(file) > 6);
    }
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
    println!("{}", lines(file));
}

/// Keeps back this many records below info until a warning, in a file that is rotated at this size, if
/// any. Does what standard input says, and answers each line when everything is written.
pub fn backtrace(file: &str, records: u64, bytes: u64) {
    let count = usize::try_from(records).unwrap();
    let mut text = Sink::file(file).backtrace(count, Level::Warn);
    if bytes != 0 {
        text = text.rotate(bytes, u32::MAX);
    }
    let config = Config::new("debug")
        .sink(text)
        .sink(Sink::file(format!("{file}.jsonl")).json().level(Level::Warn).backtrace(2, Level::Error));
    let logger = start(config);
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let patience = Duration::from_secs(300);
        let flushed = match words[..] {
            ["debug", from, to] => {
                (number(from)..number(to)).for_each(|number| debug!("number {}", number));
                logger.flush(patience)
            }
            ["info", number] => {
                info!("number {}", number);
                logger.flush(patience)
            }
            ["warn", number] => {
                let _scope = silverpoint::context!(user = "ada");
                warn!("number {}", number);
                logger.flush(patience)
            }
            ["error", number] => {
                error!("number {}", number);
                logger.flush(patience)
            }
            ["dump"] => logger.dump_backtrace(patience),
            ["crash"] => std::process::abort(),
            ["die"] => {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
                unreachable!()
            }
            _ => panic!("{line}"),
        };
        assert_eq!(flushed, Flushed::Complete);
        println!("done");
    }
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
}
