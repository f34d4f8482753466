//! Elements as `XmlWriter` writes them.

use super::args::{self, Simple};
use super::{Cursor, Dialect, json};

/// See the module.
pub(crate) struct Xml;

/// The name of the element that a value of the type is.
fn tag(value: Simple) -> &'static str {
    match value {
        Simple::Bool => "bool",
        Simple::Int(..) | Simple::Large => "int",
        Simple::Float32 | Simple::Float64 => "float",
        Simple::Text => "text",
    }
}

/// Whether eight bytes hold what may not stand in a text as it is.
#[inline(always)]
fn is_special(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'<') | is(b'&') | is(0xEF)) & (ONES << 7) != 0
}

/// Text without references, up to `<`; one with U+FFFE goes the long way, with all that begin with the same byte.
#[inline]
fn plain<'b>(cursor: &mut Cursor<'b>) -> Option<&'b [u8]> {
    let from = cursor.at;
    while let Some(eight) = cursor.rest().first_chunk::<8>() {
        if is_special(u64::from_le_bytes(*eight)) {
            break;
        }
        cursor.at += 8;
    }
    loop {
        match cursor.peek()? {
            b'<' => return Some(&cursor.bytes[from..cursor.at]).filter(|text| !has_end_mark(text)),
            0..0x20 | b'&' | 0xEF => return None,
            _ => cursor.at += 1,
        }
    }
}

/// What passes over a text with references in a run or a message: five names, and three characters by number.
fn skip_text(cursor: &mut Cursor<'_>) -> Option<()> {
    let from = cursor.at;
    loop {
        match cursor.peek()? {
            b'<' => break,
            b'&' => [&b"&amp;"[..], b"&lt;", b"&gt;", b"&quot;", b"&apos;", b"&#13;", b"&#10;", b"&#9;"]
                .iter()
                .find_map(|reference| cursor.eat(reference))?,
            0..0x20 | 0xEF => return None,
            _ => cursor.at += 1,
        }
    }
    let text = &cursor.bytes[from..cursor.at];
    (!has_end_mark(text) && std::str::from_utf8(text).is_ok()).then_some(())
}

/// Whether `]]>` stands in a text, where XML forbids it.
#[inline]
fn has_end_mark(text: &[u8]) -> bool {
    text.contains(&b']') && text.windows(3).any(|three| three == b"]]>")
}

/// `<TAG name="NAME">`, if it stands there.
#[inline]
fn begin(cursor: &mut Cursor<'_>, tag: &str, name: &str) -> Option<()> {
    let before = cursor.at;
    let parts = [&b"<"[..], tag.as_bytes(), b" name=\"", name.as_bytes(), b"\">"];
    let found = parts.iter().try_for_each(|part| cursor.eat(part));
    if found.is_none() {
        cursor.at = before;
    }
    found
}

impl Dialect for Xml {
    const BEFORE_TIME: &'static [u8] = b"<record><time name=\"time\">";
    const AFTER_TIME: &'static [u8] = b"</time>";

    fn run(cursor: &mut Cursor<'_>, names: &[&str]) -> Option<()> {
        loop {
            if names.iter().any(|name| begin(cursor, "text", name).is_some()) {
                skip_text(cursor)?;
                cursor.eat(b"</text>")?;
            } else if names.iter().any(|name| begin(cursor, "int", name).is_some()) {
                json::digits(cursor)?;
                cursor.eat(b"</int>")?;
            } else {
                return Some(());
            }
        }
    }

    #[inline]
    fn number(cursor: &mut Cursor<'_>, name: &str) -> Option<Option<u64>> {
        if begin(cursor, "int", name).is_none() {
            return Some(None);
        }
        let value = json::digits(cursor)?;
        cursor.eat(b"</int>").map(|()| Some(value))
    }

    #[inline]
    fn message(cursor: &mut Cursor<'_>) -> Option<()> {
        if begin(cursor, "text", "message").is_some() {
            skip_text(cursor)?;
            cursor.eat(b"</text>")?;
        }
        Some(())
    }

    fn around(is_named: bool, _count: usize) -> (Vec<u8>, Vec<u8>) {
        let tag = if is_named { "record" } else { "list" };
        (format!("<{tag} name=\"args\">").into(), format!("</{tag}>").into())
    }

    fn beside(_index: usize, name: Option<&str>, value: Simple) -> (Vec<u8>, Vec<u8>) {
        let tag = tag(value);
        // A name that must be escaped is not found so: its records go the long way.
        let before = name.map_or_else(|| format!("<{tag}>"), |name| format!("<{tag} name=\"{name}\">"));
        let is_plain =
            name.is_none_or(|name| name.bytes().all(|b| b > b' ' && !b"&<>\"".contains(&b) && b < 0x7F));
        let before = if is_plain { before } else { "\0".into() };
        (before.into(), format!("</{tag}>").into())
    }

    #[inline]
    fn value(cursor: &mut Cursor<'_>, value: Simple, out: &mut Vec<u8>) -> Option<()> {
        match value {
            Simple::Bool => {
                let value = cursor.eat(b"true").is_some();
                if !value {
                    cursor.eat(b"false")?;
                }
                out.push(value.into());
            }
            Simple::Int(bits, is_signed) => args::integer(json::signed(cursor)?, bits, is_signed, out)?,
            Simple::Large => {
                let value = json::digits(cursor).filter(|value| i64::try_from(*value).is_err())?;
                out.extend_from_slice(&value.to_le_bytes());
            }
            Simple::Float32 => out.extend_from_slice(&(json::float(cursor)? as f32).to_le_bytes()),
            Simple::Float64 => out.extend_from_slice(&json::float(cursor)?.to_le_bytes()),
            Simple::Text => {
                let text = plain(cursor)?;
                args::text(out, |out| {
                    out.extend_from_slice(text);
                    Some(())
                })?;
            }
        }
        (cursor.peek()? == b'<').then_some(())
    }

    #[inline]
    fn end(cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.eat(b"</record>")
    }
}
