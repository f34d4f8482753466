//! A program that ends badly, for the tests: `crashing FILE WAY`, `crashing FILE storm WAY THREADS`, `crashing FILE resume`.
//!
//! In a storm each thread logs `thread T number N` and reports its progress by one write. When a line of
//! standard input comes, the main thread crashes at once in the given way, no matter what the other threads
//! are doing. `SILVERPOINT_CRASH_PACE=none`: the threads never wait for the sinks, so that rings are full
//! (with `SILVERPOINT_MEMORY=1M`) and threads wait for room. `SILVERPOINT_CRASH_WHO=logging`: one of them
//! crashes, after a record.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use silverpoint::info;
use silverpoint_logger::{Config, Flushed, Logger, Sink};

/// Most records of a thread: a machine that is slow to end the program has no more to read. Rings of 1 MiB take fewer.
const MOST: u64 = 10_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [file, "resume"] => {
            let logger = start(file);
            assert_eq!(logger.stop(Duration::from_secs(300)), Flushed::Complete);
        }
        [file, "storm", way, threads] => storm(file, way, threads.parse().unwrap()),
        [file, way] => {
            let mut config = config(file);
            if way == "heap" {
                if let Some(crash) = &mut config.crash {
                    // It may wait in vain.
                    crash.wait = Duration::from_secs(5);
                }
            }
            let (way, has_handler) = match way.strip_suffix("-without-handler") {
                Some(way) => (way, false),
                None => (way, true),
            };
            if !has_handler {
                config.crash = None;
            }
            let way = match way {
                "chained" => chain(false),
                "chained-siginfo" => chain(true),
                way => way,
            };
            if way == "sink" {
                config = config.sink(Sink::handler(|_| fail("segv")));
            }
            let _logger = Logger::start(config).unwrap_or_else(|error| panic!("{error}"));
            info!("begun");
            if way == "sink" {
                // Its thread does it.
                std::thread::sleep(Duration::from_secs(60));
            }
            fail(way);
            info!("still here");
        }
        _ => panic!("crashing: unknown command {words:?}"),
    }
}

fn start(file: &str) -> Logger {
    Logger::start(config(file)).unwrap_or_else(|error| panic!("{error}"))
}

fn config(file: &str) -> Config {
    let mut config =
        Config::new("info").sink(Sink::file(file)).sink(Sink::file(format!("{file}.jsonl")).json());
    let crash = config.crash.as_mut().unwrap();
    crash.term = true;
    // A machine may be busy with other tests.
    crash.wait = Duration::from_secs(30);
    config
}

/// Until the crash. A number that a thread prints is accepted: it is recorded before it is printed.
fn storm(file: &str, way: &str, threads: usize) {
    static TOLD: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];
    static MUST_FAIL: AtomicBool = AtomicBool::new(false);
    let _logger = start(file);
    let has_pace = std::env::var("SILVERPOINT_CRASH_PACE").is_err();
    let is_of_thread = std::env::var("SILVERPOINT_CRASH_WHO").is_ok();
    // What a pipe takes must not be what they wait for.
    let told_each = if has_pace { 64 } else { 1024 };
    std::thread::scope(|scope| {
        for (thread, mine) in TOLD.iter().enumerate().take(threads) {
            scope.spawn(move || {
                for number in 0..MOST {
                    info!("thread {} number {}", thread, number);
                    mine.store(number + 1, Ordering::Release);
                    if number % told_each == 0 {
                        let told: Vec<String> = TOLD[..threads]
                            .iter()
                            .map(|told| told.load(Ordering::Acquire).to_string())
                            .collect();
                        let line = told.join(" ") + "\n";
                        let _ = std::io::stdout().lock().write_all(line.as_bytes());
                        let _ = std::io::stdout().lock().flush();
                    }
                    // What is logged while the sinks catch up is not the point.
                    if has_pace && number % 64 == 63 {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    if thread == 0 && MUST_FAIL.load(Ordering::Relaxed) {
                        fail(way);
                    }
                }
                if thread == 0 && is_of_thread {
                    while !MUST_FAIL.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    fail(way);
                }
            });
        }
        // The moment is the tester's.
        let _ = std::io::stdin().read_line(&mut String::new());
        match is_of_thread {
            true => MUST_FAIL.store(true, Ordering::Relaxed),
            false => fail(way),
        }
    });
}

/// Installs a handler of the program's own, before the logger's; gives how to fail.
fn chain(has_details: bool) -> &'static str {
    extern "C" fn plain(signal: libc::c_int) {
        say_and_give_up(b"chained\n", signal);
    }
    extern "C" fn detailed(signal: libc::c_int, details: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system gives them; of a fault they have an address.
        let address = unsafe { (*details).si_addr() }.addr();
        say_and_give_up(if address == 16 { b"chained at 16\n" } else { b"chained elsewhere\n" }, signal);
    }
    fn say_and_give_up(text: &[u8], signal: libc::c_int) {
        // SAFETY: both may be called in handlers; the fault comes again, and ends the process.
        unsafe {
            libc::write(1, text.as_ptr().cast(), text.len());
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    // SAFETY: all zero is an action; the functions have the forms that the flags say.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = plain as *const () as usize;
        if has_details {
            action.sa_sigaction = detailed as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
        }
        assert_eq!(libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut()), 0);
    }
    "segv"
}

unsafe extern "C" {
    fn __assert_fail(
        condition: *const libc::c_char,
        file: *const libc::c_char,
        line: libc::c_uint,
        function: *const libc::c_char,
    ) -> !;
}

#[inline(never)]
fn fail(way: &str) {
    match way {
        // SAFETY: none; it is to fail.
        "segv" => unsafe { std::ptr::without_provenance_mut::<u8>(16).write_volatile(1) },
        // The C library finds that somebody has written beyond his memory, and aborts with the lock of its heap held.
        // SAFETY: none; it is to fail.
        "heap" => unsafe {
            let [first, second] =
                [2048, 2048].map(|bytes| std::hint::black_box(libc::malloc(bytes)).cast::<u8>());
            first.add(2048).write_bytes(0xff, 16);
            libc::free(first.cast());
            libc::free(second.cast());
        },
        // SAFETY: raises a signal of this process.
        "term" => unsafe {
            libc::raise(libc::SIGTERM);
        },
        "abort" => std::process::abort(),
        // As a failed assert of C does.
        // SAFETY: all texts end with zero.
        "assert" => unsafe {
            __assert_fail(c"1 == 2".as_ptr(), c"source.c".as_ptr(), 7, c"fail".as_ptr());
        },
        "stack" => {
            std::hint::black_box(descend(0));
        }
        "stack-of-thread" => {
            let thread = std::thread::spawn(|| {
                info!("first of this thread");
                descend(0)
            });
            std::hint::black_box(thread.join().unwrap());
        }
        "panic" => panic!("out of luck, {}", 7),
        "panic-of-thread" => {
            let _ = std::thread::Builder::new()
                .name("unlucky".into())
                .spawn(|| -> u64 { panic!("out of luck") })
                .unwrap()
                .join();
        }
        // It ends the process although only a thread panics.
        "check" => {
            let hook = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                hook(info);
                std::process::abort();
            }));
            assert_eq!(std::hint::black_box(1) + 1, 3, "arithmetic");
        }
        // The text of a record cannot be read: the fault is within the tracepoint.
        "within-record" => {
            // SAFETY: none; it is to fail.
            let text = unsafe {
                std::str::from_utf8_unchecked(std::slice::from_raw_parts(
                    std::ptr::without_provenance(16),
                    100,
                ))
            };
            info!("never {}", text);
        }
        // SAFETY: the child does nothing but fail.
        "forked" => unsafe {
            let child = libc::fork();
            if child == 0 {
                std::ptr::without_provenance_mut::<u8>(16).write_volatile(1);
            }
            let mut status = 0;
            libc::waitpid(child, &mut status, 0);
            println!("{child} {}", libc::WTERMSIG(status));
        },
        _ => panic!("crashing: unknown way {way}"),
    }
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 32]);
    if depth == u64::MAX { 0 } else { descend(depth + 1) + room[5] }
}
