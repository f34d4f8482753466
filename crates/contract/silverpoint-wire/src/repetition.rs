//! When a writer describes its sessions again (spec/file.md section 2.2).

use crate::block::BlockKind;

/// Bytes of records after which descriptions are repeated, where these are short.
pub const RECORDS_MIN: u64 = 256 << 10;
/// Records have at least so many times the bytes of the descriptions that are repeated between them.
pub const RECORDS_RATIO: u64 = 32;

/// Counts what a writer has written since it last began to describe everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repetition {
    described: u64,
    recorded: u64,
}

impl Repetition {
    /// A block of so many bytes has been written.
    pub fn add(&mut self, kind: BlockKind, bytes: u64) {
        match kind {
            BlockKind::RECORDS => self.recorded += bytes,
            BlockKind::FILE
            | BlockKind::SESSION
            | BlockKind::SITES
            | BlockKind::STREAMS
            | BlockKind::ANCHORS => self.described += bytes,
            _ => {}
        }
    }

    /// What another has counted was written too.
    pub fn add_all(&mut self, other: Self) {
        self.described += other.described;
        self.recorded += other.recorded;
    }

    /// Whether all descriptions are due again before the next records.
    pub fn is_due(&self) -> bool {
        self.recorded >= RECORDS_MIN.max(RECORDS_RATIO * self.described)
    }

    /// Whether they are due once more where nothing follows: the records are worth as many bytes as their descriptions have.
    pub fn is_due_at_end(&self) -> bool {
        self.recorded > 0 && self.recorded >= self.described
    }

    /// Everything is described again from here on.
    pub fn restart(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_take_a_bounded_share_and_come_again_within_a_bounded_distance() {
        for described in [0, 1_000, 8_192, 100_000, 1 << 20] {
            let mut repetition = Repetition::default();
            // A file begins with them.
            repetition.add(BlockKind::SITES, described);
            let (mut records, mut repeated) = (0u64, 0u64);
            for _ in 0..100_000 {
                repetition.add(BlockKind::RECORDS, 4096);
                records += 4096;
                if repetition.is_due() {
                    repetition.restart();
                    repetition.add(BlockKind::SITES, described);
                    repeated += described;
                }
                assert!(repetition.recorded <= RECORDS_MIN.max(RECORDS_RATIO * described), "{described}");
            }
            assert!(repeated * RECORDS_RATIO <= records, "{described}: {repeated} of {records}");
        }
    }

    #[test]
    fn a_file_of_few_records_is_not_made_of_descriptions() {
        let mut repetition = Repetition::default();
        repetition.add(BlockKind::SESSION, 4000);
        assert!(!repetition.is_due_at_end());
        repetition.add(BlockKind::RECORDS, 3999);
        assert!(!repetition.is_due_at_end());
        repetition.add(BlockKind::RECORDS, 8);
        assert!(repetition.is_due_at_end() && !repetition.is_due());
    }
}
