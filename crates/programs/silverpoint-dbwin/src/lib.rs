//! What programs for Windows give to OutputDebugString, taken by the protocol of debug monitors (DBWIN).
//!
//! **The invariant.** A sender waits for the copy of its text, never for who shows it. A text that finds no
//! room in the queue is counted.
//!
//! ```no_run
//! # #[cfg(windows)]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut listening = silverpoint_dbwin::Listening::begin().map_err(|refused| refused.to_string())?;
//! let taken = listening.take()?; // of a loop: what has come since the last call
//! for (_, message) in &taken.all {
//!     println!("{} ({}): {}", message.name, message.pid, message.text());
//! }
//! println!("{} found no room", taken.missed);
//! # Ok(())
//! # }
//! # #[cfg(not(windows))]
//! # fn main() {}
//! ```
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
