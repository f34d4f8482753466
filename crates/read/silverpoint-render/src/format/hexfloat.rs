//! Hexadecimal floats (`a`): `1.8p+1`, without a prefix, as `std::to_chars` writes them.

use super::pad::zeros;

/// Bits of an f64's mantissa after the point: 13 hexadecimal digits.
const FRACTION_BITS: u32 = 52;

/// Appends a finite, non-negative value; `precision` absent: all digits up to the last that is not zero.
pub(super) fn push(out: &mut String, magnitude: f64, precision: Option<usize>, alternate: bool) {
    let bits = magnitude.to_bits();
    let mut fraction = bits & ((1 << FRACTION_BITS) - 1);
    let biased = (bits >> FRACTION_BITS) as i32;
    // Subnormal numbers keep the smallest exponent and a leading 0, as printf does; zero has exponent 0.
    let (mut lead, exponent) = match (biased, fraction) {
        (0, 0) => (0u64, 0),
        (0, _) => (0, -1022),
        _ => (1, biased - 1023),
    };
    let mut digits = 13;
    if let Some(wanted) = precision.filter(|wanted| *wanted < digits) {
        let dropped = (digits - wanted) as u32 * 4;
        let whole = lead << FRACTION_BITS | fraction;
        let rest = whole & ((1 << dropped) - 1);
        let half = 1u64 << (dropped - 1);
        let mut kept = whole >> dropped;
        if rest > half || (rest == half && kept & 1 == 1) {
            kept += 1;
        }
        let rounded = kept << dropped;
        lead = rounded >> FRACTION_BITS;
        fraction = rounded & ((1 << FRACTION_BITS) - 1);
        digits = wanted;
    } else if precision.is_none() {
        while digits > 0 && fraction & (0xF << (4 * (13 - digits))) == 0 {
            digits -= 1;
        }
    }
    out.push(if lead == 0 { '0' } else { char::from(b'0' + lead as u8) });
    if digits > 0 || alternate || precision.is_some_and(|p| p > 0) {
        out.push('.');
    }
    for digit in 0..digits {
        let value = (fraction >> (FRACTION_BITS as usize - 4 * (digit + 1)) & 0xF) as u32;
        out.push(char::from_digit(value, 16).unwrap_or('0'));
    }
    zeros(out, precision.unwrap_or(digits).saturating_sub(13));
    out.push('p');
    out.push(if exponent < 0 { '-' } else { '+' });
    out.push_str(itoa::Buffer::new().format(exponent.unsigned_abs()));
}
