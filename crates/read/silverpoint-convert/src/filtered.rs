//! The records of an input that a filter takes, under the input's name.

use silverpoint_query::filter::RecordFilter;

use crate::{ReadError, Reader, Record};

/// See the module. What is left out costs no more than reading it.
pub struct Filtered<'r> {
    reader: Box<dyn Reader + 'r>,
    filter: RecordFilter,
    name: Box<str>,
}

impl<'r> Filtered<'r> {
    /// Errors are those of an input called `name`.
    pub fn new(reader: Box<dyn Reader + 'r>, filter: RecordFilter, name: impl Into<Box<str>>) -> Self {
        Self { reader, filter, name: name.into() }
    }
}

impl Reader for Filtered<'_> {
    fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            match self.reader.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => return Err(ReadError { input: self.name.clone(), ..error }),
            }
            let filter = &mut self.filter;
            if self.reader.record().is_some_and(|record| filter.takes(&record)) {
                return Ok(true);
            }
        }
    }

    fn record(&self) -> Option<Record<'_>> {
        self.reader.record()
    }

    fn position(&self) -> u64 {
        self.reader.position()
    }
}
