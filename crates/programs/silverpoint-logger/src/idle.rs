//! Before a logger starts and after it has stopped: the youngest records are kept in shared memory, and the
//! next logger delivers them.

use silverpoint_shm::observer::{ObservedSession, list};
use silverpoint_shm::root::{self, Root};
use silverpoint_wire::directive;

use crate::error::LoggerError;
use crate::process::Process;

/// What tracepoints of this process record while no logger and no other collector runs: directives, as in
/// [`crate::Config::new`], or `off`. The default is the variable `SILVERPOINT_FILTER` of the environment, or
/// nothing.
///
/// Records lie in shared memory, in rings that overwrite the oldest when they are full. The next
/// [`crate::Logger::start`] of the process delivers them first. If the process ends before that, they wait
/// for `silverpoint recover`. C++ programs that use `logger.hpp` keep level info by default.
///
/// ```
/// silverpoint_logger::keep("info")?;
/// silverpoint::info!("read before the configuration is known");
/// let logger = silverpoint_logger::init()?;        // delivers it
/// # Ok::<(), silverpoint_logger::LoggerError>(())
/// ```
///
/// # Errors
/// Invalid directives, an unusable directory of sessions. A session that another collector has at this moment
/// is switched by that collector.
pub fn keep(directives: &str) -> Result<(), LoggerError> {
    directive::check(directives).map_err(LoggerError::Directives)?;
    // As it is before the first call: then nothing marks the session as interesting.
    let directives = if directives.trim() == "off" { "" } else { directives };
    let (root, own) = (sessions()?, Process::this());
    let names = list(&root).map_err(|error| unusable(error.to_string()))?;
    for name in names.into_iter().filter(|name| own.has(*name)) {
        let session = ObservedSession::open(&root, name).map_err(|error| unusable(error.to_string()))?;
        if !session.is_collected().unwrap_or(true) {
            session.write_directives(directives).map_err(|error| unusable(error.to_string()))?;
        }
    }
    Ok(())
}

/// Whether this process has recorded something that no logger has delivered and no other collector has.
pub fn has_kept() -> bool {
    let own = Process::this();
    sessions()
        .is_ok_and(|root| silverpoint_collect::has_uncollected(&root, |name| own.has(name)).unwrap_or(false))
}

/// Removes the empty sessions of this process, which is ending: no tracepoint may record afterwards. Without
/// this call the next program that sweeps the directory removes them.
pub fn leave_nothing_behind() {
    if let Ok(root) = sessions() {
        let own = Process::this();
        let _ = silverpoint_collect::remove_left(&root, |name| own.has(name));
    }
}

/// The directory of sessions.
pub(crate) fn sessions() -> Result<Root, LoggerError> {
    Root::open_or_create()
        .map_err(root::explained)
        .map_err(LoggerError::io("the directory of sessions", "it cannot be used"))
}

fn unusable(why: String) -> LoggerError {
    LoggerError::io("a session of this process", "it cannot be used")(std::io::Error::other(why))
}
