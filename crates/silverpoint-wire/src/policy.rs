//! What a full ring's thread does, as people write it (`spec/directives.md`): `block`, `block=forever`, `drop` or `overwrite` for all levels, then others for single ones:
//! `block,debug=drop,trace=overwrite`. Frontends pass over what they do not understand; this is for those who tell people about it.

use crate::layout::control::BLOCK_FOR_EVER;
use crate::level::Level;

const EXPECTED: &str = "block, block=forever, drop or overwrite";

/// What each level's records do when the ring is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// By level, trace to fatal: 0 block, 1 drop, 2 overwrite.
    pub levels: [u8; 6],
    /// The longest wait, if the text says something about it.
    pub block_max_ms: Option<u32>,
}

impl Policy {
    /// Reads a policy for all levels, then `level=policy` for single ones.
    ///
    /// # Errors
    /// The first part that is none, and what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut policy = Self { levels: [0; 6], block_max_ms: None };
        for (number, part) in text.split(',').map(str::trim).enumerate() {
            let (level, name) = match part.split_once('=') {
                Some(("block", _)) | None => (None, part),
                Some((level, name)) => (Some(level.trim()), name.trim()),
            };
            let value = match name {
                "block" => 0,
                "block=forever" => {
                    policy.block_max_ms = Some(BLOCK_FOR_EVER);
                    0
                }
                "drop" => 1,
                "overwrite" => 2,
                _ => return Err(format!("'{part}': expected {EXPECTED}")),
            };
            match level {
                None if number > 0 => {
                    return Err(format!(
                        "'{part}': only the first is for all levels; expected a level before it, as in debug=drop"
                    ));
                }
                None => policy.levels = [value; 6],
                Some(level) => match level.parse::<Level>() {
                    Ok(level) => policy.levels[level as usize] = value,
                    Err(_) => {
                        return Err(format!(
                            "'{level}': expected a level: trace, debug, info, warn, error or fatal"
                        ));
                    }
                },
            }
        }
        Ok(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_checked() {
        let read = |text: &str| Policy::parse(text).map(|policy| (policy.levels, policy.block_max_ms));
        assert_eq!(read("block"), Ok(([0; 6], None)));
        assert_eq!(read("block=forever"), Ok(([0; 6], Some(BLOCK_FOR_EVER))));
        assert_eq!(read("overwrite,error=block"), Ok(([2, 2, 2, 2, 0, 2], None)));
        assert_eq!(read("debug=drop, Fatal=block=forever"), Ok(([0, 1, 0, 0, 0, 0], Some(BLOCK_FOR_EVER))));
        for bad in ["", "wait", "block=2s", "drop,drop", "drop,loud=block", "error=", "debug=drop,"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
