//! Text with width and precision, both counted in terminal columns as the standard format specification estimates them.

use silverpoint_trace::escape;

use super::pad::pad_written;
use super::{Align, Spec};

/// Appends text by `spec`: cut to its precision, escaped, filled to its width. `?` quotes it.
pub fn text(out: &mut String, value: &str, spec: &Spec) {
    let start = out.len();
    let kept = match spec.precision {
        Some(columns) => cut(value, usize::from(columns)),
        None => value,
    };
    if spec.ty == b'?' {
        escape::push_quoted(out, kept);
    } else {
        escape::push_escaped(out, kept);
    }
    if spec.width > 0 {
        let columns = columns(&out[start..]);
        pad_written(out, start, columns, spec, Align::Left);
    }
}

/// The longest start of `value` that needs at most `limit` columns.
fn cut(value: &str, limit: usize) -> &str {
    let mut used = 0;
    for (at, c) in value.char_indices() {
        used += char_columns(c);
        if used > limit {
            return &value[..at];
        }
    }
    value
}

/// Columns that `value` needs: the standard's estimate, with marks that join the character before counted as nothing.
pub fn columns(value: &str) -> usize {
    if value.is_ascii() { value.len() } else { value.chars().map(char_columns).sum() }
}

fn char_columns(c: char) -> usize {
    match u32::from(c) {
        0..0x300 => 1,
        // Combining marks, joiners and variation selectors continue a grapheme cluster.
        0x300..=0x36F | 0x200D | 0xFE00..=0xFE0F | 0xE0100..=0xE01EF => 0,
        // The ranges of [format.string.std] that count two.
        0x1100..=0x115F
        | 0x2329..=0x232A
        | 0x2E80..=0x303E
        | 0x3040..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE10..=0xFE19
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F900..=0x1F9FF
        | 0x20000..=0x2FFFD
        | 0x30000..=0x3FFFD => 2,
        _ => 1,
    }
}
