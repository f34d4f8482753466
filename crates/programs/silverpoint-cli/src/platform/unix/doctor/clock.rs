//! The clock that tracepoints read.

use super::system::System;
use crate::doctor::finding::Finding;

/// The flags of the first processor.
fn flags(system: &System) -> Option<Vec<String>> {
    let text = system.text("/proc/cpuinfo")?;
    let line = text.lines().find(|line| line.starts_with("flags"))?;
    Some(line.split_once(':')?.1.split_whitespace().map(str::to_owned).collect())
}

/// Whether the time stamp counter counts evenly.
pub fn counter(system: &System) -> Vec<Finding> {
    const CHECK: &str = "clock.tsc";
    let Some(flags) = flags(system) else {
        return vec![
            Finding::ok(CHECK, "no x86 processor")
                .means("on AArch64 the generic timer is read, elsewhere clock_gettime"),
        ];
    };
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let missing: Vec<&str> = ["constant_tsc", "nonstop_tsc"].into_iter().filter(|name| !has(name)).collect();
    vec![if missing.is_empty() {
        Finding::ok(CHECK, "the time stamp counter is invariant")
    } else {
        let change = if has("hypervisor") {
            "let the hypervisor show it (QEMU: -cpu host,+invtsc; libvirt: <feature policy='require' name='invtsc'/>)"
        } else {
            "none: this processor has no better one"
        };
        Finding::warn(CHECK, format!("the time stamp counter is not invariant (without {})", missing.join(", ")))
            .means("tracepoints call clock_gettime instead, which costs about twice as much, and more where that is a system call")
            .change(change)
    }]
}

/// The kernel's own clock source: the kernel detects counters that are off.
pub fn source(system: &System) -> Vec<Finding> {
    const CHECK: &str = "clock.source";
    let at = "/sys/devices/system/clocksource/clocksource0";
    let Some(source) = system.word(format!("{at}/current_clocksource")) else {
        return vec![Finding::ok(CHECK, "the kernel's clock source is unknown")];
    };
    let found = format!("the kernel's clock is {source}");
    vec![match source.as_str() {
        "tsc" | "arch_sys_counter" => Finding::ok(CHECK, found),
        "kvm-clock" | "hyperv_clocksource_tsc_page" | "xen" => {
            Finding::ok(CHECK, found).means("a hypervisor's clock over the counter: after a migration to another machine times may jump by some microseconds")
        }
        _ => {
            let available = system.word(format!("{at}/available_clocksource")).unwrap_or_default();
            let warned = Finding::warn(CHECK, found)
                .means("the kernel may have found the counters of the processors to differ: times of threads on different processors may be out of order");
            if available.split_whitespace().any(|name| name == "tsc") {
                warned.change(format!("journalctl -k | grep -i tsc, then: echo tsc > {at}/current_clocksource"))
            } else {
                warned.change("journalctl -k | grep -i tsc says why; the kernel parameter tsc=reliable overrules it")
            }
        }
    }]
}

/// Whether this is a virtual machine.
pub fn hypervisor(system: &System) -> Vec<Finding> {
    let Some(flags) = flags(system) else { return Vec::new() };
    vec![if flags.iter().any(|flag| flag == "hypervisor") {
        Finding::ok("clock.hypervisor", "this is a virtual machine")
            .means("times have gaps where the host takes the processor away; after suspend and migration anchors align them again")
    } else {
        Finding::ok("clock.hypervisor", "no virtual machine")
    }]
}
