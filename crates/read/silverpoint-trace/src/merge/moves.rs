//! From where to where each stream has moved: for what is to be undone.

use std::collections::HashMap;

use super::{Events, Move, Start, State, StreamKey};

impl Events<'_> {
    /// What was given since the last call, of each stream: with the last event. Only if [`Progress::moved`](crate::progress::Progress::moved) is there.
    pub(crate) fn take_moves(&mut self) -> Vec<Move> {
        let mut moves = Vec::new();
        for index in std::mem::take(&mut self.touched) {
            let mut to = self.cursors[index as usize].position();
            if self.current == Some(index) {
                if let State::Record { header, .. } = &self.cursors[index as usize].state {
                    to += u64::from(header.size);
                }
            }
            let cursor = &mut self.cursors[index as usize];
            let stream = &self.trace.sessions[cursor.session as usize].streams[cursor.stream as usize];
            let from = cursor.start.take().filter(|start| start.position < to);
            moves.extend(from.map(|from| Move { stream: (cursor.session, stream.number), from, to }));
        }
        // More of it is given next, as a rule.
        if let Some(index) = self.current {
            self.touch(index, true);
        }
        moves
    }

    /// Undoes [`Events::take_moves`].
    pub(crate) fn give_moves_back(&mut self, moves: Vec<Move>) {
        let mut moves: HashMap<StreamKey, Start> =
            moves.into_iter().map(|moved| (moved.stream, moved.from)).collect();
        for (cursor, index) in self.cursors.iter_mut().zip(0..) {
            let stream = &self.trace.sessions[cursor.session as usize].streams[cursor.stream as usize];
            if let Some(start) = moves.remove(&(cursor.session, stream.number)) {
                if cursor.start.replace(start).is_none() {
                    self.touched.push(index);
                }
            }
        }
    }

    /// Notes where a cursor stands, of which something is given next. If `is_given`, the record there has been.
    pub(super) fn touch(&mut self, index: u32, is_given: bool) {
        let cursor = &mut self.cursors[index as usize];
        if self.moved.is_none() || cursor.start.is_some() {
            return;
        }
        Self::take_stated(self.trace, &mut self.reader, cursor);
        let given = match &cursor.state {
            State::Record { header, .. } if is_given => u64::from(header.size),
            _ => 0,
        };
        cursor.start = Some(Start {
            position: cursor.position() + given,
            is_begun: cursor.begun,
            context: cursor.context.clone(),
        });
        self.touched.push(index);
    }
}
