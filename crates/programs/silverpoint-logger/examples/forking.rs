//! A program with a logger that forks, for the tests: `forking FILE CHILDREN`; or becomes another one: `forking FILE exec`, `forking FILE exec-beside-a-child`, `forking FILE killed-beside-a-child`, `forking FILE daemon`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use silverpoint::info;
use silverpoint_logger::{Config, Flushed, Logger, Sink};

/// Of waits that nothing should make use of.
const FOR_EVER: Duration = Duration::from_secs(3600);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, children] = &words[..] else { panic!("forking FILE CHILDREN") };
    match children.as_str() {
        "exec" => return exec(file),
        "exec-beside-a-child" => return exec_beside_a_child(file),
        "killed-beside-a-child" => return killed_beside_a_child(file),
        "executed" => return log_and_stop(file, 2),
        "daemon" => return daemon(file),
        _ => {}
    }
    let children: u32 = children.parse().unwrap();
    let mut logger = Some(Logger::start(Config::new("info").sink(Sink::file(file))).unwrap());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (shared, is_over) = (&logger, &is_over);
        // The logger's locks are held by another thread most of the time.
        scope.spawn(move || {
            for number in 0..100_000_u64 {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                info!("number {}", number);
                assert_eq!(shared.as_ref().unwrap().flush(FOR_EVER), Flushed::Complete);
            }
        });
        for _ in 0..children {
            in_child(|| use_it(shared.as_ref().unwrap()));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    // Its own drop.
    let dropped = &mut logger;
    in_child(move || drop(dropped.take()));
    // A child's logger is its own, with a file of its own.
    in_child(|| {
        let own = Logger::start(Config::new("info").sink(Sink::file(file))).unwrap();
        info!("of the child {}", std::process::id());
        assert_eq!(own.stop(FOR_EVER), Flushed::Complete);
    });
    info!("in the end");
    assert_eq!(logger.unwrap().stop(FOR_EVER), Flushed::Complete);
}

/// A child executes another image while its parent's logger lives; then the parent does, without having stopped it.
fn exec(file: &str) {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    let own = std::env::current_exe().unwrap();
    let _logger = Logger::start(Config::new("info").sink(Sink::file(file))).unwrap();
    info!("number {}", 0);
    assert!(Command::new(&own).args([file, "executed"]).status().unwrap().success());
    info!("number {}", 1);
    panic!("{}", Command::new(&own).args([file, "executed"]).exec());
}

/// Executes another image while a forked child, which has all descriptors, lives until that one has ended.
fn exec_beside_a_child(file: &str) {
    use std::os::unix::process::CommandExt;
    let own = std::env::current_exe().unwrap();
    let _logger = Logger::start(Config::new("info").sink(Sink::file(file))).unwrap();
    info!("number {}", 0);
    waiting_child(|| {
        // SAFETY: it changes nothing but when this process ends.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    });
    info!("number {}", 1);
    panic!("{}", std::process::Command::new(own).args([file, "executed"]).exec());
}

/// Is killed while a forked child, whose number it prints, lives on.
fn killed_beside_a_child(file: &str) {
    let _logger = Logger::start(Config::new("info").sink(Sink::file(file))).unwrap();
    info!("number {}", 0);
    let child = waiting_child(|| {
        // SAFETY: readers of the parent's output do not wait for a child.
        unsafe { libc::close(1) };
    });
    println!("{child}");
    info!("number {}", 1);
    // SAFETY: it ends this process.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}

/// A child that does this, and waits for its end, for two minutes at most. Gives its number when the child is itself: what the system does in it at first is done.
fn waiting_child(first: impl FnOnce()) -> i32 {
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: the child calls nothing that a thread of the parent may have locked.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    if child == 0 {
        first();
        // SAFETY: the byte is there; these calls change nothing of others.
        unsafe {
            libc::alarm(120);
            libc::write(ends[1], c"b".as_ptr().cast(), 1);
            loop {
                libc::pause();
            }
        }
    }
    let mut byte = 0_u8;
    // SAFETY: there is room for a byte.
    assert_eq!(unsafe { libc::read(ends[0], (&raw mut byte).cast(), 1) }, 1);
    child
}

/// As daemons are made: a child goes on without its parent, with none of its descriptors.
fn daemon(file: &str) {
    let logger = Logger::start(Config::new("info").sink(Sink::file(file))).unwrap();
    info!("number {}", 0);
    info!("number {}", 1);
    // SAFETY: it only asks.
    let parent = unsafe { libc::getpid() };
    // SAFETY: of two processes each goes on by itself: the parent to its end.
    match unsafe { libc::fork() } {
        0 => {}
        // SAFETY: it ends the process, and nothing else of it.
        _ => unsafe { libc::_exit(0) },
    }
    // As long as the parent has not begun to end, its logs are its own.
    // SAFETY: it only asks.
    while unsafe { libc::getppid() } == parent {
        std::thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: nothing of the standard library's is used that has one of these descriptors.
    unsafe {
        libc::setsid();
        for descriptor in 0..1024 {
            libc::close(descriptor);
        }
    }
    std::env::set_current_dir("/").unwrap();
    drop(logger);
    log_and_stop(file, 2);
}

fn log_and_stop(file: &str, number: u64) {
    let logger = Logger::start(Config::new("info").sink(Sink::file(file))).unwrap();
    info!("number {}", number);
    assert_eq!(logger.stop(FOR_EVER), Flushed::Complete);
}

fn use_it(logger: &Logger) {
    info!("number {}", 1_000_000_000);
    assert_eq!(logger.flush(FOR_EVER), Flushed::OfParent);
    assert_eq!(logger.dump_backtrace(FOR_EVER), Flushed::OfParent);
    assert!(!logger.reload().unwrap());
    assert_eq!(logger.skipped(), 0);
    assert_eq!(logger.end(FOR_EVER), Flushed::OfParent);
}

fn in_child(run: impl FnOnce()) {
    // SAFETY: the child runs what it is given, and ends without returning from here.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork");
    if child == 0 {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        // SAFETY: it ends the process, and nothing else of it.
        unsafe { libc::_exit(i32::from(outcome.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the child is this process's, and nobody else waits for it.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0), "the child has failed");
}
