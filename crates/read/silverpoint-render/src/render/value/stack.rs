//! The open containers of a value that is being written.

use super::super::look::Look;
use crate::marks::Marks;

/// Of a container that is shown in short.
pub(super) const SHORT_ELEMENTS: u32 = 4;

/// Room for open containers, kept by the caller so that values cost no allocation.
#[derive(Debug, Default)]
pub struct Stack {
    pub(super) frames: Vec<Frame>,
    pub(super) marks: Marks,
    /// Of the open containers those that are shown by a pattern.
    pub(super) looks: Vec<Look>,
}

/// An open container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: Container,
    /// Something has been written into it.
    pub(super) begun: bool,
    /// A map's key has been written.
    pub(super) value_next: bool,
    /// Elements that were cut.
    pub(super) missing: u32,
    /// Elements that were begun; only of those that are shown in short.
    pub(super) count: u32,
    /// Where the output ends that stays when it is shown in short.
    pub(super) short_end: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    /// The pieces of a stream: no marks, a space between.
    Pieces,
    List,
    Set,
    Tuple,
    Map,
    Record,
    /// By a pattern, which is in [`Stack::looks`].
    Looked,
    /// The same, with keys.
    LookedMap,
}

impl Frame {
    /// One more begins here.
    pub(super) fn element(&mut self, at: usize) {
        self.count = self.count.saturating_add(1);
        if self.count > SHORT_ELEMENTS && self.short_end.is_none() {
            self.short_end = Some(at);
        }
    }
}
