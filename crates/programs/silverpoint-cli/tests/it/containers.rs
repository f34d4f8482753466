//! The recipes of docs/containers.md, with namespaces as a container has them: mounts, processes, users, IPC of its own, and a small /dev/shm.

use std::process::{Command, Stdio};

use crate::harness::{Running, Scratch, end};

/// What makes a container: everything of its own, and its user is the one who starts it.
const UNSHARE: [&str; 7] =
    ["--mount", "--pid", "--user", "--ipc", "--map-root-user", "--fork", "--mount-proc"];

/// Whether namespaces can be made here; else says loudly what is not tested.
fn can_unshare(what: &str) -> bool {
    let script = "mount -t tmpfs -o size=64K tmpfs /dev/shm";
    let mut probe = Command::new("unshare");
    probe.args(UNSHARE).args(["sh", "-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
    let can = probe.status().is_ok_and(|status| status.success());
    if !can {
        silverpoint_tests::skipped!("{what}: unshare is not permitted here");
    }
    can
}

/// A shell's command in a container whose /dev/shm has this size.
fn inside(scratch: &Scratch, size: &str, command: &str) -> Command {
    let script = format!("mount -t tmpfs -o size={size},mode=1777 tmpfs /dev/shm && {command}");
    let mut unshare = scratch.command("unshare", UNSHARE);
    unshare.args(["sh", "-c", &script]).env("PROGRAM", env!("CARGO_BIN_EXE_silverpoint"));
    unshare
}

#[test]
fn both_inside() {
    if !can_unshare("program and collector in one container") {
        return;
    }
    for size in ["64M", "1M"] {
        let scratch = Scratch::new();
        let command = "\"$PROGRAM\" run -o t.silver -- \"$SUBJECT\" count 20000 2";
        let ended = end(inside(&scratch, size, command).env_remove("SILVERPOINT_DIR"));
        assert_eq!(ended.code(), Some(0), "{size}: {ended:?}");
        assert!(ended.err.contains("no losses"), "{size}: {}", ended.err);
        assert_eq!(scratch.records("t.silver"), 40_000, "{size}");
    }
}

#[test]
fn the_program_inside_and_run_outside() {
    if !can_unshare("a program in a container, its collector outside") {
        return;
    }
    for size in ["64M", "1M"] {
        let scratch = Scratch::new();
        let container = inside(&scratch, size, "exec \"$SUBJECT\" count 20000 2");
        let mut run = scratch.silverpoint(["run", "-o", "t.silver", "--"]);
        run.arg(container.get_program()).args(container.get_args());
        let ended = end(&mut run);
        assert_eq!(ended.code(), Some(0), "{size}: {ended:?}");
        assert!(ended.err.contains("no losses"), "{size}: {}", ended.err);
        assert_eq!(scratch.records("t.silver"), 40_000, "{size}");
        assert!(scratch.left().is_empty(), "{size}: {:?}", scratch.left());
    }
}

#[test]
fn a_program_inside_is_steered_and_its_end_is_recovered_from_outside() {
    if !can_unshare("a program in a container, steered from outside") {
        return;
    }
    let scratch = Scratch::new();
    let mut running = Running::start_with_input(&mut inside(&scratch, "1M", "exec \"$SUBJECT\" tick 1"));
    assert_eq!(running.line(), "ready");
    let mut pid = 0;
    scratch.wait("its session in the shared directory", || {
        let sessions = scratch.sessions();
        pid = sessions.first().and_then(|session| session["pid"].as_u64()).unwrap_or(0);
        pid > 0
    });
    // The pid is that of its own namespace, where it is the first: so it is called outside too.
    assert_eq!(pid, 1);
    let ctl = scratch.run(["ctl", "1", "trace"]);
    assert_eq!(ctl.code(), Some(0), "{ctl:?}");
    scratch.wait("records", || scratch.sessions()[0]["waiting_bytes"].as_u64() > Some(1000));
    drop(running);
    scratch.wait("its death", || scratch.sessions().first().is_some_and(|session| session["alive"] == false));
    let recovered = scratch.run(["recover", "--all", "-o", "t.silver"]);
    assert_eq!(recovered.code(), Some(0), "{recovered:?}");
    assert!(scratch.records("t.silver") > 10);
    assert!(scratch.left().is_empty());
}

#[test]
fn the_doctor_sees_where_it_is() {
    if !can_unshare("the doctor in a container") {
        return;
    }
    let scratch = Scratch::new();
    let doctor = |size: &str| {
        let ended =
            end(inside(&scratch, size, "exec \"$PROGRAM\" doctor --json").env_remove("SILVERPOINT_DIR"));
        let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        let state = |check: &str| {
            let all = report["findings"].as_array().unwrap();
            all.iter().find(|finding| finding["check"] == check).map(|finding| finding["state"].clone())
        };
        (ended.code(), state("shm.space"), state("security.inside_user_namespace"))
    };
    assert_eq!(doctor("256M"), (Some(0), Some("ok".into()), Some("warn".into())));
    assert_eq!(doctor("64M"), (Some(0), Some("warn".into()), Some("warn".into())));
    assert_eq!(doctor("128K"), (Some(7), Some("fail".into()), Some("warn".into())));
}
