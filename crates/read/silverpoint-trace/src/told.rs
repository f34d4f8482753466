//! Damage is reported once, while files grow.

use std::collections::HashSet;
use std::path::PathBuf;

use super::Trace;
use super::verdict::{Matter, Note, Unknown, Verdict};

/// Most notes that are remembered. Beyond that, only worse ones are reported: a file full of damage must not
/// fill the memory.
const TOLD_MAX: usize = 100_000;

/// What has been reported.
#[derive(Debug, Default)]
pub(super) struct Told {
    notes: HashSet<Note>,
    /// Counts of skipped things grow with the file, and are reported once.
    unknown: HashSet<(PathBuf, Unknown)>,
    /// The worst of all.
    worst: Option<Verdict>,
}

impl Told {
    /// Adds permanent damage from the index to what reading has found, and removes what was reported before.
    /// Costs time by the number of notes.
    pub(super) fn take(&mut self, notes: &mut Vec<Note>, trace: &Trace) {
        notes.retain(|note| !self.has(note));
        let known = trace.notes().iter().filter(|note| is_lasting(note) && !self.has(note));
        notes.extend(known.cloned());
        for note in notes.iter() {
            self.add(note);
        }
    }

    fn has(&self, note: &Note) -> bool {
        if let Matter::Unknown { what, .. } = note.matter {
            return self.unknown.contains(&(note.file.clone(), what));
        }
        let is_too_much = self.notes.len() >= TOLD_MAX && Some(note.matter.verdict()) <= self.worst;
        is_too_much || self.notes.contains(note)
    }

    fn add(&mut self, note: &Note) {
        self.worst = self.worst.max(Some(note.matter.verdict()));
        if let Matter::Unknown { what, .. } = note.matter {
            self.unknown.insert((note.file.clone(), what));
        } else if self.notes.len() < TOLD_MAX {
            self.notes.insert(note.clone());
        }
    }
}

/// Whether a note stays true when the file grows.
fn is_lasting(note: &Note) -> bool {
    !matches!(
        note.matter,
        Matter::Cut { .. } | Matter::NotATraceFile | Matter::Lost { .. } | Matter::Gap { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(matter: Matter) -> Note {
        Note { file: "x.silver".into(), matter }
    }

    #[test]
    fn very_many_notes_are_told_once_and_what_is_worse_is_told_behind_them() {
        let trace = Trace::empty();
        let mut told = Told::default();
        let said =
            |number: usize| of(Matter::Collector { whose: String::new(), text: format!("note {number}") });
        for most in [10, TOLD_MAX] {
            let mut notes: Vec<Note> = (0..most).map(said).collect();
            told.take(&mut notes, &trace);
            assert_eq!(notes.len(), if most == 10 { 10 } else { TOLD_MAX - 10 });
            told.take(&mut notes, &trace);
            assert!(notes.is_empty());
        }
        let mut notes = vec![
            said(TOLD_MAX),
            of(Matter::Unknown { version: None, what: Unknown::Blocks, count: 7 }),
            of(Matter::MissingBlocks { first: 1, last: 2 }),
        ];
        let worse = notes[2].clone();
        told.take(&mut notes, &trace);
        assert!(notes.len() == 2 && notes[1] == worse, "{notes:?}");
        notes.push(of(Matter::Unknown { version: None, what: Unknown::Blocks, count: 8 }));
        told.take(&mut notes, &trace);
        assert!(notes.is_empty(), "{notes:?}");
    }
}
