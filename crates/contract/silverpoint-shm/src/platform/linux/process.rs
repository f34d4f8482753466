//! Threads, and the start of the machine.

use std::sync::OnceLock;

pub(crate) use crate::sys::{thread_exists, thread_id};

/// Whether a session with this id of a start of the machine belongs to this one.
pub(crate) fn is_of_this_start(id: &[u8; 16], _: impl Fn() -> bool) -> bool {
    boot_id().is_some_and(|own| own == *id)
}

/// This boot's id, read once.
fn boot_id() -> Option<[u8; 16]> {
    static ID: OnceLock<Option<[u8; 16]>> = OnceLock::new();
    *ID.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
        let number = u128::from_str_radix(&digits, 16).ok()?;
        (digits.len() == 32).then(|| number.to_be_bytes())
    })
}
