//! Patterns as Qt's `qSetMessagePattern` and `QT_MESSAGE_PATTERN` take them: `%{if-category}%{category}: %{endif}%{message}`.
//!
//! Placeholders of Qt for which a record has no value (`%{backtrace}`, `%{qthreadptr}`) are an error, not an
//! empty text.

use silverpoint_wire::level::Level;

use super::error::PatternError;
use super::item::{Condition, Field, Item};
use super::qt_clock::Clock;
use crate::format::Spec;
use crate::time::Style;

/// What may stand in `%{…}`, for people.
const VALID: &str = "appname, category, file, function, line, message, pid, threadid, time, type, if-category, if-debug, if-info, if-warning, if-critical, if-fatal, endif";

/// The items of a pattern of Qt's.
pub(super) fn parse(text: &str) -> Result<Vec<Item>, PatternError> {
    let mut items = Vec::new();
    let mut is_inside = false;
    let mut rest = text;
    while let Some(at) = rest.find("%{") {
        literal(&mut items, &rest[..at]);
        let inner = &rest[at + 2..];
        let Some(end) = inner.find('}') else {
            return Err(PatternError::new(format!("%{{ without }} in the pattern {text:?}")));
        };
        let item = item(&inner[..end])?;
        match item {
            Item::If(_) if is_inside => {
                return Err(PatternError::new(format!(
                    "%{{{}}} within another condition; conditions do not nest",
                    &inner[..end]
                )));
            }
            Item::EndIf if !is_inside => {
                return Err(PatternError::new("%{endif} without a condition before it".to_owned()));
            }
            Item::If(_) => is_inside = true,
            Item::EndIf => is_inside = false,
            _ => {}
        }
        items.push(item);
        rest = &inner[end + 1..];
    }
    if is_inside {
        return Err(PatternError::new(format!("a condition without %{{endif}} in the pattern {text:?}")));
    }
    literal(&mut items, rest);
    Ok(items)
}

fn literal(items: &mut Vec<Item>, text: &str) {
    if !text.is_empty() {
        items.push(Item::Literal(text.to_owned()));
    }
}

fn item(name: &str) -> Result<Item, PatternError> {
    let field = |field| Item::Field(field, Spec::default());
    Ok(match name {
        "appname" => field(Field::Process),
        "category" => field(Field::QtCategory),
        "file" => field(Field::Path),
        "function" => field(Field::Function),
        "line" => field(Field::Line),
        "message" => field(Field::Message),
        "pid" => field(Field::Pid),
        "threadid" => field(Field::Tid),
        "type" => field(Field::QtType),
        "endif" => Item::EndIf,
        "if-category" => Item::If(Condition::Category),
        "if-debug" => Item::If(Condition::Levels(&[Level::Trace, Level::Debug])),
        "if-info" => Item::If(Condition::Levels(&[Level::Info])),
        "if-warning" => Item::If(Condition::Levels(&[Level::Warn])),
        "if-critical" => Item::If(Condition::Levels(&[Level::Error])),
        "if-fatal" => Item::If(Condition::Levels(&[Level::Fatal])),
        "time" => Item::Clock(Clock::parse("yyyy-MM-ddTHH:mm:ss")),
        "time process" => {
            Item::Field(Field::Time(Style::Relative), Spec { precision: Some(3), ..Spec::default() })
        }
        _ => match name.strip_prefix("time ") {
            // QDateTime would take it for a format.
            Some("boot") => {
                return Err(PatternError::new(
                    "%{time boot} is not recorded; %{time process} counts from the first line".to_owned(),
                ));
            }
            Some(format) => Item::Clock(Clock::parse(format)),
            None => {
                return Err(PatternError::new(format!(
                    "%{{{name}}} is no part of a line; valid are {VALID}"
                )));
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told() {
        for (pattern, words) in [
            ("%{mesage}", "valid are appname, category"),
            ("%{message", "without }"),
            ("%{if-debug}x", "without %{endif}"),
            ("x%{endif}", "without a condition"),
            ("%{if-debug}%{if-info}%{endif}%{endif}", "do not nest"),
            ("%{backtrace depth=5}", "is no part of a line"),
            ("%{time boot}", "not recorded"),
        ] {
            let error = parse(pattern).expect_err(pattern).to_string();
            assert!(error.contains(words), "{pattern}: {error}");
        }
    }
}
