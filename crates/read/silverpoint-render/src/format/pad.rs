//! Filling a field: alignment and zeros, after the value has been written.

use super::{Align, Spec};

/// Brings what was written since `start`, `columns` wide, to the width of `spec`.
///
/// Cost: nothing when it is wide enough; else one move of the value's bytes.
#[inline]
pub fn pad_written(out: &mut String, start: usize, columns: usize, spec: &Spec, default: Align) {
    let width = usize::from(spec.width);
    if columns < width {
        fill(out, start, width - columns, spec, default);
    }
}

fn fill(out: &mut String, start: usize, missing: usize, spec: &Spec, default: Align) {
    let before = match spec.align.unwrap_or(default) {
        Align::Left => 0,
        Align::Right => missing,
        Align::Centre => missing / 2,
    };
    insert(out, start, spec.fill, before);
    out.extend(std::iter::repeat_n(spec.fill, missing - before));
}

/// Puts `count` times `c` at byte `at`, which is a character boundary.
fn insert(out: &mut String, at: usize, c: char, count: usize) {
    const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
    const SPACES: &str = "                                                                ";
    let mut left = count;
    let run = match c {
        ' ' => SPACES,
        '0' => ZEROS,
        _ => {
            let mut utf8 = [0; 4];
            let text = c.encode_utf8(&mut utf8);
            for _ in 0..left {
                out.insert_str(at, text);
            }
            return;
        }
    };
    while left > 0 {
        let n = left.min(run.len());
        out.insert_str(at, &run[..n]);
        left -= n;
    }
}

/// Finishes a number whose sign and prefix end at byte `digits_at`. If `spec` asks for zeros and no alignment
/// was given, they follow the prefix; otherwise the fill is used. Numbers are ASCII, so bytes are columns.
#[inline]
pub(super) fn pad_number(out: &mut String, start: usize, digits_at: usize, spec: &Spec) {
    let columns = out.len() - start;
    let width = usize::from(spec.width);
    if columns < width {
        if spec.zero && spec.align.is_none() {
            insert(out, digits_at, '0', width - columns);
        } else {
            fill(out, start, width - columns, spec, Align::Right);
        }
    }
}

/// Appends zeros.
pub(super) fn zeros(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n('0', count));
}
