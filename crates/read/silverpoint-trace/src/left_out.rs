//! What a file leaves out deliberately (`spec/file.md`, sections 5.1 and 5.2): trimmed files, and the parts of split traces.

use silverpoint_wire::about::{PREVIOUS, SPLIT, TRIMMED};
use silverpoint_wire::block::{BlockHeader, site_bit};
use silverpoint_wire::layout::block::LEVELS_CONTROL;
use silverpoint_wire::layout::record::{CONTEXT, THREAD_NAME};
use silverpoint_wire::process;

/// Ring bytes that are in no block on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeftOut {
    /// None.
    #[default]
    Nothing,
    /// Those after a block that holds only names of threads and contexts: a part of a split trace, or a
    /// rotated one, repeats them.
    AfterStatements,
    /// Any: the file was trimmed.
    Anything,
}

impl LeftOut {
    /// As the lines of a *file* block say it.
    pub(super) fn of(about: &[(String, String)]) -> Self {
        let is_part = process::value(about, SPLIT).or(process::value(about, PREVIOUS)).is_some();
        match process::value(about, TRIMMED) {
            Some(_) => Self::Anything,
            None if is_part => Self::AfterStatements,
            None => Self::Nothing,
        }
    }

    /// Whether bytes before a block are missing on purpose.
    pub(super) fn covers(self, is_after_statements: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::AfterStatements => is_after_statements,
            Self::Anything => true,
        }
    }
}

/// Whether names of threads and contexts are all that a block states to hold: what is repeated where a file begins.
pub(super) fn holds_only_statements(header: &BlockHeader) -> bool {
    let statements = site_bit(THREAD_NAME) | site_bit(CONTEXT);
    header.levels == LEVELS_CONTROL && header.sites != 0 && header.sites & !statements == 0
}
