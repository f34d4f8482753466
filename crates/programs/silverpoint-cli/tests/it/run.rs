//! `run`: what passes through, who outlives whom.

use std::ffi::OsString;
use std::time::Duration;

use rustix::process::Signal;

use crate::harness::{Running, Scratch, collector_of, end, send, stop, subject};

#[test]
fn streams_and_exit_status_pass_through() {
    let scratch = Scratch::new();
    let script = "cat; echo problem >&2; exit 7";
    let mut running =
        Running::start_with_input(&mut scratch.silverpoint(["run", "-q", "--", "sh", "-c", script]));
    running.write("what comes in\n");
    let ended = running.end();
    assert_eq!((ended.code(), ended.out.as_str()), (Some(7), "what comes in\n"));
    assert_eq!(ended.err, "problem\n");
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn death_by_a_signal_passes_through() {
    let scratch = Scratch::new();
    for (name, number) in [("TERM", 15), ("KILL", 9), ("ABRT", 6), ("USR1", 10), ("PIPE", 13), ("RTMIN", 34)]
    {
        let ended = scratch.run(["run", "-q", "--", "sh", "-c", &format!("kill -s {name} $$")]);
        assert_eq!(ended.signal(), Some(number), "{name}: {ended:?}");
    }
}

#[test]
fn signals_to_the_supervisor_reach_the_command() {
    let scratch = Scratch::new();
    for (name, signal) in
        [("TERM", Signal::TERM), ("HUP", Signal::HUP), ("INT", Signal::INT), ("USR2", Signal::USR2)]
    {
        let script =
            format!("trap 'echo got {name}; exit 3' {name}; echo ready; while :; do sleep 0.01; done");
        let mut running = Running::start(&mut scratch.silverpoint(["run", "-q", "--", "sh", "-c", &script]));
        assert_eq!(running.line(), "ready");
        running.signal(signal);
        let ended = running.end();
        assert_eq!(
            (ended.code(), ended.out.trim_end()),
            (Some(3), format!("got {name}").as_str()),
            "{}",
            ended.err
        );
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let scratch = Scratch::new();
    let inner = "kill -HUP $PPID; sleep 0.1; echo on; grep SigIgn /proc/self/status";
    let script = format!("trap '' HUP; exec {} run -q -- sh -c '{inner}'", env!("CARGO_BIN_EXE_silverpoint"));
    let ended = end(&mut scratch.command("sh", ["-c", &script]));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    let mask = ended.out.split_whitespace().last().unwrap();
    assert_eq!(ended.out.lines().next(), Some("on"));
    assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 1, 1, "SIGHUP is ignored in the command: {mask}");
}

#[test]
fn a_stopped_command_does_not_stop_the_supervisor_without_a_terminal() {
    let scratch = Scratch::new();
    let script = "echo $$; kill -STOP $$; echo on; exit 4";
    let mut running = Running::start(&mut scratch.silverpoint(["run", "-q", "--", "sh", "-c", script]));
    let pid: u32 = running.line().parse().unwrap();
    let is_stopped = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ");
    scratch.wait("the stop", is_stopped);
    send(pid, Signal::CONT);
    let ended = running.end();
    assert_eq!((ended.code(), ended.out.as_str()), (Some(4), "on\n"));
}

#[test]
fn a_command_that_cannot_be_run_is_told_and_leaves_nothing() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("text"), "no program").unwrap();
    let ended = scratch.run(["run", "-o", "t.silver", "--", "no-such-command"]);
    assert_eq!(ended.code(), Some(127));
    assert_eq!(ended.err, "silverpoint: no-such-command: command not found in any directory of PATH\n");
    let ended = scratch.run(["run", "-o", "t.silver", "--", "./text"]);
    assert_eq!(ended.code(), Some(126));
    assert!(ended.err.contains("./text: it cannot be executed: Permission denied"), "{}", ended.err);
    assert!(!scratch.path("t.silver").exists() && scratch.left().is_empty());
}

#[test]
fn wrong_usage_is_told_with_its_place() {
    let scratch = Scratch::new();
    let ended = scratch.run(["run", "--filter", "net=debug,io=lots", "--", "true"]);
    assert_eq!(ended.code(), Some(2));
    assert!(ended.err.contains("column 14: found 'lots', expected a level"), "{}", ended.err);
    assert!(ended.err.contains("\n               ^"), "{}", ended.err);
    let ended = scratch.run(["run", "--policy", "wait", "--", "true"]);
    assert_eq!(ended.code(), Some(2));
    assert!(ended.err.contains("'wait': expected block, block=forever, drop or overwrite"), "{}", ended.err);
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_command_starts() {
    let scratch = Scratch::new();
    let touch = ["--", "touch", "started"];
    for (output, why) in
        [("missing/t.silver", "No such file or directory"), ("root", "it exists and is not a trace file")]
    {
        let ended = scratch.run(["run", "-o", output].iter().chain(&touch));
        assert_eq!(ended.code(), Some(125), "{ended:?}");
        assert!(ended.err.contains(output) && ended.err.contains(why), "{}", ended.err);
    }
    std::fs::write(scratch.path("notes.txt"), "precious").unwrap();
    let ended = scratch.run(["run", "-o", "notes.txt"].iter().chain(&touch));
    assert_eq!(ended.code(), Some(125), "{ended:?}");
    assert!(ended.err.contains("not a trace file"), "{}", ended.err);
    assert_eq!(std::fs::read(scratch.path("notes.txt")).unwrap(), b"precious");
    assert!(!scratch.path("started").exists(), "the command was started");
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn what_is_counted_is_what_the_program_recorded() {
    for flags in [&[][..], &["--compact"]] {
        let scratch = Scratch::new();
        let words = ["run", "-o", "t.silver"].iter().chain(flags).chain(&["--"]).map(OsString::from);
        let ended = scratch.run(words.chain([subject().into_os_string(), "spans".into(), "40".into()]));
        assert_eq!(ended.code(), Some(0), "{ended:?}");
        // 40 begins of spans and 40 events; the ends are records of the frontend's own.
        assert!(ended.err.starts_with("silverpoint: 80 records in "), "{}", ended.err);
    }
}

#[test]
fn several_programs_and_threads_are_recorded_into_one_file() {
    let scratch = Scratch::new();
    let script = "\"$SUBJECT\" count 100; \"$SUBJECT\" count 25 4 & \"$SUBJECT\" count 50; wait";
    let ended = scratch.run(["run", "-o", "t.silver", "--", "sh", "-c", script]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(ended.err.starts_with("silverpoint: 250 records in "), "{}", ended.err);
    assert!(ended.err.contains("t.silver (") && ended.err.contains("no losses"), "{}", ended.err);
    assert_eq!(scratch.records("t.silver"), 250);
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn a_program_that_executes_another_is_recorded_before_and_after() {
    let scratch = Scratch::new();
    let subject = crate::harness::subject();
    let ended = end(scratch
        .silverpoint(["run", "-o", "t.silver", "--"])
        .arg(&subject)
        .args(["exec", "30"])
        .arg(&subject)
        .args(["count", "12"]));
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!(scratch.records("t.silver"), 42);
}

#[test]
fn names_are_free_ones() {
    let scratch = Scratch::new();
    for _ in 0..2 {
        let subject = crate::harness::subject();
        assert_eq!(
            end(scratch.silverpoint(["run", "-q", "--"]).arg(subject).args(["count", "3"])).code(),
            Some(0)
        );
    }
    assert_eq!((scratch.records("subject.silver"), scratch.records("subject-2.silver")), (3, 3));
}

#[test]
fn programs_that_outlive_the_command_are_collected_in_the_background() {
    let scratch = Scratch::new();
    let later = "until [ -e go ]; do sleep 0.05; done; exec \"$SUBJECT\" count 40";
    let script = format!("({later}) >/dev/null 2>&1 & exit 5");
    let ended = scratch.run(["run", "-o", "t.silver", "--", "sh", "-c", &script]);
    // It has ended, although the background waits for the file.
    assert_eq!(ended.code(), Some(5), "{ended:?}");
    assert!(ended.err.contains("processes of the command are still running"), "{}", ended.err);
    std::fs::write(scratch.path("go"), "").unwrap();
    // The private directory goes last.
    scratch.wait_until_empty();
    assert_eq!(scratch.records("t.silver"), 40);
}

#[test]
fn a_daemon_is_collected_in_the_background() {
    let scratch = Scratch::new();
    let ended = scratch.run([
        "run",
        "-o",
        "t.silver",
        "--",
        "sh",
        "-c",
        "setsid -f \"$SUBJECT\" later 300 20 </dev/null >/dev/null 2>&1",
    ]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    scratch.wait_until_empty();
    assert_eq!(scratch.records("t.silver"), 20);
}

#[test]
fn the_collector_outlives_a_killed_supervisor() {
    let scratch = Scratch::new();
    let script = "\"$SUBJECT\" count 10; echo ready; read go; \"$SUBJECT\" count 15";
    let mut running = Running::start_with_input(
        &mut scratch.silverpoint(["run", "-o", "t.silver", "--", "sh", "-c", script]),
    );
    assert_eq!(running.line(), "ready");
    running.signal(Signal::KILL);
    assert_eq!(running.end().signal(), Some(9));
    scratch.wait_until_empty();
    assert_eq!(scratch.records("t.silver"), 25);
}

#[test]
fn a_collector_that_is_killed_again_and_again_loses_nothing() {
    let scratch = Scratch::new();
    let subject = crate::harness::subject();
    // However long it takes to start the next one.
    let words = ["run", "--policy", "block=forever", "-o", "t.silver", "--"];
    let mut running = Running::start_with_input(scratch.silverpoint(words).arg(&subject).args(["tick", "1"]));
    assert_eq!(running.line(), "ready");
    let supervisor = running.pid();
    let mut last = 0;
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(60));
        scratch.wait("another collector", || collector_of(supervisor).is_some_and(|pid| pid != last));
        last = collector_of(supervisor).unwrap();
        send(last, Signal::KILL);
    }
    let ended = running.end();
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert!(
        ended.err.contains("the collector died (signal: 9 (SIGKILL)) and was started again"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("no losses"), "{}", ended.err);
    let ticks: usize = ended.out.split_whitespace().next().unwrap().parse().unwrap();
    assert_eq!(scratch.records("t.silver"), ticks);
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn records_are_echoed_while_they_come() {
    let scratch = Scratch::new();
    let subject = crate::harness::subject();
    let mut command = scratch.silverpoint(["run", "--echo", "-o", "t.silver", "--"]);
    let mut running = Running::start_with_input(command.arg(&subject).args(["tick", "5"]));
    assert_eq!(running.line(), "ready");
    std::thread::sleep(Duration::from_millis(300));
    let ended = running.end();
    let ticks: usize = ended.out.split_whitespace().next().unwrap().parse().unwrap();
    let shown: Vec<&str> = ended.err.lines().filter(|line| line.contains("tick ")).collect();
    assert_eq!(shown.len(), ticks, "{}", ended.err);
    for (number, line) in shown.iter().enumerate() {
        assert!(line.contains("INFO") && line.contains(&format!("tick {number}")), "{line}");
    }
    // The end of the run is reported after the last of them.
    assert!(ended.err.trim_end().lines().last().unwrap().starts_with("silverpoint: "), "{}", ended.err);
}

#[test]
fn echo_does_not_wait_for_the_end() {
    let scratch = Scratch::new();
    let subject = crate::harness::subject();
    let errors = std::fs::File::create(scratch.path("errors")).unwrap();
    let mut command = scratch.silverpoint(["run", "--echo", "--rotate-size", "64K", "-o", "t.silver", "--"]);
    command
        .arg(&subject)
        .args(["tick", "5"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null());
    let mut child = command.stderr(errors).spawn().unwrap();
    let said = || std::fs::read_to_string(scratch.path("errors")).unwrap().contains("tick 3");
    scratch.wait("the first records", said);
    assert!(child.try_wait().unwrap().is_none(), "it was shown only after the end");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_run_within_a_run_keeps_its_records_to_itself() {
    let scratch = Scratch::new();
    let script = format!(
        "\"$SUBJECT\" count 5; {} run -q -o inner.silver -- \"$SUBJECT\" count 7; \"$SUBJECT\" count 2",
        env!("CARGO_BIN_EXE_silverpoint")
    );
    let ended = scratch.run(["run", "-q", "-o", "outer.silver", "--", "sh", "-c", &script]);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    assert_eq!((scratch.records("outer.silver"), scratch.records("inner.silver")), (7, 7));
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn job_control_at_a_terminal_is_that_of_the_command() {
    let scratch = Scratch::new();
    let words = ["-qec", "bash --norc --noprofile -i", "/dev/null"];
    if !["script", "bash"].iter().all(|program| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|path| path.join(program).is_file())
    }) {
        silverpoint_tests::skipped!("job control: needs script and bash");
        return;
    }
    let mut command = scratch.command("script", words);
    command.env("PS1", "> ").env("TERM", "dumb").env("SHELL", "/bin/bash");
    let mut shell = Running::start_with_input(&mut command);
    let program = env!("CARGO_BIN_EXE_silverpoint");
    // One process: a shell that starts others waits in vfork. If the key stops the child before it executes
    // its program, neither continues.
    shell.write(&format!("{program} run -q -o t.silver -- sh -c 'echo u\"\"p $$; exec sleep 100'\n"));
    shell.read_until("up ");
    let pid = shell.line().trim_end().to_owned();
    shell.write("\x1a");
    shell.read_until("Stopped");
    shell.write("fg\n");
    shell.read_until("run -q -o t.silver");
    // The command goes on, and has the terminal.
    scratch.wait("the command in the foreground", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        let (state, group, foreground) = (fields[0], fields[2], fields[5]);
        ["S", "R", "D"].contains(&state) && group == foreground
    });
    shell.write("\x03");
    shell.write("echo rc=$?\n");
    shell.read_until("rc=130");
    shell.write("exit\n");
    assert_eq!(shell.end().code(), Some(0));
}

#[test]
fn programs_that_end_while_the_collector_is_away_are_not_swept_away() {
    let scratch = Scratch::new();
    let script = "echo ready; read go; for i in $(seq 50); do \"$SUBJECT\" count 4; done; echo done; read go";
    let mut running = Running::start_with_input(
        &mut scratch.silverpoint(["run", "-o", "t.silver", "--", "sh", "-c", script]),
    );
    assert_eq!(running.line(), "ready");
    let collector = collector_of(running.pid()).unwrap();
    stop(collector);
    running.write("go\n");
    assert_eq!(running.line(), "done");
    send(collector, Signal::CONT);
    running.write("go\n");
    assert_eq!(running.end().code(), Some(0));
    assert_eq!(scratch.records("t.silver"), 200);
}
