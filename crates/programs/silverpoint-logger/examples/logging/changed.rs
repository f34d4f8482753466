//! Programs that change themselves after their logger has begun: that close what they do not know, become another user, or see another root.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use silverpoint::info;
use silverpoint_logger::{Config, Flushed, Logger, Sink};

/// Records that the tests expect, from 0 on.
const RECORDS: u32 = 100;
const PATIENCE: Duration = Duration::from_secs(300);

/// As a daemon does: closes all descriptors but the standard ones, and opens files of its own, which get the same numbers. Waits for a line of standard input before it ends.
pub fn closed(file: &str) {
    let logger =
        start(Config::new("info").sink(Sink::file(file)).sink(Sink::file(format!("{file}.jsonl")).json()));
    info!("number {}", 0);
    assert_eq!(logger.flush(PATIENCE), Flushed::Complete);
    for descriptor in 3..1024 {
        // SAFETY: the logger knows that a program may do so.
        unsafe { libc::close(descriptor) };
    }
    let own = |number: u32| {
        let mut own = File::create(format!("{file}.data-{number}")).unwrap();
        writeln!(own, "precious {number}").unwrap();
        own
    };
    let mut own: Vec<File> = (0..12).map(own).collect();
    (1..RECORDS).for_each(|number| info!("number {}", number));
    assert_eq!(logger.flush(PATIENCE), Flushed::Complete);
    println!("flushed");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    assert_eq!(logger.stop(PATIENCE), Flushed::Complete);
    for (number, own) in own.iter_mut().enumerate() {
        writeln!(own, "still open {number}").unwrap();
    }
}

/// Begins as root, then gives that up (`user`), or sees another root (`root`).
pub fn dropped(file: &str, what: &str) {
    let logger = start(Config::new("info").sink(Sink::file(file).rotate(4096, 3)));
    info!("number {}", 0);
    assert_eq!(logger.flush(PATIENCE), Flushed::Complete);
    // SAFETY: they change nothing but what this process may do.
    let done = unsafe {
        match what {
            "user" => libc::setresuid(65534, 65534, 65534),
            "root" => libc::chroot(c"jail".as_ptr()) | libc::chdir(c"/".as_ptr()),
            _ => panic!("dropped: {what}"),
        }
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
    (1..RECORDS).for_each(|number| info!("number {}", number));
    let other = std::thread::spawn(|| info!("of another thread"));
    other.join().unwrap();
    assert_eq!(logger.stop(PATIENCE), Flushed::Complete);
}

fn start(config: Config) -> Logger {
    Logger::start(config).unwrap_or_else(|error| panic!("{error}"))
}
