//! One value as plain text: a text as it is, everything else as JSON. For formats whose fields are text.

use std::convert::Infallible;

use silverpoint_trace::cbor;
use silverpoint_wire::signature::Type;
use silverpoint_wire::value::{WalkError, walk};

use super::value::{JsonVisitor, Stack};

/// Appends the value of type `ty` that begins at byte `at` of packed arguments, and gives its end. When the
/// bytes contradict the type, it appends nothing and gives `None`.
pub fn push_plain(out: &mut String, stack: &mut Stack, ty: &Type, args: &[u8], at: usize) -> Option<usize> {
    let start = out.len();
    let walked: Result<usize, WalkError<Infallible>> = walk(ty, args, at, &mut JsonVisitor::new(out, stack));
    let Ok(end) = walked else {
        out.truncate(start);
        return None;
    };
    unquote(out, start);
    Some(end)
}

/// As [`push_plain`], of a well-formed item of CBOR.
pub fn push_plain_item(out: &mut String, stack: &mut Stack, item: &[u8]) {
    let start = out.len();
    let _: Result<(), cbor::Error<Infallible>> = cbor::visit(item, &mut JsonVisitor::new(out, stack));
    unquote(out, start);
}

/// Makes a text of a JSON string that begins there, as this crate writes them; other JSON stays as it is.
pub fn unquote(out: &mut String, start: usize) {
    if out[start..].starts_with('"') {
        let json = out.split_off(start);
        push_unescaped(out, json.strip_suffix('"').unwrap_or(&json).get(1..).unwrap_or_default());
    }
}

/// The text of a JSON string, between its quotes, as the writer of this module makes them: `\u` only below
/// U+0080.
fn push_unescaped(out: &mut String, json: &str) {
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(c) => out.push(c),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::push_string;

    #[test]
    fn what_was_escaped_is_itself_again() {
        let all: String =
            (0..0x250_u32).filter_map(char::from_u32).chain("\u{1F600}\u{FFFD}".chars()).collect();
        let mut json = String::new();
        push_string(&mut json, &all);
        let mut plain = String::new();
        push_unescaped(&mut plain, &json[1..json.len() - 1]);
        assert_eq!(plain, all);
    }
}
