//! What a capture could not see.

use std::fmt;

use silverpoint_wire::layout::{CAUSE_NAMES, CAUSES};

/// What was recorded, or should have been, while a capture lived, and cannot be seen. Expectations that depend on it fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    pub(crate) by_cause: [u64; CAUSES],
    pub(crate) overwritten_bytes: u64,
    pub(crate) missed_streams: u64,
    pub(crate) damaged: u64,
    pub(crate) beyond_limit: u64,
    /// A collector takes records at the same time.
    pub(crate) is_collected: bool,
}

impl Losses {
    /// Whether everything was seen.
    pub fn is_none(&self) -> bool {
        Self { is_collected: false, ..*self } == Self::default()
    }

    /// Records that were never made, and are counted: the ring was full and the policy drops, there was no memory for a ring … Exact.
    pub fn records(&self) -> u64 {
        self.by_cause.iter().sum()
    }

    /// The same by cause: those that occurred, with their names (`full`, `collector_gone`, `sink_full`, `no_memory`, `nested`, `too_large`, `no_site`, `other`).
    pub fn by_cause(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        CAUSE_NAMES.into_iter().zip(self.by_cause).filter(|(_, count)| *count != 0)
    }

    /// Bytes of records that were overwritten by later ones before the capture looked at them. Exact, when
    /// [`Losses::missed_rings`] is 0.
    pub fn overwritten_bytes(&self) -> u64 {
        self.overwritten_bytes
    }

    /// Rings that came and went between two looks: how much was in them is not known.
    pub fn missed_rings(&self) -> u64 {
        self.missed_streams
    }

    /// Records whose bytes make no sense.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Records beyond the million that a capture keeps.
    pub fn beyond_limit(&self) -> u64 {
        self.beyond_limit
    }
}

/// One clause for each kind, then what to do about it. `nothing` when everything was seen.
impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut clauses: Vec<String> =
            self.by_cause().map(|(cause, count)| format!("{} not made ({cause})", records(count))).collect();
        let mut overwritten = false;
        if self.overwritten_bytes != 0 {
            overwritten = true;
            clauses.push(format!("{} bytes overwritten", self.overwritten_bytes));
        }
        if self.missed_streams != 0 {
            overwritten = true;
            clauses.push(format!("{} rings overwritten", self.missed_streams));
        }
        if self.damaged != 0 {
            clauses.push(format!("{} damaged", records(self.damaged)));
        }
        if self.beyond_limit != 0 {
            clauses.push(format!("{} beyond the million that a capture keeps", records(self.beyond_limit)));
        }
        if clauses.is_empty() {
            return f.write_str("nothing");
        }
        f.write_str(&clauses.join(", "))?;
        match (overwritten, self.is_collected) {
            (true, true) => f.write_str(
                " (a collector takes the records meanwhile: look more often, by records() or clear(), or run the test without it)",
            ),
            (true, false) => f.write_str(
                " (the ring holds the latest only: look more often, by records() or clear(), or record less)",
            ),
            _ => Ok(()),
        }
    }
}

fn records(count: u64) -> String {
    if count == 1 { "1 record".to_owned() } else { format!("{count} records") }
}
