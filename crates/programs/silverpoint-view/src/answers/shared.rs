//! What the answers have in common: texts that are cut, sites, names, words of a filter.

use serde_json::{Value, json};
use silverpoint_read::RowKind;
use silverpoint_trace::Site;
use silverpoint_wire::level::Kind;

use crate::params::Wrong;

/// As an answer's body.
#[expect(clippy::unnecessary_wraps, reason = "every handler ends with it")]
pub(super) fn body(value: &Value) -> Result<Vec<u8>, Wrong> {
    Ok(value.to_string().into_bytes())
}

/// The beginning of a text, and how many bytes are missing.
pub(super) fn cut(text: &str, most: usize) -> (&str, usize) {
    let kept = &text[..text.floor_char_boundary(most)];
    (kept, text.len() - kept.len())
}

/// Texts of a site that lists have.
pub(super) const TEXT_MAX: usize = 300;

/// A site, as lists have it.
pub(super) fn site_json(number: usize, site: &Site, records: u64) -> Value {
    let description = &site.description;
    json!({
        "id": number,
        "level": site.level() as u8,
        "kind": kind_name(site.kind() as u8),
        "category": cut(&description.category, TEXT_MAX).0,
        "name": cut(&description.template, TEXT_MAX).0,
        "function": cut(site.function(), TEXT_MAX).0,
        "file": cut(&description.file, TEXT_MAX).0,
        "line": description.line,
        "records": records,
    })
}

/// Names of what sites are, by number; then of what a row is beyond these.
const KINDS: [&str; Kind::ALL.len()] = [
    "log",
    "stream",
    "event",
    "span",
    "counter",
    "instant",
    "async_begin",
    "async_end",
    "async_instant",
    "flow_begin",
    "flow_step",
    "flow_end",
    "link",
];

pub(super) fn kind_name(kind: u8) -> &'static str {
    const END: u8 = RowKind::SpanEnd as u8;
    const LOSS: u8 = RowKind::Loss as u8;
    const STALL: u8 = RowKind::Stall as u8;
    match kind {
        END => "span_end",
        LOSS => "loss",
        STALL => "stall",
        _ => KINDS.get(usize::from(kind)).copied().unwrap_or("unknown"),
    }
}

/// A word of a filter line.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,+@%*".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A category as a pattern of itself: what follows a `=` in a pattern is a level.
pub(super) fn category_pattern(category: &str) -> String {
    category.replace('=', "?")
}
