//! JSON without white space.

use silverpoint_wire::json::push_string;

use crate::{Key, Sink, base64, time};

/// Appends to a text.
#[derive(Debug, Default)]
pub struct JsonSink {
    out: String,
    /// Nothing stands in the innermost container yet.
    is_first: bool,
    is_telling: bool,
}

impl JsonSink {
    /// Behind what stands there.
    pub fn new(out: String) -> Self {
        Self { out, is_first: false, is_telling: false }
    }

    /// Floats that are no numbers are the texts `nan`, `inf`, `-inf` instead of null.
    #[must_use]
    pub fn with_special_floats(mut self) -> Self {
        self.is_telling = true;
        self
    }

    /// What was written.
    pub fn into_text(self) -> String {
        self.out
    }

    /// What has been written so far; removing it makes room for more.
    pub fn text_mut(&mut self) -> &mut String {
        &mut self.out
    }

    #[inline]
    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(',');
        }
    }

    #[cold]
    fn special(&mut self, is_nan: bool, is_negative: bool) {
        self.out.push_str(match (self.is_telling, is_nan, is_negative) {
            (false, ..) => "null",
            (_, true, _) => "\"nan\"",
            (.., false) => "\"inf\"",
            (.., true) => "\"-inf\"",
        });
    }
}

/// Appends a float's shortest digits; an exponent has no `+`.
#[inline]
pub(crate) fn push_digits(out: &mut String, digits: &str) {
    match digits.split_once('+') {
        None => out.push_str(digits),
        Some((before, after)) => {
            out.push_str(before);
            out.push_str(after);
        }
    }
}

/// As [`push_digits`], with an exponent or without as floats of 64 bits have it: zmij has another rule for those of 32 bits.
#[cold]
fn push_placed(out: &mut String, digits: &str) {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let significant = all.trim_start_matches('0');
    let leading = all.len() - significant.len();
    // That of the first significant digit.
    let exponent = exponent.parse().unwrap_or(0) + whole.len() as i32 - leading as i32 - 1;
    let significant = significant.trim_end_matches('0');
    if unsigned.len() < digits.len() {
        out.push('-');
    }
    match exponent {
        -5..0 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', (-1 - exponent) as usize));
            out.push_str(significant);
        }
        0..16 => {
            let whole = exponent as usize + 1;
            let (before, after) = significant.split_at(whole.min(significant.len()));
            out.push_str(before);
            out.extend(std::iter::repeat_n('0', whole - before.len()));
            out.push('.');
            out.push_str(if after.is_empty() { "0" } else { after });
        }
        _ => {
            let (first, rest) = significant.split_at(1);
            out.push_str(first);
            if !rest.is_empty() {
                out.push('.');
                out.push_str(rest);
            }
            out.push('e');
            out.push_str(itoa::Buffer::new().format(exponent));
        }
    }
}

impl Sink for JsonSink {
    #[inline]
    fn null(&mut self) {
        self.out.push_str("null");
    }

    #[inline]
    fn bool(&mut self, value: bool) {
        self.out.push_str(if value { "true" } else { "false" });
    }

    #[inline]
    fn i64(&mut self, value: i64) {
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    #[inline]
    fn u64(&mut self, value: u64) {
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    fn i128(&mut self, value: i128) {
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    fn u128(&mut self, value: u128) {
        self.out.push_str(itoa::Buffer::new().format(value));
    }

    #[inline]
    fn f32(&mut self, value: f32) {
        if value.is_finite() {
            let mut buffer = zmij::Buffer::new();
            let digits = buffer.format_finite(value);
            match value.abs() {
                9e-7..2e-5 | 9e12..2e16 => push_placed(&mut self.out, digits),
                _ => push_digits(&mut self.out, digits),
            }
        } else {
            self.special(value.is_nan(), value < 0.0);
        }
    }

    #[inline]
    fn f64(&mut self, value: f64) {
        if value.is_finite() {
            push_digits(&mut self.out, zmij::Buffer::new().format_finite(value));
        } else {
            self.special(value.is_nan(), value < 0.0);
        }
    }

    #[inline]
    fn text(&mut self, text: &str) {
        push_string(&mut self.out, text);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.out.push('"');
        base64::push(&mut self.out, bytes);
        self.out.push('"');
    }

    fn uuid(&mut self, uuid: [u8; 16]) {
        use std::fmt::Write;
        self.out.push('"');
        for (at, byte) in uuid.iter().enumerate() {
            let _ = write!(self.out, "{}{byte:02x}", if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" });
        }
        self.out.push('"');
    }

    fn time(&mut self, seconds: i64, nanoseconds: u32) {
        self.out.push('"');
        time::push(&mut self.out, seconds, nanoseconds);
        self.out.push('"');
    }

    fn takes_digits(&self) -> bool {
        true
    }

    fn digits(&mut self, digits: &str) {
        self.out.push_str(digits);
    }

    #[inline]
    fn begin_array(&mut self, _len: Option<usize>) {
        self.out.push('[');
        self.is_first = true;
    }

    #[inline]
    fn element(&mut self) {
        self.separate();
    }

    #[inline]
    fn end_array(&mut self) {
        self.out.push(']');
        self.is_first = false;
    }

    #[inline]
    fn begin_object(&mut self, _len: Option<usize>) {
        self.out.push('{');
        self.is_first = true;
    }

    #[inline]
    fn member(&mut self, name: &str) {
        self.separate();
        push_string(&mut self.out, name);
        self.out.push(':');
    }

    #[inline]
    fn field(&mut self, key: Key) {
        self.separate();
        self.out.push_str(key.json);
    }

    #[inline]
    fn end_object(&mut self) {
        self.out.push('}');
        self.is_first = false;
    }
}
