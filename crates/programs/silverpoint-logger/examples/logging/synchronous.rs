//! Functions that are given records by the threads that make them: says what is wrong by a panic.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use silverpoint::{context, debug, error, info, span, warn};
use silverpoint_logger::{Config, Event, Flushed, Logger, ShowContext, Sink, SynchronousHandler, What};

type Told = Arc<Mutex<Vec<String>>>;

pub fn run(file: &str) {
    same_as_later(file);
    chain();
    panics();
    while_threads_record(file);
    println!("done");
}

/// The text of an event, without its time and its place in a file.
fn told(event: &Event<'_>) -> Option<String> {
    let common = format!("{} {:?}", event.tid, event.context.map(|context| context.json()));
    match event.what {
        What::Record { site, args, truncated, .. } => {
            Some(format!("{common} {:?} {args:?} {truncated} {}", site.description, event.ticks))
        }
        What::SpanEnd { site: Some(site), begin_ticks, duration_ns, .. } => Some(format!(
            "{common} {:?} {begin_ticks} {} {}",
            site.description,
            event.ticks,
            duration_ns.is_some()
        )),
        _ => None,
    }
}

fn record_all(at_once: &Told, due: &mut usize) {
    let mut is_there = |count: usize| {
        *due += count;
        let at_once = at_once.lock().unwrap();
        assert_eq!(at_once.len(), *due, "{:?}", at_once.last());
    };
    debug!("plain");
    is_there(1);
    info!(number = 7, "{} of {}", 1_u8, 2.5);
    is_there(1);
    warn!("text {}", "x".repeat(100));
    is_there(1);
    error!("large {}", "y".repeat(20_000));
    is_there(1);
    error!("cut {}", "z".repeat(1_000_000));
    is_there(1);
    {
        let _scope = context!(user = "ada", order = 7);
        info!("in a scope");
        is_there(1);
        let _span = span!("work", size = 3);
        is_there(1);
    }
    is_there(1);
    info!(target: "other", "not for it");
    is_there(0);
}

fn same_as_later(file: &str) {
    let (at_once, later) = (Told::default(), Told::default());
    let (to, thread) = (Arc::clone(&at_once), Arc::new(Mutex::new(None)));
    let by = Arc::clone(&thread);
    let module = module_path!();
    let handler = SynchronousHandler::add(module, move |event| {
        to.lock().unwrap().extend(told(event));
        *by.lock().unwrap() = Some(std::thread::current().id());
        info!("nested");
    })
    .unwrap();
    let to = Arc::clone(&later);
    let sink = Sink::handler(move |event| to.lock().unwrap().extend(told(event)));
    let logger = Logger::start(Config::new("debug").sink(sink).sink(Sink::file(file))).unwrap();
    let mut due = 0;
    record_all(&at_once, &mut due);
    assert_eq!(*thread.lock().unwrap(), Some(std::thread::current().id()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            record_all(&at_once, &mut due);
            assert_eq!(*thread.lock().unwrap(), Some(std::thread::current().id()));
        });
    });
    assert_eq!(logger.flush(Duration::from_secs(300)), Flushed::Complete);
    let mut later = std::mem::take(&mut *later.lock().unwrap());
    let all = later.len();
    later.retain(|told| !told.contains("nested") && !told.contains("not for it"));
    assert_eq!(all - later.len(), due + 2, "what a function records is recorded");
    assert_eq!(later, *at_once.lock().unwrap());
    drop(handler);
    info!("nobody's");
    assert_eq!(at_once.lock().unwrap().len(), due);
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
}

fn chain() {
    let logger = Logger::start(Config::new("info")).unwrap();
    let calls = Arc::new(Mutex::new(String::new()));
    let handler = |name: char| {
        let calls = Arc::clone(&calls);
        SynchronousHandler::add("", move |_| calls.lock().unwrap().push(name)).unwrap()
    };
    let called = || {
        info!("one");
        std::mem::take(&mut *calls.lock().unwrap())
    };
    let (one, two, three) = (handler('1'), handler('2'), handler('3'));
    assert_eq!(called(), "123");
    drop(two);
    assert_eq!(called(), "13");
    drop(three);
    let four = handler('4');
    assert_eq!(called(), "14");
    drop(one);
    assert_eq!(called(), "4");
    drop(four);
    assert_eq!(called(), "");
    assert_eq!(Arc::strong_count(&calls), 1, "what was taken out is dropped");
    assert!(SynchronousHandler::add("net=loud", |_| ()).is_err());
    drop(logger);
}

fn panics() {
    let logger = Logger::start(Config::new("info")).unwrap();
    let count = Arc::new(AtomicU32::new(0));
    let calls = Arc::clone(&count);
    let _failing = SynchronousHandler::add("", move |_| {
        calls.fetch_add(1, Ordering::Relaxed);
        panic!("of a handler");
    });
    info!("one");
    info!("two");
    assert_eq!(count.load(Ordering::Relaxed), 1);
    drop(logger);
}

/// Each thread takes the hot path when the function comes: none of what they begin to record afterwards is missed, nothing is given twice.
fn while_threads_record(file: &str) {
    const THREADS: usize = 4;
    const MORE: u64 = 3000;
    let config = Config { policy: Some("block=forever".into()), ..Config::new("debug") };
    let logger = Logger::start(config.sink(Sink::file(format!("{file}.rush")))).unwrap();
    for _ in 0..3 {
        let given: Arc<[Mutex<Vec<u64>>; THREADS]> = Arc::default();
        let (is_there, running) = (AtomicBool::new(false), AtomicU32::new(0));
        let due = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS as u64)
                .map(|thread| {
                    let (is_there, running) = (&is_there, &running);
                    scope.spawn(move || {
                        let mut number = 0_u64;
                        while !is_there.load(Ordering::SeqCst) {
                            debug!("{} {}", thread, number);
                            running.fetch_or(1 << thread, Ordering::Relaxed);
                            number += 1;
                        }
                        (0..MORE).for_each(|more| debug!("{} {}", thread, number + more));
                        number
                    })
                })
                .collect();
            while running.load(Ordering::Relaxed) != (1 << THREADS) - 1 {
                std::thread::yield_now();
            }
            let to = Arc::clone(&given);
            let handler = SynchronousHandler::add("", move |event| {
                if let What::Record { args, .. } = event.what {
                    let word = |at: usize| u64::from_le_bytes(args[at..at + 8].try_into().unwrap());
                    to[word(0) as usize].lock().unwrap().push(word(8));
                }
            });
            is_there.store(true, Ordering::SeqCst);
            let due: Vec<u64> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            drop(handler);
            due
        });
        for (numbers, due) in given.iter().zip(due) {
            let numbers = numbers.lock().unwrap();
            assert!(numbers[0] <= due && numbers.last() == Some(&(due + MORE - 1)), "{due}");
            assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
        }
    }
    assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
}
