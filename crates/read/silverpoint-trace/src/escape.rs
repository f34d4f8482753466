//! Escaping for terminals and line-oriented text. One record is one line, and no value can move the cursor,
//! ring the bell, or reverse the direction of text.
//!
//! Escaped are: control characters (C0, DEL, C1), line and paragraph separators, and the marks that change the direction of
//! text. Everything else stays as it is.

/// How a byte is treated: as it is; escaped; escaped inside quotes only; or by the character that it begins.
const PLAIN: u8 = 0;
const CONTROL: u8 = 1;
const QUOTE: u8 = 2;
const LEAD: u8 = 3;

const CLASS: [u8; 256] = {
    let mut class = [PLAIN; 256];
    let mut i = 0;
    while i < 0x20 {
        class[i] = CONTROL;
        i += 1;
    }
    class[0x7F] = CONTROL;
    class[b'"' as usize] = QUOTE;
    class[b'\\' as usize] = QUOTE;
    // U+0080 to U+009F begin with C2, U+2028 and the direction marks with E2, U+061C with D8, U+FEFF with EF.
    class[0xC2] = LEAD;
    class[0xD8] = LEAD;
    class[0xE2] = LEAD;
    class[0xEF] = LEAD;
    class
};

/// Appends `text` with control characters escaped.
#[inline]
pub fn push_escaped(out: &mut String, text: &str) {
    escape(out, text, QUOTE);
}

/// Appends `text` in double quotes, with quotes, backslashes and control characters escaped.
pub fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    escape(out, text, PLAIN);
    out.push('"');
}

/// Appends a character in single quotes, escaped.
pub fn push_quoted_char(out: &mut String, value: char) {
    out.push('\'');
    if matches!(value, '\'' | '\\') {
        out.push('\\');
        out.push(value);
    } else {
        let mut utf8 = [0; 4];
        push_escaped(out, value.encode_utf8(&mut utf8));
    }
    out.push('\'');
}

/// Whether a text value of an event must be quoted so that `key=value` stays unambiguous.
pub fn needs_quotes(text: &str) -> bool {
    text.is_empty()
        || text.bytes().any(|b| matches!(b, b' ' | b'"' | b'=') || CLASS[usize::from(b)] == CONTROL)
        || text.chars().any(is_hidden)
}

/// `harmless`: the class that is left alone besides `PLAIN`.
fn escape(out: &mut String, text: &str, harmless: u8) {
    let bytes = text.as_bytes();
    // Invariant: `done` is a character boundary, and everything before it is in `out`.
    let mut done = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].first_chunk().is_some_and(|word| is_plain(*word, harmless != QUOTE)) {
            at += 8;
            continue;
        }
        // The rest, when it is short: together with what is known to be harmless.
        if bytes.len() - at < 8 && bytes.last_chunk().is_some_and(|word| is_plain(*word, harmless != QUOTE)) {
            break;
        }
        let class = CLASS[usize::from(bytes[at])];
        if class == PLAIN || class == harmless {
            at += 1;
            continue;
        }
        let Some(c) = text[at..].chars().next() else { break };
        if class != LEAD || is_hidden(c) {
            out.push_str(&text[done..at]);
            push_escape(out, c);
            done = at + c.len_utf8();
        }
        at += c.len_utf8();
    }
    out.push_str(&text[done..]);
}

/// Whether eight bytes are all ASCII and no control characters, and with `quotes` neither double quotes nor backslashes: in a few operations.
#[inline]
pub fn is_plain(bytes: [u8; 8], quotes: bool) -> bool {
    let word = u64::from_le_bytes(bytes);
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The high bit of a byte below `n` (at most 128) is set; a byte above such a one may have it too.
    let below = |word: u64, n: u64| word.wrapping_sub(ONES * n) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let mut special = word | below(word, 0x20) | is(0x7F);
    if quotes {
        special |= is(b'"') | is(b'\\');
    }
    special & HIGH == 0
}

/// Characters beyond ASCII that would change how a line looks or where it ends.
fn is_hidden(c: char) -> bool {
    matches!(u32::from(c),
        0x80..=0x9F | 0x61C | 0x200E..=0x200F | 0x2028..=0x202E | 0x2066..=0x2069 | 0xFEFF)
}

#[cold]
fn push_escape(out: &mut String, c: char) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let hex = |shift: u32| char::from(HEX[(u32::from(c) >> shift & 0xF) as usize]);
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        _ if u32::from(c) < 0x80 => {
            out.push_str("\\x");
            out.push(hex(4));
            out.push(hex(0));
        }
        _ => {
            out.push_str("\\u{");
            let digits = (32 - u32::from(c).leading_zeros()).div_ceil(4);
            for digit in (0..digits).rev() {
                out.push(hex(digit * 4));
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = String::new();
        push_escaped(&mut out, text);
        out
    }

    #[test]
    fn one_record_stays_one_line() {
        assert_eq!(escaped("a\nb\tc\rd"), "a\\nb\\tc\\rd");
        assert_eq!(escaped("\u{1b}[31mred\u{7}\0\u{7f}"), "\\x1b[31mred\\x07\\x00\\x7f");
        assert_eq!(escaped("a\u{85}\u{2028}\u{202e}\u{feff}"), "a\\u{85}\\u{2028}\\u{202e}\\u{feff}");
    }

    #[test]
    fn everything_else_is_left_alone() {
        for text in ["", "plain", "C:\\dir \"x\"", "äöü €uro 日本 🦀", "\u{a0}©\u{2013}\u{fffd}"] {
            assert_eq!(escaped(text), text);
        }
    }

    #[test]
    fn eight_bytes_at_once_are_judged_as_one_by_one() {
        for harmless in [PLAIN, QUOTE] {
            for byte in 0..=255u8 {
                for place in 0..8 {
                    for other in [b' ', b'~', b'!', b'a'] {
                        let mut word = [other; 8];
                        word[place] = byte;
                        let class = CLASS[usize::from(byte)];
                        let is_alone = byte < 0x80 && (class == PLAIN || class == harmless);
                        assert_eq!(is_plain(word, harmless != QUOTE), is_alone, "{word:?}");
                    }
                }
            }
        }
        assert_eq!(
            escaped("0123456789\nabcdefghijklmnopq\u{85}€ 0123456789"),
            "0123456789\\nabcdefghijklmnopq\\u{85}€ 0123456789"
        );
    }

    #[test]
    fn quoted_text_reads_back() {
        let mut out = String::new();
        push_quoted(&mut out, "say \"a\\b\"\n");
        assert_eq!(out, "\"say \\\"a\\\\b\\\"\\n\"");
    }

    #[test]
    fn quotes_where_a_value_would_be_ambiguous() {
        for text in ["", "a b", "a=b", "\"", "a\nb", "a\u{2028}b"] {
            assert!(needs_quotes(text), "{text:?}");
        }
        for text in ["a", "a,b", "/usr/include", "ä"] {
            assert!(!needs_quotes(text), "{text:?}");
        }
    }
}
