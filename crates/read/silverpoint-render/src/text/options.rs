//! What lines show, and in which look.

use super::pattern::Pattern;
use crate::render::Dialect;
use crate::time::{self, Style};

/// What a line shows, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// How time is shown.
    pub time: Style,
    /// In which zone.
    pub zone: jiff::tz::TimeZone,
    /// Digits of the second's fraction.
    pub digits: u8,
    /// Colours, by escape sequences.
    pub colour: bool,
    /// Lines of this form instead of columns; of the other options zone, digits and colour hold.
    pub pattern: Option<Pattern>,
    /// How values look.
    pub dialect: Dialect,
    /// The process, as `name[pid]`.
    pub process: bool,
    /// The file's name and the line, at the end.
    pub location: bool,
    /// The whole path instead of the file's name, and the function.
    pub long: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time: Style::TimeOfDay,
            zone: time::local_zone(),
            digits: 9,
            colour: false,
            pattern: None,
            dialect: Dialect::Plain,
            process: true,
            location: true,
            long: false,
        }
    }
}

impl Options {
    /// The same with another look; a pattern that is set afterwards replaces the look's own.
    #[must_use]
    pub fn looking(mut self, look: Look) -> Self {
        (self.dialect, self.pattern) = match look {
            Look::Text => (Dialect::Plain, None),
            Look::QDebug => (Dialect::QDebug, Some(Pattern::message())),
            Look::Qt => (Dialect::QDebug, Some(Pattern::qt())),
            Look::Summary => (Dialect::Summary, Some(Pattern::summary())),
        };
        self
    }
}

/// A choice of pattern and dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// Columns, with values in the notation of templates.
    #[default]
    Text,
    /// What Qt's debug stream writes, and nothing else.
    QDebug,
    /// The same behind the category, as by Qt's default message pattern.
    Qt,
    /// Time, level's letter, category, and the message with long values cut short.
    Summary,
}

impl Look {
    /// All, by the names that configurations and options use.
    pub const ALL: [(&'static str, Self); 4] =
        [("text", Self::Text), ("qdebug", Self::QDebug), ("qt", Self::Qt), ("summary", Self::Summary)];
}
