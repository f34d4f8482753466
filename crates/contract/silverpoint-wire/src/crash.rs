//! What makes a record of a crash (spec/crash.md).

use std::time::Duration;

/// What makes a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// SIGSEGV and SIGBUS. A program that uses one of these signals for something else leaves it out; this holds for all of them.
    pub segv: bool,
    /// SIGILL.
    pub ill: bool,
    /// SIGFPE.
    pub fpe: bool,
    /// SIGABRT: `std::process::abort`, a panic within a panic, an abort of C code.
    pub abrt: bool,
    /// SIGSYS.
    pub sys: bool,
    /// SIGTRAP; off by default.
    pub trap: bool,
    /// SIGTERM; off by default. Where it is ignored it stays ignored.
    pub term: bool,
    /// Panics. A panic that the program may survive has level error, not fatal.
    pub panics: bool,
    /// How long a logger inside the process may take to deliver everything: 3 seconds by default.
    pub wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segv: true,
            ill: true,
            fpe: true,
            abrt: true,
            sys: true,
            trap: false,
            term: false,
            panics: true,
            wait: Duration::from_secs(3),
        }
    }
}
