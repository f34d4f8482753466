//! What records of `tracing` are to Silverpoint: the kinds of their sites, and the arguments that are no fields.

use std::borrow::Cow;

/// What a record of a callsite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An event.
    Event,
    /// An event with an explicit parent: its id comes first.
    EventOf,
    /// A span that begins in this thread, with its fields.
    Begin,
    /// A stretch of a span that has an id: `id`.
    Segment,
    /// A span begins that has an id: `id`, fields.
    AsyncBegin,
    /// It has ended: `id`, `busy`, `idle`.
    AsyncEnd,
    /// Fields that come later: `id`, fields.
    AsyncInstant,
    /// One is a part of another: `from`, `to`.
    Parent,
    /// One came from another: the same.
    FollowsFrom,
}

/// Names of arguments that are no fields. Readers know by them what a stretch is, and what an event is of: fields of the program have others ([`field_name`]).
pub(crate) const ID: &str = "span.id";
pub(crate) const BEGUN: &str = "span.begun";
pub(crate) const PARENT: &str = "span.parent";

/// What a field is called in a record.
pub(crate) fn field_name(name: &str) -> Cow<'_, str> {
    if [ID, BEGUN, PARENT].contains(&name) { format!("field.{name}").into() } else { name.into() }
}

/// How many roles there are.
pub(crate) const ROLES: usize = Role::FollowsFrom as usize + 1;

impl Role {
    pub(crate) fn is_event(self) -> bool {
        matches!(self, Self::Event | Self::EventOf)
    }

    /// What stands before the fields of such a record in [`Marks`].
    pub(crate) const fn mark(self) -> u32 {
        self as u32
    }

    /// Number of the site's kind (spec/wire.md, section 7).
    pub(crate) fn kind(self, has_name: bool) -> u8 {
        match self {
            Self::Event | Self::EventOf => 2 * u8::from(has_name),
            Self::Begin | Self::Segment => 3,
            Self::AsyncBegin => 6,
            Self::AsyncEnd => 7,
            Self::AsyncInstant => 8,
            Self::Parent | Self::FollowsFrom => 12,
        }
    }

    /// The arguments before the fields, with their codes.
    pub(crate) fn arguments(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Event | Self::Begin => &[],
            Self::EventOf => &[(PARENT, "L")],
            Self::Segment | Self::AsyncBegin | Self::AsyncInstant => &[(ID, "L")],
            Self::AsyncEnd => &[(ID, "L"), ("busy", "T"), ("idle", "T")],
            Self::Parent | Self::FollowsFrom => &[("from", "L"), ("to", "L")],
        }
    }
}
