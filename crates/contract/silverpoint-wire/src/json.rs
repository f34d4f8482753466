//! Strings of JSON (RFC 8259), as all writers of JSON make them.
//!
//! ```
//! use silverpoint_wire::json::push_string;
//!
//! let mut out = String::new();
//! push_string(&mut out, "say \"ä\"\n\u{1b}");
//! assert_eq!(out, r#""say \"ä\"\n\u001b""#);
//! ```

/// Appends a JSON string.
#[inline]
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_string_inner(out, text);
    out.push('"');
}

/// Appends what stands between the quotes of a JSON string.
pub fn push_string_inner(out: &mut String, text: &str) {
    // Invariant: `done` is a character boundary, since all escaped bytes are ASCII.
    let mut done = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].first_chunk().is_some_and(is_plain) {
            at += 8;
            continue;
        }
        // The rest, when it is short: together with what stands before it.
        if bytes.len() - at < 8 && bytes.last_chunk().is_some_and(is_plain) {
            break;
        }
        let byte = bytes[at];
        if is_escaped(byte) {
            out.push_str(&text[done..at]);
            push_escape(out, byte);
            done = at + 1;
        }
        at += 1;
    }
    out.push_str(&text[done..]);
}

/// Whether nothing of a text is escaped: it is its own JSON, between quotes.
pub fn is_plain_string(text: &str) -> bool {
    let bytes = text.as_bytes();
    let chunks = bytes.chunks_exact(8);
    let is_rest_plain = match bytes.last_chunk() {
        Some(last) => chunks.remainder().is_empty() || is_plain(last),
        None => !bytes.iter().any(|byte| is_escaped(*byte)),
    };
    is_rest_plain && chunks.into_iter().all(|eight| eight.first_chunk().is_some_and(is_plain))
}

/// Control characters (DEL too: terminals obey it), the quote, the backslash.
#[inline(always)]
fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7F)
}

/// Whether none of eight bytes is escaped, in a few operations.
#[inline(always)]
fn is_plain(eight: &[u8; 8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let word = u64::from_le_bytes(*eight);
    // The high bit of a byte below `n` (at most 128) is set. Behind such a byte others may have it, too, which changes no answer.
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\') | is(0x7F)) & (ONES << 7) == 0
}

#[cold]
fn push_escape(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        8 => "\\b",
        12 => "\\f",
        _ => {
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
            return;
        }
    };
    out.push_str(short);
}

#[cfg(test)]
mod tests {
    use super::{is_escaped, is_plain, is_plain_string, push_string_inner};

    #[test]
    fn eight_bytes_that_are_plain_have_none_that_is_escaped() {
        for byte in 0..=255u8 {
            for place in 0..8 {
                for other in [b' ', b'~', b'a', 0x80, 0xFF] {
                    let mut word = [other; 8];
                    word[place] = byte;
                    assert_eq!(is_plain(&word), !is_escaped(byte), "{word:?}");
                }
            }
        }
        // A byte behind one that is escaped may look so, too.
        assert!(!is_plain(b"\x20\"#bcdefg"[..8].try_into().unwrap()));
    }

    #[test]
    fn each_character_is_escaped_wherever_it_stands() {
        let one_by_one = |text: &str| {
            text.chars().fold(String::new(), |mut all, c| {
                push_string_inner(&mut all, c.encode_utf8(&mut [0; 4]));
                all
            })
        };
        for len in 0..20 {
            for place in 0..len {
                for c in ['"', '\\', '\u{1}', '\n', '\u{7f}', 'ä', '€', '🦀', 'x'] {
                    let text: String = (0..len).map(|at| if at == place { c } else { 'o' }).collect();
                    let mut whole = String::new();
                    push_string_inner(&mut whole, &text);
                    assert_eq!(whole, one_by_one(&text));
                    assert_eq!(whole == text, !u8::try_from(c).is_ok_and(is_escaped));
                    assert_eq!(is_plain_string(&text), whole == text);
                }
            }
        }
    }
}
