//! Scripts that use the kernel's tracing.

use silverpoint_tests::skipped;

use crate::harness::{Scratch, end};

/// Whether a program is in the path.
pub fn is_installed(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|path| path.join(program).is_file())
}

/// Runs a script in which `/sys/kernel/tracing` is mounted: for it alone, unless the machine has it (a second mount is
/// refused). `None` if that cannot be here, or the command `first` fails.
pub fn traced(scratch: &Scratch, first: &str, script: &str) -> Option<String> {
    if end(&mut scratch.command("unshare", ["--mount", "true"])).code() != Some(0) {
        skipped!("only root can use the kernel's tracing");
        return None;
    }
    let mounted = "[ -e /sys/kernel/tracing/trace_marker ] || mount -t tracefs tracefs /sys/kernel/tracing";
    let whole = format!("{{ {{ {mounted}; }} && {first}; }} >&2 || exit 77\n{script}");
    let ended = end(&mut scratch.command("unshare", ["--mount", "sh", "-c", &whole]));
    if ended.code() == Some(77) {
        skipped!("the kernel's tracing cannot be used here: {}", ended.err.trim());
        return None;
    }
    assert_eq!(ended.code(), Some(0), "{}{}", ended.out, ended.err);
    Some(ended.out)
}
