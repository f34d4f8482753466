//! Messages that must be made first.

use minicbor::Decoder;
use silverpoint_render::json::{Stack, push_plain_item};
use silverpoint_wire::cbor::push_head;

use crate::own::{Member, at, item_at};
use crate::pack::goes_on;

/// A text as an item.
pub(super) fn item(text: &str) -> Vec<u8> {
    let mut item = Vec::new();
    push_head(&mut item, 3, text.len() as u64);
    item.extend_from_slice(text.as_bytes());
    item
}

/// Serilog's template with its holes filled: `{Name}`, `{@Name}`, `{Name,10:0.00}`. Holes with a format have their texts in `@r`.
pub(super) fn filled(bytes: &[u8], template: &str, members: &[Member<'_>]) -> String {
    let value = |name: &str| members.iter().find(|(known, _)| *known == name).map(|(_, begin)| *begin);
    let properties = value("Properties").and_then(|begin| crate::own::members(bytes, begin).ok());
    let mut renderings = value("@r").map(|begin| texts(bytes, begin)).unwrap_or_default().into_iter();
    let (mut out, mut stack) = (String::new(), Stack::default());
    let mut rest = template;
    while let Some(begin) = rest.find(['{', '}']) {
        out.push_str(&rest[..begin]);
        let from = &rest[begin..];
        if from.starts_with("{{") || from.starts_with("}}") {
            out.push_str(&from[..1]);
            rest = &from[2..];
            continue;
        }
        let end = from.find('}').unwrap_or(0);
        let hole = from.get(1..end).unwrap_or_default();
        let name = hole.trim_start_matches(['@', '$']);
        let name = name.split([',', ':']).next().unwrap_or_default();
        let within = || properties.as_ref()?.iter().find(|(known, _)| *known == name).map(|p| p.1);
        let rendering = if hole.contains(':') { renderings.next() } else { None };
        match (rendering, value(name).or_else(within).filter(|_| !name.is_empty())) {
            (Some(text), _) => out.push_str(text),
            (None, Some(begin)) => {
                push_plain_item(&mut out, &mut stack, item_at(bytes, begin).unwrap_or(&[0xF6]));
            }
            // A hole without a value stays as it is.
            (None, None) => out.push_str(&from[..=end]),
        }
        rest = &from[end + 1..];
    }
    out.push_str(rest);
    out
}

fn texts(bytes: &[u8], begin: usize) -> Vec<&str> {
    let mut items = at(bytes, begin);
    let Ok(stated) = items.array() else { return Vec::new() };
    let mut found = Vec::new();
    while goes_on(&mut items, stated, found.len() as u64) {
        match items.str() {
            Ok(text) => found.push(text),
            Err(_) => break,
        }
    }
    found
}

/// A message of journald that is no UTF-8 or has control characters is an array of its bytes: text if it can be, else bytes.
pub(super) fn of_journal(bytes: &[u8], begin: usize) -> Option<Vec<u8>> {
    let mut items: Decoder<'_> = at(bytes, begin);
    let stated = items.array().ok()?;
    let mut octets = Vec::new();
    while goes_on(&mut items, stated, octets.len() as u64) {
        octets.push(items.u8().ok()?);
    }
    if let Ok(text) = std::str::from_utf8(&octets) {
        return Some(item(text));
    }
    let mut made = Vec::new();
    push_head(&mut made, 2, octets.len() as u64);
    made.extend_from_slice(&octets);
    Some(made)
}
