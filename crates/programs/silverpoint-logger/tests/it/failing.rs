//! Sinks that are slow, fail or stall: no thread waits for them, and they get the missing records when they
//! can take them.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

use crate::harness::{Scratch, numbers, wait_until};
use crate::reload::{Obeying, until};

/// A program that logs by a configuration, one step for each line of input.
pub(crate) struct Steps(pub(crate) Child);

impl Steps {
    pub(crate) fn start(mut command: Command) -> Self {
        Self(command.spawn().unwrap())
    }

    pub(crate) fn configured(scratch: &Scratch, config: &str, words: &[&str]) -> Self {
        Self::start(configured(scratch, config, words))
    }

    /// Returns when everything of it is recorded.
    pub(crate) fn step(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.0.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    }

    /// Reads standard error up to a line that has all of these words. Fails when five minutes bring nothing.
    pub(crate) fn until_told(&mut self, words: &[&str]) {
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
    pub(crate) fn end(mut self) -> (String, String) {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert!(output.status.success(), "{}: {out}{err}", output.status);
        (out, err)
    }
}

pub(crate) fn configured(scratch: &Scratch, config: &str, words: &[&str]) -> Command {
    fs::write(scratch.path("log.toml"), config).unwrap();
    scratch.logging(["from", "log.toml"].into_iter().chain(words.iter().copied()))
}

pub(crate) fn whole(count: u64) -> Vec<u64> {
    (0..count).collect()
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
