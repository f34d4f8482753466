//! JSON text with keys in the order of writing, so that the same vectors are always the same bytes.

use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// A number as its text.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// Beyond this, readers that keep numbers as f64 would lose digits.
const EXACT_MAX: u128 = (1 << 53) - 1;

impl Json {
    /// An integer: a number, or its decimal text where a JSON number would lose digits in common readers.
    pub fn int(value: impl fmt::Display) -> Json {
        let text = value.to_string();
        let exact = text.trim_start_matches('-').parse().is_ok_and(|magnitude: u128| magnitude <= EXACT_MAX);
        if exact { Json::Number(text) } else { Json::Text(text) }
    }

    /// A float: its shortest digits, or `"nan"`, `"inf"`, `"-inf"`.
    pub fn float(value: f64) -> Json {
        if value.is_nan() {
            Json::text("nan")
        } else if value.is_infinite() {
            Json::text(if value > 0.0 { "inf" } else { "-inf" })
        } else {
            Json::Number(format!("{value:?}"))
        }
    }

    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// Bytes as hexadecimal digits.
    pub fn hex(bytes: &[u8]) -> Json {
        Json::Text(hex(bytes))
    }

    /// An object of one key.
    pub fn tagged(key: &'static str, value: Json) -> Json {
        Json::Object(vec![(key, value)])
    }
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(text) => f.write_str(text),
            Json::Text(text) => string(f, text),
            Json::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(fields) => {
                f.write_str("{")?;
                for (i, (key, value)) in fields.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    string(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Everything that is not printable ASCII is escaped: the files are ASCII in any case.
fn string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            ' '..='~' => write!(f, "{c}")?,
            _ => c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(f, "\\u{unit:04x}"))?,
        }
    }
    f.write_str("\"")
}

/// A file of vectors: an array, one vector a line.
pub fn file(vectors: Vec<Json>) -> Vec<u8> {
    let lines: Vec<String> = vectors.iter().map(Json::to_string).collect();
    format!("[\n{}\n]\n", lines.join(",\n")).into_bytes()
}
