//! What a full ring's thread does, as people write it (`spec/directives.md`): `block`, `block=forever`, `drop` or `overwrite` for all levels, then others for single ones:
//! `block,debug=drop,trace=overwrite`.
//!
//! Frontends take the [`parts`] that they understand, without allocation. [`Policy::parse`] refuses the whole text, for programs that tell people.

use crate::layout::control::BLOCK_FOR_EVER;
use crate::level::Level;

/// What a thread does with a record for which the ring has no room. The numbers are those of the control header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WhenFull {
    /// Waits for the collector, at most `block_max_ms`.
    Block = 0,
    /// Counts the record as lost.
    Drop = 1,
    /// Gives up the oldest records.
    Overwrite = 2,
}

impl WhenFull {
    /// That of a number in a control header; an unknown one is [`WhenFull::Block`].
    pub const fn from_u8(number: u8) -> Self {
        match number {
            1 => Self::Drop,
            2 => Self::Overwrite,
            _ => Self::Block,
        }
    }
}

/// One part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// `None`: all levels.
    pub level: Option<Level>,
    /// What their records do.
    pub when_full: WhenFull,
    /// `block=forever`: the wait has no limit.
    pub is_forever: bool,
}

impl Part {
    /// Writes it into the policies of all levels, trace to fatal.
    pub fn apply(&self, levels: &mut [u8; 6]) {
        match self.level {
            None => levels.fill(self.when_full as u8),
            Some(level) => levels[level as usize] = self.when_full as u8,
        }
    }
}

/// Why a part of the text is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake<'a> {
    /// No policy; the whole part.
    Policy(&'a [u8]),
    /// No level; what stands in its place.
    Level(&'a [u8]),
    /// A policy for all levels, and not the first part.
    NotFirst(&'a [u8]),
}

/// The parts of the text, in order.
pub fn parts(text: &[u8]) -> impl Iterator<Item = Result<Part, Mistake<'_>>> {
    text.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).enumerate().map(|(number, part)| {
        let (level, name) = match part.iter().position(|byte| *byte == b'=') {
            // `block=forever` is a policy; elsewhere the text before `=` is a level.
            Some(at) if &part[..at] != b"block" => {
                (Some(part[..at].trim_ascii()), part[at + 1..].trim_ascii())
            }
            _ => (None, part),
        };
        let (when_full, is_forever) = match name {
            b"block" => (WhenFull::Block, false),
            b"block=forever" => (WhenFull::Block, true),
            b"drop" => (WhenFull::Drop, false),
            b"overwrite" => (WhenFull::Overwrite, false),
            _ => return Err(Mistake::Policy(part)),
        };
        let level = match level {
            None if number > 0 => return Err(Mistake::NotFirst(part)),
            None => None,
            Some(name) => {
                let is_named = |level: &Level| level.name().as_bytes().eq_ignore_ascii_case(name);
                Some(Level::ALL.into_iter().find(is_named).ok_or(Mistake::Level(name))?)
            }
        };
        Ok(Part { level, when_full, is_forever })
    })
}

/// What each level's records do when the ring is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// By level, trace to fatal: numbers of [`WhenFull`].
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
        let mut policy = Self { levels: [WhenFull::Block as u8; 6], block_max_ms: None };
        for part in parts(text.as_bytes()) {
            let part = part.map_err(|mistake| {
                let (found, why) = match mistake {
                    Mistake::Policy(part) => (part, "expected block, block=forever, drop or overwrite"),
                    Mistake::Level(name) => {
                        (name, "expected a level: trace, debug, info, warn, error or fatal")
                    }
                    Mistake::NotFirst(part) => (
                        part,
                        "only the first is for all levels; expected a level before it, as in debug=drop",
                    ),
                };
                format!("'{}': {why}", String::from_utf8_lossy(found))
            })?;
            part.apply(&mut policy.levels);
            if part.is_forever {
                policy.block_max_ms = Some(BLOCK_FOR_EVER);
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
