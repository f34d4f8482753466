//! Loggers whose configuration changes while they run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use silverpoint::{debug, info, warn};
use silverpoint_logger::{Config, Flushed};

use super::{number, start};

/// As log.toml says (and these directives besides), and what standard input says: each word is answered by a line when it is done.
pub fn obey(also: &str) {
    let config = Config::from_file("log.toml").and_then(Config::with_environment);
    let logger = start(config.unwrap().record_also(also).reopen_on_hangup(true));
    println!("ready");
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let answer = match line.split_once(' ').unwrap_or((&line, "")) {
            ("record", text) => {
                debug!("debug {}", text);
                info!("info {}", text);
                warn!("warn {}", text);
                format!("{:?}", logger.flush(Duration::from_secs(300)))
            }
            ("log", text) => {
                info!("info {}", text);
                "done".to_owned()
            }
            ("flush", ms) => format!("{:?}", logger.flush(Duration::from_millis(number(ms)))),
            ("reload", _) => match logger.reload() {
                Ok(done) => format!("{done}"),
                Err(error) => error.to_string(),
            },
            ("reopen", _) => {
                silverpoint_logger::reopen();
                "done".to_owned()
            }
            (word, _) => panic!("{word}"),
        };
        println!("{answer}");
    }
}

/// The configuration changes after it was read, and before the start.
pub fn overtaken(file: &str) {
    let config = Config::from_file("log.toml").unwrap();
    std::fs::write("log.toml", format!("[[sink]]\nto = 'file'\npath = '{file}'\n")).unwrap();
    let logger = start(config);
    let until = Instant::now() + Duration::from_secs(300);
    while !std::fs::exists(file).unwrap() {
        assert!(Instant::now() < until, "the change was missed");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
}

/// Two threads record while the configuration changes all the time.
pub fn restless(rounds: u64) {
    let write = |sinks: &str| {
        std::fs::write("new.toml", sinks).and_then(|()| std::fs::rename("new.toml", "log.toml")).unwrap();
    };
    let whole = |format: &str| {
        format!("[[sink]]\nto = 'file'\npath = 'app.log'\nformat = '{format}'\nflush.every = '1h'\n")
    };
    let part = "[[sink]]\nto = 'file'\npath = 'part.log'\n";
    write(&whole("text"));
    let logger = start(Config::from_file("log.toml").unwrap());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let is_over = &is_over;
            scope.spawn(move || {
                for number in 0..100_000_u64 {
                    info!("thread {} number {}", thread, number);
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    // Not faster than sinks of this build can follow.
                    std::thread::sleep(Duration::from_micros(50));
                }
            });
        }
        for round in 0..rounds {
            let whole = whole(if round % 2 == 0 { "summary" } else { "text" });
            write(&if round % 3 == 0 { whole } else { whole + part });
            assert!(logger.reload().unwrap_or_else(|error| panic!("{error}")));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
}
