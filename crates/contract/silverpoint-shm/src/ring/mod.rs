//! The producer's side of a ring.
//!
//! `core` is the protocol, generic over its atomics and memory ([`Platform`]), so that loom explores the code that ships.
//! Claiming slices, policies and everything else that needs a session is in [`crate::owner`].

mod core;
mod memory;
mod platform;

pub use self::core::{BUSY, COLD, EIGHTHS, GIVEN, HOT, Producer, Room, Shared, ring_doorbell};
pub use self::memory::look_at_memory;
pub use self::platform::{Machine, Platform, Word32, Word64};

#[cfg(test)]
mod tests;
