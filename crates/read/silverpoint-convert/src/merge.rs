//! Several readers as one, in order of time.

use crate::{ReadError, Reader, Record};

/// See the module. Each input is in order of time by itself; where one is not, its records stay in their order.
pub struct Merge<'r> {
    readers: Vec<Box<dyn Reader + 'r>>,
    state: Vec<State>,
    current: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It must go on before it can be compared.
    Behind,
    At(i64),
    Ended,
}

impl<'r> Merge<'r> {
    /// Of equal times the first reader's comes first.
    pub fn new(readers: Vec<Box<dyn Reader + 'r>>) -> Self {
        let state = vec![State::Behind; readers.len()];
        Self { readers, state, current: None }
    }

    /// Which reader the current record comes from.
    pub fn current(&self) -> Option<usize> {
        self.current
    }
}

impl Reader for Merge<'_> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        if let Some(at) = self.current.take() {
            self.state[at] = State::Behind;
        }
        for (reader, state) in self.readers.iter_mut().zip(&mut self.state) {
            if *state != State::Behind {
                continue;
            }
            match reader.advance() {
                Ok(true) => *state = reader.record().map_or(State::Ended, |r| State::At(r.wall_ns)),
                Ok(false) => *state = State::Ended,
                Err(error) => {
                    if !error.may_go_on {
                        *state = State::Ended;
                    }
                    return Err(error);
                }
            }
        }
        let first = self.state.iter().enumerate().filter_map(|(at, state)| match state {
            State::At(ns) => Some((*ns, at)),
            _ => None,
        });
        self.current = first.min().map(|(_, at)| at);
        Ok(self.current.is_some())
    }

    fn record(&self) -> Option<Record<'_>> {
        self.readers[self.current?].record()
    }

    fn position(&self) -> u64 {
        self.readers.iter().map(|reader| reader.position()).sum()
    }
}
