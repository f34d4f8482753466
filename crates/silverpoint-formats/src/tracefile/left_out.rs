//! What a file leaves out deliberately (`spec/file.md`, sections 5.1 and 5.2): trimmed files, and the parts of split traces.

use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::THREAD_NAME;
use silverpoint_wire::process;

/// Key of the line in a *file* block that says which records the file was trimmed to.
pub(super) const TRIMMED: &str = "trimmed";
/// Key of the line that says by what a trace was split of which the file is a part.
pub(super) const SPLIT: &str = "split";

/// Ring bytes that are in no block, and are missed by nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeftOut {
    /// None.
    #[default]
    Nothing,
    /// Those behind a block that holds nothing but names of threads: a part of a split trace repeats them.
    AfterNames,
    /// Any: the file was trimmed.
    Anything,
}

impl LeftOut {
    /// As the lines of a *file* block say it.
    pub(super) fn of(about: &[(String, String)]) -> Self {
        match (process::value(about, TRIMMED), process::value(about, SPLIT)) {
            (Some(_), _) => Self::Anything,
            (None, Some(_)) => Self::AfterNames,
            (None, None) => Self::Nothing,
        }
    }

    /// Whether bytes before a block are missed by nobody.
    pub(super) fn covers(self, is_after_names: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::AfterNames => is_after_names,
            Self::Anything => true,
        }
    }
}

/// Whether names of threads are all that a block states to hold.
pub(super) fn holds_only_names(header: &BlockHeader) -> bool {
    header.levels == LEVELS_CONTROL && header.sites == site_bit(THREAD_NAME)
}
