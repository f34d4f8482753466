//! Which sessions belong to this process.

use silverpoint_shm::ending::started;
use silverpoint_shm::observer::SessionName;

/// A process, as sessions are named after it. Its number alone is not enough: it is reused, and processes of
/// several containers that share a directory may have the same one at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pid: u32,
    /// `None` where the system does not report it.
    start: Option<u64>,
}

impl Process {
    /// This one, no matter which programs it has executed since it began.
    pub(crate) fn this() -> Self {
        Self { pid: std::process::id(), start: started() }
    }

    /// Whether a session is its own.
    pub(crate) fn has(self, name: SessionName) -> bool {
        name.pid == self.pid && self.start.is_none_or(|start| start == name.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What another process of the same number had recorded came into this one's log.
    #[test]
    fn a_session_of_another_process_with_the_same_number_is_not_its_own() {
        let this = Process::this();
        let start = started().expect("the system tells");
        assert!(this.has(SessionName { pid: std::process::id(), start, n: 3 }));
        assert!(!this.has(SessionName { pid: std::process::id(), start: start + 1, n: 0 }));
        assert!(!this.has(SessionName { pid: std::process::id() + 1, start, n: 0 }));
    }
}
