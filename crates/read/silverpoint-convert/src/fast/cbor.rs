//! Maps as `CborWriter` writes them.

use silverpoint_wire::cbor::{INDEFINITE, head_at, push_head};

use super::args::{self, Simple};
use super::{Cursor, Dialect};

/// See the module.
pub(crate) struct Cbor;

/// A head of this major type, as short as it can be or not.
#[inline]
fn head(cursor: &mut Cursor<'_>, major: u8) -> Option<u64> {
    let (head, end) = head_at(cursor.bytes, cursor.at).ok()?;
    if head.major != major || head.info == INDEFINITE {
        return None;
    }
    cursor.at = end;
    Some(head.number)
}

#[inline]
fn text<'b>(cursor: &mut Cursor<'b>) -> Option<&'b [u8]> {
    let len = usize::try_from(head(cursor, 3)?).ok()?;
    cursor.take(len)
}

/// A name of fewer than 24 bytes.
#[inline]
fn name(cursor: &mut Cursor<'_>, name: &str) -> Option<()> {
    let rest = cursor.rest();
    if rest.first() != Some(&(0x60 | name.len() as u8)) || !rest[1..].starts_with(name.as_bytes()) {
        return None;
    }
    cursor.at += 1 + name.len();
    Some(())
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    push_head(out, 3, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

impl Dialect for Cbor {
    const BEFORE_TIME: &'static [u8] = b"\xBF\x64time\xC0\x78\x1E";
    const AFTER_TIME: &'static [u8] = b"";

    fn run(cursor: &mut Cursor<'_>, names: &[&str]) -> Option<()> {
        while names.iter().any(|known| name(cursor, known).is_some()) {
            match cursor.peek()? >> 5 {
                0 => head(cursor, 0).map(|_| ())?,
                _ => text(cursor).map(|_| ())?,
            }
        }
        Some(())
    }

    #[inline]
    fn number(cursor: &mut Cursor<'_>, known: &str) -> Option<Option<u64>> {
        match name(cursor, known) {
            Some(()) => head(cursor, 0).map(Some),
            None => Some(None),
        }
    }

    #[inline]
    fn message(cursor: &mut Cursor<'_>) -> Option<()> {
        if name(cursor, "message").is_some() {
            std::str::from_utf8(text(cursor)?).ok()?;
        }
        Some(())
    }

    fn around(is_named: bool, count: usize) -> (Vec<u8>, Vec<u8>) {
        let mut before = b"\x64args".to_vec();
        if is_named {
            before.push(0xBF);
            return (before, vec![0xFF]);
        }
        push_head(&mut before, 4, count as u64);
        (before, Vec::new())
    }

    fn beside(_index: usize, name: Option<&str>, _value: Simple) -> (Vec<u8>, Vec<u8>) {
        let mut before = Vec::new();
        if let Some(name) = name {
            push_text(&mut before, name);
        }
        (before, Vec::new())
    }

    #[inline]
    fn value(cursor: &mut Cursor<'_>, value: Simple, out: &mut Vec<u8>) -> Option<()> {
        match value {
            Simple::Bool => {
                let value = cursor.peek()?;
                if !matches!(value, 0xF4 | 0xF5) {
                    return None;
                }
                cursor.at += 1;
                out.push(value & 1);
            }
            Simple::Int(bits, is_signed) => {
                let value = match head(cursor, 0) {
                    Some(value) => i128::from(value),
                    None => -1 - i128::from(head(cursor, 1)?),
                };
                args::integer(value, bits, is_signed, out)?;
            }
            Simple::Large => {
                let value = head(cursor, 0).filter(|value| i64::try_from(*value).is_err())?;
                out.extend_from_slice(&value.to_le_bytes());
            }
            Simple::Float32 => {
                cursor.eat(b"\xFA")?;
                let bits = u32::from_be_bytes(*cursor.take(4)?.first_chunk()?);
                // By way of a wider one, as all are read: that makes signalling ones quiet.
                out.extend_from_slice(&(f64::from(f32::from_bits(bits)) as f32).to_le_bytes());
            }
            Simple::Float64 => {
                cursor.eat(b"\xFB")?;
                out.extend_from_slice(&u64::from_be_bytes(*cursor.take(8)?.first_chunk()?).to_le_bytes());
            }
            Simple::Text => {
                let text = text(cursor)?;
                args::text(out, |out| {
                    out.extend_from_slice(text);
                    Some(())
                })?;
            }
        }
        Some(())
    }

    #[inline]
    fn end(cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.eat(b"\xFF")
    }
}
