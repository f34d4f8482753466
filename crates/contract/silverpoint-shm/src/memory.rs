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

/// Bytes of a slab, and number of slabs, of a new session with so many bytes of rings. A slab is an eighth of
/// them at most, so that a ring that is full finds a further one.
pub(crate) fn slabs_of(rings: u64) -> (u32, u32) {
    let mut bytes = 1u64 << 20;
    while bytes > 64 << 10 && rings / bytes < 8 {
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

    /// The vectors of sessions' sizes (`spec/vectors/memory.json`), which C++ reads too.
    #[test]
    fn a_session_takes_what_the_vectors_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/memory.json");
        let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for vector in all.as_array().unwrap() {
            let limit = |name: &str| vector[name].as_u64();
            let limits = Limits {
                memory: limit("machine").unwrap_or(u64::MAX),
                room: limit("room").unwrap_or(u64::MAX),
                addresses: limit("addresses"),
                locked: limit("locked"),
            };
            let wanted = limit("asked").unwrap_or_else(|| limits.default_memory());
            let (slab_bytes, slabs) = slabs_of(of_session(wanted, limit("file_size")));
            assert_eq!(Some(u64::from(slab_bytes)), limit("slab_bytes"), "{vector}");
            assert_eq!(Some(u64::from(slabs)), limit("slabs"), "{vector}");
        }
    }

    #[test]
    fn a_burst_takes_what_is_not_left_to_others() {
        assert_eq!(longest_burst(SMALL), 17 << 20);
        assert_eq!(longest_burst(LARGE), 157 << 20);
        assert_eq!(longest_burst(8 << 20), 2 << 20);
        assert_eq!(longest_burst(4 << 20), 1 << 20);
        // One ring, which no further one follows.
        assert_eq!(longest_burst(256 << 10), 64 << 10);
    }
}
