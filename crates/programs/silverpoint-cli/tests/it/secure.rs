//! A program that has more privileges than its caller makes no session, for any environment.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;

use crate::harness::{Scratch, end, subject};

/// The user `nobody`: in any case not the one who runs the tests as root.
const OTHER: u32 = 65_534;

#[test]
fn a_setuid_program_makes_no_session() {
    if !rustix::process::geteuid().is_root() {
        silverpoint_tests::skipped!("a program of another user can be made by root only");
        return;
    }
    let scratch = Scratch::new();
    let program = scratch.executable("program", subject());
    // The other user gets to the root of sessions, and owns it.
    std::fs::set_permissions(scratch.path(""), PermissionsExt::from_mode(0o755)).unwrap();
    chown(scratch.root(), Some(OTHER), Some(OTHER)).unwrap();
    chown(&program, Some(OTHER), Some(OTHER)).unwrap();
    let run = |mode: u32, uid: u32| {
        std::fs::set_permissions(&program, PermissionsExt::from_mode(mode)).unwrap();
        let mut command = scratch.command(&program, ["flood", "5"]);
        // It ends by its own SIGKILL, so that a session would stay.
        let ended = end(command.env("SILVERPOINT_FILTER", "trace").uid(uid));
        assert_eq!(ended.signal(), Some(9), "{ended:?}");
        scratch.left().len()
    };
    assert_eq!(run(0o4755, rustix::process::getuid().as_raw()), 0, "privileges of another user");
    // The same user, the same file and the same environment, without a change of privileges.
    assert_eq!(run(0o755, OTHER), 1, "no privileges");
}
