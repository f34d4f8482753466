//! The adapter as programs use it. Each test runs this program again in a role, with an environment and a
//! root of its own. It reads the records by the contract's code.

#[path = "../../../silverpoint/tests/it/cbor.rs"]
mod cbor;
mod once;
#[path = "../../../silverpoint/tests/it/reader.rs"]
#[allow(dead_code)]
mod reader;
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

const ROLE: &str = "SILVERPOINT_LOG_ROLE";

/// Runs the test `name` again in a process of its own, and collects it. `None`: this is that process; else what it recorded, of which nothing was lost.
fn recorded(name: &str, filter: &str) -> Option<reader::Session> {
    if is_child(name) {
        return None;
    }
    let root = folder_in_memory();
    let mut child = start(name, filter, &root);
    let session = collect(root.path(), &mut child);
    let output = child.wait_with_output().expect("it has ended");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{name}: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(session.losses(), [0; 8], "{name}");
    Some(session)
}

/// Whether this process is the one that the test has started.
fn is_child(name: &str) -> bool {
    let is = env::var_os(ROLE).is_some_and(|wanted| wanted == name);
    if is {
        // It may wait for ever for a test that has failed.
        // SAFETY: changes nothing but which signal this process gets when its parent ends.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    }
    is
}

/// The test `name` again, in a process of its own.
fn start(name: &str, filter: &str, root: &TempDir) -> Child {
    let mut command = Command::new(env::current_exe().expect("this program"));
    for (key, _) in env::vars_os().filter(|(key, _)| key.to_string_lossy().starts_with("SILVERPOINT_")) {
        command.env_remove(key);
    }
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, name);
    command.env_remove("RUST_LOG").env("SILVERPOINT_DIR", root.path()).env("SILVERPOINT_FILTER", filter);
    // Recording threads wait for this process, however busy the machine is.
    command.env("SILVERPOINT_COLLECTOR", "1").env("SILVERPOINT_POLICY", "block=forever");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("this program again")
}

/// Takes what a child records until it has ended.
fn collect(root: &Path, child: &mut Child) -> reader::Session {
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
    loop {
        let has_ended = child.try_wait().unwrap().is_some();
        if drain.pass(&session, true) == 0 && has_ended {
            return drain.finish(&session);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[derive(Debug)]
struct Lost(std::io::Error);

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("order lost")
    }
}

impl std::error::Error for Lost {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn texts_and_keys_are_recorded_with_their_places() {
    let name = "texts_and_keys_are_recorded_with_their_places";
    let Some(session) = recorded(name, "info,quiet=error") else {
        silverpoint_log::init();
        assert!(silverpoint_log::try_init().is_err());
        assert_eq!(log::max_level(), log::LevelFilter::Info);
        for number in 0..3 {
            log::info!("number {number}");
        }
        log::info!("a literal");
        log::warn!(target: "quiet", "not heard");
        log::error!(target: "quiet", "heard");
        log::debug!("below");
        assert!(!log::log_enabled!(target: "quiet", log::Level::Warn));
        assert!(log::log_enabled!(log::Level::Warn));
        let gone = Lost(std::io::Error::other("disk gone"));
        for user in [7_u64, 8] {
            log::info!(target: "keys", user, tries = -3_i64, ratio = 0.5, ok = true, name = "ada", at:? = Some(1), err:err = gone; "{user} connected");
        }
        for long in [300, 70_000] {
            log::info!(target: "long", "{}", "x".repeat(long));
        }
        return;
    };
    let texts: Vec<String> =
        ["number 0", "number 1", "number 2", "a literal", "heard"].map(|text| format!("{text:?}")).into();
    let keys = [7, 8].map(|user| {
        format!("\"{user} connected\", {user}, -3, 0.5, true, \"ada\", \"Some(1)\", [\"order lost\", \"disk gone\"]")
    });
    let long = [300, 70_000].map(|size| format!("<{size}>"));
    assert_eq!(session.args_of("{}"), [&texts[..], &keys, &long].concat());
    let of = |category: &str| {
        let mut found =
            session.sites.values().filter(|site| site.category == category && !site.signature.is_empty());
        found.next().unwrap_or_else(|| panic!("no site of {category}"))
    };
    assert_eq!(
        (of("keys").names.as_str(), of("keys").signature.as_str()),
        ("\nuser\ntries\nratio\nok\nname\nat\nerr\n", "sLldbss[s")
    );
    assert_eq!(
        (of("quiet").level as u8, of("quiet").file.as_str(), of("quiet").line > 0),
        (4, file!(), true)
    );
}

#[test]
fn keys_of_rarer_types_and_more_of_them_than_a_record_takes() {
    let name = "keys_of_rarer_types_and_more_of_them_than_a_record_takes";
    let Some(session) = recorded(name, "info") else {
        silverpoint_log::init();
        let nothing = log::kv::Value::null();
        log::info!(least = i128::MIN, most = u128::MAX, letter = 'x', nothing, place:% = "10.0.0.1"; "rare");
        let pairs: Vec<(String, u64)> = (0..300).map(|number| (format!("k{number}"), number)).collect();
        let args = format_args!("many");
        let mut record = log::Record::builder();
        record.level(log::Level::Info).target("many").args(args).key_values(&pairs);
        return log::logger().log(&record.build());
    };
    let rare = format!("\"rare\", {}, {}, 'x', null, \"10.0.0.1\"", i128::MIN, u128::MAX);
    let many: String = (0..250).map(|number| format!(", {number}")).collect();
    assert_eq!(session.args_of("{}"), [rare, format!("\"many\"{many}")]);
    let rare = session.sites.values().find(|site| site.names.starts_with("\nleast")).unwrap();
    assert_eq!(rare.signature, "soOWns");
}

/// Controls the program, as another process could.
fn set_directives(text: &str) {
    let root = Root::open_directory(env::var_os("SILVERPOINT_DIR").unwrap().as_ref()).unwrap();
    let name = observer::list(&root).unwrap()[0];
    ObservedSession::open(&root, name).unwrap().write_directives(text).unwrap();
}

#[test]
fn one_line_is_switched_while_the_program_runs() {
    let name = "one_line_is_switched_while_the_program_runs";
    let Some(session) = recorded(name, "error") else {
        silverpoint_log::init();
        const LINE: u32 = line!() + 2;
        let hit = || {
            log::debug!("wanted");
            log::debug!("other");
        };
        hit();
        assert_eq!(log::max_level(), log::LevelFilter::Error);
        set_directives(&format!("main.rs:{LINE}"));
        let start = Instant::now();
        while log::max_level() != log::LevelFilter::Trace {
            assert!(start.elapsed() < Duration::from_secs(120), "the level follows the directives");
            thread::sleep(Duration::from_millis(1));
        }
        return hit();
    };
    assert_eq!(session.args_of("{}"), ["\"wanted\""]);
}
