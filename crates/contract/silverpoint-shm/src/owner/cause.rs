//! Causes of losses.

/// Why a record was lost (spec/wire.md, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cause {
    /// The ring was full, and the policy says drop.
    Full = 0,
    /// The collector made no room for as long as a producer may wait.
    CollectorGone = 1,
    /// The collector is there, but cannot store.
    SinkFull = 2,
    /// No ring could be made.
    NoMemory = 3,
    /// More than three signal handlers deep.
    Nested = 4,
    /// No ring can have such a record, even cut.
    TooLarge = 5,
    /// The site table is full.
    NoSite = 6,
    /// Anything else.
    Other = 7,
}

impl Cause {
    /// The cause of a number.
    pub(super) fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Full,
            1 => Self::CollectorGone,
            2 => Self::SinkFull,
            3 => Self::NoMemory,
            4 => Self::Nested,
            5 => Self::TooLarge,
            6 => Self::NoSite,
            _ => Self::Other,
        }
    }
}
