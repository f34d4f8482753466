//! System tracers of the kernel that tracepoints can feed.

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::finding::Finding;
use super::system::System;

const FILE: &str = "user_events_data";

/// Events for perf and ftrace from tracepoints (`SILVERPOINT_PROBES=user_events`). Nothing needs it unless it is asked for.
pub fn user_events(system: &System) -> Vec<Finding> {
    const CHECK: &str = "tracers.user_events";
    let mut is_mounted = false;
    for folder in ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"] {
        let file = format!("{folder}/{FILE}");
        match access(system.real(&file), Access::READ_OK | Access::WRITE_OK) {
            Ok(()) => return vec![Finding::ok(CHECK, format!("{file} is there and can be written to"))],
            Err(Errno::NOENT) => is_mounted |= system.real(format!("{folder}/events")).is_dir(),
            Err(Errno::ACCESS | Errno::PERM) => {
                return vec![
                    Finding::ok(CHECK, format!("{file} may not be written to by this user"))
                        .means("programs of this user feed no user_events")
                        .change(format!("chmod a+x {folder} && chmod a+rw {file} (as root)")),
                ];
            }
            Err(_) => {}
        }
    }
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
