//! Rotated files, and which old ones stay.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, SystemTime};

use crate::harness::{Scratch, kill, numbers, wait_until};

/// The log and its old files, the oldest first, whether they are compressed or not.
fn whole_log(scratch: &Scratch) -> String {
    let mut files: Vec<(u32, String)> = Vec::new();
    for name in scratch.names() {
        let path = scratch.path(&name);
        let number = name.split('.').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
        let text = match name.rsplit('.').next() {
            Some("log") => scratch.read(&name),
            Some("zst") => {
                let bytes = fs::read(&path).unwrap();
                // Every file with this name is whole.
                String::from_utf8(
                    zstd::decode_all(&bytes[..]).unwrap_or_else(|error| panic!("{name}: {error}")),
                )
                .unwrap()
            }
            _ => continue,
        };
        // Of two forms of one file the plain one goes next.
        if name.ends_with(".log") && scratch.path(&format!("{name}.zst")).exists() {
            continue;
        }
        files.push((number, text));
    }
    files.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    files.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn killed_while_it_rotates_and_compresses_nothing_is_lost_or_half() {
    let rounds: u64 = std::env::var("SILVERPOINT_KILL_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap());
    let mut compressed = 0;
    for round in 0..rounds {
        let scratch = Scratch::new();
        let mut running = scratch.logging(["rotating", "1000000000"]).spawn().unwrap();
        let mut out = BufReader::new(running.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        // Every other time there is more than one file of it, however busy the machine is.
        while round % 2 == 1 && line.lines().last() != Some("10000") {
            assert!(out.read_line(&mut line).unwrap() > 0, "it has ended");
        }
        std::thread::sleep(Duration::from_micros(3_000 + round * 7_757 % 20_000));
        let told = kill(running, out, line);
        // What lies there now is whole, and in order.
        let found = numbers(&whole_log(&scratch));
        assert!(found.iter().zip(0..).all(|(found, expected)| *found == expected), "round {round}");
        scratch.run(["resume-rotating"]);
        let found = numbers(&whole_log(&scratch));
        assert!(found.len() as u64 > told, "round {round}: {} of at least {}", found.len(), told + 1);
        let wrong = found.iter().zip(0..).find(|(found, expected)| **found != *expected);
        assert_eq!(wrong, None, "round {round}: of {} records", found.len());
        let zst = || scratch.names().iter().filter(|name| name.ends_with(".zst")).count();
        // The thread that compresses has the lowest priority, and may not have had its turn before the end.
        let is_rotated = scratch.names().len() > 1;
        let is_compressed = || {
            if zst() == 0 {
                scratch.run(["resume-rotating"]);
            }
            zst() > 0
        };
        assert!(!is_rotated || wait_until(is_compressed), "round {round}: {:?}", scratch.names());
        compressed += zst();
    }
    assert!(rounds < 2 || compressed > 0, "nothing was compressed in {rounds} rounds");
}

/// A process that is not killed leaves what its thread had no time for to the next one.
#[test]
fn old_files_are_compressed_in_the_end() {
    let scratch = Scratch::new();
    scratch.run(["rotating", "10000"]);
    let until = SystemTime::now() + Duration::from_secs(300);
    let plain =
        || scratch.names().iter().filter(|name| name.starts_with("app.") && name.ends_with(".log")).count();
    // app.log itself.
    while plain() > 1 {
        assert!(SystemTime::now() < until, "{:?}", scratch.names());
        scratch.run(["resume-rotating"]);
    }
    assert!(scratch.names().len() > 4, "{:?}", scratch.names());
    assert!(scratch.names().iter().all(|name| !name.ends_with("compressing")), "{:?}", scratch.names());
    assert_eq!(numbers(&whole_log(&scratch)), (0..10000).collect::<Vec<_>>());
}

#[test]
fn a_file_of_yesterday_is_rotated_by_todays_first_line() {
    let scratch = Scratch::new();
    fs::write(scratch.path("app.log"), "yesterday\n").unwrap();
    let file = fs::File::options().write(true).open(scratch.path("app.log")).unwrap();
    // Longer than any day is.
    file.set_modified(SystemTime::now() - Duration::from_secs(26 * 3600)).unwrap();
    scratch.run(["daily"]);
    assert_eq!(scratch.read("app.1.log"), "yesterday\n");
    assert!(scratch.read("app.log").contains("today"), "{:?}", scratch.names());
    assert_eq!(scratch.names(), ["app.1.log", "app.log"]);
}

/// By the clocks of the sink's zone; and by gzip, which the lowest priority does in its time.
#[test]
fn old_files_are_called_by_the_day_of_their_last_line() {
    let scratch = Scratch::new();
    let config = "[[sink]]\nto = 'file'\npath = 'app.log'\nrotate-at = 'day'\nkeep = 5\nzone = 'utc'\n\
                  rotate-names = 'date'\ncompress = 'gzip'\n";
    fs::write(scratch.path("log.toml"), config).unwrap();
    let run = || {
        let ended = scratch.logging(["init"]).env("SILVERPOINT", "log.toml").output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    };
    // A second before and after midnight.
    for (seconds, text) in [(999_993_599, "first\n"), (999_993_600, "second\n"), (999_993_601, "third\n")] {
        fs::write(scratch.path("app.log"), text).unwrap();
        let file = fs::File::options().write(true).open(scratch.path("app.log")).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        run();
    }
    let is_compressed = || {
        if scratch.names().iter().filter(|name| name.ends_with(".gz")).count() < 3 {
            run();
            return false;
        }
        true
    };
    assert!(wait_until(is_compressed), "{:?}", scratch.names());
    let old = ["app.2001-09-08.log.gz", "app.2001-09-09.1.log.gz", "app.2001-09-09.log.gz"];
    let names = scratch.names();
    assert_eq!(names.iter().filter(|name| name.contains("2001")).collect::<Vec<_>>(), old);
    for (name, text) in old.into_iter().zip(["first\n", "third\n", "second\n"]) {
        let mut found = String::new();
        let file = fs::File::open(scratch.path(name)).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut found).unwrap();
        assert_eq!(found, text, "{name}");
    }
}

#[test]
fn a_file_that_is_old_enough_is_rotated_by_the_next_line() {
    let scratch = Scratch::new();
    let config = "[[sink]]\nto = 'file'\npath = 'app.log'\nrotate-age = '1s'\n";
    fs::write(scratch.path("log.toml"), config).unwrap();
    // One line at a time: between two of them the machine may let a second pass.
    let mut child = scratch.logging(["from", "log.toml", "steps", "1"]).spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut step = |lines: usize| {
        to.write_all(b"\n").unwrap();
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let written = || numbers(&whole_log(&scratch)).len();
        assert!(wait_until(|| written() == lines), "{} of {lines}", written());
    };
    step(1);
    std::thread::sleep(Duration::from_millis(1100));
    step(2);
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(numbers(&scratch.read("app.1.log")), [0]);
    assert_eq!(numbers(&scratch.read("app.log")), [1]);
}
