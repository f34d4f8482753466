//! A text, and the place in its file of each of its characters.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Where something stands: for messages, and for the code that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's path, as it was given.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What is wrong with a file: `file:line:column: expected …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// What should stand there.
    pub expected: String,
}

impl Mistake {
    /// Characters of what was expected: it may quote a name of the file, which has any length.
    const MOST: usize = 200;

    pub(crate) fn new(place: &Place, expected: impl Into<String>) -> Self {
        let mut expected = expected.into();
        if let Some((end, _)) = expected.char_indices().nth(Self::MOST) {
            expected.truncate(end);
            expected.push('…');
        }
        Self { place: place.clone(), expected }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.place, self.expected)
    }
}

/// The mistakes of one file: a limited number, since one may cause the next.
#[derive(Debug, Default)]
pub struct Mistakes {
    pub all: Vec<Mistake>,
}

impl Mistakes {
    const MOST: usize = 10;

    pub fn add(&mut self, mistake: Mistake) {
        if self.all.len() < Self::MOST {
            self.all.push(mistake);
        }
    }
}

/// Up to the next mark, characters are consecutive in one line of the file.
#[derive(Debug)]
struct Mark {
    at: usize,
    line: u32,
    column: u32,
}

/// See the module. It is a whole file, or pieces of one.
#[derive(Debug)]
pub struct Text {
    file: Arc<str>,
    text: String,
    marks: Vec<Mark>,
}

impl Text {
    pub fn empty(file: Arc<str>) -> Self {
        Self { file, text: String::new(), marks: Vec::new() }
    }

    pub fn of_file(path: &Path, text: &str) -> Self {
        let mut all = Self::empty(path.to_string_lossy().into());
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        for (index, line) in text.split_inclusive('\n').enumerate() {
            all.mark(index as u32 + 1, 1);
            all.text.push_str(line);
        }
        all
    }

    /// A text that stands nowhere by itself: all of it has this place.
    pub fn at_place(text: &str, place: &Place) -> Self {
        let mut all = Self::empty(Arc::clone(&place.file));
        text.chars().for_each(|character| all.push(character, place));
        all
    }

    fn mark(&mut self, line: u32, column: u32) {
        self.marks.push(Mark { at: self.text.len(), line, column });
    }

    /// Appends a character that stands at this place.
    pub fn push(&mut self, character: char, place: &Place) {
        self.mark(place.line, place.column);
        self.text.push(character);
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The place of the character at an offset; of the end, for one beyond.
    pub fn place(&self, at: usize) -> Place {
        let at = at.min(self.text.len());
        let index = self.marks.partition_point(|mark| mark.at <= at);
        let (from, line, column) = match index.checked_sub(1).and_then(|index| self.marks.get(index)) {
            Some(mark) => (mark.at, mark.line, mark.column),
            None => (0, 1, 1),
        };
        let before = self.text.get(from..at).unwrap_or("");
        let column = column.saturating_add(before.chars().count() as u32);
        Place { file: Arc::clone(&self.file), line, column }
    }

    pub fn mistake(&self, at: usize, expected: impl Into<String>) -> Mistake {
        Mistake::new(&self.place(at), expected)
    }
}
