//! What a test expects of a value.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::Value;
use crate::record::Field;

/// A value that a test expects: a number, text, a list, or a test of its own ([`is`]). Made from any argument
/// of [`Expectation::with`](crate::Expectation::with).
///
/// - Numbers of all types are compared by value: `7` equals a recorded `7_u8` and `7.0`. A recorded `f32`
///   equals an `f64` that rounds to it.
/// - Text is equal to text, to a character, to the label of an enumeration.
/// - Text is also equal to the displayed form of a record, a date, a number with a unit and the like.
/// - `None` is an empty optional, and every other form of nothing.
pub struct Expected(Kind);

enum Kind {
    Null,
    Bool(bool),
    Integer(i128),
    Unsigned(u128),
    F32(f32),
    F64(f64),
    Char(char),
    Text(String),
    Duration(i128),
    Time(i128),
    List(Vec<Expected>),
    Value(Value),
    Test(Box<dyn Fn(&Value) -> bool + Send + Sync>),
}

/// Expects what a test of your own accepts: `.with("px", is(|px| px.as_f64() > Some(1.0)))`.
pub fn is(test: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Expected {
    Expected(Kind::Test(Box::new(test)))
}

impl Expected {
    /// Whether a recorded field is what is expected.
    pub fn accepts(&self, field: &Field) -> bool {
        match &self.0 {
            // How it is shown counts for the argument as a whole; inside of it there are only values.
            Kind::Text(text) => self.is(field.value()) || (is_told_by_text(field) && field.shown() == text),
            _ => self.is(field.value()),
        }
    }

    /// Whether it accepts a value, without regard to how that is shown.
    fn is(&self, value: &Value) -> bool {
        match (&self.0, value) {
            (Kind::Test(test), value) => test(value),
            (Kind::Value(expected), value) => expected == value,
            (Kind::Null, value) => value.is_null(),
            (Kind::Bool(expected), Value::Bool(value)) => expected == value,
            (Kind::Char(expected), Value::Char(value)) => expected == value,
            (Kind::Char(expected), Value::Text(text)) => text.chars().eq([*expected]),
            (Kind::Text(expected), Value::Text(text)) => expected == text,
            (Kind::Text(expected), Value::Char(value)) => expected.chars().eq([*value]),
            (Kind::Text(expected), Value::Enumeration { label, .. }) => label.as_ref() == Some(expected),
            (Kind::Duration(expected), Value::Duration(ns)) => *expected == i128::from(*ns),
            (Kind::Time(expected), Value::Time(ns)) => *expected == i128::from(*ns),
            (Kind::List(expected), Value::Bytes(bytes)) => {
                expected.len() == bytes.len()
                    && expected.iter().zip(bytes).all(|(e, byte)| e.is(&Value::Integer(i128::from(*byte))))
            }
            (Kind::List(expected), Value::List(values) | Value::Set(values) | Value::Tuple(values)) => {
                expected.len() == values.len() && expected.iter().zip(values).all(|(e, value)| e.is(value))
            }
            (Kind::Integer(expected), value) => integer_is(*expected, value),
            (Kind::Unsigned(expected), Value::Unsigned(value)) => expected == value,
            (Kind::F32(expected), value) => float_is(f64::from(*expected), value),
            (Kind::F64(expected), value) => float_is(*expected, value),
            _ => false,
        }
    }
}

fn integer_is(expected: i128, value: &Value) -> bool {
    match value {
        Value::Duration(ns) | Value::Time(ns) => expected == i128::from(*ns),
        Value::F32(value) => f64::from(*value) == expected as f64,
        Value::F64(value) => *value == expected as f64,
        value => value.as_i128() == Some(expected),
    }
}

fn float_is(expected: f64, value: &Value) -> bool {
    match value {
        Value::F32(value) => (expected as f32) == *value || (expected.is_nan() && value.is_nan()),
        Value::F64(value) => expected == *value || (expected.is_nan() && value.is_nan()),
        value => value.as_f64() == Some(expected),
    }
}

/// A plain number, a truth value or nothing is no text. A value with a label, a unit or a form of its own may
/// be compared as text.
fn is_told_by_text(field: &Field) -> bool {
    match field.value() {
        Value::Integer(value) => field.shown() != value.to_string(),
        Value::Unsigned(value) => field.shown() != value.to_string(),
        Value::F32(_) | Value::F64(_) => field.shown().contains(' '),
        Value::Null => field.shown() == SECRET,
        Value::Bool(_) | Value::Text(_) | Value::Char(_) => false,
        _ => true,
    }
}

/// What readers show instead of a secret.
const SECRET: &str = "<secret>";

/// As it would be written in a test: text in quotes.
impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Null => f.write_str("none"),
            Kind::Bool(value) => write!(f, "{value}"),
            Kind::Integer(value) => write!(f, "{value}"),
            Kind::Unsigned(value) => write!(f, "{value}"),
            Kind::F32(value) => write!(f, "{value:?}"),
            Kind::F64(value) => write!(f, "{value:?}"),
            Kind::Char(value) => write!(f, "{value:?}"),
            Kind::Text(text) => write!(f, "{text:?}"),
            Kind::Duration(ns) => write!(f, "{:?}", Duration::from_nanos(*ns as u64)),
            Kind::Time(ns) => write!(f, "{ns} ns since 1970"),
            Kind::List(values) => {
                f.write_str("[")?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Kind::Value(value) => write!(f, "{value}"),
            Kind::Test(_) => f.write_str("<what a test accepts>"),
        }
    }
}

impl fmt::Debug for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expected({self})")
    }
}

macro_rules! from_integers {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Expected {
            fn from(value: $kind) -> Self {
                Self(Kind::Integer(value as i128))
            }
        }
        /// A number is equal to one of any other type.
        impl PartialEq<$kind> for Value {
            fn eq(&self, other: &$kind) -> bool {
                Expected::from(*other).is(self)
            }
        }
    )*};
}
from_integers! { i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, usize }

macro_rules! from_values {
    ($($kind:ty: $value:ident => $made:expr;)*) => {$(
        impl From<$kind> for Expected {
            fn from($value: $kind) -> Self {
                Self($made)
            }
        }
        /// As a test expects it.
        impl PartialEq<$kind> for Value {
            fn eq(&self, other: &$kind) -> bool {
                Expected::from(other.clone()).is(self)
            }
        }
    )*};
}
from_values! {
    u128: value => i128::try_from(value).map_or(Kind::Unsigned(value), Kind::Integer);
    f32: value => Kind::F32(value);
    f64: value => Kind::F64(value);
    bool: value => Kind::Bool(value);
    char: value => Kind::Char(value);
    &str: text => Kind::Text(text.to_owned());
    String: text => Kind::Text(text);
    Duration: value => Kind::Duration(value.as_nanos() as i128);
    SystemTime: value => Kind::Time(match value.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    });
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        *self == other
    }
}

impl From<&String> for Expected {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Value> for Expected {
    fn from(value: Value) -> Self {
        Self(Kind::Value(value))
    }
}

impl<T: Into<Self>> From<Option<T>> for Expected {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(Kind::Null), T::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Expected {
    fn from(values: Vec<T>) -> Self {
        Self(Kind::List(values.into_iter().map(T::into).collect()))
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Expected {
    fn from(values: [T; N]) -> Self {
        Self(Kind::List(values.into_iter().map(T::into).collect()))
    }
}

impl<T: Into<Self> + Clone> From<&[T]> for Expected {
    fn from(values: &[T]) -> Self {
        Self::from(values.to_vec())
    }
}

impl<const N: usize> From<&[u8; N]> for Expected {
    fn from(bytes: &[u8; N]) -> Self {
        Self::from(bytes.as_slice())
    }
}
