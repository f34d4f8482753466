//! Values as a test sees them: a small tree, made by the visitor that every reader of arguments uses.

use std::fmt;

use silverpoint_trace::cbor;
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::value::Sequence;

/// A recorded value. Integers of all widths are one kind; so are texts of all encodings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Nothing: null, an empty optional, a secret.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer, of any width.
    Integer(i128),
    /// An integer above `i128::MAX`.
    Unsigned(u128),
    /// A float of 32 bits.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
    /// A character.
    Char(char),
    /// An address.
    Pointer(u64),
    /// Text; what was not valid is U+FFFD.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A UUID, in the order of its text.
    Uuid([u8; 16]),
    /// Nanoseconds since 1970-01-01T00:00Z.
    Time(i64),
    /// Nanoseconds.
    Duration(i64),
    /// A number that may have a label.
    Enumeration {
        /// Of the enumeration.
        name: String,
        /// Of this value, when it has one.
        label: Option<String>,
        /// The number itself.
        number: i64,
    },
    /// Elements in order.
    List(Vec<Value>),
    /// Elements of a set, in the order in which they were recorded.
    Set(Vec<Value>),
    /// Values of different types.
    Tuple(Vec<Value>),
    /// Pairs of key and value, in the order in which they were recorded.
    Map(Vec<(Value, Value)>),
    /// Named fields.
    Record {
        /// Of the type.
        name: String,
        /// In order.
        fields: Vec<(String, Value)>,
    },
    /// A text, bytes or a sequence whose end was cut, because it fits no ring: what was kept, and how many
    /// units are missing.
    Cut(Box<Value>, u32),
}

impl Value {
    /// The value as an integer, when it is one (an enumeration's number and an address too).
    pub fn as_i128(&self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Enumeration { number, .. } => Some(i128::from(*number)),
            Self::Pointer(value) => Some(i128::from(*value)),
            _ => None,
        }
    }

    /// The value as a float: any number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::F32(value) => Some(f64::from(*value)),
            Self::F64(value) => Some(*value),
            Self::Integer(value) => Some(*value as f64),
            Self::Unsigned(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// The text of a text, the label of an enumeration.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Enumeration { label, .. } => label.as_deref(),
            _ => None,
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of a list, set or tuple; of a cut one those that were kept.
    pub fn as_slice(&self) -> Option<&[Value]> {
        match self {
            Self::List(all) | Self::Set(all) | Self::Tuple(all) => Some(all),
            Self::Cut(kept, _) => kept.as_slice(),
            _ => None,
        }
    }

    /// A field of a record, or what a map has under a key of text.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Record { fields, .. } => {
                fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
            }
            Self::Map(pairs) => {
                pairs.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Whether it is nothing: [`Value::Null`].
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }
}

/// As `{:?}`, shorter: numbers and quoted text as they are.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::F32(value) => write!(f, "{value:?}"),
            Self::F64(value) => write!(f, "{value:?}"),
            Self::Char(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Deepest nesting that becomes a tree: of a signature, and of an item of CBOR inside it.
const MAX_DEPTH: usize = 72;

/// Makes one [`Value`].
#[derive(Default)]
pub(crate) struct Builder {
    open: Vec<Open>,
    done: Option<Value>,
    /// The next value is a secret.
    secret: bool,
}

/// A container that is being filled.
struct Open {
    kind: Kind,
    values: Vec<Value>,
    missing: u32,
    secret: bool,
}

enum Kind {
    Sequence(Sequence),
    Map,
    Record { name: String, fields: Vec<String> },
}

/// The value is deeper than any that is well-formed.
#[derive(Debug)]
pub(crate) struct TooDeep;

type Done = Result<(), TooDeep>;

impl Builder {
    /// The value, when it is complete.
    pub(crate) fn finish(self) -> Option<Value> {
        self.done.filter(|_| self.open.is_empty())
    }

    fn put(&mut self, value: Value) -> Done {
        let value = if std::mem::take(&mut self.secret) { Value::Null } else { value };
        match self.open.last_mut() {
            Some(open) => open.values.push(value),
            None => self.done = Some(value),
        }
        Ok(())
    }

    fn put_cut(&mut self, value: Value, missing: u32) -> Done {
        self.put(if missing == 0 { value } else { Value::Cut(Box::new(value), missing) })
    }
}

impl Pieces for Builder {
    type Error = TooDeep;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Done {
        self.put(match leaf {
            Leaf::Null | Leaf::None => Value::Null,
            Leaf::Bool(value) => Value::Bool(value),
            Leaf::I64(value) => Value::Integer(value.into()),
            Leaf::U64(value) => Value::Integer(value.into()),
            Leaf::I128(value) => Value::Integer(value),
            Leaf::U128(value) => i128::try_from(value).map_or(Value::Unsigned(value), Value::Integer),
            Leaf::F32(value) => Value::F32(value),
            Leaf::F64(value) => Value::F64(value),
            Leaf::Char(value) => Value::Char(value),
            Leaf::Pointer(value) => Value::Pointer(value),
            Leaf::Text(text, missing) => {
                return self.put_cut(Value::Text(text.to_string_lossy().into_owned()), missing);
            }
            Leaf::Bytes(bytes, missing) => return self.put_cut(Value::Bytes(bytes.to_vec()), missing),
            Leaf::Uuid(uuid) => Value::Uuid(uuid),
            Leaf::Time(unix_ns) => Value::Time(unix_ns),
            Leaf::Duration(ns) => Value::Duration(ns),
            // An item that is malformed is what it is: bytes.
            Leaf::Any(item) if cbor::check(item).is_err() => Value::Bytes(item.to_vec()),
            Leaf::Any(item) => {
                return match cbor::visit(item, self) {
                    Err(cbor::Error::Visitor(deep)) => Err(deep),
                    _ => Ok(()),
                };
            }
            Leaf::Enumeration { name, label, value } => {
                Value::Enumeration { name: name.to_owned(), label: label.map(str::to_owned), number: value }
            }
        })
    }

    fn begin(&mut self, container: Container<'_>) -> Done {
        if self.open.len() >= MAX_DEPTH {
            return Err(TooDeep);
        }
        let (kind, missing) = match container {
            Container::Sequence { kind, missing, .. } => (Kind::Sequence(kind), missing),
            Container::Map(_) => (Kind::Map, 0),
            Container::Record { name, fields } => {
                let fields = Vec::with_capacity(fields.min(64));
                (Kind::Record { name: name.to_owned(), fields }, 0)
            }
        };
        let secret = std::mem::take(&mut self.secret);
        self.open.push(Open { kind, values: Vec::new(), missing, secret });
        Ok(())
    }

    fn field(&mut self, name: &str) -> Done {
        if let Some(Open { kind: Kind::Record { fields, .. }, .. }) = self.open.last_mut() {
            fields.push(name.to_owned());
        }
        Ok(())
    }

    fn end(&mut self) -> Done {
        let Some(Open { kind, values, missing, secret }) = self.open.pop() else { return Ok(()) };
        self.secret = secret;
        let value = match kind {
            Kind::Sequence(Sequence::List) => Value::List(values),
            Kind::Sequence(Sequence::Set) => Value::Set(values),
            Kind::Sequence(Sequence::Tuple) => Value::Tuple(values),
            Kind::Map => {
                let mut pairs = Vec::with_capacity(values.len() / 2);
                let mut values = values.into_iter();
                while let (Some(key), Some(value)) = (values.next(), values.next()) {
                    pairs.push((key, value));
                }
                Value::Map(pairs)
            }
            Kind::Record { name, fields } => {
                Value::Record { name, fields: fields.into_iter().zip(values).collect() }
            }
        };
        self.put_cut(value, missing)
    }

    fn meta(&mut self, key: &str, _: &str) -> Done {
        self.secret |= key == "secret";
        Ok(())
    }
}
