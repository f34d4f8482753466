//! The parts of a pattern.

use silverpoint_trace::{Event, Site};
use silverpoint_wire::level::Level;

use super::qt_clock::Clock;
use super::spdlog_moment::Moment;
use crate::format::Spec;
use crate::time::Style;

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

impl Condition {
    /// Whether what depends on it stands in the line of an event.
    pub(super) fn holds(&self, event: &Event<'_>, site: Option<&Site>) -> bool {
        match self {
            Self::Category => !matches!(site.map_or("", |site| &site.description.category), "" | "default"),
            Self::Named => site.is_some_and(|site| !site.description.category.is_empty()),
            Self::Levels(levels) => levels.contains(&event.what.level()),
        }
    }
}
