//! The frontend as programs use it. Each test starts this program again in a role, with an environment and a
//! root of its own, and reads what it recorded.

/// A role and its test: values, each with what the reader makes of it. Each is recorded in a function of its own: the compiler takes longer for a
/// large one.
macro_rules! cases {
    ($role:literal: $($name:literal: $value:expr => $signature:literal $text:expr;)*) => {
        fn types() {
            $({
                fn one() {
                    silverpoint::event!($name, $value);
                }
                one();
            })*
        }

        fn every_type_reads_back() {
            let scene = crate::Scene::new();
            scene.run($role, &[("SILVERPOINT_FILTER", "info")]);
            let session = crate::reader::only_session(scene.root());
            for (name, signature, text) in [$(($name, $signature, String::from($text))),*] {
                assert_eq!(session.site(name).signature, signature, "{name}");
                assert_eq!(session.args_of(name), [text], "{name}");
            }
        }
    };
}

mod adopted;
mod allocation;
mod cbor;
mod contexts;
#[cfg(all(feature = "chrono", feature = "time", feature = "uuid"))]
mod crates;
mod fates;
mod instrument;
mod memory;
mod mistakes;
mod once;
mod processes;
mod reader;
mod recursive;
mod rings;
#[cfg(feature = "serde")]
mod serialized;
mod sites;
mod spans;
mod threads;
mod values;
mod vectors;
mod ways;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Barrier;
use std::{env, panic, thread};

use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

/// A test: runs in the parent.
type Test = (&'static str, fn());
/// What a child does.
type Role = (&'static str, fn());

const ROLE: &str = "SILVERPOINT_TEST_ROLE";

fn main() {
    if let Ok(wanted) = env::var(ROLE) {
        // It may wait for ever for a parent that has failed.
        // SAFETY: changes nothing but which signal this process gets when its parent ends.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        let roles = [
            values::ROLES,
            adopted::ROLES,
            rings::ROLES,
            memory::ROLES,
            spans::ROLES,
            sites::ROLES,
            contexts::ROLES,
            threads::ROLES,
            processes::ROLES,
            fates::ROLES,
            allocation::ROLES,
            recursive::ROLES,
            instrument::ROLES,
            once::ROLES,
            #[cfg(feature = "serde")]
            serialized::ROLES,
            vectors::ROLES,
            #[cfg(all(feature = "chrono", feature = "time", feature = "uuid"))]
            crates::ROLES,
        ];
        let role = roles.iter().copied().flatten().find(|(name, _)| *name == wanted);
        role.unwrap_or_else(|| panic!("no role {wanted}")).1();
        return;
    }
    let wanted: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let tests = [
        values::TESTS,
        mistakes::TESTS,
        adopted::TESTS,
        rings::TESTS,
        memory::TESTS,
        spans::TESTS,
        sites::TESTS,
        contexts::TESTS,
        threads::TESTS,
        processes::TESTS,
        fates::TESTS,
        allocation::TESTS,
        recursive::TESTS,
        instrument::TESTS,
        once::TESTS,
        #[cfg(feature = "serde")]
        serialized::TESTS,
        vectors::TESTS,
        #[cfg(all(feature = "chrono", feature = "time", feature = "uuid"))]
        crates::TESTS,
    ];
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for (name, test) in tests.iter().copied().flatten() {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        if NEED_A_KERNEL.contains(name) && env::var_os("TEST_RUNNER").is_some() {
            println!("test {name} ... ignored, it needs a kernel");
            ignored += 1;
            continue;
        }
        if SLOW_IN_AN_EMULATOR.contains(name) && env::var_os("TEST_RUNNER").is_some() {
            println!("test {name} ... ignored, an emulator takes minutes for it");
            ignored += 1;
            continue;
        }
        let outcome = panic::catch_unwind(test);
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        *if outcome.is_ok() { &mut passed } else { &mut failed } += 1;
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out"
    );
    std::process::exit(i32::from(failed != 0));
}

/// Tests of features that an emulator of user space announces but does not provide. These are wiping pages on
/// fork, backing memory with pages in advance, and keeping a process's start time when it executes another
/// program.
const NEED_A_KERNEL: &[&str] = &[
    "a_tiny_file_system",
    "a_tiny_file_system_and_an_old_kernel",
    "a_shortage_of_memory_passes",
    "a_shortage_of_memory_passes_with_an_old_kernel",
    "an_executed_image_has_its_own_session",
    "a_forked_child_has_its_own_session",
    "every_way_out_of_a_value_by_display",
    "every_way_out_of_a_value_by_debug",
    "every_way_out_of_an_error",
    "every_way_out_of_a_text",
    "every_way_out_of_a_value_by_hand",
    "every_way_out_of_a_serialized_value",
    "a_thread_that_ends_within_a_value",
    "a_forked_child_begins_without_fields",
    "a_logger_of_a_forked_child_has_its_first_record",
    "a_child_of_many_threads",
    "a_burst_takes_more_than_is_accessible_at_first",
    "locked_memory_has_no_unused_rings",
    "copies_of_one_process_share_the_session",
    // A library that is loaded and unloaded ends in a fault within the emulator.
    "unloaded_copies_leave_nothing_behind",
    "a_chain_of_an_unloaded_copy_is_whole",
    // Limits are those of the emulator.
    "limits_keep_the_memory_small",
    "all_descriptors_closed",
];

/// Left to the native run; the compiler is a program of the machine that emulates.
const SLOW_IN_AN_EMULATOR: &[&str] = &[
    "ten_thousand_threads_at_once",
    "block_loses_nothing_while_somebody_collects",
    // A handler may take longer than the timer's interval there.
    "a_chain_is_whole_with_signal_handlers_in_it",
    "mistakes_are_refused_when_compiled",
];

/// This program again: by the emulator that `TEST_RUNNER` names when it runs in one, which does not emulate that of children.
pub fn again() -> Command {
    let own = env::current_exe().unwrap();
    let runner = env::var("TEST_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    match words.next() {
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.args(words).arg(own);
            command
        }
        None => Command::new(own),
    }
}

/// Runs jobs side by side, each in a thread with a stack of this size and a ring of its own. All threads live
/// until all have recorded: a thread that ends would leave its ring to another that overwrites it.
pub fn side_by_side(stack: usize, jobs: &[&(dyn Fn() + Sync)]) {
    let all = &Barrier::new(jobs.len());
    thread::scope(|scope| {
        for job in jobs {
            let body = move || {
                job();
                all.wait();
            };
            thread::Builder::new().stack_size(stack).spawn_scoped(scope, body).unwrap();
        }
    });
}

/// A root of sessions for one test, in memory, removed at the end.
pub struct Scene {
    path: PathBuf,
    _folder: TempDir,
}

impl Scene {
    /// A place that nobody else uses.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let folder = silverpoint_tests::folder_in_memory();
        Self { path: folder.path().join("root"), _folder: folder }
    }

    /// Where its sessions are.
    pub fn root(&self) -> &Path {
        &self.path
    }

    /// This program again, in a role, with nothing of Silverpoint's environment but the root.
    pub fn command(&self, role: &str) -> Command {
        let mut command = again();
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("SILVERPOINT_") {
                command.env_remove(name);
            }
        }
        command.env(ROLE, role).env("SILVERPOINT_DIR", &self.path).stdin(Stdio::null());
        command
    }

    /// Runs a role to its end, which must be a good one.
    pub fn run(&self, role: &str, settings: &[(&str, &str)]) -> Output {
        let output = self.command(role).envs(settings.iter().copied()).output().unwrap();
        assert!(
            output.status.success(),
            "{role}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }
}
