//! The adapter as programs use it. Each test runs this program again in a role, with an environment and a
//! root of its own. It reads the records by the contract's code.

mod allocator;
mod atrace;
#[path = "../../../silverpoint/tests/it/cbor.rs"]
mod cbor;
mod composed;
mod fields;
#[path = "../../../silverpoint-atrace/tests/it/instance.rs"]
mod instance;
mod kills;
mod log_records;
mod once;
mod owners;
#[path = "../../../silverpoint/tests/it/reader.rs"]
#[allow(dead_code)]
mod reader;
mod spans;
mod switching;
mod tasks;
mod upstream;
#[cfg(all(tracing_unstable, feature = "valuable"))]
mod valuables;
#[path = "../../../silverpoint/tests/it/ways.rs"]
#[allow(dead_code)]
mod ways;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use silverpoint_shm::observer::{self, ObservedSession};
use silverpoint_shm::root::Root;
use silverpoint_tests::folder_in_memory;
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: allocator::Recording = allocator::Recording;

const ROLE: &str = "SILVERPOINT_TRACING_ROLE";

/// Runs the test `name` again in a process of its own, and collects it. `None`: this is that process; else what it recorded, of which nothing was lost.
fn recorded(name: &str, filter: &str) -> Option<reader::Session> {
    let (session, losses) = recorded_with_losses(name, filter);
    assert_eq!(losses, [0; 8], "{name}");
    session
}

/// As [`recorded`], and what was lost.
fn recorded_with_losses(name: &str, filter: &str) -> (Option<reader::Session>, [u64; 8]) {
    if is_child(name) {
        return (None, [0; 8]);
    }
    let root = folder_in_memory();
    let mut child = child(name, filter, &root);
    let session = collect(root.path(), &mut child, |_, _| {});
    let output = child.wait_with_output().expect("it has ended");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{name}: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let losses = session.losses();
    (Some(session), losses)
}

/// Whether this process is the one that the test has started.
fn is_child(name: &str) -> bool {
    env::var_os(ROLE).is_some_and(|wanted| wanted == name)
}

/// The test `name` again, in a process of its own.
fn child(name: &str, filter: &str, root: &TempDir) -> Child {
    let mut command = Command::new(env::current_exe().expect("this program"));
    for (key, _) in env::vars_os().filter(|(key, _)| key.to_string_lossy().starts_with("SILVERPOINT_")) {
        command.env_remove(key);
    }
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, name);
    command.env_remove("RUST_LOG").env("SILVERPOINT_DIR", root.path()).env("SILVERPOINT_FILTER", filter);
    // Recording threads wait for this process, however busy the machine is.
    command.env("SILVERPOINT_COLLECTOR", "1").env("SILVERPOINT_BLOCK_MAX", "600s");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("this program again")
}

/// Takes what a child records until it has ended.
///
/// After each pass `each` gets the number of bytes collected so far.
fn collect(root: &Path, child: &mut Child, mut each: impl FnMut(&mut Child, usize)) -> reader::Session {
    let start = Instant::now();
    let session = loop {
        assert!(start.elapsed() < Duration::from_secs(120), "no session");
        let open = || {
            let root = Root::open_directory(root).ok()?;
            // (A child that it has forked meanwhile has one of its own.)
            let name = observer::list(&root).ok()?.into_iter().find(|name| name.pid == child.id())?;
            ObservedSession::open(&root, name).ok()
        };
        match open() {
            Some(session) => break session,
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    assert!(session.lock_collector().unwrap());
    session.set_collector_pid(std::process::id()).unwrap();
    session.set_collector_state(1).unwrap();
    let mut drain = reader::Drain::default();
    let mut taken = 0;
    loop {
        let has_ended = child.try_wait().unwrap().is_some();
        let now = drain.pass(&session, true);
        if now == 0 && has_ended {
            return drain.finish(&session);
        }
        taken += now;
        each(child, taken);
        thread::sleep(Duration::from_millis(1));
    }
}

/// The two ways in: both must behave the same.
fn both_ways(run: impl Fn()) {
    use tracing_subscriber::layer::SubscriberExt as _;
    tracing::subscriber::with_default(silverpoint_tracing::Subscriber::new(), &run);
    let registry = tracing_subscriber::registry().with(silverpoint_tracing::layer());
    tracing::subscriber::with_default(registry, &run);
}
