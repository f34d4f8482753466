//! JSON lines, arrays of records, and columns of JSON.

use silverpoint_render::json::push_string;

use super::args::{self, Simple};
use super::{Cursor, Dialect};

/// Objects as `JsonWriter` writes them.
pub(crate) struct Json;

/// Lines as `TsvWriter` writes them, in its order of columns.
pub(crate) struct Tsv;

/// Whether eight bytes hold a quote, a backslash or a control character.
#[inline(always)]
fn is_special(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & (ONES << 7) != 0
}

/// Passes over what needs no looking at.
#[inline(always)]
fn plain(cursor: &mut Cursor<'_>) {
    while let Some(eight) = cursor.rest().first_chunk::<8>() {
        if is_special(u64::from_le_bytes(*eight)) {
            break;
        }
        cursor.at += 8;
    }
    while let Some(byte) = cursor.peek() {
        if byte < 0x20 || byte == b'"' || byte == b'\\' {
            break;
        }
        cursor.at += 1;
    }
}

/// Passes over a string from behind its opening quote to behind the closing one.
#[inline]
fn skip_string(cursor: &mut Cursor<'_>) -> Option<()> {
    let from = cursor.at;
    loop {
        plain(cursor);
        match cursor.peek()? {
            b'"' => break,
            b'\\' => {
                if !matches!(
                    cursor.bytes.get(cursor.at + 1)?,
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'
                ) {
                    return None;
                }
                cursor.at += 2;
            }
            _ => return None,
        }
    }
    std::str::from_utf8(&cursor.bytes[from..cursor.at]).ok()?;
    cursor.at += 1;
    Some(())
}

#[inline]
fn string(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Option<()> {
    loop {
        let from = cursor.at;
        plain(cursor);
        out.extend_from_slice(&cursor.bytes[from..cursor.at]);
        let byte = match (cursor.peek()?, cursor.bytes.get(cursor.at + 1)) {
            (b'"', _) => {
                cursor.at += 1;
                return Some(());
            }
            (b'\\', Some(byte @ (b'"' | b'\\' | b'/'))) => *byte,
            (b'\\', Some(b'n')) => b'\n',
            (b'\\', Some(b'r')) => b'\r',
            (b'\\', Some(b't')) => b'\t',
            _ => return None,
        };
        cursor.at += 2;
        out.push(byte);
    }
}

/// Digits without leading zeros, at most 19; and what follows makes no other number of them. At the end of what is at hand more may follow: who asks finds
/// nothing behind them then.
#[inline]
pub(super) fn digits(cursor: &mut Cursor<'_>) -> Option<u64> {
    let from = cursor.at;
    let mut sum = 0_u64;
    while let Some(digit) = cursor.peek().map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        sum = sum.wrapping_mul(10).wrapping_add(u64::from(digit));
        cursor.at += 1;
    }
    let text = &cursor.bytes[from..cursor.at];
    let is_whole = !matches!(cursor.peek(), Some(b'.' | b'e' | b'E' | b'+' | b'-'));
    let is_number = matches!(text.len(), 1..=19) && (text[0] != b'0' || text.len() == 1);
    (is_whole && is_number).then_some(sum)
}

/// An integer, maybe negative. Zero with a sign goes the long way.
#[inline]
pub(super) fn signed(cursor: &mut Cursor<'_>) -> Option<i128> {
    if cursor.peek()? != b'-' {
        return digits(cursor).map(i128::from);
    }
    cursor.at += 1;
    digits(cursor).filter(|value| *value > 0).map(|value| -i128::from(value))
}

/// A number with a fraction or an exponent, as JSON has it.
#[inline]
pub(super) fn float(cursor: &mut Cursor<'_>) -> Option<f64> {
    let from = cursor.at;
    let mut is_float = false;
    while let Some(byte @ (b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) = cursor.peek() {
        is_float |= !byte.is_ascii_digit() && byte != b'-';
        cursor.at += 1;
    }
    let text = std::str::from_utf8(&cursor.bytes[from..cursor.at]).ok()?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.len() < 64
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && (!digits.starts_with('0') || digits[1..].starts_with(['.', 'e', 'E']))
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && !digits.contains(".e")
        && !digits.contains(".E");
    if !is_float || !is_plain || cursor.peek().is_none() {
        return None;
    }
    text.parse().ok()
}

fn value(cursor: &mut Cursor<'_>, value: Simple, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Simple::Bool => {
            let value = cursor.eat(b"true").is_some();
            if !value {
                cursor.eat(b"false")?;
            }
            out.push(value.into());
        }
        Simple::Int(bits, is_signed) => args::integer(signed(cursor)?, bits, is_signed, out)?,
        // What has more than 19 digits goes the long way; of the others some are too large for an i64.
        Simple::Large => {
            let value = digits(cursor).filter(|value| i64::try_from(*value).is_err())?;
            out.extend_from_slice(&value.to_le_bytes());
        }
        Simple::Float32 => out.extend_from_slice(&(float(cursor)? as f32).to_le_bytes()),
        Simple::Float64 => out.extend_from_slice(&float(cursor)?.to_le_bytes()),
        Simple::Text => {
            cursor.eat(b"\"")?;
            args::text(out, |out| string(cursor, out))?;
        }
    }
    Some(())
}

/// Passes over a text or a number.
fn skip_value(cursor: &mut Cursor<'_>) -> Option<()> {
    if cursor.eat(b"\"").is_some() {
        return skip_string(cursor);
    }
    digits(cursor).map(|_| ())
}

fn around(is_named: bool) -> (&'static [u8], &'static [u8]) {
    if is_named { (b"{", b"}") } else { (b"[", b"]") }
}

fn before(index: usize, name: Option<&str>) -> Vec<u8> {
    let mut before = String::from(if index > 0 { "," } else { "" });
    if let Some(name) = name {
        push_string(&mut before, name);
        before.push(':');
    }
    before.into_bytes()
}

/// Passes over a member of one of the names; false: it has another, and stays.
fn member(cursor: &mut Cursor<'_>, names: &[&str]) -> Option<bool> {
    let before = cursor.at;
    if cursor.eat(b",\"").is_some() {
        let rest = cursor.rest();
        for name in names {
            if rest.starts_with(name.as_bytes()) && rest[name.len()..].starts_with(b"\":") {
                cursor.at += name.len() + 2;
                return skip_value(cursor).map(|()| true);
            }
        }
    }
    cursor.at = before;
    Some(false)
}

impl Dialect for Json {
    const BEFORE_TIME: &'static [u8] = b"{\"time\":\"";
    const AFTER_TIME: &'static [u8] = b"\"";

    fn run(cursor: &mut Cursor<'_>, names: &[&str]) -> Option<()> {
        while member(cursor, names)? {}
        Some(())
    }

    #[inline]
    fn number(cursor: &mut Cursor<'_>, name: &str) -> Option<Option<u64>> {
        let rest = cursor.rest();
        let is_there = rest.starts_with(b",\"")
            && rest[2..].starts_with(name.as_bytes())
            && rest[2 + name.len()..].starts_with(b"\":");
        if !is_there {
            return Some(None);
        }
        cursor.at += name.len() + 4;
        digits(cursor).map(Some)
    }

    #[inline]
    fn message(cursor: &mut Cursor<'_>) -> Option<()> {
        match cursor.eat(b",\"message\":\"") {
            Some(()) => skip_string(cursor),
            None => Some(()),
        }
    }

    fn around(is_named: bool, _count: usize) -> (Vec<u8>, Vec<u8>) {
        let (before, after) = around(is_named);
        ([b",\"args\":", before].concat(), after.to_vec())
    }

    fn beside(index: usize, name: Option<&str>, _value: Simple) -> (Vec<u8>, Vec<u8>) {
        (before(index, name), Vec::new())
    }

    #[inline]
    fn value(cursor: &mut Cursor<'_>, simple: Simple, out: &mut Vec<u8>) -> Option<()> {
        value(cursor, simple, out)
    }

    #[inline]
    fn end(cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.eat(b"}")
    }
}

/// The columns of a site: those of its members up to the signature.
const SITE_COLUMNS: usize = 7;
/// Those between the arguments and the ticks, of which the last three are names, flags and language.
const TAIL_COLUMNS: usize = 13;

/// Passes over a cell and the tab before it; true when something stands in it.
fn cell(cursor: &mut Cursor<'_>) -> Option<bool> {
    cursor.eat(b"\t")?;
    match cursor.peek() {
        None | Some(b'\t' | b'\n') => Some(false),
        Some(_) => skip_value(cursor).map(|()| true),
    }
}

impl Dialect for Tsv {
    const BEFORE_TIME: &'static [u8] = b"\"";
    const AFTER_TIME: &'static [u8] = b"\"";
    const TICKS_LAST: bool = true;

    fn run(cursor: &mut Cursor<'_>, names: &[&str]) -> Option<()> {
        names.iter().try_for_each(|_| cell(cursor).map(|_| ()))
    }

    fn has(run: &[u8], name: &str) -> bool {
        let (mut cursor, column) =
            (Cursor { bytes: run, at: 0 }, super::SITE.iter().position(|known| *known == name));
        let cells = (0..SITE_COLUMNS).map_while(|_| cell(&mut cursor));
        cells.enumerate().any(|(at, is_full)| is_full && Some(at) == column)
    }

    fn site_members() -> &'static [&'static str] {
        &super::SITE[..SITE_COLUMNS]
    }

    fn tail<'b>(cursor: &mut Cursor<'b>) -> Option<&'b [u8]> {
        let from = cursor.at;
        for column in 0..TAIL_COLUMNS {
            if cell(cursor)? && column < TAIL_COLUMNS - 3 {
                return None;
            }
        }
        Some(&cursor.bytes[from..cursor.at])
    }

    #[inline]
    fn number(cursor: &mut Cursor<'_>, _name: &str) -> Option<Option<u64>> {
        cursor.eat(b"\t")?;
        if matches!(cursor.peek()?, b'\t' | b'\n') {
            return Some(None);
        }
        digits(cursor).map(Some)
    }

    #[inline]
    fn message(cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.eat(b"\t")?;
        match cursor.eat(b"\"") {
            Some(()) => skip_string(cursor),
            None => Some(()),
        }
    }

    fn around(is_named: bool, _count: usize) -> (Vec<u8>, Vec<u8>) {
        let (before, after) = around(is_named);
        ([b"\t", before].concat(), after.to_vec())
    }

    fn beside(index: usize, name: Option<&str>, _value: Simple) -> (Vec<u8>, Vec<u8>) {
        (before(index, name), Vec::new())
    }

    #[inline]
    fn value(cursor: &mut Cursor<'_>, simple: Simple, out: &mut Vec<u8>) -> Option<()> {
        value(cursor, simple, out)
    }

    /// The line break stays.
    #[inline]
    fn end(cursor: &mut Cursor<'_>) -> Option<()> {
        (cursor.peek()? == b'\n').then_some(())
    }
}
