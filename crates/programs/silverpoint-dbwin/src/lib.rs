//! What programs for Windows give to OutputDebugString, taken by the protocol of debug monitors (DBWIN).
//!
//! ```text
//! senders ──objects of the system──▶ monitor: copies, lets go on ──queue──▶ show: one line for each message
//! ```
//!
//! The monitor is a state machine over [`Objects`]. Tests run it beside simulated senders, on any system.

#[cfg(windows)]
mod console;
#[cfg(any(windows, test))]
mod filter;
mod monitor;
#[cfg(windows)]
mod objects;
#[cfg(windows)]
mod process;
#[cfg(any(windows, test))]
mod queue;
#[cfg(windows)]
mod show;
#[cfg(test)]
mod tests;
#[cfg(any(windows, test))]
mod view;

pub use monitor::{BUFFER_BYTES, Message, Monitor, Objects, is_served};
#[cfg(windows)]
pub use objects::is_monitored;
#[cfg(windows)]
pub use show::show;
