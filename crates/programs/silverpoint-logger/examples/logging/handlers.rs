//! Functions of the program's that are given records by the logger's threads.
// Only the tests of this repository run it, and they need a newer Rust anyway.
#![allow(clippy::incompatible_msrv)]

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use silverpoint::{info, warn};
use silverpoint_logger::{Config, Flushed, Level, Logger, Sink, What};

use crate::start;

const PATIENCE: Duration = Duration::from_secs(300);

/// What it is given.
pub fn unformatted(file: &str) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let handler = Sink::handler(move |event| {
        if let What::Record { site, args, .. } = event.what {
            let template = site.description.template.clone();
            log.lock().unwrap().push((template, site.types.len(), args.len()));
        }
    });
    let logger = start(Config::new("info").sink(handler.level(Level::Warn)).sink(Sink::file(file)));
    info!("one {}", 1);
    warn!("two {} {}", 2_u64, 2.5);
    assert_eq!(logger.flush(PATIENCE), Flushed::Complete);
    println!("{:?}", seen.lock().unwrap());
}

/// One that panics with its second record, beside a file.
pub fn panics(file: &str) {
    let mut given = 0;
    let handler = Sink::handler(move |_| {
        given += 1;
        println!("{given}");
        assert_ne!(given, 2, "the second");
    });
    let logger = start(Config::new("info").sink(handler).sink(Sink::file(file)));
    for number in 0..10 {
        info!("number {}", number);
        assert_eq!(logger.flush(PATIENCE), Flushed::Complete, "a sink that has ended is not waited for");
    }
    assert_eq!(logger.stop(PATIENCE), Flushed::Complete);
}

/// One that flushes, without an end: what it waits for must not be itself.
pub fn flushes(file: &str) {
    let (outcomes, all) = channel();
    let known: Arc<OnceLock<Logger>> = Arc::default();
    let own = Arc::clone(&known);
    let path = file.to_owned();
    let handler = Sink::handler(move |_| {
        let outcome = own.wait().flush(Duration::MAX);
        outcomes.send((outcome, std::fs::read_to_string(&path).unwrap().lines().count())).unwrap();
    });
    let logger = known.get_or_init(|| start(Config::new("info").sink(handler).sink(Sink::file(file))));
    for _ in 0..3 {
        info!("told");
        println!("{:?}", all.recv_timeout(PATIENCE));
        assert_eq!(logger.flush(PATIENCE), Flushed::Complete);
    }
    assert_eq!(logger.end(PATIENCE), Flushed::Complete);
}

/// One that ends its logger.
pub fn ends(file: &str) {
    let (outcomes, all) = channel();
    let known: Arc<OnceLock<Logger>> = Arc::default();
    let own = Arc::clone(&known);
    let handler = Sink::handler(move |_| outcomes.send(own.wait().end(Duration::MAX)).unwrap());
    let logger = known.get_or_init(|| start(Config::new("info").sink(handler).sink(Sink::file(file))));
    info!("told");
    println!("{:?} {:?}", all.recv_timeout(PATIENCE), logger.end(PATIENCE));
}
