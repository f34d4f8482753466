//! Values that are shown by a pattern: what metadata `look` says of them.

use silverpoint_trace::escape;

use super::super::look::{self, Look, Placeholder};
use super::{Container, Frame, TextVisitor, push_missing};

impl TextVisitor<'_> {
    /// The look of the value that begins, if it has one.
    #[cold]
    pub(super) fn take_look(&mut self) -> Option<Look> {
        let pattern = self.stack.marks.take_look(self.depth())?;
        Some(Look { pattern, between: None, hidden: None })
    }

    /// Writes what a pattern has in front of a value without parts.
    #[cold]
    pub(super) fn begin_look(&mut self) {
        let Some(mut look) = self.take_look() else { return };
        let is_quoted = match self.next_of(&mut look) {
            Placeholder::One { is_quoted } => is_quoted,
            Placeholder::Rest(_) => false,
            Placeholder::End => {
                look.hidden = Some(self.out.len());
                false
            }
        };
        self.look = Some((look, is_quoted));
    }

    /// Writes what a pattern has behind a value without parts.
    #[cold]
    pub(super) fn end_look(&mut self, mut look: Look) {
        if let Some(at) = look.hidden {
            self.out.truncate(at);
        }
        while self.next_of(&mut look) != Placeholder::End {}
    }

    /// Writes a pattern up to its next placeholder.
    pub(super) fn next_of(&mut self, look: &mut Look) -> Placeholder {
        let pattern = self.stack.marks.text(look.pattern.clone());
        let (placeholder, end) = look::next(pattern, 0, self.out);
        let start = look.pattern.start;
        look.pattern.start += end;
        match placeholder {
            Placeholder::Rest(place) => Placeholder::Rest(start + place.start..start + place.end),
            other => other,
        }
    }

    /// What stands in front of a part of a container that is shown by a pattern.
    #[cold]
    pub(super) fn separate_look(&mut self) {
        let Some(frame) = self.stack.frames.last_mut() else { return };
        let is_value = std::mem::replace(&mut frame.value_next, false);
        let is_map = frame.kind == Container::LookedMap;
        let was_begun = std::mem::replace(&mut frame.begun, true);
        frame.value_next = is_map && !is_value;
        let Some(mut look) = self.stack.looks.pop() else { return };
        if let Some(between) = look.between.clone() {
            if is_value {
                self.out.push_str(", ");
            } else {
                self.out.push_str(if is_map && was_begun { ")" } else { "" });
                escape::push_escaped(self.out, self.stack.marks.text(between));
                self.out.push_str(if is_map { "(" } else { "" });
            }
        } else if look.hidden.is_none() {
            match self.next_of(&mut look) {
                Placeholder::One { .. } => {}
                Placeholder::Rest(between) => {
                    look.between = Some(between);
                    self.out.push_str(if is_map { "(" } else { "" });
                }
                Placeholder::End => look.hidden = Some(self.out.len()),
            }
        }
        self.stack.looks.push(look);
    }

    /// The end of a container that is shown by a pattern.
    #[cold]
    pub(super) fn end_looked(&mut self, frame: Frame) {
        let Some(mut look) = self.stack.looks.pop() else { return };
        match (&look.between, look.hidden) {
            (Some(between), _) => {
                self.out.push_str(if frame.kind == Container::LookedMap { ")" } else { "" });
                if frame.missing > 0 {
                    escape::push_escaped(self.out, self.stack.marks.text(between.clone()));
                }
            }
            (None, Some(at)) => self.out.truncate(at),
            (None, None) => {}
        }
        push_missing(self.out, frame.missing);
        while self.next_of(&mut look) != Placeholder::End {}
    }

    /// Opens a container that is shown by a pattern, if this one is.
    pub(super) fn begin_looked(&mut self, is_map: bool, missing: u32) -> bool {
        if self.stack.marks.is_empty() {
            return false;
        }
        let Some(look) = self.take_look() else { return false };
        self.begin(if is_map { Container::LookedMap } else { Container::Looked }, missing);
        self.stack.looks.push(look);
        true
    }
}
