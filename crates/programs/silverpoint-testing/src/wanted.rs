//! What a record must be, and how often.

use std::fmt;

use silverpoint_wire::level::{Kind, Level};

use crate::brief::{brief, where_they_part};
use crate::{Expected, Record};

/// What a record must be.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) kind: Option<Kind>,
    pub(crate) name: Option<String>,
    pub(crate) message: Option<String>,
    /// A part of the message.
    pub(crate) part: Option<String>,
    pub(crate) place: Option<String>,
    pub(crate) function: Option<String>,
    pub(crate) level: Option<Level>,
    pub(crate) category: Option<String>,
    pub(crate) within: Option<String>,
    pub(crate) fields: Vec<(String, Expected)>,
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    Exactly(usize),
    AtLeast(usize),
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(0) => f.write_str("never"),
            Self::Exactly(1) => f.write_str("once"),
            Self::Exactly(count) => write!(f, "{count} times"),
            Self::AtLeast(1) => f.write_str("at least once"),
            Self::AtLeast(count) => write!(f, "at least {count} times"),
        }
    }
}

impl Wanted {
    /// Those that are as wanted.
    pub(crate) fn find(&self, records: &[Record]) -> Vec<Record> {
        records.iter().filter(|record| self.is_met_by(record)).cloned().collect()
    }

    /// Whether kind and name are those wanted: the rest may differ.
    pub(crate) fn is_named(&self, record: &Record) -> bool {
        // A stream is a log too.
        let is_log = |kind| matches!(kind, Kind::Log | Kind::Stream);
        let same_kind = |kind| kind == record.kind() || (is_log(kind) && is_log(record.kind()));
        let same_name = |name: &String| {
            name == record.name() || (is_log(record.kind()) && is_same_template(name, record.name()))
        };
        self.kind.is_none_or(same_kind) && self.name.as_ref().is_none_or(same_name)
    }

    pub(crate) fn is_met_by(&self, record: &Record) -> bool {
        self.is_named(record) && self.differences(record).is_empty()
    }

    /// What of a record is not as wanted, in words, but for its kind and name.
    pub(crate) fn differences(&self, record: &Record) -> Vec<String> {
        let mut all = Vec::new();
        fn differ<T>(
            all: &mut Vec<String>,
            wanted: Option<&T>,
            is_met: impl FnOnce(&T) -> bool,
            words: impl FnOnce(&T) -> String,
        ) {
            if let Some(wanted) = wanted.filter(|wanted| !is_met(wanted)) {
                all.push(words(wanted));
            }
        }
        let quoted = |text: &str| brief(format!("{text:?}"));
        let (message, level, category) = (record.message(), record.level(), record.category());
        differ(
            &mut all,
            self.message.as_ref(),
            |m| m == message,
            |m| {
                let at = where_they_part(message, m);
                format!("the message is {}, not {}{at}", quoted(message), quoted(m))
            },
        );
        differ(
            &mut all,
            self.part.as_ref(),
            |part| message.contains(part.as_str()),
            |part| format!("the message is {}, without {}", quoted(message), quoted(part)),
        );
        differ(&mut all, self.level.as_ref(), |l| *l == level, |l| format!("the level is {level}, not {l}"));
        differ(
            &mut all,
            self.category.as_ref(),
            |c| *c == category,
            |c| format!("the category is {category}, not {c}"),
        );
        differ(
            &mut all,
            self.place.as_ref(),
            |place| is_at(record, place),
            |place| format!("the place is {}:{}, not {place}", record.file(), record.line()),
        );
        let function = record.function();
        differ(
            &mut all,
            self.function.as_ref(),
            |f| ends_with_parts(function, f, "::"),
            |f| format!("the function is {function}, not {f}"),
        );
        if let Some(span) = &self.within {
            if !record.within().contains(span) {
                all.push(match record.within() {
                    [] => format!("it is not within {span}, nor within any span"),
                    spans => format!("it is not within {span}, but within {}", spans.join(" > ")),
                });
            }
        }
        for (name, expected) in &self.fields {
            match record.field(name) {
                Some(field) if expected.accepts(field) => {}
                Some(field) => {
                    let (is, wanted) = (field.in_words(), expected.to_string());
                    // The same digits as text and as a number.
                    let is = if is == wanted { format!("{is} ({})", field.type_name()) } else { is };
                    let at = where_they_part(&is, &wanted);
                    all.push(format!("{name} is {}, not {}{at}", brief(is), brief(wanted)));
                }
                None => all.push(format!("there is no {name}")),
            }
        }
        all
    }

    /// Whether this argument is not as wanted.
    pub(crate) fn refuses(&self, record: &Record, number: usize) -> bool {
        let Some(field) = record.fields().get(number) else { return false };
        self.fields.iter().any(|(name, expected)| {
            record.field(name).is_some_and(|found| std::ptr::eq(found, field)) && !expected.accepts(field)
        })
    }

    /// `event order.filled id=7`
    pub(crate) fn in_words(&self) -> String {
        let mut words = Vec::new();
        match (self.kind, &self.name, &self.message) {
            (Some(kind), Some(name), _) => words.push(format!("{kind} {name}")),
            (Some(kind), None, _) => words.push(kind.to_string()),
            (None, Some(name), _) => words.push(name.clone()),
            (None, None, _) => {}
        }
        words.extend(self.message.as_ref().map(|message| brief(format!("{message:?}"))));
        words.extend(self.part.as_ref().map(|part| format!("containing {}", brief(format!("{part:?}")))));
        words.extend(self.fields.iter().map(|(name, value)| format!("{name}={}", brief(value.to_string()))));
        words.extend(self.level.map(|level| format!("at level {level}")));
        words.extend(self.category.as_ref().map(|category| format!("of category {category}")));
        words.extend(self.place.as_ref().map(|place| format!("at {place}")));
        words.extend(self.function.as_ref().map(|function| format!("in {function}")));
        words.extend(self.within.as_ref().map(|span| format!("within {span}")));
        words.join(" ")
    }
}

/// Whether a record is from a place: `FILE` or `FILE:LINE`, the file with as many directories as are given.
fn is_at(record: &Record, place: &str) -> bool {
    let (file, line) = match place.rsplit_once(':').map(|(file, line)| (file, line.parse())) {
        Some((file, Ok(line))) => (file, Some(line)),
        _ => (place, None),
    };
    line.is_none_or(|line: u32| line == record.line()) && ends_with_parts(record.file(), file, "/")
}

/// Whether a path ends with these parts: `a::b::c` with `b::c`, not with `::c` of `bb::c`.
fn ends_with_parts(path: &str, end: &str, separator: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with(separator))
}

/// Whether two templates are the same except for the contents of their braces. Recorded templates have
/// numbers instead of names there, and each format in the spelling that all languages share.
fn is_same_template(a: &str, b: &str) -> bool {
    literals(a).eq(literals(b))
}

/// The characters of a template; `None` for each placeholder, and pairs of braces as they are.
fn literals(template: &str) -> impl Iterator<Item = Option<char>> {
    let mut rest = template.chars().peekable();
    let mut second = None;
    std::iter::from_fn(move || {
        if let Some(brace) = second.take() {
            return Some(Some(brace));
        }
        let character = rest.next()?;
        if matches!(character, '{' | '}') && rest.next_if_eq(&character).is_some() {
            second = Some(character);
        } else if character == '{' {
            rest.by_ref().find(|c| *c == '}');
            return Some(None);
        }
        Some(Some(character))
    })
}

#[cfg(test)]
mod tests {
    use super::{ends_with_parts, is_same_template};

    #[test]
    fn templates_are_the_same_whatever_their_braces_have() {
        for (a, b) in [
            ("", ""),
            ("order {} at {:.2}", "order {0} at {1:.2f}"),
            ("{id}", "{}"),
            ("{{}} {x}", "{{}} {}"),
            ("{", "{"),
        ] {
            assert!(is_same_template(a, b), "{a} {b}");
        }
        for (a, b) in [("order {}", "order"), ("order {}", "order {} "), ("{{}}", "{}"), ("{} {}", "{}  {}")]
        {
            assert!(!is_same_template(a, b), "{a} {b}");
        }
    }

    #[test]
    fn paths_end_with_whole_parts() {
        assert!(ends_with_parts("orders::fill", "fill", "::"));
        assert!(ends_with_parts("orders::fill", "orders::fill", "::"));
        assert!(!ends_with_parts("orders::fill", "ill", "::"));
        assert!(!ends_with_parts("fill", "orders::fill", "::"));
        assert!(ends_with_parts("src/orders.rs", "orders.rs", "/"));
        assert!(!ends_with_parts("src/reorders.rs", "orders.rs", "/"));
    }
}
