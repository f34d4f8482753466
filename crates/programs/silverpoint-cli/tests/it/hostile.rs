//! Foreign things in the place of sessions: refused, reported, and never followed.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown, symlink};
use std::path::Path;

use rustix::fs::{CWD, Mode};
use rustix::process::Signal;

use crate::harness::{Running, Scratch, end, is_root};

fn directory(path: &Path) {
    fs::DirBuilder::new().mode(0o700).create(path).unwrap();
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn links_pipes_and_rubbish_in_the_root_are_told_and_harm_nobody() {
    let scratch = Scratch::new();
    let root = scratch.root();
    // Started before: a program's start removes what is visibly without an owner.
    let mut living = Running::start_with_input(&mut scratch.subject(["tick", "5"]));
    assert_eq!(living.line(), "ready");
    directory(&scratch.path("elsewhere"));
    symlink(scratch.path("elsewhere"), root.join("11-1-0")).unwrap();
    fs::write(root.join("12-1-0"), "a file").unwrap();
    directory(&root.join("13-1-0"));
    fifo(&root.join("13-1-0/control"));
    for file in ["rings", "owner", "collector"] {
        fifo(&root.join("13-1-0").join(file));
    }
    directory(&root.join("14-1-0"));
    for file in ["control", "rings", "owner", "collector"] {
        fs::write(root.join("14-1-0").join(file), vec![0xA5; 5000]).unwrap();
        fs::set_permissions(root.join("14-1-0").join(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::write(scratch.path("precious"), vec![7; 10_000]).unwrap();
    directory(&root.join("15-1-0"));
    for file in ["control", "rings", "owner", "collector"] {
        symlink(scratch.path("precious"), root.join("15-1-0").join(file)).unwrap();
    }
    symlink(scratch.path("elsewhere"), root.join("run-1-00000000")).unwrap();

    let ls = scratch.run(["ls", "--json"]);
    assert_eq!(ls.code(), Some(0), "{ls:?}");
    assert_eq!(ls.out.lines().count(), 1, "{}", ls.out);
    for name in ["11-1-0", "12-1-0", "13-1-0", "14-1-0", "15-1-0"] {
        assert!(ls.err.contains(name), "{name} is not reported: {}", ls.err);
        assert_ne!(scratch.run(["recover", name]).code(), Some(0), "{name}");
    }
    let pid = living.pid().to_string();
    assert_eq!(scratch.run(["ctl", &pid, "info"]).code(), Some(0), "the neighbours do not disturb");
    assert_eq!(scratch.run(["attach", &pid, "--for", "50ms", "-o", "t.silver"]).code(), Some(0));
    assert_eq!(fs::read(scratch.path("precious")).unwrap(), vec![7; 10_000]);
    assert_eq!(living.end().code(), Some(0));
}

#[test]
fn a_planted_output_is_not_followed() {
    let scratch = Scratch::new();
    fs::write(scratch.path("precious"), "precious").unwrap();
    symlink(scratch.path("precious"), scratch.path("link.silver")).unwrap();
    fifo(&scratch.path("pipe.silver"));
    for output in ["link.silver", "pipe.silver"] {
        let ended = scratch.run(["run", "-o", output, "--", "touch", "started"]);
        assert_eq!(ended.code(), Some(125), "{ended:?}");
    }
    assert!(!scratch.path("started").exists());
    assert_eq!(fs::read(scratch.path("precious")).unwrap(), b"precious");
}

#[test]
fn a_root_that_is_not_private_is_refused() {
    let scratch = Scratch::new();
    fs::set_permissions(scratch.root(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = scratch.silverpoint(["run", "--", "true"]);
    // No other place either.
    command.env("XDG_RUNTIME_DIR", scratch.path("nowhere"));
    let refused = end(&mut command);
    // It uses no other place either.
    assert!(scratch.left().is_empty(), "{refused:?} {:?}", scratch.left());
}

#[test]
fn sessions_of_another_user_are_refused() {
    if !is_root("sessions of another user") {
        return;
    }
    const NOBODY: u32 = 65_534;
    let scratch = Scratch::new();
    // A complete session, but another user's.
    let dead = end(scratch.subject(["flood", "10"]).env("SILVERPOINT_FILTER", "trace"));
    assert_eq!(dead.signal(), Some(9));
    let name = scratch.left()[0].clone();
    let session = scratch.root().join(&name);
    chown(session.join("control"), Some(NOBODY), None).unwrap();
    let ended = scratch.run(["recover", &name]);
    assert_eq!(ended.code(), Some(1), "it is there, and is not stored: {ended:?}");
    assert!(ended.err.contains("it belongs to user 65534"), "{}", ended.err);
    chown(&session, Some(NOBODY), None).unwrap();
    let ended = scratch.run(["ls", "--json"]);
    assert_eq!((ended.code(), ended.out.as_str()), (Some(0), ""), "{ended:?}");
    assert!(ended.err.contains(&name), "{}", ended.err);

    // Another user's root: its contents are not even examined.
    chown(scratch.root(), Some(NOBODY), None).unwrap();
    let ended = scratch.run(["ls", "--json"]);
    assert!(!ended.out.contains(&name), "{ended:?}");

    // The other way round: somebody else cannot reach into this user's processes.
    chown(scratch.root(), Some(0), None).unwrap();
    fs::set_permissions(scratch.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let mut living = Running::start_with_input(&mut scratch.subject(["tick", "5"]));
    assert_eq!(living.line(), "ready");
    let program = scratch.executable("silverpoint", env!("CARGO_BIN_EXE_silverpoint"));
    let words = ["--reuid=65534", "--regid=65534", "--clear-groups", program.to_str().unwrap(), "ctl"];
    let mut command = scratch.command("setpriv", words);
    let ended = end(command.arg(living.pid().to_string()).arg("trace"));
    assert!(matches!(ended.code(), Some(1 | 6)), "{ended:?}");
    living.signal(Signal::KILL);
    living.end();
}
