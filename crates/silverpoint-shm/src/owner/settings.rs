//! What the environment asks for (spec/directives.md). Read once, without allocation; a value that is not understood counts as not given.

use std::ffi::CStr;

use super::at::control::BLOCK_FOR_EVER as BLOCK_FOREVER;
use crate::sys;

/// By level, trace to fatal.
pub(crate) const LEVELS: usize = 6;
const LEVEL_NAMES: [&[u8]; LEVELS] = [b"trace", b"debug", b"info", b"warn", b"error", b"fatal"];

/// A full ring's policy, as in the control header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Policy {
    /// Wait for the collector, at most `block_max_ms`.
    Block = 0,
    /// Count and go on.
    Drop = 1,
    /// Give up what is oldest.
    Overwrite = 2,
}

/// The settings of a session at its start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `SILVERPOINT_FILTER`, when it is set: recording is demanded.
    pub(crate) filter: Option<&'static [u8]>,
    pub(crate) policy: [u8; LEVELS],
    pub(crate) block_max_ms: u32,
    /// `SILVERPOINT_MEMORY`: ceiling of the ring file in bytes.
    pub(crate) memory: Option<u64>,
    /// `SILVERPOINT_COLLECTOR=1`.
    pub(crate) collector_expected: bool,
    /// `SILVERPOINT_OFF=1`: no session at all.
    pub(crate) off: bool,
}

impl Settings {
    pub(crate) fn from_environment() -> Self {
        let mut settings = Self {
            filter: sys::environment(c"SILVERPOINT_FILTER"),
            policy: [Policy::Block as u8; LEVELS],
            block_max_ms: 1000,
            memory: sys::environment(c"SILVERPOINT_MEMORY").and_then(bytes),
            collector_expected: is_one(c"SILVERPOINT_COLLECTOR"),
            off: is_one(c"SILVERPOINT_OFF"),
        };
        if let Some(value) = sys::environment(c"SILVERPOINT_BLOCK_MAX").and_then(milliseconds) {
            settings.block_max_ms = value;
        }
        if let Some(text) = sys::environment(c"SILVERPOINT_POLICY") {
            settings.read_policy(text);
        }
        settings
    }

    fn read_policy(&mut self, text: &[u8]) {
        for (i, part) in text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).enumerate() {
            let (level, name) = match part.iter().position(|byte| *byte == b'=') {
                // `block=forever` is a policy, whatever stands before `=` elsewhere is a level.
                Some(at) if &part[..at] != b"block" => {
                    (Some(part[..at].trim_ascii()), part[at + 1..].trim_ascii())
                }
                _ => (None, part),
            };
            let policy = match name {
                b"block" => Policy::Block,
                b"block=forever" => {
                    self.block_max_ms = BLOCK_FOREVER;
                    Policy::Block
                }
                b"drop" => Policy::Drop,
                b"overwrite" => Policy::Overwrite,
                _ => continue,
            };
            match level {
                None if i == 0 => self.policy = [policy as u8; LEVELS],
                None => {}
                Some(level) => {
                    if let Some(n) = LEVEL_NAMES.iter().position(|name| level.eq_ignore_ascii_case(name)) {
                        self.policy[n] = policy as u8;
                    }
                }
            }
        }
    }
}

fn is_one(name: &CStr) -> bool {
    sys::environment(name) == Some(b"1")
}

/// A number with `K`, `M` or `G`.
fn bytes(text: &[u8]) -> Option<u64> {
    let (digits, unit) = split(text)?;
    let shift = match unit {
        b"" => 0,
        b"K" | b"k" => 10,
        b"M" | b"m" => 20,
        b"G" | b"g" => 30,
        _ => return None,
    };
    digits.checked_mul(1 << shift)
}

/// A number with `ms` or `s`.
fn milliseconds(text: &[u8]) -> Option<u32> {
    let (digits, unit) = split(text)?;
    let value = match unit {
        b"ms" | b"" => digits,
        b"s" => digits.checked_mul(1000)?,
        _ => return None,
    };
    Some(u32::try_from(value).ok()?.min(BLOCK_FOREVER - 1))
}

fn split(text: &[u8]) -> Option<(u64, &[u8])> {
    let text = text.trim_ascii();
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let mut value = 0u64;
    for digit in &text[..end] {
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    (end > 0).then(|| (value, text[end..].trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policies(text: &str) -> (u32, [u8; LEVELS]) {
        let mut settings = Settings {
            filter: None,
            policy: [0; LEVELS],
            block_max_ms: 1000,
            memory: None,
            collector_expected: false,
            off: false,
        };
        settings.read_policy(text.as_bytes());
        (settings.block_max_ms, settings.policy)
    }

    #[test]
    fn policies_are_read() {
        assert_eq!(policies("drop"), (1000, [1; 6]));
        assert_eq!(policies("block=forever"), (BLOCK_FOREVER, [0; 6]));
        assert_eq!(
            policies("overwrite, error=block ,Fatal=block=forever"),
            (BLOCK_FOREVER, [2, 2, 2, 2, 0, 0])
        );
        assert_eq!(policies("nonsense,error=drop,what=drop,warn=what"), (1000, [0, 0, 0, 0, 1, 0]));
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!(bytes(b"64K"), Some(65_536));
        assert_eq!(bytes(b" 2M"), Some(2 << 20));
        assert_eq!(bytes(b"12"), Some(12));
        assert_eq!(bytes(b"M"), None);
        assert_eq!(bytes(b"1X"), None);
        assert_eq!(bytes(b"99999999999999999999"), None);
        assert_eq!(milliseconds(b"250ms"), Some(250));
        assert_eq!(milliseconds(b"3 s"), Some(3000));
        assert_eq!(milliseconds(b"9999999999"), None);
    }
}
