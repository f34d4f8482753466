//! Messages for the system's own logs: syslog and the journal.

mod fields;
pub mod journal;
pub mod syslog;

use silverpoint_wire::level::Level;

/// The severity of RFC 5424, which the journal calls priority: 2 critical (fatal), 3 error, 4 warning, 6 informational, 7 debug (debug and trace).
pub fn severity(level: Level) -> u8 {
    match level {
        Level::Fatal => 2,
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    }
}
