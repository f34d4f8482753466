//! Each check on systems that were made up.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::PathBuf;

use silverpoint_shm::probe::Support;
use tempfile::TempDir;

use super::system::{Space, System};
use super::{clock, kernel, limits, memory, of, tracers};
use crate::doctor::finding::{Finding, State};
use crate::doctor::{leftovers, push_json, push_text};

const GOOD: Support = Support { populate_write: true, wipe_on_fork: true, is_privileged: false };

/// A directory that stands for `/`.
struct Made {
    path: PathBuf,
    _folder: TempDir,
    support: Support,
    space: fn(&std::path::Path) -> Option<Space>,
}

impl Made {
    fn new() -> Made {
        let folder = TempDir::with_prefix("silverpoint-doctor-").unwrap();
        let path = folder.path().to_owned();
        let made = Made {
            path,
            _folder: folder,
            support: GOOD,
            space: |_| Some(Space { size: 1 << 30, free: 1 << 30 }),
        };
        std::fs::create_dir_all(made.path.join("dev/shm")).unwrap();
        std::fs::create_dir_all(made.path.join("tmp")).unwrap();
        made.write("proc/self/mountinfo", "1 0 0:1 / / rw - ext4 /dev/vda rw\n2 1 0:2 / /dev/shm rw,nosuid shared:3 - tmpfs shm rw,size=65536k\n");
        made
    }

    fn write(&self, path: &str, text: &str) -> &Made {
        let path = self.path.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn system(&self) -> System {
        System::pretended(&self.path, self.support, self.space)
    }

    /// Where the root is by default.
    fn root(&self) -> PathBuf {
        self.path.join(format!("dev/shm/silverpoint-{}", self.system().uid))
    }

    fn make_root(&self, mode: u32) -> PathBuf {
        std::fs::DirBuilder::new().mode(0o700).create(self.root()).unwrap();
        std::fs::set_permissions(self.root(), std::fs::Permissions::from_mode(mode)).unwrap();
        self.root()
    }
}

fn states(findings: &[Finding]) -> Vec<State> {
    findings.iter().map(|finding| finding.state).collect()
}

#[track_caller]
fn only(findings: Vec<Finding>, state: State, found: &str) -> Finding {
    assert_eq!(findings.len(), 1, "{findings:#?}");
    let finding = findings.into_iter().next().unwrap();
    assert_eq!(finding.state, state, "{finding:#?}");
    assert!(finding.found.contains(found), "{finding:#?}");
    // A warning says what it means and what to do.
    assert!(state == State::Ok || !finding.means.is_empty() && !finding.change.is_empty(), "{finding:#?}");
    finding
}

#[test]
fn the_root_is_the_users_own_or_is_passed_over() {
    let made = Made::new();
    only(memory::root(&made.system()), State::Ok, "will hold the sessions");
    let root = made.make_root(0o755);
    let found = memory::root(&made.system());
    assert_eq!(states(&found), [State::Warn, State::Ok], "{found:#?}");
    assert!(found[0].found.contains("mode is 0755") && found[0].change.starts_with("chmod 0700 /dev/shm/"));
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o700)).unwrap();
    only(memory::root(&made.system()), State::Ok, "holds the sessions");
    std::fs::remove_dir(&root).unwrap();
    symlink("/tmp", &root).unwrap();
    assert!(memory::root(&made.system())[0].found.ends_with("it is a link"));
    let uid = made.system().uid + 1;
    let mut other = made.system();
    other.uid = uid;
    std::fs::create_dir(made.path.join(format!("dev/shm/silverpoint-{uid}"))).unwrap();
    assert!(memory::root(&other)[0].found.contains("belongs to user"), "{:?}", memory::root(&other));
}

#[test]
fn without_any_place_it_fails() {
    let made = Made::new();
    std::fs::remove_dir_all(made.path.join("dev")).unwrap();
    std::fs::remove_dir_all(made.path.join("tmp")).unwrap();
    let found = memory::root(&made.system());
    assert_eq!(states(&found), [State::Warn, State::Warn, State::Fail], "{found:#?}");
    assert!(memory::mount(&made.system()).is_empty() && memory::space(&made.system()).is_empty());
}

#[test]
fn a_place_that_was_asked_for_is_the_only_one() {
    let made = Made::new();
    let mut system = made.system();
    system.environment.insert("SILVERPOINT_DIR".into(), "/var/traces".into());
    let found = memory::root(&system);
    assert_eq!(states(&found), [State::Fail], "{found:#?}");
    assert_eq!(found[0].change, "mkdir -p -m 0700 /var/traces");
    assert!(memory::mount(&system).is_empty() && memory::space(&system).is_empty());
}

#[test]
fn mounts() {
    let made = Made::new();
    only(memory::mount(&made.system()), State::Ok, "tmpfs");
    let mount = |line: &str| {
        made.write("proc/self/mountinfo", line);
        memory::mount(&made.system())
    };
    only(mount("2 1 0:2 / /dev/shm ro - tmpfs shm rw\n"), State::Fail, "read-only");
    only(mount("2 1 0:2 / /dev/shm rw,noexec - tmpfs shm rw\n"), State::Ok, "noexec: that is fine");
    only(mount("2 1 0:2 / / rw - overlay o rw\n"), State::Warn, "overlay, not tmpfs");
    only(mount("2 1 0:2 / / rw - nfs4 host:/ rw\n"), State::Fail, "nfs4");
    only(
        mount("2 1 0:2 / /dev\\040x rw - tmpfs x rw\n2 1 0:2 / / rw - tmpfs x rw\n"),
        State::Ok,
        "/ is tmpfs",
    );
    only(mount("nonsense\n"), State::Warn, "cannot be read");
}

#[test]
fn room() {
    let mut made = Made::new();
    only(memory::space(&made.system()), State::Ok, "1.0 GiB free");
    made.space = |_| Some(Space { size: 64 << 20, free: 64 << 20 });
    let finding = only(memory::space(&made.system()), State::Warn, "64.0 MiB free");
    assert!(finding.means.contains("16.0 MiB instead of 32.0 MiB"), "{finding:#?}");
    assert!(finding.change.contains("size=256M /dev/shm"), "{finding:#?}");
    made.space = |_| Some(Space { size: 1 << 20, free: 0 });
    only(memory::space(&made.system()), State::Fail, "0 B free");
    made.space = |_| None;
    only(memory::space(&made.system()), State::Warn, "cannot be determined");
}

#[test]
fn rings() {
    let mut made = Made::new();
    made.space = |_| Some(Space { size: 12 << 30, free: 12 << 30 });
    made.write("proc/meminfo", "MemTotal:       25165824 kB\nMemFree:         1 kB\n");
    let finding = only(memory::rings(&made.system()), State::Ok, "up to 256.0 MiB");
    assert!(finding.means.starts_with("a burst of 157.0 MiB in one thread waits"), "{finding:#?}");
    // Limits, of which a program sees these.
    made.write("sys/fs/cgroup/memory.max", "8589934592\n");
    only(memory::rings(&made.system()), State::Ok, "up to 128.0 MiB");
    let limit = |text: &str| made.write("proc/self/limits", &format!("{text:<46}unlimited   bytes\n"));
    limit("Max address space         8589934592");
    let finding = only(memory::rings(&made.system()), State::Ok, "up to 32.0 MiB");
    assert!(finding.means.ends_with("locked is limited"), "{finding:#?}");
    limit("Max locked memory         8388608");
    only(memory::rings(&made.system()), State::Ok, "up to 128.0 MiB");
    limit("Max file size             20971520");
    only(memory::rings(&made.system()), State::Ok, "up to 20.0 MiB");
    limit("Max file size             unlimited");
    // What is asked for, and a ring that nothing follows.
    let asked = |bytes: &str| {
        let mut system = made.system();
        system.environment.insert("SILVERPOINT_MEMORY".into(), bytes.into());
        memory::rings(&system)
    };
    let finding = only(asked("4M"), State::Ok, "up to 4.0 MiB");
    assert!(finding.means.starts_with("a burst of 1.0 MiB in one thread waits"), "{finding:#?}");
    let finding = only(asked("256K"), State::Warn, "up to 256.0 KiB");
    assert!(
        finding.means.contains("more than 64.0 KiB") && finding.means.contains("no further"),
        "{finding:#?}"
    );
    made.space = |_| Some(Space { size: 1 << 20, free: 1 << 20 });
    only(memory::rings(&made.system()), State::Warn, "up to 256.0 KiB");
    made.space = |_| None;
    assert!(memory::rings(&made.system()).is_empty());
}

#[test]
fn limits_of_the_process() {
    let made = Made::new();
    let set = |name: &str, value: &str| {
        made.write(
            "proc/self/limits",
            &format!("Limit   Soft Limit   Hard Limit   Units\n{name:<26}{value:<21}unlimited   bytes\n"),
        );
    };
    set("Max file size", "unlimited");
    only(limits::file_size(&made.system()), State::Ok, "any size");
    set("Max file size", "1048576");
    only(limits::file_size(&made.system()), State::Fail, "1.0 MiB");
    set("Max file size", "20971520");
    only(limits::file_size(&made.system()), State::Warn, "20.0 MiB");
    set("Max address space", "unlimited");
    only(limits::address_space(&made.system()), State::Ok, "no limit");
    set("Max address space", "67108864");
    only(limits::address_space(&made.system()), State::Fail, "64.0 MiB");
    set("Max address space", "8589934592");
    only(limits::address_space(&made.system()), State::Ok, "8.0 GiB");
    set("Max locked memory", "65536");
    let finding = only(limits::locked_memory(&made.system()), State::Ok, "64.0 KiB");
    assert!(finding.means.contains("mlockall"), "{finding:#?}");
    made.write("proc/sys/vm/max_map_count", "256\n");
    only(limits::map_count(&made.system()), State::Warn, "256 maps");
    made.write("proc/sys/vm/max_map_count", "65530\n");
    only(limits::map_count(&made.system()), State::Ok, "65530 maps");
}

#[test]
fn control_groups_of_both_versions() {
    let made = Made::new();
    only(limits::control_group(&made.system()), State::Ok, "no control group");
    made.write("proc/self/cgroup", "0::/app/job\n").write("sys/fs/cgroup/app/job/memory.max", "max\n");
    only(limits::control_group(&made.system()), State::Ok, "no control group");
    made.write("sys/fs/cgroup/app/memory.max", "134217728\n");
    let finding = only(
        limits::control_group(&made.system()),
        State::Warn,
        "128.0 MiB of memory (/sys/fs/cgroup/app/memory.max)",
    );
    assert!(finding.means.contains("do not see this limit"), "{finding:#?}");
    assert_eq!(finding.change, "SILVERPOINT_MEMORY=8388608");
    made.write("sys/fs/cgroup/memory.max", "67108864\n");
    let finding = only(limits::control_group(&made.system()), State::Warn, "64.0 MiB of memory");
    assert!(finding.means.contains("4.0 MiB instead of 32.0 MiB"), "{finding:#?}");
    made.write("sys/fs/cgroup/memory.max", "4194304\n");
    only(limits::control_group(&made.system()), State::Fail, "(/sys/fs/cgroup/memory.max)");
    made.write("proc/self/cgroup", "5:cpu:/\n4:memory:/box\n0::/\n");
    made.write("sys/fs/cgroup/memory.max", "max\n");
    made.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    only(limits::control_group(&made.system()), State::Ok, "no control group");
    made.write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n");
    only(limits::control_group(&made.system()), State::Ok, "1.0 GiB");
}

#[test]
fn clocks() {
    let made = Made::new();
    only(clock::counter(&made.system()), State::Ok, "no x86");
    assert!(clock::hypervisor(&made.system()).is_empty());
    made.write("proc/cpuinfo", "processor : 0\nflags\t\t: fpu constant_tsc nonstop_tsc\n");
    only(clock::counter(&made.system()), State::Ok, "invariant");
    only(clock::hypervisor(&made.system()), State::Ok, "no virtual machine");
    made.write("proc/cpuinfo", "flags : constant_tsc hypervisor\n");
    let finding = only(clock::counter(&made.system()), State::Warn, "without nonstop_tsc");
    assert!(finding.change.contains("invtsc"), "{finding:#?}");
    only(clock::hypervisor(&made.system()), State::Ok, "this is a virtual machine");
    let at = "sys/devices/system/clocksource/clocksource0";
    only(clock::source(&made.system()), State::Ok, "unknown");
    made.write(&format!("{at}/current_clocksource"), "tsc\n");
    only(clock::source(&made.system()), State::Ok, "is tsc");
    made.write(&format!("{at}/current_clocksource"), "kvm-clock\n");
    only(clock::source(&made.system()), State::Ok, "kvm-clock");
    made.write(&format!("{at}/current_clocksource"), "hpet\n");
    made.write(&format!("{at}/available_clocksource"), "hpet acpi_pm\n");
    assert!(only(clock::source(&made.system()), State::Warn, "hpet").change.contains("tsc=reliable"));
    made.write(&format!("{at}/available_clocksource"), "tsc hpet\n");
    assert!(only(clock::source(&made.system()), State::Warn, "hpet").change.contains("echo tsc >"));
}

#[test]
fn the_kernel() {
    let mut made = Made::new();
    only(kernel::populate(&made.system()), State::Ok, "works");
    only(kernel::wipe(&made.system()), State::Ok, "works");
    only(kernel::privileges(&made.system()), State::Ok, "no more privileges");
    made.support = Support { populate_write: false, wipe_on_fork: false, is_privileged: true };
    only(kernel::populate(&made.system()), State::Warn, "not known");
    only(kernel::wipe(&made.system()), State::Fail, "refused");
    only(kernel::privileges(&made.system()), State::Fail, "AT_SECURE");
    only(kernel::proc(&made.system()), State::Warn, "/proc/self/stat");
    made.write("proc/self/stat", "1 (x) S");
    only(kernel::proc(&made.system()), State::Ok, "readable");
    only(kernel::ptrace(&made.system()), State::Ok, "no Yama");
    made.write("proc/sys/kernel/yama/ptrace_scope", "3\n");
    only(kernel::ptrace(&made.system()), State::Ok, "is 3");
}

#[test]
fn namespaces() {
    let made = Made::new();
    only(kernel::namespaces(&made.system()), State::Ok, "are allowed");
    made.write("proc/sys/user/max_user_namespaces", "0\n");
    only(kernel::namespaces(&made.system()), State::Ok, "no user namespaces");
    made.write("proc/self/uid_map", "         0          0 4294967295\n");
    only(kernel::namespaces(&made.system()), State::Ok, "no user namespaces");
    made.write("proc/self/uid_map", "         0       1000          1\n");
    let found = kernel::namespaces(&made.system());
    assert_eq!(states(&found), [State::Ok, State::Warn], "{found:#?}");
    assert!(found[1].found.contains("1000 outside"), "{found:#?}");
}

#[test]
fn programs_with_marks() {
    let made = Made::new();
    made.write("app", "");
    let app = made.path.join("app");
    only(kernel::program(&app), State::Fail, "is not executable");
    only(kernel::program(&made.path), State::Fail, "is no regular file");
    std::fs::set_permissions(&app, std::fs::Permissions::from_mode(0o755)).unwrap();
    only(kernel::program(&app), State::Ok, "no marks");
    std::fs::set_permissions(&app, std::fs::Permissions::from_mode(0o6755)).unwrap();
    let found = kernel::program(&app);
    assert_eq!(states(&found), [State::Fail, State::Fail], "{found:#?}");
    assert!(found[0].found.contains("set-user-id") && found[1].found.contains("set-group-id"));
    assert_eq!(kernel::program(&made.path.join("missing"))[0].state, State::Fail);
}

#[test]
fn sessions_of_other_versions() {
    let made = Made::new();
    only(leftovers::versions(memory::opened(&made.system())), State::Ok, "speaks version 1.0");
    let root = made.make_root(0o700);
    let write = |name: &str, major: u8, minor: u8| {
        let mut head = b"SPCTL\r\n\x1a".to_vec();
        head.extend([major, 0, minor, 0]);
        std::fs::create_dir_all(root.join(name)).unwrap();
        std::fs::write(root.join(name).join("control"), head).unwrap();
    };
    write("7-100-0", 1, 0);
    only(leftovers::versions(memory::opened(&made.system())), State::Ok, "all sessions");
    write("8-100-0", 1, 3);
    write("9-100-0", 2, 0);
    let found = leftovers::versions(memory::opened(&made.system()));
    assert_eq!(states(&found), [State::Warn, State::Fail], "{found:#?}");
    assert!(found[1].found.contains("9-100-0 has version 2.0"), "{found:#?}");
    only(leftovers::dead(memory::opened(&made.system())), State::Ok, "no dead ones");
}

#[test]
fn both_forms_say_the_same() {
    let mut made = Made::new();
    made.space = |_| Some(Space { size: 1 << 20, free: 0 });
    let findings = of(&made.system());
    let (mut text, mut quiet, mut json) = (String::new(), String::new(), String::new());
    push_text(&mut text, &findings, false);
    push_text(&mut quiet, &findings, true);
    push_json(&mut json, &findings);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["state"], "fail");
    let listed = json["findings"].as_array().unwrap();
    assert_eq!(listed.len(), findings.len());
    for finding in listed {
        for part in ["check", "state", "found", "means", "change"] {
            assert!(text.contains(finding[part].as_str().unwrap()), "{finding} in {text}");
        }
    }
    assert!(quiet.contains("shm.space") && !quiet.contains("\nok "), "{quiet}");
}

#[test]
fn user_events_are_there_or_what_to_do_is_said() {
    let found = |made: &Made, found: &str, change: &str| {
        let finding = only(tracers::user_events(&made.system()), State::Ok, found);
        assert!(finding.change.contains(change), "{finding:#?}");
    };
    let made = Made::new();
    found(&made, "tracefs is not mounted", "CONFIG_USER_EVENTS");
    made.write("proc/sys/kernel/osrelease", "6.12.1\n");
    made.write("boot/config-6.12.1", "CONFIG_X=y\nCONFIG_USER_EVENTS=y\n");
    found(&made, "tracefs is not mounted", "/sys/kernel/tracing (as root)");
    made.write("boot/config-6.12.1", "# CONFIG_USER_EVENTS is not set\n");
    found(&made, "this kernel has no user_events", "CONFIG_USER_EVENTS=y");
    made.write("boot/config-6.12.1", "").write("sys/kernel/tracing/events/header_page", "");
    found(&made, "this kernel has no user_events", "Linux 6.4");
    made.write("sys/kernel/debug/tracing/user_events_data", "");
    found(&made, "/sys/kernel/debug/tracing/user_events_data is there", "");
    made.write("sys/kernel/tracing/user_events_data", "");
    found(&made, "/sys/kernel/tracing/user_events_data is there", "");
    let file = made.path.join("sys/kernel/tracing/user_events_data");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o400)).unwrap();
    // Root may write to it anyway.
    if made.system().uid != 0 {
        found(&made, "may not be written to by this user", "chmod");
    }
}

#[test]
fn trace_marker_can_be_written_or_what_to_do_is_said() {
    let found = |made: &Made, found: &str, change: &str| {
        let finding = only(tracers::trace_marker(&made.system()), State::Ok, found);
        assert!(finding.change.contains(change), "{finding:#?}");
    };
    let made = Made::new();
    found(&made, "tracefs is not mounted", "mount -t tracefs");
    made.write("sys/kernel/debug/tracing/trace_marker", "");
    found(&made, "/sys/kernel/debug/tracing/trace_marker is there", "");
    made.write("sys/kernel/tracing/trace_marker", "");
    // As the kernel makes it.
    let file = made.path.join("sys/kernel/tracing/trace_marker");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o200)).unwrap();
    found(&made, "/sys/kernel/tracing/trace_marker is there", "");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root may write to it anyway.
    if made.system().uid != 0 {
        found(&made, "may not be written to by this user", "chmod a+w");
    }
}
