//! Floating-point numbers as `std::format` shows them.
//!
//! | presentation | without precision | with precision |
//! |---|---|---|
//! | none | the shortest text that reads back the same, fixed or scientific, fixed when equal | as `g` |
//! | `f` `F` | precision 6 | exact, ties to even |
//! | `e` `E` | precision 6 | the same |
//! | `g` `G` | precision 6 | significant digits, trailing zeros dropped unless `#` |
//! | `a` `A` | all digits that are not zero | rounded, ties to even |

use std::fmt::Write;

use super::pad::{pad_number, pad_written, zeros};
use super::{Align, Spec, hexfloat};

/// Precision of `e`, `f` and `g` when none is given.
const DEFAULT_PRECISION: usize = 6;

/// Appends an f64.
#[inline]
pub fn float64(out: &mut String, value: f64, spec: &Spec) {
    if value.is_finite() {
        finite(out, value, |buffer| buffer.format_finite(value.abs()), spec);
    } else {
        special(out, value.is_nan(), value.is_sign_negative(), spec);
    }
}

/// Appends an f32: its own shortest digits, not those of the f64 that equals it.
#[inline]
pub fn float32(out: &mut String, value: f32, spec: &Spec) {
    if value.is_finite() {
        finite(out, f64::from(value), |buffer| buffer.format_finite(value.abs()), spec);
    } else {
        special(out, value.is_nan(), value.is_sign_negative(), spec);
    }
}

/// The number to show by `spec` instead of this one, for Qt's rules: a neighbour of it. Qt rounds a number in
/// the middle between two texts away from zero, and shows no sign of zero and NaN.
#[inline]
pub fn rounding_away(value: f64, spec: &Spec) -> f64 {
    if value == 0.0 || value.is_nan() {
        return value.abs();
    }
    if value.is_finite() && is_between(value, spec) { f64::from_bits(value.to_bits() + 1) } else { value }
}

/// Whether a number other than 0 lies in the middle between two texts.
fn is_between(value: f64, spec: &Spec) -> bool {
    let precision = spec.precision.map_or(DEFAULT_PRECISION, usize::from);
    let significant = match spec.ty {
        b'f' | b'F' => None,
        b'e' | b'E' => Some(precision + 1),
        b'g' | b'G' => Some(precision.max(1)),
        0 if spec.precision.is_some() => Some(precision.max(1)),
        _ => return false,
    };
    // value = odd × 2^-k. In the middle with p digits after the point: value × 10^p = n + 1/2. That is odd ×
    // 5^p × 2^(p-k), so that k = p + 1.
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32 & 0x7FF;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, k) = if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
    let zeros = mantissa.trailing_zeros();
    let (odd, p) = (u128::from(mantissa >> zeros), k - zeros as i32 - 1);
    let Some(significant) = significant else { return usize::try_from(p) == Ok(precision) };
    // 2n + 1; what has no room there has more digits than anybody asks for.
    let five = 5u128.checked_pow(p.unsigned_abs());
    let doubled = match five {
        Some(five) if p >= 0 => odd.checked_mul(five),
        Some(five) if odd % five == 0 => Some(odd / five),
        _ => None,
    };
    let least = u32::try_from(significant - 1).ok().and_then(|power| 10u128.checked_pow(power));
    match (doubled, least) {
        (Some(doubled), Some(least)) => (least..least.saturating_mul(10)).contains(&(doubled / 2)),
        _ => false,
    }
}

/// `inf` and `nan`: never filled with zeros.
#[cold]
fn special(out: &mut String, nan: bool, negative: bool, spec: &Spec) {
    let start = out.len();
    spec.sign.push(out, negative);
    let upper = matches!(spec.ty, b'A' | b'E' | b'F' | b'G');
    out.push_str(match (nan, upper) {
        (true, false) => "nan",
        (true, true) => "NAN",
        (false, false) => "inf",
        (false, true) => "INF",
    });
    pad_written(out, start, out.len() - start, spec, Align::Right);
}

fn finite(out: &mut String, value: f64, shortest: impl FnOnce(&mut zmij::Buffer) -> &str, spec: &Spec) {
    let start = out.len();
    spec.sign.push(out, value.is_sign_negative());
    let digits_at = out.len();
    let magnitude = value.abs();
    let precision = spec.precision.map(usize::from);
    match (spec.ty, precision) {
        (b'f' | b'F', p) => fixed(out, magnitude, p.unwrap_or(DEFAULT_PRECISION), spec.alternate),
        (b'e' | b'E', p) => scientific(out, magnitude, p.unwrap_or(DEFAULT_PRECISION), spec.alternate),
        (b'a' | b'A', p) => hexfloat::push(out, magnitude, p, spec.alternate),
        (b'g' | b'G', p) => general(out, magnitude, p.unwrap_or(DEFAULT_PRECISION), spec.alternate),
        (_, Some(p)) => general(out, magnitude, p, spec.alternate),
        (_, None) => push_shortest(out, magnitude, shortest(&mut zmij::Buffer::new()), spec.alternate),
    }
    if matches!(spec.ty, b'A' | b'E' | b'G') {
        out[digits_at..].make_ascii_uppercase();
    }
    pad_number(out, start, digits_at, spec);
}

/// Whether the shortest digits that are found are those that are shown: on both sides of a point. Most numbers are such.
#[inline]
pub(super) fn has_digits_around_point(magnitude: f64) -> bool {
    (1.0..1e15).contains(&magnitude) && magnitude as u64 as f64 != magnitude
}

/// The shortest digits, of which `text` is what zmij writes.
fn push_shortest(out: &mut String, magnitude: f64, text: &str, alternate: bool) {
    // Never longer than scientific, and as they are wanted.
    if has_digits_around_point(magnitude) {
        out.push_str(text);
    } else {
        Digits::parse(text.as_bytes()).push(out, magnitude, alternate);
    }
}

/// Fixed notation with `precision` digits after the point, correctly rounded.
fn fixed(out: &mut String, magnitude: f64, precision: usize, alternate: bool) {
    if !fixed_exact(out, magnitude, precision) {
        let _ = write!(out, "{magnitude:.precision$}");
    }
    if alternate && precision == 0 {
        out.push('.');
    }
}

/// The usual case in integers: value = mantissa × 2^-k, so that the digits after the point are fraction × 10^precision >> k.
/// Returns false, with nothing written, when that would not fit 128 bits.
fn fixed_exact(out: &mut String, magnitude: f64, precision: usize) -> bool {
    const POWERS: [u64; 20] = {
        let mut powers = [1u64; 20];
        let mut i = 1;
        while i < 20 {
            powers[i] = powers[i - 1] * 10;
            i += 1;
        }
        powers
    };
    let Some(&power) = POWERS.get(precision) else { return false };
    let bits = magnitude.to_bits();
    let exponent = (bits >> 52) as i32;
    let (mantissa, k) = match exponent {
        0 if bits == 0 => (0, 0),
        0 => return false,
        _ => (bits & ((1 << 52) - 1) | 1 << 52, 1075 - exponent),
    };
    // A fraction has at most 53 bits, a power of ten below 10^20 at most 64: together below 2^117.
    if !(0..=116).contains(&k) {
        return false;
    }
    let (mut whole, fraction) =
        if k < 64 { (mantissa >> k, mantissa & ((1u64 << k) - 1)) } else { (0, mantissa) };
    let scaled = u128::from(fraction) * u128::from(power);
    let mut decimals = (scaled >> k) as u64;
    let rest = scaled & ((1u128 << k) - 1);
    let half = if k == 0 { u128::MAX } else { 1u128 << (k - 1) };
    let odd = if precision == 0 { whole & 1 == 1 } else { decimals & 1 == 1 };
    if rest > half || (rest == half && odd) {
        decimals += 1;
        if decimals == power {
            decimals = 0;
            whole += 1;
        }
    }
    out.push_str(itoa::Buffer::new().format(whole));
    if precision > 0 {
        out.push('.');
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(decimals);
        zeros(out, precision - digits.len());
        out.push_str(digits);
    }
    true
}

/// Scientific notation with `precision` digits after the point, at least two digits of exponent.
fn scientific(out: &mut String, magnitude: f64, precision: usize, alternate: bool) {
    let start = out.len();
    let exponent = exact_digits(out, magnitude, precision);
    if alternate && precision == 0 {
        out.push('.');
    }
    debug_assert!(out.len() > start);
    push_exponent(out, exponent);
}

/// Appends `d.ddd` with `precision` digits after the point, correctly rounded, and gives the decimal exponent.
fn exact_digits(out: &mut String, magnitude: f64, precision: usize) -> i32 {
    let start = out.len();
    let _ = write!(out, "{magnitude:.precision$e}");
    // The library writes `1.50e-7`: the part after the `e` is removed here, and the caller writes its own.
    let Some(at) = out[start..].rfind('e').map(|at| start + at) else { return 0 };
    let exponent = out[at + 1..].parse().unwrap_or(0);
    out.truncate(at);
    exponent
}

/// `g`: `precision` significant digits; fixed while the exponent is in [-4, precision).
fn general(out: &mut String, magnitude: f64, precision: usize, alternate: bool) {
    let significant = precision.max(1);
    let start = out.len();
    if let Some(exponent) = fixed_exponent(magnitude, significant) {
        fixed(out, magnitude, (significant as i32 - 1 - exponent) as usize, alternate);
        if !alternate {
            drop_zeros(out, start);
        }
        return;
    }
    general_by_digits(out, magnitude, significant, alternate);
}

/// As [`general`], for every number: the digits are written to learn the exponent.
fn general_by_digits(out: &mut String, magnitude: f64, significant: usize, alternate: bool) {
    let start = out.len();
    let exponent = exact_digits(out, magnitude, significant - 1);
    if (-4..significant as i32).contains(&exponent) {
        out.truncate(start);
        fixed(out, magnitude, (significant as i32 - 1 - exponent) as usize, alternate);
        if !alternate {
            drop_zeros(out, start);
        }
    } else {
        if !alternate {
            drop_zeros(out, start);
        } else if significant == 1 {
            out.push('.');
        }
        push_exponent(out, exponent);
    }
}

/// The decimal exponent of the usual case, found without writing any digits. Rounding to `significant` digits
/// cannot change it, and it is within the range of the fixed notation.
fn fixed_exponent(magnitude: f64, significant: usize) -> Option<i32> {
    // From 10^-4 to 10^22. The powers from 1 up are exact; for those below 1, no number lies between the
    // power and its value here.
    const POWERS: [f64; 27] = [
        1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
        1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    if magnitude == 0.0 {
        return Some(0);
    }
    // The logarithm of the power of two, which may be one too small.
    let binary = (magnitude.to_bits() >> 52) as i32 - 1023;
    let low = usize::try_from(((binary * 1233) >> 12) + 4).ok()?;
    let next = *POWERS.get(low + 1)?;
    let (place, next) = if magnitude >= next { (low + 1, *POWERS.get(low + 2)?) } else { (low, next) };
    let exponent = place as i32 - 4;
    // Twice as far from the next power as what rounds up to it.
    let is_plain = magnitude < next - next / *POWERS.get(significant + 4)?;
    (is_plain && exponent < significant as i32).then_some(exponent)
}

/// Takes trailing zeros after a point off, and the point too when nothing follows it.
fn drop_zeros(out: &mut String, start: usize) {
    if out[start..].contains('.') {
        let kept = out[start..].trim_end_matches('0').trim_end_matches('.').len();
        out.truncate(start + kept);
    }
}

fn push_exponent(out: &mut String, exponent: i32) {
    out.push('e');
    out.push(if exponent < 0 { '-' } else { '+' });
    let magnitude = exponent.unsigned_abs();
    if magnitude < 10 {
        out.push('0');
    }
    out.push_str(itoa::Buffer::new().format(magnitude));
}

/// The shortest decimal digits that read back as the value: d.ddd × 10^exponent.
struct Digits {
    digits: [u8; 17],
    len: usize,
    exponent: i32,
}

impl Digits {
    /// Takes the digits out of `123.45`, `0.001` or `1.5e-7`.
    fn parse(text: &[u8]) -> Self {
        let mut this = Self { digits: [b'0'; 17], len: 0, exponent: 0 };
        // Power of ten of the digit that comes next, once the point is known.
        let mut before_point = 0;
        let mut leading_zeros = 0;
        let mut point = false;
        let mut written_exponent = 0i32;
        for (at, &c) in text.iter().enumerate() {
            match c {
                b'.' => point = true,
                b'e' => {
                    let rest = text.get(at + 1..).unwrap_or_default();
                    let (negative, rest) = match rest {
                        [b'-', rest @ ..] => (true, rest),
                        [b'+', rest @ ..] => (false, rest),
                        _ => (false, rest),
                    };
                    let value = rest.iter().fold(0i32, |n, d| n * 10 + i32::from(d - b'0'));
                    written_exponent = if negative { -value } else { value };
                    break;
                }
                _ => {
                    if !point {
                        before_point += 1;
                    }
                    if this.len == 0 && c == b'0' {
                        leading_zeros += 1;
                    } else if this.len < 17 {
                        this.digits[this.len] = c;
                        this.len += 1;
                    }
                }
            }
        }
        while this.len > 0 && this.digits[this.len - 1] == b'0' {
            this.len -= 1;
        }
        if this.len == 0 {
            this.len = 1;
            this.digits[0] = b'0';
        } else {
            this.exponent = written_exponent + before_point - 1 - leading_zeros;
        }
        this
    }

    /// The shorter of fixed and scientific, fixed when they are equally long.
    fn push(&self, out: &mut String, magnitude: f64, alternate: bool) {
        let len = self.len as i32;
        let exponent_len = if self.exponent.abs() < 100 { 4 } else { 5 };
        let scientific_len = len + i32::from(len > 1) + exponent_len;
        let fixed_len = match self.exponent {
            e if e < 0 => 1 - e + len,
            e if e < len - 1 => len + 1,
            e => e + 1,
        };
        if fixed_len <= scientific_len {
            self.push_fixed(out, magnitude, alternate);
        } else {
            self.push_digits(out, 0, 1);
            if self.len > 1 || alternate {
                out.push('.');
                self.push_digits(out, 1, self.len);
            }
            push_exponent(out, self.exponent);
        }
    }

    fn push_fixed(&self, out: &mut String, magnitude: f64, alternate: bool) {
        if self.exponent < 0 {
            out.push_str("0.");
            zeros(out, (-self.exponent - 1) as usize);
            self.push_digits(out, 0, self.len);
            return;
        }
        let whole = self.exponent as usize + 1;
        if whole < self.len {
            self.push_digits(out, 0, whole);
            out.push('.');
            self.push_digits(out, whole, self.len);
            return;
        }
        // A whole number: all its digits are printed, beyond 2^53 too, where the shortest digits end in zeros of their own.
        // It is below 10^23, since the scientific notation would be shorter otherwise.
        if magnitude < 1e15 {
            out.push_str(itoa::Buffer::new().format(magnitude as u64));
        } else {
            out.push_str(itoa::Buffer::new().format(magnitude as u128));
        }
        if alternate {
            out.push('.');
        }
    }

    fn push_digits(&self, out: &mut String, from: usize, to: usize) {
        if let Ok(text) = std::str::from_utf8(&self.digits[from..to]) {
            out.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn away(value: f64, ty: u8, precision: u16) -> String {
        let spec = Spec { ty, precision: Some(precision), ..Spec::default() };
        let mut out = String::new();
        float64(&mut out, rounding_away(value, &spec), &spec);
        out
    }

    #[test]
    fn what_lies_in_the_middle_may_be_rounded_away_from_zero() {
        for (value, shown) in [
            (0.125, "0.13"),
            (-0.125, "-0.13"),
            (0.375, "0.38"),
            (2.675, "2.67"),
            (0.995, "0.99"),
            (1.0, "1.00"),
            (-0.0, "0.00"),
            (f64::NAN.copysign(-1.0), "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(away(value, b'f', 2), shown);
        }
        assert_eq!(away(0.5, b'f', 0), "1");
        assert_eq!(away(2.5, b'e', 0), "3e+00");
        for (value, shown) in [
            (100_000.5, "100001"),
            (999_999.5, "1e+06"),
            (1_000_005.0, "1.00001e+06"),
            (123_456_500.0, "1.23457e+08"),
            (0.000_122_070_312_5, "0.00012207"),
            (2_097_152.5, "2.09715e+06"),
            (1.015_625, "1.01563"),
            (1e22, "1e+22"),
            (5e-324, "4.94066e-324"),
        ] {
            assert_eq!(away(value, b'g', 6), shown);
            assert_eq!(away(value, 0, 6), shown);
            assert_eq!(away(-value, b'g', 6), format!("-{shown}"));
        }
    }

    fn agree(magnitude: f64, significant: usize) -> Result<(), TestCaseError> {
        for alternate in [false, true] {
            let (mut quick, mut slow) = (String::new(), String::new());
            general(&mut quick, magnitude, significant, alternate);
            general_by_digits(&mut slow, magnitude, significant, alternate);
            prop_assert_eq!(quick, slow, "{} with {} digits", magnitude, significant);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn digits_around_a_point_are_those_of_the_long_way(bits in any::<u64>(), power in 0u64..54, short in any::<f32>()) {
            // Around 1 and where numbers are whole, with all digits and with few.
            let value = f64::from_bits((1020 + power) << 52 | bits >> 12);
            let few = (value * 1000.0).trunc() / 1000.0;
            for value in [value, few, f64::from_bits(bits), f64::from(short)] {
                if !value.is_finite() {
                    continue;
                }
                let value = value.abs();
                let (mut quick, mut slow) = (String::new(), String::new());
                float64(&mut quick, value, &Spec::default());
                Digits::parse(zmij::Buffer::new().format_finite(value).as_bytes()).push(&mut slow, value, false);
                prop_assert_eq!(quick, slow);
            }
            if short.is_finite() {
                let (short, mut quick, mut slow) = (short.abs(), String::new(), String::new());
                float32(&mut quick, short, &Spec::default());
                Digits::parse(zmij::Buffer::new().format_finite(short).as_bytes()).push(&mut slow, short.into(), false);
                prop_assert_eq!(quick, slow);
            }
        }

        #[test]
        fn every_middle_is_found(digits in 100_000u64..1_000_000, power in -9i32..17) {
            // d.ddddd5 × 10^power, where a number is exactly that.
            let text = format!("{digits}5e{}", power - 6);
            let value: f64 = text.parse().unwrap();
            let mantissa = |text: String| text.split('e').next().unwrap().replace('.', "");
            let is_exact = mantissa(format!("{value:.40e}")).trim_end_matches('0').len() == 7;
            let expected =
                if is_exact { digits + 1 } else { mantissa(format!("{value:.5e}")).parse().unwrap() };
            let got: u64 = mantissa(away(value, b'e', 5)).parse().unwrap();
            prop_assert_eq!(got, if expected == 1_000_000 { 100_000 } else { expected }, "of {}", text);
        }
        #[test]
        fn the_quick_way_of_g_writes_what_the_digits_say(
            mantissa in 0u64..1_000_000_000, exponent in -12i32..14, ulps in -3i64..=3, significant in 1usize..24,
        ) {
            let decimal: f64 = format!("{mantissa}e{exponent}").parse().unwrap_or(0.0);
            let near = f64::from_bits((decimal.to_bits() as i64 + ulps).max(0) as u64);
            agree(near, significant)?;
        }

        #[test]
        fn so_it_does_around_powers_of_ten(power in -6i32..25, ulps in -2000i64..2000, significant in 1usize..24) {
            let decimal: f64 = format!("1e{power}").parse().unwrap_or(0.0);
            agree(f64::from_bits((decimal.to_bits() as i64 + ulps) as u64), significant)?;
        }

        #[test]
        fn and_for_whatever_bits(bits in 0u64..0x7ff0_0000_0000_0000, significant in 1usize..24) {
            agree(f64::from_bits(bits), significant)?;
        }
    }
}
