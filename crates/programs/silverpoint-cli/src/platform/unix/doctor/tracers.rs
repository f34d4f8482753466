//! System tracers of the kernel that tracepoints can feed.

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::system::System;
use crate::doctor::finding::Finding;

const FOLDERS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Events for perf and ftrace from tracepoints (`SILVERPOINT_PROBES=user_events`). Nothing needs it unless it is asked for.
pub fn user_events(system: &System) -> Vec<Finding> {
    const CHECK: &str = "tracers.user_events";
    let access = Access::READ_OK | Access::WRITE_OK;
    if let Some(found) =
        file(system, CHECK, "user_events_data", access, "programs of this user feed no user_events")
    {
        return vec![found];
    }
    let is_mounted = FOLDERS.iter().any(|folder| system.real(format!("{folder}/events")).is_dir());
    let means = "SILVERPOINT_PROBES=user_events does nothing here";
    let release = system.word("/proc/sys/kernel/osrelease").unwrap_or_default();
    let config = system.text(format!("/boot/config-{release}")).unwrap_or_default();
    let is_built = config.lines().any(|line| line == "CONFIG_USER_EVENTS=y");
    let is_left_out = config.lines().any(|line| line == "# CONFIG_USER_EVENTS is not set");
    vec![if !is_mounted && !is_left_out {
        let also = if is_built { "" } else { "; the kernel needs CONFIG_USER_EVENTS (Linux 6.4 or newer)" };
        Finding::ok(CHECK, "tracefs is not mounted, so there are no user_events")
            .means(means)
            .change(format!("mount -t tracefs nodev /sys/kernel/tracing (as root){also}"))
    } else {
        Finding::ok(CHECK, "this kernel has no user_events")
            .means(means)
            .change("Linux 6.4 or newer, built with CONFIG_USER_EVENTS=y")
    }]
}

/// Lines for Perfetto and ftrace from tracepoints (`SILVERPOINT_PROBES=trace_marker`), and ATrace's. Nothing needs it
/// unless it is asked for.
pub fn trace_marker(system: &System) -> Vec<Finding> {
    const CHECK: &str = "tracers.trace_marker";
    let means = "programs of this user write nothing into trace_marker";
    vec![file(system, CHECK, "trace_marker", Access::WRITE_OK, means).unwrap_or_else(|| {
        Finding::ok(CHECK, "tracefs is not mounted, so there is no trace_marker")
            .means("SILVERPOINT_PROBES=trace_marker does nothing here")
            .change("mount -t tracefs nodev /sys/kernel/tracing (as root)")
    })]
}

/// Whether a file of tracefs can be used; `None`: it is not there.
fn file(
    system: &System,
    check: &'static str,
    name: &str,
    needed: Access,
    means: &'static str,
) -> Option<Finding> {
    for folder in FOLDERS {
        let file = format!("{folder}/{name}");
        match access(system.real(&file), needed) {
            Ok(()) => return Some(Finding::ok(check, format!("{file} is there and can be written to"))),
            Err(Errno::ACCESS | Errno::PERM) => {
                let mode = if needed.contains(Access::READ_OK) { "a+rw" } else { "a+w" };
                let found = Finding::ok(check, format!("{file} may not be written to by this user"));
                let change = format!("chmod a+x {folder} && chmod {mode} {file} (as root)");
                return Some(found.means(means).change(change));
            }
            Err(_) => {}
        }
    }
    None
}
