//! Damage that is told once, while files grow.

use super::Trace;
use super::verdict::{Matter, Note};

/// What has been told.
#[derive(Debug, Default)]
pub(super) struct Told(Vec<Note>);

impl Told {
    /// Adds to what reading has found what the index knows to be damaged for good, and leaves out what was told before.
    pub(super) fn take(&mut self, notes: &mut Vec<Note>, trace: &Trace) {
        notes.extend(trace.notes().iter().filter(|note| is_lasting(note)).cloned());
        notes.retain(|note| !self.0.iter().any(|told| is_same(told, note)));
        self.0.extend_from_slice(notes);
    }
}

/// Whether a note stays true when the file grows.
fn is_lasting(note: &Note) -> bool {
    !matches!(
        note.matter,
        Matter::Cut { .. } | Matter::NotATraceFile | Matter::Lost { .. } | Matter::Gap { .. }
    )
}

/// Whether one says nothing new: counts of what was passed over grow with the file, and are told once.
fn is_same(told: &Note, note: &Note) -> bool {
    match (&told.matter, &note.matter) {
        (Matter::Unknown { what: told_what, .. }, Matter::Unknown { what, .. }) => {
            told_what == what && told.file == note.file
        }
        _ => told == note,
    }
}
