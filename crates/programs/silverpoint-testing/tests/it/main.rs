//! Captures as tests use them: in parallel, in one process. What needs a process of its own runs this program again ([`alone`]).

mod expect;
mod life;
mod losses;
mod others;
mod values;

use std::process::Command;
use std::{env, fs};

use silverpoint_shm::observer::{Look, ObservedSession, Slice};
use silverpoint_shm::owner;
use silverpoint_shm::root::Root;
use silverpoint_wire::slice::RingHeader;

/// Runs a test in a process of its own, with a root of its own and nothing of Silverpoint's environment but what is given. True: this is that process;
/// false: it has run, and well. `test` is the full name of the caller.
fn alone(test: &str, settings: &[(&str, &str)]) -> bool {
    alone_leaving(test, settings).is_none()
}

/// The same. `None`: this is that process; else how many sessions it has left behind.
fn alone_leaving(test: &str, settings: &[(&str, &str)]) -> Option<usize> {
    const ROLE: &str = "SILVERPOINT_TESTING_ALONE";
    if env::var_os(ROLE).is_some_and(|wanted| wanted == test) {
        return None;
    }
    let root = silverpoint_tests::folder_in_memory();
    let mut command = Command::new(env::current_exe().expect("this program"));
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SILVERPOINT_")) {
        command.env_remove(name);
    }
    command.args([test, "--exact", "--nocapture"]).env("SILVERPOINT_DIR", root.path()).env(ROLE, test);
    let output = command.envs(settings.iter().copied()).output().expect("this program again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{test}: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Some(fs::read_dir(root.path()).map_or(0, Iterator::count))
}

/// This process's session, as another program would open it.
fn own_session() -> ObservedSession {
    assert!(owner::start());
    let (path, _) = owner::session_name().expect("a session");
    let root = Root::open_directory(path.parent().unwrap()).unwrap();
    ObservedSession::open(&root, path.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap()
}

/// The rings of a session that have been in use.
fn rings(session: &ObservedSession) -> Vec<(Slice, RingHeader)> {
    let mut slices = Vec::new();
    session.slices(session.counters().unwrap().slabs_next, &mut slices, |_| {}).unwrap();
    let look = |slice| match session.look(slice).unwrap() {
        Look::Ring(ring) => Some((slice, ring)),
        Look::Free | Look::Claiming => None,
    };
    slices.into_iter().filter_map(look).collect()
}

/// What an expectation says when it is not met; without the note on other threads, which are the tests that run meanwhile.
#[track_caller]
fn message_of(expectation: silverpoint_testing::Expectation<'_>) -> String {
    let message = expectation.check_once().expect_err("the expectation is met");
    let lines = message.lines().filter(|line| !line.starts_with(OTHERS_NOTE));
    lines.flat_map(|line| [line, "\n"]).collect()
}

const OTHERS_NOTE: &str = "note: other threads have recorded";
