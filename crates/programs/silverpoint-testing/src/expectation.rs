//! What a test expects of a capture.

use silverpoint_wire::level::{Kind, Level};

use crate::capture::Capture;
use crate::record::VALUE;
use crate::report;
use crate::wanted::{Times, Wanted};
use crate::{Expected, Record};

/// What is expected, put together piece by piece; [`once`](Expectation::once), [`times`](Expectation::times),
/// [`at_least`](Expectation::at_least) and [`never`](Expectation::never) then look, and panic with what was recorded instead.
#[must_use = "nothing is expected until `once()`, `times(n)`, `at_least(n)` or `never()`"]
#[derive(Debug)]
pub struct Expectation<'c> {
    capture: &'c Capture,
    wanted: Wanted,
}

impl<'c> Expectation<'c> {
    pub(crate) fn new(capture: &'c Capture) -> Self {
        Self { capture, wanted: Wanted::default() }
    }

    pub(crate) fn name(mut self, name: &str) -> Self {
        self.wanted.name = Some(name.to_owned());
        self
    }

    /// Only what is of this kind.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.wanted.kind = Some(kind);
        self
    }

    /// With this value in an argument, which is given by its name or its number from 0. Other arguments may
    /// be there too.
    pub fn with(mut self, name: &str, value: impl Into<Expected>) -> Self {
        self.wanted.fields.push((name.to_owned(), value.into()));
        self
    }

    /// With this value: what a counter shows.
    pub fn value(self, value: impl Into<Expected>) -> Self {
        self.with(VALUE, value)
    }

    /// With this message, as `silverpoint cat` shows it.
    pub fn message(mut self, message: &str) -> Self {
        self.wanted.message = Some(message.to_owned());
        self
    }

    /// With this somewhere in its message.
    pub fn containing(mut self, part: &str) -> Self {
        self.wanted.part = Some(part.to_owned());
        self
    }

    /// From this place: `orders.rs:12`, or a file alone; with as many of its directories as are needed.
    pub fn place(mut self, place: &str) -> Self {
        self.wanted.place = Some(place.to_owned());
        self
    }

    /// From this function: `fill`, or with as much of its path as is needed, `orders::fill`.
    pub fn function(mut self, function: &str) -> Self {
        self.wanted.function = Some(function.to_owned());
        self
    }

    /// At this level.
    pub fn level(mut self, level: Level) -> Self {
        self.wanted.level = Some(level);
        self
    }

    /// In this category: the module, or the target that was given.
    pub fn category(mut self, category: &str) -> Self {
        self.wanted.category = Some(category.to_owned());
        self
    }

    /// While a span of this name was open in its thread.
    pub fn within(mut self, span: &str) -> Self {
        self.wanted.within = Some(span.to_owned());
        self
    }

    /// Expects exactly one, and gives it.
    ///
    /// # Panics
    /// When there is none, or more than one, or when that is uncertain because records were lost.
    #[track_caller]
    pub fn once(self) -> Record {
        match self.look(Times::Exactly(1)).map(|mut found| found.pop()) {
            Ok(Some(record)) => record,
            Ok(None) => unreachable!("exactly one was found"),
            Err(message) => panic!("{message}"),
        }
    }

    /// Expects exactly so many, and gives them.
    ///
    /// # Panics
    /// When the number differs, or when that is uncertain because records were lost.
    #[track_caller]
    pub fn times(self, count: usize) -> Vec<Record> {
        // No closure: its line would be reported instead of the test's.
        match self.look(Times::Exactly(count)) {
            Ok(found) => found,
            Err(message) => panic!("{message}"),
        }
    }

    /// Expects so many or more, and gives them.
    ///
    /// # Panics
    /// When there are fewer.
    #[track_caller]
    pub fn at_least(self, count: usize) -> Vec<Record> {
        // No closure: its line would be reported instead of the test's.
        match self.look(Times::AtLeast(count)) {
            Ok(found) => found,
            Err(message) => panic!("{message}"),
        }
    }

    /// Expects none.
    ///
    /// # Panics
    /// When there is one, or when that is uncertain because records were lost.
    #[track_caller]
    pub fn never(self) {
        if let Err(message) = self.look(Times::Exactly(0)) {
            panic!("{message}");
        }
    }

    /// Those that are as expected, as far as they can be seen; never panics.
    #[must_use]
    pub fn found(&self) -> Vec<Record> {
        self.wanted.find(&self.capture.view().records)
    }

    /// As [`once`](Expectation::once), for assertions of your own: the error is the message.
    ///
    /// # Errors
    /// Where `once` panics.
    pub fn check_once(self) -> Result<Record, String> {
        self.look(Times::Exactly(1)).and_then(|mut found| found.pop().ok_or_else(String::new))
    }

    fn look(&self, times: Times) -> Result<Vec<Record>, String> {
        let view = self.capture.view();
        let found = self.wanted.find(&view.records);
        let is_sure = view.losses.is_none() && view.trouble.is_none();
        let holds = match times {
            Times::Exactly(count) => found.len() == count && is_sure,
            Times::AtLeast(count) => found.len() >= count,
        };
        if holds { Ok(found) } else { Err(report::unmet(&view, &self.wanted, times, &found)) }
    }
}
