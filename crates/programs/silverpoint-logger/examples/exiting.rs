//! A program that ends without dropping its logger, for the tests: `exiting FILE WAY`. Standard error and the file are its sinks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use silverpoint::{error, info};
use silverpoint_logger::{Config, Logger, Sink};

static LOGGER: OnceLock<Mutex<Option<Logger>>> = OnceLock::new();

/// Registered before the logger starts, so called after it has ended.
extern "C" fn too_late() {
    info!("too late");
}

/// Registered after the logger has started, so called while it runs.
extern "C" fn in_time() {
    info!("in an exit hook");
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, way] = &words[..] else { panic!("exiting: FILE WAY") };
    assert!(silverpoint_shm::exit::at_exit(too_late));
    let mut config = Config::new("info").sink(Sink::stderr()).sink(Sink::file(file));
    if way == "within-sink" {
        config = config.sink(Sink::handler(|_| std::process::exit(3)));
    }
    if let Some(crash) = &mut config.crash {
        // A machine may be busy with other tests.
        crash.wait = Duration::from_secs(50);
    }
    let logger = Logger::start(config).unwrap_or_else(|error| panic!("{error}"));
    for number in 0..50 {
        info!("number {}", number);
    }
    error!("last");
    match way.as_str() {
        "exit" | "within-sink" => {}
        "exit-hook" => assert!(silverpoint_shm::exit::at_exit(in_time)),
        "exit-of-thread" => std::thread::spawn(|| std::process::exit(3)).join().unwrap(),
        "static" => {
            *LOGGER.get_or_init(Mutex::default).lock().unwrap() = Some(logger);
            return;
        }
        "forget" => return std::mem::forget(logger),
        "others-log" => others_log(logger),
        // The exit comes while another thread is within the end of the logger.
        "ending" => {
            std::thread::spawn(move || drop(logger));
            std::process::exit(3);
        }
        "forked" => forked(),
        "abort" => std::process::abort(),
        _ => panic!("exiting: unknown way {way}"),
    }
    if way == "within-sink" {
        std::thread::sleep(Duration::from_secs(60));
    }
    std::process::exit(3)
}

/// Other threads log while `main` returns; what each has logged before is printed.
fn others_log(logger: Logger) {
    static STOP: AtomicBool = AtomicBool::new(false);
    static MADE: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    for (thread, made) in MADE.iter().enumerate() {
        std::thread::spawn(move || {
            for number in 0..20_000_u64 {
                if STOP.load(Ordering::Relaxed) {
                    break;
                }
                info!("thread {} made {}", thread, number);
                made.store(number + 1, Ordering::Release);
                std::thread::sleep(Duration::from_micros(100));
            }
        });
    }
    while MADE.iter().any(|made| made.load(Ordering::Acquire) < 100) {
        std::thread::yield_now();
    }
    let made: Vec<String> = MADE.iter().map(|made| made.load(Ordering::Acquire).to_string()).collect();
    println!("{}", made.join(" "));
    *LOGGER.get_or_init(Mutex::default).lock().unwrap() = Some(logger);
    std::process::exit(3)
}

/// A child exits by `exit`: the logger is the parent's.
fn forked() {
    // SAFETY: the program has no lock of the C library's or the allocator's in this thread; the child does nothing but exit.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::exit(0);
        }
        let mut status = 0;
        assert_eq!((libc::waitpid(child, &raw mut status, 0), status), (child, 0));
    }
    error!("after the child");
}
