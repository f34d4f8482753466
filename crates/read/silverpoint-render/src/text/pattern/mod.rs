//! Lines in a form of the user: `{time:.3} {level:<5} {category}: {message}`.
//!
//! A pattern is a template (spec/templates.md) whose names are those of [`FIELDS`]. Width, fill and alignment mean what they mean there; a precision is the digits of a time's
//! fraction, or the most columns of a text. Doubled braces stand for themselves. Control characters of names and values are escaped: one event stays one line, unless the pattern
//! itself has line breaks.
//!
//! A pattern with `%{` in it is one of Qt's (module `qt`), one that begins with `spdlog:` one of spdlog's (module `spdlog`).

mod error;
mod item;
mod qt;
mod qt_clock;
mod spdlog;
mod spdlog_moment;
mod writer;

use silverpoint_wire::template::{self, Argument, Piece};

use crate::format::Spec;
use crate::time::Style;
pub use error::PatternError;
use item::{Condition, Field, Item};
pub(super) use writer::PatternWriter;

/// A pattern that was read. Its names:
///
/// | name | shows |
/// |---|---|
/// | `time` | 19:02:11.123456789, in the zone that was chosen |
/// | `datetime` | 2026-11-20T19:02:11.123456789+01:00 |
/// | `relative` | seconds since the first line: +12.345678901 |
/// | `delta` | seconds since the line before: +0.000001234 |
/// | `level`, `l` | INFO; its letter |
/// | `category` | empty when there is none |
/// | `message` | the template with its values, and fields |
/// | `text`, `fields` | the two parts of it: the template with its values; what no placeholder shows, ` name=value` each |
/// | `process`, `pid` | the program's name; its process id |
/// | `thread`, `tid` | the thread's name, or its id when it has none; its id |
/// | `file`, `path`, `line`, `function` | of the source |
/// | `context`, `context_NAME` | fields of the record's context: `request=7 user=ada`; the value of one; empty when there are none |
///
/// Or one of Qt's, with `%{category}` and `%{if-category}…%{endif}`; or one of spdlog's behind `spdlog:`, as in `spdlog:[%H:%M:%S] [%l] %v`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    items: Vec<Item>,
    /// As it was written; none of those that have a name of their own.
    text: Option<String>,
}

/// All names, with what they show. The list for people stands at [`Pattern`].
const FIELDS: [(&str, Field); 19] = [
    ("time", Field::Time(Style::TimeOfDay)),
    ("datetime", Field::Time(Style::Full)),
    ("relative", Field::Time(Style::Relative)),
    ("delta", Field::Time(Style::Delta)),
    ("level", Field::Level),
    ("l", Field::LevelLetter),
    ("category", Field::Category),
    ("message", Field::Message),
    ("text", Field::Text),
    ("fields", Field::Fields),
    ("process", Field::Process),
    ("pid", Field::Pid),
    ("thread", Field::Thread),
    ("tid", Field::Tid),
    ("file", Field::File),
    ("path", Field::Path),
    ("line", Field::Line),
    ("function", Field::Function),
    ("context", Field::Context),
];

/// Before the name of one field of the context.
const OF_CONTEXT: &str = "context_";

impl Pattern {
    /// Nothing but the message.
    pub fn message() -> Self {
        Self::of(vec![Item::Field(Field::Message, Spec::default())])
    }

    /// Qt's own: the category if there is one, and the message.
    pub fn qt() -> Self {
        let mut items = vec![Item::If(Condition::Category)];
        items.push(Item::Field(Field::QtCategory, Spec::default()));
        items.extend([Item::Literal(": ".into()), Item::EndIf]);
        items.push(Item::Field(Field::Message, Spec::default()));
        Self::of(items)
    }

    /// Time of day to the millisecond, the level's letter, the category if there is one, and the message.
    pub fn summary() -> Self {
        let milliseconds = Spec { precision: Some(3), ..Spec::default() };
        let mut items = vec![Item::Field(Field::Time(Style::TimeOfDay), milliseconds)];
        items.push(Item::Literal(" ".into()));
        items.push(Item::Field(Field::LevelLetter, Spec::default()));
        items.push(Item::Literal(" ".into()));
        items.extend(Self::qt().items);
        Self::of(items)
    }

    fn of(items: Vec<Item>) -> Self {
        Self { items, text: None }
    }

    /// As it was written; `None` of [`Pattern::message`], [`Pattern::qt`] and [`Pattern::summary`], which were not.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Reads a pattern.
    ///
    /// # Errors
    /// A template that is none, or names that are not in the list.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let read = Self::read(text)?;
        Ok(Self { text: Some(text.to_owned()), ..read })
    }

    fn read(text: &str) -> Result<Self, PatternError> {
        if let Some(text) = text.strip_prefix("spdlog:") {
            return Ok(Self::of(spdlog::parse(text)));
        }
        if text.contains("%{") {
            return qt::parse(text).map(Self::of);
        }
        let names = || FIELDS.map(|(name, _)| name).join(", ");
        let pieces = template::parse(text).map_err(|error| {
            PatternError::new(format!("byte {}: {} in the pattern {text:?}", error.at, error.what))
        })?;
        let item = |piece: Piece| match piece {
            Piece::Literal(text) => Ok(Item::Literal(text)),
            Piece::Placeholder { argument: Argument::Name(name), spec } => {
                match FIELDS.iter().find(|(known, _)| *known == name) {
                    Some((_, field)) => Ok(Item::Field(*field, Spec::from(&spec))),
                    None if name.len() > OF_CONTEXT.len() && name.starts_with(OF_CONTEXT) => {
                        Ok(Item::OfContext(name[OF_CONTEXT.len()..].to_owned(), Spec::from(&spec)))
                    }
                    None => Err(PatternError::new(format!(
                        "{name:?} is no part of a line; valid are {}",
                        names()
                    ))),
                }
            }
            Piece::Placeholder { .. } => {
                Err(PatternError::new(format!("{{}} needs a name; valid are {}", names())))
            }
        };
        pieces.into_iter().map(item).collect::<Result<_, _>>().map(Self::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_read_and_nothing_else() {
        for (name, field) in FIELDS {
            let Pattern { items, .. } = Pattern::parse(&format!("{{{name}}}")).unwrap();
            assert_eq!(items, [Item::Field(field, Spec::default())], "{name}");
        }
        let Pattern { items, .. } = Pattern::parse("{context_user_id:<8}").unwrap();
        assert!(
            matches!(&items[..], [Item::OfContext(name, spec)] if name == "user_id" && spec.width == 8),
            "{items:?}"
        );
        let error = Pattern::parse("{levle}").unwrap_err().to_string();
        assert!(
            error.starts_with("\"levle\" is no part of a line") && error.contains("level, l, category"),
            "{error}"
        );
        for bad in ["{context_}", "{}", "{0}", "{", "}", "{level:", "{level:<"] {
            assert!(Pattern::parse(bad).is_err(), "{bad}");
        }
        let literal = Pattern::parse("a {{b}}").unwrap();
        assert_eq!(literal.items, [Item::Literal("a {b}".into())]);
    }
}
