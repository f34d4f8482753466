//! What the kernel can do, and what it allows this user.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::system::System;
use crate::doctor::finding::Finding;

/// How memory is backed before it is written to.
pub fn populate(system: &System) -> Vec<Finding> {
    const CHECK: &str = "kernel.populate_write";
    vec![if system.support.populate_write {
        Finding::ok(CHECK, "MADV_POPULATE_WRITE works")
    } else {
        Finding::warn(CHECK, "MADV_POPULATE_WRITE is not known to this kernel")
            .means("rings are backed by fallocate instead: threads meet page faults at their first records")
            .change("Linux 5.14 or newer (here: uname -r)")
    }]
}

/// How a forked child is recognized.
pub fn wipe(system: &System) -> Vec<Finding> {
    const CHECK: &str = "kernel.wipe_on_fork";
    vec![if system.support.wipe_on_fork {
        Finding::ok(CHECK, "MADV_WIPEONFORK works")
    } else {
        Finding::fail(CHECK, "MADV_WIPEONFORK is refused")
            .means("a forked child cannot be distinguished from its parent: programs make no session")
            .change("Linux 4.14 or newer; in sandboxes (gVisor, seccomp) allow madvise")
    }]
}

/// Programs with more privileges than their callers are not traced.
pub fn privileges(system: &System) -> Vec<Finding> {
    const CHECK: &str = "security.at_secure";
    vec![if system.support.is_privileged {
        Finding::fail(CHECK, "this program runs with more privileges than its caller (AT_SECURE)")
            .means("the environment is not read and no session is made: a caller could direct what a privileged program writes")
            .change("run it without set-user-id and file capabilities")
    } else {
        Finding::ok(CHECK, "no more privileges than the caller")
    }]
}

/// The same of a program that is to be traced: by the marks of its file.
pub fn program(path: &Path) -> Vec<Finding> {
    const CHECK: &str = "security.program";
    let shown = path.display();
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) => {
            return vec![
                Finding::fail(CHECK, format!("{shown}: {error}"))
                    .change(format!("type -a {shown}: give the path of the program's file")),
            ];
        }
    };
    let unfit = match (found.is_file(), found.mode() & 0o111) {
        (false, _) => Some("is no regular file"),
        (true, 0) => Some("is not executable"),
        (true, _) => None,
    };
    if let Some(unfit) = unfit {
        return vec![
            Finding::fail(CHECK, format!("{shown} {unfit}"))
                .means("no program can be run from it")
                .change("give the path of the program's file"),
        ];
    }
    let mut marks = Vec::new();
    if found.mode() & 0o4000 != 0 {
        marks.push(("set-user-id", format!("chmod u-s {shown}")));
    }
    if found.mode() & 0o2000 != 0 {
        marks.push(("set-group-id", format!("chmod g-s {shown}")));
    }
    let mut value = [0u8; 64];
    if rustix::fs::getxattr(path, c"security.capability", &mut value).is_ok() {
        marks.push(("file capabilities", format!("setcap -r {shown}")));
    }
    if marks.is_empty() {
        return vec![Finding::ok(CHECK, format!("{shown} has no marks that privilege it"))];
    }
    let each = |(what, change): (&str, String)| {
        Finding::fail(CHECK, format!("{shown} has {what}"))
            .means("unless the caller has these privileges already, it makes no session")
            .change(format!("on a copy of it: {change}"))
    };
    marks.into_iter().map(each).collect()
}

/// Who may inspect other processes. Silverpoint needs only `/proc/PID` of the user's own.
pub fn ptrace(system: &System) -> Vec<Finding> {
    const CHECK: &str = "security.ptrace_scope";
    vec![match system.number("/proc/sys/kernel/yama/ptrace_scope") {
        None => Finding::ok(CHECK, "no Yama: processes of one user may look into each other"),
        Some(scope) => Finding::ok(CHECK, format!("kernel.yama.ptrace_scope is {scope}"))
            .means("Silverpoint needs no ptrace; a debugger at the same process may"),
    }]
}

/// Namespaces: sessions are found in the file system, and named by pids of the program's own namespace.
pub fn namespaces(system: &System) -> Vec<Finding> {
    const CHECK: &str = "security.user_namespaces";
    let allowed = system.number("/proc/sys/user/max_user_namespaces");
    let restricted = system.number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1);
    let here = system.text("/proc/self/uid_map").and_then(|map| {
        let words: Vec<u64> = map.split_whitespace().take(3).filter_map(|word| word.parse().ok()).collect();
        (words != [0, 0, u64::from(u32::MAX)] && words.len() == 3).then_some(words[1])
    });
    let mut findings = vec![match allowed {
        Some(0) => Finding::ok(CHECK, "no user namespaces"),
        _ if restricted => Finding::ok(CHECK, "user namespaces are restricted by AppArmor"),
        _ => Finding::ok(CHECK, "user namespaces are allowed"),
    }];
    if let Some(outside) = here {
        findings.push(
            Finding::warn("security.inside_user_namespace", format!("this is inside a user namespace: its first user is {outside} outside"))
                .means("directories of sessions belong to the user as seen there; a collector outside must be that user, or root")
                .change("collect inside, or share one directory with SILVERPOINT_DIR (docs/containers.md)"),
        );
    }
    findings
}

/// `/proc`: locks show who is alive, but names, command lines and start times come from there.
pub fn proc(system: &System) -> Vec<Finding> {
    const CHECK: &str = "kernel.proc";
    vec![if system.text("/proc/self/stat").is_some() {
        Finding::ok(CHECK, "/proc is readable")
    } else {
        Finding::warn(CHECK, "/proc/self/stat cannot be read")
            .means("sessions have no start time, name or command line; two programs with one pid look alike")
            .change("mount -t proc proc /proc")
    }]
}
