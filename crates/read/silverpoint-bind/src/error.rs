//! Why an input is refused.

use std::fmt;

/// See the module. Costs one allocation, made when it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Told>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    offset: usize,
    line: usize,
    column: usize,
    path: String,
    found: String,
    expected: String,
}

impl Error {
    /// At this offset of the input. `line` and `column` are 0 in formats without lines.
    #[cold]
    pub fn new(
        offset: usize,
        line: usize,
        column: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (found, expected) = (found.into(), expected.into());
        Self(Box::new(Told { offset, line, column, path: String::new(), found, expected }))
    }

    /// Bytes before what is not as it should be.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// From 1; 0 in formats without lines.
    pub fn line(&self) -> usize {
        self.0.line
    }

    /// In bytes, from 1; 0 in formats without lines.
    pub fn column(&self) -> usize {
        self.0.column
    }

    /// Where in the value: `.orders[3].price`; empty at its root.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What stands there.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// What should.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// It happened within a member, or a key that is a text.
    #[cold]
    #[must_use]
    pub fn in_member(mut self, name: &str) -> Self {
        self.0.path.insert_str(0, name);
        self.0.path.insert(0, '.');
        self
    }

    /// It happened within an element.
    #[cold]
    #[must_use]
    pub fn in_element(mut self, index: usize) -> Self {
        self.0.path.insert_str(0, &format!("[{index}]"));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}", self.0.offset)?;
        if self.0.line > 0 {
            write!(f, " (line {}, column {})", self.0.line, self.0.column)?;
        }
        if !self.0.path.is_empty() {
            write!(f, ", in {}", self.0.path)?;
        }
        write!(f, ": found {}, expected {}", self.0.found, self.0.expected)
    }
}

impl std::error::Error for Error {}
