//! How much memory the rings of a session may take, and how long a burst that holds.

/// Bytes of rings that a session may take on any machine, unless memory is short.
pub const SMALL: u64 = 32 << 20;
/// Bytes of rings that a session may take on a machine with plenty of memory.
pub const LARGE: u64 = 256 << 20;

/// What the machine and the process have. `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory of the machine, or of the control group if that has less.
    pub memory: u64,
    /// Free in the file system of the sessions.
    pub room: u64,
    /// Address space of the process (`RLIMIT_AS`).
    pub addresses: Option<u64>,
    /// Memory that the process may lock (`RLIMIT_MEMLOCK`).
    pub locked: Option<u64>,
}

impl Limits {
    /// Whether a session may reserve addresses for more than [`SMALL`]. A limit of the address space counts
    /// them. So does `mlockall` where memory may be locked up to a limit. A limit below [`SMALL`] allows no
    /// program with a session to lock all of its memory.
    pub fn allow_many_addresses(&self) -> bool {
        self.addresses.is_none() && self.locked.is_none_or(|bytes| bytes <= SMALL)
    }

    /// Bytes of rings that a session takes at most when the user has not set any.
    pub fn default_memory(&self) -> u64 {
        let small = SMALL.min(self.memory / 16).min(self.room / 4);
        let large = LARGE.min(self.memory / 64).min(self.room / 16);
        if self.allow_many_addresses() { small.max(large) } else { small }
    }
}

const SMALLEST: u64 = 64 << 10;
const MOST: u64 = 1 << 36;

/// Bytes that a text of `SILVERPOINT_MEMORY` asks for: a number with `K`, `M` or `G`. 0 asks for nothing.
pub fn asked(text: &[u8]) -> Option<u64> {
    let (digits, unit) = number_and_unit(text)?;
    let shift = match unit {
        b"" => 0,
        b"K" | b"k" => 10,
        b"M" | b"m" => 20,
        b"G" | b"g" => 30,
        _ => return None,
    };
    digits.checked_mul(1 << shift).filter(|bytes| *bytes != 0)
}

/// A number, and what follows it.
pub(crate) fn number_and_unit(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.trim_ascii();
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let mut value = 0u64;
    for digit in &text[..end] {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    (end > 0).then(|| (value, text[end..].trim_ascii()))
}

/// Bytes of rings of a session for which so many are wanted, where files may have at most `file_size`.
pub fn of_session(wanted: u64, file_size: Option<u64>) -> u64 {
    wanted.clamp(SMALLEST, MOST).min(file_size.unwrap_or(u64::MAX)).max(SMALLEST)
}

/// Bytes of a slab, and number of slabs, of a new session with so many bytes of rings.
pub(crate) fn slabs_of(rings: u64) -> (u32, u32) {
    let mut bytes = 1u64 << 20;
    while bytes > 64 << 10 && bytes * 4 > rings {
        bytes /= 2;
    }
    (bytes as u32, (rings / bytes).clamp(1, 65_536) as u32)
}

/// Bytes of the largest ring in a session with so many bytes of rings.
pub fn largest_ring(rings: u64) -> u64 {
    slabs_of(rings).0.into()
}

/// Bytes of the longest burst of one thread that waits for nobody, while no other thread records much. The
/// session has so many bytes of rings.
pub fn longest_burst(rings: u64) -> u64 {
    // A slab for each size that a thread grows through, before those of the largest.
    const SMALLER: u32 = 3;
    let (slab_bytes, slab_count) = slabs_of(rings);
    let left = silverpoint_wire::slice::left_to_others(slab_count, slab_bytes);
    u64::from(slab_bytes) * u64::from(slab_count.saturating_sub(left + SMALLER).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Limits = Limits { memory: 64 << 30, room: 32 << 30, addresses: None, locked: None };

    #[test]
    fn the_default_follows_the_machine() {
        let of = |memory: u64, room: u64| Limits { memory, room, ..PLENTY }.default_memory();
        assert_eq!(PLENTY.default_memory(), LARGE);
        assert_eq!(of(4 << 30, 2 << 30), 64 << 20);
        assert_eq!(of(1 << 30, 1 << 30), SMALL);
        // A container with a small /dev/shm, and one with little memory.
        assert_eq!(of(64 << 30, 64 << 20), 16 << 20);
        assert_eq!(of(64 << 30, 1 << 20), 256 << 10);
        assert_eq!(of(64 << 20, 32 << 30), 4 << 20);
    }

    #[test]
    fn limits_of_addresses_keep_it_small() {
        let limited = Limits { addresses: Some(1 << 40), ..PLENTY };
        assert_eq!(limited.default_memory(), SMALL);
        assert_eq!(Limits { locked: Some(512 << 20), ..PLENTY }.default_memory(), SMALL);
        // Too little to lock everything: nobody does.
        assert_eq!(Limits { locked: Some(8 << 20), ..PLENTY }.default_memory(), LARGE);
        assert_eq!(Limits { room: 64 << 20, ..limited }.default_memory(), 16 << 20);
    }

    #[test]
    fn a_burst_takes_what_is_not_left_to_others() {
        assert_eq!(longest_burst(SMALL), 17 << 20);
        assert_eq!(longest_burst(LARGE), 157 << 20);
        assert_eq!(longest_burst(8 << 20), 2 << 20);
        // One ring, which no further one follows.
        assert_eq!(longest_burst(4 << 20), 1 << 20);
        assert_eq!(longest_burst(256 << 10), 64 << 10);
    }
}
