//! What programs for Windows give to OutputDebugString, taken by the protocol of debug monitors (DBWIN).
//!
//! ```text
//! senders ──objects of the system──▶ monitor: copies, lets go on ──queue──▶ who shows them
//! ```
//!
//! The monitor is a state machine over [`Objects`]. Tests run it beside simulated senders, on any system.

#[cfg(windows)]
mod listen;
mod monitor;
#[cfg(windows)]
mod objects;
#[cfg(windows)]
mod process;
#[cfg(any(windows, test))]
mod queue;
#[cfg(test)]
mod tests;

#[cfg(windows)]
pub use listen::{Copied, Listening};
pub use monitor::{BUFFER_BYTES, Message, Monitor, NOTE_AT, Objects, is_served};
#[cfg(windows)]
pub use objects::{Refused, is_monitored};
#[cfg(windows)]
pub use queue::Taken;
