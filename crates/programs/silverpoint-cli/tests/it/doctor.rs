//! `doctor` on this machine: what does not depend on the machine.

use std::os::unix::fs::PermissionsExt;

use crate::harness::{Ended, Scratch, end};

/// The finding of a check.
fn finding(ended: &Ended, check: &str) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let all = report["findings"].as_array().unwrap();
    all.iter()
        .find(|finding| finding["check"] == check)
        .unwrap_or_else(|| panic!("{check}: {report:#}"))
        .clone()
}

#[test]
fn it_finds_the_root_and_dead_sessions_in_it() {
    let scratch = Scratch::new();
    let ended = scratch.run(["doctor", "--json"]);
    let root = finding(&ended, "shm.root");
    assert_eq!(root["state"], "ok", "{root}");
    assert!(root["found"].as_str().unwrap().starts_with(scratch.root().to_str().unwrap()), "{root}");
    assert_eq!(finding(&ended, "sessions.dead")["state"], "ok");
    // A program dies with records that nobody has collected.
    end(scratch.subject(["flood", "100"]).env("SILVERPOINT_FILTER", "trace"));
    let ended = scratch.run(["doctor", "--json"]);
    let dead = finding(&ended, "sessions.dead");
    assert_eq!(dead["state"], "warn", "{dead}");
    assert!(dead["found"].as_str().unwrap().starts_with("1 dead sessions in"), "{dead}");
    assert!(dead["change"].as_str().unwrap().starts_with("silverpoint recover"), "{dead}");
    assert_eq!(finding(&ended, "sessions.version")["state"], "ok");
    assert_eq!(scratch.left().len(), 1, "the doctor changes nothing");
}

#[test]
fn limits_of_the_shell_are_seen_and_fail_with_a_code_of_their_own() {
    let scratch = Scratch::new();
    let doctor = |limit: &str, words: &str| {
        let script = format!("{limit} && exec \"$0\" doctor {words}");
        end(&mut scratch.command("sh", ["-c", &script, env!("CARGO_BIN_EXE_silverpoint")]))
    };
    let ended = doctor("ulimit -f 100", "--json");
    assert_eq!(ended.code(), Some(7), "{ended:?}");
    assert_eq!(finding(&ended, "limits.file_size")["state"], "fail");
    let ended = doctor("ulimit -v 80000", "--json");
    assert_eq!(ended.code(), Some(7), "{ended:?}");
    assert_eq!(finding(&ended, "limits.address_space")["state"], "fail");
    let ended = doctor("ulimit -f 100", "--quiet");
    assert_eq!(ended.code(), Some(7), "{ended:?}");
    assert!(
        ended.out.contains("fail  limits.file_size") && ended.out.contains("change: ulimit -f unlimited")
    );
    // What it says is so: the program makes no session.
    let script = "ulimit -f 100 && exec \"$0\" flood 100";
    end(scratch
        .command("sh", ["-c", script, crate::harness::subject().to_str().unwrap()])
        .env("SILVERPOINT_FILTER", "trace"));
    assert!(scratch.left().is_empty(), "{:?}", scratch.left());
}

#[test]
fn a_program_that_is_marked_is_told() {
    let scratch = Scratch::new();
    std::fs::copy("/bin/true", scratch.path("app")).unwrap();
    let ended = scratch.run(["doctor", "--json", "app"]);
    assert_eq!(finding(&ended, "security.program")["state"], "ok");
    std::fs::set_permissions(scratch.path("app"), std::fs::Permissions::from_mode(0o4755)).unwrap();
    let ended = scratch.run(["doctor", "--json", "app"]);
    assert_eq!(finding(&ended, "security.program")["state"], "fail");
    assert_eq!(ended.code(), Some(7));
}
