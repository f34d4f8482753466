//! What programs for Windows give to OutputDebugString, taken by the protocol of debug monitors (DBWIN).
//!
//! **The invariant.** A sender waits for the copy of its text, never for who shows it. A text that finds no
//! room in the queue is counted.
//!
//! ```
//! use silverpoint_dbwin::Monitor;
//! # use std::{convert::Infallible, time::Duration};
//! # use silverpoint_dbwin::{BUFFER_BYTES, Objects};
//! # struct OneSender { text: Option<&'static [u8]>, may_go_on: bool }
//! # impl Objects for OneSender {
//! #     type Error = Infallible;
//! #     fn wait_for_data(&mut self, _: Duration) -> Result<bool, Infallible> { Ok(self.text.is_some()) }
//! #     fn copy(&mut self, to: &mut [u8; BUFFER_BYTES]) {
//! #         let text = self.text.take().unwrap();
//! #         to.fill(0);
//! #         to[..4].copy_from_slice(&17u32.to_le_bytes());
//! #         to[4..][..text.len()].copy_from_slice(text);
//! #     }
//! #     fn set_buffer_ready(&mut self) -> Result<(), Infallible> { self.may_go_on = true; Ok(()) }
//! #     fn reset_buffer_ready(&mut self, _: Duration) -> Result<bool, Infallible> { Ok(self.may_go_on) }
//! #     fn pulse_buffer_ready(&mut self) -> Result<(), Infallible> { Ok(()) }
//! #     fn try_lock(&mut self, _: Duration) -> Result<bool, Infallible> { Ok(true) }
//! #     fn unlock(&mut self) -> Result<(), Infallible> { Ok(()) }
//! # }
//!
//! # fn main() -> Result<(), Infallible> {
//! // A sender that has written one text. On Windows `Listening` has the objects of the system, and a thread.
//! let sender = OneSender { text: Some(b"ready"), may_go_on: false };
//! let mut monitor = Monitor::new(sender)?;
//! let message = monitor.next_message()?.map(|message| (message.pid, message.text));
//! assert_eq!(message, Some((17, &b"ready"[..])));
//! assert!(monitor.objects().may_go_on);
//! assert_eq!(monitor.next_message()?, None);
//! # Ok(())
//! # }
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
