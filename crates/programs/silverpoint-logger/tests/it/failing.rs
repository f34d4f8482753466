//! Sinks that are slow, fail or stall: no thread waits for them, and they get the missing records when they
//! can take them.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

use crate::harness::{Scratch, numbers, wait_until};
use crate::reload::{Obeying, until};

/// A program that logs by a configuration, one step for each line of input.
struct Steps(Child);

impl Steps {
    fn start(mut command: Command) -> Self {
        Self(command.spawn().unwrap())
    }

    fn configured(scratch: &Scratch, config: &str, words: &[&str]) -> Self {
        Self::start(configured(scratch, config, words))
    }

    /// Returns when everything of it is recorded.
    fn step(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.0.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    }

    /// Reads standard error up to a line that has all of these words. Fails when five minutes bring nothing.
    fn until_told(&mut self, words: &[&str]) {
        let err = self.0.stderr.as_mut().unwrap();
        let minutes = Timespec { tv_sec: 300, tv_nsec: 0 };
        let mut seen = Vec::new();
        loop {
            let line_begin = seen.len();
            while seen.last() != Some(&b'\n') || seen.len() == line_begin {
                let mut byte = [0];
                let ready = poll(&mut [PollFd::new(&*err, PollFlags::IN)], Some(&minutes)).unwrap();
                assert!(ready > 0, "{words:?} did not come after {}", String::from_utf8_lossy(&seen));
                let read = err.read(&mut byte).unwrap();
                assert!(read > 0, "{words:?} in {}", String::from_utf8_lossy(&seen));
                seen.push(byte[0]);
            }
            let line = String::from_utf8_lossy(&seen[line_begin..]).into_owned();
            if words.iter().all(|word| line.contains(word)) {
                return;
            }
        }
    }

    /// Ends it, well. Gives the rest of standard output and error.
    fn end(mut self) -> (String, String) {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{}: {out}{err}", output.status);
        (out, err)
    }
}

fn configured(scratch: &Scratch, config: &str, words: &[&str]) -> Command {
    fs::write(scratch.path("log.toml"), config).unwrap();
    scratch.logging(["from", "log.toml"].into_iter().chain(words.iter().copied()))
}

fn whole(count: u64) -> Vec<u64> {
    (0..count).collect()
}

/// A small file system of its own, where root allows that.
struct Small(PathBuf);

impl Small {
    fn mount(path: PathBuf) -> Option<Self> {
        fs::create_dir(&path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs"])
            .arg(&path)
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(path));
        }
        silverpoint_tests::skipped!(
            "no file system can be mounted here: what a full disk does is tested by a limit of the size of files alone"
        );
        None
    }

    /// Until nothing more fits. The log has this many lines before: a write that fails meanwhile would give
    /// its part back, and another one would find room.
    fn fill_after(&self, scratch: &Scratch, lines: usize) {
        let log = || scratch.read("small/app.log").lines().count();
        assert!(wait_until(|| log() == lines), "{} lines of {lines}", log());
        let mut filler = File::create(self.0.join("filler")).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
        while filler.write_all(&[0]).is_ok() {}
    }

    fn make_room(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_delays_what_waits_in_a_spool_elsewhere() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "spool = 'spools'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut program = Steps::configured(&scratch, config, &["steps", "3000"]);
    program.step();
    small.fill_after(&scratch, 3000);
    program.step();
    program.step();
    program.until_told(&["small/app.log", "No space left", "in the spool"]);
    small.make_room();
    let (_, err) = program.end();
    assert!(err.contains("it can be written again"), "{err}");
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(9000));
    drop(small);
}

/// The spool too: what is recorded stays in the program's memory, and nobody says that it waits in the spool.
#[test]
fn a_disk_that_is_full_for_the_spool_too_loses_nothing_that_fits_in_memory() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "policy = 'block=forever'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut program = Steps::configured(&scratch, config, &["steps", "3000"]);
    program.step();
    small.fill_after(&scratch, 3000);
    program.step();
    program.until_told(&[
        "small/app.log.spool",
        "No space left",
        "records stay in the rings until the file can be written again",
    ]);
    program.step();
    // Meanwhile the collector has tried several times, and tries less often than at first: the end waits for it all the same.
    std::thread::sleep(Duration::from_secs(1));
    small.make_room();
    program.end();
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(9000));
    drop(small);
}

/// With `drop` no thread waits, and dropped records are counted: received and lost are all.
#[test]
fn what_is_dropped_while_nothing_can_be_written_is_counted() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "policy = 'drop'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut command = configured(&scratch, config, &["steps", "50"]);
    command.env("SILVERPOINT_MEMORY", "256K");
    let mut program = Steps::start(command);
    program.step();
    small.fill_after(&scratch, 50);
    // More than what is left of the spool's last page.
    (0..20).for_each(|_| program.step());
    program.until_told(&[
        "small/app.log.spool",
        "No space left",
        "records stay in the rings until the file can be written again",
    ]);
    (0..600).for_each(|_| program.step());
    small.make_room();
    // A loss is recorded before the next record that its thread can keep: so up to a step of which the last
    // one is kept.
    let mut steps = 621;
    loop {
        program.step();
        steps += 1;
        let last = format!("number {} ", steps * 50 - 1);
        let is_kept = (0..25).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            scratch.read("small/app.log").contains(&last)
        });
        if is_kept {
            break;
        }
        assert!(steps < 1300, "nothing is kept although there is room");
    }
    program.end();
    let text = scratch.read("small/app.log");
    let (lost, kept): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains(" lost "));
    let count =
        |line: &&str| line.split(" lost ").nth(1).unwrap().split(' ').next().unwrap().parse::<u64>().unwrap();
    let lost: u64 = lost.iter().map(count).sum();
    let kept = numbers(&kept.join("\n"));
    assert!(kept.is_sorted_by(|a, b| a < b), "in order, each once");
    assert!(lost > 0);
    assert_eq!(kept.len() as u64 + lost, steps * 50);
}

/// Old files are compressed as far as there is room. Without room they stay as they are, and a later logger
/// with room compresses them.
#[test]
fn a_disk_that_is_full_while_old_files_are_compressed_keeps_them() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let sink = "spool = 'spools'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let rotated = format!("{sink}rotate-at = 'day'\nkeep = 9\ncompress = 'zstd'\n");
    let mut program = Steps::configured(&scratch, sink, &["steps", "3000"]);
    program.step();
    program.end();
    small.fill_after(&scratch, 3000);
    // Of yesterday, on any day: the first line rotates it.
    let log = File::options().write(true).open(scratch.path("small/app.log")).unwrap();
    log.set_modified(SystemTime::now() - Duration::from_secs(26 * 3600)).unwrap();
    let mut program = Steps::configured(&scratch, &rotated, &["steps", "3000"]);
    program.step();
    program.until_told(&["small/app.1.log: it cannot be compressed", "No space left", "stays as it is"]);
    assert_eq!(numbers(&scratch.read("small/app.1.log")), whole(3000));
    let names = || {
        let entries = fs::read_dir(scratch.path("small")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| !name.ends_with(".spool"));
        names.sort();
        names
    };
    // The sink's thread makes the new file meanwhile.
    let expected = ["app.1.log", "app.log", "filler"];
    assert!(wait_until(|| names() == expected), "nothing half-way stays: {:?}", names());
    small.make_room();
    program.end();
    let is_compressed = || {
        if names() != ["app.1.log.zst", "app.log"] {
            // The thread that compresses has the lowest priority, and may not have had its turn before the end.
            Steps::configured(&scratch, &rotated, &["steps", "0"]).end();
        }
        names() == ["app.1.log.zst", "app.log"]
    };
    assert!(wait_until(is_compressed), "{:?}", names());
    let old = zstd::decode_all(File::open(scratch.path("small/app.1.log.zst")).unwrap()).unwrap();
    assert_eq!(numbers(std::str::from_utf8(&old).unwrap()), whole(3000));
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(3000));
    drop(small);
}

/// With any delay of a sink, a flush ends in time and reports that one sink is late. When it reports that all
/// is delivered, it is.
#[test]
fn a_flush_says_of_each_failing_sink_what_is_so() {
    let journal = |scratch: &Scratch| -> Taken {
        let socket = UnixDatagram::bind(scratch.path("socket")).unwrap();
        Box::new(move |_| {
            let mut bytes = vec![0; 64 << 10];
            socket.set_nonblocking(true).unwrap();
            let len = socket.recv(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes[..len]).into_owned()
        })
    };
    flush_truly("to = 'journald'\naddress = 'SCRATCH/socket'", |_| {}, journal);
    flush_truly("to = 'syslog'\naddress = 'SCRATCH/socket'", |_| {}, journal);
    // It has its port from the beginning, so that no other program gets it, and refuses connections until it listens.
    let socket =
        net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().unwrap();
    let tcp = |_: &Scratch| -> Taken {
        net::listen(&listener, 8).unwrap();
        let listener = listener.try_clone().unwrap();
        Box::new(move |_| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = vec![0; 64 << 10];
            let len = stream.read(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes[..len]).into_owned()
        })
    };
    flush_truly(&format!("to = 'syslog'\naddress = 'tcp://{address}'"), |_| {}, tcp);
    let make_pipe = |scratch: &Scratch| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, scratch.path("pipe"), kind, mode, 0).unwrap();
    };
    let read_pipe = |scratch: &Scratch| -> Taken {
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let options = File::options().read(true).custom_flags(nonblocking).to_owned();
        let mut reader = options.open(scratch.path("pipe")).unwrap();
        Box::new(move |_| {
            let mut bytes = vec![0; 64 << 10];
            let len = reader.read(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes[..len]).into_owned()
        })
    };
    flush_truly("to = 'file'\npath = 'pipe'", make_pipe, read_pipe);
    let in_file = || -> Taken { Box::new(|scratch: &Scratch| scratch.read("logs/b.log")) };
    let make_folder = |scratch: &Scratch| fs::create_dir(scratch.path("logs")).unwrap();
    flush_truly("to = 'file'\npath = 'logs/b.log'", make_folder, |scratch| {
        make_folder(scratch);
        in_file()
    });
}

/// The same while the disk is full, for the log and for the spool beside it.
#[test]
fn a_flush_on_a_full_disk_says_what_is_so() {
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    fs::write(scratch.path("log.toml"), "[[sink]]\nto = 'file'\npath = 'small/app.log'\n").unwrap();
    let mut program = Obeying::start(&scratch, None);
    let log = |program: &mut Obeying, number: u64, ms: u64| {
        assert_eq!(program.tell(&format!("log number {number}")), "done");
        program.tell(&format!("flush {ms}"))
    };
    assert_eq!(log(&mut program, 0, 60_000), "Complete");
    small.fill_after(&scratch, 1);
    let mut count = 1;
    // What is left of the last pages takes some.
    let said = loop {
        let said = log(&mut program, count, 1000);
        count += 1;
        let written = scratch.read("small/app.log").lines().count() as u64;
        assert!(said != "Complete" || written == count, "{written} of {count} lines");
        if said != "Complete" && program.tell("flush 1000") != "Complete" {
            break said;
        }
        assert!(count < 1000, "the disk is not full");
    };
    assert_eq!(said, "Late { sinks: 1 }");
    small.make_room();
    assert_eq!(program.tell("flush 60000"), "Complete");
    assert_eq!(numbers(&scratch.read("small/app.log")), whole(count));
    program.end();
    drop(small);
}

/// Gives what a sink has got.
type Taken = Box<dyn FnMut(&Scratch) -> String>;

/// The sink cannot take anything until `mend`, which gives what it has then.
fn flush_truly(sink: &str, prepare: impl Fn(&Scratch), mend: impl Fn(&Scratch) -> Taken) {
    let scratch = Scratch::new();
    prepare(&scratch);
    let sink = sink.replace("SCRATCH", &scratch.path("").display().to_string());
    let config = format!("spool = 'spools'\n[[sink]]\nto = 'file'\npath = 'a.log'\n[[sink]]\n{sink}\n");
    fs::write(scratch.path("log.toml"), config).unwrap();
    let mut program = Obeying::start(&scratch, None);
    let _ = fs::remove_dir_all(scratch.path("logs"));
    assert_eq!(program.tell("log one"), "done");
    until(&sink, || {
        let begun = Instant::now();
        let said = program.tell("flush 300");
        // Ten times as long as requested, for a busy machine; otherwise it is asked once more.
        if begun.elapsed() > Duration::from_secs(3) {
            return false;
        }
        // On a busy machine the other one may be late too.
        assert!(said.starts_with("Late"), "{sink}: {said}");
        said == "Late { sinks: 1 }"
    });
    assert!(scratch.read("a.log").contains("info one"), "{sink}");
    let mut taken = mend(&scratch);
    assert_eq!(program.tell("flush 60000"), "Complete", "{sink}: {}", scratch.read("stderr"));
    let taken = taken(&scratch);
    assert!(taken.contains("info one"), "{sink}: {taken}");
    program.end();
}

/// As far as no file may grow further: the program goes on, and the next one without the limit delivers everything.
#[test]
fn a_limit_of_the_size_of_files_delays_what_waits() {
    let scratch = Scratch::new();
    let sink = "[[sink]]\nto = 'file'\npath = 'app.log'\n";
    let logging = configured(&scratch, sink, &["bulk", "500"]);
    // The limit's signal is ignored, so that writing fails instead.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 131072; exec \"$0\" \"$@\""])
        .arg(logging.get_program())
        .args(logging.get_args());
    limited.current_dir(logging.get_current_dir().unwrap());
    for (key, value) in logging.get_envs() {
        match value {
            Some(value) => limited.env(key, value),
            None => limited.env_remove(key),
        };
    }
    limited.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = Steps::start(limited);
    program.step();
    program.until_told(&["File too large"]);
    program.0.kill().unwrap();
    program.0.wait().unwrap();
    // The session's memory is files too: the limit is beyond their size.
    Steps::configured(&scratch, sink, &["steps", "0"]).end();
    assert_eq!(numbers(&scratch.read("app.log")), whole(500));
}

/// It is named, and what to do with it; limits are not to blame.
#[test]
fn a_refused_directory_of_sessions_is_the_reason_that_a_start_gives() {
    let scratch = Scratch::new();
    fs::set_permissions(scratch.path("sessions"), PermissionsExt::from_mode(0o755)).unwrap();
    let ended = scratch.logging(["resume"]).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success());
    let named = format!("SILVERPOINT_DIR names {}", scratch.path("sessions").display());
    for part in [named.as_str(), "its mode is 0755", "chmod 0700"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("ulimit"), "{said}");
}

/// Standard error is a pipe that is not read for a long time.
#[test]
fn a_pipe_that_nobody_reads_holds_up_nobody() {
    let scratch = Scratch::new();
    let config = "[[sink]]\nto = 'stderr'\n[[sink]]\nto = 'file'\npath = 'app.log'\n";
    let mut program = Steps::configured(&scratch, config, &["steps", "5000"]);
    program.step();
    program.step();
    assert!(
        wait_until(|| scratch.read("app.log").lines().count() == 10_000),
        "the file gets everything meanwhile"
    );
    let (_, err) = program.end();
    assert_eq!(numbers(&err), whole(10_000), "and so does the pipe when it is read");
}

/// The same with a terminal.
#[test]
fn a_terminal_that_stands_still_holds_up_nobody() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let scratch = Scratch::new();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).and_then(|()| unlockpt(&master)).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = File::options().read(true).write(true).open(name).unwrap();
    let config = "[[sink]]\nto = 'stderr'\ncolour = false\n[[sink]]\nto = 'file'\npath = 'app.log'\n";
    let mut command = configured(&scratch, config, &["steps", "5000"]);
    command.stderr(terminal);
    let mut program = Steps::start(command);
    program.step();
    program.step();
    assert!(
        wait_until(|| scratch.read("app.log").lines().count() == 10_000),
        "the file gets everything meanwhile"
    );
    drop(program.0.stdin.take());
    let mut lines = BufReader::new(File::from(master)).lines();
    for expected in 0..10_000 {
        let line = lines.next().unwrap().unwrap();
        assert_eq!(numbers(line.trim_end()), [expected]);
    }
    assert!(program.0.wait().unwrap().success());
}

#[test]
fn a_directory_that_is_removed_and_comes_back_gets_the_rest() {
    let scratch = Scratch::new();
    let logs = scratch.path("logs");
    fs::create_dir(&logs).unwrap();
    let config = "spool = 'spools'\n[[sink]]\nto = 'file'\npath = 'logs/app.log'\n";
    let mut program = Steps::configured(&scratch, config, &["steps", "100"]);
    program.step();
    assert!(wait_until(|| scratch.read("logs/app.log").lines().count() == 100));
    fs::remove_dir_all(&logs).unwrap();
    program.step();
    program.until_told(&["logs/app.log", "No such file", "in the spool"]);
    fs::create_dir(&logs).unwrap();
    program.end();
    assert_eq!(numbers(&scratch.read("logs/app.log")), (100..200).collect::<Vec<_>>());
}

#[test]
fn a_handler_that_sleeps_holds_up_nobody() {
    let scratch = Scratch::new();
    let (out, err) = scratch.run(["sleeper", "5000"]);
    assert_eq!((out.as_str(), err.as_str()), ("5000 0\n5000\n", ""));
}

/// The spool is full and the oldest records are dropped. Their number is on standard error, in the sink's
/// output, and is right.
#[test]
fn what_a_full_spool_gives_up_is_counted() {
    let scratch = Scratch::new();
    let journal = scratch.path("journal");
    let config = format!(
        "spool = 'spools'\nspool-size = '64M'\n[[sink]]\nto = 'syslog'\naddress = '{}'\nlevel = 'info'\n",
        journal.display()
    );
    let mut program = Steps::configured(&scratch, &config, &["bulk", "100"]);
    program.step();
    // From here on the sink waits in its retries, and opens no further part. A sink that is only slow has opened
    // each part before its removal, and misses nothing.
    program.until_told(&["retrying"]);
    (1..9).for_each(|_| program.step());
    // Parts that the sink has not opened are gone. It has opened two at most, with a hundred records.
    assert!(wait_until(|| oldest_part(&scratch.path("spools")) > Some(4)), "parts are removed");
    let socket = UnixDatagram::bind(&journal).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    drop(program.0.stdin.take());
    let (mut received, mut told) = (Vec::new(), 0_u64);
    let mut bytes = vec![0; 64 << 10];
    while received.last() != Some(&899) {
        let len = socket.recv(&mut bytes).expect("in time");
        let message = String::from_utf8_lossy(&bytes[..len]).into_owned();
        if let Some(rest) = message.split(": lost ").nth(1) {
            assert!(rest.contains("(sink_full)"), "{message}");
            told += rest.split(' ').next().unwrap().parse::<u64>().unwrap();
        } else if message.contains("number ") {
            received.extend(numbers(&message));
        }
    }
    let (out, err) = program.end();
    assert!(out.contains("Complete"), "{out}");
    let missing = 900 - received.len() as u64;
    // How many, is a matter of how far the sink had read. Waits of the thread are records too: at most one of each call.
    assert!(
        missing > 0 && told >= missing && told <= missing + 900,
        "{missing} are missing, {told} are reported"
    );
    let skipped =
        err.split(": skipped ").skip(1).map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap());
    assert_eq!(skipped.sum::<u64>(), told, "{err}");
}

/// The number of the oldest part of a spool in a directory, if one has been rotated.
fn oldest_part(spools: &Path) -> Option<u64> {
    let spools = fs::read_dir(spools).into_iter().flatten().flatten();
    let files = spools.flat_map(|spool| fs::read_dir(spool.path()).into_iter().flatten().flatten());
    let number = |name: &str| name.strip_prefix("spool.")?.strip_suffix(".silver")?.parse().ok();
    files.filter_map(|file| number(file.file_name().to_str()?)).min()
}

/// Recording never waits for a sink: it takes far less time than a full ring would cost, however busy the machine is.
#[test]
fn no_call_waits_for_a_sink() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    const BLOCK_MAX: Duration = Duration::from_secs(3600);
    let config = |sink: &str| {
        format!(
            "spool = 'spools'\nblock-max = '1h'\n[[sink]]\n{sink}\n[[sink]]\nto = 'file'\npath = 'app.log'\n"
        )
    };
    let run = |scratch: &Scratch, sink: &str, stderr: Stdio| {
        let mut command = configured(scratch, &config(sink), &["timed", "5000"]);
        let mut child = command.stderr(stderr).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        for step in 1..=4 {
            child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            let longest = Duration::from_millis(line.trim_end().parse().unwrap());
            assert!(longest < BLOCK_MAX / 4, "{sink}: {longest:?}");
            // What is recorded is in the other sink: the one that stands still holds up nobody.
            let lines = || scratch.read("app.log").lines().filter(|line| line.contains("number ")).count();
            assert!(wait_until(|| lines() == step * 5000), "{sink}: {}", lines());
        }
        child.kill().unwrap();
        child.wait().unwrap();
    };
    let scratch = Scratch::new();
    // Its other end is open, and is not read.
    let (_reader, writer) = std::io::pipe().unwrap();
    run(&scratch, "to = 'stderr'", writer.into());
    let scratch = Scratch::new();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).and_then(|()| unlockpt(&master)).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    run(&scratch, "to = 'stderr'", File::options().read(true).write(true).open(name).unwrap().into());
    let scratch = Scratch::new();
    run(&scratch, "to = 'journald'\naddress = '/nowhere/journal'", Stdio::null());
    let scratch = Scratch::new();
    run(&scratch, "to = 'file'\npath = '/dev/full'", Stdio::null());
}

/// A full disk for log and spool, and full rings: a call waits as long as `block-max` says and then drops its
/// record. Everything is accounted for, and each wait is recorded with its reason.
#[test]
fn a_call_that_finds_no_room_waits_no_longer_than_it_may() {
    const BLOCK_MAX: Duration = Duration::from_millis(200);
    // Of threads that want the processor as well. Who waits without an end waits longer.
    const SLACK: Duration = Duration::from_secs(60);
    // More than all rings hold.
    const STEPS: u32 = 400;
    let scratch = Scratch::new();
    let Some(small) = Small::mount(scratch.path("small")) else { return };
    let config = "block-max = '200ms'\n[[sink]]\nto = 'file'\npath = 'small/app.log'\n";
    let mut command = configured(&scratch, config, &["timed", "50"]);
    command.env("SILVERPOINT_MEMORY", "256K");
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut made = 0;
    let mut step = |child: &mut Child| {
        child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        made += 50;
        (Duration::from_millis(line.trim_end().parse().unwrap()), made)
    };
    step(&mut child);
    small.fill_after(&scratch, 50);
    // Until a ring is full. After the first vain wait, no thread waits before there is room.
    let mut longest = Duration::ZERO;
    for _ in 0..STEPS {
        let (took, _) = step(&mut child);
        longest = longest.max(took);
    }
    assert!((BLOCK_MAX..BLOCK_MAX + SLACK).contains(&longest), "{longest:?}");
    small.make_room();
    // A loss is recorded before the next record that its thread can keep.
    let mut made = 0;
    let is_kept = (0..1000).any(|_| {
        (_, made) = step(&mut child);
        let last = format!("number {} ", made - 1);
        (0..25).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            scratch.read("small/app.log").contains(&last)
        })
    });
    assert!(is_kept, "nothing is kept although there is room");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let text = scratch.read("small/app.log");
    let told = |text: &str, before: &str| -> u64 {
        let counts = text.lines().filter_map(|line| line.split(before).nth(1));
        counts.map(|rest| rest.split(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    let lost = told(&text, " lost ");
    let kept = numbers(&text.lines().filter(|line| !line.contains(" lost ")).collect::<Vec<_>>().join("\n"));
    assert!(kept.is_sorted_by(|a, b| a < b), "in order, each once");
    assert!(lost > 0);
    assert_eq!(kept.len() as u64 + lost, made);
    let waits: Vec<&str> = text.lines().filter(|line| line.contains(" for room in the ring")).collect();
    assert!(!waits.is_empty(), "{text}");
    drop(small);
}
