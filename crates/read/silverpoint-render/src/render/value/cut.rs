//! What of a value is left out, and the mark that says so.

/// Of a text that is shown in short.
pub(super) const SHORT_CHARACTERS: usize = 60;

/// The beginning of a text, and how many bytes are left out.
pub(super) fn shortened(text: &str) -> (&str, u32) {
    match text.char_indices().nth(SHORT_CHARACTERS) {
        Some((at, _)) => (&text[..at], u32::try_from(text.len() - at).unwrap_or(u32::MAX)),
        None => (text, 0),
    }
}

/// The mark of a cut value.
pub(crate) fn push_missing(out: &mut String, missing: u32) {
    if missing > 0 {
        out.push_str("…(+");
        out.push_str(itoa::Buffer::new().format(missing));
        out.push(')');
    }
}
