//! Limits: of the process (`ulimit`), of the kernel (`sysctl`), of the control group.

use super::memory::RINGS;
use super::system::System;
use crate::doctor::finding::Finding;
use crate::units::show_bytes;

/// Address space of one session's control file; its pages are backed only as they are used.
const CONTROL: u64 = 16 << 20;
/// A session maps both of its files. Under a limit its rings take no more than [`RINGS`].
const ADDRESSES: u64 = RINGS + CONTROL;
/// A session uses at most this fraction (1/N) of the memory limit.
const SHARE_OF_MEMORY: u64 = 16;
/// The only limit that a program checks when it makes its session: that of a container with its own namespace
/// for control groups.
const SEEN_BY_PROGRAMS: &str = "/sys/fs/cgroup/memory.max";
/// With less memory than this, the smallest session is a burden.
const LEAST_MEMORY: u64 = 8 << 20;
/// Maps that a process with one frontend needs.
const MAPS: u64 = 1024;

/// A soft limit of this process; `None` when it has none or it is not known.
pub fn limit(system: &System, name: &str) -> Option<u64> {
    let text = system.text("/proc/self/limits")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// `RLIMIT_FSIZE`: the files of a session are as large as their contents may become.
pub fn file_size(system: &System) -> Vec<Finding> {
    const CHECK: &str = "limits.file_size";
    let change = "ulimit -f unlimited (systemd: LimitFSIZE=infinity)";
    vec![match limit(system, "Max file size") {
        None => Finding::ok(CHECK, "files may have any size"),
        Some(bytes) if bytes < CONTROL => {
            Finding::fail(CHECK, format!("files may have {}", show_bytes(bytes)))
                .means(format!(
                    "a session's control file may need up to {}: no session is made",
                    show_bytes(CONTROL)
                ))
                .change(change)
        }
        Some(bytes) if bytes < RINGS => Finding::warn(CHECK, format!("files may have {}", show_bytes(bytes)))
            .means("rings are made smaller, and trace files end there")
            .change(change),
        Some(bytes) => Finding::warn(CHECK, format!("files may have {}", show_bytes(bytes)))
            .means("sessions fit; a trace file that would grow larger needs --rotate")
            .change(change),
    }]
}

/// `RLIMIT_AS`: maps count whether they are backed or not.
pub fn address_space(system: &System) -> Vec<Finding> {
    const CHECK: &str = "limits.address_space";
    vec![match limit(system, "Max address space") {
        None => Finding::ok(CHECK, "the address space has no limit"),
        Some(bytes) if bytes < 2 * ADDRESSES => {
            Finding::fail(CHECK, format!("the address space ends at {}", show_bytes(bytes)))
                .means(format!(
                    "a session maps {} beside the program: it may find no place",
                    show_bytes(ADDRESSES)
                ))
                .change("ulimit -v unlimited, or SILVERPOINT_MEMORY=1M")
        }
        Some(bytes) => Finding::ok(CHECK, format!("the address space ends at {}", show_bytes(bytes)))
            .means(format!("a session takes {} of it", show_bytes(ADDRESSES))),
    }]
}

/// `RLIMIT_MEMLOCK`: matters to programs that lock all their memory.
pub fn locked_memory(system: &System) -> Vec<Finding> {
    const CHECK: &str = "limits.locked_memory";
    vec![match limit(system, "Max locked memory") {
        None => Finding::ok(CHECK, "memory may be locked without limit"),
        Some(bytes) if bytes < ADDRESSES => Finding::ok(
            CHECK,
            format!("{} may be locked", show_bytes(bytes)),
        )
        .means(format!(
            "Silverpoint locks nothing; a program that calls mlockall(MCL_FUTURE) also locks {} of session",
            show_bytes(ADDRESSES)
        ))
        .change("only for such programs: ulimit -l unlimited, or SILVERPOINT_MEMORY=1M"),
        Some(bytes) => Finding::ok(CHECK, format!("{} may be locked", show_bytes(bytes))),
    }]
}

/// `vm.max_map_count`.
pub fn map_count(system: &System) -> Vec<Finding> {
    const CHECK: &str = "limits.map_count";
    vec![match system.number("/proc/sys/vm/max_map_count") {
        None => Finding::ok(CHECK, "vm.max_map_count is not known here"),
        Some(maps) if maps < MAPS => Finding::warn(CHECK, format!("a process may have {maps} maps"))
            .means("a program with many libraries or threads may find none left for its session")
            .change("sysctl -w vm.max_map_count=65530"),
        Some(maps) => Finding::ok(CHECK, format!("a process may have {maps} maps")),
    }]
}

/// The least memory limit of this process's control group and those above it, and where it stands.
fn memory_limit(system: &System) -> Option<(u64, String)> {
    let groups = system.text("/proc/self/cgroup")?;
    let mut least: Option<(u64, String)> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let (mount, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            words if words.split(',').any(|word| word == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // In a container the path may be that of the host: then the limits stand at the top.
        for group in std::path::Path::new(path).ancestors() {
            let at = format!("{mount}{}/{file}", group.display().to_string().trim_end_matches('/'));
            // "max", and the largest number of version 1, mean none.
            if let Some(bytes) = system.number(&at).filter(|bytes| *bytes < 1 << 60)
                && least.as_ref().is_none_or(|(before, _)| bytes < *before)
            {
                least = Some((bytes, at));
            }
        }
    }
    least
}

/// The memory that a program sees when it makes its session: the machine's, or that of its control group.
pub fn memory_of_programs(system: &System) -> u64 {
    let machine = system.text("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:").map(str::to_owned))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    });
    machine.unwrap_or(u64::MAX).min(system.number(SEEN_BY_PROGRAMS).unwrap_or(u64::MAX))
}

/// The control group's memory: shared memory is charged to the process that touches it first.
pub fn control_group(system: &System) -> Vec<Finding> {
    const CHECK: &str = "limits.cgroup_memory";
    vec![match memory_limit(system) {
        None => Finding::ok(CHECK, "no control group limits the memory"),
        Some((bytes, at)) => {
            let found = format!("{} of memory ({at})", show_bytes(bytes));
            let rings = bytes / SHARE_OF_MEMORY;
            if bytes < LEAST_MEMORY {
                Finding::fail(CHECK, found)
                    .means("shared memory counts: a session may get the program killed for lack of memory")
                    .change("give the control group more (docker run -m 512m), or SILVERPOINT_OFF=1")
            } else if rings < RINGS && at == SEEN_BY_PROGRAMS {
                Finding::warn(CHECK, found)
                    .means(format!(
                        "a program takes at most a sixteenth for its rings: {} instead of {}",
                        show_bytes(rings),
                        show_bytes(RINGS)
                    ))
                    .change("give the control group more (docker run -m 512m), or set SILVERPOINT_MEMORY yourself")
            } else if rings < RINGS {
                Finding::warn(CHECK, found)
                    .means(format!(
                        "programs look only at {SEEN_BY_PROGRAMS} and do not see this limit: the rings of each may take {} of it",
                        show_bytes(RINGS)
                    ))
                    .change(format!("SILVERPOINT_MEMORY={}", rings.max(64 << 10)))
            } else {
                Finding::ok(CHECK, found)
            }
        }
    }]
}
