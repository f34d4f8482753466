//! Lines in a form of the user: `{time:.3} {level:<5} {category}: {message}`.
//!
//! A pattern is a template (spec/templates.md) whose names are those of [`FIELDS`]. Width, fill and alignment mean what they mean there; a precision is the digits of a time's
//! fraction, or the most columns of a text. Doubled braces stand for themselves. Control characters of names and values are escaped: one event stays one line, unless the pattern
//! itself has line breaks.
//!
//! A pattern with `%{` in it is one of Qt's (module `qt_pattern`), one that begins with `spdlog:` one of spdlog's (module `spdlog_pattern`).

use std::fmt;

use silverpoint_wire::level::Level;
use silverpoint_wire::template::{self, Argument, Piece};

use super::Options;
use super::qt_pattern::{self, Clock};
use super::spdlog_pattern::{self, Moment};
use crate::escape;
use crate::format::{Align, Spec, columns, pad_written};
use crate::render::{Part, Renderer};
use crate::site::Site;
use crate::time::{Style, TimeText};
use crate::tracefile::{Event, What};

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
    pub(super) items: Vec<Item>,
    /// As it was written; none of those that have a name of their own.
    text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Literal(String),
    Field(Field, Spec),
    /// A time in a form of Qt's.
    Clock(Clock),
    /// Part of a time as spdlog writes it.
    Moment(Moment, Spec),
    /// From here on, or up to here, in the level's colour.
    Paint(bool),
    /// What follows, up to [`Item::EndIf`], stands only in some lines.
    If(Condition),
    EndIf,
    /// One field of the context.
    OfContext(String, Spec),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// There is one, and another than `default`, which is Qt's word for none.
    Category,
    /// There is a category.
    Named,
    Levels(&'static [Level]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Time(Style),
    Level,
    LevelLetter,
    Category,
    Message,
    Text,
    Fields,
    Process,
    Pid,
    Thread,
    Tid,
    File,
    Path,
    Line,
    Function,
    /// `default` when there is none.
    QtCategory,
    /// The level in Qt's words.
    QtType,
    /// The level in spdlog's words, and its letter.
    SpdlogLevel,
    SpdlogLetter,
    Context,
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

/// What is wrong with a pattern, and what is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

impl PatternError {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }
}

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

    pub(super) fn of(items: Vec<Item>) -> Self {
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
            return Ok(spdlog_pattern::parse(text));
        }
        if text.contains("%{") {
            return qt_pattern::parse(text);
        }
        let names = || FIELDS.map(|(name, _)| name).join(", ");
        let pieces = template::parse(text).map_err(|error| {
            PatternError(format!("byte {}: {} in the pattern {text:?}", error.at, error.what))
        })?;
        let item = |piece: Piece| match piece {
            Piece::Literal(text) => Ok(Item::Literal(text)),
            Piece::Placeholder { argument: Argument::Name(name), spec } => {
                match FIELDS.iter().find(|(known, _)| *known == name) {
                    Some((_, field)) => Ok(Item::Field(*field, Spec::from(&spec))),
                    None if name.len() > OF_CONTEXT.len() && name.starts_with(OF_CONTEXT) => {
                        Ok(Item::OfContext(name[OF_CONTEXT.len()..].to_owned(), Spec::from(&spec)))
                    }
                    None => {
                        Err(PatternError(format!("{name:?} is no part of a line; valid are {}", names())))
                    }
                }
            }
            Piece::Placeholder { .. } => {
                Err(PatternError(format!("{{}} needs a name; valid are {}", names())))
            }
        };
        pieces.into_iter().map(item).collect::<Result<_, _>>().map(Self::of)
    }
}

/// Writes lines by a pattern. Keeps a time's text from line to line.
pub(super) struct PatternWriter {
    pattern: Pattern,
    /// One for each item; only those of times are used.
    times: Vec<Option<TimeText>>,
    zone: jiff::tz::TimeZone,
    colour: bool,
    /// Of the line before.
    before_ns: Option<i64>,
}

impl PatternWriter {
    pub(super) fn new(pattern: &Pattern, options: &Options) -> Self {
        let time = |item: &Item| match item {
            Item::Field(Field::Time(style), spec) => {
                let digits = spec.precision.map_or(options.digits, |digits| digits.min(9) as u8);
                Some(TimeText::new(*style, options.zone.clone(), digits))
            }
            _ => None,
        };
        let times = pattern.items.iter().map(time).collect();
        let (zone, colour) = (options.zone.clone(), options.colour);
        Self { pattern: pattern.clone(), times, zone, colour, before_ns: None }
    }

    pub(super) fn line(&mut self, renderer: &mut Renderer, out: &mut String, event: &Event<'_>) {
        let site = match event.what {
            What::Record { site, .. } => Some(site),
            What::SpanEnd { site, .. } => site,
            _ => None,
        };
        let (mut is_left_out, mut painted) = (false, None);
        for (item, time) in self.pattern.items.iter().zip(&mut self.times) {
            match item {
                Item::EndIf => is_left_out = false,
                _ if is_left_out => {}
                Item::If(condition) => is_left_out = !condition.holds(event, site),
                Item::Literal(text) => out.push_str(text),
                Item::Clock(clock) => clock.push(out, event.wall_ns, &self.zone),
                Item::Moment(moment, spec) => {
                    let start = out.len();
                    moment.push(out, event.wall_ns, self.before_ns, &self.zone);
                    if !spec.is_default() {
                        fit(out, start, spec, Field::Category);
                    }
                }
                Item::Paint(true) => painted = Some(out.len()),
                Item::Paint(false) => {
                    if let (true, Some(start)) = (self.colour, painted.take()) {
                        paint(out, start, event.what.level());
                    }
                }
                Item::OfContext(name, spec) => {
                    let start = out.len();
                    let value = event.context.and_then(|context| context.text_of_field(name));
                    out.push_str(&value.unwrap_or_default());
                    if !spec.is_default() {
                        fit(out, start, spec, Field::Context);
                    }
                }
                Item::Field(field, spec) => {
                    let start = out.len();
                    match (field, time) {
                        (Field::Time(_), Some(time)) => drop(time.push(out, event.wall_ns)),
                        (field, _) => push(renderer, out, event, site, *field),
                    }
                    if !spec.is_default() {
                        fit(out, start, spec, *field);
                    }
                    if self.colour && matches!(field, Field::Level | Field::LevelLetter) {
                        paint(out, start, event.what.level());
                    }
                }
            }
        }
        if let (true, Some(start)) = (self.colour, painted) {
            paint(out, start, event.what.level());
        }
        self.before_ns = Some(event.wall_ns);
        out.push('\n');
    }
}

impl Condition {
    fn holds(&self, event: &Event<'_>, site: Option<&Site>) -> bool {
        match self {
            Self::Category => !matches!(site.map_or("", |site| &site.description.category), "" | "default"),
            Self::Named => site.is_some_and(|site| !site.description.category.is_empty()),
            Self::Levels(levels) => levels.contains(&event.what.level()),
        }
    }
}

fn push(renderer: &mut Renderer, out: &mut String, event: &Event<'_>, site: Option<&Site>, field: Field) {
    let number = |out: &mut String, number: u32| out.push_str(itoa::Buffer::new().format(number));
    let level = || super::level_name(event.what.level());
    let text = |of: fn(&Site) -> &str| site.map_or("", of);
    match field {
        Field::Time(_) => {}
        Field::Level => out.push_str(level()),
        Field::LevelLetter => out.push_str(&level()[..1]),
        Field::Category => escape::push_escaped(out, text(|site| &site.description.category)),
        Field::Message => {
            super::push_backtrace(out, event);
            super::message(renderer, out, event);
        }
        Field::Text | Field::Fields => match &event.what {
            What::Record { site, args, .. } => {
                let part = if field == Field::Text { Part::Text } else { Part::Fields };
                // What cannot be read is marked in the text.
                let _ = renderer.part(out, site, args, part);
            }
            _ if field == Field::Text => super::message(renderer, out, event),
            _ => {}
        },
        Field::QtCategory => match text(|site| &site.description.category) {
            "" => out.push_str("default"),
            name => escape::push_escaped(out, name),
        },
        Field::QtType => out.push_str(match event.what.level() {
            Level::Trace | Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warning",
            Level::Error => "critical",
            Level::Fatal => "fatal",
        }),
        Field::SpdlogLevel => out.push_str(spdlog_pattern::level_name(event.what.level())),
        Field::SpdlogLetter => out.push_str(spdlog_pattern::level_letter(event.what.level())),
        Field::Process => escape::push_escaped(out, &event.session.name),
        Field::Pid => number(out, event.session.pid),
        Field::Thread if !event.thread_name.is_empty() => escape::push_escaped(out, event.thread_name),
        Field::Thread | Field::Tid => number(out, event.tid),
        Field::File => escape::push_escaped(out, text(Site::file_name)),
        Field::Path => escape::push_escaped(out, text(|site| &site.description.file)),
        Field::Line => number(out, site.map_or(0, |site| site.description.line)),
        Field::Function => escape::push_escaped(out, text(Site::function)),
        Field::Context => out.push_str(event.context.map_or("", |context| context.text())),
    }
}

/// Cuts and fills what was written since `start`.
fn fit(out: &mut String, start: usize, spec: &Spec, field: Field) {
    let is_time = matches!(field, Field::Time(_));
    let mut wide = columns(&out[start..]);
    if let Some(most) = spec.precision.map(usize::from).filter(|most| !is_time && wide > *most) {
        let mut kept = 0;
        let end = out[start..].char_indices().find(|(at, c)| {
            kept = columns(&out[start..start + at + c.len_utf8()]);
            kept > most
        });
        if let Some((at, _)) = end {
            out.truncate(start + at);
        }
        wide = columns(&out[start..]);
    }
    let is_number = matches!(field, Field::Pid | Field::Tid | Field::Line);
    pad_written(out, start, wide, spec, if is_number { Align::Right } else { Align::Left });
}

fn paint(out: &mut String, start: usize, level: Level) {
    out.insert_str(start, super::level_colour(level));
    out.push_str(super::PLAIN);
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

    #[test]
    fn texts_are_cut_and_filled_by_columns() {
        let fitted = |text: &str, pattern: &str| {
            let Pattern { items, .. } = Pattern::parse(pattern).unwrap();
            let [Item::Field(field, spec)] = items[..] else { panic!("{pattern}") };
            let mut out = format!(">{text}");
            fit(&mut out, 1, &spec, field);
            out[1..].to_owned()
        };
        assert_eq!(fitted("net", "{category:5}"), "net  ");
        assert_eq!(fitted("net", "{category:*>5}"), "**net");
        assert_eq!(fitted("network", "{category:.3}"), "net");
        assert_eq!(fitted("network", "{category:^5.3}"), " net ");
        // A wide character that does not fit is left out whole.
        assert_eq!(fitted("日本語", "{category:5.5}"), "日本 ");
        assert_eq!(fitted("7", "{line:3}"), "  7");
        // Of a time it is the digits.
        assert_eq!(fitted("19:02:11.123", "{time:.3}"), "19:02:11.123");
    }
}
