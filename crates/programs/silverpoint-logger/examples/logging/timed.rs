//! How long single calls take, while sinks cannot keep up.

use std::time::{Duration, Instant};

use silverpoint::{info, warn};
use silverpoint_logger::{Config, Flushed, Logger};

/// So many records for each line of standard input, each time with the milliseconds that the longest call of them took. The end waits so long for the sinks.
pub fn run(config: &str, count: u64) {
    let logger = Logger::start(Config::from_file(config).unwrap()).unwrap();
    let mut next = 0_u64;
    for _ in std::io::stdin().lines() {
        let mut longest = Duration::ZERO;
        for _ in 0..count {
            let begun = Instant::now();
            info!("number {}", next);
            longest = longest.max(begun.elapsed());
            next += 1;
        }
        println!("{}", longest.as_millis());
    }
    println!("{}", logger.stop(Duration::from_secs(300)) == Flushed::Complete);
}

/// Of three levels and two categories.
pub fn different(config: &str) {
    let logger = Logger::start(Config::from_file(config).unwrap()).unwrap();
    for number in 0..200_u64 {
        info!(target: "net", number, "sent {}", number);
        warn!(target: "disk", number, "stored {}", number);
    }
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
}
