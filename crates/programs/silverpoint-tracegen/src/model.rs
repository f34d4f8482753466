//! What definitions say.

use crate::text::Place;

/// Everything that was read.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Lines for the beginning of the C++ header: includes, declarations of classes.
    pub prefix: Vec<String>,
    /// In the order of their definition.
    pub enumerations: Vec<Enumeration>,
    /// The same.
    pub points: Vec<Point>,
    /// Whether a file uses Qt's macros: its tracepoints belong into Qt's namespace.
    pub is_qt: bool,
}

/// A tracepoint.
#[derive(Clone, Debug)]
pub struct Point {
    /// The category of its records.
    pub provider: String,
    /// The namespace of its functions in C++.
    pub namespace: String,
    /// The name of its records.
    pub name: String,
    /// Its level.
    pub level: Level,
    /// What it is given.
    pub arguments: Vec<Argument>,
    /// Where it is defined.
    pub place: Place,
}

/// Severity of a tracepoint's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Level {
    Trace,
    #[default]
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
}

impl Level {
    /// All, with the words that stand in files.
    pub const ALL: [(&'static str, Self); 6] = [
        ("trace", Self::Trace),
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("warn", Self::Warn),
        ("error", Self::Error),
        ("fatal", Self::Fatal),
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// An argument of a tracepoint.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// The type of the C++ parameter as it was written; none: the short form, which names types by themselves.
    pub written: Option<String>,
    /// What is recorded.
    pub shape: Shape,
    /// Where its type stands.
    pub place: Place,
}

/// A number, or what is stored like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    /// A character of C, of one byte.
    Char,
    Signed(Width),
    Unsigned(Width),
    F32,
    F64,
}

/// Bits of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Width {
    W8 = 8,
    W16 = 16,
    W32 = 32,
    W64 = 64,
}

/// What of an argument is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Scalar(Scalar),
    /// A text.
    Text,
    /// Bytes.
    Bytes,
    /// An address.
    Pointer,
    /// A fixed number of elements. Of the C++ type that is written there; the number.
    Array(String, u32),
    /// As many elements as another argument says. The C++ type; that argument's name.
    Counted(String, String),
    /// Of the short form.
    Sequence(Box<Shape>),
    /// Of the short form.
    Optional(Box<Shape>),
    /// Number and label; the index in [`Model::enumerations`].
    Enumeration(usize),
    /// A type that only has a name: of C++, or before all files are read an enumeration's.
    Named(String),
}

/// An enumeration, or flags.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// Whose tracepoints it serves.
    pub provider: String,
    /// The namespace of its type, if it is of the short form.
    pub namespace: String,
    /// Its name, as arguments' types have it: `QEvent::Type`.
    pub name: String,
    /// Whether its values are sets of bits.
    pub is_flags: bool,
    /// Whether the type is defined here, not by the program.
    pub is_own: bool,
    /// Values with their names, no value twice.
    pub labels: Vec<Label>,
    /// Further names of those values, if the type is defined here.
    pub aliases: Vec<Label>,
    /// Where it is defined.
    pub place: Place,
}

/// A value of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its number, of 64 bits.
    pub value: i128,
}

impl Enumeration {
    /// The integer of the type: 32 bits if all values fit, unsigned for flags.
    pub fn scalar(&self) -> Scalar {
        let fits = |low: i128, high: i128| self.labels.iter().all(|one| (low..=high).contains(&one.value));
        if self.is_flags {
            let width = if fits(0, u32::MAX.into()) { Width::W32 } else { Width::W64 };
            Scalar::Unsigned(width)
        } else if fits(i32::MIN.into(), i32::MAX.into()) {
            Scalar::Signed(Width::W32)
        } else if fits(i64::MIN.into(), i64::MAX.into()) {
            Scalar::Signed(Width::W64)
        } else {
            Scalar::Unsigned(Width::W64)
        }
    }
}
