//! What `silverpoint doctor` examines on Linux. Each check is a function from a [`System`] to its findings; the system
//! is a directory that stands for `/`, and what the kernel answered.

mod clock;
mod kernel;
mod limits;
mod memory;
mod system;
#[cfg(test)]
mod tests;
mod tracers;

use std::path::Path;

use crate::doctor::finding::Finding;
use crate::doctor::leftovers;
use system::System;

/// All checks, in the order of the report.
const CHECKS: [fn(&System) -> Vec<Finding>; 22] = [
    memory::root,
    memory::mount,
    memory::space,
    memory::rings,
    limits::file_size,
    limits::address_space,
    limits::locked_memory,
    limits::map_count,
    limits::control_group,
    clock::counter,
    clock::source,
    clock::hypervisor,
    kernel::populate,
    kernel::wipe,
    kernel::proc,
    kernel::privileges,
    kernel::ptrace,
    kernel::namespaces,
    tracers::user_events,
    tracers::trace_marker,
    |system| leftovers::dead(memory::opened(system)),
    |system| leftovers::versions(memory::opened(system)),
];

/// Everything that is found; also of this program.
pub fn examine(program: Option<&Path>) -> Vec<Finding> {
    let mut findings = of(&System::this());
    findings.extend(program.into_iter().flat_map(kernel::program));
    findings
}

/// Everything that is found of a system.
fn of(system: &System) -> Vec<Finding> {
    CHECKS.iter().flat_map(|check| check(system)).collect()
}
